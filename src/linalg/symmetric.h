// SPDX-License-Identifier: MIT
// Small dense symmetric matrices that may be indefinite or singular.
#pragma once

#include <stdbool.h>

/// How many eigenvalues are of either sign, and how many rows were dropped as dependent.
typedef struct sn_inertia {
    int positive, negative, dropped;
} sn_inertia;

/// P S P^T = L D L^T with complete pivoting, D of 1 x 1 and 2 x 2 blocks (Bunch and Parlett). Rows
/// from which nothing above `tolerance` is left are dropped: the matrix is solved without them.
/// @param n      rows
/// @param S      n x n, both triangles; L and D afterwards
/// @param order  n: which row came at which place; the last inertia.dropped of them are left out
/// @param pair   n: D has a 2 x 2 block that begins here
sn_inertia sn_symmetric_factor(int n, double *S, double tolerance, int *order, bool *pair);

/// The same without pivots, for a positive definite S; its lower triangle alone is read and changed. False when
/// less than `tolerance` times its diagonal is left at some row.
bool sn_symmetric_factor_definite(int n, double *S, double tolerance, int *order, bool *pair);

/// S^-1 x; entries of dropped rows become 0. scratch has n numbers.
void sn_symmetric_solve(int n, const double *S, sn_inertia inertia, const int *order,
                        const bool *pair, double *x, double *scratch);
