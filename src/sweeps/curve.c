// SPDX-License-Identifier: MIT
// Second derivatives inside one joint, beyond those of stacked hinges.
#include "sweeps/workspace.h"

// The same where there is no one centre: E . Phi for whole twists.
static void local_bend(sn_workspace *ws, int k, sn_vec3 n, sn_vec3 f) {
    const sn_joint *j = &ws->model->joint[k];
    sn_twist E[SN_MAX_JOINT_DOFS][SN_MAX_JOINT_DOFS];
    j->ops->bend(j, ws->q + j->q0, &ws->base[k], E);
    for (int a = 0; a < j->nv; a++) {
        double *row = ws->local + SN_MAX_JOINT_DOFS * (j->slot + a);
        for (int b = 0; b <= a; b++) row[b] = -(v3_dot(E[a][b].a, n) + v3_dot(E[a][b].b, f));
    }
}

void sn_local_curve(sn_workspace *ws, int k, sn_vec3 n, sn_vec3 f) {
    const sn_joint *j = &ws->model->joint[k];
    const sn_joint_ops *ops = j->ops;
    sn_vec3 e[3][3];
    if (ops->bend != NULL) {
        local_bend(ws, k, n, f);
        return;
    }
    ops->curve(j, ws->q + j->q0, &ws->base[k], e);
    // the torque about the joint's centre: (e; o x e) . (n; f) = e . (n - o x f)
    sn_vec3 torque = v3_sub(n, v3_cross(ws->frame[k].p, f));
    int first = ops->curve_first;
    for (int a = 0; a < ops->curve_count; a++) {
        double *row = ws->local + SN_MAX_JOINT_DOFS * (j->slot + first + a) + first;
        for (int b = 0; b <= a; b++) row[b] = -v3_dot(e[a][b], torque);
    }
}
