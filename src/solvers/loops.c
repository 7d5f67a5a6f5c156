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

#include "solvers/loops.h"

static const double least_damping = 1e-10;

// Rounding of f leaves a relative gradient of about this, as in levels.c.
static const double end_of_digits = 3e-8;

// D^2 as in step.c: how far joints turn and slide, whatever hangs on them.
static void measure(sn_solver *s) {
    double *metric = sn_loops_of(s)->metric, most[2] = {0, 0};
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < s->model->njoint; k++) {
            const sn_joint *j = &s->model->joint[k];
            for (int a = 0; a < j->nv; a++) {
                int i = j->slot + a, length = j->lengths >> a & 1;
                double gain = s->model->inner[j->v0 + a], square = gain * gain;
                if (sn_loops_of(s)->roll[i]) square = 1;
                if (pass == 0 && square > 0) most[length] = fmax(most[length], s->seen[i] / square);
                if (pass == 1) metric[i] = fmax(square * most[length], s->scale[i]);
            }
        }
    }
}

// One evaluation at s->q, with the forces in the gradient; the scale is kept up.
static bool derivatives(sn_solver *s, bool exact) {
    if (!sn_solver_eval(s, s->q, exact ? SN_EVAL_HESSIAN : SN_EVAL_GAUSS_NEWTON, &s->f))
        return false;
    if (!exact) {
        sn_solver_find_scale(s, false);
        measure(s);
    }
    return true;
}

static bool may_move(const sn_solver *s, int i) {
    int at = s->q_of[i];
    double g = s->ws->g[i];
    bool held =
        at >= 0 && ((s->q[at] <= s->lower[i] && g > 0) || (s->q[at] >= s->upper[i] && g < 0));
    return !held && s->model->gain[s->model->v_of[i]] != 0;
}

// The forces that balance the gradient on what may move; a few times, since they decide what that is.
static void balance(sn_solver *s) {
    bool same = false;
    for (int round = 0; round < 8 && !same; round++) {
        same = round > 0;
        for (int i = 0; i < s->n; i++) {
            bool may = may_move(s, i);
            same = same && may == s->keep[i];
            s->keep[i] = may;
        }
        if (s->model->tied_limits) (void)sn_solver_tied_hold(s, s->keep);
        if (!same) sn_ties_balance(s->ws, s->scale, s->keep);
    }
}

// Factor with as much damping as it takes.
static bool factor(sn_solver *s, const bool *free, double *lambda, bool *indefinite) {
    const sn_loops *l = sn_loops_of(s);
    double *z = l->direction, pivot = 0;
    sn_ties_rank(s->ws, l->metric, free);
    for (int tries = 0; tries < 60; tries++) {
        for (int i = 0; i < s->n; i++)
            l->diagonal[i] = *lambda * l->metric[i] + least_damping * s->scale[i];
        s->report.factorizations++;
        int k = sn_workspace_factor(s->ws, l->diagonal, free, 0, &pivot);
        if (k < 0) return true;
        *indefinite = true;
        double square = 0;
        sn_workspace_curvature(s->ws, k, z);
        for (int i = 0; i < s->n; i++) square += l->metric[i] * z[i] * z[i];
        double missing = square > 0 ? fmax(-pivot, 0) / square : 0;
        *lambda = fmax(fmax(4 * *lambda, 1e-6), *lambda + 1.1 * missing);
    }
    return false;
}

// How much of a piece x + t part fits into the limits, and what stops it: -1 nothing, from s->n on a
// follower of several leaders.
static double room_along(const sn_solver *s, const double *x, const double *part, int *stop) {
    const sn_loops *l = sn_loops_of(s);
    const sn_model *m = s->model;
    double t = 1;
    *stop = -1;
    for (int i = 0; i < m->ncoupling && m->tied_limits && s->inside; i++) {
        const sn_coupling_place *c = &m->coupled[i];
        if (!c->limited || s->ws->ties->stuck[i]) continue;
        memcpy(l->pull, part, (size_t)s->n * sizeof *part);
        sn_ties_follow(s->ws, l->pull);
        double way = l->pull[c->follower_slot];
        memcpy(l->pull, x, (size_t)s->n * sizeof *part);
        sn_ties_follow(s->ws, l->pull);
        double limit = way > 0 ? m->upper[c->follower_v] : m->lower[c->follower_v];
        double room = limit - s->q[c->follower_q] - l->pull[c->follower_slot];
        if (way != 0 && room / way < t) t = fmax(room / way, 0), *stop = s->n + i;
    }
    for (int i = 0; i < s->n; i++) {
        int at = s->q_of[i];
        if (!l->free[i] || at < 0) continue;
        double gain = m->gain[m->v_of[i]], way = gain * part[i];
        double room = (way > 0 ? s->upper[i] : s->lower[i]) - s->q[at] - gain * x[i];
        if (way != 0 && room / way < t) t = fmax(room / way, 0), *stop = i;
    }
    return t;
}

