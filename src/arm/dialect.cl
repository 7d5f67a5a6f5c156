// SPDX-License-Identifier: MIT
// A device's dialect of newton.h: one goal for each thread.
#define SN_INLINE     static inline
#define REAL          double
#define BITS          int
#define LESS(a, b)    ((a) < (b) ? -1 : 0)
#define ANY(mask)     ((mask) != 0)
#define UNROLL        _Pragma("unroll")
#define CHAIN         __constant const chain *
#define KERNEL(name)  arm_##name
#define splat(x)      ((double)(x))
#define choose(m, a, b) ((m) ? (a) : (b))
#define root(x)       sqrt(x)
#define SINES(n, q, s, c)                                                                          \
    UNROLL for (int j_ = 0; j_ < (n); j_++) (s)[j_] = sincos((q)[j_], &(c)[j_])

// What a thread knows of the arm: the shorter form of chain.h, its table's extent, and tolerances.
typedef struct chain {
    double t[SN_ARM_MAX][3], cosine[SN_ARM_MAX], sine[SN_ARM_MAX];
    double lower[SN_ARM_MAX], upper[SN_ARM_MAX], low[SN_ARM_MAX], high[SN_ARM_MAX];
    double shift[SN_ARM_MAX], from[SN_ARM_MAX], span[SN_ARM_MAX];
    double before[12], behind[12], tool[3];
    double unit, length, reach, bottom, top, ratio, key_share;
    double turn_tol, place_tol, position_tol, rotation_tol;
    int turns[SN_ARM_MAX], round[SN_ARM_MAX];
    int first, last;
} chain;
