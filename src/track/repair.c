// SPDX-License-Identifier: MIT
#include "track/repair.h"

#include <string.h>

#include "base/memory.h"

// Of the pull to the last pose: a radian weighs as much as a point that is 3 mm off.
static const double rest_weight = 1e-5;

typedef struct repair {
    const sn_repair_options *options;
    sn_problem *problem;  ///< with a rest task behind the others
    int rest;
    sn_solver *solver;
    sn_workspace *ws;
    sn_track_goals goals;
    void *user;
    int nframe;
    size_t nq;
    double *q;    ///< the take
    double *now;  ///< the pose on its way
    double *at;   ///< where the way began
    bool *changed;
} repair;

// Follow the valley of `now` from a frame on while it is clearly lower than what is there. As in tracking a
// weak pull to the last pose holds what the goals do not see; it does not count.
static sn_status follow(repair *r, int frame, int step) {
    for (int f = frame; f >= 0 && f < r->nframe; f += step) {
        sn_report report;
        double before, after;
        double *pose = r->q + (size_t)f * r->nq;
        SN_TRY(r->goals(r->user, f, r->problem));
        SN_TRY(sn_workspace_eval(r->ws, pose, 0, &before));
        SN_TRY(sn_problem_set_rest(r->problem, r->rest, r->now));
        SN_TRY(sn_problem_set_enabled(r->problem, r->rest, true));
        SN_TRY(sn_solver_solve(r->solver, r->now, &report));
        SN_TRY(sn_problem_set_enabled(r->problem, r->rest, false));
        SN_TRY(sn_workspace_eval(r->ws, r->now, 0, &after));
        // tracked poses lie a hair above their valley's bottom
        if (!(after < r->options->same * before)) return SN_OK;
        memcpy(pose, r->now, r->nq * sizeof *pose);
        if (r->changed != NULL) r->changed[f] = true;
        if (sn_cancelled(r->options->cancel)) return SN_OK;
    }
    return SN_OK;
}

// Is there a pose that is clearly lower than this frame's? From nearby, or from anywhere.
static sn_status check(repair *r, int frame) {
    sn_report near, cold;
    double *pose = r->q + (size_t)frame * r->nq, stored;
    size_t bytes = r->nq * sizeof *pose;
    SN_TRY(r->goals(r->user, frame, r->problem));
    SN_TRY(sn_workspace_eval(r->ws, pose, 0, &stored));
    memcpy(r->at, pose, bytes);
    SN_TRY(sn_solver_solve(r->solver, r->at, &near));
    memcpy(r->now, pose, bytes);
    SN_TRY(sn_solver_solve_cold(r->solver, r->now, &cold));
    // the neighbour's valley is worth leaving only for a clearly lower one
    if (!(cold.f < r->options->lower * near.f)) {
        memcpy(r->now, r->at, bytes);
        cold.f = near.f;
    }
    if (!(cold.f < r->options->lower * stored)) return SN_OK;
    memcpy(r->at, r->now, bytes);
    SN_TRY(follow(r, frame, 1));
    memcpy(r->now, r->at, r->nq * sizeof *pose);
    return frame > 0 ? follow(r, frame - 1, -1) : SN_OK;
}

sn_status sn_track_repair(const sn_problem *problem, const sn_repair_options *options, int nframe,
                          sn_track_goals goals, void *user, const sn_allocator *allocator,
                          double *q, bool *changed) {
    repair r = {.options = options,
                .rest = sn_problem_ntask(problem),
                .goals = goals,
                .user = user,
                .nframe = nframe,
                .nq = (size_t)sn_model_nq(sn_problem_model(problem)),
                .q = q,
                .changed = changed};
    sn_solver_options o = sn_solver_options_default();
    o.max_iterations = 60;
    o.gradient = 1e-7;
    o.cancel = options->cancel;
    sn_task rest = sn_task_default(SN_TASK_REST);
    rest.weight = rest_weight;
    r.now = sn_acquire(allocator, 2 * (r.nq + 1) * sizeof *r.now);
    if (r.now == NULL) return SN_ERR_MEMORY;
    r.at = r.now + r.nq;
    sn_model_zero(sn_problem_model(problem), r.now);
    rest.q = r.now;
    sn_status status = sn_problem_copy(problem, &rest, 1, allocator, &r.problem, NULL);
    if (status == SN_OK) status = sn_problem_set_enabled(r.problem, r.rest, false);
    if (status == SN_OK) status = sn_solver_create(r.problem, &o, allocator, &r.solver, NULL);
    if (status == SN_OK) status = sn_workspace_create(r.problem, false, allocator, &r.ws, NULL);
    for (int f = options->every / 2; status == SN_OK && f < nframe; f += options->every) {
        if (sn_cancelled(options->cancel)) break;
        status = check(&r, f);
    }
    sn_release(allocator, r.now);
    sn_workspace_destroy(r.ws);
    sn_solver_destroy(r.solver);
    sn_problem_destroy(r.problem);
    return status;
}
