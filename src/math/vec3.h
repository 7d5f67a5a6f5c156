// SPDX-License-Identifier: MIT
// Vectors and 3x3 matrices, inline.
#pragma once

#include <math.h>

#include "sinew/math.h"

static inline sn_vec3 v3(double x, double y, double z) { return (sn_vec3){x, y, z}; }
static inline sn_vec3 v3_from(const double a[3]) { return (sn_vec3){a[0], a[1], a[2]}; }
static inline sn_vec3 v3_add(sn_vec3 a, sn_vec3 b) { return v3(a.x + b.x, a.y + b.y, a.z + b.z); }
static inline sn_vec3 v3_sub(sn_vec3 a, sn_vec3 b) { return v3(a.x - b.x, a.y - b.y, a.z - b.z); }
static inline sn_vec3 v3_scale(double s, sn_vec3 a) { return v3(s * a.x, s * a.y, s * a.z); }
static inline sn_vec3 v3_neg(sn_vec3 a) { return v3(-a.x, -a.y, -a.z); }
static inline double v3_dot(sn_vec3 a, sn_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline double v3_norm(sn_vec3 a) { return sqrt(v3_dot(a, a)); }
static inline sn_vec3 v3_cross(sn_vec3 a, sn_vec3 b) {
    return v3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static inline bool v3_finite(sn_vec3 a) { return isfinite(a.x) && isfinite(a.y) && isfinite(a.z); }

/// Component i (0, 1, 2).
static inline double v3_at(sn_vec3 a, int i) { return i == 0 ? a.x : i == 1 ? a.y : a.z; }

/// The i-th unit vector.
static inline sn_vec3 v3_unit(int i) { return v3(i == 0, i == 1, i == 2); }

static inline sn_mat3 m3_identity(void) { return (sn_mat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}; }
static inline sn_mat3 m3_zero(void) { return (sn_mat3){{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}}; }
static inline sn_mat3 m3_diagonal(double d) { return (sn_mat3){{{d, 0, 0}, {0, d, 0}, {0, 0, d}}}; }

/// A x
static inline sn_vec3 m3_mul(const sn_mat3 *A, sn_vec3 x) {
    return v3(A->c[0].x * x.x + A->c[1].x * x.y + A->c[2].x * x.z,
              A->c[0].y * x.x + A->c[1].y * x.y + A->c[2].y * x.z,
              A->c[0].z * x.x + A->c[1].z * x.y + A->c[2].z * x.z);
}

/// A^T x
static inline sn_vec3 m3_tmul(const sn_mat3 *A, sn_vec3 x) {
    return v3(v3_dot(A->c[0], x), v3_dot(A->c[1], x), v3_dot(A->c[2], x));
}

static inline sn_mat3 m3_mulm(const sn_mat3 *A, const sn_mat3 *B) {
    return (sn_mat3){{m3_mul(A, B->c[0]), m3_mul(A, B->c[1]), m3_mul(A, B->c[2])}};
}

static inline sn_mat3 m3_transpose(const sn_mat3 *A) {
    return (sn_mat3){{{A->c[0].x, A->c[1].x, A->c[2].x},
                      {A->c[0].y, A->c[1].y, A->c[2].y},
                      {A->c[0].z, A->c[1].z, A->c[2].z}}};
}

static inline sn_mat3 m3_add(const sn_mat3 *A, const sn_mat3 *B) {
    return (sn_mat3){
        {v3_add(A->c[0], B->c[0]), v3_add(A->c[1], B->c[1]), v3_add(A->c[2], B->c[2])}};
}

static inline sn_mat3 m3_scale(double s, const sn_mat3 *A) {
    return (sn_mat3){{v3_scale(s, A->c[0]), v3_scale(s, A->c[1]), v3_scale(s, A->c[2])}};
}

/// The matrix [v]x with [v]x x = v x x.
static inline sn_mat3 m3_skew(sn_vec3 v) {
    return (sn_mat3){{{0, v.z, -v.y}, {-v.z, 0, v.x}, {v.y, -v.x, 0}}};
}

/// Where frame `inner`, given inside `outer`, lies outside.
static inline sn_frame frame_mul(const sn_frame *outer, const sn_frame *inner) {
    return (sn_frame){m3_mulm(&outer->R, &inner->R), v3_add(outer->p, m3_mul(&outer->R, inner->p))};
}

/// S + x T
static inline sn_twist twist_add(sn_twist S, double x, sn_twist T) {
    return (sn_twist){v3_add(S.a, v3_scale(x, T.a)), v3_add(S.b, v3_scale(x, T.b))};
}

/// V x S: how the twist S changes when V carries it.
static inline sn_twist twist_cross(sn_twist V, sn_twist S) {
    return (sn_twist){v3_cross(V.a, S.a), v3_add(v3_cross(V.a, S.b), v3_cross(V.b, S.a))};
}
