// SPDX-License-Identifier: MIT
// Sine and cosine, inline for the sweeps. libm's differ from platform to platform in the last bit;
// these do not.
//
// The angle is brought to y in [-pi/4, pi/4] by subtracting n pi/2, with pi/2 in three pieces of
// 33, 33 and 53 bits so that the first two products are exact for n < 2^20, and the rounding of the
// subtraction kept as a tail. Then two short polynomials: (sin y - y)/y^3 and (cos y - 1 +
// y^2/2)/y^4 in y^2, interpolated at Chebyshev nodes of [0, (pi/4)^2], within 2^-55 and 2^-60.
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "math/sine_series.h"

/// The slow way for large angles and for those almost a multiple of pi/2: returns n mod 4.
int sn_sincos_reduce(double angle, double *y, double *tail);

static inline void sn_sincos_kernel(double y, double tail, int n, double *sine, double *cosine) {
    const double z = y * y;
    const double s = SN_SINE_SERIES(z);
    const double c = SN_COSINE_SERIES(z);
    // sin(y + tail) = sin y + tail cos y, with cos y = 1 - z/2; likewise the cosine
    const double half = 0.5 * z, one = 1.0 - half;
    const double sin_y = y + (z * y * s + tail * one);
    const double cos_y = one + (((1.0 - one) - half) + (z * z * c - y * tail));
    const double first = (n & 1) ? cos_y : sin_y, second = (n & 1) ? sin_y : cos_y;
    *sine = (n & 2) ? -first : first;
    *cosine = ((n + 1) & 2) ? -second : second;
}

static inline void sn_sincos_inline(double angle, double *sine, double *cosine) {
    const double to_integer = 0x1.8p52;  // adding it leaves the nearest integer in the low bits
    const double t = angle * 0x1.45f306dc9c883p-1 + to_integer;
    const double n = t - to_integer;
    uint64_t bits;
    memcpy(&bits, &t, sizeof bits);
    const double z = angle - n * 0x1.921fb54400000p+0;
    const double w = n * 0x1.0b4611a600000p-34;
    const double r = z - w;
    const double rest = ((z - r) - w) - n * 0x1.3198a2e037073p-69;
    const double y = r + rest;
    const double tail = (r - y) + rest;
    // the last 53 bits of pi/2 above carry y only while it is not tiny; then take the slow way
    if (!(fabs(n) < 0x1p20) || (fabs(y) < 0x1p-30 && n != 0)) {
        double far_y, far_tail;
        int quadrant = sn_sincos_reduce(angle, &far_y, &far_tail);
        sn_sincos_kernel(far_y, far_tail, quadrant, sine, cosine);
        return;
    }
    sn_sincos_kernel(y, tail, (int)(bits & 3), sine, cosine);
}

#if defined(__GNUC__)
/// Two angles at once; each lane does what sn_sincos_inline() does, so the bits are the same.
static inline void sn_sincos_two(const double angle[2], double sine[2], double cosine[2]) {
    typedef double two __attribute__((vector_size(16)));
    typedef int64_t bits2 __attribute__((vector_size(16)));
    const two x = {angle[0], angle[1]}, to_integer = {0x1.8p52, 0x1.8p52};
    const two t = x * 0x1.45f306dc9c883p-1 + to_integer, n = t - to_integer;
    const two z0 = x - n * 0x1.921fb54400000p+0, w = n * 0x1.0b4611a600000p-34, r = z0 - w;
    const two rest = ((z0 - r) - w) - n * 0x1.3198a2e037073p-69, y = r + rest;
    const two tail = (r - y) + rest, size = (two)((bits2)y & INT64_MAX);
    const bits2 near = ((two)((bits2)n & INT64_MAX) < 0x1p20);
    const bits2 slow = ~near | ((size < 0x1p-30) & (n != 0));
    if (slow[0] | slow[1]) {
        for (int i = 0; i < 2; i++) sn_sincos_inline(angle[i], &sine[i], &cosine[i]);
        return;
    }
    const two z = y * y;
    const two s = SN_SINE_SERIES(z);
    const two c = SN_COSINE_SERIES(z);
    const two half = 0.5 * z, one = 1.0 - half;
    const bits2 sin_y = (bits2)(y + (z * y * s + tail * one));
    const bits2 cos_y = (bits2)(one + (((1.0 - one) - half) + (z * z * c - y * tail)));
    // odd quadrants swap the two; bit 1 of n, and of n + 1, is the sign
    const bits2 bits = (bits2)t, swap = -(bits & 1);
    const bits2 first = (cos_y & swap) | (sin_y & ~swap), second = (sin_y & swap) | (cos_y & ~swap);
    const bits2 sine_sign = (bits & 2) << 62, cosine_sign = ((bits + 1) & 2) << 62;
    const two out_s = (two)(first ^ sine_sign), out_c = (two)(second ^ cosine_sign);
    memcpy(sine, &out_s, sizeof out_s);
    memcpy(cosine, &out_c, sizeof out_c);
}
#else
static inline void sn_sincos_two(const double angle[2], double sine[2], double cosine[2]) {
    for (int i = 0; i < 2; i++) sn_sincos_inline(angle[i], &sine[i], &cosine[i]);
}
#endif
