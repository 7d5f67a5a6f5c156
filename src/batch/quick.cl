// SPDX-License-Identifier: MIT
// Chains of frames with as little memory as a thread can do with: what tells on a device is how many numbers it
// keeps, not how many operations it does. Sums, gradient, factor and the first half of the solve are one sweep
// from the leaves to the root that carries everything in registers along a chain and leaves only twists, their
// products and steps behind (a sixth of what trip.h keeps). In return a step's matrix is chosen before f at its
// pose is known, from how the step before went, and rotations held as quaternions are three turns one after the
// other, which have no terms of their own. What comes out is looked at in doubles by sn_batch_verify(), and rows
// that do not pass are left to the trips.
//
// In scope: points of scalar weight, all joints but those with coupled terms, no gains.

// A turn of a joint that a step is cut at; damping that is let go, at least given, too much; with which a row may
// end, and that all steps have. It is a share of the largest diagonal for all turns alike: what the tasks hardly see
// then moves least, and stays in its valley.
#define QUICK_REACH  0.7
#define QUICK_NONE   1e-8
#define QUICK_SOME   1e-6
#define QUICK_MOST   1e4
#define QUICK_LITTLE 1e-5
#define QUICK_LEAST  1e-7
// A coordinate so near to a limit is at it.
#define QUICK_AT     1e-5
// A float so near to a limit is meant to be at it.
#define QUICK_BESIDE 3e-7
// A diagonal below this share of the whole is seen by no task.
#define QUICK_BLIND  1e-8
// Pivots below this share of the diagonal are raised to that one; less for rows that are done again, which are to
// leave saddles with exact steps from the first on.
#define QUICK_PIVOT   1e-6
#define QUICK_RAISED  1e-2
#define QUICK_RAISED2 1e-4

#ifdef SN_FLOAT
#define NEAR(n) W(near)[n]
#else
#define NEAR(n) splat(0)
#endif

// What a sweep found at a pose.
typedef struct SWEEP {
    REAL f;       // there
    REAL fall;    // by which the model says a step lowers it
    REAL whole;   // what f would be with errors as large as the figure
    REAL most;    // the largest diagonal of turns
    REAL worst;   // square of the gradient over the diagonal, the largest of those that may move
    int bad;      // pivots that were not positive
} SWEEP;

// Sums of points: N (9), F (3), W, P (3), M (6), as core.h has them. Twice f of a point at p, which is spent where its
// goal is missing.
FN REAL add_point(ARGS, int i, REAL *p, REAL *sum) {
    REAL r[3], F[3], w, bent;
    const REAL twice = pull_point(PASS, 0, i, p, r, &w, &bent);
    UNROLL for (int n = 0; n < 3; n++) F[n] = w * r[n];
    add_force(sum, F, p, 1);
    sum[12] = sum[12] + w;
    const REAL x = w * p[0], y = w * p[1], z = w * p[2];
    sum[13] = sum[13] + x, sum[14] = sum[14] + y, sum[15] = sum[15] + z;
    sum[16] = sum[16] + x * p[0], sum[17] = sum[17] + y * p[1], sum[18] = sum[18] + z * p[2];
    sum[19] = sum[19] + x * p[1], sum[20] = sum[20] + x * p[2], sum[21] = sum[21] + y * p[2];
    return twice;
}

// The matrix K of sums.
typedef struct FIELD {
    REAL M[9], G[3], P[3], W, e;
    REAL rest[3];  // trace M - M_ii
} FIELD;

FN void load_field(const REAL *sum, REAL e, FIELD *f) {
    f->e = e;
    f->W = sum[12];
    UNROLL for (int i = 0; i < 3; i++) {
        f->P[i] = sum[13 + i];
        f->G[i] = sum[13 + i] + e * sum[9 + i];
    }
    f->M[0] = sum[16] + e * sum[0], f->M[4] = sum[17] + e * sum[4], f->M[8] = sum[18] + e * sum[8];
    f->M[1] = sum[19] + e * sum[1], f->M[3] = sum[19] + e * sum[3];
    f->M[2] = sum[20] + e * sum[2], f->M[6] = sum[20] + e * sum[6];
    f->M[5] = sum[21] + e * sum[5], f->M[7] = sum[21] + e * sum[7];
    const REAL trace = f->M[0] + f->M[4] + f->M[8];
    UNROLL for (int i = 0; i < 3; i++) f->rest[i] = trace - f->M[4 * i];
}

