// SPDX-License-Identifier: MIT
// The second-order methods: a damped step of the exact Hessian or the Gauss-Newton matrix,
//
//   (H + lambda D^2) step = -g      on the degrees of freedom that may move (step.c)
//
//   hybrid        Gauss-Newton while it does well, exact when f falls by less than a fifth a step
//                 (Fletcher and Xu's test) or a limit stopped it, since what a limit leaves over is
//                 residual that Gauss-Newton knows no bend of: the future work of 001 (docs/bibliography.md); with limits exact
//                 while the goals are far, as the first steps decide which limits it will meet
//   newton        always exact
//   lm            always Gauss-Newton, adaptive lambda (Levenberg-Marquardt)
//   dls           always Gauss-Newton, constant lambda on the plain diagonal, clamped after a step
//   gauss-newton  lambda = 0 (but for rounding), clamped after a step
//
// The first three keep the limits inside: a degree of freedom at a limit that the gradient pushes
// against is held, and those that the step would carry past theirs are put there and the rest
// solved again. This file is their schedule: how lambda and the reach of a step follow what the
// last steps were worth.
#include "solvers/step.h"
#include "solvers/system.h"

typedef enum matrix { EXACT, GAUSS_NEWTON, SWITCHING } matrix;

// How far one step may turn a joint, radians: at first, at the most, at the least. Long first steps
// from a pose far away land in the wrong valley.
static const double first_reach = 0.4, most_reach = 0.8, least_reach = 0.05;

// Goals are far while f is above this share of what it would be with errors as large as the figure: errors of more
// than a seventh of it.
static const double far_share = 0.02;

// Damping that a step is given when it needs some and has none, and below which it is let go.
static const double some_damping = 1e-6, no_damping = 1e-8;

// A solve of more steps than this that take less than a tenth of f each follows a narrow, curved valley: along it damping
// changes slowly, so that what failed is remembered longer, and a pivot that fails by a little gets a little.
enum { FEW_STEPS = 12 };

// At a new pose. Damping that falls with the gradient keeps Newton's convergence quadratic; a little
// holds what hardly bends f while there is still far to go. The relative gradient does not fall where
// f goes to 0, so f itself counts, too.
static void at_new_pose(sn_schedule *c, double gradient, double left) {
    c->lambda = fmax(fmin(c->lambda, gradient), 2e-6 * gradient * gradient * left);
}

// False when no damping will help any more.
static bool after_rejected(sn_schedule *c) {
    c->failed = c->lambda;
    c->lambda = fmax(c->growth * c->lambda, some_damping);
    c->growth *= 2;
    return c->lambda <= 1e10;
}

// `left` is what the step left of f. Where the model is right the damping falls as f does: a pivot that
// failed in the first step would else slow down all the others.
static void after_taken(sn_schedule *c, double ratio, double left) {
    c->growth = 4;
    c->crawls = left > 0.9;
    if (ratio > 0.75) {
        c->reach = fmin(2 * c->reach, most_reach);
        // not straight back to what failed a moment ago
        double share = ratio > 0.9 ? fmin(1.0 / 12, left) : 1.0 / 8;
        double less = c->lambda < no_damping ? 0 : c->lambda * share;
        c->lambda = fmax(less, fmin(c->lambda, sqrt(c->failed * c->lambda)));
        c->failed *= c->slow ? 0.88 : 0.5;
    } else if (ratio < 0.25) {
        c->reach = fmax(0.5 * c->reach, least_reach);
        c->lambda = fmax(2 * c->lambda, some_damping);
    }
}

// One evaluation of the derivatives that the present model needs.
static bool derivatives(sn_solver *s, bool exact) {
    if (!sn_solver_eval(s, s->q, exact ? SN_EVAL_HESSIAN : SN_EVAL_GAUSS_NEWTON, &s->f))
        return false;
    if (!exact) {
        sn_solver_find_scale(s, false);
        sn_damped_measure(s, false);
    }
    return true;
}

static bool has_limits(const sn_solver *s) {
    for (int i = 0; i < s->n; i++)
        if (s->q_of[i] >= 0 && (s->lower[i] > -INFINITY || s->upper[i] < INFINITY)) return true;
    return s->model->ncone > 0;
}

