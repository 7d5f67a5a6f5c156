// SPDX-License-Identifier: MIT
// The device's dialect of core.h: one problem for each thread. SN_FLOAT: numbers are floats.
#ifdef SN_FLOAT
typedef float REAL;
#define MOST_REAL     3e38f
#define NO_LIMIT      3e38f
#define LEAST_REAL    1e-30f
#define END_OF_F      5e-6f
#define END_OF_R      2e-7f
#define ROUNDING      2e-6f
#define BLIND         1e-5f
#define LEAST_DAMPING 2e-6f
#else
typedef double REAL;
#define MOST_REAL     1.7e308
#define NO_LIMIT      1.7e308
#define LEAST_REAL    1e-200
#define END_OF_F      1e-14
#define END_OF_R      4e-16
#define ROUNDING      4e-15
#define BLIND         1e-13
#define LEAST_DAMPING 1e-10
#endif
#define NUMBER REAL
typedef int BITS;
#define FN                      static inline
#define PART                    static
#define UNROLL                  _Pragma("unroll")
#define ARGS                    work *room
#define PASS                    room
#define W(name)                 room->name
#define GOAL(k)                 ((REAL)room->row[k])
#define GOAL_FROM(k, origin)    ((REAL)(room->row[k] - (double)(origin)))
#define ANY(mask)               ((mask) != 0)
#define LESS(a, b)              ((a) < (b) ? -1 : 0)
#define EQUAL(a, b)             ((a) == (b) ? -1 : 0)
#define splat(x)                ((REAL)(x))
#define choose(mask, a, b)      ((mask) ? (a) : (b))
#define root(x)                 sqrt(x)
#define largest(a, b)           larger_of(a, b)
#define least(a, b)             smaller_of(a, b)
#define size_of(x)              fabs(x)
#define nearest(x)              rint(x)
#define log_one_plus(x)         log1p(x)

FN REAL larger_of(REAL a, REAL b) { return a < b ? b : a; }
FN REAL smaller_of(REAL a, REAL b) { return b < a ? b : a; }
FN void sine_cosine(REAL angle, REAL *sine, REAL *cosine) {
    REAL c;
    *sine = sincos(angle, &c);
    *cosine = c;
}

#ifdef SN_QUICK
// A thread's numbers in quick.cl; an array of one is never used.
typedef struct work {
    __global const double *row;
    REAL q[N(nq)], x[N(nq)], S[6 * N(nv)], Y[6 * N(nv)], inverse[N(nv)], step[N(nv)];
    REAL kept[N(nv)];
    uint stuck[N(nv) / 32 + 1];
    REAL spot[3 * N(npoint) + 1], frame[12 * N(nfork) + 1], hung[49 * N(nfork) + 1];
    REAL lane[SN_LANE_COUNT], sum[1];
} work;
#else
// A thread's numbers, those of the table's arrays and of a chain; never an array of none.
typedef struct work {
    __global const double *row;
    REAL previous[N(nq)];
#define FIELD_OF(name, count) REAL name[(count) + 1];
    SN_BATCH_ARRAYS(FIELD_OF)
#undef FIELD_OF
} work;
#endif
