// SPDX-License-Identifier: MIT
// A step of several levels at once. For each level in turn, with Z what those before it have left free and
// p the step so far,
//
//   Z^T W_k Z y = -Z^T (g_k + W_k p),   p <- p + Z y
//
// W_k is the Gauss-Newton matrix where the level's goals will be met, the exact Hessian where they will not:
// what a level leaves free is the null space of the Hessian that it has at its own solution. Below the first
// level it has in addition the bend of the levels above, sum_j d W_j / d q [mu_j], with the multipliers mu_j that
// answer g_k: they make the pull
//
//   g_k + sum_j W_j mu_j
//
// vanish on all that the levels above see. These are third derivatives of f_j, found as differences of exact
// Hessians at two poses along mu_j; on the null space they are exactly the curvature of what the levels
// above allow, whatever their tasks are, and with them the steps converge as Newton's do.
//
// Limits: what stands at one and is pushed against it by the first level that pushes at all is held; what the
// step would carry past its own is put there, and all levels are solved again.
#include <string.h>

#include "linalg/dense.h"
#include "solvers/levels.h"
#include "sweeps/residuals.h"

// A level with less than this of what f would be with errors as large as the figure is asked again whether its goals
// can be met.
static const double nearly_met = 1e-6;

// A pivot below 0 by this share of what f would be with errors as large as the figure is no rounding.
static const double downwards = 1e-8;

// Pivots below this share of what f would be with errors as large as the figure make the null space vague.
static const double thin = 1e-6;

bool sn_levels_derive(sn_solver *s, int last) {
    sn_levels *a = s->levels;
    for (int k = 0; k <= last; k++) {
        sn_level *at = &a->at[k];
        // what seemed out of reach may be met after all
        if (at->f <= nearly_met * sn_levels_measure(at)) at->exact = false;
        bool exact = k == last ? s->options.method != SN_METHOD_LM && !at->fast : at->exact;
        at->curved = false;
        const double *W = sn_levels_W(a, k);
        if (!sn_levels_look(s, k, s->q, exact, &at->f, sn_levels_g(a, k), sn_levels_W(a, k)))
            return false;
        // a stretched limb has a Jacobian of zeros, and f bends all the same
        double most = 0;
        for (int i = 0; i < s->n; i++) most = fmax(most, fabs(W[i + s->n * i]));
        at->whole = fmax(at->whole, most);
        sn_levels_find_goal(s, k, most);
    }
    return true;
}

void sn_levels_answer(sn_solver *s, int k, const double *g) {
    sn_levels *a = s->levels;
    double *pull = a->pull + s->n * k;
    memcpy(pull, g, (size_t)s->n * sizeof *pull);
    for (int j = k - 1; j >= 0; j--) {
        double *mu = sn_levels_mu(a, k, j);
        for (int i = 0; i < s->n; i++) mu[i] = 0;
        sn_nested_solve(&a->nested, j, pull, a->y);
        sn_nested_spread(&a->nested, j, -1, a->y, mu);
        sn_nested_spread_seen(&a->nested, j, -1, a->y, pull);
    }
}

// The step that level k needs alone, in a->b, and by how much that lets it fall.
static double own_step(sn_solver *s, int k) {
    sn_levels *a = s->levels;
    const double *g = sn_levels_g(a, k);
    sn_nested_solve(&a->nested, k, g, a->y);
    for (int i = 0; i < s->n; i++) a->b[i] = 0;
    sn_nested_spread(&a->nested, k, 1, a->y, a->b);
    a->at[k].own = sn_levels_largest(a->b, s->n);
    return 0.5 * sn_solver_dot(a->b, g, s->n);
}

// Near a singular pose what level k leaves free has lost half of the digits in J^T J: J itself has them.
static bool sharpen(sn_solver *s, int k) {
    sn_levels *a = s->levels;
    sn_level *at = &a->at[k];
    double f;
    at->thin = !at->exact && sn_nested_thinnest(&a->nested, k) < thin * at->whole;
    if (!at->thin || at->name < 0) return true;
    if (!sn_levels_look(s, k, s->q, false, &f, a->b, NULL)) return false;
    sn_residuals(s->ws, a->r, a->J);
    for (int i = 0; i < s->n; i++)
        for (int r = 0; r < a->rows; r++) a->J[r + a->rows * i] *= a->unit[i];
    sn_nested_sharpen(&a->nested, a->J, a->rows, a->r);
    return true;
}

