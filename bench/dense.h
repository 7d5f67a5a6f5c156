// SPDX-License-Identifier: MIT
// Small dense linear algebra, plainly written, for measurements: column-major, no library.
#pragma once

#include <stdbool.h>

/// Eigenvalues of a symmetric matrix (destroyed), ascending, by Jacobi's rotations.
void dense_eigenvalues(int n, double *A, double *values);

/// Singular values of an m x n matrix by one-sided Jacobi rotations of its columns: A becomes U diag(s)
/// with V (n x n) collected; s has n entries, not sorted. Needs m >= n for a thin decomposition; with
/// m < n pass the transpose.
void dense_svd(int m, int n, double *A, double *s, double *V);

/// A x = b for a symmetric positive definite n x n matrix by Cholesky, both overwritten; false when a
/// pivot is not positive.
bool dense_cholesky_solve(int n, double *A, double *b);

/// A x = b for an m x n matrix with m <= n as 003's Fig. 8 has it: A = Q R by Householder without
/// pivoting, then the leading m x m triangle solved and the other unknowns 0. A and b are overwritten.
void dense_qr_solve(int m, int n, double *A, double *b, double *x);
