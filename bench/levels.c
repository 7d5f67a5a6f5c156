// SPDX-License-Identifier: MIT
// A seven-axis arm with a pose to meet and a posture to keep: by one weight between them, and by levels. Goals
// are where the arm is at a random pose inside its limits; it starts at another one.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "protocol.h"
#include "solvers.h"

typedef struct arm {
    const char *name;
    sn_model *model;
    int joint;  // of the hand
    double local[3];
} arm;

static double uniform(uint64_t *state, double low, double high) {
    return low + (high - low) * sn_random(state);
}

// Shoulder, elbow and wrist, the axes in turn along and across the arm.
static sn_model *built_in(void) {
    sn_builder *b = NULL;
    sn_model *model = NULL;
    static const double length[7] = {0.35, 0, 0.42, 0, 0.4, 0, 0.12};
    if (sn_builder_create("seven", NULL, &b, NULL) != SN_OK) return NULL;
    for (int i = 0; i < 7; i++) {
        sn_joint_desc d = sn_joint_default(SN_JOINT_HINGE);
        char name[8];
        (void)snprintf(name, sizeof name, "a%d", i + 1);
        d.name = name;
        d.parent = i - 1;
        d.position[2] = i > 0 ? length[i - 1] : 0;
        d.axis[0] = 0, d.axis[1] = i % 2, d.axis[2] = 1 - i % 2;
        d.upper[0] = i % 2 == 1 ? 2.1 : 2.9;
        d.lower[0] = -d.upper[0];
        (void)sn_builder_joint(b, &d);
    }
    (void)sn_builder_finish(b, &model, NULL);
    sn_builder_destroy(b);
    return model;
}

static bool load(const char *data, const char *file, const char *link, arm *out) {
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/urdf/%s", data, file);
    size_t length;
    char *text = bench_file(NULL, path, &length);
    if (text == NULL) return false;
    sn_error error = {0};
    *out = (arm){.name = file};
    sn_status status = sn_urdf_read(text, length, NULL, NULL, &out->model, NULL, &error);
    free(text);
    int marker = status == SN_OK ? sn_model_find_marker(out->model, link) : -1;
    if (marker < 0) {
        sn_model_destroy(out->model);
        return false;
    }
    const sn_marker_desc *at = sn_model_marker(out->model, marker);
    out->joint = at->joint;
    memcpy(out->local, at->position, sizeof out->local);
    return true;
}

typedef struct way {
    const char *name;
    double rest;  // weight of the posture; 0: none
    int level;    // its level
} way;

static const way ways[] = {{"pose alone", 0, 0},
                           {"posture weighs 0.01", 1e-2, 0},
                           {"posture weighs 1e-4", 1e-4, 0},
                           {"posture weighs 1e-6", 1e-6, 0},
                           {"levels", 1, 1}};
enum { WAYS = (int)(sizeof ways / sizeof *ways) };

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Random poses inside the limits, one of them the goal's.
static void random_pose(const sn_model *m, uint64_t *state, double share, double *q) {
    const double *lower = sn_model_lower(m), *upper = sn_model_upper(m);
    for (int v = 0; v < sn_model_nv(m); v++) {
        double low = fmax(lower[v], -3), high = fmin(upper[v], 3), mid = 0.5 * (low + high);
        q[v] = mid + share * uniform(state, low - mid, high - mid);
    }
}

typedef struct tally {
    double *iterations, *micros, *missed, *gradient;
    int met;
} tally;

static void set_goal(const arm *a, sn_workspace *ws, const double *q, sn_problem *p) {
    (void)sn_workspace_pose(ws, q);
    sn_vec3 goal = sn_workspace_point(ws, a->joint, a->local);
    sn_frame frame = sn_workspace_frame(ws, a->joint);
    sn_quat turn = sn_quat_from_mat3(frame.R);
    (void)sn_problem_set_goal(p, 0, (double[3]){goal.x, goal.y, goal.z});
    (void)sn_problem_set_rotation(p, 0, (double[4]){turn.w, turn.x, turn.y, turn.z});
}

