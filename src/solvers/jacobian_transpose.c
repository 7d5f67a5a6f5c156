// SPDX-License-Identifier: MIT
// The Jacobian transpose method, 002 (docs/bibliography.md) section 4.2: q <- P(q - t g), g = -J^T e, with a t that asks
// nothing of f. Either a fixed one, 002's 0.005, or Buss's, under which the step would be best if e
// were linear in q:
//
//   t = e . z / z . z,  z = J J^T e                                         (28)
//     = g . g / g . (J^T J) g
//
// Neither promises that f falls. The walk goes on from where it is, for better or worse, and the
// best pose it came by is what is returned. It is given up when f is a million times the best, or
// after 50 steps without a new best.
#include <string.h>

#include "solvers/solver.h"

enum { PATIENCE = 50 };
static const double diverged = 1e6;

typedef struct state {
    double *best;  // nq: the best pose of the walk
} state;

static void layout(sn_solver *s, sn_layout *layout_) {
    state a;
    a.best = sn_layout_take(layout_, (size_t)s->model->nq, sizeof *a.best);
    s->state = sn_layout_keep(layout_, &a, sizeof a);
}

static state *state_of(const sn_solver *s) { return s->state; }

// Equation 28; 0 when nothing moves the residual.
static double buss_length(sn_solver *s) {
    const double *g = s->ws->g;
    sn_workspace_fields_multiply(s->ws, g, s->delta);
    double curvature = sn_solver_dot(g, s->delta, s->n);
    return curvature > 0 ? sn_solver_dot(g, g, s->n) / curvature : 0;
}

// The walk, in s->q and s->f. Returns true when the last pose is the best one.
static bool walk(sn_solver *s, double *best, double *best_f) {
    const bool fixed = s->options.step > 0;
    const size_t bytes = (size_t)s->model->nq * sizeof *best;
    int since = 0;
    while (!sn_solver_finished(s)) {
        double t = fixed ? s->options.step : buss_length(s), f;
        sn_trace trace = {.damping = t, .ratio = NAN};
        for (int i = 0; i < s->n; i++) s->step[i] = -s->ws->g[i];
        trace.step = sn_solver_move_all(s, t, s->step);
        unsigned what = fixed ? SN_EVAL_GRADIENT : SN_EVAL_GAUSS_NEWTON;
        bool finite = sn_solver_eval(s, s->trial, what, &f);
        if (finite) sn_solver_take(s, f);
        trace.taken = finite && f < *best_f;
        since = trace.taken ? 0 : since + 1;
        if (trace.taken) {
            memcpy(best, s->q, bytes);
            *best_f = f;
        }
        // the trace tells of the best
        double here = s->f;
        s->f = *best_f;
        sn_solver_iterated(s, &trace);
        s->f = here;
        if (!finite || trace.step == 0 || since >= PATIENCE || f > diverged * *best_f) {
            sn_solver_stalled(s);
            break;
        }
    }
    return since == 0;
}

static void run(sn_solver *s) {
    double *best = state_of(s)->best, best_f = s->f;
    memcpy(best, s->q, (size_t)s->model->nq * sizeof *best);
    if (walk(s, best, &best_f)) return;
    // go back to the best pose, and say of that one why it ends there
    sn_stop stop = s->report.stop;
    memcpy(s->q, best, (size_t)s->model->nq * sizeof *best);
    double f;
    bool ended = sn_solver_eval(s, s->q, SN_EVAL_GRADIENT, &f);
    s->f = best_f;
    ended = ended && sn_solver_finished(s);
    if (!ended) s->report.stop = stop == SN_STOP_MINIMUM ? SN_STOP_STALLED : stop;
}

const sn_method_ops sn_method_jacobian_transpose = {layout, false, run};
