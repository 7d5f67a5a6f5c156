// SPDX-License-Identifier: MIT
// The C side of speed.py: the same solves of the same numbers. Prints for each round the seconds of the processor,
// and for many goals and frames also those of the clock.
//   speed one MODEL TIP GOALS COUNT ROUNDS        sn_arm_solve() goal after goal
//   speed many MODEL TIP GOALS COUNT ROUNDS THREADS
//   speed drag GOALS COUNT ROUNDS                 the humanoid's hand from goal to goal
//   speed frames ROWS COUNT ROUNDS THREADS        markers of the humanoid, frame after frame
// GOALS and ROWS are files of doubles.
#define _POSIX_C_SOURCE 200809L
#include <sinew/sinew.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// of all threads of this program: others on the machine do not count
static double used(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *read_whole(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) exit((perror(path), 1));
    fseek(file, 0, SEEK_END);
    *length = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*length + 1);
    if (bytes == NULL || fread(bytes, 1, *length, file) != *length) exit(1);
    fclose(file);
    return bytes;
}

static void must(sn_status status) {
    if (status != SN_OK) exit((fprintf(stderr, "%s\n", sn_status_text(status)), 1));
}

static void arms(int argc, char **argv, bool many) {
    size_t length;
    sn_document document;
    char *text = read_whole(argv[2], &length);
    must(sn_document_read(text, length, argv[2], NULL, NULL, &document, NULL));
    sn_arm_options o = sn_arm_options_default();
    if (argc > 7) o.threads = atoi(argv[7]);
    sn_arm *arm;
    must(sn_arm_create(document.model, argv[3], &o, NULL, &arm, NULL));
    double *goals = read_whole(argv[4], &length);
    int count = atoi(argv[5]), rounds = atoi(argv[6]), n = sn_arm_n(arm);
    for (int k = 0; k < rounds; k++) {
        double begin = now(), from = used();
        if (many) {
            double *q = malloc((size_t)count * (size_t)n * sizeof *q);
            sn_arm_report *reports = malloc((size_t)count * sizeof *reports);
            must(sn_arm_solve_many(arm, count, goals, NULL, q, reports));
            printf("%.9f %.9f\n", used() - from, now() - begin);
            free(reports);
            free(q);
        } else {
            double q[SN_ARM_MAX];
            sn_arm_report report;
            for (int i = 0; i < count; i++)
                must(sn_arm_solve(arm, goals + 7 * i, NULL, q, &report));
            printf("%.9f\n", used() - from);
        }
    }
}

static void drag(char **argv) {
    size_t length;
    sn_model *model;
    sn_problem *problem;
    sn_solver *solver;
    must(sn_model_humanoid(NULL, &model, NULL));
    sn_task task = sn_task_default(SN_TASK_POINT);
    const sn_marker_desc *m = sn_model_marker(model, sn_model_find_marker(model, "LFIN"));
    task.joint = m->joint;
    memcpy(task.local, m->position, sizeof task.local);
    must(sn_problem_create(model, &task, 1, NULL, &problem, NULL));
    must(sn_solver_create(problem, NULL, NULL, &solver, NULL));
    double *goals = read_whole(argv[2], &length),
           *q = calloc((size_t)sn_model_nq(model), sizeof *q);
    int count = atoi(argv[3]), rounds = atoi(argv[4]);
    sn_report report;
    for (int k = 0; k < rounds; k++) {
        sn_model_zero(model, q);
        double begin = used();
        for (int i = 0; i < count; i++) {
            must(sn_problem_set_goal(problem, 0, goals + 3 * i));
            must(sn_solver_solve(solver, q, &report));
        }
        printf("%.9f\n", used() - begin);
    }
}

typedef struct rows {
    const double *data;
    int nmarker;
} rows;

static sn_status set_goals(void *user, int frame, sn_problem *problem) {
    const rows *r = user;
    for (int i = 0; i < r->nmarker; i++) {
        sn_status s = sn_problem_set_goal(
            problem, i, r->data + 3 * ((size_t)frame * (size_t)r->nmarker + (size_t)i));
        if (s != SN_OK) return s;
    }
    return SN_OK;
}

static void frames(char **argv) {
    size_t length;
    sn_model *model;
    sn_problem *problem;
    must(sn_model_humanoid(NULL, &model, NULL));
    must(sn_problem_create_markers(model, NULL, &problem, NULL));
    rows r = {read_whole(argv[2], &length), sn_model_nmarker(model)};
    int count = atoi(argv[3]), rounds = atoi(argv[4]);
    size_t nq = (size_t)sn_model_nq(model);
    double *start = calloc(nq, sizeof *start);
    sn_model_zero(model, start);
    sn_track_options o = sn_track_options_default();
    o.threads = atoi(argv[5]);
    for (int k = 0; k < rounds; k++) {
        double begin = now(), from = used(), *q = malloc((size_t)count * nq * sizeof *q);
        sn_tracker *tracker;
        must(sn_tracker_create(problem, &o, NULL, &tracker, NULL));
        must(sn_tracker_run(tracker, count, set_goals, &r, start, q, NULL));
        printf("%.9f %.9f\n", used() - from, now() - begin);
        sn_tracker_destroy(tracker);
        free(q);
    }
}

int main(int argc, char **argv) {
    if (argc >= 7 && strcmp(argv[1], "one") == 0)
        arms(argc, argv, false);
    else if (argc >= 8 && strcmp(argv[1], "many") == 0)
        arms(argc, argv, true);
    else if (argc >= 5 && strcmp(argv[1], "drag") == 0)
        drag(argv);
    else if (argc >= 6 && strcmp(argv[1], "frames") == 0)
        frames(argv);
    else
        return fprintf(stderr, "see the top of speed.c\n"), 2;
    return 0;
}
