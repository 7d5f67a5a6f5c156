// SPDX-License-Identifier: MIT
// Four doubles at a time for kernel.h: compiler vectors, in whatever registers the includer's machine
// has.
#include <stdint.h>
#include <string.h>

#include "arm/kernels.h"
#include "arm/sines.h"

#define LANES SN_ARM_LANES
#define PULL  true
typedef double four __attribute__((vector_size(32)));
typedef int64_t four_bits __attribute__((vector_size(32)));
#define REAL       four
#define BITS       four_bits
#define LESS(a, b) ((four_bits)((a) < (b)))

SN_INLINE four splat(double x) { return (four){x, x, x, x}; }
SN_INLINE four choose(four_bits mask, four a, four b) {
    return (four)((mask & (four_bits)a) | (~mask & (four_bits)b));
}
SN_INLINE four load(const double *x) {
    four out;
    memcpy(&out, x, sizeof out);
    return out;
}
SN_INLINE void store(double *to, four x) { memcpy(to, &x, sizeof x); }
SN_INLINE four_bits as_bits(four x) { return (four_bits)x; }
SN_INLINE four as_real(four_bits x) { return (four)x; }
SN_INLINE int64_t any_of(four_bits m) { return m[0] | m[1] | m[2] | m[3]; }
#define ANY(mask) (any_of(mask) != 0)
SN_INLINE four root(four x) {
    return (four){__builtin_sqrt(x[0]), __builtin_sqrt(x[1]), __builtin_sqrt(x[2]),
                  __builtin_sqrt(x[3])};
}
#define SINES(n, q, s, c)                                                                          \
    UNROLL for (int j_ = 0; j_ < (n); j_++) sine_cosine((q)[j_], &(s)[j_], &(c)[j_])
