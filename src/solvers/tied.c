// SPDX-License-Identifier: MIT
// Limits of a coordinate that follows several others. Those of one that follows a single other are the
// leader's own (couple_range.c); here they are a surface among the leaders, with the slopes as its
// direction: a limit that is a row, as a ball's is a direction (cone.c).
//
// A follower at its limit that the gradient pushes against is held: its row becomes
// sum slope_k u_k = 0 on the leaders (ties.c), and the push is taken out of the gradient together
// with the forces of loops. A step keeps to the surface's tangent and what it bends is brought
// back (sn_model_lead_back()).
#include "solvers/solver.h"

// A follower that was brought to its limit is within a few roundings of it.
static const double near_limit = 1e-9;

// Which limit it is at: 1 the upper, -1 the lower, 0 none.
static int limit_at(const sn_solver *s, const sn_coupling_place *c) {
    double x = s->q[c->follower_q], low = s->model->lower[c->follower_v],
           high = s->model->upper[c->follower_v];
    if (!c->limited) return 0;
    if (x >= high - near_limit * fmax(1, fabs(high))) return 1;
    return x <= low + near_limit * fmax(1, fabs(low)) ? -1 : 0;
}

int sn_solver_tied_hold(sn_solver *s, const bool *keep) {
    const sn_model *m = s->model;
    sn_ties *t = s->ws->ties;
    int count = 0;
    for (int i = 0; i < m->ncoupling; i++) {
        const sn_coupling_place *c = &m->coupled[i];
        int at = s->inside ? limit_at(s, c) : 0;
        t->stuck[i] = false;
        if (at == 0) continue;
        // where the gradient drives it in the measure D^2, with what was taken out of it before: by
        // those that lead in the end
        double *a = s->delta, way = 0;
        for (int k = 0; k < s->n; k++) a[k] = k == c->follower_slot;
        sn_ties_lead(s->ws, a);
        for (int k = 0; k < s->n; k++)
            if (keep[k]) way -= a[k] * (s->ws->g[k] + t->taken[i] * a[k]) / s->scale[k];
        t->stuck[i] = at * way > 0;
        count += t->stuck[i];
    }
    return count;
}
