// SPDX-License-Identifier: MIT
// The sweep of core.h from the root to the leaves: frames and twists.

FN void place_joint(PART_ARGS, int k, REAL *R, REAL *p) {
    HERE;
    const int i = T(slot)[k], at = T(q0)[k];
    const REAL *q = W(x) + at;
    REAL a[3], s, c;
#define AXIS(n)                                                                                    \
    T(axis)[12 * k + 3 * (n)], T(axis)[12 * k + 3 * (n) + 1], T(axis)[12 * k + 3 * (n) + 2]
#define LANE_AXIS(n)                                                                               \
    splat(T(axis)[12 * k + 3 * (n)]), splat(T(axis)[12 * k + 3 * (n) + 1]),                        \
        splat(T(axis)[12 * k + 3 * (n) + 2])
    switch (T(type)[k]) {
    case SN_BATCH_HINGE:
        sine_cosine(q[0], &s, &c);
        turn_about(T(order)[3 * k], AXIS(0), s, c, R, a);
        put_turn(W(S) + 6 * i, a, p);
        break;
    case SN_BATCH_SLIDER:
        turn3(R, LANE_AXIS(0), a);
        put_slide(W(S) + 6 * i, a);
        UNROLL for (int n = 0; n < 3; n++) p[n] = p[n] + q[0] * a[n];
        break;
    case SN_BATCH_SCREW: {
        sine_cosine(q[0], &s, &c);
        turn_about(T(order)[3 * k], AXIS(0), s, c, R, a);
        put_turn(W(S) + 6 * i, a, p);
        const REAL slide = T(pitch)[k] * q[0];
        REAL *S = W(S) + 6 * i;
        UNROLL for (int n = 0; n < 3; n++) {
            S[3 + n] = S[3 + n] + T(pitch)[k] * a[n];
            p[n] = p[n] + slide * a[n];
        }
        break;
    }
    case SN_BATCH_UNIVERSAL:
        sine_cosine(q[0], &s, &c);
        turn_about(T(order)[3 * k], AXIS(0), s, c, R, a);
        put_turn(W(S) + 6 * i, a, p);
        sine_cosine(q[1], &s, &c);
        turn_about(T(order)[3 * k + 1], AXIS(1), s, c, R, a);
        put_turn(W(S) + 6 * (i + 1), a, p);
        break;
    case SN_BATCH_EULER:
        UNROLL for (int n = 0; n < 3; n++) {
            sine_cosine(q[n], &s, &c);
            turn_about(T(order)[3 * k + n], AXIS(0), s, c, R, a);
            put_turn(W(S) + 6 * (i + n), a, p);
        }
        break;
    case SN_BATCH_BALL:
    case SN_BATCH_FREE: {
        const int first = T(type)[k] == SN_BATCH_FREE ? 3 : 0;
        REAL turn[9], base[9];
        UNROLL for (int n = 0; n < 9; n++) base[n] = R[n];
        if (first > 0) {
            UNROLL for (int n = 0; n < 3; n++) put_slide(W(S) + 6 * (i + n), base + 3 * n);
            turn3(base, q[0], q[1], q[2], a);
            UNROLL for (int n = 0; n < 3; n++) p[n] = p[n] + a[n];
        }
        UNROLL for (int n = 0; n < 3; n++) put_turn(W(S) + 6 * (i + first + n), base + 3 * n, p);
        quat_rotation(q + first, turn);
        product3(base, turn, R);
        break;
    }
    case SN_BATCH_EXPMAP:
    case SN_BATCH_SWING_TWIST: {
        const int swing = T(type)[k] == SN_BATCH_SWING_TWIST;
        REAL w[3], e[5], turn[9], base[9], axis[3], J[3];
        UNROLL for (int n = 0; n < 9; n++) base[n] = R[n];
        UNROLL for (int n = 0; n < 3; n++) w[n] =
            pick(swing, q[0] * T(axis)[12 * k + 6 + n] + q[1] * T(axis)[12 * k + 9 + n], q[n]);
        expmap_at(dot3(w, w), e);
        expmap_rotation(e, w, turn);
        for (int n = 0; n < (swing ? 2 : 3); n++) {
            UNROLL for (int m = 0; m < 3; m++) axis[m] =
                splat(swing    ? T(axis)[12 * k + 6 + 3 * n + m]
                      : m == n ? 1.0
                               : 0.0);
            expmap_jacobian(e, w, axis, J);
            turn3(base, J[0], J[1], J[2], a);
            put_turn(W(S) + 6 * (i + n), a, p);
        }
        product3(base, turn, R);
        if (swing) {
            sine_cosine(q[2], &s, &c);
            turn_about(T(order)[3 * k], AXIS(0), s, c, R, a);
            put_turn(W(S) + 6 * (i + 2), a, p);
        }
        break;
    }
    case SN_BATCH_PLANAR:
        for (int n = 0; n < 2; n++) {
            turn3(R, LANE_AXIS(2 + n), a);
            put_slide(W(S) + 6 * (i + n), a);
        }
        UNROLL for (int n = 0; n < 3; n++) p[n] =
            p[n] + (q[0] * W(S)[6 * i + 3 + n] + q[1] * W(S)[6 * i + 9 + n]);
        sine_cosine(q[2], &s, &c);
        turn_about(T(order)[3 * k], AXIS(0), s, c, R, a);
        put_turn(W(S) + 6 * (i + 2), a, p);
        break;
    case SN_BATCH_TRANSLATION:
        UNROLL for (int n = 0; n < 3; n++) put_slide(W(S) + 6 * (i + n), R + 3 * n);
        turn3(R, q[0], q[1], q[2], a);
        UNROLL for (int n = 0; n < 3; n++) p[n] = p[n] + a[n];
        break;
#ifndef SN_QUICK
    case SN_BATCH_DRIVEN:
        if (N(nmove) > 0) {
            // a part writes to memory: R and p stay in registers for all the others
            REAL turned[9], moved[3];
            UNROLL for (int n = 0; n < 9; n++) turned[n] = R[n];
            UNROLL for (int n = 0; n < 3; n++) moved[n] = p[n];
            place_driven(PASS_ON, k, turned, moved);
            UNROLL for (int n = 0; n < 9; n++) R[n] = turned[n];
            UNROLL for (int n = 0; n < 3; n++) p[n] = moved[n];
        }
        break;
#endif
    default:
        break;
    }
#undef AXIS
#undef LANE_AXIS
}