// y = K S
FN void field_times(const FIELD *f, const REAL *S, REAL *y) {
    const REAL *M = f->M, *G = f->G, *P = f->P, *a = S, *b = S + 3;
    y[0] = f->rest[0] * a[0] - M[1] * a[1] - M[2] * a[2] + (G[1] * b[2] - G[2] * b[1]);
    y[1] = f->rest[1] * a[1] - M[3] * a[0] - M[5] * a[2] + (G[2] * b[0] - G[0] * b[2]);
    y[2] = f->rest[2] * a[2] - M[6] * a[0] - M[7] * a[1] + (G[0] * b[1] - G[1] * b[0]);
    y[3] = a[1] * P[2] - a[2] * P[1] + f->W * b[0];
    y[4] = a[2] * P[0] - a[0] * P[2] + f->W * b[1];
    y[5] = a[0] * P[1] - a[1] * P[0] + f->W * b[2];
}

// The diagonal of the Gauss-Newton matrix along S = (a, b): a . (tr M - M) a + 2 a . (P x b) + W b . b
FN REAL seen_from(const REAL *sum, const REAL *S) {
    const REAL *a = S, *b = S + 3;
    REAL Ma[3], pb[3];
    Ma[0] = sum[16] * a[0] + sum[19] * a[1] + sum[20] * a[2];
    Ma[1] = sum[19] * a[0] + sum[17] * a[1] + sum[21] * a[2];
    Ma[2] = sum[20] * a[0] + sum[21] * a[1] + sum[18] * a[2];
    cross3(sum + 13, b, pb);
    const REAL trace = sum[16] + sum[17] + sum[18];
    return (trace * dot3(a, a) - dot3(a, Ma)) + 2.0 * dot3(a, pb) + sum[12] * dot3(b, b);
}

// Frames and twists at x, measured from the root joint's place; where the points are.
PART void quick_place(ARGS) {
    REAL Rp[12];
    for (int k = 0; k < N(nj); k++) {
        const int up = T(parent)[k];
        if (up < 0) {
            UNROLL for (int i = 0; i < 9; i++) Rp[i] = splat(T(offset)[12 * k + i]);
            UNROLL for (int i = 0; i < 3; i++) Rp[9 + i] = splat(0);
        } else {
            if (up != k - 1) {
                const REAL *F = W(frame) + 12 * T(fork)[up];
                UNROLL for (int i = 0; i < 12; i++) Rp[i] = F[i];
            }
            UNROLL for (int i = 0; i < 3; i++) Rp[9 + i] =
                Rp[9 + i] + (Rp[i] * T(offset)[12 * k + 9] + Rp[3 + i] * T(offset)[12 * k + 10] +
                             Rp[6 + i] * T(offset)[12 * k + 11]);
            if (T(turned)[k]) {
                UNROLL for (int i = 0; i < 3; i++) {
                    const REAL x = Rp[i], y = Rp[3 + i], z = Rp[6 + i];
                    UNROLL for (int n = 0; n < 3; n++) Rp[3 * n + i] =
                        x * T(offset)[12 * k + 3 * n] + y * T(offset)[12 * k + 3 * n + 1] +
                        z * T(offset)[12 * k + 3 * n + 2];
                }
            }
        }
        place_joint(PASS, k, Rp, Rp + 9);
        if (up < 0) {
            for (int i = 0; i < T(jnv)[k]; i++) {
                REAL *S = W(S) + 6 * i, shift[3];
                cross3(Rp + 9, S, shift);
                UNROLL for (int n = 0; n < 3; n++) S[3 + n] = S[3 + n] - shift[n];
            }
            UNROLL for (int n = 0; n < 3; n++) {
                W(lane)[SN_LANE_ORIGIN + n] = (Rp[9 + n] + T(offset)[9 + n]) - NEAR(n);
                Rp[9 + n] = splat(0);
            }
        }
        if (T(fork)[k] >= 0) {
            REAL *F = W(frame) + 12 * T(fork)[k];
            UNROLL for (int i = 0; i < 12; i++) F[i] = Rp[i];
        }
        for (int i = T(point_first)[k]; i < T(point_first)[k + 1]; i++) {
            REAL p[3];
            place_point(PASS, i, Rp, p);
            UNROLL for (int n = 0; n < 3; n++) W(spot)[3 * i + n] = p[n];
        }
    }
}

