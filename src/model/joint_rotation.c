// SPDX-License-Identifier: MIT
// A joint's rotation as a matrix, and back to coordinates.
#include "math/atan2.h"
#include "math/rotation.h"
#include "math/sincos.h"
#include "model/joint.h"

// Of parts of a rotation: neither large nor worth hypot()'s care, which differs between platforms.
static double length(double x, double y) { return sqrt(x * x + y * y); }

// R_rc, row r and column c.
static double entry(const sn_mat3 *R, int r, int c) { return v3_at(R->c[c], r); }

void sn_euler_from_rotation(const int order[3], const sn_mat3 *R, double angles[3]) {
    int i = order[0], j = order[1], k = order[2];
    bool proper = i == k;
    int third = proper ? 3 - i - j : k;
    double e = (i + 1) % 3 == j ? 1 : -1;  // is (i, j, third) an even permutation?
    if (proper) {
        angles[0] = sn_atan2(entry(R, j, i), -e * entry(R, third, i));
        angles[1] = sn_atan2(length(entry(R, i, j), entry(R, i, third)), entry(R, i, i));
        angles[2] = sn_atan2(entry(R, i, j), e * entry(R, i, third));
    } else {
        angles[0] = sn_atan2(-e * entry(R, j, k), entry(R, k, k));
        angles[1] = sn_atan2(e * entry(R, i, k), length(entry(R, i, i), entry(R, i, j)));
        angles[2] = sn_atan2(-e * entry(R, i, j), entry(R, i, i));
    }
    // at gimbal lock only the sum or difference of the outer two is known: give it all to the first
    sn_mat3 back = m3_identity();
    double off = 0;
    for (int n = 0; n < 3; n++) {
        sn_angle turn;
        sn_sincos_inline(angles[n], &turn.s, &turn.c);
        turn_coordinate(&back, order[n], turn);
    }
    for (int c = 0; c < 3; c++) off = fmax(off, v3_norm(v3_sub(back.c[c], R->c[c])));
    if (off < 1e-6) return;
    angles[2] = 0;
    // R R_B(-b): what is left is a turn about the first axis
    sn_mat3 rest = *R;
    sn_angle turn;
    sn_sincos_inline(-angles[1], &turn.s, &turn.c);
    turn_coordinate(&rest, j, turn);
    int m = (i + 1) % 3, n = (i + 2) % 3;
    angles[0] = sn_atan2(entry(&rest, n, m), entry(&rest, m, m));
}

static sn_quat quat_at(const double *q) { return (sn_quat){q[0], q[1], q[2], q[3]}; }

sn_mat3 sn_joint_rotation(const sn_joint *joint, const double *q) {
    const sn_frame here = {m3_identity(), {0, 0, 0}};
    sn_frame out;
    sn_twist S[SN_MAX_JOINT_DOFS];
    sn_angle angle[SN_MAX_JOINT_DOFS];
    for (int i = 0; i < joint->nv; i++)
        if (joint->ops->angles >> i & 1) sn_sincos_inline(q[i], &angle[i].s, &angle[i].c);
    joint->ops->place(joint, q, angle, &here, &out, S);
    return out.R;
}

bool sn_joint_set_rotation(const sn_joint *joint, const sn_mat3 *R, double *q) {
    if (joint->type == SN_JOINT_EULER) {
        sn_euler_from_rotation(joint->order, R, q);
        return true;
    }
    if (joint->type == SN_JOINT_EXPMAP) {
        sn_vec3 w = sn_quat_log(sn_quat_from_mat3(*R));
        q[0] = w.x;
        q[1] = w.y;
        q[2] = w.z;
        return true;
    }
    if (joint->ops->quaternion < 0) return false;
    double *to = q + joint->ops->quaternion;
    sn_quat p = sn_quat_from_mat3(*R), old = quat_at(to);
    double sign = p.w * old.w + p.x * old.x + p.y * old.y + p.z * old.z < 0 ? -1 : 1;
    to[0] = sign * p.w;
    to[1] = sign * p.x;
    to[2] = sign * p.y;
    to[3] = sign * p.z;
    if (joint->cone) (void)sn_cone_clamp(joint, to);
    return true;
}
