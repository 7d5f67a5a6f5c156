// SPDX-License-Identifier: MIT
// Problems whose model has closed loops: hybrid, newton and lm on the poses that close them.
//
// Every pose that is taken is closed first: a step of the Lagrangian's Hessian along the loops,
//
//   (H + lambda D^2) x + A^T mu = -g,   A x = 0,
//
// then Newton steps back onto c(q) = 0, each the shortest in the measure D^2. So f itself decides
// what is taken, and falls from one closed pose to the next; no penalty has to be chosen. The forces
// mu that hold the loops closed are those that leave the least of the gradient, and are in f's
// gradient from then on, so that limits are held or left by what pushes against them then.
//
// A start that is open is closed before anything else. Where it cannot be, as in a linkage that is
// pulled beyond its length, the pose that is least open comes back and the report says by how much.
#include <string.h>

#include "solvers/solver.h"

static const double closed = 1e-11;  // metres and radians
static const double least_damping = 1e-10;

typedef struct state {
    double *diagonal;   // nv: of the system, lambda D^2 and a little
    double *direction;  // nv: where it bends down; H times the step
    bool *held;         // nv: stays while a trial is closed
    double *q;          // nq: the trial that is being closed
    double *x, *best;   // nv, nq: a step that closes the loops, and where it leads
    bool *keep;         // nv: may move in that step
} state;

static state *state_of(const sn_solver *s) { return s->state; }

// One evaluation at s->q, with the forces in the gradient; the scale is kept up.
static bool derivatives(sn_solver *s, bool exact) {
    if (!sn_solver_eval(s, s->q, exact ? SN_EVAL_HESSIAN : SN_EVAL_GAUSS_NEWTON, &s->f))
        return false;
    if (!exact) sn_solver_find_scale(s, false);
    return true;
}

static bool may_move(const sn_solver *s, int i) {
    int at = s->q_of[i];
    double g = s->ws->g[i];
    bool held =
        at >= 0 && ((s->q[at] <= s->lower[i] && g > 0) || (s->q[at] >= s->upper[i] && g < 0));
    return !held && s->model->gain[s->model->v_of[i]] != 0;
}

// The forces that balance the gradient on what may move; twice, since they decide what that is.
static void balance(sn_solver *s) {
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < s->n; i++) s->keep[i] = may_move(s, i);
        sn_ties_balance(s->ws, s->scale, s->keep);
    }
}

// Close the loops of the pose `q` (s->trial is used on the way): Newton's steps, shorter ones while
// the loops would open further. Velocities with `held` stay. Returns how far it is open in the end.
static double close_loops(sn_solver *s, double *q, const bool *held, int most) {
    const sn_model *m = s->model;
    double *x = state_of(s)->x, *best = state_of(s)->best, open = INFINITY, f;
    bool *keep = state_of(s)->keep;
    for (int round = 0; round < most; round++) {
        if (!sn_solver_eval(s, q, SN_EVAL_GAUSS_NEWTON, &f)) return INFINITY;
        open = sn_ties_open(s->ws);
        if (open <= 1e-15) break;
        for (int i = 0; i < s->n; i++)
            keep[i] = (held == NULL || !held[i]) && m->gain[m->v_of[i]] != 0;
        // coordinates that a step would carry past their limits stay at them, and the others do more
        for (int tries = 0; tries < 6; tries++) {
            bool out = false;
            sn_ties_restore(s->ws, s->scale, keep, x);
            for (int i = 0; i < s->n; i++) {
                int at = s->q_of[i];
                if (!keep[i] || at < 0) continue;
                double to = q[at] + m->gain[m->v_of[i]] * x[i];
                bool stuck =
                    (q[at] <= s->lower[i] && to < q[at]) || (q[at] >= s->upper[i] && to > q[at]);
                if (stuck) keep[i] = false, out = true;
            }
            if (!out) break;
        }
        bool better = false;
        double size = 0;
        for (int i = 0; i < s->n; i++) size = fmax(size, fabs(x[i]));
        for (double t = size > 1 ? 1 / size : 1; t > 1e-4 && !better; t *= 0.5) {
            for (int i = 0; i < s->n; i++) {
                int v = m->v_of[i];
                s->delta[v] = m->gain[v] * t * x[i];
            }
            sn_model_integrate(m, q, s->delta, best);
            (void)sn_model_clamp(m, best);
            if (sn_workspace_pose(s->ws, best) != SN_OK) continue;
            better = sn_ties_open(s->ws) < open;
        }
        if (!better) break;
        memcpy(q, best, (size_t)m->nq * sizeof *q);
    }
    if (sn_workspace_pose(s->ws, q) != SN_OK) return INFINITY;
    return sn_ties_open(s->ws);
}

// Factor with as much damping as it takes.
static bool factor(sn_solver *s, double *lambda, bool *indefinite) {
    double *d = state_of(s)->diagonal, *z = state_of(s)->direction, pivot = 0;
    for (int tries = 0; tries < 60; tries++) {
        for (int i = 0; i < s->n; i++) d[i] = (*lambda + least_damping) * s->scale[i];
        s->report.factorizations++;
        int k = sn_workspace_factor(s->ws, d, s->keep, 0, &pivot);
        if (k < 0) return true;
        *indefinite = true;
        double square = 0;
        sn_workspace_curvature(s->ws, k, z);
        for (int i = 0; i < s->n; i++) square += s->scale[i] * z[i] * z[i];
        double missing = square > 0 ? fmax(-pivot, 0) / square : 0;
        *lambda = fmax(fmax(4 * *lambda, 1e-6), *lambda + 1.1 * missing);
    }
    return false;
}

