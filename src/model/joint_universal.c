// SPDX-License-Identifier: MIT
// Two stacked hinges: about axis, then about axis2 as the first turned it.
#include "model/joint.h"

static void place(const sn_joint *joint, const double *q, const sn_angle *angle,
                  const sn_frame *base, sn_frame *out, sn_twist *S) {
    (void)q;
    *out = *base;
    S[0] = twist_about(turn(&out->R, joint->aligned, joint->axis, angle[0]), base->p);
    S[1] = twist_about(turn(&out->R, joint->aligned2, joint->axis2, angle[1]), base->p);
}

const sn_joint_ops sn_joint_universal = {
    .name = "universal", .nq = 2, .nv = 2, .angles = 3, .place = place, .quaternion = -1};