// The bend along mu has a part (r'' mu)^T J too much, which on what is free for level k is nothing, but for a step that brings
// the level above to its goals, J p = -r, is -r . r'' mu: what its exact Hessian has more than J^T J.
static bool find_lag(sn_solver *s, int k) {
    sn_levels *a = s->levels;
    const int n = s->n;
    double f, *lag = a->lag + n * k;
    for (int i = 0; i < n; i++) lag[i] = 0;
    for (int j = 0; j < k; j++) {
        const double *mu = sn_levels_mu(a, k, j), *W = sn_levels_W(a, j);
        if (a->at[j].exact || a->at[j].own > 0.5) continue;
        if (!sn_levels_look(s, j, s->q, true, &f, NULL, a->H)) return false;
        for (int c = 0; c < n; c++)
            for (int i = 0; i < n; i++) lag[i] += mu[c] * (a->H[i + n * c] - W[i + n * c]);
    }
    return true;
}

// Take in the levels above the last, and reduce the last.
static bool nest(sn_solver *s, int last) {
    sn_levels *a = s->levels;
    sn_nested_begin(&a->nested, a->free);
    for (int k = 0; k <= last; k++) {
        sn_level *at = &a->at[k];
        double *W = sn_levels_W(a, k), *g = sn_levels_g(a, k);
        sn_levels_answer(s, k, g);
        const bool met = at->f <= 100 * at->goal;
        const bool bent = k < last || (s->options.method != SN_METHOD_LM && !at->fast);
        if (!at->curved && k > 0 && !met && bent && (k == last || at->exact)) {
            if (!sn_levels_add_bend(s, k, s->q, W) || !find_lag(s, k)) return false;
            at->curved = true;
        }
        if (k == last) break;
        at->least = sn_levels_singular(s, k, a->pull + s->n * k);
        const double nothing = fmax(sn_levels_nothing * at->whole, at->noise);
        at->rank = sn_nested_add(&a->nested, W, nothing, s->n);
        at->vague = false;
        at->bends_down = at->exact && a->nested.lowest < -downwards * sn_levels_measure(at);
        double fall = own_step(s, k);
        at->gradient = at->f > 0 ? sqrt(fmax(fall, 0) / at->f) : 0;
        if (at->least > nothing) {
            const int all = at->rank;
            a->nested.count--;
            at->rank = sn_nested_add(&a->nested, W, at->least, s->n);
            at->vague = at->rank < all;
            fall = own_step(s, k);
        }
        // a residual that is not yet 0 looks like a column; of a level that misses its goals what is not yet at rest counts
        if (!at->exact) at->gradient = at->f > 0 ? sqrt(fmax(fall, 0) / at->f) : 0;
        if (!sharpen(s, k)) return false;
        if (at->exact || met || at->f - fall < 0.05 * at->f) continue;
        // its goals are out of reach from here: the same with the exact Hessian
        at->exact = true;
        if (!sn_levels_look(s, k, s->q, true, &at->f, g, W)) return false;
        for (int i = 0; i < s->n; i++) at->whole = fmax(at->whole, fabs(W[i + s->n * i]));
        a->nested.count--;
        k--;
    }
    sn_nested_reduce(&a->nested, sn_levels_W(a, last));
    return true;
}

