// SPDX-License-Identifier: MIT
// The second-order methods: a damped step of the exact Hessian or the Gauss-Newton matrix,
//
//   (H + lambda D^2) step = -g      on the degrees of freedom that may move,
//
// D^2 being the Gauss-Newton diagonal, so that radians and metres mix.
//
//   hybrid        Gauss-Newton while it does well, exact when f falls by less than a fifth a step
//                 (Fletcher and Xu's test): the future work of 001
//   newton        always exact
//   lm            always Gauss-Newton, adaptive lambda (Levenberg-Marquardt)
//   dls           always Gauss-Newton, constant lambda on the plain diagonal, clamped after a step
//   gauss-newton  lambda = 0 (but for rounding), clamped after a step
//
// The first three keep the limits inside: a degree of freedom at a limit that the gradient pushes
// against is held, and those that the step would carry past theirs are put there and the rest
// solved again. A failed pivot d_k with its direction z says how much damping is missing: |d_k| /
// |Dz|^2.
#include <string.h>

#include "solvers/solver.h"

typedef enum matrix { EXACT, GAUSS_NEWTON, SWITCHING } matrix;

// Relative damping below which rounding makes the pivots of a singular matrix meaningless.
static const double least_damping = 1e-10;

// How far one step may turn a joint, radians: at first, and at the most. Long first steps from a
// pose far away land in the wrong valley.
static const double first_reach = 0.7, most_reach = 1.5;

// The method's own arrays.
static double *diagonal(sn_solver *s) { return s->own[0]; }
static double *direction(sn_solver *s) { return s->own[1]; }
static bool *solving(sn_solver *s) { return s->own[2]; }

// The gains of the rotational degrees of freedom, 0 for lengths.
static void find_turns(const sn_solver *s, double *turns) {
    for (int k = 0; k < s->model->njoint; k++) {
        const sn_joint *j = &s->model->joint[k];
        for (int a = 0; a < j->nv; a++)
            turns[j->slot + a] = j->ops->lengths[a] ? 0 : s->model->inner[j->v0 + a];
    }
}

static void layout(sn_solver *s, sn_layout *layout_) {
    size_t n = (size_t)s->n;
    s->own[0] = sn_layout_take(layout_, n, sizeof(double));
    s->own[1] = sn_layout_take(layout_, n, sizeof(double));
    s->own[2] = sn_layout_take(layout_, n, sizeof(bool));
    s->own[3] = sn_layout_take(layout_, n, sizeof(double));
    s->own[4] = sn_layout_take(layout_, n, sizeof(double));
    if (s->own[4] != NULL) find_turns(s, s->own[4]);
}

// Factor with as much damping as it takes; false when even a lot is not enough.
static bool factor(sn_solver *s, const bool *keep, double *lambda, bool *indefinite) {
    double *d = diagonal(s), pivot = 0;
    for (int tries = 0; tries < 40; tries++) {
        for (int i = 0; i < s->n; i++) d[i] = (*lambda + least_damping) * s->scale[i];
        s->report.factorizations++;
        int k = sn_workspace_factor(s->ws, d, keep, 0, &pivot);
        if (k < 0) return true;
        *indefinite = true;
        double *z = direction(s), square = 0;
        sn_workspace_curvature(s->ws, k, z);
        for (int i = 0; i < s->n; i++) square += s->scale[i] * z[i] * z[i];
        double missing = square > 0 ? fmax(-pivot, 0) / square : 0;
        *lambda = fmax(fmax(2 * *lambda, 1e-6), *lambda + 1.1 * missing);
    }
    return false;
}

// How far degree of freedom i can go along `move` (in u) inside its limits.
static double clamp_move(const sn_solver *s, int i, double step) {
    int at = s->q_of[i];
    if (at < 0) return step;
    double gain = s->model->gain[s->model->v_of[i]], x = s->q[at] + gain * step;
    if (x < s->lower[i]) return (s->lower[i] - s->q[at]) / gain;
    if (x > s->upper[i]) return (s->upper[i] - s->q[at]) / gain;
    return step;
}

