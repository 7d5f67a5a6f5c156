// SPDX-License-Identifier: MIT
// How much the frames of a take say: what of the markers' errors is noise, and what is skin.
//
// Noise is new in every frame, so its mean over many frames is known well. Skin slides with the posture, and many
// frames are hardly better than a few. The difference of two frames next to each other has none of the skin's:
//
//   white^2 = mean |r(f + 1) - r(f)|^2 / 2        skin^2 = mean |r|^2 - white^2        per axis
//
// with the residuals of poses that are solved for a shape free enough not to add errors of its own. Much noise hides
// skin: what cannot be told from it counts as there, lest a shape be bent to fit noise.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/order.h"
#include "math/vec3.h"
#include "solvers/solver.h"
#include "take/estimate.h"

// Pairs of frames that are looked at.
enum { PAIRS = 20 };

// As a share of the noise's variance: that of skin which these pairs do not show.
static const double hidden = 0.005;

typedef struct look {
    sn_problem *problem;
    sn_solver *solver;
    double *q;
    sn_vec3 *r[2];
    bool *seen[2];
    double total, difference;
    long samples, pairs;
} look;

static sn_status solve_frame(sn_estimate *e, const sn_model *model, look *l, int frame, int side) {
    const sn_fit_input *in = e->o.take;
    sn_report report;
    int seen = 0;
    double goal[3];
    for (int i = 0; i < e->nmarker; i++) {
        l->seen[side][i] =
            !sn_fit_dropped(in, i, frame - in->first) && sn_fit_goal(in, i, frame, goal);
        seen += l->seen[side][i];
        if (l->seen[side][i])
            SN_TRY(sn_problem_set_goal(l->problem, i, goal));
        else
            SN_TRY(sn_problem_set_missing(l->problem, i, true));
    }
    SN_TRY(sn_solver_solve(l->solver, l->q, &report));
    // each pose takes up some of the errors
    double left = 1 - sn_fit_freedom(e->model) / fmax(3 * seen, 1),
           inflate = sqrt(1 / fmax(left, 0.3));
    for (int i = 0; i < e->nmarker; i++) {
        const sn_marker_desc *m = sn_model_marker(model, i);
        if (!l->seen[side][i]) continue;
        (void)sn_fit_goal(in, i, frame, goal);
        sn_vec3 p = sn_workspace_point(sn_solver_workspace(l->solver), m->joint, m->position);
        l->r[side][i] = v3_scale(inflate, v3_sub(v3_from(goal), p));
    }
    return SN_OK;
}

// Medians of squares, so that a few wrong samples say nothing; of a normal law in three dimensions they are 2.366
// of one axis's variance.
static double variance(double *square, size_t n) {
    if (n == 0) return 0;
    qsort(square, n, sizeof *square, sn_by_value);
    return square[n / 2] / 2.366;
}

static sn_status look_at(sn_estimate *e, const sn_model *model, look *l, double *white,
                         double *total) {
    size_t room = (size_t)PAIRS * (size_t)e->nmarker + 1, n[2] = {0, 0};
    double *square[2] = {sn_acquire(e->allocator, 2 * room * sizeof(double)),
                         sn_acquire(e->allocator, room * sizeof(double))};
    sn_status status = square[0] == NULL || square[1] == NULL ? SN_ERR_MEMORY : SN_OK;
    int step = e->nframe / PAIRS + 1, end = e->o.take->first + e->o.take->count;
    for (int k = 0; status == SN_OK && k < e->nframe; k += step) {
        if (e->still[k] || e->frame[k] + 1 >= end) continue;
        memcpy(l->q, e->poses + (size_t)k * e->nq, e->nq * sizeof *l->q);
        for (int side = 0; status == SN_OK && side < 2; side++)
            status = solve_frame(e, model, l, e->frame[k] + side, side);
        for (int i = 0; status == SN_OK && i < e->nmarker; i++) {
            for (int side = 0; side < 2; side++)
                if (l->seen[side][i] && n[0] < 2 * room)
                    square[0][n[0]++] = v3_dot(l->r[side][i], l->r[side][i]);
            if (!l->seen[0][i] || !l->seen[1][i]) continue;
            sn_vec3 d = v3_sub(l->r[1][i], l->r[0][i]);
            square[1][n[1]++] = v3_dot(d, d) / 2;
        }
    }
    if (status == SN_OK) {
        *total = variance(square[0], n[0]);
        *white = variance(square[1], n[1]);
    }
    sn_release(e->allocator, square[0]);
    sn_release(e->allocator, square[1]);
    return status;
}

sn_status sn_estimate_noise(sn_estimate *e, double *white, double *skin, sn_error *error) {
    sn_model *model = NULL;
    look l = {0};
    sn_solver_options o = sn_solver_options_default();
    void *owner = NULL;
    double total = 0;
    sn_layout layout = {0};
    *white = *skin = 0;
    for (int pass = 0; pass < 2; pass++) {
        l.q = sn_layout_take(&layout, e->nq, sizeof *l.q);
        for (int side = 0; side < 2; side++) {
            l.r[side] = sn_layout_take(&layout, (size_t)e->nmarker, sizeof *l.r[side]);
            l.seen[side] = sn_layout_take(&layout, (size_t)e->nmarker, sizeof *l.seen[side]);
        }
        if (pass == 1) break;
        void *block = sn_layout_acquire(&layout, e->allocator, &owner);
        if (block == NULL) return sn_fail_memory(error);
        layout = (sn_layout){.block = block};
    }
    o.max_iterations = 30;
    o.gradient = 1e-5;
    sn_status status = sn_estimate_model(e, e->x, false, &model, error);
    if (status == SN_OK) status = sn_estimate_problem(e, model, &l.problem, e->delta, error);
    if (status == SN_OK)
        status = sn_solver_create_plain(l.problem, &o, e->allocator, &l.solver, error);
    if (status == SN_OK) status = look_at(e, model, &l, white, &total);
    *skin = sqrt(fmax(total - *white, 0) + hidden * *white);
    *white = sqrt(*white);
    sn_solver_destroy(l.solver);
    sn_problem_destroy(l.problem);
    sn_model_destroy(model);
    sn_release(e->allocator, owner);
    return status;
}
