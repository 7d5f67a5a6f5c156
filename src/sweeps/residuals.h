// SPDX-License-Identifier: MIT
// The stacked residual vector r behind f = 1/2 r . r, weights included (with losses: the sum of
// squares that lies above f and touches it here, see tasks/loss.h), and its Jacobian: what the
// methods need that solve J u = -r as an equation.
//
// The rows never change their places: three for every point and then three for every body part
// (matrix-weighted point, direction, orientation), by joint in sweep order; three for every atom of a
// tied task and every joint of a posture; one per velocity for every rest task; one per velocity that a limit task looks at. What is switched off, missing or
// without weight gives zeros.
#pragma once

#include "sweeps/workspace.h"

/// Rows of r, whether their tasks are active or not.
int sn_residual_count(const sn_problem *problem);

/// How many of them, from the first on, belong together in threes.
int sn_residual_triples(const sn_problem *problem);

/// r at the pose of the last evaluation, and J = dr/du by the velocities u in sweep order, behind
/// the gains: rows x nv, column-major, or NULL. J^T r is the gradient.
void sn_residuals(const sn_workspace *ws, double *r, double *J);