// The decrease that the quadratic model promises for a motion u; Hu is scratch.
static double promised(sn_solver *s, const double *u, double *Hu) {
    sn_workspace_fields_multiply(s->ws, u, Hu);
    return -(sn_solver_dot(s->ws->g, u, s->n) + 0.5 * sn_solver_dot(u, Hu, s->n));
}

// Put those that `step` carries past their limits there, and solve for the others again; a few
// times at the most. The result is in `step`; false when nothing crossed a limit or a pivot failed.
static bool refine_step(sn_solver *s, double *step, double lambda) {
    bool *open = solving(s), crossed = false;
    double *d = diagonal(s), *Hu = direction(s), *fixed = s->moved;
    memcpy(open, s->keep, (size_t)s->n * sizeof *open);
    for (int round = 0; round < 4; round++) {
        bool closed = false;
        for (int i = 0; i < s->n; i++) {
            double at = open[i] ? clamp_move(s, i, step[i]) : step[i];
            if (open[i] && at != step[i]) {
                open[i] = false;
                closed = true;
            }
            fixed[i] = open[i] ? 0 : at;
        }
        if (!closed) return crossed;
        crossed = true;
        for (int i = 0; i < s->n; i++) d[i] = (lambda + least_damping) * s->scale[i];
        s->report.factorizations++;
        if (sn_workspace_factor(s->ws, d, open, 0, NULL) >= 0) return false;
        sn_workspace_fields_multiply(s->ws, fixed, Hu);
        for (int i = 0; i < s->n; i++) step[i] = open[i] ? -(s->ws->g[i] + Hu[i]) : 0;
        sn_workspace_solve(s->ws, step);
        for (int i = 0; i < s->n; i++)
            if (!open[i]) step[i] = fixed[i];
    }
    for (int i = 0; i < s->n; i++) step[i] = clamp_move(s, i, step[i]);
    return crossed;
}

// The largest rotation of a degree of freedom that a step makes.
static double largest_turn(const sn_solver *s, const double *step) {
    const double *turns = s->own[4];
    double most = 0;
    for (int i = 0; i < s->n; i++) {
        double turn = fabs(turns[i] * step[i]);
        if (turn > most) most = turn;
    }
    return most;
}

// A step inside the limits, in s->step, and the decrease it promises; not positive when there is
// none.
static double solve_step(sn_solver *s, double reach, double *lambda, bool *indefinite) {
    double *step = s->step, *plain = s->own[3], *Hu = direction(s);
    double size = 0;
    // more damping while the step turns some joint further than `reach`
    for (int tries = 0; tries < 8; tries++) {
        if (!factor(s, s->keep, lambda, indefinite)) return 0;
        for (int i = 0; i < s->n; i++) step[i] = s->keep[i] ? -s->ws->g[i] : 0;
        sn_workspace_solve(s->ws, step);
        size = largest_turn(s, step);
        if (size <= reach) break;
        *lambda = fmax(*lambda, 1e-5) * fmin(fmax(size / reach * sqrt(size / reach), 2), 100);
    }
    // where no damping is enough, as at a scale that was found where nothing moves: shorter
    double t = size > reach ? reach / size : 1;
    for (int i = 0; i < s->n && t < 1; i++) step[i] *= t;
    // the plain projection first; a step that stays inside needs no product with H, since
    // (H + lambda D^2) u = -t g gives u.Hu
    bool inside = true;
    double slope = 0, damped = 0;
    for (int i = 0; i < s->n; i++) {
        plain[i] = clamp_move(s, i, step[i]);
        inside = inside && plain[i] == step[i];
        slope += s->ws->g[i] * step[i];
        damped += diagonal(s)[i] * step[i] * step[i];
    }
    if (inside) return 0.5 * damped - (1 - 0.5 * t) * slope;
    double promise = promised(s, plain, Hu);
    if (refine_step(s, step, *lambda)) {
        double refined = promised(s, step, Hu);
        if (refined > promise) return refined;
    }
    // shorter, while the projection spoils the model; a short enough one does not
    for (int i = 0; i < s->n; i++) step[i] = plain[i];
    for (int tries = 0; tries < 12 && !(promise > 0); tries++) {
        for (int i = 0; i < s->n; i++) step[i] *= 0.5;
        promise = promised(s, step, Hu);
    }
    return promise;
}

