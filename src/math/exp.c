// SPDX-License-Identifier: MIT
//
//   exp x  = 2^k exp r,   r = x - k log 2,   |r| <= log(2)/2, by its series: 0.35^14/14! is below the last bit
//   log x  = e log 2 + log m, as in log1p.c
//   cbrt x = 2^k cbrt m,  m between 1/2 and 4, by Newton's steps from a line, the last one with what the product of
//            the root with itself loses
#include "math/exp.h"

static const double ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33;

double sn_exp(double x) {
    if (!(x < 710)) return x < INFINITY ? INFINITY : x;
    if (x < -746) return 0;
    // the integer nearest to x/log 2; k ln2_high has no rounding
    double k = nearbyint(x * 0x1.71547652b82fep+0), high = x - k * ln2_high, low = k * ln2_low;
    double r = high - low, tail = (high - r) - low, sum = 0;
    for (int i = 13; i >= 3; i--) sum = r * (1 + sum) / i;
    // 1 + r + r^2/2 (1 + sum), the largest last
    double part = 0.5 * r * r;
    part += part * sum;
    return ldexp(1 + (r + (part + tail)), (int)k);
}

double sn_log(double x) {
    int e;
    if (!(x > 0)) return x == 0 ? -INFINITY : NAN;
    if (!(x < INFINITY)) return x;
    double m = frexp(x, &e);
    if (m < 0x1.6a09e667f3bcdp-1) m *= 2, e--;
    double f = m - 1, s = f / (2 + f), z = s * s, sum = 0, half = 0.5 * f * f;
    for (int k = 25; k >= 3; k -= 2) sum = z * (1.0 / k + sum);
    return e * ln2_high + (f - (half - (s * (half + 2 * sum) + e * ln2_low)));
}

double sn_cbrt(double x) {
    int e;
    if (x == 0 || !isfinite(x)) return x;
    double m = frexp(fabs(x), &e);
    int k = e >= 0 ? e / 3 : -((2 - e) / 3);
    m = ldexp(m, e - 3 * k);  // 0.5 ... 4
    double y = 0.62 + 0.28 * m;
    for (int i = 0; i < 5; i++) y -= (y - m / (y * y)) / 3;
    // the residual m - y^3 with y^2 in two parts, each of which has room for a factor
    double c = 0x8000001p0 * y, a = c - (c - y), b = y - a;
    double square = y * y, lost = ((a * a - square) + 2 * a * b) + b * b;
    double d = 0x8000001p0 * square, g = d - (d - square), h = square - g;
    double cube = square * y, more = ((g * a - cube) + g * b + h * a) + h * b;
    y += ((m - cube) - (more + lost * y)) / (3 * square);
    return copysign(ldexp(y, k), x);
}
