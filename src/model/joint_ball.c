// SPDX-License-Identifier: MIT
#include "model/joint_ball.h"

#include <string.h>

static sn_quat quat_from(const double q[4]) { return (sn_quat){q[0], q[1], q[2], q[3]}; }

static void quat_to(sn_quat p, double q[4]) {
    q[0] = p.w;
    q[1] = p.x;
    q[2] = p.y;
    q[3] = p.z;
}

void sn_ball_place(const double quat[4], const sn_frame *base, sn_frame *out, sn_twist S[3]) {
    sn_mat3 R = sn_mat3_from_quat(quat_from(quat));
    for (int i = 0; i < 3; i++) S[i] = twist_about(base->R.c[i], base->p);
    out->R = m3_mulm(&base->R, &R);
    out->p = base->p;
}

void sn_ball_curve(const sn_frame *base, sn_vec3 e[3][3]) {
    const sn_vec3 *c = base->R.c;
    for (int a = 0; a < 3; a++)
        for (int b = 0; b <= a; b++) e[a][b] = v3_scale(-0.5, v3_cross(c[b], c[a]));
}

void sn_ball_integrate(const double quat[4], const double delta[3], double out[4]) {
    if (delta[0] == 0 && delta[1] == 0 && delta[2] == 0) {
        memmove(out, quat, 4 * sizeof *out);  // what does not move keeps its very bits
        return;
    }
    quat_to(sn_quat_mul(sn_quat_exp(v3_from(delta)), quat_from(quat)), out);
    sn_ball_normalize(out);
}

void sn_ball_difference(const double quat0[4], const double quat1[4], double delta[3]) {
    sn_quat turn = sn_quat_mul(quat_from(quat1), sn_quat_conj(quat_from(quat0)));
    sn_vec3 v = sn_quat_log(turn);
    delta[0] = v.x;
    delta[1] = v.y;
    delta[2] = v.z;
}

void sn_ball_normalize(double quat[4]) {
    double square = quat[0] * quat[0] + quat[1] * quat[1] + quat[2] * quat[2] + quat[3] * quat[3];
    // of unit length already, to rounding: dividing again would only stir the last bits
    if (fabs(square - 1) <= 1e-15) return;
    double norm = sqrt(square);
    if (!(norm > 0) || !isfinite(norm)) return;  // nothing sensible to do; the pose check tells
    for (int i = 0; i < 4; i++) quat[i] /= norm;
}

static void place(const sn_joint *joint, const double *q, const sn_angle *angle,
                  const sn_frame *base, sn_frame *out, sn_twist *S) {
    (void)joint, (void)angle;
    sn_ball_place(q, base, out, S);
}

static void curve(const sn_joint *joint, const double *q, const sn_frame *base, sn_vec3 e[3][3]) {
    (void)joint, (void)q;
    sn_ball_curve(base, e);
}

static void normalize(bool limited, double *q) {
    (void)limited;
    sn_ball_normalize(q);
}

const sn_joint_ops sn_joint_ball = {.name = "ball",
                                    .nq = 4,
                                    .nv = 3,
                                    .place = place,
                                    .curve = curve,
                                    .curve_count = 3,
                                    .integrate = sn_ball_integrate,
                                    .difference = sn_ball_difference,
                                    .normalize = normalize,
                                    .quaternion = 0};
