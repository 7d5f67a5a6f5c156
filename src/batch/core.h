// SPDX-License-Identifier: MIT
// The recursions of a problem over a REAL that is a double, several doubles side by side, or the number of
// a thread on a device. This file is C and OpenCL C 1.2 at once: no recursion, no pointers to functions.
// Nothing here branches on numbers but to leave out what no lane needs, so that one lane and eight do the
// same operations and have the same bits.
//
// The includer defines REAL, BITS (masks: all bits or none), FN (a static inline function), ARGS and PASS
// (the table and the lane's numbers as parameters), N(count), T(table), W(array), GOAL(k) and the functions
// splat, choose, ANY, LESS, EQUAL, root, largest, least, size_of, sine_cosine, log_one_plus.
//
// Sums. With F = w r the force on a point p, r = goal - p, a body's tasks are summed into
//
//   N = sum F p^T (9),  F = sum F (3),  W = sum w,  P = sum w p (3),  M = sum w p p^T (6)
//
// from which wrench, exact and Gauss-Newton matrices follow (fast.c of sweeps/ has w g p^T = M + N in one):
//
//   n = p x F from N - N^T = [n],   y = K S = ((tr M' I - M'^T) a + G x b ; a x P + W b)
//   M' = M + e N,  G = P + e F,     e = 1 exact, 0 Gauss-Newton
//
// so that a pose is summed once, before it is known which of the two its step will use. All other tasks
// on a body fit in: a direction d is a point of M and N alone, and an orientation with psi to go is
//
//   M = w/2 I,   N = w ([psi]/2 - c psi psi^T)
//
// Points with a 3 x 3 weight add B^T W B as a symmetric 6 x 6 matrix, losses theirs times e.

// By the model, not by numbers.
FN REAL pick(int first, REAL a, REAL b) {
    if (first) return a;
    return b;
}