// The turn from what a quaternion is pulled to.
FN void quick_apart(ARGS, int at, REAL *out) {
    REAL back[4], turn[4];
    UNROLL for (int n = 0; n < 4; n++) back[n] = n == 0 ? W(anchor)[at] : -W(anchor)[at + n];
    quat_product(W(x) + at, back, turn);
    const REAL norm =
        1.0 / root((turn[0] * turn[0] + turn[1] * turn[1]) + (turn[2] * turn[2] + turn[3] * turn[3]));
    UNROLL for (int n = 0; n < 4; n++) turn[n] = norm * turn[n];
    quat_log(turn, out);
}

// From the leaves to the root: sums, gradient, factor of H (e = 1) or Gauss-Newton's matrix (e = 0) with damping,
// and x = D^-1 L^-T of the gradient. A pivot that is not positive is taken by its size.
// @param lambda  times the diagonal, @param add  to it
// @param noise   diagonals that nothing sees, @param pivot  the least, as a share of the diagonal, @param pulled  to
// the anchor, @param least   diagonal that damping goes by
// @param raised  share of the diagonal that pivots which are not positive have at least
// @param looking  1: no step will be asked for, and nothing is kept for one
PART void quick_sweep(ARGS, const REAL e, const REAL lambda, const REAL add, const REAL noise,
                      const REAL pivot, const int pulled, const REAL least, const REAL raised,
                      const int looking, SWEEP *out) {
    REAL sum[22], Q[21], push[6], twice = splat(0);
    UNROLL for (int i = 0; i < 22; i++) sum[i] = splat(0);
    UNROLL for (int i = 0; i < 21; i++) Q[i] = splat(0);
    UNROLL for (int i = 0; i < 6; i++) push[i] = splat(0);
    out->fall = out->most = out->worst = splat(0);
    out->bad = 0;
    // twists are asked for a turn before they are needed
    REAL ahead[6];
    UNROLL for (int n = 0; n < 6; n++) ahead[n] = W(S)[6 * (N(nv) - 1) + n];
    for (int k = N(nj) - 1; k >= 0; k--) {
        const int first = T(slot)[k], m = T(jnv)[k], up = T(parent)[k];
        if (T(fork)[k] >= 0) {
            const REAL *more = W(hung) + 49 * T(fork)[k];
            UNROLL for (int i = 0; i < 22; i++) sum[i] = sum[i] + more[i];
            UNROLL for (int i = 0; i < 21; i++) Q[i] = Q[i] + more[22 + i];
            UNROLL for (int i = 0; i < 6; i++) push[i] = push[i] + more[43 + i];
        }
        for (int i = T(point_first)[k]; i < T(point_first)[k + 1]; i++) {
            REAL p[3];
            UNROLL for (int n = 0; n < 3; n++) p[n] = W(spot)[3 * i + n];
            twice = twice + add_point(PASS, i, p, sum);
        }
        if (m > 0) {
            REAL phi[6];
            FIELD field;
            wrench_of(sum, phi);
            load_field(sum, e, &field);
            REAL turned[3];
            if (N(pulled) && pulled && T(quat)[k] >= 0) quick_apart(PASS, T(q0)[k] + m - 3, turned);
            for (int i = first + m - 1; i >= first; i--) {
                REAL S[6], y[6];
                UNROLL for (int n = 0; n < 6; n++) {
                    S[n] = ahead[n];
                    ahead[n] = W(S)[6 * (i > 0 ? i - 1 : 0) + n];
                }
                field_times(&field, S, y);
                const int at = T(q_of)[i];
                REAL g = -dot6(S, phi), seen = seen_from(sum, S), own_h = splat(0);
                if (N(pulled) && pulled) {
                    const REAL off = at >= 0 ? W(x)[at] - W(anchor)[at] : turned[i - first - (m - 3)];
                    own_h = splat(T(pull)[i]);
                    g = g + own_h * off;
                    seen = seen + own_h;
                    twice = twice + own_h * off * off;
                }
                take_symmetric(Q, S, y);
                REAL d = dot6(S, y) + (own_h + lambda * (T(length)[i] ? seen : larger_of(seen, least)) + add);
                int still = !(seen > noise) || (W(stuck)[i / 32] >> i % 32 & 1u) != 0;
                if (N(limited) && at >= 0) {
                    const REAL x = W(x)[at];
                    still |= (x <= T(low)[i] && g > 0) || (x >= T(high)[i] && g < 0);
                }
                if (!T(length)[i]) out->most = largest(out->most, seen);
                if (!still) {
                    out->worst = largest(out->worst, g * g / seen);
                    if (!(d > pivot * seen)) {
                        out->bad++;
                        d = largest(-d, raised * seen);
                    }
                }
                const REAL inverse = still ? splat(0) : 1.0 / d;
                const REAL pull = -g - dot6(S, push), own = inverse * pull;
                out->fall = out->fall + own * pull;
                if (!looking) {
                    W(inverse)[i] = inverse;
                    W(step)[i] = own;
                    UNROLL for (int n = 0; n < 6; n++) W(Y)[6 * i + n] = y[n];
                }
                UNROLL for (int n = 0; n < 6; n++) push[n] = push[n] + own * y[n];
                add_square(Q, y, inverse);
            }
        }
        if (up >= 0 && up != k - 1) {
            REAL *more = W(hung) + 49 * T(fork)[up];
            UNROLL for (int i = 0; i < 22; i++) {
                more[i] = (T(last)[k] ? splat(0) : more[i]) + sum[i];
                sum[i] = splat(0);
            }
            UNROLL for (int i = 0; i < 21; i++) {
                more[22 + i] = (T(last)[k] ? splat(0) : more[22 + i]) + Q[i];
                Q[i] = splat(0);
            }
            UNROLL for (int i = 0; i < 6; i++) {
                more[43 + i] = (T(last)[k] ? splat(0) : more[43 + i]) + push[i];
                push[i] = splat(0);
            }
        }
    }
    out->f = 0.5 * twice;
    out->fall = 0.5 * out->fall;
    out->whole = 2.0 * (sum[16] + sum[17] + sum[18]) + 3.0 * sum[12];
}