// The step along the loops inside the limits, in s->step, and what it promises. It goes straight until
// the first limit stops a coordinate, which stays there while the others go on, as far as the model
// falls: every piece keeps A x = 0.
static double find_step(sn_solver *s, double reach, double *lambda, bool *indefinite) {
    const sn_loops *l = sn_loops_of(s);
    const double *g = s->ws->g;
    double *x = s->step, *Hx = l->direction, *part = l->part;
    memcpy(l->free, s->keep, (size_t)s->n * sizeof *l->free);
    for (int tries = 0; tries < 10; tries++) {
        if (!factor(s, l->free, lambda, indefinite)) return 0;
        double size = 0;
        for (int i = 0; i < s->n; i++) part[i] = l->free[i] ? -g[i] : 0;
        sn_workspace_solve(s->ws, part);
        for (int i = 0; i < s->n; i++)
            if (s->turns[i]) size = fmax(size, fabs(s->model->inner[s->model->v_of[i]] * part[i]));
        if (size <= reach) break;
        *lambda = fmax(*lambda, 1e-5) * fmin(fmax(size / reach * sqrt(size / reach), 2), 100);
    }
    for (int i = 0; i < s->n; i++) x[i] = 0;
    for (int pieces = 0; pieces < 30; pieces++) {
        int stop;
        double t = room_along(s, x, part, &stop);
        for (int i = 0; i < s->n; i++)
            if (l->free[i]) x[i] += t * part[i];
        if (stop < 0) break;
        if (stop >= s->n) {
            s->ws->ties->stuck[stop - s->n] = true;
        } else {
            l->free[stop] = false;
        }
        s->report.factorizations++;
        sn_ties_rank(s->ws, l->metric, l->free);
        if (sn_workspace_factor(s->ws, l->diagonal, l->free, 0, NULL) >= 0) break;
        sn_workspace_fields_multiply(s->ws, x, Hx);
        for (int i = 0; i < s->n; i++)
            part[i] = l->free[i] ? -(g[i] + Hx[i] + l->diagonal[i] * x[i]) : 0;
        sn_workspace_solve(s->ws, part);
    }
    sn_workspace_fields_multiply(s->ws, x, Hx);
    return -(sn_solver_dot(g, x, s->n) + 0.5 * sn_solver_dot(x, Hx, s->n));
}

// s->trial: the step taken, and closed again. False when that does not work.
static bool closed_trial(sn_solver *s, double t, double *value, double *length) {
    const sn_loops *l = sn_loops_of(s);
    const size_t bytes = (size_t)s->model->nq * sizeof *s->q;
    *length = sn_solver_move(s, t, s->step);
    // what has come to a limit stays there while the loops are closed
    for (int i = 0; i < s->n; i++) {
        int at = s->q_of[i];
        l->held[i] = !s->keep[i] ||
                     (at >= 0 && (s->trial[at] <= s->lower[i] || s->trial[at] >= s->upper[i]));
    }
    memcpy(l->q, s->trial, bytes);
    double open = sn_closing_run(s, l->q, l->held, 12);
    if (open > SN_CLOSED) {
        // they may be needed after all
        memcpy(l->q, s->trial, bytes);
        open = sn_closing_run(s, l->q, NULL, 12);
    }
    memcpy(s->trial, l->q, bytes);
    return open <= fmax(SN_CLOSED, s->open) && sn_solver_eval(s, s->trial, 0, value);
}

