// SPDX-License-Identifier: MIT
// A hinge that also slides along its axis, `pitch` metres per radian: the sum of both twists.
#include "model/joint.h"

static void place(const sn_joint *joint, const double *q, const sn_angle *angle,
                  const sn_frame *base, sn_frame *out, sn_twist *S) {
    *out = *base;
    sn_vec3 a = turn(&out->R, joint->aligned, joint->axis, angle[0]);
    out->p = v3_add(base->p, v3_scale(joint->pitch * q[0], a));
    S[0] = twist_about(a, base->p);
    S[0].b = v3_add(S[0].b, v3_scale(joint->pitch, a));
}

const sn_joint_ops sn_joint_screw = {
    .name = "screw", .nq = 1, .nv = 1, .angles = 1, .place = place, .quaternion = -1};