// (R + lambda) y = -b, with as much lambda as it takes to be definite and inside the reach, and hardly more: where f
// bends down the step goes as far as it may. b is in a->b.
static bool solve_last(sn_solver *s, int last, sn_levels_step *step) {
    sn_levels *a = s->levels;
    const int m = sn_nested_left(&a->nested), n = s->n;
    const double *Z = sn_nested_rest(&a->nested), *R = a->nested.R;
    double top = 0, *z = a->nested.d, size = 0;
    for (int i = 0; i < m; i++) top = fmax(top, fabs(R[i + m * i]));
    const double unit = a->at[last].whole > 0 ? a->at[last].whole : top;
    step->lambda = 0;
    if (m == 0 || top == 0) return true;
    // at rest, in what it hardly sees: rounding leads nowhere
    if (top <= a->at[last].noise && a->at[last].gradient <= s->options.gradient) return true;
    const double grain = 1e-9 * fmin(1, top / unit);
    double low = 0, high = INFINITY;  // too little; enough
    for (int tries = 0; tries < 60; tries++) {
        for (int i = 0; i < m * m; i++) a->factor[i] = R[i];
        for (int i = 0; i < m; i++) a->factor[i + m * i] += step->lambda * unit + 1e-12 * top;
        s->report.factorizations++;
        if (!sn_cholesky(a->factor, m)) {
            step->indefinite = true;
            low = step->lambda;
            step->lambda =
                high < INFINITY ? 0.5 * (low + high) : fmax(5 * step->lambda, 10 * grain);
            continue;
        }
        for (int i = 0; i < m; i++) z[i] = -a->b[i];
        sn_cholesky_forward(a->factor, m, z);
        sn_cholesky_backward(a->factor, m, z);
        for (int i = 0; i < n; i++) a->y[i] = 0;
        for (int c = 0; c < m; c++)
            for (int i = 0; i < n; i++) a->y[i] += z[c] * Z[i + n * c];
        size = sn_levels_largest(a->y, n);
        if (size <= 1.2 * step->reach) {
            if (!step->indefinite || size >= 0.5 * step->reach) break;
            if (step->lambda - low < 1e-3 * step->lambda) break;
            high = step->lambda;
            step->lambda = 0.5 * (low + high);
            continue;
        }
        low = step->lambda;
        // |y| falls with lambda at the rate |L^-1 y|^2 / |y|: Newton's step on 1 / |y|
        const double square = sn_solver_dot(z, z, m);
        sn_cholesky_forward(a->factor, m, z);
        const double slope = sn_solver_dot(z, z, m);
        const double more = slope > 0 ? (size / step->reach - 1) * square / slope / unit : 0;
        step->lambda += fmax(more, 1e-3 * step->lambda + grain);
        if (!(step->lambda < high)) step->lambda = 0.5 * (low + high);
    }
    // where no damping is found, shorter
    const double share = fmin(1, 1.2 * step->reach / size);
    for (int i = 0; i < n && size > 0; i++) a->p[i] += share * a->y[i];
    return true;
}

// The gradient of the last level in what is left for it, against its columns and f.
static double find_gradient(const sn_solver *s, int k) {
    const sn_levels *a = s->levels;
    const double *Z = sn_nested_rest(&a->nested), *R = a->nested.R, f = a->at[k].f;
    const int m = sn_nested_left(&a->nested);
    double worst = 0;
    const double least = fmax(1e-3 * sn_levels_measure(&a->at[k]), 1e-300);
    if (!(f > 0)) return 0;
    for (int c = 0; c < m; c++) {
        double slope = sn_solver_dot(Z + s->n * c, sn_levels_g(a, k), s->n);
        worst = fmax(worst, slope * slope / fmax(fabs(R[c + m * c]), least));
    }
    return sqrt(worst / (2 * f));
}

// b = g + W p
static void add_product(const sn_levels *a, int k, const double *p, double *b) {
    const int n = a->nested.n;
    const double *W = sn_levels_W(a, k), *lag = a->lag + n * k;
    memcpy(b, sn_levels_g(a, k), (size_t)n * sizeof *b);
    for (int i = 0; i < n && a->at[k].curved; i++) b[i] += lag[i];
    for (int c = 0; c < n; c++) {
        const double x = p[c], *column = W + n * c;
        if (x == 0) continue;
        for (int i = 0; i < n; i++) b[i] += x * column[i];
    }
}

// What rounding makes of f of the last level, with the levels above put right: their residuals have the digits of the figure's
// size, and the multipliers of a nearly singular one make much of the last of them.
static double find_noise(const sn_solver *s, int last) {
    const sn_levels *a = s->levels;
    double noise = 1e-13 * a->at[last].f;
    for (int j = 0; j < last; j++) {
        const double *mu = sn_levels_mu(a, last, j), *W = sn_levels_W(a, j);
        double square = 0;
        for (int c = 0; c < s->n; c++) square += mu[c] * sn_solver_dot(W + s->n * c, mu, s->n);
        noise += 1e-15 * sqrt(a->at[j].whole * fmax(square, 0));
        // where it is at rest as far as its own digits say
        if (a->at[j].exact) noise += fabs(sn_solver_dot(mu, a->pull + s->n * j, s->n));
    }
    return noise;
}