// One evaluation of the derivatives that the present model needs.
static bool derivatives(sn_solver *s, bool exact) {
    if (!sn_solver_eval(s, s->q, exact ? SN_EVAL_HESSIAN : SN_EVAL_GAUSS_NEWTON, &s->f))
        return false;
    if (!exact) sn_solver_find_scale(s, false);
    return true;
}

static void run_damped(sn_solver *s, matrix kind) {
    bool exact = false;  // what the workspace holds on entry
    bool fresh = true;   // the last step was taken
    double lambda = 0, growth = 4, reach = first_reach, first_f = s->f;
    if (kind == EXACT) {
        exact = true;
        if (!derivatives(s, exact)) return;
    }
    while (!sn_solver_finished(s)) {
        sn_trace trace = {.exact = exact};
        // damping that falls with the gradient keeps Newton's convergence quadratic
        if (fresh) lambda = fmin(lambda, s->report.gradient);
        fresh = false;
        double promise = solve_step(s, reach, &lambda, &trace.indefinite), value = s->f,
               before = s->f;
        trace.step = sn_solver_move(s, 1, s->step);
        trace.damping = lambda;
        bool finite = sn_solver_eval(s, s->trial, 0, &value);
        double fall = before - value;
        trace.ratio = promise > 0 ? fall / promise : -1;
        // where f itself is at the end of its digits, the model is trusted instead
        bool blind = promise < 1e-13 * before && fabs(fall) <= 1e-14 * before && value <= first_f;
        trace.taken = finite && ((trace.ratio > 1e-4 && fall > 0) || blind);
        if (trace.taken) sn_solver_take(s, value);
        sn_solver_iterated(s, &trace);
        if (!trace.taken) {
            lambda = fmax(growth * lambda, 1e-4);
            growth *= 2;
            if (lambda > 1e10 || trace.step == 0) {
                sn_solver_stalled(s);
                return;
            }
            continue;
        }
        growth = 4;
        if (trace.ratio > 0.75) {
            reach = fmin(2 * reach, most_reach);
            lambda = lambda < 1e-6 ? 0 : lambda / (trace.ratio > 0.9 ? 12 : 8);
        } else if (trace.ratio < 0.25) {
            reach = fmax(0.5 * reach, 0.05);
            lambda = fmax(2 * lambda, 1e-4);
        }
        if (s->f <= s->options.goal) {
            s->report.stop = SN_STOP_GOAL;  // no need for derivatives
            s->report.gradient = NAN;
            return;
        }
        if (kind == SWITCHING) exact = fall < 0.2 * before;
        fresh = true;
        if (!derivatives(s, exact)) {
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
    double *d = diagonal(s);
    while (!sn_solver_finished(s)) {
        sn_trace trace = {.damping = lambda, .ratio = NAN};
        for (int i = 0; i < s->n; i++) {
            d[i] = least_damping * s->scale[i] + lambda;
            s->step[i] = -s->ws->g[i];
        }
        s->report.factorizations++;
        bool solved = sn_workspace_factor(s->ws, d, NULL, 0, NULL) < 0;
        if (solved) sn_workspace_solve(s->ws, s->step);
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

const sn_method_ops sn_method_hybrid = {layout, true, run_hybrid};
const sn_method_ops sn_method_newton = {layout, true, run_newton};
const sn_method_ops sn_method_lm = {layout, false, run_lm};
const sn_method_ops sn_method_dls = {layout, false, run_dls};
const sn_method_ops sn_method_gauss_newton = {layout, false, run_gauss_newton};