// A twist about the origin as one about p.
FN void shift_twist(const REAL *p, REAL *S) {
    REAL shift[3];
    cross3(p, S, shift);
    UNROLL for (int n = 0; n < 3; n++) S[3 + n] = S[3 + n] - shift[n];
}

// All joints at the pose x, measured from the root joint's place.
PART void place(PART_ARGS) {
    HERE;
    for (int k = 0; k < N(nj); k++) {
        const int up = T(parent)[k];
        REAL R[9], p[3];
        if (up < 0) {
            UNROLL for (int i = 0; i < 9; i++) R[i] = splat(T(offset)[12 * k + i]);
            UNROLL for (int i = 0; i < 3; i++) p[i] = splat(0);
        } else {
            const REAL *F = W(frame) + 12 * up;
            UNROLL for (int i = 0; i < 3; i++) p[i] =
                F[9 + i] + (F[i] * T(offset)[12 * k + 9] + F[3 + i] * T(offset)[12 * k + 10] +
                            F[6 + i] * T(offset)[12 * k + 11]);
            if (T(turned)[k]) {
                UNROLL for (int n = 0; n < 3; n++) UNROLL for (int i = 0; i < 3; i++) R[3 * n + i] =
                    F[i] * T(offset)[12 * k + 3 * n] + F[3 + i] * T(offset)[12 * k + 3 * n + 1] +
                    F[6 + i] * T(offset)[12 * k + 3 * n + 2];
            } else {
                UNROLL for (int i = 0; i < 9; i++) R[i] = F[i];
            }
        }
        place_joint(PASS_ON, k, R, p);
        if (up < 0) {
            for (int i = 0; i < T(jnv)[k]; i++) shift_twist(p, W(S) + 6 * i);
#ifndef SN_QUICK
            for (int i = 0; i < T(jnv)[k] * (T(jnv)[k] + 1) / 2 && T(type)[k] == SN_BATCH_DRIVEN;
                 i++)
                shift_twist(p, W(bend) + 6 * (T(bend0)[k] + i));
#endif
            UNROLL for (int n = 0; n < 3; n++) {
                W(lane)[SN_LANE_ORIGIN + n] = p[n] + T(offset)[9 + n];
                p[n] = splat(0);
            }
        }
        REAL *F = W(frame) + 12 * k;
        UNROLL for (int i = 0; i < 9; i++) F[i] = R[i];
        UNROLL for (int i = 0; i < 3; i++) F[9 + i] = p[i];
    }
    if (N(gained))
        for (int i = 0; i < N(nv); i++)
            UNROLL for (int n = 0; n < 6; n++) W(S)[6 * i + n] = T(gain)[i] * W(S)[6 * i + n];
}
