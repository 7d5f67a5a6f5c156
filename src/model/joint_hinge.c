// SPDX-License-Identifier: MIT
#include "model/joint.h"

static void place(const sn_joint *joint, const double *q, const sn_angle *angle,
                  const sn_frame *base, sn_frame *out, sn_twist *S) {
    (void)q;
    *out = *base;
    S[0] = twist_about(turn(&out->R, joint->aligned, joint->axis, angle[0]), base->p);
}

const sn_joint_ops sn_joint_hinge = {
    .name = "hinge", .nq = 1, .nv = 1, .angles = 1, .place = place, .quaternion = -1};