static void run_damped(sn_solver *s, matrix kind) {
    sn_schedule *c = &sn_damped_of(s)->schedule;
    const bool limited = kind == SWITCHING && has_limits(s);
    if (s->goes_on) {
        s->goes_on = false;
        if (!derivatives(s, c->exact)) return;
    } else {
        *c = (sn_schedule){.growth = 4, .reach = first_reach, .first_f = s->f};
        c->exact = kind == EXACT || (limited && s->f > far_share * s->whole);
        sn_damped_measure(s, true);
        // the workspace holds the Gauss-Newton matrix
        if (c->exact && !derivatives(s, true)) return;
    }
    bool fresh = true;  // the last step was taken
    while (!sn_solver_finished(s)) {
        sn_trace trace = {.exact = c->exact};
        double value = s->f, before = s->f;
        if (fresh) at_new_pose(c, s->report.gradient, s->f / c->first_f);
        fresh = false;
        c->slow = c->crawls && s->report.iterations - s->run_first > FEW_STEPS;
        sn_damped_step step = {
            .lambda = c->lambda, .reach = c->reach, .least = c->slow ? no_damping : some_damping};
        sn_damped_find(s, &step);
        c->lambda = step.lambda;
        trace.step = sn_solver_move(s, 1, s->step);
        trace.damping = step.lambda;
        trace.indefinite = step.indefinite;
        bool finite = sn_solver_eval(s, s->trial, 0, &value);
        double fall = before - value;
        trace.ratio = step.promise > 0 ? fall / step.promise : -1;
        // where f itself is at the end of its digits, the model is trusted instead. Where goals are missed by
        // little, these are the digits of places as far off as the figure is large: f = r^2 / 2 ends at r dr
        double end = fmax(1e-14 * before, 4e-16 * sqrt(2 * before * s->whole));
        bool blind = step.promise < 10 * end && fabs(fall) <= end && value <= c->first_f;
        trace.taken = finite && ((trace.ratio > 1e-4 && fall > 0) || blind);
        if (trace.taken) sn_solver_take(s, value);
        sn_solver_iterated(s, &trace);
        if (!trace.taken) {
            if (!after_rejected(c) || trace.step == 0) {
                sn_solver_stalled(s);
                return;
            }
            continue;
        }
        after_taken(c, trace.ratio, value / before);
        if (kind == SWITCHING)
            c->exact =
                fall < 0.2 * before || step.crossed || (limited && s->f > far_share * s->whole);
        if (s->f <= s->goal) {
            s->report.stop = SN_STOP_GOAL;  // no need for derivatives
            s->report.gradient = NAN;
            return;
        }
        fresh = true;
        if (!derivatives(s, c->exact)) {
            sn_solver_stalled(s);
            return;
        }
    }
}

static void run_hybrid(sn_solver *s) { run_damped(s, SWITCHING); }
static void run_newton(sn_solver *s) { run_damped(s, EXACT); }
static void run_lm(sn_solver *s) { run_damped(s, GAUSS_NEWTON); }

// Equation solving: the step as it comes out, clamped after it. A step that does not help is halved
// a few times, so that the result is never worse than the start; then it gives up.
static void run_plain(sn_solver *s, double lambda) {
    double *d = sn_damped_of(s)->diagonal;
    while (!sn_solver_finished(s)) {
        sn_trace trace = {.damping = lambda, .ratio = NAN};
        for (int i = 0; i < s->n; i++) {
            d[i] = SN_LEAST_DAMPING * s->scale[i] + lambda;
            s->step[i] = -s->ws->g[i];
        }
        bool solved = sn_system_factor(s, d, NULL, NULL) < 0;
        if (solved) sn_system_solve(s, s->step);
        for (double t = 1; solved && !trace.taken && t > 0.02; t *= 0.5) {
            double f;
            trace.step = sn_solver_move_all(s, t, s->step);
            trace.taken = sn_solver_eval(s, s->trial, 0, &f) && f < s->f;
            if (trace.taken) sn_solver_take(s, f);
        }
        sn_solver_iterated(s, &trace);
        if (!trace.taken || !derivatives(s, false)) {
            sn_solver_stalled(s);
            return;
        }
    }
}

static void run_dls(sn_solver *s) { run_plain(s, s->options.damping); }
static void run_gauss_newton(sn_solver *s) { run_plain(s, 0); }

const sn_method_ops sn_method_hybrid = {sn_damped_layout, true, run_hybrid};
const sn_method_ops sn_method_newton = {sn_damped_layout, true, run_newton};
const sn_method_ops sn_method_lm = {sn_damped_layout, false, run_lm};
const sn_method_ops sn_method_dls = {sn_damped_layout, false, run_dls};
const sn_method_ops sn_method_gauss_newton = {sn_damped_layout, false, run_gauss_newton};
