// SPDX-License-Identifier: MIT
// What the tests of the documents' errata share: small rotations and the verdict on a pair of formulas.
#pragma once

#include "math/vec3.h"
#include "support.h"

static inline sn_vec3 random_vector(uint64_t *state) {
    return v3(uniform(state, -1, 1), uniform(state, -1, 1), uniform(state, -1, 1));
}

static inline sn_vec3 random_axis(uint64_t *state) {
    sn_vec3 v = random_vector(state);
    return v3_scale(1 / v3_norm(v), v);
}

static inline sn_mat3 turn(sn_vec3 axis, double angle) {
    return sn_mat3_from_quat(sn_quat_exp(v3_scale(angle / v3_norm(axis), axis)));
}

static inline sn_vec3 log_of(sn_mat3 R) { return sn_quat_log(sn_quat_from_mat3(R)); }
static inline sn_vec3 apply(sn_mat3 R, sn_vec3 x) { return m3_mul(&R, x); }
static inline sn_mat3 times(sn_mat3 A, sn_mat3 B) { return m3_mulm(&A, &B); }
static inline sn_mat3 transposed(sn_mat3 A) { return m3_transpose(&A); }
static inline double gap(sn_vec3 a, sn_vec3 b) { return v3_norm(v3_sub(a, b)); }
static inline double gap3(sn_mat3 A, sn_mat3 B) {
    return fmax(gap(A.c[0], B.c[0]), fmax(gap(A.c[1], B.c[1]), gap(A.c[2], B.c[2])));
}
static const sn_vec3 ex = {1, 0, 0}, ey = {0, 1, 0}, ez = {0, 0, 1};

// How wrong the printed and the right formula are; the one must be far off, the other at `exact`.
static inline void judge(const char *what, double printed, double right, double exact) {
    print_message("%-46s printed %.1e, right %.1e\n", what, printed, right);
    assert_true(printed > 1e-2);
    assert_true(right < exact);
}
