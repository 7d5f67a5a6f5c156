// SPDX-License-Identifier: MIT
// Small dense systems, symmetric, row-major, the lower triangle.
#pragma once

#include <stdbool.h>

/// A = L L^T in place. False when a pivot is not above zero.
bool sn_cholesky(double *A, int n);

/// x <- L^-1 x and x <- L^-T x.
void sn_cholesky_forward(const double *L, int n, double *x);
void sn_cholesky_backward(const double *L, int n, double *x);

/// The squared length of what a symmetric 3 x 3 matrix sees of r: of its part in the span of W's columns.
double sn_seen_square(const double W[9], const double r[3]);

/// A = U^T U in place of the upper triangle, row-major; zeros are passed over. False when a pivot is not above zero.
bool sn_cholesky_upper(double *A, int n);

/// x <- U^-T x and x <- U^-1 x.
void sn_cholesky_upper_forward(const double *U, int n, double *x);
void sn_cholesky_upper_backward(const double *U, int n, double *x);
