// SPDX-License-Identifier: MIT
// The CPU's dialect of core.h and trip.h: LANES doubles side by side, in whatever registers the includer's
// machine has. The includer defines LANES, TRIP_NAME and, where it wants that one, STRIDE_NAME.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/pair.h"
#include "batch/kernels.h"
#include "math/log1p.h"
#include "math/sine_series.h"

#define FN SN_INLINE
#ifdef __GNUC__
#define PART static __attribute__((noinline))
#else
#define PART static
#endif
#ifdef SN_CHECKED
#define UNROLL
#else
#define UNROLL _Pragma("GCC unroll 28")
#endif
#define ARGS      const sn_batch_table *tab, const sn_batch_work *room
#define PASS      tab, room
#define PART_ARGS const sn_batch_table *tab_, const sn_batch_work *room_
#define HERE                                                                                       \
    const sn_batch_table own_tab = *tab_, *const tab = &own_tab;                                   \
    const sn_batch_work own_room = *room_, *const room = &own_room
#define PASS_ON              tab_, room_
#define N(name)              tab->name
#define T(name)              tab->name
#define W(name)              ((REAL *)(void *)room->name)
#define GOAL(k)              W(goal)[k]
#define GOAL_FROM(k, origin) (W(goal)[k] - (origin))
#define HOLD(i)              W(hold)[i]
#define JUMPED(value)        LESS(W(lane)[SN_LANE_JUMP], value)
#define NUMBER               double
#define FIELD                field_of_subtree
#define FACTOR               factor_state
#define TRIP                 trip_state
#define MOST_REAL            1.7e308
#define LEAST_REAL           1e-200
#define END_OF_F             1e-14
#define END_OF_R             4e-16
#define ROUNDING             4e-15
#define BLIND                1e-13
#define LEAST_DAMPING        1e-10

// Masks are all bits or none of each lane; with AVX-512 a bit of a number.
#if LANES == 1
typedef double REAL;
typedef int64_t INTS;
typedef uint64_t UINTS;
typedef int64_t BITS;
#define ANY(mask)   ((mask) != 0)
#define LESS(a, b)  (-(int64_t)((a) < (b)))
#define EQUAL(a, b) (-(int64_t)((a) == (b)))
FN REAL splat(double x) { return x; }
FN INTS as_ints(REAL x) {
    INTS out;
    memcpy(&out, &x, sizeof out);
    return out;
}
FN REAL as_real(INTS x) {
    REAL out;
    memcpy(&out, &x, sizeof out);
    return out;
}
FN REAL root(REAL x) { return sqrt(x); }
FN REAL choose(BITS mask, REAL a, REAL b) { return mask ? a : b; }
FN BITS odd(INTS x) { return -(x & 1); }
FN REAL log_one_plus(REAL x) { return sn_log1p(x); }
#else
typedef double REAL __attribute__((vector_size(8 * LANES), may_alias));
typedef int64_t INTS __attribute__((vector_size(8 * LANES), may_alias));
typedef uint64_t UINTS __attribute__((vector_size(8 * LANES), may_alias));
FN INTS as_ints(REAL x) { return (INTS)x; }
FN REAL as_real(INTS x) { return (REAL)x; }
FN REAL log_one_plus(REAL x) {
    REAL out = x;
    for (int i = 0; i < LANES; i++) out[i] = sn_log1p(x[i]);
    return out;
}
#if LANES == 8
typedef unsigned BITS;
FN REAL splat(double x) { return (REAL)_mm512_set1_pd(x); }
#define ANY(mask)      (((mask)&0xFF) != 0)
#define LESS(a, b)     ((BITS)_mm512_cmp_pd_mask((__m512d)(a), (__m512d)(b), _CMP_LT_OQ))
#define EQUAL(a, b)    ((BITS)_mm512_cmp_pd_mask((__m512d)(a), (__m512d)(b), _CMP_EQ_OQ))
FN REAL root(REAL x) { return (REAL)_mm512_sqrt_pd((__m512d)x); }
FN REAL choose(BITS mask, REAL a, REAL b) {
    return (REAL)_mm512_mask_blend_pd((__mmask8)mask, (__m512d)b, (__m512d)a);
}
FN BITS odd(INTS x) { return (BITS)_mm512_test_epi64_mask((__m512i)x, _mm512_set1_epi64(1)); }
#define MOST_OF(a, b)  ((REAL)_mm512_max_pd((__m512d)(a), (__m512d)(b)))
#define LEAST_OF(a, b) ((REAL)_mm512_min_pd((__m512d)(a), (__m512d)(b)))
#else
typedef INTS BITS;
FN BITS odd(INTS x) { return -(x & 1); }
#define LESS(a, b)  ((BITS)((a) < (b)))
#define EQUAL(a, b) ((BITS)((a) == (b)))
#if LANES == 4
FN REAL splat(double x) { return (REAL)_mm256_set1_pd(x); }
#define ANY(mask)      (_mm256_movemask_pd((__m256d)(mask)) != 0)
FN REAL root(REAL x) { return (REAL)_mm256_sqrt_pd((__m256d)x); }
FN REAL choose(BITS mask, REAL a, REAL b) {
    return (REAL)_mm256_blendv_pd((__m256d)b, (__m256d)a, (__m256d)mask);
}
#define MOST_OF(a, b)  ((REAL)_mm256_max_pd((__m256d)(a), (__m256d)(b)))
#define LEAST_OF(a, b) ((REAL)_mm256_min_pd((__m256d)(a), (__m256d)(b)))
#else
FN REAL splat(double x) { return (REAL){x, x}; }
#define ANY(mask) (((mask)[0] | (mask)[1]) != 0)
FN REAL root(REAL x) { return (REAL){sqrt(x[0]), sqrt(x[1])}; }
FN REAL choose(BITS mask, REAL a, REAL b) {
    return as_real((mask & as_ints(a)) | (~mask & as_ints(b)));
}
#endif
#endif
#endif