// How a solve went.
typedef struct SOLVE {
    REAL turn, turn2;  // the largest of a joint, as it came out and inside the limits
    REAL inside;       // share of the step at which the first coordinate gets to a limit
    REAL A, B;         // t of what keeps inside lowers the model by t A - t^2 B / 2
    int stuck;         // coordinates at a limit that the step pushes against and the gradient did not
} SOLVE;

// The rest of the solve, from the root to the leaves, twice at once: as it comes out, into `step`, and into `kept`
// with every coordinate that would pass a limit stopped there, so that those behind it make the best of that. With
// x_i what a pivot p_i wanted before those above it moved and u_i what it got, A = sum p u x and B = sum p u^2.
PART void quick_solve(ARGS, SOLVE *out) {
    REAL V[6], Z[6];
    UNROLL for (int i = 0; i < 6; i++) V[i] = Z[i] = splat(0);
    out->turn = out->turn2 = out->A = out->B = splat(0);
    out->inside = splat(1);
    out->stuck = 0;
    REAL next_y[6], next_S[6];
    UNROLL for (int n = 0; n < 6; n++) next_y[n] = W(Y)[n], next_S[n] = W(S)[n];
    for (int k = 0; k < N(nj); k++) {
        const int first = T(slot)[k], up = T(parent)[k];
        if (up >= 0 && up != k - 1) {
            const REAL *from = W(hung) + 49 * T(fork)[up];
            UNROLL for (int i = 0; i < 6; i++) V[i] = from[i], Z[i] = from[6 + i];
        }
        for (int i = first; i < first + T(jnv)[k]; i++) {
            REAL y[6], S[6];
            const int then = i + 1 < N(nv) ? i + 1 : i;
            UNROLL for (int n = 0; n < 6; n++) {
                y[n] = next_y[n], S[n] = next_S[n];
                next_y[n] = W(Y)[6 * then + n], next_S[n] = W(S)[6 * then + n];
            }
            const int at = T(q_of)[i];
            const REAL inverse = W(inverse)[i], wanted = W(step)[i];
            const REAL own = wanted - inverse * dot6(y, V), drawn = inverse * dot6(y, Z);
            REAL kept = wanted - drawn;
            if (N(limited) && at >= 0 && inverse > 0) {
                const REAL x = W(q)[at], low = T(low)[i] - x, high = T(high)[i] - x;
                const REAL room_left = own < 0 ? -low : high;
                if (size_of(own) > room_left) {
                    if (room_left < QUICK_AT) {
                        W(stuck)[i / 32] |= 1u << i % 32;
                        out->stuck++;
                    }
                    out->inside = smaller_of(out->inside, room_left / size_of(own));
                }
                kept = kept < low ? low : kept > high ? high : kept;
            }
            if (inverse > 0) {
                const REAL got = kept + drawn, pu = got / inverse;
                out->A = out->A + pu * wanted;
                out->B = out->B + pu * got;
            }
            W(step)[i] = own;
            W(kept)[i] = kept;
            if (!T(length)[i]) {
                out->turn = largest(out->turn, size_of(own));
                out->turn2 = largest(out->turn2, size_of(kept));
            }
            UNROLL for (int n = 0; n < 6; n++) V[n] = V[n] + own * S[n], Z[n] = Z[n] + kept * S[n];
        }
        if (T(fork)[k] >= 0) {
            REAL *to = W(hung) + 49 * T(fork)[k];
            UNROLL for (int i = 0; i < 6; i++) to[i] = V[i], to[6 + i] = Z[i];
        }
    }
}

