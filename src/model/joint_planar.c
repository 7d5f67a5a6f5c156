// SPDX-License-Identifier: MIT
// Two translations u, v in the plane across `axis`, then a rotation about it.
#include "model/joint.h"

static void place(const sn_joint *joint, const double *q, const sn_angle *angle,
                  const sn_frame *base, sn_frame *out, sn_twist *S) {
    S[0] = twist_along(m3_mul(&base->R, joint->u));
    S[1] = twist_along(m3_mul(&base->R, joint->v));
    out->p = v3_add(base->p, v3_add(v3_scale(q[0], S[0].b), v3_scale(q[1], S[1].b)));
    out->R = base->R;
    S[2] = twist_about(turn(&out->R, joint->aligned, joint->axis, angle[2]), out->p);
}

const sn_joint_ops sn_joint_planar = {.name = "planar",
                                      .nq = 3,
                                      .nv = 3,
                                      .angles = 4,
                                      .place = place,
                                      .lengths = {true, true},
                                      .quaternion = -1};
