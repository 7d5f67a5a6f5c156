// SPDX-License-Identifier: MIT
// What levels mean, written out slowly: dense matrices, eigenvalues, one thing after the other.
#pragma once

#include "support.h"

/// A problem's levels one by one, dense, in file order.
typedef struct reference_levels {
    const sn_model *model;
    const sn_problem *problem;
    int n, nq;
    sn_problem *part[2];  ///< of the levels above; of the one that is looked at
    sn_workspace *ws[2];
    double *g, *H, *values, *vectors, *step, *q;
    bool *free;
} reference_levels;

/// Levels below `level` together, and `level` itself.
void reference_levels_begin(reference_levels *r, const sn_problem *problem, int level);
void reference_levels_end(reference_levels *r);

/// f of the levels above (0) or of the level (1), and its gradient and exact Hessian in r->g, r->H.
double reference_levels_f(reference_levels *r, int which, const double *q);

/// How much of the level's gradient lies in the null space of the Hessian of the levels above, against what a
/// gradient can be; coordinates at a limit stay there. `doubtful`: an eigenvalue is neither one nor nothing.
double reference_levels_slope(reference_levels *r, const double *q, bool *doubtful);

/// Newton's steps of the levels above from q, inside the limits, with pseudo-inverses. How f ends.
double reference_levels_restore(reference_levels *r, double *q);
