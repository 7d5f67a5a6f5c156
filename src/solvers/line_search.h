// SPDX-License-Identifier: MIT
// What the first-order methods share: two searches along a projected path, and the loop of those
// that learn curvature from gradients (bfgs, lbfgs, ncg).
#pragma once

#include "solvers/solver.h"

/// What a search found: s->trial and s->moved are that step.
typedef struct sn_found {
    double t;       ///< step length
    double f;       ///< f there
    double length;  ///< of s->moved
} sn_found;

/// 002's (docs/bibliography.md) back-tracking: the first of t = 1, beta, beta^2, ... with
/// f(P(q + t u)) < f(q) + alpha g . (P(q + t u) - q), g being the gradient at s->q in the
/// workspace, which stays. False when t became too short to tell.
bool sn_line_search_armijo(sn_solver *s, const double *u, double alpha, double beta,
                           sn_found *found);

/// A step with sufficient decrease along the projected path, and, where it meets no limit, with a
/// slope of at most `sigma` times the first one. On success the workspace holds the gradient at
/// s->trial.
/// @param g      the gradient at s->q, not the workspace's own array
/// @param first  the step length tried first
/// @param most   f that may not be exceeded where f itself is at the end of its digits
bool sn_line_search_wolfe(sn_solver *s, const double *u, const double *g, double sigma,
                          double first, double most, sn_found *found);

/// The arrays of the shared loop, a part of the method's state.
typedef struct sn_descent_arrays {
    double *g;        ///< nv: gradient at the previous pose
    double *y;        ///< nv: change of the gradient in the last step, 0 where not free
    double *inverse;  ///< nv: D^-2, the first guess of the inverse Hessian
    bool *open;       ///< nv: free: curvature counts here
    bool *was_open;   ///< nv: the same one step earlier
} sn_descent_arrays;

sn_descent_arrays sn_descent_layout(const sn_solver *s, sn_layout *layout);

/// A method that learns curvature.
typedef struct sn_descent {
    double sigma;    ///< of the Wolfe search
    bool unit_step;  ///< a step length of 1 is natural; otherwise guess it from the last one
    /// Forget what was learned.
    void (*reset)(sn_solver *s);
    /// s->step from ws->g where open[i]; what other entries hold does not matter. `changed`: the
    /// open set is not was_open.
    void (*direct)(sn_solver *s, bool changed);
    /// Learn from s->moved and y (both 0 where not free).
    void (*learn)(sn_solver *s);
} sn_descent;

void sn_descent_run(sn_solver *s, const sn_descent *method, const sn_descent_arrays *a);
