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
    UNROLL for (int j_ = 0; j_ < (n); j_++) sine_cosine((q)[j_], &(s)[j_], &(c)[j_])

// Of a few turns at most; the driver's own sincos() is for any angle and keeps room for that.
static inline void sine_cosine(double angle, double *sine, double *cosine) {
    const double n = rint(angle * 0x1.45f306dc9c883p-1);
    const int quadrant = (int)n;
    const double y = ((angle - n * 0x1.921fb54400000p+0) - n * 0x1.0b4611a600000p-34) -
                     n * 0x1.3198a2e037073p-69;
    const double z = y * y;
    const double s = y + z * y * SN_SINE_SERIES(z);
    const double c = (1.0 - 0.5 * z) + z * z * SN_COSINE_SERIES(z);
    const double first = quadrant & 1 ? c : s, second = quadrant & 1 ? s : c;
    *sine = quadrant & 2 ? -first : first;
    *cosine = (quadrant + 1) & 2 ? -second : second;
}

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