// The step with what is free as it is.
static bool solve(sn_solver *s, int last, sn_levels_step *step) {
    sn_levels *a = s->levels;
    const int n = s->n;
    if (!nest(s, last)) return false;
    memcpy(a->p, a->fix, (size_t)n * sizeof *a->p);
    step->up = 0;
    for (int k = 0; k < last; k++) {
        add_product(a, k, a->p, a->b);
        sn_nested_solve(&a->nested, k, a->b, a->y);
        // f hardly bends that way, and what is left of the gradient is noise: no reason to go far
        const bool weak = a->at[k].exact && a->at[k].gradient <= SN_LEVELS_REST;
        const double far = weak ? 1e-3 : 0.5;
        sn_nested_spread(&a->nested, k, -fmin(1, far / a->at[k].own), a->y, a->p);
        if (!weak) step->up = fmax(step->up, a->at[k].own);
    }
    const double *Z = sn_nested_rest(&a->nested), *pull = a->pull + n * last;
    const int m = sn_nested_left(&a->nested);
    a->at[last].gradient = find_gradient(s, last);
    add_product(a, last, a->p, a->b);
    for (int c = 0; c < m; c++) a->y[c] = sn_solver_dot(Z + n * c, a->b, n);
    memcpy(a->b, a->y, (size_t)m * sizeof *a->b);
    if (!solve_last(s, last, step)) return false;
    add_product(a, last, a->p, a->b);
    step->value = a->at[last].f;
    for (int j = 0; j < last; j++)
        step->value += sn_solver_dot(sn_levels_mu(a, last, j), a->pull + n * j, n);
    step->size = sn_levels_largest(a->p, n);
    step->noise = find_noise(s, last);
    step->slope = sn_solver_dot(pull, a->p, n);
    step->bend = sn_solver_dot(a->b, a->p, n) - sn_solver_dot(sn_levels_g(a, last), a->p, n);
    if (a->at[last].curved) step->bend += sn_solver_dot(a->lag + n * last, a->p, n);
    return true;
}

// Is i, at a limit, pushed off it by the first level that pushes at it at all?
static bool is_let_go(const sn_solver *s, int last, int i) {
    const sn_levels *a = s->levels;
    const double x = s->q[s->q_of[i]];
    const bool low = x <= s->lower[i], high = x >= s->upper[i];
    if (low && high) return false;
    for (int k = 0; k <= last; k++) {
        const double pull = a->pull[s->n * k + i], bend = fabs(sn_levels_W(a, k)[i + s->n * i]);
        const double least = bend * (1e-14 * a->at[k].f + 1e-22 * a->at[k].whole);
        if (pull * pull <= least) continue;
        return low ? pull < 0 : pull > 0;
    }
    return true;
}

// Where the step carries i: the share of it that leads to a limit, 1 and above for none; `to` is the limit.
static double share_to_limit(const sn_solver *s, int i, double *to) {
    const sn_levels *a = s->levels;
    const int at = s->q_of[i];
    if (!a->free[i] || at < 0) return INFINITY;
    const double way = s->model->gain[s->model->v_of[i]] * a->unit[i] * a->p[i];
    const double x = s->q[at] + way;
    if (x >= s->lower[i] && x <= s->upper[i]) return INFINITY;
    *to = x < s->lower[i] ? s->lower[i] : s->upper[i];
    return (*to - s->q[at]) / way;
}

// The share of the step that leads to the first limit.
static double first_limit(const sn_solver *s) {
    double first = INFINITY, to;
    for (int i = 0; i < s->n; i++) first = fmin(first, share_to_limit(s, i, &to));
    return first;
}

