// SPDX-License-Identifier: MIT
// Limited-memory BFGS: the last m = options.memory pairs (s, y) instead of a matrix; -H g by the
// two-loop recursion, in time 4 m n:
//
//   r <- g;  newest to oldest: a_k = s_k.r / y_k.s_k, r <- r - a_k y_k
//   r <- gamma D^-2 r,  gamma = y.s / y.D^-2 y of the newest
//   oldest to newest: r <- r + (a_k - y_k.r / y_k.s_k) s_k;  u = -r
//
// Limits: all dot products run over the free variables, so the pairs are seen cut down to them. A
// pair whose y.s is not positive there is passed over for this step, hence H is positive definite
// on the free variables whatever they are.
#include "solvers/line_search.h"

#include <string.h>

typedef struct state {
    sn_descent_arrays d;
    double *s, *y;       // memory x nv
    double *share, *ys;  // memory: a_k; y.s on the free variables, 0 for a pair passed over
    int count, next;     // pairs kept, and where the next one goes
} state;

static void layout(sn_solver *s, sn_layout *layout_) {
    size_t n = (size_t)s->n, m = (size_t)s->options.memory;
    state a = {.d = sn_descent_layout(s, layout_)};
    a.s = sn_layout_take(layout_, n, m * sizeof *a.s);
    a.y = sn_layout_take(layout_, n, m * sizeof *a.y);
    a.share = sn_layout_take(layout_, m, sizeof *a.share);
    a.ys = sn_layout_take(layout_, m, sizeof *a.ys);
    s->state = sn_layout_keep(layout_, &a, sizeof a);
}

static state *state_of(const sn_solver *s) { return s->state; }

static void reset(sn_solver *s) {
    state *a = state_of(s);
    a->count = a->next = 0;
}

// Where the k-th newest pair is.
static int place_of(const sn_solver *s, const state *a, int k) {
    int m = s->options.memory, at = a->next - 1 - k;
    return at < 0 ? at + m : at;
}

// sum over the free variables
static double dot_open(const bool *open, const double *x, const double *y, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        if (open[i]) sum += x[i] * y[i];
    return sum;
}

static bool positive(double ys, double yy, double ss) { return ys > 1e-12 * sqrt(yy * ss); }

static void direct(sn_solver *s, bool changed) {
    (void)changed;
    state *a = state_of(s);
    const sn_descent_arrays *d = &a->d;
    const bool *open = d->open;
    double *r = s->step, gamma = 1;
    int n = s->n;
    bool first = true;
    for (int i = 0; i < n; i++) r[i] = open[i] ? -s->ws->g[i] : 0;
    for (int k = 0; k < a->count; k++) {
        int at = place_of(s, a, k);
        const double *step = a->s + (size_t)at * (size_t)n, *y = a->y + (size_t)at * (size_t)n;
        double ys = dot_open(open, y, step, n), yy = dot_open(open, y, y, n);
        bool good = positive(ys, yy, dot_open(open, step, step, n));
        a->ys[at] = good ? ys : 0;
        if (!good) continue;
        if (first) {
            double yDy = 0;
            for (int i = 0; i < n; i++)
                if (open[i]) yDy += y[i] * d->inverse[i] * y[i];
            gamma = ys / yDy;
            first = false;
        }
        a->share[at] = dot_open(open, step, r, n) / ys;
        for (int i = 0; i < n; i++) r[i] -= a->share[at] * y[i];
    }
    for (int i = 0; i < n; i++) r[i] *= gamma * d->inverse[i];
    for (int k = a->count - 1; k >= 0; k--) {
        int at = place_of(s, a, k);
        const double *step = a->s + (size_t)at * (size_t)n, *y = a->y + (size_t)at * (size_t)n;
        if (a->ys[at] == 0) continue;
        double more = a->share[at] - dot_open(open, y, r, n) / a->ys[at];
        for (int i = 0; i < n; i++) r[i] += more * step[i];
    }
}

static void learn(sn_solver *s) {
    state *a = state_of(s);
    const sn_descent_arrays *d = &a->d;
    int n = s->n, m = s->options.memory, at = a->next;
    size_t bytes = (size_t)n * sizeof(double);
    double ys = sn_solver_dot(d->y, s->moved, n), yy = sn_solver_dot(d->y, d->y, n);
    if (!positive(ys, yy, sn_solver_dot(s->moved, s->moved, n))) return;
    memcpy(a->s + (size_t)at * (size_t)n, s->moved, bytes);
    memcpy(a->y + (size_t)at * (size_t)n, d->y, bytes);
    if (a->count < m) a->count++;
    a->next = at + 1 < m ? at + 1 : 0;
}

static const sn_descent descent = {0.9, true, reset, direct, learn};

static void run(sn_solver *s) { sn_descent_run(s, &descent, &state_of(s)->d); }

const sn_method_ops sn_method_lbfgs = {layout, false, run};
