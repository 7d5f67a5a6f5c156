// SPDX-License-Identifier: MIT
//
// With u = 1 + x rounded and c what the rounding lost, u = 2^e m, m between sqrt(1/2) and sqrt(2),
//
//   log(1 + x) = e log 2 + log m + c/u
//   log m      = 2 atanh s,   s = (m - 1)/(m + 1),   |s| < 0.172
//
// atanh by its series: 0.172^24 is below the last bit.
#include "math/log1p.h"

#include <math.h>

static const double ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33;

double sn_log1p(double x) {
    if (!(x >= 0)) return NAN;
    if (!(x < INFINITY)) return x;
    double u = 1 + x, c = u - 1 > 0 ? (x > 1 ? 1 - (u - x) : x - (u - 1)) / u : x;
    if (u == 1) return x;
    int e;
    double m = frexp(u, &e);
    if (m < 0x1.6a09e667f3bcdp-1) m *= 2, e--;
    // m - 1 has no rounding; log m = f - (f^2/2 - s (f^2/2 + r)), so that the first term is exact
    double f = m - 1, s = f / (2 + f), z = s * s, sum = 0;
    for (int k = 25; k >= 3; k -= 2) sum = z * (1.0 / k + sum);
    double half = 0.5 * f * f;
    // 2 s (1 + sum) = f - half + s (half + 2 sum), as 2 s = f - s f and s f = half - s half
    double log_m = f - (half - (s * (half + 2 * sum) + (e * ln2_low + c)));
    return e * ln2_high + log_m;
}
