// SPDX-License-Identifier: MIT
// Eight doubles at a time for kernel.h, with the registers of AVX-512. Masks are bits of a number.
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#include "arm/kernels.h"
#include "arm/sines.h"

#define LANES SN_ARM_WIDE
#define PULL  false
typedef double wide __attribute__((vector_size(64)));
typedef int64_t wide_ints __attribute__((vector_size(64)));
#define REAL       wide
#define BITS       unsigned
#define LESS(a, b) ((unsigned)_mm512_cmp_pd_mask((__m512d)(a), (__m512d)(b), _CMP_LT_OQ))
#define ANY(mask)  (((mask)&0xFF) != 0)

SN_INLINE wide splat(double x) { return (wide)_mm512_set1_pd(x); }
SN_INLINE wide choose(unsigned mask, wide a, wide b) {
    return (wide)_mm512_mask_blend_pd((__mmask8)mask, (__m512d)b, (__m512d)a);
}
SN_INLINE wide load(const double *x) {
    wide out;
    memcpy(&out, x, sizeof out);
    return out;
}
SN_INLINE void store(double *to, wide x) { memcpy(to, &x, sizeof x); }
SN_INLINE wide root(wide x) { return (wide)_mm512_sqrt_pd((__m512d)x); }

#define SINE_COSINE
#define AS_WIDE_INTS(x) ((wide_ints)(x))
#define AS_WIDE(x)      ((wide)(x))
SN_INLINE void sine_cosine(wide angle, wide *sine, wide *cosine) {
    SN_ARM_SINE_COSINE(wide, wide_ints, AS_WIDE_INTS, AS_WIDE, angle, *sine, *cosine)
}
#define SINES(n, q, s, c)                                                                          \
    UNROLL for (int j_ = 0; j_ < (n); j_++) sine_cosine((q)[j_], &(s)[j_], &(c)[j_])
