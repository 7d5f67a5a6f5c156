// SPDX-License-Identifier: MIT
// The C side of speed.py, a shared library that it loads: the same solves of the same numbers, in the same process
// and with memory of the same kind. Each returns 0, or the library's status.
#include <sinew/sinew.h>
#include <stdlib.h>
#include <string.h>

/// An arm of a URDF text.
typedef struct speed_arm {
    sn_document document;
    sn_arm *arm;
} speed_arm;

/// The humanoid, whose hand is pulled.
typedef struct speed_hand {
    sn_model *model;
    sn_problem *problem;
    sn_solver *solver;
    double *q;
} speed_hand;

speed_arm *speed_arm_create(const char *text, const char *tip, int threads);
speed_hand *speed_hand_create(void);
int speed_one(speed_arm *a, const double *goals, int count);
int speed_many(speed_arm *a, const double *goals, int count);
int speed_drag(speed_hand *h, const double *goals, int count);
int speed_frames(const double *rows, int count, int threads);

speed_arm *speed_arm_create(const char *text, const char *tip, int threads) {
    speed_arm *a = calloc(1, sizeof *a);
    if (a == NULL ||
        sn_document_read(text, strlen(text), "arm.urdf", NULL, NULL, &a->document, NULL) != SN_OK)
        return NULL;
    sn_arm_options o = sn_arm_options_default();
    o.threads = threads;
    return sn_arm_create(a->document.model, tip, &o, NULL, &a->arm, NULL) == SN_OK ? a : NULL;
}

// Goal after goal.
int speed_one(speed_arm *a, const double *goals, int count) {
    double q[SN_ARM_MAX];
    sn_arm_report report;
    for (int i = 0; i < count; i++) {
        sn_status s = sn_arm_solve(a->arm, goals + 7 * (size_t)i, NULL, q, &report);
        if (s != SN_OK) return (int)s;
    }
    return 0;
}

// All goals at once, into memory that is asked for here: a caller needs the answers and how each went.
int speed_many(speed_arm *a, const double *goals, int count) {
    double *q = malloc((size_t)count * (size_t)sn_arm_n(a->arm) * sizeof *q);
    sn_arm_report *reports = malloc((size_t)count * sizeof *reports);
    sn_status s = q != NULL && reports != NULL
                      ? sn_arm_solve_many(a->arm, count, goals, NULL, q, reports)
                      : SN_ERR_MEMORY;
    free(reports);
    free(q);
    return (int)s;
}

speed_hand *speed_hand_create(void) {
    speed_hand *h = calloc(1, sizeof *h);
    if (h == NULL || sn_model_humanoid(NULL, &h->model, NULL) != SN_OK) return NULL;
    sn_task task = sn_task_default(SN_TASK_POINT);
    const sn_marker_desc *m = sn_model_marker(h->model, sn_model_find_marker(h->model, "LFIN"));
    task.joint = m->joint;
    memcpy(task.local, m->position, sizeof task.local);
    h->q = calloc((size_t)sn_model_nq(h->model), sizeof *h->q);
    if (h->q == NULL || sn_problem_create(h->model, &task, 1, NULL, &h->problem, NULL) != SN_OK)
        return NULL;
    return sn_solver_create(h->problem, NULL, NULL, &h->solver, NULL) == SN_OK ? h : NULL;
}

// From goal to goal.
int speed_drag(speed_hand *h, const double *goals, int count) {
    sn_report report;
    sn_model_zero(h->model, h->q);
    for (int i = 0; i < count; i++) {
        sn_status s = sn_problem_set_goal(h->problem, 0, goals + 3 * (size_t)i);
        if (s == SN_OK) s = sn_solver_solve(h->solver, h->q, &report);
        if (s != SN_OK) return (int)s;
    }
    return 0;
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

// Markers of the humanoid, frame after frame.
int speed_frames(const double *data, int count, int threads) {
    sn_model *model = NULL;
    sn_problem *problem = NULL;
    sn_tracker *tracker = NULL;
    sn_status s = sn_model_humanoid(NULL, &model, NULL);
    if (s != SN_OK) return (int)s;
    s = sn_problem_create_markers(model, NULL, &problem, NULL);
    rows r = {data, sn_model_nmarker(model)};
    size_t nq = (size_t)sn_model_nq(model);
    double *start = calloc(nq, sizeof *start), *q = malloc((size_t)count * nq * sizeof *q);
    if (start == NULL || q == NULL) s = SN_ERR_MEMORY;
    if (s == SN_OK) sn_model_zero(model, start);
    sn_track_options o = sn_track_options_default();
    o.threads = threads;
    if (s == SN_OK) s = sn_tracker_create(problem, &o, NULL, &tracker, NULL);
    if (s == SN_OK) s = sn_tracker_run(tracker, count, set_goals, &r, start, q, NULL);
    sn_tracker_destroy(tracker);
    free(q);
    free(start);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
    return (int)s;
}
