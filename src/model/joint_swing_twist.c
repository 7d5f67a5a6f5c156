// SPDX-License-Identifier: MIT
// 001 (docs/bibliography.md) section 4.2: a swing exp(s_u u + s_v v) with u, v across the twist axis, then a twist about
// that axis as an inner hinge. The twist needs nothing special; the two swing angles have the same
// second derivatives as two coordinates of a rotation vector.
#include "math/rotation.h"
#include "model/joint.h"

static sn_vec3 swing(const sn_joint *joint, const double *q) {
    return v3_add(v3_scale(q[0], joint->u), v3_scale(q[1], joint->v));
}

static void place(const sn_joint *joint, const double *q, const sn_angle *angle,
                  const sn_frame *base, sn_frame *out, sn_twist *S) {
    sn_vec3 w = swing(joint, q);
    sn_expmap k = sn_expmap_at(v3_dot(w, w));
    sn_mat3 R = sn_expmap_rotation(&k, w);
    S[0] = twist_about(m3_mul(&base->R, sn_expmap_jacobian(&k, w, joint->u)), base->p);
    S[1] = twist_about(m3_mul(&base->R, sn_expmap_jacobian(&k, w, joint->v)), base->p);
    out->R = m3_mulm(&base->R, &R);
    out->p = base->p;
    S[2] = twist_about(turn(&out->R, joint->aligned, joint->axis, angle[2]), base->p);
}

static void curve(const sn_joint *joint, const double *q, const sn_frame *base, sn_vec3 e[3][3]) {
    sn_vec3 w = swing(joint, q);
    sn_expmap k = sn_expmap_at(v3_dot(w, w));
    const sn_vec3 axis[2] = {joint->u, joint->v};
    sn_vec3 J[2];
    for (int i = 0; i < 2; i++) J[i] = sn_expmap_jacobian(&k, w, axis[i]);
    for (int a = 0; a < 2; a++) {
        for (int b = 0; b <= a; b++) {
            sn_vec3 change = sn_expmap_jacobian_change(&k, w, axis[a], axis[b]);
            e[a][b] = m3_mul(&base->R, v3_sub(change, v3_cross(J[b], J[a])));
        }
    }
}

static void normalize(bool limited, double *q) {
    if (limited) return;
    sn_vec3 w = sn_expmap_wrap(v3(q[0], q[1], 0));
    q[0] = w.x;
    q[1] = w.y;
}

const sn_joint_ops sn_joint_swing_twist = {.name = "swing-twist",
                                           .nq = 3,
                                           .nv = 3,
                                           .angles = 4,
                                           .place = place,
                                           .curve = curve,
                                           .curve_count = 2,
                                           .normalize = normalize,
                                           .quaternion = -1};
