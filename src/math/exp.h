// SPDX-License-Identifier: MIT
// Exponentials, logarithms, roots and angles, the same bits on every platform: libm's differ in the last.
#pragma once

#include <math.h>

#include "math/atan2.h"

/// Within 1 ulp where the result is a normal number.
double sn_exp(double x);
/// Within 1 ulp; -infinity for 0, NaN below.
double sn_log(double x);
/// Within 1 ulp, the sign of x.
double sn_cbrt(double x);

/// Of a cosine; beyond -1 and 1 as there. Within 2 ulp, also near 1.
static inline double sn_acos(double x) {
    double c = fmin(fmax(x, -1), 1);
    return sn_atan2(sqrt((1 - c) * (1 + c)), c);
}

/// sqrt(x^2 + y^2) of lengths, which neither overflow nor vanish when squared.
static inline double sn_hypot(double x, double y) { return sqrt(x * x + y * y); }