// A step along the loops and what it promises.
static double find_step(sn_solver *s, double reach, double *lambda, bool *indefinite) {
    double *Hu = state_of(s)->direction;
    for (int tries = 0; tries < 10; tries++) {
        if (!factor(s, lambda, indefinite)) return 0;
        double size = 0;
        for (int i = 0; i < s->n; i++) s->step[i] = s->keep[i] ? -s->ws->g[i] : 0;
        sn_workspace_solve(s->ws, s->step);
        for (int i = 0; i < s->n; i++) size = fmax(size, fabs(s->step[i]));
        if (size <= reach) break;
        *lambda = fmax(*lambda, 1e-5) * fmin(fmax(size / reach * sqrt(size / reach), 2), 100);
    }
    sn_workspace_fields_multiply(s->ws, s->step, Hu);
    return -(sn_solver_dot(s->ws->g, s->step, s->n) + 0.5 * sn_solver_dot(s->step, Hu, s->n));
}

// s->trial: the step taken, and closed again. False when that does not work.
static bool closed_trial(sn_solver *s, double *value, double *length) {
    bool *held = state_of(s)->held;
    double *q = state_of(s)->q;
    *length = sn_solver_move(s, 1, s->step);
    // what has come to a limit stays there while the loops are closed
    for (int i = 0; i < s->n; i++) {
        int at = s->q_of[i];
        held[i] = !s->keep[i] ||
                  (at >= 0 && (s->trial[at] <= s->lower[i] || s->trial[at] >= s->upper[i]));
    }
    memcpy(q, s->trial, (size_t)s->model->nq * sizeof *q);
    double open = close_loops(s, q, held, 12);
    if (open > closed) {
        // they may be needed after all
        memcpy(q, s->trial, (size_t)s->model->nq * sizeof *q);
        open = close_loops(s, q, NULL, 12);
    }
    memcpy(s->trial, q, (size_t)s->model->nq * sizeof *q);
    return open <= fmax(closed, s->open) && sn_solver_eval(s, s->trial, 0, value);
}

static void run(sn_solver *s) {
    const sn_method method = s->options.method;
    bool exact = method == SN_METHOD_NEWTON;
    double lambda = 0, growth = 4, reach = 0.7, first_f = s->f;
    bool fresh = true;
    if (!derivatives(s, exact)) return;
    balance(s);
    if (exact && !derivatives(s, exact)) return;
    for (;;) {
        balance(s);
        if (sn_solver_finished(s)) return;
        sn_trace trace = {.exact = exact};
        if (fresh) lambda = fmin(lambda, s->report.gradient);
        fresh = false;
        double value = s->f, before = s->f;
        double promise = find_step(s, reach, &lambda, &trace.indefinite);
        trace.damping = lambda;
        bool good = closed_trial(s, &value, &trace.step);
        double fall = before - value;
        trace.ratio = promise > 0 ? fall / promise : -1;
        bool blind = promise < 1e-13 * before && fabs(fall) <= 1e-13 * before &&
                     value <= first_f * (1 + 1e-15);
        trace.taken = good && promise > 0 && ((trace.ratio > 1e-4 && fall > 0) || blind);
        if (trace.taken) sn_solver_take(s, value);
        sn_solver_iterated(s, &trace);
        if (!trace.taken) {
            lambda = fmax(growth * lambda, 1e-4);
            growth *= 2;
            if (lambda > 1e10 || trace.step == 0) {
                sn_solver_stalled(s);
                return;
            }
        } else {
            growth = 4;
            if (trace.ratio > 0.75) {
                reach = fmin(2 * reach, 1.5);
                lambda = lambda < 1e-6 ? 0 : lambda / 8;
            } else if (trace.ratio < 0.25) {
                reach = fmax(0.5 * reach, 0.05);
                lambda = fmax(2 * lambda, 1e-4);
            }
            if (method == SN_METHOD_HYBRID) exact = fall < 0.2 * before;
            fresh = true;
        }
        // closing the trial has moved the derivatives elsewhere
        if (!derivatives(s, exact)) {
            sn_solver_stalled(s);
            return;
        }
    }
}

void sn_solver_loops_layout(sn_solver *s, sn_layout *layout) {
    size_t n = (size_t)s->n, nq = (size_t)s->model->nq;
    state a;
    a.diagonal = sn_layout_take(layout, n, sizeof *a.diagonal);
    a.direction = sn_layout_take(layout, n, sizeof *a.direction);
    a.held = sn_layout_take(layout, n, sizeof *a.held);
    a.q = sn_layout_take(layout, nq, sizeof *a.q);
    a.x = sn_layout_take(layout, n, sizeof *a.x);
    a.best = sn_layout_take(layout, nq, sizeof *a.best);
    a.keep = sn_layout_take(layout, n, sizeof *a.keep);
    s->state = sn_layout_keep(layout, &a, sizeof a);
}

bool sn_solver_loops_begin(sn_solver *s) {
    double f;
    memset(s->ws->ties->mu, 0, SN_TIE_ROWS * (size_t)s->model->nloop * sizeof(double));
    s->open = close_loops(s, s->q, NULL, 200);
    if (!sn_solver_eval(s, s->q, SN_EVAL_GAUSS_NEWTON, &f)) return false;
    s->f = f;
    sn_solver_find_scale(s, true);
    memcpy(s->started_at, s->q, (size_t)s->model->nq * sizeof *s->q);
    return true;
}

void sn_solver_loops_run(sn_solver *s) {
    if (s->open > 1e-10) {
        // there is nothing to go along
        s->report.gradient = NAN;
        sn_solver_stalled(s);
        return;
    }
    run(s);
}
