// SPDX-License-Identifier: MIT
// Samples that are wrong for a while, of takes with an OpenSim model: what leaps away and back again (leaps.c) is left
// out from the beginning. Once there are poses, each such marker must be as far from its place as it leapt; one that
// is not only was fast, and its frames are solved again with it.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/order.h"
#include "math/vec3.h"
#include "solvers/solver.h"
#include "take/fit.h"
#include "tasks/problem.h"

enum { SAMPLES = 256 };

// So much of its leap a marker that has leapt is away.
static const double back_share = 0.6;

// How far a marker mostly is from its place in a stretch; and at most.
static sn_status measure(const sn_fitting *f, const sn_fit_place *at, int marker, int first,
                         int last, double *usual, double *most) {
    const sn_fit_input *in = &f->input;
    const sn_marker_desc *m = sn_model_marker(in->model, marker);
    double off[SAMPLES], goal[3];
    size_t n = 0;
    int step = (last - first) / SAMPLES + 1;
    *most = 0;
    for (int k = first; k <= last && n < SAMPLES; k += step) {
        if (!sn_fit_goal(in, marker, in->first + k, goal)) continue;
        SN_TRY(sn_workspace_pose(at->workspace, sn_motion_frame(f->motion, k)));
        off[n] = v3_norm(
            v3_sub(v3_from(goal), sn_workspace_point(at->workspace, m->joint, m->position)));
        *most = fmax(*most, off[n++]);
    }
    qsort(off, n, sizeof *off, sn_by_value);
    *usual = n > 0 ? off[n / 2] : 0;
    return SN_OK;
}

// Frames whose goals have changed, from the poses that are there.
static sn_status solve_again(sn_fitting *f, sn_track_goals goals, int first, int last) {
    sn_solver *solver = NULL;
    sn_solver_options o = f->options.track.solver;
    sn_report report;
    o.gradient = fmin(o.gradient, 1e-7);
    sn_status status = sn_solver_create_plain(f->problem, &o, &f->allocator, &solver, NULL);
    for (int k = first; status == SN_OK && k <= last; k++) {
        status = goals(&f->input, k, f->problem);
        if (status == SN_OK)
            status = sn_solver_solve(solver, sn_motion_edit(f->motion, k), &report);
    }
    sn_solver_destroy(solver);
    return status;
}

static sn_status gate_marker(sn_fitting *f, const sn_fit_place *at, sn_track_goals goals,
                             int marker, sn_fit_leap *leaps) {
    size_t nmarker = (size_t)sn_model_nmarker(f->input.model);
    int n = sn_fit_find_leaps(&f->input, marker, leaps), right = 0;
    for (int i = 0; i < n; i++) {
        int first = leaps[i].first, last = leaps[i].last;
        double usual, most;
        // not where the marker was left alone
        if (!sn_fit_dropped(&f->input, marker, first)) continue;
        SN_TRY(measure(f, at, marker, first, last, &usual, &most));
        if (usual < back_share * leaps[i].size) {
            leaps[right++] = leaps[i];
        } else if (f->noff < SN_FIT_MOST_OFF) {
            f->off[f->noff++] = (sn_fit_off){marker, first, last, most};
        }
    }
    for (int i = 0; i < right; i++) {
        for (int k = leaps[i].first; k <= leaps[i].last; k++)
            f->dropped[(size_t)k * nmarker + (size_t)marker] = 0;
        SN_TRY(solve_again(f, goals, leaps[i].first, leaps[i].last));
    }
    return SN_OK;
}

sn_status sn_fit_gate_plan(sn_fitting *f, sn_track_goals goals) {
    sn_fit_place at = {0};
    sn_fit_leap *leaps = sn_acquire(&f->allocator, (size_t)f->input.count * sizeof *leaps);
    sn_status status =
        leaps == NULL ? SN_ERR_MEMORY : sn_fit_place_open(&at, f->input.model, &f->allocator);
    for (int i = 0; status == SN_OK && i < sn_model_nmarker(f->input.model); i++)
        status = gate_marker(f, &at, goals, i, leaps);
    sn_fit_place_close(&at, &f->allocator);
    sn_release(&f->allocator, leaps);
    return status;
}
