// SPDX-License-Identifier: MIT
// Functions with their first and second derivatives.
#pragma once

#include "sinew/model.h"

/// A function ready to be evaluated.
typedef struct sn_driver {
    sn_function f;
    const double *sigma;  ///< splines: a sixth of the second derivative at each knot
    int degree;           ///< polynomials
} sn_driver;

/// A function's value and derivatives by its arguments, in the order of `argument`.
typedef struct sn_jet {
    double f, d[SN_MAX_ARGUMENTS];
    double dd[SN_MAX_ARGUMENTS][SN_MAX_ARGUMENTS];  ///< [i][j] for j <= i
} sn_jet;

/// How many numbers sn_driver_make() wants room for.
size_t sn_driver_numbers(const sn_function *function);

/// Copy a function that was checked, with all its numbers, into `room` (sn_driver_numbers()).
sn_driver sn_driver_make(const sn_function *function, double *room);

/// The exponents of a polynomial's next product of powers, from all zero on: they count up, the last one fastest, and their
/// sum is never above the degree.
void sn_next_product(const sn_driver *driver, int *exponent);

/// @param q  the coordinates that `argument` points into
void sn_driver_at(const sn_driver *driver, const double *q, sn_jet *out);
