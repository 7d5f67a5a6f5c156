// SPDX-License-Identifier: MIT
// Limits of a ball: a cone for its axis, a range for the twist about it.
//
// R = swing twist, with a the axis at rest and d = R a where it points: the swing turns a to d the short way,
// about n = a x d / |a x d|, and the twist turns about a before. With a turn exp(w) of the parent-side frame
//
//   d swing = n . w        d twist = m . w,   m = (a + d) / (1 + a . d)
//
// n and m are at right angles, so that each limit can be kept without touching the other.
#include "math/atan2.h"
#include "math/rotation.h"
#include "model/joint.h"

static sn_quat twist_of(const sn_joint *j, const double quat[4]) {
    sn_vec3 a = j->axis;
    double along = a.x * quat[1] + a.y * quat[2] + a.z * quat[3], w = quat[0];
    double norm = sqrt(w * w + along * along);
    if (!(norm > 0)) return (sn_quat){1, 0, 0, 0};  // half a turn over: any twist will do
    w /= norm;
    along /= norm;
    return (sn_quat){w, along * a.x, along * a.y, along * a.z};
}

sn_cone_at sn_cone_measure(const sn_joint *j, const double quat[4]) {
    sn_cone_at at = {0};
    sn_mat3 R = sn_mat3_from_quat((sn_quat){quat[0], quat[1], quat[2], quat[3]});
    sn_vec3 a = j->axis, d = m3_mul(&R, a), across = v3_cross(a, d);
    double sine = v3_norm(across), cosine = v3_dot(a, d);
    sn_quat t = twist_of(j, quat);
    at.tilted = d;
    at.swing = sn_atan2(sine, cosine);
    if (sine > 1e-12) at.n = v3_scale(1 / sine, across);
    double half = sn_atan2(a.x * t.x + a.y * t.y + a.z * t.z, t.w);
    at.twist = 2 * half;
    if (at.twist > 0x1.921fb54442d18p+1) at.twist -= 0x1.921fb54442d18p+2;
    if (at.twist < -0x1.921fb54442d18p+1) at.twist += 0x1.921fb54442d18p+2;
    if (1 + cosine > 1e-9) at.m = v3_scale(1 / (1 + cosine), v3_add(a, d));
    return at;
}

bool sn_cone_put(const sn_joint *j, unsigned held, double quat[4]) {
    sn_cone_at at = sn_cone_measure(j, quat);
    double swing = fmin(at.swing, j->swing);
    double twist = sn_angle_near(at.twist, at.twist, j->twist[0], j->twist[1]);
    if (held & SN_CONE_SWING) swing = j->swing;
    if (held & SN_CONE_LOWER) twist = j->twist[0];
    if (held & SN_CONE_UPPER) twist = j->twist[1];
    if (swing == at.swing && twist == at.twist) return false;
    sn_vec3 n = at.n;
    if (v3_dot(n, n) == 0) n = j->u;  // it leans nowhere, or over by half a turn
    sn_quat q = sn_quat_mul(sn_quat_exp(v3_scale(swing, n)), sn_quat_exp(v3_scale(twist, j->axis)));
    double sign = q.w * quat[0] + q.x * quat[1] + q.y * quat[2] + q.z * quat[3] < 0 ? -1 : 1;
    quat[0] = sign * q.w;
    quat[1] = sign * q.x;
    quat[2] = sign * q.y;
    quat[3] = sign * q.z;
    return true;
}
