// SPDX-License-Identifier: MIT
// A rotation vector w that is added to: R = exp(w), S_a = R_base J_l(w) e_a. Equation (46a) of 001 (docs/bibliography.md)
// leaves out the same-joint term dJ_l/dw_b; it is needed, and here it is.
#include "math/rotation.h"
#include "model/joint.h"

static void place(const sn_joint *joint, const double *q, const sn_angle *angle,
                  const sn_frame *base, sn_frame *out, sn_twist *S) {
    (void)joint, (void)angle;
    sn_vec3 w = v3_from(q);
    sn_expmap k = sn_expmap_at(v3_dot(w, w));
    sn_mat3 R = sn_expmap_rotation(&k, w);
    for (int i = 0; i < 3; i++) {
        sn_vec3 a = sn_expmap_jacobian(&k, w, v3_unit(i));
        S[i] = twist_about(m3_mul(&base->R, a), base->p);
    }
    out->R = m3_mulm(&base->R, &R);
    out->p = base->p;
}

static void curve(const sn_joint *joint, const double *q, const sn_frame *base, sn_vec3 e[3][3]) {
    (void)joint;
    sn_vec3 w = v3_from(q), J[3];
    sn_expmap k = sn_expmap_at(v3_dot(w, w));
    for (int i = 0; i < 3; i++) J[i] = sn_expmap_jacobian(&k, w, v3_unit(i));
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b <= a; b++) {
            sn_vec3 change = sn_expmap_jacobian_change(&k, w, v3_unit(a), v3_unit(b));
            e[a][b] = m3_mul(&base->R, v3_sub(change, v3_cross(J[b], J[a])));
        }
    }
}

static void normalize(bool limited, double *q) {
    if (limited) return;  // the shorter vector could lie outside the limits
    sn_vec3 w = sn_expmap_wrap(v3_from(q));
    q[0] = w.x;
    q[1] = w.y;
    q[2] = w.z;
}

const sn_joint_ops sn_joint_expmap = {.name = "expmap",
                                      .nq = 3,
                                      .nv = 3,
                                      .place = place,
                                      .curve = curve,
                                      .curve_count = 3,
                                      .normalize = normalize,
                                      .quaternion = -1};
