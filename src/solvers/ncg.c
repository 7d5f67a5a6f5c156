// SPDX-License-Identifier: MIT
// Nonlinear conjugate gradients after Polak and Ribiere, preconditioned with the Gauss-Newton
// diagonal:
//
//   u <- -D^-2 g + b u,   b = max(0, g.D^-2 (g - g_old) / g_old.D^-2 g_old)
//
// It starts over, b = 0, when the free variables are others than before, after n steps, when b < 0,
// and when successive gradients are far from orthogonal (Powell's test, |g.D^-2 g_old| > 0.2
// g.D^-2 g). Conjugacy needs a tighter search than BFGS: sigma = 0.1.
#include "solvers/line_search.h"

typedef struct state {
    sn_descent_arrays d;
    double *u;  // nv: the last direction
    int steps;  // since the last start; 0 starts
} state;

static void layout(sn_solver *s, sn_layout *layout_) {
    state a = {.d = sn_descent_layout(s, layout_)};
    a.u = sn_layout_take(layout_, (size_t)s->n, sizeof *a.u);
    s->state = sn_layout_keep(layout_, &a, sizeof a);
}

static state *state_of(const sn_solver *s) { return s->state; }

static void reset(sn_solver *s) { state_of(s)->steps = 0; }

static void direct(sn_solver *s, bool changed) {
    state *a = state_of(s);
    const sn_descent_arrays *d = &a->d;
    const double *g = s->ws->g;
    double *u = a->u, b = 0;
    if (!changed && a->steps > 0 && a->steps < s->n) {
        double now = 0, old = 0, mixed = 0;
        for (int i = 0; i < s->n; i++) {
            if (!d->open[i]) continue;
            now += g[i] * d->inverse[i] * g[i];
            old += d->g[i] * d->inverse[i] * d->g[i];
            mixed += g[i] * d->inverse[i] * d->g[i];
        }
        if (old > 0 && fabs(mixed) <= 0.2 * now) b = fmax(0, (now - mixed) / old);
    }
    if (b == 0) a->steps = 0;
    for (int i = 0; i < s->n; i++) {
        u[i] = d->open[i] ? b * u[i] - d->inverse[i] * g[i] : 0;
        s->step[i] = u[i];
    }
}

static void learn(sn_solver *s) { state_of(s)->steps++; }

static const sn_descent descent = {0.1, false, reset, direct, learn};

static void run(sn_solver *s) { sn_descent_run(s, &descent, &state_of(s)->d); }

const sn_method_ops sn_method_ncg = {layout, false, run};