// x = q moved by a share of a step.
PART void quick_move(ARGS, const REAL *step, REAL share) {
    for (int k = 0; k < N(nj); k++) {
        const int first = T(slot)[k], at = T(q0)[k], m = T(jnv)[k];
        const int plain = T(quat)[k] < 0 ? m : m - 3;
        for (int a = 0; a < plain; a++) {
            const REAL x = W(q)[at + a] + share * step[first + a];
            const REAL low = splat(T(low)[first + a]), high = splat(T(high)[first + a]);
            W(x)[at + a] = x < low ? low : x > high ? high : x;
        }
        if (T(quat)[k] < 0) continue;
        REAL turn[4], r[4], s, c;
        UNROLL for (int a = 0; a < 4; a++) r[a] = W(q)[at + plain + a];
        UNROLL for (int a = 2; a >= 0; a--) {
            sine_cosine(0.5 * share * step[first + plain + a], &s, &c);
            turn[0] = c;
            UNROLL for (int n = 0; n < 3; n++) turn[1 + n] = n == a ? s : splat(0);
            quat_product(turn, r, r);
        }
        const REAL norm =
            1.0 / root((r[0] * r[0] + r[1] * r[1]) + (r[2] * r[2] + r[3] * r[3]));
        UNROLL for (int a = 0; a < 4; a++) W(x)[at + plain + a] = norm * r[a];
    }
}

// Where the motion of the last two frames goes on: x from q and the pose before it.
static void quick_go_on(work *room, __global const double *before) {
    for (int k = 0; k < N(nj); k++) {
        const int at = T(q0)[k], m = T(jnv)[k], first = T(slot)[k];
        const int plain = T(quat)[k] < 0 ? m : m - 3;
        for (int a = 0; a < plain; a++) {
            REAL x = 2 * room->q[at + a] - (REAL)before[at + a];
            const REAL low = T(low)[first + a], high = T(high)[first + a];
            room->x[at + a] = x < low ? low : x > high ? high : x;
        }
        if (T(quat)[k] < 0) continue;
        REAL back[4], turn[4], q[4];
        for (int a = 0; a < 4; a++) {
            q[a] = room->q[at + plain + a];
            back[a] = (a == 0 ? 1 : -1) * (REAL)before[at + plain + a];
        }
        quat_product(q, back, turn);
        quat_product(turn, q, turn);
        const REAL norm =
            sqrt((turn[0] * turn[0] + turn[1] * turn[1]) + (turn[2] * turn[2] + turn[3] * turn[3]));
        for (int a = 0; a < 4; a++) room->x[at + plain + a] = turn[a] / norm;
    }
}

