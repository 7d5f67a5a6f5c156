// SPDX-License-Identifier: MIT
#include "track/repair.h"

#include <string.h>

#include "base/memory.h"

typedef struct repair {
    const sn_repair_options *options;
    sn_problem *problem;
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

// Follow the valley of `now` from a frame on while it is lower than what is there.
static sn_status follow(repair *r, int frame, int step) {
    for (int f = frame; f >= 0 && f < r->nframe; f += step) {
        sn_report report;
        double before;
        double *pose = r->q + (size_t)f * r->nq;
        SN_TRY(r->goals(r->user, f, r->problem));
        SN_TRY(sn_workspace_eval(r->ws, pose, 0, &before));
        SN_TRY(sn_solver_solve(r->solver, r->now, &report));
        // the other solves are as good as converged, so that a hair lower is no other valley
        if (!(report.f < before * (1 - 1e-3))) return SN_OK;
        memcpy(pose, r->now, r->nq * sizeof *pose);
        if (r->changed != NULL) r->changed[f] = true;
        if (r->options->cancel != NULL && *r->options->cancel) return SN_OK;
    }
    return SN_OK;
}

static sn_status check(repair *r, int frame) {
    sn_report report;
    double before;
    double *pose = r->q + (size_t)frame * r->nq;
    SN_TRY(r->goals(r->user, frame, r->problem));
    SN_TRY(sn_workspace_eval(r->ws, pose, 0, &before));
    memcpy(r->now, pose, r->nq * sizeof *pose);
    SN_TRY(sn_solver_solve_cold(r->solver, r->now, &report));
    if (!(report.f < r->options->lower * before)) return SN_OK;
    memcpy(r->at, r->now, r->nq * sizeof *pose);
    SN_TRY(follow(r, frame, 1));
    memcpy(r->now, r->at, r->nq * sizeof *pose);
    return frame > 0 ? follow(r, frame - 1, -1) : SN_OK;
}

sn_status sn_track_repair(sn_problem *problem, const sn_repair_options *options, int nframe,
                          sn_track_goals goals, void *user, const sn_allocator *allocator, double *q,
                          bool *changed) {
    repair r = {.options = options,
                .problem = problem,
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
    sn_status status = sn_solver_create(problem, &o, allocator, &r.solver);
    if (status == SN_OK) status = sn_workspace_create(problem, false, allocator, &r.ws);
    r.now = sn_acquire(allocator, 2 * (r.nq + 1) * sizeof *r.now);
    if (status == SN_OK && r.now == NULL) status = SN_ERR_MEMORY;
    r.at = r.now + r.nq;
    for (int f = options->every / 2; status == SN_OK && f < nframe; f += options->every) {
        if (options->cancel != NULL && *options->cancel) break;
        status = check(&r, f);
    }
    sn_release(allocator, r.now);
    sn_workspace_destroy(r.ws);
    sn_solver_destroy(r.solver);
    return status;
}
