// SPDX-License-Identifier: MIT
// A frame from a pose that is nearly right, as nearly all are: plain Newton steps, with nothing around them.
//
// A solver is ready for anything; here the start is the neighbour's pose, and one or two exact steps end at the
// bottom. Whatever is not so (a step that is long or leads upwards, limits)
// is left to the solver. Where the exact Hessian is not positive definite Gauss and Newton's does.
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "sweeps/workspace.h"
#include "track/lanes.h"

enum { MOST_STEPS = 6 };

// A step is the last when it promises less than this share of f: what is left after it is of second order. A short
// step (radians or metres) by the exact Hessian squares the share, so a larger one will do, above all where
// another solve follows.
static const double enough = 2e-3, enough_exact = 0.1, enough_at_first = 0.25, is_short = 0.1;
// Longer steps are not what this is for, radians or metres.
static const double longest = 0.35;

bool sn_lane_is_plain(const sn_problem *p) {
    const sn_model *m = p->model;
    bool plain = m->nloop == 0 && m->ncoupling == 0 && m->ncone == 0;
    for (int v = 0; v < m->nv; v++)
        plain = plain && m->lower[v] == -INFINITY && m->upper[v] == INFINITY;
    return plain;
}

// One step from w->q, which is moved; *promise is how much f falls by it, *size how far it goes.
static bool step(sn_lanes *l, sn_lane_worker *w, bool *exact, double *f, double *promise,
                 double *size, int *hessians) {
    double *x = w->weight;
    const double *g = w->ws->g;
    const sn_model *m = l->model;
    ++*hessians;
    if (sn_workspace_eval(w->ws, w->q, *exact ? SN_EVAL_HESSIAN : SN_EVAL_GAUSS_NEWTON, f) != SN_OK)
        return false;
    if (sn_workspace_factor(w->ws, NULL, l->keep, 0, NULL) >= 0) {
        // not positive definite here: nor will it be a little further on
        bool again = *exact;
        *exact = false;
        return again && step(l, w, exact, f, promise, size, hessians);
    }
    for (size_t i = 0; i < l->nv; i++) x[i] = l->keep[i] ? -g[i] : 0;
    sn_workspace_solve(w->ws, x);
    *promise = *size = 0;
    for (size_t i = 0; i < l->nv; i++) {
        int v = m->v_of[i];
        double u = m->gain[v] * x[i];
        *promise -= 0.5 * g[i] * x[i];
        *size = fmax(*size, fabs(u));
        w->delta[v] = u;
    }
    if (!(*promise >= 0) || !(*size < longest)) return false;
    sn_model_integrate(m, w->q, w->delta, w->room);
    memcpy(w->q, w->room, l->nq * sizeof *w->q);
    return true;
}

bool sn_lane_steps(sn_lanes *l, sn_lane_worker *w, bool near, double *f, sn_report *report) {
    double last = INFINITY, promise, size;
    int n = 0, hessians = 0;
    bool refused = false;
    memcpy(w->begun, w->q, l->nq * sizeof *w->q);
    for (; n < MOST_STEPS; n++) {
        // before the first step the exact one is seldom positive definite
        bool wanted = !refused && (near || n > 0), exact = wanted;
        bool good = step(l, w, &exact, f, &promise, &size, &hessians);
        refused = refused || (wanted && !exact);
        // upwards: rounding aside
        if (!good || *f > last * (1 + 1e-9)) {
            memcpy(w->q, w->begun, l->nq * sizeof *w->q);
            return false;
        }
        last = *f;
        double share = near ? enough_exact : enough_at_first;
        if (promise <= (exact && size < is_short ? share : enough) * *f) break;
    }
    sn_model_normalize_quaternions(l->model, w->q);
    *f -= promise;
    *report = (sn_report){.stop = SN_STOP_MINIMUM, .f = *f};
    report->iterations = n < MOST_STEPS ? n + 1 : n;
    report->hessians = report->factorizations = report->poses = hessians;
    return n < MOST_STEPS;
}