// A number of the first goal that is there, or 0.
static REAL quick_first_goal(work *room, int n) {
    for (int i = 0; i < N(npoint); i++) {
        const REAL x = (REAL)room->row[T(point_goal)[i] + n];
        if (x == x) return x;
    }
    return 0;
}

// What ended at a limit where it did not begin: x from where the frame began, with such coordinates as far to the
// other side. False where there are none.
static int quick_turn_back(work *room, __global const double *begin) {
    int any = 0;
    for (int i = 0; i < N(nv); i++) {
        const int k = T(q_of)[i];
        if (k < 0) continue;
        const REAL x = room->x[k], low = T(low)[i], high = T(high)[i], from = (REAL)begin[k];
        any |= (x <= low && from > low) || (x >= high && from < high);
    }
    if (!any) return 0;
    for (int i = 0; i < N(nq); i++) room->x[i] = (REAL)begin[i];
    for (int i = 0; i < N(nv); i++) {
        const int k = T(q_of)[i];
        if (k < 0) continue;
        const REAL x = room->q[k], low = T(low)[i], high = T(high)[i], from = (REAL)begin[k];
        if ((x <= low && from > low) || (x >= high && from < high)) {
            const REAL back = from - (x - from);
            room->x[k] = back < low ? low : back > high ? high : back;
        }
    }
    return 1;
}

static int any_stuck(const work *room) {
    uint any = 0;
    for (int i = 0; i <= N(nv) / 32; i++) any |= room->stuck[i];
    return any != 0;
}

static void leave_stuck(work *room) {
    for (int i = 0; i <= N(nv) / 32; i++) room->stuck[i] = 0;
}