static void run(sn_solver *s) {
    const sn_method method = s->options.method;
    bool exact = method == SN_METHOD_NEWTON;
    double lambda = 0, growth = 4, reach = 0.7, failed = 0, first_f = s->f;
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
        bool good = closed_trial(s, 1, &value, &trace.step);
        double fall = before - value;
        trace.ratio = promise > 0 ? fall / promise : -1;
        // at the end of f's digits, as in damped.c
        double end = fmax(1e-13 * before, 4e-16 * sqrt(2 * before * s->whole));
        bool blind = promise < end && fabs(fall) <= end && value <= first_f * (1 + 1e-15);
        trace.taken = good && promise > 0 && ((trace.ratio > 1e-4 && fall > 0) || blind);
        if (trace.taken) sn_solver_take(s, value);
        sn_solver_iterated(s, &trace);
        if (!trace.taken) {
            failed = lambda;
            lambda = fmax(growth * lambda, 1e-6);
            growth *= 2;
            if (lambda > 1e10 || trace.step == 0) {
                sn_solver_stalled(s);
                if (s->report.gradient <= end_of_digits) s->report.stop = SN_STOP_MINIMUM;
                return;
            }
        } else {
            growth = 4;
            if (trace.ratio > 0.75) {
                reach = fmin(2 * reach, 1.5);
                // not straight back to what failed a moment ago
                double less = lambda < 1e-8 ? 0 : lambda / 8;
                lambda = fmax(less, fmin(lambda, sqrt(failed * lambda)));
                failed *= 0.5;
            } else if (trace.ratio < 0.25) {
                reach = fmax(0.5 * reach, 0.05);
                lambda = fmax(2 * lambda, 1e-6);
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

// At a stationary pose: does the Lagrangian bend down along the loops? The inertia says so; the
// direction is in s->step. As in solver.c, what is within rounding or the gradient that is left is flat.
static bool at_saddle(sn_solver *s) {
    const sn_loops *l = sn_loops_of(s);
    if (!derivatives(s, true)) return false;
    balance(s);
    if (!derivatives(s, true)) return false;  // with the forces that balance it
    balance(s);
    double flat = 100 * s->noise;
    for (int i = 0; i < s->n; i++)
        if (s->keep[i]) flat = fmax(flat, 4 * fabs(s->ws->g[i]));
    for (int i = 0; i < s->n; i++) l->diagonal[i] = 1e-8 * l->metric[i] + flat;
    s->report.factorizations++;
    sn_ties_rank(s->ws, l->metric, s->keep);
    int k = sn_workspace_factor(s->ws, l->diagonal, s->keep, 0, NULL);
    if (k < 0) return false;
    sn_workspace_curvature(s->ws, k, s->step);
    return sn_solver_dot(s->step, s->step, s->n) > 0;
}

static bool leave_saddle(sn_solver *s) {
    double size = 0, length, f;
    for (int i = 0; i < s->n; i++) size = fmax(size, fabs(s->step[i]));
    double reach = 0.5;
    for (int k = 0; k < 10; k++, reach *= 0.25) {  // down to 2e-6
        for (int sign = 1; sign >= -1; sign -= 2) {
            if (!closed_trial(s, sign * reach / size, &f, &length) || !(f < s->f)) continue;
            sn_solver_take(s, f);
            return true;
        }
    }
    return false;
}

void sn_solver_loops_layout(sn_solver *s, sn_layout *layout) {
    size_t n = (size_t)s->n, nq = (size_t)s->model->nq;
    sn_loops l;
    l.metric = sn_layout_take(layout, n, sizeof *l.metric);
    l.diagonal = sn_layout_take(layout, n, sizeof *l.diagonal);
    l.direction = sn_layout_take(layout, n, sizeof *l.direction);
    l.part = sn_layout_take(layout, n, sizeof *l.part);
    l.free = sn_layout_take(layout, n, sizeof *l.free);
    l.held = sn_layout_take(layout, n, sizeof *l.held);
    l.q = sn_layout_take(layout, nq, sizeof *l.q);
    l.x = sn_layout_take(layout, n, sizeof *l.x);
    l.pull = sn_layout_take(layout, n, sizeof *l.pull);
    const size_t rows = SN_TIE_ROWS * (size_t)s->model->nloop;
    l.y = sn_layout_take(layout, n, sizeof *l.y);
    l.c = sn_layout_take(layout, rows, sizeof *l.c);
    l.along = sn_layout_take(layout, rows, sizeof *l.along);
    l.bend = sn_layout_take(layout, rows, sizeof *l.bend);
    l.next = sn_layout_take(layout, nq, sizeof *l.next);
    l.least = sn_layout_take(layout, nq, sizeof *l.least);
    l.keep = sn_layout_take(layout, n, sizeof *l.keep);
    l.roll = sn_layout_take(layout, n, sizeof *l.roll);
    l.rolls = false;
    s->state = sn_layout_keep(layout, &l, sizeof l);
}

bool sn_solver_loops_begin(sn_solver *s) {
    double f;
    sn_closing_find_rolls(s);
    memset(s->ws->ties->mu, 0, SN_TIE_ROWS * (size_t)s->model->nloop * sizeof(double));
    measure(s);
    s->open = sn_closing_start(s);
    if (!sn_solver_eval(s, s->q, SN_EVAL_GAUSS_NEWTON, &f)) return false;
    s->f = f;
    sn_solver_find_scale(s, true);
    measure(s);
    memcpy(s->started_at, s->q, (size_t)s->model->nq * sizeof *s->q);
    return true;
}

void sn_solver_loops_run(sn_solver *s) {
    // an angle may have been put elsewhere since the start was closed (round.c)
    if (sn_workspace_pose(s->ws, s->q) == SN_OK && sn_ties_open(s->ws) > fmax(SN_CLOSED, s->open)) {
        s->open = sn_closing_run(s, s->q, NULL, 100);
        if (!sn_solver_eval(s, s->q, 0, &s->f)) s->open = INFINITY;
    }
    if (s->open > 1e-10) {
        // there is nothing to go along
        s->report.gradient = NAN;
        sn_solver_stalled(s);
        return;
    }
    for (;;) {
        run(s);
        if (s->report.stop != SN_STOP_MINIMUM || s->f >= s->rival || !at_saddle(s)) return;
        s->report.stop = SN_STOP_SADDLE;
        if (!leave_saddle(s)) return;
        s->report.iterations++;
    }
}
