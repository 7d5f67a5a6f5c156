// SPDX-License-Identifier: MIT
// BFGS: an approximation H of the inverse Hessian, made from the steps s and the changes of the
// gradient y, a rank-two correction at a time so that H y = s and H stays positive definite:
//
//   H <- H + (1 + y.Hy / y.s) s s^T / y.s - (Hy s^T + s Hy^T) / y.s,    u = -H g
//
// It begins as gamma D^-2, D^2 being the Gauss-Newton diagonal (so that radians and metres mix) and
// gamma = y.s / y.D^-2 y from the first step. What y.s says is left out when it is not positive.
//
// Limits: H acts on the free variables alone. When variable i is held, the inverse of the smaller
// matrix is exactly
//
//   H_jk - H_ji H_ik / H_ii
//
// (one step of elimination), and when it comes back it starts without ties, H_ii = gamma / D_i^2.
// Both keep H positive definite, and what was learned of the others is kept.
#include "solvers/line_search.h"

#include <string.h>

typedef struct state {
    sn_descent_arrays d;
    double *H;   // nv x nv, symmetric, rows of the free variables are in use
    double *Hy;  // nv
    double gamma;
    int pairs;  // how many corrections are in H
} state;

static void layout(sn_solver *s, sn_layout *layout_) {
    size_t n = (size_t)s->n;
    state a = {.d = sn_descent_layout(s, layout_)};
    // a model that cannot move has no rows, but an item has a size
    a.H = sn_layout_take(layout_, n, (n + 1) * sizeof *a.H);
    a.Hy = sn_layout_take(layout_, n, sizeof *a.Hy);
    s->state = sn_layout_keep(layout_, &a, sizeof a);
}

static state *state_of(const sn_solver *s) { return s->state; }

static double *row(const sn_solver *s, const state *a, int i) {
    return a->H + (size_t)i * (size_t)s->n;
}

static void set_diagonal(sn_solver *s, const state *a) {
    memset(a->H, 0, (size_t)s->n * (size_t)s->n * sizeof *a->H);
    for (int i = 0; i < s->n; i++) row(s, a, i)[i] = a->gamma * a->d.inverse[i];
}

static void reset(sn_solver *s) {
    state *a = state_of(s);
    a->gamma = 1;
    a->pairs = 0;
    set_diagonal(s, a);
}

// Take variable i out of H; its row and column become those of a fresh one.
static void drop(sn_solver *s, const state *a, int i) {
    double *h = row(s, a, i), scale = h[i] > 0 ? 1 / h[i] : 0;
    for (int j = 0; j < s->n; j++) {
        double *to = row(s, a, j), share = scale * to[i];
        if (j == i || share == 0) continue;
        for (int k = 0; k < s->n; k++) to[k] -= share * h[k];
        to[i] = 0;
    }
    memset(h, 0, (size_t)s->n * sizeof *h);
    h[i] = a->gamma * a->d.inverse[i];
}

static void direct(sn_solver *s, bool changed) {
    state *a = state_of(s);
    const sn_descent_arrays *d = &a->d;
    const double *g = s->ws->g;
    for (int i = 0; i < s->n && changed && a->pairs > 0; i++)
        if (d->was_open[i] && !d->open[i]) drop(s, a, i);
    for (int i = 0; i < s->n; i++) {
        double sum = 0;
        const double *h = row(s, a, i);
        for (int j = 0; d->open[i] && j < s->n; j++)
            if (d->open[j]) sum += h[j] * g[j];
        s->step[i] = -sum;
    }
}

static void learn(sn_solver *s) {
    state *a = state_of(s);
    const sn_descent_arrays *d = &a->d;
    const double *y = d->y, *step = s->moved;
    int n = s->n;
    double ys = sn_solver_dot(y, step, n), yDy = 0;
    for (int i = 0; i < n; i++) yDy += y[i] * d->inverse[i] * y[i];
    if (!(ys > 1e-12 * sqrt(sn_solver_dot(y, y, n) * sn_solver_dot(step, step, n)))) return;
    if (a->pairs == 0) {
        a->gamma = ys / yDy;
        set_diagonal(s, a);
    }
    a->pairs++;
    for (int i = 0; i < n; i++) a->Hy[i] = sn_solver_dot(row(s, a, i), y, n);
    double first = (1 + sn_solver_dot(y, a->Hy, n) / ys) / ys;
    for (int i = 0; i < n; i++) {
        if (!d->open[i]) continue;
        double *h = row(s, a, i), si = first * step[i] - a->Hy[i] / ys, hi = step[i] / ys;
        for (int j = 0; j < n; j++) h[j] += si * step[j] - hi * a->Hy[j];
    }
}

static const sn_descent descent = {0.9, true, reset, direct, learn};

static void run(sn_solver *s) { sn_descent_run(s, &descent, &state_of(s)->d); }

const sn_method_ops sn_method_bfgs = {layout, false, run};
