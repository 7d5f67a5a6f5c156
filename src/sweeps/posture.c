// SPDX-License-Identifier: MIT
// Postures: the rotation of a joint in its parent's frame against a goal, psi = log(R_goal R^T) with
// R_goal = R_base turn. Only the joint's own velocities change it, so that the orientation task's
// wrench n = w psi and curvature w J_r^-1(psi) (general.c) stay among them:
//
//   g_a = -a_a . n,   H_ab = a_b . w J_r^-1 a_a - e_ab . n     b at or outside a
#include "math/rotation.h"
#include "sweeps/workspace.h"

static sn_vec3 left_over(const sn_workspace *ws, const sn_posture_joint *posed) {
    const sn_mat3 goal = m3_mulm(&ws->base[posed->joint].R, &posed->turn);
    const sn_mat3 back = m3_transpose(&ws->frame[posed->joint].R), turn = m3_mulm(&goal, &back);
    return sn_rotation_log(&turn);
}

// The second derivatives among a joint's velocities, b <= a.
static void own_block(const sn_workspace *ws, const sn_posture *posture,
                      const sn_posture_joint *posed, bool exact,
                      double h[SN_MAX_JOINT_DOFS][SN_MAX_JOINT_DOFS]) {
    const sn_joint *j = &ws->model->joint[posed->joint];
    const sn_joint_ops *ops = j->ops;
    const sn_vec3 psi = left_over(ws, posed);
    const double w = posture->weight;
    double c, dc;
    sn_log_coefficients(v3_dot(psi, psi), &c, &dc);
    for (int a = 0; a < j->nv; a++) {
        const sn_vec3 axis = ws->S[j->slot + a].a;
        const sn_vec3 y = exact ? sn_log_jacobian_right(c, psi, axis) : axis;
        for (int b = 0; b <= a; b++) h[a][b] = w * v3_dot(ws->S[j->slot + b].a, y);
    }
    if (!exact || !j->curved) return;
    if (ops->bend != NULL) {
        sn_twist E[SN_MAX_JOINT_DOFS][SN_MAX_JOINT_DOFS];
        ops->bend(j, ws->q + j->q0, &ws->base[posed->joint], E);
        for (int a = 0; a < j->nv; a++)
            for (int b = 0; b <= a; b++) h[a][b] -= w * v3_dot(E[a][b].a, psi);
        return;
    }
    sn_vec3 e[3][3];
    const int first = ops->curve_first;
    ops->curve(j, ws->q + j->q0, &ws->base[posed->joint], e);
    for (int a = 0; a < ops->curve_count; a++)
        for (int b = 0; b <= a; b++) h[first + a][first + b] -= w * v3_dot(e[a][b], psi);
}

double sn_posture_add(sn_workspace *ws, const sn_posture *posture, bool exact, bool first,
                      bool second) {
    double f = 0, h[SN_MAX_JOINT_DOFS][SN_MAX_JOINT_DOFS];
    for (int i = posture->first; i < posture->first + posture->count; i++) {
        const sn_posture_joint *posed = &ws->problem->posed[i];
        const sn_joint *j = &ws->model->joint[posed->joint];
        const sn_vec3 psi = left_over(ws, posed);
        f += 0.5 * posture->weight * v3_dot(psi, psi);
        for (int a = 0; a < j->nv && first; a++)
            ws->g[j->slot + a] -= posture->weight * v3_dot(ws->S[j->slot + a].a, psi);
        if (!second) continue;
        own_block(ws, posture, posed, exact, h);
        for (int a = 0; a < j->nv; a++)
            for (int b = 0; b <= a; b++)
                ws->local[SN_MAX_JOINT_DOFS * (j->slot + a) + b] += h[a][b];
    }
    return f;
}

double sn_posture_slope(const sn_workspace *ws, const sn_posture *posture, const sn_joint *j,
                        int k) {
    double slope = 0;
    for (int i = posture->first; i < posture->first + posture->count; i++) {
        const sn_posture_joint *posed = &ws->problem->posed[i];
        if (&ws->model->joint[posed->joint] != j) continue;
        slope -= posture->weight * v3_dot(ws->S[j->slot + k].a, left_over(ws, posed));
    }
    return slope;
}

void sn_posture_multiply(const sn_workspace *ws, const sn_posture *posture, bool exact,
                         const double *x, double *out) {
    double h[SN_MAX_JOINT_DOFS][SN_MAX_JOINT_DOFS];
    for (int i = posture->first; i < posture->first + posture->count; i++) {
        const sn_posture_joint *posed = &ws->problem->posed[i];
        const sn_joint *j = &ws->model->joint[posed->joint];
        own_block(ws, posture, posed, exact, h);
        for (int a = 0; a < j->nv; a++)
            for (int b = 0; b < j->nv; b++)
                out[j->v0 + a] += (b <= a ? h[a][b] : h[b][a]) * x[j->v0 + b];
    }
}

double sn_posture_error(const sn_workspace *ws, const sn_posture *posture) {
    double sum = 0;
    for (int i = posture->first; i < posture->first + posture->count; i++) {
        const sn_vec3 psi = left_over(ws, &ws->problem->posed[i]);
        sum += v3_dot(psi, psi);
    }
    return sqrt(sum);
}

void sn_posture_residuals(const sn_workspace *ws, const sn_posture *posture, double *r, double *J,
                          int rows, int row) {
    const double root = sqrt(posture->weight);
    for (int i = posture->first; i < posture->first + posture->count; i++, row += 3) {
        const sn_posture_joint *posed = &ws->problem->posed[i];
        const sn_joint *j = &ws->model->joint[posed->joint];
        const sn_vec3 psi = left_over(ws, posed);
        double c, dc;
        sn_log_coefficients(v3_dot(psi, psi), &c, &dc);
        // in the parent-side frame, where what moves that frame changes nothing
        const sn_mat3 *base = &ws->base[posed->joint].R;
        const sn_vec3 seen = m3_tmul(base, psi);
        for (int k = 0; k < 3; k++) r[row + k] = root * v3_at(seen, k);
        for (int a = 0; J != NULL && a < j->nv; a++) {
            const sn_vec3 d = m3_tmul(base, sn_log_jacobian_right(c, psi, ws->S[j->slot + a].a));
            for (int k = 0; k < 3; k++)
                J[(size_t)rows * (size_t)(j->slot + a) + (size_t)(row + k)] =
                    -root * ws->model->inner[j->v0 + a] * v3_at(d, k);
        }
    }
}
