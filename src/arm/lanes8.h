// SPDX-License-Identifier: MIT
// Eight floats at a time for kernel.h: scouts, which show where starts lead to six digits. What they find is
// finished in doubles.
#include <stdint.h>
#include <string.h>

#include "arm/kernels.h"

#define LANES SN_ARM_SCOUTS
#define PULL  true
typedef float eight __attribute__((vector_size(32)));
typedef int32_t eight_bits __attribute__((vector_size(32)));
#define REAL       eight
#define BITS       eight_bits
#define LESS(a, b) ((eight_bits)((a) < (b)))

SN_INLINE eight splat(double x) {
    const float y = (float)x;
    return (eight){y, y, y, y, y, y, y, y};
}
SN_INLINE eight choose(eight_bits mask, eight a, eight b) {
    return (eight)((mask & (eight_bits)a) | (~mask & (eight_bits)b));
}
SN_INLINE eight load(const float *x) {
    eight out;
    memcpy(&out, x, sizeof out);
    return out;
}
SN_INLINE void store(float *to, eight x) { memcpy(to, &x, sizeof x); }
SN_INLINE int32_t any_of(eight_bits m) {
    return m[0] | m[1] | m[2] | m[3] | m[4] | m[5] | m[6] | m[7];
}
#define ANY(mask) (any_of(mask) != 0)
SN_INLINE eight root(eight x) {
    eight out;
    for (int i = 0; i < 8; i++) out[i] = __builtin_sqrtf(x[i]);
    return out;
}

// As sines.h, with the polynomials of Moshier's sinf and cosf.
#define SINE_COSINE
SN_INLINE void sine_cosine(eight angle, eight *sine, eight *cosine) {
    const eight magic = splat(0x1.8p23), t = angle * splat(0.636619772367581) + magic;
    const eight n = t - magic;
    const eight y = ((angle - n * splat(1.5703125)) - n * splat(4.837512969970703e-4)) -
                    n * splat(7.549789948768648e-8);
    const eight z = y * y;
    const eight s =
        splat(-1.6666654611e-1) + z * (splat(8.3321608736e-3) + z * splat(-1.9515295891e-4));
    const eight c = splat(4.166664568298827e-2) +
                    z * (splat(-1.388731625493765e-3) + z * splat(2.443315711809948e-5));
    const eight_bits quadrant = (eight_bits)t, swap = -(quadrant & 1);
    const eight_bits si = (eight_bits)(y + z * y * s);
    const eight_bits co = (eight_bits)(splat(1) - splat(0.5) * z + z * z * c);
    *sine = (eight)(((co & swap) | (si & ~swap)) ^ (-(quadrant & 2) & INT32_MIN));
    *cosine = (eight)(((si & swap) | (co & ~swap)) ^ (-((quadrant + 1) & 2) & INT32_MIN));
}
#define SINES(n, q, s, c)                                                                          \
    UNROLL for (int j_ = 0; j_ < (n); j_++) sine_cosine((q)[j_], &(s)[j_], &(c)[j_])
