// SPDX-License-Identifier: MIT
// Angles of a rotation.
#pragma once

#include "sinew/math.h"

/// Angles about the n axes of `order` (1, 2 or 3, outermost first; no two neighbours the same) that
/// give R, nearest to `near`. With fewer than three: those of the rotation about them nearby.
void sn_euler_near(const int *order, int n, const sn_mat3 *R, const double *near, double *out);
