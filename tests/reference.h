// SPDX-License-Identifier: MIT
// A slow second implementation of what the library computes, to test it against. It shares nothing
// with the library but the descriptions of models and tasks: rotations are quaternions, derivatives
// come from hyper-dual numbers, all in long double.
#pragma once

#include "sinew/model.h"
#include "sinew/task.h"

/// f, gradient and Hessian of u -> f(q (+) (gain o u)) at u = 0, one pair of directions at a time.
/// @param q  nq numbers; quaternions of any length but zero
/// @param f  may be NULL
/// @param g  nv numbers, or NULL
/// @param H  nv x nv numbers, symmetric; NULL saves most of the time
void reference_eval(const sn_problem *problem, const double *q, double *f, double *g, double *H);

/// The forces of the model's loops (six a loop), which add mu . c to f; NULL for none.
extern const double *reference_mu;

/// Which tasks are missing or off, for coupled ones; NULL for none.
extern const bool *reference_missing;

/// A task of one's own, `user` an int with its number of joints; derivatives by hyper-dual numbers.
double reference_own_value(void *user, const sn_frame *frames, double *gradient);
void reference_own_multiply(void *user, const sn_frame *frames, const double *x, double *out);

/// World frame of a joint: R column-major, p its origin.
void reference_frame(const sn_model *model, const double *q, int joint, double R[9], double p[3]);

/// Relative difference in the max norm: max|x - y| / max(1e-300, max|y|, floor).
/// Infinite when any of the numbers is not finite.
double reference_relative(const double *x, const double *y, int n, double floor);