FN REAL dot3(const REAL *a, const REAL *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

FN REAL dot6(const REAL *a, const REAL *b) {
    return (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) + (a[3] * b[3] + a[4] * b[4] + a[5] * b[5]);
}

FN void cross3(const REAL *a, const REAL *b, REAL *out) {
    const REAL x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
    out[0] = x;
    out[1] = y;
}

// out = R x, R by columns.
FN void turn3(const REAL *R, REAL x, REAL y, REAL z, REAL *out) {
    for (int i = 0; i < 3; i++) out[i] = R[i] * x + R[3 + i] * y + R[6 + i] * z;
}

// A B, both by columns.
FN void product3(const REAL *A, const REAL *B, REAL *out) {
    for (int c = 0; c < 3; c++) turn3(A, B[3 * c], B[3 * c + 1], B[3 * c + 2], out + 3 * c);
}

FN int packed(int i, int j) { return i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i; }

// y += s A x, A symmetric 6 x 6.
FN void add_symmetric(const REAL *A, REAL s, const REAL *x, REAL *y) {
    for (int i = 0; i < 6; i++) {
        REAL sum = A[packed(i, 0)] * x[0];
        for (int j = 1; j < 6; j++) sum = sum + A[packed(i, j)] * x[j];
        y[i] = y[i] + s * sum;
    }
}

// --- rotations ---------------------------------------------------------------------------------------

#define SERIES(z, a, b, c, d, e, f, g, h, i, k)                                                    \
    ((a) + (z) * ((b) + (z) * ((c) + (z) * ((d) + (z) * ((e) + (z) * ((f) + (z) * ((g) + (z) * ((h) + (z) * ((i) + (z) * (k))))))))))

// sin t / t, (1 - cos t)/t^2, (t - sin t)/t^3 and the last two's derivatives over t, as sn_expmap_at().
FN void expmap_at(REAL t2, REAL *k) {
    k[0] = SERIES(t2, splat(1), -1. / 6., 1. / 120., -1. / 5040., 1. / 362880., -1. / 39916800.,
                  1. / 6227020800., -1. / 1307674368000., 1. / 355687428096000.,
                  -1. / 121645100408832000.);
    k[1] = SERIES(t2, splat(0.5), -1. / 24., 1. / 720., -1. / 40320., 1. / 3628800.,
                  -1. / 479001600., 1. / 87178291200., -1. / 20922789888000.,
                  1. / 6402373705728000., -1. / 2432902008176640000.);
    k[2] = SERIES(t2, splat(1. / 6.), -1. / 120., 1. / 5040., -1. / 362880., 1. / 39916800.,
                  -1. / 6227020800., 1. / 1307674368000., -1. / 355687428096000.,
                  1. / 121645100408832000., -1. / 51090942171709440000.);
    k[3] = SERIES(t2, splat(-1. / 12.), 1. / 180., -1. / 6720., 1. / 453600., -1. / 47900160.,
                  1. / 7264857600., -1. / 1494484992000., 1. / 400148356608000.,
                  -1. / 135161222676480000., 1. / 56200036388880384000.);
    k[4] = SERIES(t2, splat(-1. / 60.), 1. / 1260., -1. / 60480., 1. / 4989600., -1. / 622702080.,
                  1. / 108972864000., -1. / 25406244864000., 1. / 7602818775552000.,
                  -1. / 2838385676206080000., 1. / 1292600836944248832000.);
    const BITS far = ~LESS(t2, splat(1));
    if (ANY(far)) {
        const REAL z = choose(far, t2, splat(1)), t = root(z);
        REAL s, c;
        sine_cosine(t, &s, &c);
        const REAL versine = 1.0 - c;
        k[0] = choose(far, s / t, k[0]);
        k[1] = choose(far, versine / z, k[1]);
        k[2] = choose(far, (t - s) / (t * z), k[2]);
        k[3] = choose(far, (t * s - 2.0 * versine) / (z * z), k[3]);
        k[4] = choose(far, (3.0 * s - t * c - 2.0 * t) / (z * z * t), k[4]);
    }
}

// R(w), by columns.
FN void expmap_rotation(const REAL *k, const REAL *w, REAL *R) {
    const REAL diagonal = 1.0 - k[1] * dot3(w, w);
    const REAL ax = k[1] * w[0], ay = k[1] * w[1], az = k[1] * w[2];
    const REAL sx = k[0] * w[0], sy = k[0] * w[1], sz = k[0] * w[2];
    R[0] = diagonal + ax * w[0], R[1] = ax * w[1] + sz, R[2] = ax * w[2] - sy;
    R[3] = ay * w[0] - sz, R[4] = diagonal + ay * w[1], R[5] = ay * w[2] + sx;
    R[6] = az * w[0] + sy, R[7] = az * w[1] - sx, R[8] = diagonal + az * w[2];
}

// J_l(w) x
FN void expmap_jacobian(const REAL *k, const REAL *w, const REAL *x, REAL *out) {
    REAL wx[3], wwx[3];
    cross3(w, x, wx);
    cross3(w, wx, wwx);
    for (int i = 0; i < 3; i++) out[i] = x[i] + (k[1] * wx[i] + k[2] * wwx[i]);
}

// d(J_l(w) x) along dw
FN void expmap_change(const REAL *k, const REAL *w, const REAL *x, const REAL *dw, REAL *out) {
    REAL wx[3], dwx[3], wwx[3], dwwx[3], wdwx[3];
    const REAL along = dot3(w, dw), da = k[3] * along, db = k[4] * along;
    cross3(w, x, wx);
    cross3(dw, x, dwx);
    cross3(w, wx, wwx);
    cross3(dw, wx, dwwx);
    cross3(w, dwx, wdwx);
    for (int i = 0; i < 3; i++)
        out[i] =
            (da * wx[i] + k[1] * dwx[i]) + (db * wwx[i] + k[2] * (dwwx[i] + wdwx[i]));
}

// By columns, from w x y z of any length.
FN void quat_rotation(const REAL *q, REAL *R) {
    const REAL s = 2.0 / ((q[0] * q[0] + q[1] * q[1]) + (q[2] * q[2] + q[3] * q[3]));
    const REAL sx = s * q[1], sy = s * q[2], sz = s * q[3];
    const REAL wx = q[0] * sx, wy = q[0] * sy, wz = q[0] * sz;
    const REAL xx = q[1] * sx, xy = q[1] * sy, xz = q[1] * sz;
    const REAL yy = q[2] * sy, yz = q[2] * sz, zz = q[3] * sz;
    R[0] = 1.0 - yy - zz, R[1] = xy + wz, R[2] = xz - wy;
    R[3] = xy - wz, R[4] = 1.0 - xx - zz, R[5] = yz + wx;
    R[6] = xz + wy, R[7] = yz - wx, R[8] = 1.0 - xx - yy;
}

FN void quat_product(const REAL *p, const REAL *q, REAL *out) {
    const REAL w = (p[0] * q[0] - p[1] * q[1]) - (p[2] * q[2] + p[3] * q[3]);
    const REAL x = (p[0] * q[1] + p[1] * q[0]) + (p[2] * q[3] - p[3] * q[2]);
    const REAL y = (p[0] * q[2] - p[1] * q[3]) + (p[2] * q[0] + p[3] * q[1]);
    out[3] = (p[0] * q[3] + p[1] * q[2]) - (p[2] * q[1] - p[3] * q[0]);
    out[0] = w;
    out[1] = x;
    out[2] = y;
}

// The angle of (x, y), both 0 or above, not both 0: atan c from the nearest of five slopes, the rest by
// its series, |d| <= 1/8.
FN REAL angle_of(REAL y, REAL x) {
    const BITS steep = LESS(x, y);
    const REAL a = choose(steep, x, y), b = choose(steep, y, x), t = a / b;
    REAL c = splat(0), at = splat(0);
    BITS m = LESS(splat(0.125), t);
    c = choose(m, splat(0.25), c), at = choose(m, splat(0.24497866312686414), at);
    m = LESS(splat(0.375), t);
    c = choose(m, splat(0.5), c), at = choose(m, splat(0.46364760900080609), at);
    m = LESS(splat(0.625), t);
    c = choose(m, splat(0.75), c), at = choose(m, splat(0.64350110879328437), at);
    m = LESS(splat(0.875), t);
    c = choose(m, splat(1), c), at = choose(m, splat(0.78539816339744828), at);
    const REAL d = (a - c * b) / (b + c * a), z = d * d;
    const REAL low =
        d - d * z * SERIES(z, splat(1. / 3.), -1. / 5., 1. / 7., -1. / 9., 1. / 11., -1. / 13.,
                           1. / 15., -1. / 17., 1. / 19., -1. / 21.);
    const REAL angle = at + low;
    return choose(steep, 1.5707963267948966 - angle, angle);
}

// The rotation vector of a quaternion.
FN void quat_log(const REAL *q, REAL *v) {
    const REAL n = root(dot3(q + 1, q + 1));
    const REAL sign = choose(LESS(q[0], splat(0)), splat(-1), splat(1)), w = sign * q[0];
    const BITS tiny = ~LESS(1e-9 * w, n);
    const REAL ratio = choose(tiny, 2.0 / choose(tiny, w, splat(1)),
                              2.0 * angle_of(n, w) / choose(tiny, splat(1), n));
    for (int i = 0; i < 3; i++) v[i] = sign * ratio * q[1 + i];
}

// The rotation vector of a matrix, by the largest part of its quaternion.
FN void matrix_log(const REAL *R, REAL *v) {
    const REAL xx = R[0], yy = R[4], zz = R[8];
    const REAL wx = R[5] - R[7], wy = R[6] - R[2], wz = R[1] - R[3];
    const REAL xy = R[1] + R[3], yz = R[5] + R[7], zx = R[6] + R[2];
    REAL top = 1.0 + xx + yy + zz, q[4], d;
    q[0] = top, q[1] = wx, q[2] = wy, q[3] = wz;
    d = 1.0 + xx - yy - zz;
    BITS m = LESS(top, d);
    top = choose(m, d, top);
    q[0] = choose(m, wx, q[0]), q[1] = choose(m, d, q[1]);
    q[2] = choose(m, xy, q[2]), q[3] = choose(m, zx, q[3]);
    d = 1.0 - xx + yy - zz;
    m = LESS(top, d);
    top = choose(m, d, top);
    q[0] = choose(m, wy, q[0]), q[1] = choose(m, xy, q[1]);
    q[2] = choose(m, d, q[2]), q[3] = choose(m, yz, q[3]);
    d = 1.0 - xx - yy + zz;
    m = LESS(top, d);
    q[0] = choose(m, wz, q[0]), q[1] = choose(m, zx, q[1]);
    q[2] = choose(m, yz, q[2]), q[3] = choose(m, d, q[3]);
    const REAL norm = 1.0 / root((q[0] * q[0] + q[1] * q[1]) + (q[2] * q[2] + q[3] * q[3]));
    for (int i = 0; i < 4; i++) q[i] = norm * q[i];
    quat_log(q, v);
}

// c and c'/t of J_r^-1 = I + [w]/2 + c [w]^2.
FN void log_coefficients(REAL t2, REAL *c, REAL *dc) {
    *c = SERIES(t2, splat(1. / 12.), 1. / 720., 1. / 30240., 1. / 1209600., 1. / 47900160.,
                691. / 1307674368000., 1. / 74724249600., 3617. / 10670622842880000.,
                43867. / 5109094217170944000., 174611. / 802857662698291200000.);
    *dc = SERIES(t2, splat(2. / 720.), 4. / 30240., 6. / 1209600., 8. / 47900160.,
                 10. * 691. / 1307674368000., 12. / 74724249600., 14. * 3617. / 10670622842880000.,
                 16. * 43867. / 5109094217170944000., 18. * 174611. / 802857662698291200000., 0.0);
    const BITS far = ~LESS(t2, splat(1));
    if (ANY(far)) {
        const REAL z = choose(far, t2, splat(1)), t = root(z);
        REAL s, k;
        sine_cosine(0.5 * t, &s, &k);
        const REAL cot = k / s, far_c = (1.0 - 0.5 * t * cot) / z;
        *c = choose(far, far_c, *c);
        *dc = choose(far, ((0.25 * t / (s * s) - 0.5 * cot) / t - 2.0 * far_c) / z, *dc);
    }
}

// J_r^-1(w) x
FN void log_jacobian(REAL c, const REAL *w, const REAL *x, REAL *out) {
    REAL wx[3], wwx[3];
    cross3(w, x, wx);
    cross3(w, wx, wwx);
    for (int i = 0; i < 3; i++) out[i] = x[i] + (0.5 * wx[i] + c * wwx[i]);
}

// --- from the root to the leaves -----------------------------------------------------------------------

// R <- R turned about its own axis by (s, c); a: that axis outside.
FN void turn_about(int aligned, double lx, double ly, double lz, REAL s, REAL c, REAL *R, REAL *a) {
    if (aligned >= 0) {
        const int j = aligned == 2 ? 0 : aligned + 1, k = aligned == 0 ? 2 : aligned - 1;
        for (int i = 0; i < 3; i++) {
            a[i] = R[3 * aligned + i];
            const REAL cj = R[3 * j + i], ck = R[3 * k + i];
            R[3 * j + i] = c * cj + s * ck;
            R[3 * k + i] = c * ck - s * cj;
        }
        return;
    }
    turn3(R, splat(lx), splat(ly), splat(lz), a);
    const REAL v = 1.0 - c, sx = s * lx, sy = s * ly, sz = s * lz;
    for (int i = 0; i < 3; i++) {
        const REAL x = R[i], y = R[3 + i], z = R[6 + i], va = v * a[i];
        R[i] = c * x + ((sz * y - sy * z) + lx * va);
        R[3 + i] = c * y + ((sx * z - sz * x) + ly * va);
        R[6 + i] = c * z + ((sy * x - sx * y) + lz * va);
    }
}

// A turn about a through o as a twist; a slide along u.
FN void put_turn(REAL *S, const REAL *a, const REAL *o) {
    for (int k = 0; k < 3; k++) S[k] = a[k];
    cross3(o, a, S + 3);
}

FN void put_slide(REAL *S, const REAL *u) {
    for (int k = 0; k < 3; k++) S[k] = splat(0), S[3 + k] = u[k];
}

FN void place_joint(ARGS, int k, REAL *R, REAL *p) {
    const int i = T(slot)[k], at = T(q0)[k];
    const REAL *q = W(x) + at;
    REAL a[3], s, c;
#define AXIS(n) T(axis)[12 * k + 3 * (n)], T(axis)[12 * k + 3 * (n) + 1], T(axis)[12 * k + 3 * (n) + 2]
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
        for (int n = 0; n < 3; n++) p[n] = p[n] + q[0] * a[n];
        break;
    case SN_BATCH_SCREW: {
        sine_cosine(q[0], &s, &c);
        turn_about(T(order)[3 * k], AXIS(0), s, c, R, a);
        put_turn(W(S) + 6 * i, a, p);
        const REAL slide = T(pitch)[k] * q[0];
        REAL *S = W(S) + 6 * i;
        for (int n = 0; n < 3; n++) {
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
        for (int n = 0; n < 3; n++) {
            sine_cosine(q[n], &s, &c);
            turn_about(T(order)[3 * k + n], AXIS(0), s, c, R, a);
            put_turn(W(S) + 6 * (i + n), a, p);
        }
        break;
    case SN_BATCH_BALL:
    case SN_BATCH_FREE: {
        const int first = T(type)[k] == SN_BATCH_FREE ? 3 : 0;
        REAL turn[9], base[9];
        for (int n = 0; n < 9; n++) base[n] = R[n];
        if (first > 0) {
            for (int n = 0; n < 3; n++) put_slide(W(S) + 6 * (i + n), base + 3 * n);
            turn3(base, q[0], q[1], q[2], a);
            for (int n = 0; n < 3; n++) p[n] = p[n] + a[n];
        }
        for (int n = 0; n < 3; n++) put_turn(W(S) + 6 * (i + first + n), base + 3 * n, p);
        quat_rotation(q + first, turn);
        product3(base, turn, R);
        break;
    }
    case SN_BATCH_EXPMAP:
    case SN_BATCH_SWING_TWIST: {
        const int swing = T(type)[k] == SN_BATCH_SWING_TWIST;
        REAL w[3], e[5], turn[9], base[9], axis[3], J[3];
        for (int n = 0; n < 9; n++) base[n] = R[n];
        for (int n = 0; n < 3; n++)
            w[n] = pick(swing, q[0] * T(axis)[12 * k + 6 + n] + q[1] * T(axis)[12 * k + 9 + n], q[n]);
        expmap_at(dot3(w, w), e);
        expmap_rotation(e, w, turn);
        for (int n = 0; n < (swing ? 2 : 3); n++) {
            for (int m = 0; m < 3; m++)
                axis[m] = splat(swing ? T(axis)[12 * k + 6 + 3 * n + m] : m == n ? 1.0 : 0.0);
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
        for (int n = 0; n < 3; n++)
            p[n] = p[n] + (q[0] * W(S)[6 * i + 3 + n] + q[1] * W(S)[6 * i + 9 + n]);
        sine_cosine(q[2], &s, &c);
        turn_about(T(order)[3 * k], AXIS(0), s, c, R, a);
        put_turn(W(S) + 6 * (i + 2), a, p);
        break;
    case SN_BATCH_TRANSLATION:
        for (int n = 0; n < 3; n++) put_slide(W(S) + 6 * (i + n), R + 3 * n);
        turn3(R, q[0], q[1], q[2], a);
        for (int n = 0; n < 3; n++) p[n] = p[n] + a[n];
        break;
    default:
        break;
    }
#undef AXIS
#undef LANE_AXIS
}

// All joints at the pose x, measured from the root joint's place.
FN void place(ARGS) {
    for (int k = 0; k < N(nj); k++) {
        const int up = T(parent)[k];
        REAL R[9], p[3];
        if (up < 0) {
            for (int i = 0; i < 9; i++) R[i] = splat(T(offset)[12 * k + i]);
            for (int i = 0; i < 3; i++) p[i] = splat(0);
        } else {
            const REAL *F = W(frame) + 12 * up;
            for (int i = 0; i < 3; i++)
                p[i] = F[9 + i] + (F[i] * T(offset)[12 * k + 9] + F[3 + i] * T(offset)[12 * k + 10] +
                                   F[6 + i] * T(offset)[12 * k + 11]);
            if (T(turned)[k]) {
                for (int n = 0; n < 3; n++)
                    for (int i = 0; i < 3; i++)
                        R[3 * n + i] = F[i] * T(offset)[12 * k + 3 * n] +
                                       F[3 + i] * T(offset)[12 * k + 3 * n + 1] +
                                       F[6 + i] * T(offset)[12 * k + 3 * n + 2];
            } else {
                for (int i = 0; i < 9; i++) R[i] = F[i];
            }
        }
        place_joint(PASS, k, R, p);
        if (up < 0) {
            for (int i = 0; i < T(jnv)[k]; i++) {
                REAL *S = W(S) + 6 * i, shift[3];
                cross3(p, S, shift);
                for (int n = 0; n < 3; n++) S[3 + n] = S[3 + n] - shift[n];
            }
            for (int n = 0; n < 3; n++) {
                W(lane)[SN_LANE_ORIGIN + n] = p[n] + T(offset)[9 + n];
                p[n] = splat(0);
            }
        }
        REAL *F = W(frame) + 12 * k;
        for (int i = 0; i < 9; i++) F[i] = R[i];
        for (int i = 0; i < 3; i++) F[9 + i] = p[i];
    }
    if (N(gained))
        for (int i = 0; i < N(nv); i++)
            for (int n = 0; n < 6; n++) W(S)[6 * i + n] = T(gain)[i] * W(S)[6 * i + n];
}

// --- tasks ---------------------------------------------------------------------------------------------

// What a squared residual s counts for: its value, and its slope and twice its second derivative.
FN REAL loss_at(int loss, REAL c2, REAL s, REAL *slope, REAL *bend) {
    if (loss == SN_BATCH_CAUCHY) {
        *slope = c2 / (c2 + s);
        *bend = -2.0 * *slope / (c2 + s);
        return c2 * log_one_plus(s / c2);
    }
    const BITS far = LESS(c2, s);
    const REAL z = choose(far, s, splat(1)), x = root(c2 / z);
    *slope = choose(far, x, splat(1));
    *bend = choose(far, -x / z, splat(0));
    return choose(far, 2.0 * root(c2 * z) - c2, s);
}

// F p^T into N, F into the force.
FN void add_force(REAL *sum, const REAL *F, const REAL *p, int force) {
    for (int c = 0; c < 3; c++)
        for (int r = 0; r < 3; r++) sum[3 * c + r] = sum[3 * c + r] + F[r] * p[c];
    if (force)
        for (int r = 0; r < 3; r++) sum[9 + r] = sum[9 + r] + F[r];
}

// Twice f of the points on joint k.
FN REAL add_points(ARGS, int k, const REAL *Rp, REAL *sum) {
    REAL twice = splat(0);
    for (int i = T(point_first)[k]; i < T(point_first)[k + 1]; i++) {
        const int at = T(point_goal)[i];
        REAL p[3], r[3], F[3];
        if (N(locals)) {
            turn3(Rp, GOAL(at + 3), GOAL(at + 4), GOAL(at + 5), p);
        } else {
            turn3(Rp, splat(T(point_local)[3 * i]), splat(T(point_local)[3 * i + 1]),
                  splat(T(point_local)[3 * i + 2]), p);
        }
        for (int n = 0; n < 3; n++) p[n] = Rp[9 + n] + p[n];
        for (int n = 0; n < 3; n++)
            r[n] = (GOAL_FROM(at + n, W(lane)[SN_LANE_ORIGIN + n])) - p[n];
        REAL s = dot3(r, r), w = splat(T(point_weight)[i]);
        const BITS there = EQUAL(s, s);
        if (ANY(~there)) {
            s = choose(there, s, splat(0));
            w = choose(there, w, splat(0));
            for (int n = 0; n < 3; n++) {
                r[n] = choose(there, r[n], splat(0));
                p[n] = choose(there, p[n], splat(0));
            }
        }
        if (N(loss) && T(point_loss)[i] != 0) {
            REAL slope, bend, u[6];
            twice = twice + w * loss_at(T(point_loss)[i], splat(T(point_scale2)[i]), s, &slope, &bend);
            cross3(p, r, u);
            for (int n = 0; n < 3; n++) u[3 + n] = r[n];
            REAL *B = sum + SN_SUM_MATRIX + 21 * N(matrix);
            for (int n = 0; n < 6; n++) {
                const REAL x = w * bend * u[n];
                for (int m = 0; m <= n; m++) B[packed(n, m)] = B[packed(n, m)] + x * u[m];
            }
            w = w * slope;
        } else {
            twice = twice + w * s;
        }
        for (int n = 0; n < 3; n++) F[n] = w * r[n];
        add_force(sum, F, p, 1);
        sum[12] = sum[12] + w;
        const REAL x = w * p[0], y = w * p[1], z = w * p[2];
        sum[13] = sum[13] + x, sum[14] = sum[14] + y, sum[15] = sum[15] + z;
        sum[16] = sum[16] + x * p[0], sum[17] = sum[17] + y * p[1], sum[18] = sum[18] + z * p[2];
        sum[19] = sum[19] + x * p[1], sum[20] = sum[20] + x * p[2], sum[21] = sum[21] + y * p[2];
    }
    return twice;
}

// A point with a 3 x 3 weight, or onto a plane.
FN REAL add_matrix_point(ARGS, int i, const REAL *Rp, REAL *sum) {
    const int at = T(part_goal)[i];
    REAL p[3], r[3], F[3];
    if (N(locals)) {
        turn3(Rp, GOAL(at + 3), GOAL(at + 4), GOAL(at + 5), p);
    } else {
        turn3(Rp, splat(T(part_local)[3 * i]), splat(T(part_local)[3 * i + 1]),
              splat(T(part_local)[3 * i + 2]), p);
    }
    for (int n = 0; n < 3; n++) p[n] = Rp[9 + n] + p[n];
    for (int n = 0; n < 3; n++) r[n] = (GOAL_FROM(at + n, W(lane)[SN_LANE_ORIGIN + n])) - p[n];
    if (T(part_type)[i] == SN_BATCH_PLANE) {
        const REAL off = T(part_normal)[3 * i] * r[0] + T(part_normal)[3 * i + 1] * r[1] +
                         T(part_normal)[3 * i + 2] * r[2];
        for (int n = 0; n < 3; n++) r[n] = T(part_normal)[3 * i + n] * off;
    }
    const REAL s = dot3(r, r);
    const BITS there = EQUAL(s, s);
    REAL weight[9];
    for (int n = 0; n < 9; n++) weight[n] = choose(there, splat(T(part_matrix)[9 * i + n]), splat(0));
    for (int n = 0; n < 3; n++) {
        r[n] = choose(there, r[n], splat(0));
        p[n] = choose(there, p[n], splat(0));
    }
    turn3(weight, r[0], r[1], r[2], F);
    add_force(sum, F, p, 1);
    // B^T W B with B = [-[p] I]: column c of [p] W is p x W_c, and [p] W (-[p]) likewise of its rows
    REAL pw[9], aa[9], row[3];
    REAL *A = sum + SN_SUM_MATRIX;
    for (int c = 0; c < 3; c++) cross3(p, weight + 3 * c, pw + 3 * c);
    for (int n = 0; n < 3; n++) {
        for (int c = 0; c < 3; c++) row[c] = pw[3 * c + n];
        cross3(p, row, aa + 3 * n);
    }
    for (int n = 0; n < 3; n++)
        for (int c = 0; c < 3; c++) {
            if (c <= n) {
                A[packed(n, c)] = A[packed(n, c)] + aa[3 * n + c];
                A[packed(3 + n, 3 + c)] = A[packed(3 + n, 3 + c)] + weight[3 * c + n];
            }
            A[packed(3 + n, c)] = A[packed(3 + n, c)] + pw[3 * n + c];
        }
    return largest(dot3(r, F), splat(0));
}

FN REAL add_direction(ARGS, int i, const REAL *Rp, REAL *sum) {
    const int at = T(part_goal)[i];
    REAL d[3], r[3], F[3];
    turn3(Rp, splat(T(part_local)[3 * i]), splat(T(part_local)[3 * i + 1]),
          splat(T(part_local)[3 * i + 2]), d);
    for (int n = 0; n < 3; n++) r[n] = GOAL(at + n) - d[n];
    REAL s = dot3(r, r);
    const BITS there = EQUAL(s, s);
    const REAL w = choose(there, splat(T(part_weight)[i]), splat(0));
    s = choose(there, s, splat(0));
    for (int n = 0; n < 3; n++) F[n] = w * choose(there, r[n], splat(0));
    add_force(sum, F, d, 0);
    const REAL x = w * d[0], y = w * d[1], z = w * d[2];
    sum[16] = sum[16] + x * d[0], sum[17] = sum[17] + y * d[1], sum[18] = sum[18] + z * d[2];
    sum[19] = sum[19] + x * d[1], sum[20] = sum[20] + x * d[2], sum[21] = sum[21] + y * d[2];
    return w * s;
}

FN REAL add_orientation(ARGS, int i, const REAL *Rp, REAL *sum) {
    const int at = T(part_goal)[i];
    REAL q[4], G[9], turn[9], psi[3], c, dc;
    for (int n = 0; n < 4; n++) q[n] = GOAL(at + n);
    const REAL size = (q[0] * q[0] + q[1] * q[1]) + (q[2] * q[2] + q[3] * q[3]);
    const BITS there = EQUAL(size, size);
    for (int n = 0; n < 4; n++) q[n] = choose(there, q[n], splat(n == 0));
    quat_rotation(q, G);
    // G R^T: column m is the sum over the columns of G, times R's entry m
    for (int m = 0; m < 3; m++) turn3(G, Rp[m], Rp[3 + m], Rp[6 + m], turn + 3 * m);
    matrix_log(turn, psi);
    const REAL w = choose(there, splat(T(part_weight)[i]), splat(0)), t2 = dot3(psi, psi);
    log_coefficients(t2, &c, &dc);
    const REAL half = 0.5 * w, wc = w * c;
    for (int n = 0; n < 3; n++) sum[16 + n] = sum[16 + n] + half;
    for (int m = 0; m < 3; m++)
        for (int n = 0; n < 3; n++) sum[3 * m + n] = sum[3 * m + n] - wc * psi[n] * psi[m];
    sum[1] = sum[1] + half * psi[2], sum[3] = sum[3] - half * psi[2];
    sum[6] = sum[6] + half * psi[1], sum[2] = sum[2] - half * psi[1];
    sum[5] = sum[5] + half * psi[0], sum[7] = sum[7] - half * psi[0];
    return w * t2;
}

// f of the tasks on bodies at the placed pose; each joint's own sums.
FN REAL sum_tasks(ARGS) {
    REAL twice = splat(0);
    for (int k = 0; k < N(nj); k++) {
        REAL *sum = W(sum) + N(nsum) * k;
        const REAL *Rp = W(frame) + 12 * k;
        for (int i = 0; i < N(nsum); i++) sum[i] = splat(0);
        twice = twice + add_points(PASS, k, Rp, sum);
        if (N(npart) == 0) continue;
        for (int i = T(part_first)[k]; i < T(part_first)[k + 1]; i++) {
            if (T(part_type)[i] == SN_BATCH_DIRECTION) {
                twice = twice + add_direction(PASS, i, Rp, sum);
            } else if (T(part_type)[i] == SN_BATCH_ORIENTATION) {
                twice = twice + add_orientation(PASS, i, Rp, sum);
            } else {
                twice = twice + add_matrix_point(PASS, i, Rp, sum);
            }
        }
    }
    return 0.5 * twice;
}

// --- tasks on coordinates --------------------------------------------------------------------------------

// Rest of a joint held as a quaternion: rotation_term() of joint_terms.c.
FN void rest_turn(ARGS, int k, int r) {
    const int first = T(type)[k] == SN_BATCH_FREE ? 3 : 0, i = T(slot)[k] + first;
    const int at = T(q0)[k] + first;
    REAL rest[4], turn[4], psi[3], u[3], g[3], pu[3], full[9], more[9], c, dc;
    for (int n = 0; n < 4; n++)
        rest[n] = splat((n == 0 ? 1.0 : -1.0) * T(rest_q)[N(nq) * r + at + n]);
    quat_product(W(x) + at, rest, turn);
    const REAL norm = 1.0 / root((turn[0] * turn[0] + turn[1] * turn[1]) +
                                 (turn[2] * turn[2] + turn[3] * turn[3]));
    for (int n = 0; n < 4; n++) turn[n] = norm * turn[n];
    quat_log(turn, psi);
    log_coefficients(dot3(psi, psi), &c, &dc);
    for (int n = 0; n < 3; n++) u[n] = T(rest_w)[N(nv) * r + i + n] * psi[n];
    log_jacobian(c, psi, u, g);
    cross3(psi, u, pu);
    for (int b = 0; b < 3; b++) {
        REAL minus[3], unit[3], x[3], wx[3], xu[3], xpu[3], pxu[3], ppu[3];
        for (int n = 0; n < 3; n++) minus[n] = -psi[n], unit[n] = splat(n == b);
        log_jacobian(c, minus, unit, x);
        for (int n = 0; n < 3; n++) wx[n] = T(rest_w)[N(nv) * r + i + n] * x[n];
        log_jacobian(c, psi, wx, full + 3 * b);
        cross3(x, u, xu);
        cross3(x, pu, xpu);
        cross3(psi, xu, pxu);
        cross3(psi, pu, ppu);
        const REAL along = dc * dot3(psi, x);
        for (int n = 0; n < 3; n++)
            more[3 * b + n] = 0.5 * xu[n] + (c * (xpu[n] + pxu[n]) + along * ppu[n]);
    }
    REAL *h = W(rest_h) + 12 * T(quat)[k];
    for (int a = 0; a < 3; a++) {
        W(g)[i + a] = W(g)[i + a] + g[a];
        for (int b = 0; b <= a; b++) {
            const int n = packed(a, b);
            h[n] = h[n] + 0.5 * (full[3 * a + b] + full[3 * b + a]);
            h[6 + n] = h[6 + n] + 0.5 * (more[3 * a + b] + more[3 * b + a]);
        }
    }
}

FN REAL rest_apart(ARGS, int r, int i) {
    const int at = T(q_of)[i];
    REAL d = W(x)[at] - T(rest_q)[N(nq) * r + at];
    if (T(whole)[i]) d = d - 6.283185307179586 * nearest(0.15915494309189535 * d);
    return d;
}

// How far a coordinate is out of a soft limit.
FN REAL soft_out(ARGS, int n) {
    const REAL x = W(x)[T(q_of)[T(soft_of)[n]]];
    const REAL low = splat(T(soft_limit)[3 * n]), high = splat(T(soft_limit)[3 * n + 1]);
    return choose(LESS(x, low), x - low, choose(LESS(high, x), x - high, splat(0)));
}

// f of rest poses and soft limits alone.
FN REAL rest_value(ARGS) {
    REAL twice = splat(0);
    for (int r = 0; r < N(nrest); r++) {
        for (int i = 0; i < N(nv); i++) {
            if (T(q_of)[i] < 0) continue;
            const REAL d = rest_apart(PASS, r, i);
            twice = twice + T(rest_w)[N(nv) * r + i] * d * d;
        }
        for (int k = 0; k < N(nj); k++) {
            if (T(quat)[k] < 0) continue;
            const int first = T(type)[k] == SN_BATCH_FREE ? 3 : 0, i = T(slot)[k] + first;
            const int at = T(q0)[k] + first;
            REAL rest[4], turn[4], psi[3];
            for (int n = 0; n < 4; n++)
                rest[n] = splat((n == 0 ? 1.0 : -1.0) * T(rest_q)[N(nq) * r + at + n]);
            quat_product(W(x) + at, rest, turn);
            const REAL norm = 1.0 / root((turn[0] * turn[0] + turn[1] * turn[1]) +
                                         (turn[2] * turn[2] + turn[3] * turn[3]));
            for (int n = 0; n < 4; n++) turn[n] = norm * turn[n];
            quat_log(turn, psi);
            for (int n = 0; n < 3; n++)
                twice = twice + T(rest_w)[N(nv) * r + i + n] * psi[n] * psi[n];
        }
    }
    for (int n = 0; n < N(nsoft); n++) {
        const REAL out = soft_out(PASS, n);
        twice = twice + T(soft_limit)[3 * n + 2] * out * out;
    }
    return 0.5 * twice;
}

// Their gradient and second derivatives: those of a quaternion are Gauss-Newton's six, then what the exact
// ones have more.
FN void rest_terms(ARGS) {
    for (int i = 0; i < N(nv); i++) W(own)[i] = W(g)[i] = splat(0);
    for (int i = 0; i < 12 * N(nquat); i++) W(rest_h)[i] = splat(0);
    for (int r = 0; r < N(nrest); r++) {
        for (int i = 0; i < N(nv); i++) {
            if (T(q_of)[i] < 0) continue;
            const double w = T(rest_w)[N(nv) * r + i];
            W(g)[i] = W(g)[i] + w * rest_apart(PASS, r, i);
            W(own)[i] = W(own)[i] + splat(w);
        }
        for (int k = 0; k < N(nj); k++)
            if (T(quat)[k] >= 0) rest_turn(PASS, k, r);
    }
    for (int n = 0; n < N(nsoft); n++) {
        const int i = T(soft_of)[n];
        const REAL out = soft_out(PASS, n);
        W(g)[i] = W(g)[i] + T(soft_limit)[3 * n + 2] * out;
        W(own)[i] =
            W(own)[i] + choose(EQUAL(out, splat(0)), splat(0), splat(T(soft_limit)[3 * n + 2]));
    }
    if (!N(gained)) return;
    for (int i = 0; i < N(nv); i++) {
        W(g)[i] = T(gain)[i] * W(g)[i];
        W(own)[i] = T(gain)[i] * T(gain)[i] * W(own)[i];
    }
    for (int k = 0; k < N(nj); k++) {
        if (T(quat)[k] < 0) continue;
        const int i = T(slot)[k] + (T(type)[k] == SN_BATCH_FREE ? 3 : 0);
        REAL *h = W(rest_h) + 12 * T(quat)[k];
        for (int a = 0; a < 3; a++)
            for (int b = 0; b <= a; b++)
                for (int n = packed(a, b); n < 12; n += 6)
                    h[n] = T(gain)[i + a] * T(gain)[i + b] * h[n];
    }
}

// --- from the leaves to the root -------------------------------------------------------------------------

// The matrix K of a subtree, as far as it is shared by the degrees of freedom of a joint.
typedef struct FIELD {
    REAL M[9], G[3], P[3], W, e, trace;
} FIELD;

FN void load_field(ARGS, int k, REAL e, FIELD *f) {
    const REAL *sum = W(sum) + N(nsum) * k;
    f->e = e;
    f->W = sum[12];
    for (int i = 0; i < 3; i++) {
        f->P[i] = sum[13 + i];
        f->G[i] = sum[13 + i] + e * sum[9 + i];
    }
    f->M[0] = sum[16] + e * sum[0], f->M[4] = sum[17] + e * sum[4], f->M[8] = sum[18] + e * sum[8];
    f->M[1] = sum[19] + e * sum[1], f->M[3] = sum[19] + e * sum[3];
    f->M[2] = sum[20] + e * sum[2], f->M[6] = sum[20] + e * sum[6];
    f->M[5] = sum[21] + e * sum[5], f->M[7] = sum[21] + e * sum[7];
    f->trace = f->M[0] + f->M[4] + f->M[8];
}

// y = K S
FN void field_times(ARGS, int k, const FIELD *f, const REAL *S, REAL *y) {
    const REAL *M = f->M, *G = f->G, *P = f->P, *a = S, *b = S + 3;
    y[0] = (f->trace - M[0]) * a[0] - M[1] * a[1] - M[2] * a[2] + (G[1] * b[2] - G[2] * b[1]);
    y[1] = (f->trace - M[4]) * a[1] - M[3] * a[0] - M[5] * a[2] + (G[2] * b[0] - G[0] * b[2]);
    y[2] = (f->trace - M[8]) * a[2] - M[6] * a[0] - M[7] * a[1] + (G[0] * b[1] - G[1] * b[0]);
    y[3] = a[1] * P[2] - a[2] * P[1] + f->W * b[0];
    y[4] = a[2] * P[0] - a[0] * P[2] + f->W * b[1];
    y[5] = a[0] * P[1] - a[1] * P[0] + f->W * b[2];
    if (N(matrix)) add_symmetric(W(sum) + N(nsum) * k + SN_SUM_MATRIX, splat(1), S, y);
    if (N(loss))
        add_symmetric(W(sum) + N(nsum) * k + SN_SUM_MATRIX + 21 * N(matrix), f->e, S, y);
}

// The wrench of a subtree.
FN void wrench_of(ARGS, int k, REAL *phi) {
    const REAL *sum = W(sum) + N(nsum) * k;
    phi[0] = sum[5] - sum[7], phi[1] = sum[6] - sum[2], phi[2] = sum[1] - sum[3];
    for (int i = 0; i < 3; i++) phi[3 + i] = sum[9 + i];
}

// Sums over subtrees, the gradient, and the Gauss-Newton diagonal into y.
FN void gradient_sweep(ARGS) {
    if (N(nrest) + N(nsoft) > 0) {
        rest_terms(PASS);
    } else {
        for (int i = 0; i < N(nv); i++) W(g)[i] = splat(0);
    }
    for (int k = N(nj) - 1; k >= 0; k--) {
        const int first = T(slot)[k], up = T(parent)[k];
        REAL phi[6];
        wrench_of(PASS, k, phi);
        const REAL *sum = W(sum) + N(nsum) * k;
        for (int i = first; i < first + T(jnv)[k]; i++) {
            const REAL *a = W(S) + 6 * i, *b = a + 3;
            W(g)[i] = W(g)[i] - dot6(a, phi);
            // a . (tr M - M) a + 2 a . (P x b) + W b . b
            REAL Ma[3], pb[3];
            Ma[0] = sum[16] * a[0] + sum[19] * a[1] + sum[20] * a[2];
            Ma[1] = sum[19] * a[0] + sum[17] * a[1] + sum[21] * a[2];
            Ma[2] = sum[20] * a[0] + sum[21] * a[1] + sum[18] * a[2];
            cross3(sum + 13, b, pb);
            const REAL trace = sum[16] + sum[17] + sum[18];
            REAL d = (trace * dot3(a, a) - dot3(a, Ma)) + 2.0 * dot3(a, pb) + sum[12] * dot3(b, b);
            if (N(matrix)) {
                REAL y[6];
                for (int n = 0; n < 6; n++) y[n] = splat(0);
                add_symmetric(sum + SN_SUM_MATRIX, splat(1), a, y);
                d = d + dot6(a, y);
            }
            W(y)[i] = d;
        }
        if (up >= 0) {
            REAL *to = W(sum) + N(nsum) * up;
            for (int i = 0; i < N(nsum); i++) to[i] = to[i] + sum[i];
        }
    }
    if (N(nrest) + N(nsoft) == 0) return;
    for (int i = 0; i < N(nv); i++) W(y)[i] = W(y)[i] + W(own)[i];
    for (int k = 0; k < N(nj); k++) {
        if (T(quat)[k] < 0) continue;
        const int i = T(slot)[k] + (T(type)[k] == SN_BATCH_FREE ? 3 : 0);
        for (int a = 0; a < 3; a++)
            W(y)[i + a] = W(y)[i + a] + W(rest_h)[12 * T(quat)[k] + packed(a, a)];
    }
}

// What H has among the degrees of freedom of joint k beyond S_b . K S_a: h[packed(a, b)].
FN void own_terms(ARGS, int k, REAL e, REAL *h) {
    const int m = T(jnv)[k], first = T(slot)[k], type = T(type)[k];
    for (int i = 0; i < m * (m + 1) / 2; i++) h[i] = splat(0);
    if (N(nrest) + N(nsoft) > 0) {
        for (int a = 0; a < m; a++) h[packed(a, a)] = W(own)[first + a];
        if (T(quat)[k] >= 0) {
            const REAL *more = W(rest_h) + 12 * T(quat)[k];
            const int from = type == SN_BATCH_FREE ? 3 : 0;
            for (int a = 0; a < 3; a++)
                for (int b = 0; b <= a; b++)
                    h[packed(from + a, from + b)] =
                        h[packed(from + a, from + b)] +
                        (more[packed(a, b)] + e * more[6 + packed(a, b)]);
        }
    }
    REAL phi[6], torque[3], lever[3];
    wrench_of(PASS, k, phi);
    cross3(W(frame) + 12 * k + 9, phi + 3, lever);
    for (int i = 0; i < 3; i++) torque[i] = e * (phi[i] - lever[i]);
    if (type == SN_BATCH_BALL || type == SN_BATCH_FREE) {
        const int from = type == SN_BATCH_FREE ? 3 : 0;
        for (int a = 1; a < 3; a++)
            for (int b = 0; b < a; b++) {
                REAL c[3];
                cross3(W(S) + 6 * (first + from + b), W(S) + 6 * (first + from + a), c);
                h[packed(from + a, from + b)] =
                    h[packed(from + a, from + b)] + 0.5 * dot3(c, torque);
            }
    }
    if (type == SN_BATCH_EXPMAP || type == SN_BATCH_SWING_TWIST) {
        const int swing = type == SN_BATCH_SWING_TWIST, n = swing ? 2 : 3, up = T(parent)[k];
        const REAL *q = W(x) + T(q0)[k];
        REAL base[9], w[3], c[5], axis[9], J[9], inside[3];
        for (int i = 0; i < 9; i++) base[i] = splat(T(offset)[12 * k + i]);
        // the torque in the parent-side frame
        for (int i = 0; i < 3; i++) inside[i] = torque[i];
        if (up >= 0) {
            const REAL *F = W(frame) + 12 * up;
            for (int i = 0; i < 3; i++) inside[i] = dot3(F + 3 * i, torque);
        }
        for (int i = 0; i < 3; i++) lever[i] = dot3(base + 3 * i, inside);
        for (int i = 0; i < 3; i++)
            w[i] = pick(swing, q[0] * T(axis)[12 * k + 6 + i] + q[1] * T(axis)[12 * k + 9 + i], q[i]);
        expmap_at(dot3(w, w), c);
        for (int a = 0; a < n; a++) {
            for (int i = 0; i < 3; i++)
                axis[3 * a + i] = splat(swing ? T(axis)[12 * k + 6 + 3 * a + i] : i == a ? 1.0 : 0.0);
            expmap_jacobian(c, w, axis + 3 * a, J + 3 * a);
        }
        for (int a = 0; a < n; a++)
            for (int b = 0; b <= a; b++) {
                REAL change[3], cross[3];
                expmap_change(c, w, axis + 3 * a, axis + 3 * b, change);
                cross3(J + 3 * b, J + 3 * a, cross);
                for (int i = 0; i < 3; i++) change[i] = change[i] - cross[i];
                h[packed(a, b)] = h[packed(a, b)] - T(gain)[first + a] * T(gain)[first + b] *
                                                        dot3(change, lever);
            }
    }
}

// How a factorisation went, lane by lane.
typedef struct FACTOR {
    BITS failed;
    REAL pivot, at;         // the first pivot that failed, and which
    REAL metric, scale, add; // the diagonal: metric D^2 + scale times the scale + add
    REAL most, most2;
    BITS check;              // also what no task sees counts where f bends
    REAL noise;
} FACTOR;

FN REAL metric_of(ARGS, int i, REAL most, REAL most2) {
    return largest(T(gain)[i] * T(gain)[i] * (pick(T(length)[i], most2, most)), W(scale)[i]);
}

FN REAL diagonal_of(ARGS, int i, const FACTOR *f) {
    return f->metric * metric_of(PASS, i, f->most, f->most2) + (f->scale * W(scale)[i] + f->add);
}

// 1 over a pivot, 0 where it is left out or failed; h: the diagonal before anything was eliminated.
FN REAL take_pivot(int i, REAL kept, REAL d, REAL h, FACTOR *f) {
    BITS keep = LESS(splat(0.5), kept);
    if (ANY(f->check)) {
        // blind ones are marked so
        const BITS bends = LESS(100.0 * f->noise, size_of(h)) & LESS(kept, splat(-0.5));
        keep = keep | (f->check & bends);
    }
    const BITS bad = keep & ~LESS(splat(0), d) & ~f->failed;
    f->pivot = choose(bad, d, f->pivot);
    f->at = choose(bad, splat(i), f->at);
    f->failed = f->failed | bad;
    const BITS good = keep & ~f->failed;
    return choose(good, 1.0 / choose(good, d, splat(1)), splat(0));
}

FN void add_square(REAL *Q, const REAL *y, REAL s) {
    for (int i = 0; i < 6; i++) {
        const REAL z = s * y[i];
        for (int j = 0; j <= i; j++) Q[i * (i + 1) / 2 + j] = Q[i * (i + 1) / 2 + j] + z * y[j];
    }
}

// Joints whose degrees of freedom have terms of their own: a small dense elimination.
FN void factor_block(ARGS, int k, const FIELD *field, REAL *Q, FACTOR *f) {
    const int m = T(jnv)[k], first = T(slot)[k];
    REAL h[21], y[36], diagonal[6];
    own_terms(PASS, k, field->e, h);
    for (int a = 0; a < m; a++) {
        const REAL *S = W(S) + 6 * (first + a);
        field_times(PASS, k, field, S, y + 6 * a);
        diagonal[a] = dot6(S, y + 6 * a) + h[packed(a, a)];
        add_symmetric(Q, splat(-1), S, y + 6 * a);
        for (int b = 0; b <= a; b++)
            h[packed(a, b)] = h[packed(a, b)] + dot6(W(S) + 6 * (first + b), y + 6 * a);
        h[packed(a, a)] = h[packed(a, a)] + diagonal_of(PASS, first + a, f);
    }
    for (int a = m - 1; a >= 0; a--) {
        const REAL inverse = take_pivot(first + a, W(keep)[first + a], h[packed(a, a)], diagonal[a], f);
        REAL *lower = W(lower) + T(lower0)[k] + a * (a - 1) / 2;
        W(inverse)[first + a] = inverse;
        for (int b = 0; b < a; b++) {
            const REAL l = h[packed(a, b)] * inverse;
            lower[b] = l;
            for (int n = 0; n < 6; n++) y[6 * b + n] = y[6 * b + n] - l * y[6 * a + n];
            for (int c = 0; c <= b; c++)
                h[packed(b, c)] = h[packed(b, c)] - l * h[packed(a, c)];
        }
        for (int n = 0; n < 6; n++) W(Y)[6 * (first + a) + n] = y[6 * a + n];
    }
    for (int a = 0; a < m; a++) add_square(Q, y + 6 * a, W(inverse)[first + a]);
}

// H + diagonal = L^T D L, joint by joint (articulated.c of sweeps/); degrees of freedom without terms of
// their own one by one, as if each were a joint.
FN void factor_sweep(ARGS, REAL e, FACTOR *f) {
    const int own = N(nrest) + N(nsoft) > 0;
    for (int k = N(nj) - 1; k >= 0; k--) {
        const int first = T(slot)[k], m = T(jnv)[k], up = T(parent)[k];
        REAL Q[21];
        FIELD field;
        if (T(leaf)[k]) {
            for (int i = 0; i < 21; i++) Q[i] = splat(0);
        } else {
            for (int i = 0; i < 21; i++) Q[i] = W(Q)[21 * k + i];
        }
        load_field(PASS, k, e, &field);
        if (T(block)[k]) {
            factor_block(PASS, k, &field, Q, f);
        } else {
            for (int i = first + m - 1; i >= first; i--) {
                const REAL *S = W(S) + 6 * i;
                REAL y[6], h = own ? W(own)[i] : splat(0);
                field_times(PASS, k, &field, S, y);
                const REAL plain = h + dot6(S, y);
                add_symmetric(Q, splat(-1), S, y);
                const REAL d = (h + dot6(S, y)) + diagonal_of(PASS, i, f);
                const REAL inverse = take_pivot(i, W(keep)[i], d, plain, f);
                W(inverse)[i] = inverse;
                for (int n = 0; n < 6; n++) W(Y)[6 * i + n] = y[n];
                add_square(Q, y, inverse);
            }
        }
        if (up < 0) continue;
        if (T(last)[k]) {
            for (int i = 0; i < 21; i++) W(Q)[21 * up + i] = Q[i];
        } else {
            for (int i = 0; i < 21; i++) W(Q)[21 * up + i] = W(Q)[21 * up + i] + Q[i];
        }
    }
}

// x <- D^-1 L^-T x
FN void reduce(ARGS, REAL *x) {
    for (int k = N(nj) - 1; k >= 0; k--) {
        const int first = T(slot)[k], m = T(jnv)[k], up = T(parent)[k];
        REAL push[6];
        for (int i = 0; i < 6; i++) push[i] = pick(T(leaf)[k], splat(0), W(push)[6 * k + i]);
        if (T(block)[k]) {
            for (int i = first; i < first + m; i++) x[i] = x[i] - dot6(W(S) + 6 * i, push);
            for (int a = m - 1; a >= 0; a--) {
                const REAL *lower = W(lower) + T(lower0)[k] + a * (a - 1) / 2;
                for (int b = 0; b < a; b++) x[first + b] = x[first + b] - lower[b] * x[first + a];
                x[first + a] = W(inverse)[first + a] * x[first + a];
            }
            for (int i = first; i < first + m; i++)
                for (int n = 0; n < 6; n++) push[n] = push[n] + x[i] * W(Y)[6 * i + n];
        } else {
            for (int i = first + m - 1; i >= first; i--) {
                const REAL own = W(inverse)[i] * (x[i] - dot6(W(S) + 6 * i, push));
                x[i] = own;
                for (int n = 0; n < 6; n++) push[n] = push[n] + own * W(Y)[6 * i + n];
            }
        }
        if (up < 0) continue;
        for (int i = 0; i < 6; i++)
            W(push)[6 * up + i] = pick(T(last)[k], push[i], W(push)[6 * up + i] + push[i]);
    }
}

// x <- L^-1 x
FN void substitute(ARGS, REAL *x) {
    for (int k = 0; k < N(nj); k++) {
        const int first = T(slot)[k], m = T(jnv)[k], up = T(parent)[k];
        REAL V[6];
        for (int i = 0; i < 6; i++) V[i] = up < 0 ? splat(0) : W(push)[6 * up + i];
        if (T(block)[k]) {
            for (int a = 0; a < m; a++) {
                const REAL *lower = W(lower) + T(lower0)[k] + a * (a - 1) / 2;
                REAL own = x[first + a] - W(inverse)[first + a] * dot6(W(Y) + 6 * (first + a), V);
                for (int b = 0; b < a; b++) own = own - lower[b] * x[first + b];
                x[first + a] = own;
            }
            for (int i = first; i < first + m; i++)
                for (int n = 0; n < 6; n++) V[n] = V[n] + x[i] * W(S)[6 * i + n];
        } else {
            for (int i = first; i < first + m; i++) {
                const REAL own = x[i] - W(inverse)[i] * dot6(W(Y) + 6 * i, V);
                x[i] = own;
                for (int n = 0; n < 6; n++) V[n] = V[n] + own * W(S)[6 * i + n];
            }
        }
        if (!T(leaf)[k])
            for (int i = 0; i < 6; i++) W(push)[6 * k + i] = V[i];
    }
}

// out = H x, without the diagonal that a factorisation adds.
FN void multiply(ARGS, REAL e, const REAL *x, REAL *out) {
    const int own = N(nrest) + N(nsoft) > 0;
    // down: the twist of everything at and above a joint; kept where the field's Q was
    for (int k = 0; k < N(nj); k++) {
        const int up = T(parent)[k];
        for (int n = 0; n < 6; n++) {
            REAL V = up < 0 ? splat(0) : W(Q)[21 * up + n];
            for (int i = T(slot)[k]; i < T(slot)[k] + T(jnv)[k]; i++) V = V + x[i] * W(S)[6 * i + n];
            W(Q)[21 * k + n] = V;
            W(push)[6 * k + n] = splat(0);
        }
    }
    for (int k = N(nj) - 1; k >= 0; k--) {
        const int first = T(slot)[k], m = T(jnv)[k], up = T(parent)[k];
        REAL push[6], V[6], y[36], h[21];
        FIELD field;
        for (int n = 0; n < 6; n++) {
            push[n] = W(push)[6 * k + n];
            V[n] = up < 0 ? splat(0) : W(Q)[21 * up + n];
        }
        load_field(PASS, k, e, &field);
        if (T(block)[k]) own_terms(PASS, k, e, h);
        for (int a = 0; a < m; a++) field_times(PASS, k, &field, W(S) + 6 * (first + a), y + 6 * a);
        for (int a = 0; a < m; a++) {
            REAL sum = dot6(W(S) + 6 * (first + a), push) + dot6(y + 6 * a, V);
            for (int b = 0; b < m; b++) {
                const int deep = a > b ? a : b, shallow = a > b ? b : a;
                REAL entry = dot6(W(S) + 6 * (first + shallow), y + 6 * deep);
                if (T(block)[k]) {
                    entry = entry + h[packed(deep, shallow)];
                } else if (own && a == b) {
                    entry = entry + W(own)[first + a];
                }
                sum = sum + entry * x[first + b];
            }
            out[first + a] = sum;
        }
        if (up < 0) continue;
        for (int a = 0; a < m; a++)
            for (int n = 0; n < 6; n++) push[n] = push[n] + x[first + a] * y[6 * a + n];
        for (int n = 0; n < 6; n++) W(push)[6 * up + n] = W(push)[6 * up + n] + push[n];
    }
}
