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
#if defined(SN_QUICK) && defined(SN_FLOAT)
// goals of a frame as floats from a place nearby, which the origin is measured from, too
#define GOAL_FROM(k, origin) (room->aim[k] - (origin))
#else
#define GOAL_FROM(k, origin) ((REAL)(room->row[k] - (double)(origin)))
#endif
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
// Of a few turns at most; the driver's own sincos() is for any angle and keeps room for that.
FN void sine_cosine(REAL angle, REAL *sine, REAL *cosine) {
    const REAL n = rint(angle * (REAL)0.63661977236758134);
    const int quadrant = (int)n;
#ifdef SN_FLOAT
    const REAL y = ((angle - n * 1.5703125f) - n * 4.83751296997e-4f) - n * 7.54978995489e-8f;
    const REAL z = y * y;
    const REAL s = y + y * z * (-1.6666654611e-1f + z * (8.3321608736e-3f - z * 1.9515295891e-4f));
    const REAL c = 1.0f - 0.5f * z +
                   z * z *
                       (4.166664568298827e-2f +
                        z * (-1.388731625493765e-3f + z * 2.443315711809948e-5f));
#else
    const REAL y = ((angle - n * 0x1.921fb54400000p+0) - n * 0x1.0b4611a600000p-34) -
                   n * 0x1.3198a2e037073p-69;
    const REAL z = y * y;
    const REAL s = y + z * y * SN_SINE_SERIES(z), c = (1.0 - 0.5 * z) + z * z * SN_COSINE_SERIES(z);
#endif
    const REAL first = quadrant & 1 ? c : s, second = quadrant & 1 ? s : c;
    *sine = quadrant & 2 ? -first : first;
    *cosine = (quadrant + 1) & 2 ? -second : second;
}

// The pose of a chain `back` frames before frame `frame` of a piece: in it, or one of the last two before it.
FN __global const double *pose_back(__global const double *poses, __global const double *heads, int chain,
                                    int frame, int nframe, int back) {
    return frame >= back ? poses + ((size_t)chain * nframe + frame - back) * N(nq)
                         : heads + ((size_t)2 * chain + (back - frame - 1)) * N(nq);
}

#ifdef SN_QUICK
// A thread's numbers in quick.cl; an array of one is never used.
typedef struct work {
    __global const double *row;
    REAL q[N(nq)], x[N(nq)], S[6 * N(nv)], Y[6 * N(nv)], inverse[N(nv)], step[N(nv)];
    REAL kept[N(nv)];
    uint stuck[N(nv) / 32 + 1];
    REAL spot[3 * N(npoint) + 1], frame[12 * N(nfork) + 1], hung[49 * N(nfork) + 1];
#ifdef SN_FLOAT
    REAL aim[N(ngoal)], near[3];
#endif
    REAL anchor[N(pulled) * N(nq) + 1], lane[SN_LANE_COUNT];
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
