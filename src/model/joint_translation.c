// SPDX-License-Identifier: MIT
#include "model/joint.h"

static void place(const sn_joint *joint, const double *q, const sn_angle *angle,
                  const sn_frame *base, sn_frame *out, sn_twist *S) {
    (void)joint, (void)angle;
    for (int i = 0; i < 3; i++) S[i] = twist_along(base->R.c[i]);
    out->R = base->R;
    out->p = v3_add(base->p, m3_mul(&base->R, v3_from(q)));
}

const sn_joint_ops sn_joint_translation = {.name = "translation",
                                           .nq = 3,
                                           .nv = 3,
                                           .place = place,
                                           .lengths = {true, true, true},
                                           .quaternion = -1};
