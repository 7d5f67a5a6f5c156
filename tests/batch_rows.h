// SPDX-License-Identifier: MIT
// Rows of goals for the tests of many problems at once.
#pragma once

#include "sinew/batch.h"
#include "support.h"

typedef struct row_set {
    sn_model *model;
    sn_problem *problem;
    int n, nq, ngoal;
    double *goals, *starts;
} row_set;

// The numbers of a problem's own goals as a row.
static inline void own_row(const sn_batch *batch, const sn_problem *p, double *row) {
    for (int i = 0; i < sn_problem_ntask(p); i++) {
        const sn_task *t = sn_problem_task(p, i);
        int at = sn_batch_goal_at(batch, i), n = 0;
        if (at < 0) continue;
        double *x = row + at;
        if (t->type != SN_TASK_ORIENTATION)
            for (int k = 0; k < 3; k++) x[n++] = t->goal[k];
        if (t->type == SN_TASK_ORIENTATION || t->type == SN_TASK_POSE)
            for (int k = 0; k < 4; k++) x[n++] = t->rotation[k];
        if (t->type == SN_TASK_FRAME2)
            for (int k = 0; k < 6; k++) x[n++] = k < 3 ? t->i[k] : t->j[k - 3];
    }
}

// A random problem of tasks on one body, with a rest pose where `rest`, and rows around its goals, some of
// them missing.
static inline row_set random_rows(uint64_t *state, int njoint, int ntask, int n, bool rest) {
    row_set s = {.n = n};
    s.model = random_model(state, njoint, -1);
    s.problem = random_problem(state, s.model, ntask, -1);
    s.nq = sn_model_nq(s.model);
    if (rest) {
        sn_task t = sn_task_default(SN_TASK_REST);
        double *zero = calloc((size_t)s.nq + 1, sizeof *zero);
        sn_problem *with;
        sn_model_zero(s.model, zero);
        t.q = zero;
        t.weight = 0.3;
        assert_int_equal(sn_problem_copy(s.problem, &t, 1, NULL, &with, NULL), SN_OK);
        sn_problem_destroy(s.problem);
        s.problem = with;
        free(zero);
    }
    sn_batch *batch;
    sn_batch_options o = sn_batch_options_default();
    o.device = SN_DEVICE_CPU;
    assert_int_equal(sn_batch_create(s.problem, &o, NULL, &batch, NULL), SN_OK);
    s.ngoal = sn_batch_ngoal(batch);
    s.goals = calloc((size_t)(n * s.ngoal) + 1, sizeof *s.goals);
    s.starts = calloc((size_t)(n * s.nq) + 1, sizeof *s.starts);
    for (int i = 0; i < n; i++) {
        double *row = s.goals + i * s.ngoal;
        own_row(batch, s.problem, row);
        for (int k = 0; k < s.ngoal; k++) row[k] += uniform(state, -0.1, 0.1);
        if (s.ngoal > 0 && below(state, 8) == 0) row[below(state, s.ngoal)] = NAN;
        sn_model_zero(s.model, s.starts + i * s.nq);
        for (int k = 0; k < s.nq; k++) s.starts[i * s.nq + k] += uniform(state, -0.3, 0.3);
    }
    sn_batch_destroy(batch);
    return s;
}

// The humanoid's markers at poses that change a little from frame to frame, with noise.
static inline row_set humanoid_rows(int nchain, int nframe, double noise) {
    row_set s = {.n = nchain * nframe};
    uint64_t state = 41;
    assert_int_equal(sn_model_humanoid(NULL, &s.model, NULL), SN_OK);
    assert_int_equal(sn_problem_create_markers(s.model, NULL, &s.problem, NULL), SN_OK);
    sn_workspace *ws;
    assert_int_equal(sn_workspace_create(s.problem, false, NULL, &ws, NULL), SN_OK);
    s.nq = sn_model_nq(s.model);
    s.ngoal = 3 * sn_problem_ntask(s.problem);
    s.goals = calloc((size_t)(s.n * s.ngoal), sizeof *s.goals);
    s.starts = calloc((size_t)(nchain * s.nq), sizeof *s.starts);
    double *q = calloc((size_t)s.nq, sizeof *q);
    for (int c = 0; c < nchain; c++) {
        sn_model_zero(s.model, q);
        for (int k = 0; k < s.nq; k++) q[k] += uniform(&state, -0.3, 0.3);
        sn_model_normalize(s.model, q);
        (void)sn_model_clamp(s.model, q);
        memcpy(s.starts + c * s.nq, q, (size_t)s.nq * sizeof *q);
        for (int f = 0; f < nframe; f++) {
            for (int k = 0; k < s.nq; k++) q[k] += uniform(&state, -0.03, 0.03);
            sn_model_normalize(s.model, q);
            (void)sn_model_clamp(s.model, q);
            assert_int_equal(sn_workspace_pose(ws, q), SN_OK);
            for (int i = 0; i < sn_problem_ntask(s.problem); i++) {
                const sn_task *t = sn_problem_task(s.problem, i);
                const sn_vec3 p = sn_workspace_point(ws, t->joint, t->local);
                double *goal = s.goals + (c * nframe + f) * s.ngoal + 3 * i;
                goal[0] = p.x + uniform(&state, -noise, noise);
                goal[1] = p.y + uniform(&state, -noise, noise);
                goal[2] = p.z + uniform(&state, -noise, noise);
            }
        }
    }
    sn_workspace_destroy(ws);
    free(q);
    return s;
}

static inline void rows_free(row_set *s) {
    free(s->goals);
    free(s->starts);
    sn_problem_destroy(s->problem);
    sn_model_destroy(s->model);
}
