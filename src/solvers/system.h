// SPDX-License-Identifier: MIT
// The linear system of the damped methods, (H + diag d) x = b on the degrees of freedom that may
// move, H being the matrix that the solver's workspace holds. Everything the step control knows of
// linear algebra is here: another way to solve it is put in at these four functions.
#pragma once

#include "solvers/solver.h"

/// Factor; -1, or where a pivot failed, with the pivot's value. Counts it.
int sn_system_factor(sn_solver *s, const double *d, const bool *keep, double *pivot);

/// After a factorisation failed at k: a direction z along which H + diag d bends by the pivot.
void sn_system_direction(sn_solver *s, int k, double *z);

/// Solve with the last factorisation, in place. What is kept out comes out as 0.
void sn_system_solve(sn_solver *s, double *x);

/// y = H x, without d.
void sn_system_multiply(sn_solver *s, const double *x, double *y);
