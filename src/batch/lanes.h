// SPDX-License-Identifier: MIT
// The CPU's dialect of core.h and trip.h: LANES doubles side by side, in whatever registers the includer's
// machine has. The includer defines LANES and TRIP_NAME.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/pair.h"
#include "batch/kernels.h"
#include "math/log1p.h"

#define FN SN_INLINE
#define ARGS const sn_batch_table *tab, const sn_batch_work *room
#define PASS tab, room
#define N(name) tab->name
#define T(name) tab->name
#define W(name) ((REAL *)(void *)room->name)
#define GOAL(k) W(goal)[k]
#define GOAL_FROM(k, origin) (W(goal)[k] - (origin))
#define FIELD field_of_subtree
#define FACTOR factor_state
#define TRIP trip_state
#define MOST_REAL 1.7e308
#define LEAST_REAL 1e-200
#define END_OF_F 1e-14
#define END_OF_R 4e-16
#define ROUNDING 4e-15
#define BLIND 1e-13
#define LEAST_DAMPING 1e-10

#if LANES == 1
typedef double REAL;
typedef int64_t BITS;
#define ANY(mask) ((mask) != 0)
#define LESS(a, b) (-(int64_t)((a) < (b)))
#define EQUAL(a, b) (-(int64_t)((a) == (b)))
FN REAL splat(double x) { return x; }
FN BITS as_bits(REAL x) {
    BITS out;
    memcpy(&out, &x, sizeof out);
    return out;
}
FN REAL as_real(BITS x) {
    REAL out;
    memcpy(&out, &x, sizeof out);
    return out;
}
FN REAL root(REAL x) { return sqrt(x); }
FN REAL log_one_plus(REAL x) { return sn_log1p(x); }
#else
typedef double REAL __attribute__((vector_size(8 * LANES), may_alias));
typedef int64_t BITS __attribute__((vector_size(8 * LANES), may_alias));
#define LESS(a, b) ((BITS)((a) < (b)))
#define EQUAL(a, b) ((BITS)((a) == (b)))
FN REAL splat(double x) { return (REAL){0} + x; }
FN BITS as_bits(REAL x) { return (BITS)x; }
FN REAL as_real(BITS x) { return (REAL)x; }
FN int64_t any_of(BITS m) {
    int64_t out = 0;
    for (int i = 0; i < LANES; i++) out |= m[i];
    return out;
}
#define ANY(mask) (any_of(mask) != 0)
FN REAL root(REAL x) {
    REAL out = x;
    for (int i = 0; i < LANES; i++) out[i] = sqrt(x[i]);
    return out;
}
FN REAL log_one_plus(REAL x) {
    REAL out = x;
    for (int i = 0; i < LANES; i++) out[i] = sn_log1p(x[i]);
    return out;
}
#endif

FN REAL choose(BITS mask, REAL a, REAL b) {
    return as_real((mask & as_bits(a)) | (~mask & as_bits(b)));
}
FN REAL largest(REAL a, REAL b) { return choose(LESS(a, b), b, a); }
FN REAL least(REAL a, REAL b) { return choose(LESS(b, a), b, a); }
FN REAL size_of(REAL x) { return as_real(as_bits(x) & INT64_MAX); }
FN REAL nearest(REAL x) { return (x + 0x1.8p52) - 0x1.8p52; }

// As sn_sincos() but for the last bit; angles here are a few turns at most.
FN void sine_cosine(REAL angle, REAL *sine, REAL *cosine) {
    const REAL t = angle * 0x1.45f306dc9c883p-1 + 0x1.8p52, n = t - 0x1.8p52;
    const REAL y = ((angle - n * 0x1.921fb54400000p+0) - n * 0x1.0b4611a600000p-34) -
                   n * 0x1.3198a2e037073p-69;
    const REAL z = y * y;
    const REAL s = -0x1.5555555555555p-3 +
                   z * (0x1.1111111110babp-7 +
                        z * (-0x1.a01a019e820aep-13 +
                             z * (0x1.71de37946ed6dp-19 +
                                  z * (-0x1.ae6008d114485p-26 + z * 0x1.5e0a4fc16be59p-33))));
    const REAL c = 0x1.5555555555555p-5 +
                   z * (-0x1.6c16c16c16963p-10 +
                        z * (0x1.a01a019f4ddfdp-16 +
                             z * (-0x1.27e4fa16cc2d1p-22 +
                                  z * (0x1.1eeb67d026ec6p-29 + z * -0x1.907cd8ff5ede7p-37))));
    const BITS sin_y = as_bits(y + z * y * s), cos_y = as_bits((1.0 - 0.5 * z) + z * z * c);
    const BITS quadrant = as_bits(t), swap = -(quadrant & 1);
    *sine = as_real(((cos_y & swap) | (sin_y & ~swap)) ^ (-(quadrant & 2) & INT64_MIN));
    *cosine = as_real(((sin_y & swap) | (cos_y & ~swap)) ^ (-((quadrant + 1) & 2) & INT64_MIN));
}

#include "batch/core.h"
#include "batch/trip.h"

void TRIP_NAME(const sn_batch_table *tab, const sn_batch_work *room) { trip(tab, room); }