// With `near` the goal moves a little from one that was solved by levels, as it does from one tick of a
// control to the next.
static void run_way(const arm *a, const way *w, int count, bool near, tally *t) {
    const sn_model *m = a->model;
    const int nv = sn_model_nv(m);
    uint64_t state = 7;
    double *rest = bench_numbers((size_t)nv), *q = bench_numbers((size_t)nv);
    double *start = bench_numbers((size_t)nv);
    for (int v = 0; v < nv; v++)
        rest[v] = 0.5 * (fmax(sn_model_lower(m)[v], -3) + fmin(sn_model_upper(m)[v], 3));
    sn_task task[2] = {sn_task_default(SN_TASK_POSE), sn_task_default(SN_TASK_REST)};
    task[0].joint = a->joint;
    memcpy(task[0].local, a->local, sizeof a->local);
    task[1].q = rest;
    task[1].level = 1;
    sn_problem *p = NULL, *before = NULL;
    sn_solver *solver = NULL, *prepare = NULL;
    sn_workspace *ws = NULL;
    (void)sn_problem_create(m, task, 2, NULL, &before, NULL);
    task[1].weight = w->rest;
    task[1].level = w->level;
    (void)sn_problem_create(m, task, 2, NULL, &p, NULL);
    (void)sn_solver_create(p, NULL, NULL, &solver, NULL);
    (void)sn_solver_create(before, NULL, NULL, &prepare, NULL);
    (void)sn_workspace_create(p, false, NULL, &ws, NULL);
    t->met = 0;
    for (int i = 0; i < count; i++) {
        sn_report report;
        random_pose(m, &state, 0.9, q);
        random_pose(m, &state, 0.9, start);
        set_goal(a, ws, q, p);
        if (near) {
            set_goal(a, ws, q, before);
            for (int v = 0; v < nv; v++) {
                double further = 0.02 * start[v];
                start[v] = q[v];
                q[v] += further;
            }
            set_goal(a, ws, q, p);
            (void)sn_solver_solve(prepare, start, &report);
        }
        double begin = bench_seconds();
        (void)sn_solver_solve(solver, start, &report);
        t->micros[i] = 1e6 * (bench_seconds() - begin);
        t->iterations[i] = report.iterations;
        t->missed[i] = sn_workspace_task_error(sn_solver_workspace(solver), 0);
        t->gradient[i] = report.nlevel > 1 ? report.level[1].gradient : 0;
        t->met += t->missed[i] < 1e-9;
    }
    sn_solver_destroy(solver);
    sn_solver_destroy(prepare);
    sn_workspace_destroy(ws);
    sn_problem_destroy(p);
    sn_problem_destroy(before);
    free(rest);
    free(q);
    free(start);
}

static double mean(const double *x, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i];
    return sum / n;
}

static bool bench_arm(const arm *a, int count, bool near) {
    tally t[WAYS];
    double *ratio = bench_numbers((size_t)count), *sorted = bench_numbers((size_t)count);
    int many = 0;
    printf("\n%s, %d goals, %s\n  %-22s %10s %6s %6s %9s %11s %11s %9s\n", a->name, count,
           near ? "from where the goal was before" : "from a random pose", "", "iterations", "90 %",
           "most", "us", "pose off", "99 %", "met");
    for (int w = 0; w < WAYS; w++) {
        t[w].iterations = bench_numbers((size_t)count);
        t[w].micros = bench_numbers((size_t)count);
        t[w].missed = bench_numbers((size_t)count);
        t[w].gradient = bench_numbers((size_t)count);
        run_way(a, &ways[w], count, near, &t[w]);
        memcpy(sorted, t[w].iterations, (size_t)count * sizeof *sorted);
        qsort(sorted, (size_t)count, sizeof *sorted, by_size);
        double most = sorted[count - 1], ninety = sorted[count * 9 / 10];
        memcpy(sorted, t[w].missed, (size_t)count * sizeof *sorted);
        qsort(sorted, (size_t)count, sizeof *sorted, by_size);
        printf("  %-22s %10.2f %6.0f %6.0f %9.1f %11.1e %11.1e %7.1f %%\n", ways[w].name,
               mean(t[w].iterations, count), ninety, most, mean(t[w].micros, count),
               sorted[count / 2], sorted[count * 99 / 100], 100.0 * t[w].met / count);
    }
    const tally *alone = &t[0], *levels = &t[WAYS - 1];
    double worst = 0;
    int lost = 0;
    for (int i = 0; i < count; i++) {
        ratio[i] = levels->iterations[i] / fmax(alone->iterations[i], 1);
        many += ratio[i] > 2;
        lost += alone->missed[i] < 1e-9 && !(levels->missed[i] < 1e-9);
        worst = fmax(worst, levels->gradient[i]);
    }
    qsort(ratio, (size_t)count, sizeof *ratio, by_size);
    double all = mean(levels->iterations, count) / mean(alone->iterations, count);
    printf("  levels / alone: %.2f of the iterations, median %.2f, 90 %% %.2f, most %.2f, above 2 "
           "in %d\n"
           "  the posture's gradient in the null space: %.1e at most\n",
           all, ratio[count / 2], ratio[count * 9 / 10], ratio[count - 1], many, worst);
    printf("  poses met alone and not with levels: %d\n", lost);
    for (int w = 0; w < WAYS; w++) {
        free(t[w].iterations);
        free(t[w].micros);
        free(t[w].missed);
        free(t[w].gradient);
    }
    free(ratio);
    free(sorted);
    return many == 0 && lost == 0;
}

bool bench_levels(const bench_options *o) {
    static const struct {
        const char *file, *link;
    } files[] = {{"panda.urdf", "panda_link8"}, {"iiwa14_no_collision.urdf", "iiwa_link_ee"}};
    const int count = o->problems > 0 ? o->problems : 1000;
    arm a = {.name = "built-in arm", .model = built_in(), .joint = 6, .local = {0, 0, 0.12}};
    bool good = true;
    for (int i = -1; i < 2; i++) {
        if (i >= 0 && (o->data == NULL || !load(o->data, files[i].file, files[i].link, &a)))
            continue;
        for (int near = 0; near < 2; near++) good &= bench_arm(&a, count, near != 0);
        sn_model_destroy(a.model);
    }
    printf("\n%s: for no goal more than 2 x the iterations of the pose alone, and no pose lost\n",
           good ? "PASS" : "FAIL");
    return good;
}
