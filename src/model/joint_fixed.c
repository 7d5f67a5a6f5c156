// SPDX-License-Identifier: MIT
#include "model/joint.h"

static void place(const sn_joint *joint, const double *q, const sn_angle *angle,
                  const sn_frame *base, sn_frame *out, sn_twist *S) {
    (void)joint, (void)q, (void)angle, (void)S;
    *out = *base;
}

const sn_joint_ops sn_joint_fixed = {.name = "fixed", .place = place, .quaternion = -1};
