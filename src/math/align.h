// SPDX-License-Identifier: MIT
// The rotation that brings points nearest to others.
#pragma once

#include "math/vec3.h"

/// The rotation R with the largest tr(M^T R): with M = sum w g p^T the one that turns the points p
/// nearest to the g in the sense of least squares (Horn 1987).
sn_mat3 sn_best_rotation(const sn_mat3 *M);
