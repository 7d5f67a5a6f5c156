// SPDX-License-Identifier: MIT
//
// With a <= b the two sizes, and c = k/8 next to a/b,
//
//   atan(a/b) = atan(c) + atan(d),   d = (a - c b)/(b + c a),   |d| <= 1/16
//
// atan(c) from a table with a tail, atan(d) by its series: 1/16^17 is below the last bit. Then the
// octant: pi/2 - that when |y| > |x|, pi - that when x < 0.
#include "math/atan2.h"

#include <math.h>

static const double table[9][2] = {{0, 0},
                                   {0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59},
                                   {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
                                   {0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56},
                                   {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
                                   {0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58},
                                   {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
                                   {0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56},
                                   {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55}};

// (atan d - d)/d^3
static double series(double z) {
    static const double terms[7] = {1.0 / 3,  1.0 / 5,  1.0 / 7, 1.0 / 9,
                                    1.0 / 11, 1.0 / 13, 1.0 / 15};
    double sum = 0;
    for (int i = 6; i >= 0; i--) sum = terms[i] - z * sum;
    return -sum;
}

double sn_atan2(double y, double x) {
    const double half_pi = 0x1.921fb54442d18p+0, half_pi_tail = 0x1.1a62633145c07p-54;
    if (isnan(x) || isnan(y)) return x + y;
    double a = fabs(y), b = fabs(x);
    const int steep = a > b, back = signbit(x) != 0;
    if (steep) {
        double swap = a;
        a = b;
        b = swap;
    }
    if (isinf(b)) {
        a = isinf(a) ? 1 : 0;
        b = 1;
    }
    // away from where products overflow or lose bits
    const double scale = b > 0x1p900 ? 0x1p-200 : b < 0x1p-800 ? 0x1p200 : 1;
    a *= scale;
    b *= scale;
    double high = 0, low = 0;
    if (b > 0) {
        const int k = (int)(8 * (a / b) + 0.5);
        const double c = 0.125 * k, d = (a - c * b) / (b + c * a);
        high = table[k][0];
        low = table[k][1] + d * (d * d) * series(d * d);
        // high + d, and what its rounding leaves
        const double sum = high + d;
        low += k == 0 ? 0 : d - (sum - high);
        high = sum;
    }
    // the octant; half_pi and pi in two pieces each
    if (steep) {
        const double sum = half_pi - high;
        low = ((half_pi - sum) - high) + (half_pi_tail - low);
        high = sum;
    }
    if (back) {
        const double sum = 2 * half_pi - high;
        low = ((2 * half_pi - sum) - high) + (2 * half_pi_tail - low);
        high = sum;
    }
    return copysign(high + low, y);
}
