// SPDX-License-Identifier: MIT
// The projected gradient of 002 (docs/bibliography.md), sections 4.1 to 4.3: the direction is -g, the step length the
// first of 1, beta, beta^2, ... that passes the projected Armijo test
//
//   f(P(q - t g)) < f(q) + alpha g . (P(q - t g) - q)                      (39)
//   P(x) = max(min(x, u), l)                                               (40)
//
// 002 asks for 0 < alpha <= beta < 1 and names no values. Its f has no 1/2, ours has; g is the
// gradient of the f in use, so the test is the same.
#include "solvers/line_search.h"

static void run(sn_solver *s) {
    while (!sn_solver_finished(s)) {
        sn_found found = {0};
        sn_trace trace = {.ratio = NAN};
        for (int i = 0; i < s->n; i++) s->step[i] = -s->ws->g[i];
        trace.taken = sn_line_search_armijo(s, s->step, s->options.alpha, s->options.beta, &found);
        trace.step = found.length;
        trace.damping = found.t;
        if (trace.taken) sn_solver_take(s, found.f);
        sn_solver_iterated(s, &trace);
        if (!trace.taken || !sn_solver_eval(s, s->q, SN_EVAL_GRADIENT, &s->f)) {
            sn_solver_stalled(s);
            return;
        }
    }
}

const sn_method_ops sn_method_projected_gradient = {NULL, false, run};
