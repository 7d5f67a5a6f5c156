// SPDX-License-Identifier: MIT
#include "math/rotation.h"

#include "math/atan2.h"
#include "math/sincos.h"

static const double pi = 0x1.921fb54442d18p+1;

enum { TERMS = 10 };  // exact to the last bit up to t = 1

// c[0] + z (c[1] + z (...))
static double series(const double c[TERMS], double z) {
    double sum = c[TERMS - 1];
    for (int i = TERMS - 2; i >= 0; i--) sum = c[i] + z * sum;
    return sum;
}

sn_expmap sn_expmap_at(double t2) {
    // sum over k of (-1)^k z^k times 1/(2k+1)!, 1/(2k+2)!, 1/(2k+3)!, and the derivatives by z,
    // twice
    static const double sine[TERMS] = {1,
                                       -1. / 6.,
                                       1. / 120.,
                                       -1. / 5040.,
                                       1. / 362880.,
                                       -1. / 39916800.,
                                       1. / 6227020800.,
                                       -1. / 1307674368000.,
                                       1. / 355687428096000.,
                                       -1. / 121645100408832000.};
    static const double alpha[TERMS] = {1. / 2.,
                                        -1. / 24.,
                                        1. / 720.,
                                        -1. / 40320.,
                                        1. / 3628800.,
                                        -1. / 479001600.,
                                        1. / 87178291200.,
                                        -1. / 20922789888000.,
                                        1. / 6402373705728000.,
                                        -1. / 2432902008176640000.};
    static const double beta[TERMS] = {1. / 6.,
                                       -1. / 120.,
                                       1. / 5040.,
                                       -1. / 362880.,
                                       1. / 39916800.,
                                       -1. / 6227020800.,
                                       1. / 1307674368000.,
                                       -1. / 355687428096000.,
                                       1. / 121645100408832000.,
                                       -1. / 51090942171709440000.};
    static const double dalpha[TERMS] = {-1. / 12.,
                                         1. / 180.,
                                         -1. / 6720.,
                                         1. / 453600.,
                                         -1. / 47900160.,
                                         1. / 7264857600.,
                                         -1. / 1494484992000.,
                                         1. / 400148356608000.,
                                         -1. / 135161222676480000.,
                                         1. / 56200036388880384000.};
    static const double dbeta[TERMS] = {-1. / 60.,
                                        1. / 1260.,
                                        -1. / 60480.,
                                        1. / 4989600.,
                                        -1. / 622702080.,
                                        1. / 108972864000.,
                                        -1. / 25406244864000.,
                                        1. / 7602818775552000.,
                                        -1. / 2838385676206080000.,
                                        1. / 1292600836944248832000.};
    if (t2 < 1) {
        return (sn_expmap){series(sine, t2), series(alpha, t2), series(beta, t2),
                           series(dalpha, t2), series(dbeta, t2)};
    }
    double t = sqrt(t2), s, c;
    sn_sincos_inline(t, &s, &c);
    double versine = 1 - c;
    return (sn_expmap){s / t, versine / t2, (t - s) / (t * t2), (t * s - 2 * versine) / (t2 * t2),
                       (3 * s - t * c - 2 * t) / (t2 * t2 * t)};
}

sn_mat3 sn_expmap_rotation(const sn_expmap *k, sn_vec3 w) {
    // columns e + sine w x e + alpha w x (w x e)
    double diagonal = 1 - k->alpha * v3_dot(w, w);
    sn_vec3 aw = v3_scale(k->alpha, w), sw = v3_scale(k->sine, w);
    return (sn_mat3){{{diagonal + aw.x * w.x, aw.x * w.y + sw.z, aw.x * w.z - sw.y},
                      {aw.y * w.x - sw.z, diagonal + aw.y * w.y, aw.y * w.z + sw.x},
                      {aw.z * w.x + sw.y, aw.z * w.y - sw.x, diagonal + aw.z * w.z}}};
}

sn_vec3 sn_expmap_jacobian(const sn_expmap *k, sn_vec3 w, sn_vec3 x) {
    sn_vec3 wx = v3_cross(w, x);
    return v3_add(x, v3_add(v3_scale(k->alpha, wx), v3_scale(k->beta, v3_cross(w, wx))));
}

sn_vec3 sn_expmap_jacobian_change(const sn_expmap *k, sn_vec3 w, sn_vec3 x, sn_vec3 dw) {
    sn_vec3 wx = v3_cross(w, x), dwx = v3_cross(dw, x);
    double along = v3_dot(w, dw);
    sn_vec3 first = v3_add(v3_scale(k->dalpha * along, wx), v3_scale(k->alpha, dwx));
    sn_vec3 twice = v3_add(v3_cross(dw, wx), v3_cross(w, dwx));
    sn_vec3 second = v3_add(v3_scale(k->dbeta * along, v3_cross(w, wx)), v3_scale(k->beta, twice));
    return v3_add(first, second);
}

void sn_log_coefficients(double t2, double *c, double *dc) {
    // sum of |B_2k| z^(k-1) / (2k)!, and twice its derivative by z
    static const double cs[TERMS] = {1. / 12.,
                                     1. / 720.,
                                     1. / 30240.,
                                     1. / 1209600.,
                                     1. / 47900160.,
                                     691. / 1307674368000.,
                                     1. / 74724249600.,
                                     3617. / 10670622842880000.,
                                     43867. / 5109094217170944000.,
                                     174611. / 802857662698291200000.};
    if (t2 < 1) {
        double dcs[TERMS] = {0};
        for (int k = 0; k + 1 < TERMS; k++) dcs[k] = 2 * (k + 1) * cs[k + 1];
        *c = series(cs, t2);
        *dc = series(dcs, t2);
        return;
    }
    double t = sqrt(t2), s, k;
    sn_sincos_inline(0.5 * t, &s, &k);
    double cot = k / s;
    *c = (1 - 0.5 * t * cot) / t2;
    *dc = ((0.25 * t / (s * s) - 0.5 * cot) / t - 2 * *c) / t2;
}

