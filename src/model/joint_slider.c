// SPDX-License-Identifier: MIT
#include "model/joint.h"

static void place(const sn_joint *joint, const double *q, const sn_angle *angle,
                  const sn_frame *base, sn_frame *out, sn_twist *S) {
    (void)angle;
    S[0] = twist_along(m3_mul(&base->R, joint->axis));
    out->R = base->R;
    out->p = v3_add(base->p, v3_scale(q[0], S[0].b));
}

const sn_joint_ops sn_joint_slider = {
    .name = "slider", .nq = 1, .nv = 1, .place = place, .lengths = {true}, .quaternion = -1};
