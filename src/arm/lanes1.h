// SPDX-License-Identifier: MIT
// One double at a time for kernel.h.
#include <stdint.h>
#include <string.h>

#include "arm/kernels.h"
#include "arm/sines.h"

#define LANES      1
#define PULL       true
#define REAL       double
#define BITS       int64_t
#define LESS(a, b) (-(int64_t)((a) < (b)))
#define ANY(mask)  ((mask) != 0)

SN_INLINE double splat(double x) { return x; }
SN_INLINE double root(double x) { return __builtin_sqrt(x); }
SN_INLINE double choose(int64_t mask, double a, double b) { return mask ? a : b; }
SN_INLINE double load(const double *x) { return *x; }
SN_INLINE void store(double *to, double x) { *to = x; }
SN_INLINE int64_t as_ints(double x) {
    int64_t out;
    memcpy(&out, &x, sizeof out);
    return out;
}
SN_INLINE double as_real(int64_t x) {
    double out;
    memcpy(&out, &x, sizeof out);
    return out;
}

SN_INLINE void sine_cosine(double angle, double *sine, double *cosine) {
    SN_ARM_SINE_COSINE(double, int64_t, as_ints, as_real, angle, *sine, *cosine)
}

// The angles two at a time, which is what every machine has registers for.
#if defined(__GNUC__)
typedef double two __attribute__((vector_size(16)));
typedef int64_t two_bits __attribute__((vector_size(16)));
#define AS_TWO_BITS(x) ((two_bits)(x))
#define AS_TWO(x)      ((two)(x))
SN_INLINE void sines(const int n, const double *q, double *s, double *c) {
    _Pragma("GCC unroll 8") for (int j = 0; j + 1 < n; j += 2) {
        const two x = {q[j], q[j + 1]};
        two sine, cosine;
        SN_ARM_SINE_COSINE(two, two_bits, AS_TWO_BITS, AS_TWO, x, sine, cosine)
        s[j] = sine[0], s[j + 1] = sine[1], c[j] = cosine[0], c[j + 1] = cosine[1];
    }
    if (n % 2 != 0) sine_cosine(q[n - 1], &s[n - 1], &c[n - 1]);
}
#define SINES(n, q, s, c) sines(n, q, s, c)
#else
#define SINES(n, q, s, c)                                                                          \
    for (int j_ = 0; j_ < (n); j_++) sine_cosine((q)[j_], &(s)[j_], &(c)[j_])
#endif
