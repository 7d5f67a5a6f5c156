// SPDX-License-Identifier: MIT
// A translation in the parent-side frame, then a ball at that place.
#include "model/joint_ball.h"

static void place(const sn_joint *joint, const double *q, const sn_angle *angle,
                  const sn_frame *base, sn_frame *out, sn_twist *S) {
    (void)joint, (void)angle;
    for (int i = 0; i < 3; i++) S[i] = twist_along(base->R.c[i]);
    sn_frame moved = {base->R, v3_add(base->p, m3_mul(&base->R, v3_from(q)))};
    sn_ball_place(q + 3, &moved, out, S + 3);
}

static void curve(const sn_joint *joint, const double *q, const sn_frame *base, sn_vec3 e[3][3]) {
    (void)joint, (void)q;
    sn_ball_curve(base, e);
}

static void integrate(const double *q, const double *delta, double *out) {
    for (int i = 0; i < 3; i++) out[i] = q[i] + delta[i];
    sn_ball_integrate(q + 3, delta + 3, out + 3);
}

static void difference(const double *q0, const double *q1, double *delta) {
    for (int i = 0; i < 3; i++) delta[i] = q1[i] - q0[i];
    sn_ball_difference(q0 + 3, q1 + 3, delta + 3);
}

static void normalize(bool limited, double *q) {
    (void)limited;
    sn_ball_normalize(q + 3);
}

const sn_joint_ops sn_joint_free = {.name = "free",
                                    .nq = 7,
                                    .nv = 6,
                                    .place = place,
                                    .curve = curve,
                                    .curve_first = 3,
                                    .curve_count = 3,
                                    .integrate = integrate,
                                    .difference = difference,
                                    .normalize = normalize,
                                    .lengths = {true, true, true},
                                    .quaternion = 3};
