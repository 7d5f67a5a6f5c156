// SPDX-License-Identifier: MIT
// Poses between poses: rotations by slerp.
#include <string.h>

#include "math/rotation.h"
#include "stage.h"

static sn_quat slerp(sn_quat a, sn_quat b, double t) {
    double sign = a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z < 0 ? -1 : 1;
    sn_quat to = {sign * b.w, sign * b.x, sign * b.y, sign * b.z};
    sn_vec3 turn = sn_quat_log(sn_quat_mul(to, sn_quat_conj(a)));
    return sn_quat_mul(sn_quat_exp(v3_scale(t, turn)), a);
}

void web_blend(const double *a, const double *b, double t, double *out) {
    const sn_model *m = the.base;
    for (int k = 0; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        double pose[SN_MAX_JOINT_DOFS + 1];
        for (int i = 0; i < j->nq; i++) pose[i] = a[j->q0 + i] + t * (b[j->q0 + i] - a[j->q0 + i]);
        // one and two axes turn about themselves; a rotation in space takes the short way round
        bool in_space = j->type == SN_JOINT_EULER || j->type == SN_JOINT_EXPMAP ||
                        j->type == SN_JOINT_BALL || j->type == SN_JOINT_FREE;
        if (in_space && memcmp(a + j->q0, b + j->q0, (size_t)j->nq * sizeof *a) != 0) {
            sn_mat3 A = sn_joint_rotation(j, a + j->q0), B = sn_joint_rotation(j, b + j->q0);
            sn_mat3 R = sn_mat3_from_quat(slerp(sn_quat_from_mat3(A), sn_quat_from_mat3(B), t));
            (void)sn_joint_set_rotation(j, &R, pose);
        }
        memcpy(out + j->q0, pose, (size_t)j->nq * sizeof *out);
    }
}