// @param goals   nchain x nframe rows
// @param starts  nchain poses
// @param poses   nchain x nframe
// @param stats   four for each row: SN_END_ODD (nothing is verified), f, what f would be, iterations
// @param next    counters (lists.h)
// @param most    sweeps after which a row is given up
// @param share   of f that a row ends at when no step would win more
// @param listed  1: only the rows of a list, each on its own from its pose on, into `fixed`
// @param from    frames of the chains before these, @param heads  the last two poses of each chain then
__kernel void sn_batch_quick(__global const double *goals, __global const double *starts,
                             __global double *poses, __global double *stats, const int nchain,
                             const int nframe, const int extrapolate, __global int *next,
                             const int most, const REAL share, const int listed,
                             __global const int *list, __global double *fixed, const int from,
                             __global const double *heads) {
    work mine;
    work *room = &mine;
    SWEEP at;
    const int count = listed ? next[SN_NEXT_COUNT] : nchain;
    __global int *turns = next + (listed ? SN_NEXT_ROW : SN_NEXT_CHAIN);
    int turn = atomic_inc(turns), frame = 0, fresh = 1, sweeps = 0, again = 0, released = 0, looks = 0;
    REAL seen = 0, best = 0, lambda = 0, e = 0, promise = 0, noise = 0, whole = 0, growth = 4, failed = 0;
    REAL first = 0;
    // one way back to the head of the loop: there threads that go side by side meet again
    while (turn < count) {
        const size_t row = listed ? (size_t)list[turn] : (size_t)turn * nframe + frame;
        const int chain = listed ? (int)row / nframe : turn, in_piece = listed ? (int)row % nframe : frame;
        const int pulled = from + in_piece > 0;
        __global const double *before = pulled ? pose_back(poses, heads, chain, in_piece, nframe, 1)
                                               : starts + (size_t)chain * N(nq);
        if (fresh) {
            const int begins = listed || frame == 0;
            room->row = goals + row * N(ngoal);
            if (begins && looks == 0) {
                __global const double *begin = listed ? poses + row * N(nq) : before;
                for (int i = 0; i < N(nq); i++) room->q[i] = room->x[i] = (REAL)begin[i];
                if (!listed && from > 1 && extrapolate)
                    quick_go_on(room, pose_back(poses, heads, chain, 0, nframe, 2));
                // nothing of the chain before
                seen = noise = 0;
                for (int i = 0; i < N(npoint); i++) noise = noise + 3 * QUICK_BLIND * T(point_weight)[i];
            }
            for (int i = 0; i < N(nq); i++) room->q[i] = room->x[i];
            for (int i = 0; i < N(nq) && N(pulled) && pulled; i++) room->anchor[i] = (REAL)before[i];
#ifdef SN_FLOAT
            for (int n = 0; n < 3; n++) {
                // the origin of the last frame, at first a goal: any place will do
                const REAL origin =
                    begins ? quick_first_goal(room, n) : room->near[n] + room->lane[SN_LANE_ORIGIN + n];
                room->near[n] = fabs(origin) < (REAL)1e6 ? origin : 0;
                room->lane[SN_LANE_ORIGIN + n] = 0;
            }
            for (int i = 0; i < N(npoint); i++)
                for (int n = 0; n < 3; n++)
                    room->aim[T(point_goal)[i] + n] =
                        (REAL)(room->row[T(point_goal)[i] + n] - (double)room->near[n]);
#endif
            leave_stuck(room);
            fresh = sweeps = again = released = 0;
            e = listed;
            lambda = 0;
            promise = failed = 0;
            growth = 4;
            best = MOST_REAL;
        }
        quick_place(room);
        quick_sweep(room, e, lambda + QUICK_LEAST, 0, noise, QUICK_PIVOT, pulled, seen,
                    listed ? QUICK_RAISED2 : QUICK_RAISED, 0, &at);
        seen = at.most;
        noise = QUICK_BLIND * at.whole;
        sweeps++;
        const int better = again || at.f < best;
        int end = 0;
        if (!better) {
            // back, with more damping
            failed = lambda;
            lambda = larger_of(growth * lambda, QUICK_SOME);
            growth = 2 * growth;
            again = 1;
            end = lambda > QUICK_MOST || at.f <= best * (1 + 4 * END_OF_F);
        } else {
            if (!again) {
                const REAL fall = best - at.f;
                if (best < MOST_REAL) {
                    if (fall > 0.75 * promise) {
                        const REAL less = lambda < QUICK_NONE ? 0 : 0.1 * lambda;
                        lambda = larger_of(less, smaller_of(lambda, sqrt(failed * lambda)));
                        failed = 0.5 * failed;
                    } else if (fall < 0.25 * promise) {
                        lambda = larger_of(2 * lambda, QUICK_SOME);
                    }
                    e = listed || (fall < 0.2 * best && at.bad == 0) ? 1 : 0;
                    growth = 4;
                }
                best = at.f;
                whole = at.whole;
                for (int i = 0; i < N(nq); i++) room->q[i] = room->x[i];
            }
            again = 0;
        }
        const int full = sweeps >= most || end;
        const int small = at.fall <= share * at.f && at.bad == 0 && lambda <= QUICK_LITTLE;
        if (!again && !full && small && !released && any_stuck(room)) {
            // nothing more to win: what was stuck may be free again
            leave_stuck(room);
            released = again = 1;
        }
        if (again || full) {
            for (int i = 0; i < N(nq); i++) room->x[i] = room->q[i];
        } else {
            SOLVE by;
            quick_solve(room, &by);
            again = by.stuck > 0 && !(small && released);
            const REAL free = by.inside * (2 - by.inside) * at.fall;
            const int clipped = by.inside < 1 && by.A - 0.5 * by.B > free;
            const REAL angle = clipped ? by.turn2 : by.turn * by.inside;
            REAL cut = angle > QUICK_REACH ? QUICK_REACH / angle : 1;
            if (!clipped) cut = cut * by.inside;
            if (!again) {
                promise = clipped ? cut * (by.A - 0.5 * cut * by.B) : cut * (2 - cut) * at.fall;
                quick_move(room, clipped ? room->kept : room->step, cut);
                end = small;
                released = 0;
            }
        }
        if (end || full) {
            __global double *out = listed ? fixed + (size_t)turn * N(nq) : poses + row * N(nq);
            if (looks > 0 && !(best < first)) {
                // the first valley is the deeper one
                best = first;
                for (int i = 0; i < N(nq); i++) room->x[i] = (REAL)out[i];
            }
            for (int i = 0; i < N(nq); i++) {
                out[i] = room->x[i];
                room->q[i] = room->x[i];
            }
            // where a float is beside a limit the limit itself is meant
            for (int i = 0; i < N(nv) && N(limited); i++) {
                const int k = T(q_of)[i];
                if (k < 0) continue;
                const double x = room->x[k], low = as_double(EXACT_low[i]), high = as_double(EXACT_high[i]);
                if (x <= low + QUICK_BESIDE * (1 + fabs(low))) out[k] = low;
                if (x >= high - QUICK_BESIDE * (1 + fabs(high))) out[k] = high;
            }
            stats[4 * row] = SN_END_ODD;
            stats[4 * row + 1] = best;
            stats[4 * row + 2] = whole;
            stats[4 * row + 3] = sweeps + (listed || looks > 0 ? stats[4 * row + 3] : 0);
            fresh = 1;
            first = best;
            looks = N(limited) && !listed && looks == 0 && quick_turn_back(room, before);
            if (looks == 0) {
                if (listed || ++frame >= nframe) {
                    turn = atomic_inc(turns);
                    frame = 0;
                } else if (from + frame > 1 && extrapolate) {
                    quick_go_on(room, pose_back(poses, heads, chain, frame, nframe, 2));
                }
            }
        }
    }
}

