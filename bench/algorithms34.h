// SPDX-License-Identifier: MIT
// Algorithms 2, 3 and 4 of 000/001, transcribed plainly and corrected where they are wrong (see
// docs/errata.md): what the fast sweeps are measured and tested against. Works on models of fixed,
// hinge, universal, euler, slider and translation joints, with scalar-weight point tasks only.
#pragma once

#include "sinew/sinew.h"

typedef struct alg34 alg34;

/// NULL when the model has another kind of joint or memory is out.
alg34 *alg34_create(const sn_problem *problem);
void alg34_destroy(alg34 *a);

/// Forward kinematics, J (3 ntask x nv), r, f = 1/2 r.r; Algorithms 2 and 3.
double alg34_jacobian(alg34 *a, const double *q);

/// H = J^T J - sum K:r, dense, both triangles; Algorithm 4. Call alg34_jacobian() first.
void alg34_hessian(alg34 *a);

const double *alg34_J(const alg34 *a);         ///< 3 ntask x nv, column-major
const double *alg34_gradient(const alg34 *a);  ///< nv
const double *alg34_H(const alg34 *a);         ///< nv x nv

/// Dense Cholesky of H in place and one solve, as the paper's setting has it; false when a pivot is
/// not positive.
bool alg34_cholesky_solve(alg34 *a, double *x);
