// SPDX-License-Identifier: MIT
// The nearest whole number, the same on every platform: not every C library's round() is right.
#pragma once

#include <math.h>

/// As round() of C: halves away from zero.
static inline double sn_round(double x) {
    double size = fabs(x), whole = floor(size);
    return copysign(whole + (size - whole >= 0.5), x);
}
