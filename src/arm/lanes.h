// SPDX-License-Identifier: MIT
// Numbers side by side for kernel.h, fall.h and rank.h: compiler vectors, in whatever registers the includer's machine
// has. The includer defines LANES and, for floats (scouts, which show where starts lead to six digits), LANES_FLOAT.
// Masks are all bits or none of each lane; with LANES_MASKS, for vectors of AVX-512, bits of a number.
#include <stdint.h>
#include <string.h>

#include "arm/kernels.h"
#include "arm/sines.h"

#ifndef PULL
#define PULL true
#endif
#ifdef LANES_FLOAT
#define NUMBER      float
#define NUMBER_INTS int32_t
#define SIGN        INT32_MIN
#define NUMBER_ROOT __builtin_sqrtf
#else
#define NUMBER      double
#define NUMBER_INTS int64_t
#define SIGN        INT64_MIN
#define NUMBER_ROOT __builtin_sqrt
#endif
typedef NUMBER REAL __attribute__((vector_size(LANES * sizeof(NUMBER))));
typedef NUMBER_INTS INTS __attribute__((vector_size(LANES * sizeof(NUMBER))));

SN_INLINE REAL splat(double x) { return (NUMBER)x - (REAL){0}; }  // of -0 too
SN_INLINE REAL load(const NUMBER *x) {
    REAL out;
    memcpy(&out, x, sizeof out);
    return out;
}
SN_INLINE void store(NUMBER *to, REAL x) { memcpy(to, &x, sizeof x); }
SN_INLINE INTS as_ints(REAL x) { return (INTS)x; }
SN_INLINE REAL as_real(INTS x) { return (REAL)x; }

#ifdef LANES_MASKS
#include <immintrin.h>
typedef unsigned BITS;
#define ANY(mask) (((mask) & ((1u << LANES) - 1)) != 0)
// in whole registers or, with LANES_HALF, in half of each
#if defined(LANES_FLOAT) && !defined(LANES_HALF)
#define MASK_OF(a, b)     _mm512_cmp_ps_mask((__m512)(a), (__m512)(b), _CMP_LT_OQ)
#define BLEND(mask, a, b) _mm512_mask_blend_ps((__mmask16)(mask), (__m512)(b), (__m512)(a))
#define SQUARE_ROOT(x)    _mm512_sqrt_ps((__m512)(x))
#elif defined(LANES_FLOAT)
#define MASK_OF(a, b)     _mm256_cmp_ps_mask((__m256)(a), (__m256)(b), _CMP_LT_OQ)
#define BLEND(mask, a, b) _mm256_mask_blend_ps((__mmask8)(mask), (__m256)(b), (__m256)(a))
#define SQUARE_ROOT(x)    _mm256_sqrt_ps((__m256)(x))
#elif !defined(LANES_HALF)
#define MASK_OF(a, b)     _mm512_cmp_pd_mask((__m512d)(a), (__m512d)(b), _CMP_LT_OQ)
#define BLEND(mask, a, b) _mm512_mask_blend_pd((__mmask8)(mask), (__m512d)(b), (__m512d)(a))
#define SQUARE_ROOT(x)    _mm512_sqrt_pd((__m512d)(x))
#else
#define MASK_OF(a, b)     _mm256_cmp_pd_mask((__m256d)(a), (__m256d)(b), _CMP_LT_OQ)
#define BLEND(mask, a, b) _mm256_mask_blend_pd((__mmask8)(mask), (__m256d)(b), (__m256d)(a))
#define SQUARE_ROOT(x)    _mm256_sqrt_pd((__m256d)(x))
#endif
#define LESS(a, b) ((BITS)MASK_OF(a, b))
SN_INLINE REAL choose(BITS mask, REAL a, REAL b) { return (REAL)BLEND(mask, a, b); }
SN_INLINE REAL root(REAL x) { return (REAL)SQUARE_ROOT(x); }
#else
typedef INTS BITS;
#define LESS(a, b) ((BITS)((a) < (b)))
SN_INLINE REAL choose(BITS mask, REAL a, REAL b) {
    return (REAL)((mask & (INTS)a) | (~mask & (INTS)b));
}
SN_INLINE NUMBER_INTS any_of(BITS m) {
    NUMBER_INTS any = 0;
    for (int i = 0; i < LANES; i++) any |= m[i];
    return any;
}
#define ANY(mask)  (any_of(mask) != 0)
SN_INLINE REAL root(REAL x) {
    REAL out;
    for (int i = 0; i < LANES; i++) out[i] = NUMBER_ROOT(x[i]);
    return out;
}
#endif

#ifdef LANES_FLOAT
// As sines.h, with the polynomials of Moshier's sinf and cosf.
SN_INLINE void sine_cosine(REAL angle, REAL *sine, REAL *cosine) {
    const REAL magic = splat(0x1.8p23), t = angle * splat(0.636619772367581) + magic;
    const REAL n = t - magic;
    const REAL y = ((angle - n * splat(1.5703125)) - n * splat(4.837512969970703e-4)) -
                   n * splat(7.549789948768648e-8);
    const REAL z = y * y;
    const REAL s =
        splat(-1.6666654611e-1) + z * (splat(8.3321608736e-3) + z * splat(-1.9515295891e-4));
    const REAL c = splat(4.166664568298827e-2) +
                   z * (splat(-1.388731625493765e-3) + z * splat(2.443315711809948e-5));
    const INTS quadrant = (INTS)t, swap = -(quadrant & 1);
    const INTS si = (INTS)(y + z * y * s);
    const INTS co = (INTS)(splat(1) - splat(0.5) * z + z * z * c);
    *sine = (REAL)(((co & swap) | (si & ~swap)) ^ (-(quadrant & 2) & SIGN));
    *cosine = (REAL)(((si & swap) | (co & ~swap)) ^ (-((quadrant + 1) & 2) & SIGN));
}
#else
SN_INLINE void sine_cosine(REAL angle, REAL *sine, REAL *cosine) {
    SN_ARM_SINE_COSINE(REAL, INTS, as_ints, as_real, angle, *sine, *cosine)
}
#endif
#define SINES(n, q, s, c)                                                                          \
    UNROLL for (int j_ = 0; j_ < (n); j_++) sine_cosine((q)[j_], &(s)[j_], &(c)[j_])
