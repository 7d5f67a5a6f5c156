// SPDX-License-Identifier: MIT
// Hyper-dual numbers in long doubles, and vectors and rotations of them: what the reference computes with.
#pragma once

#include <math.h>
#include <stdlib.h>

typedef long double real;

// Hyper-dual numbers: a value, its derivatives along two directions, and the mixed second one.

typedef struct hyper {
    real v, a, b, ab;
} hyper;

typedef struct vec {
    hyper c[3];
} vec;

// A unit quaternion, w x y z; it stays one in its derivatives too.
typedef struct quat {
    hyper w;
    vec v;
} quat;

typedef struct frame {
    quat R;
    vec p;
} frame;

static inline hyper constant(real v) { return (hyper){v, 0, 0, 0}; }

static inline hyper add(hyper x, hyper y) {
    return (hyper){x.v + y.v, x.a + y.a, x.b + y.b, x.ab + y.ab};
}

static inline hyper sub(hyper x, hyper y) {
    return (hyper){x.v - y.v, x.a - y.a, x.b - y.b, x.ab - y.ab};
}

static inline hyper scale(real s, hyper x) { return (hyper){s * x.v, s * x.a, s * x.b, s * x.ab}; }

static inline hyper mul(hyper x, hyper y) {
    return (hyper){x.v * y.v, x.v * y.a + x.a * y.v, x.v * y.b + x.b * y.v,
                   x.v * y.ab + x.a * y.b + x.b * y.a + x.ab * y.v};
}

// A function of x, given with its first two derivatives at x.v.
static inline hyper apply(hyper x, real f, real f1, real f2) {
    return (hyper){f, f1 * x.a, f1 * x.b, f1 * x.ab + f2 * x.a * x.b};
}

static inline hyper sine(hyper x) {
    const real s = sinl(x.v), c = cosl(x.v);
    return apply(x, s, c, -s);
}

static inline hyper cosine(hyper x) {
    const real s = sinl(x.v), c = cosl(x.v);
    return apply(x, c, -s, -c);
}

// A power series at x, 0 <= x.v < 1, whose coefficients come from 1 by these ratios.
static inline hyper series(hyper x, real (*ratio)(int k)) {
    real f = 0, f1 = 0, f2 = 0, c = 1;
    real power = 1, power1 = 0, power2 = 0;  // x^k, x^(k-1), x^(k-2)
    for (int k = 0; k < 100; k++) {
        f += c * power;
        f1 += c * power1 * (real)k;
        f2 += c * power2 * (real)(k * (k - 1));
        if (k >= 2 && fabsl(c * power2) < 1e-26L) break;
        c *= ratio(k);
        power2 = power1;
        power1 = power;
        power *= x.v;
    }
    return apply(x, f, f1, f2);
}

static inline real cosine_ratio(int k) { return -1 / (real)((2 * k + 1) * (2 * k + 2)); }
static inline real sinc_ratio(int k) { return -1 / (real)((2 * k + 2) * (2 * k + 3)); }
static inline real arcsine_ratio(int k) {
    return (real)((2 * k + 1) * (2 * k + 1)) / (real)((2 * k + 2) * (2 * k + 3));
}

// cos(t) and sin(t) / t as functions of x = t^2, in which both are analytic at 0.
static inline void cosine_sinc(hyper x, hyper *cos_t, hyper *sinc_t) {
    if (x.v < 1) {
        *cos_t = series(x, cosine_ratio);
        *sinc_t = series(x, sinc_ratio);
        return;
    }
    const real t = sqrtl(x.v), c = cosl(t), s = sinl(t) / t;
    const real c1 = -s / 2, s1 = (c - s) / (2 * x.v);
    const real c2 = -s1 / 2, s2 = (c1 - 3 * s1) / (2 * x.v);
    *cos_t = apply(x, c, c1, c2);
    *sinc_t = apply(x, s, s1, s2);
}

// Vectors.

static inline vec vec_constant(const real x[3]) {
    return (vec){{constant(x[0]), constant(x[1]), constant(x[2])}};
}

static inline vec vec_given(const double x[3]) {
    return (vec){{constant(x[0]), constant(x[1]), constant(x[2])}};
}

static inline vec vec_add(vec x, vec y) {
    return (vec){{add(x.c[0], y.c[0]), add(x.c[1], y.c[1]), add(x.c[2], y.c[2])}};
}

static inline vec vec_sub(vec x, vec y) {
    return (vec){{sub(x.c[0], y.c[0]), sub(x.c[1], y.c[1]), sub(x.c[2], y.c[2])}};
}

static inline vec vec_mul(hyper s, vec x) {
    return (vec){{mul(s, x.c[0]), mul(s, x.c[1]), mul(s, x.c[2])}};
}

static inline hyper dot(vec x, vec y) {
    return add(add(mul(x.c[0], y.c[0]), mul(x.c[1], y.c[1])), mul(x.c[2], y.c[2]));
}

static inline vec cross(vec x, vec y) {
    return (vec){{sub(mul(x.c[1], y.c[2]), mul(x.c[2], y.c[1])),
                  sub(mul(x.c[2], y.c[0]), mul(x.c[0], y.c[2])),
                  sub(mul(x.c[0], y.c[1]), mul(x.c[1], y.c[0]))}};
}

static inline vec unit(const double x[3]) {
    const real a = x[0], b = x[1], c = x[2], length = sqrtl(a * a + b * b + c * c);
    return vec_constant((real[3]){a / length, b / length, c / length});
}

// Rotations.

static inline quat quat_given(const double q[4]) {
    const real w = q[0], x = q[1], y = q[2], z = q[3];
    const real length = sqrtl(w * w + x * x + y * y + z * z);
    return (quat){constant(w / length),
                  vec_constant((real[3]){x / length, y / length, z / length})};
}

static inline quat quat_mul(quat p, quat q) {
    return (quat){sub(mul(p.w, q.w), dot(p.v, q.v)),
                  vec_add(vec_add(vec_mul(p.w, q.v), vec_mul(q.w, p.v)), cross(p.v, q.v))};
}

static inline quat quat_conj(quat q) { return (quat){q.w, vec_mul(constant(-1), q.v)}; }

static inline vec rotate(quat q, vec x) {
    const vec t = vec_mul(constant(2), cross(q.v, x));
    return vec_add(vec_add(x, vec_mul(q.w, t)), cross(q.v, t));
}

static inline quat quat_about(vec axis, hyper angle) {
    const hyper half = scale(0.5L, angle);
    return (quat){cosine(half), vec_mul(sine(half), axis)};
}

static inline quat quat_exp(vec x) {
    hyper c, s;
    cosine_sinc(scale(0.25L, dot(x, x)), &c, &s);
    return (quat){c, vec_mul(scale(0.5L, s), x)};
}

// The rotation vector, at most pi long: angle / sin(angle / 2) times the vector part.
static inline vec quat_log(quat q) {
    if (q.w.v < 0) q = (quat){scale(-1, q.w), vec_mul(constant(-1), q.v)};
    const hyper n2 = dot(q.v, q.v);
    if (n2.v < 0.25L) return vec_mul(scale(2, series(n2, arcsine_ratio)), q.v);
    // As a function h of w alone, for n^2 = 1 - w^2: n^2 h' = w h - 2, n^2 h'' = 3 w h' + h.
    const real w = q.w.v, n = sqrtl(n2.v), h = 2 * atan2l(n, w) / n;
    const real h1 = (w * h - 2) / n2.v, h2 = (3 * w * h1 + h) / n2.v;
    return vec_mul(apply(q.w, h, h1, h2), q.v);
}