#ifndef SN_FLOAT
// Look at poses in doubles: f, the relative gradient, and whether f bends upwards. Rows that are stationary to the
// tolerance are verified; the others go into a list.
// @param nrow       all of them; 0: those of `from`, and what is left goes to `to`, its second
// @param frames     of a chain
// @param tolerance  of the relative gradient, @param goal  f at or below which a row needs nothing more,
// @param by_whole   1: that is a share of what f would be
// @param before     frames of the chains before these, @param heads  the last two poses of each chain then
__kernel void sn_batch_verify(__global const double *goals, __global const double *poses,
                              __global double *stats, const int nrow, const int frames,
                              const REAL tolerance, const REAL goal, const int by_whole,
                              __global int *next, __global const int *from, __global int *to,
                              const int before, __global const double *heads) {
    work mine;
    work *room = &mine;
    SWEEP at;
    const int count = nrow > 0 ? nrow : next[SN_NEXT_COUNT];
    leave_stuck(room);
    for (int turn = (int)get_global_id(0); turn < count; turn += (int)get_global_size(0)) {
        const int row = nrow > 0 ? turn : from[turn];
        __global double *stat = stats + 4 * (size_t)row;
        const REAL f = stat[1], whole = stat[2], noise = ROUNDING * whole;
        room->row = goals + (size_t)row * N(ngoal);
        for (int i = 0; i < N(nq); i++) room->x[i] = (REAL)poses[(size_t)row * N(nq) + i];
        const int pulled = before + row % frames > 0;
        __global const double *last = pose_back(poses, heads, row / frames, row % frames, frames, 1);
        for (int i = 0; i < N(nq) && N(pulled) && pulled; i++) room->anchor[i] = (REAL)last[i];
        quick_place(room);
        // f must bend upwards, but for a little of what the tolerance leaves open: rows that end beside a saddle are
        // left to the trips
        const REAL add = larger_of(100 * noise, 0.01 * tolerance * sqrt(2 * f * whole));
        quick_sweep(room, 1, 1e-8, add, noise, 0, pulled, 0, 0, 1, &at);
        const REAL gradient = at.f > 0 ? sqrt(at.worst / (2 * at.f)) : 0;
        const int met = at.f <= (by_whole ? goal * at.whole : goal);
        const int still = gradient <= tolerance && at.bad == 0;
        stat[1] = at.f;
        stat[2] = met ? -1 : gradient;
        if (met || still)
            stat[0] = met ? SN_END_GOAL : SN_END_MINIMUM;
        else
            to[atomic_inc(next + (nrow > 0 ? SN_NEXT_COUNT : SN_NEXT_COUNT2))] = row;
    }
}
#endif