// Those that the step carries past their limits first are put there; the others may not get there without them.
static bool put_at_limits(sn_solver *s, double first) {
    sn_levels *a = s->levels;
    double to;
    if (!(first < INFINITY)) return false;
    for (int i = 0; i < s->n; i++) {
        if (!(share_to_limit(s, i, &to) <= fmax(2 * first, 0.1))) continue;
        const double gain = s->model->gain[s->model->v_of[i]] * a->unit[i];
        a->fix[i] = (to - s->q[s->q_of[i]]) / gain;
        a->free[i] = false;
        a->put[i] = true;
    }
    return true;
}

// What seemed out of reach with joints held at their limits may not be without: as it was before.
static bool ask_again(sn_solver *s, int last, const bool *was) {
    sn_levels *a = s->levels;
    for (int k = 0; k < last; k++) {
        sn_level *at = &a->at[k];
        if (!at->exact || was[k]) continue;
        at->exact = at->curved = false;
        if (!sn_levels_look(s, k, s->q, false, &at->f, sn_levels_g(a, k), sn_levels_W(a, k)))
            return false;
    }
    return true;
}

// Would a level above the last be off by more after the step, as the joints that it puts at their limits are needed there?
static bool loses(const sn_solver *s, int last) {
    const sn_levels *a = s->levels;
    for (int k = 0; k < last; k++) {
        const sn_level *at = &a->at[k];
        const double *g = sn_levels_g(a, k);
        add_product(a, k, a->p, a->b);
        const double rise = 0.5 * (sn_solver_dot(g, a->p, s->n) + sn_solver_dot(a->b, a->p, s->n));
        if (rise > 1e-10 * sn_levels_measure(at) - (at->exact ? 0 : 0.5 * at->f)) return true;
    }
    return false;
}

// The same step with those joints free again, only as far as the first limit.
static bool cut_short(sn_solver *s, int last, const bool *was, sn_levels_step *step) {
    sn_levels *a = s->levels;
    for (int i = 0; i < s->n; i++) {
        if (a->fix[i] == 0) continue;
        a->free[i] = true;
        a->put[i] = false;
        a->fix[i] = 0;
    }
    if (!ask_again(s, last, was) || !solve(s, last, step)) return false;
    const double share = fmin(first_limit(s), 1);
    for (int i = 0; i < s->n; i++) a->p[i] *= share;
    step->size *= share;
    step->slope *= share;
    step->bend *= share * share;
    return true;
}

bool sn_levels_find(sn_solver *s, int last, sn_levels_step *step) {
    sn_levels *a = s->levels;
    double gradient = 0;
    bool was[SN_LEVELS] = {false};
    for (int k = 0; k < last; k++) was[k] = a->at[k].exact;
    for (int i = 0; i < s->n; i++) {
        int at = s->q_of[i];
        a->held[i] = at >= 0 && (s->q[at] <= s->lower[i] || s->q[at] >= s->upper[i]);
        a->free[i] = a->unit[i] > 0 && !a->held[i];
        a->put[i] = false;
        a->fix[i] = 0;
    }
    if (!solve(s, last, step)) return false;
    for (int round = 0; round < 12; round++) {
        bool changed = false;
        // what is held by the pulls that the others' being free leaves; once a limit was met, no more
        for (int i = 0; i < s->n && round < 3; i++) {
            if (!a->held[i] || a->unit[i] == 0 || !is_let_go(s, last, i)) continue;
            a->held[i] = false;
            a->free[i] = changed = true;
        }
        bool put = false;
        double first = 0;
        if (!changed) {
            // what is still to go to its limit is not yet at rest
            gradient = fmax(gradient, a->at[last].gradient);
            first = first_limit(s);
            changed = put = put_at_limits(s, first);
        }
        if (!changed) break;
        if (!ask_again(s, last, was) || !solve(s, last, step)) return false;
        if (put && (step->cut || (first > 0.02 && loses(s, last)))) {
            if (!cut_short(s, last, was, step)) return false;
            break;
        }
    }
    for (int i = 0; i < s->n; i++)
        if (a->fix[i] != 0) a->at[last].gradient = fmax(gradient, a->at[last].gradient);
    s->report.active = 0;
    for (int i = 0; i < s->n; i++) s->report.active += a->held[i] || a->put[i];
    return true;
}
