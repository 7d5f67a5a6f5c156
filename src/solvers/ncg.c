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

static void layout(sn_solver *s, sn_layout *layout_) {
    sn_descent_layout(s, layout_);
    s->own[SN_DESCENT_OWN] = sn_layout_take(layout_, (size_t)s->n, sizeof(double));
    s->own[SN_DESCENT_OWN + 1] = sn_layout_take(layout_, 1, sizeof(int));
}

// Steps since the last start; 0 starts.
static int *steps(const sn_solver *s) { return s->own[SN_DESCENT_OWN + 1]; }

static void reset(sn_solver *s) { *steps(s) = 0; }

static void direct(sn_solver *s, bool changed) {
    sn_descent_arrays d = sn_descent_arrays_of(s);
    const double *g = s->ws->g;
    double *u = s->own[SN_DESCENT_OWN], b = 0;
    if (!changed && *steps(s) > 0 && *steps(s) < s->n) {
        double now = 0, old = 0, mixed = 0;
        for (int i = 0; i < s->n; i++) {
            if (!d.open[i]) continue;
            now += g[i] * d.inverse[i] * g[i];
            old += d.g[i] * d.inverse[i] * d.g[i];
            mixed += g[i] * d.inverse[i] * d.g[i];
        }
        if (old > 0 && fabs(mixed) <= 0.2 * now) b = fmax(0, (now - mixed) / old);
    }
    if (b == 0) *steps(s) = 0;
    for (int i = 0; i < s->n; i++) {
        u[i] = d.open[i] ? b * u[i] - d.inverse[i] * g[i] : 0;
        s->step[i] = u[i];
    }
}

static void learn(sn_solver *s) { ++*steps(s); }

static const sn_descent descent = {0.1, false, reset, direct, learn};

static void run(sn_solver *s) { sn_descent_run(s, &descent); }

const sn_method_ops sn_method_ncg = {layout, false, run};