sn_vec3 sn_log_jacobian_right(double c, sn_vec3 w, sn_vec3 x) {
    sn_vec3 wx = v3_cross(w, x);
    return v3_add(x, v3_add(v3_scale(0.5, wx), v3_scale(c, v3_cross(w, wx))));
}

sn_vec3 sn_expmap_wrap(sn_vec3 w) {
    double t = v3_norm(w);
    if (!(t > pi) || !isfinite(t)) return w;
    double turns = nearbyint(t / (2 * pi));
    return v3_scale((t - turns * (2 * pi)) / t, w);
}

sn_mat3 sn_mat3_from_quat(sn_quat q) {
    double square = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
    if (!(square > 1e-200 && square < 1e200)) {
        // squares this small or large lose digits: bring the largest component to 1 first
        double top = fmax(fmax(fabs(q.w), fabs(q.x)), fmax(fabs(q.y), fabs(q.z)));
        q = (sn_quat){q.w / top, q.x / top, q.y / top, q.z / top};
        square = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
    }
    double s = 2 / square;
    double sx = s * q.x, sy = s * q.y, sz = s * q.z;
    double wx = q.w * sx, wy = q.w * sy, wz = q.w * sz;
    double xx = q.x * sx, xy = q.x * sy, xz = q.x * sz;
    double yy = q.y * sy, yz = q.y * sz, zz = q.z * sz;
    return (sn_mat3){{{1 - yy - zz, xy + wz, xz - wy},
                      {xy - wz, 1 - xx - zz, yz + wx},
                      {xz + wy, yz - wx, 1 - xx - yy}}};
}

sn_quat sn_quat_from_mat3(sn_mat3 R) {
    // 4 times the squares of w, x, y, z; divide by the largest only
    double xx = R.c[0].x, yy = R.c[1].y, zz = R.c[2].z;
    double square[4] = {1 + xx + yy + zz, 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz};
    int top = 0;
    for (int i = 1; i < 4; i++)
        if (square[i] > square[top]) top = i;
    double wx = R.c[1].z - R.c[2].y, wy = R.c[2].x - R.c[0].z, wz = R.c[0].y - R.c[1].x;
    double xy = R.c[0].y + R.c[1].x, yz = R.c[1].z + R.c[2].y, zx = R.c[2].x + R.c[0].z;
    double d = square[top];
    sn_quat q = top == 0   ? (sn_quat){d, wx, wy, wz}
                : top == 1 ? (sn_quat){wx, d, xy, zx}
                : top == 2 ? (sn_quat){wy, xy, d, yz}
                           : (sn_quat){wz, zx, yz, d};
    double norm = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    if (q.w < 0) norm = -norm;
    return (sn_quat){q.w / norm, q.x / norm, q.y / norm, q.z / norm};
}

sn_quat sn_quat_exp(sn_vec3 v) {
    sn_expmap half = sn_expmap_at(0.25 * v3_dot(v, v));
    double t = 0.5 * v3_norm(v), s, c;
    sn_sincos_inline(t, &s, &c);
    return (sn_quat){c, 0.5 * half.sine * v.x, 0.5 * half.sine * v.y, 0.5 * half.sine * v.z};
}

sn_quat sn_quat_between(sn_vec3 from, sn_vec3 to, sn_vec3 across) {
    sn_vec3 n = v3_cross(from, to);
    double sine = v3_norm(n), cosine = v3_dot(from, to);
    if (sine < 1e-9 && cosine > 0) return sn_quat_exp(n);
    n = sine > 1e-12 ? v3_scale(1 / sine, n) : across;
    return sn_quat_exp(v3_scale(sn_atan2(sine, cosine), n));
}

sn_vec3 sn_quat_log(sn_quat q) {
    sn_vec3 v = v3(q.x, q.y, q.z);
    double n = v3_norm(v);
    if (q.w < 0) {
        q.w = -q.w;
        v = v3_neg(v);
    }
    // angle = 2 atan2(n, w); for tiny n the ratio 2 atan2(n, w)/n is 2/w
    double ratio = n < 1e-9 * q.w ? 2 / q.w : 2 * sn_atan2(n, q.w) / n;
    return n == 0 ? v3(0, 0, 0) : v3_scale(ratio, v);
}

sn_quat sn_quat_mul(sn_quat p, sn_quat q) {
    return (sn_quat){p.w * q.w - p.x * q.x - p.y * q.y - p.z * q.z,
                     p.w * q.x + p.x * q.w + p.y * q.z - p.z * q.y,
                     p.w * q.y - p.x * q.z + p.y * q.w + p.z * q.x,
                     p.w * q.z + p.x * q.y - p.y * q.x + p.z * q.w};
}

sn_quat sn_quat_conj(sn_quat q) { return (sn_quat){q.w, -q.x, -q.y, -q.z}; }

sn_vec3 sn_rotation_log(const sn_mat3 *R) { return sn_quat_log(sn_quat_from_mat3(*R)); }