// An instruction each where there is one: a > b ? a : b, and a < b ? a : b.
#ifndef MOST_OF
#define MOST_OF(a, b)  choose(LESS(b, a), a, b)
#define LEAST_OF(a, b) choose(LESS(a, b), a, b)
#endif
FN REAL largest(REAL a, REAL b) { return MOST_OF(b, a); }
FN REAL least(REAL a, REAL b) { return LEAST_OF(b, a); }
FN REAL size_of(REAL x) { return as_real(as_ints(x) & INT64_MAX); }
FN REAL nearest(REAL x) { return (x + 0x1.8p52) - 0x1.8p52; }

// The sign that the second bit of x says.
FN INTS half_turn(INTS x) { return (INTS)((UINTS)x << 62) & INT64_MIN; }

// As sn_sincos() but for the last bit; angles here are a few turns at most.
FN void sine_cosine(REAL angle, REAL *sine, REAL *cosine) {
    const REAL t = angle * 0x1.45f306dc9c883p-1 + 0x1.8p52, n = t - 0x1.8p52;
    const REAL y = ((angle - n * 0x1.921fb54400000p+0) - n * 0x1.0b4611a600000p-34) -
                   n * 0x1.3198a2e037073p-69;
    const REAL z = y * y;
    const REAL s = SN_SINE_SERIES(z);
    const REAL c = SN_COSINE_SERIES(z);
    const REAL sin_y = y + z * y * s, cos_y = (1.0 - 0.5 * z) + z * z * c;
    const INTS quadrant = as_ints(t);
    const BITS swap = odd(quadrant);
    *sine = as_real(as_ints(choose(swap, cos_y, sin_y)) ^ half_turn(quadrant));
    *cosine = as_real(as_ints(choose(swap, sin_y, cos_y)) ^ half_turn(quadrant + 1));
}

#include "batch/core.h"
// after what it is made of
#include "batch/stride.h"

void TRIP_NAME(const sn_batch_table *tab, const sn_batch_work *room) { trip(tab, room); }
#ifdef STRIDE_NAME
void STRIDE_NAME(const sn_batch_table *tab, const sn_batch_work *room) { stride(tab, room); }
#endif
