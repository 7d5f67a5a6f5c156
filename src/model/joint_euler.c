// SPDX-License-Identifier: MIT
// Three stacked hinges about coordinate axes: order ABC gives R_A R_B R_C, the first outermost.
// At gimbal lock two of the axes coincide; the derivatives stay exact, only their rank drops.
#include "model/joint.h"

static void place(const sn_joint *joint, const double *q, const sn_angle *angle,
                  const sn_frame *base, sn_frame *out, sn_twist *S) {
    (void)q;
    *out = *base;
    for (int i = 0; i < 3; i++) {
        int axis = joint->order[i];
        S[i] = twist_about(out->R.c[axis], base->p);
        turn_coordinate(&out->R, axis, angle[i]);
    }
}

const sn_joint_ops sn_joint_euler = {
    .name = "euler", .nq = 3, .nv = 3, .angles = 7, .place = place, .quaternion = -1};
