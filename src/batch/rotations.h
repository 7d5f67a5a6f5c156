// SPDX-License-Identifier: MIT
// Small vectors and rotations of core.h: as math/rotation.c has them.

// A part that is a function of its own begins with HERE. On the processor it makes the lists' addresses its own: after
// every number that is stored they would else be read again. It hands those that it was given on to other parts.
#ifndef HERE
#define HERE
#define PART_ARGS ARGS
#define PASS_ON   PASS
#endif

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
    UNROLL for (int i = 0; i < 3; i++) out[i] = R[i] * x + R[3 + i] * y + R[6 + i] * z;
}

// A B, both by columns.
FN void product3(const REAL *A, const REAL *B, REAL *out) {
    UNROLL for (int c = 0; c < 3; c++) turn3(A, B[3 * c], B[3 * c + 1], B[3 * c + 2], out + 3 * c);
}

FN int packed(int i, int j) { return i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i; }

// Row i of A x, A symmetric 6 x 6.
FN REAL symmetric_row(const REAL *A, int i, const REAL *x) {
    const REAL a = A[packed(i, 0)] * x[0] + A[packed(i, 1)] * x[1];
    const REAL b = A[packed(i, 2)] * x[2] + A[packed(i, 3)] * x[3];
    return (a + b) + (A[packed(i, 4)] * x[4] + A[packed(i, 5)] * x[5]);
}

// y += A x
FN void add_symmetric(const REAL *A, const REAL *x, REAL *y) {
    UNROLL for (int i = 0; i < 6; i++) y[i] = y[i] + symmetric_row(A, i, x);
}

// y -= A x
FN void take_symmetric(const REAL *A, const REAL *x, REAL *y) {
    UNROLL for (int i = 0; i < 6; i++) y[i] = y[i] - symmetric_row(A, i, x);
}

// Q += s y y^T
FN void add_square(REAL *Q, const REAL *y, REAL s) {
    UNROLL for (int i = 0; i < 6; i++) {
        const REAL z = s * y[i];
        UNROLL for (int j = 0; j <= i; j++) Q[i * (i + 1) / 2 + j] =
            Q[i * (i + 1) / 2 + j] + z * y[j];
    }
}

#define SERIES(z, a, b, c, d, e, f, g, h, i, k)                                                    \
    ((a) +                                                                                         \
     (z) * ((b) +                                                                                  \
            (z) * ((c) +                                                                           \
                   (z) * ((d) +                                                                    \
                          (z) * ((e) +                                                             \
                                 (z) * ((f) +                                                      \
                                        (z) * ((g) + (z) * ((h) + (z) * ((i) + (z) * (k))))))))))

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
    UNROLL for (int i = 0; i < 3; i++) out[i] = x[i] + (k[1] * wx[i] + k[2] * wwx[i]);
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
    UNROLL for (int i = 0; i < 3; i++) out[i] =
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
    const REAL low = d - d * z *
                             SERIES(z, splat(1. / 3.), -1. / 5., 1. / 7., -1. / 9., 1. / 11.,
                                    -1. / 13., 1. / 15., -1. / 17., 1. / 19., -1. / 21.);
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
    UNROLL for (int i = 0; i < 3; i++) v[i] = sign * ratio * q[1 + i];
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
    UNROLL for (int i = 0; i < 4; i++) q[i] = norm * q[i];
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
    UNROLL for (int i = 0; i < 3; i++) out[i] = x[i] + (0.5 * wx[i] + c * wwx[i]);
}

// R <- R turned about its column n by (s, c), the next two are j and k; a: that column.
FN void turn_column(int n, int j, int k, REAL s, REAL c, REAL *R, REAL *a) {
    UNROLL for (int i = 0; i < 3; i++) {
        a[i] = R[3 * n + i];
        const REAL cj = R[3 * j + i], ck = R[3 * k + i];
        R[3 * j + i] = c * cj + s * ck;
        R[3 * k + i] = c * ck - s * cj;
    }
}

// R <- R turned about its own axis by (s, c); a: that axis outside. Columns are named one by one, so that a
// device can keep R in registers.
FN void turn_about(int aligned, NUMBER lx, NUMBER ly, NUMBER lz, REAL s, REAL c, REAL *R, REAL *a) {
    if (aligned == 0) {
        turn_column(0, 1, 2, s, c, R, a);
        return;
    }
    if (aligned == 1) {
        turn_column(1, 2, 0, s, c, R, a);
        return;
    }
    if (aligned == 2) {
        turn_column(2, 0, 1, s, c, R, a);
        return;
    }
    turn3(R, splat(lx), splat(ly), splat(lz), a);
    const REAL v = 1.0 - c, sx = s * lx, sy = s * ly, sz = s * lz;
    UNROLL for (int i = 0; i < 3; i++) {
        const REAL x = R[i], y = R[3 + i], z = R[6 + i], va = v * a[i];
        R[i] = c * x + ((sz * y - sy * z) + lx * va);
        R[3 + i] = c * y + ((sx * z - sz * x) + ly * va);
        R[6 + i] = c * z + ((sy * x - sx * y) + lz * va);
    }
}

// A turn about a through o as a twist; a slide along u.
FN void put_turn(REAL *S, const REAL *a, const REAL *o) {
    UNROLL for (int k = 0; k < 3; k++) S[k] = a[k];
    cross3(o, a, S + 3);
}

FN void put_slide(REAL *S, const REAL *u) {
    UNROLL for (int k = 0; k < 3; k++) S[k] = splat(0), S[3 + k] = u[k];
}
