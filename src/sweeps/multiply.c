// SPDX-License-Identifier: MIT
// H x without H, in two sweeps. Let the pose move with velocities x: body k has the twist V_k, the
// sum of S_i x_i at and above it. Then
//
//   (H x)_i = dg_i = -dS_i . Phi_i + S_i . sum over the subtree of C_k V_k
//   dS_i = V x S_i with V the twist of all that lies outside degree of freedom i, plus the
//          same-joint terms e (symmetric in its two indices once the stack's part is taken out)
//   C V  = K^T V - V x* Phi
//
// Gauss-Newton has C symmetric and no dS term.
#include "sweeps/workspace.h"

static double wrench_dot(sn_twist S, sn_vec3 n, sn_vec3 f) {
    return v3_dot(S.a, n) + v3_dot(S.b, f);
}

// C V as a wrench (n in a, f in b).
static sn_twist curvature_times(const sn_field *field, bool exact, sn_twist V) {
    const double *K = field->K;
    const double v[6] = {V.a.x, V.a.y, V.a.z, V.b.x, V.b.y, V.b.z};
    double y[6] = {0};
    for (int c = 0; c < 6; c++)
        for (int r = 0; r < 6; r++) y[c] += K[6 * c + r] * v[r];
    sn_twist out = {{y[0], y[1], y[2]}, {y[3], y[4], y[5]}};
    if (exact) {
        // V x* Phi = (a x n + b x f ; a x f)
        out.a = v3_sub(out.a, v3_add(v3_cross(V.a, field->n), v3_cross(V.b, field->f)));
        out.b = v3_sub(out.b, v3_cross(V.a, field->f));
    }
    return out;
}

// The same-joint part of -dS_i . Phi_i, for the three (or two) curved velocities of joint k.
static void multiply_curve(const sn_workspace *ws, int k, const double *x, double *out) {
    const sn_joint *j = &ws->model->joint[k];
    const sn_joint_ops *ops = j->ops;
    const sn_field *field = &ws->body[k];
    sn_vec3 e[3][3];
    ops->curve(j, ws->q + j->q0, &ws->base[k], e);
    sn_vec3 torque = v3_sub(field->n, v3_cross(ws->frame[k].p, field->f));
    for (int a = 0; a < ops->curve_count; a++) {
        for (int b = 0; b < ops->curve_count; b++) {
            sn_vec3 axis = b <= a ? e[a][b] : e[b][a];
            out[j->v0 + ops->curve_first + a] -=
                v3_dot(axis, torque) * x[j->v0 + ops->curve_first + b];
        }
    }
}

// The same for joints without one centre.
static void multiply_bend(const sn_workspace *ws, int k, const double *x, double *out) {
    const sn_joint *j = &ws->model->joint[k];
    const sn_field *field = &ws->body[k];
    sn_twist E[SN_MAX_JOINT_DOFS][SN_MAX_JOINT_DOFS];
    j->ops->bend(j, ws->q + j->q0, &ws->base[k], E);
    for (int a = 0; a < j->nv; a++)
        for (int b = 0; b < j->nv; b++)
            out[j->v0 + a] -=
                wrench_dot(b <= a ? E[a][b] : E[b][a], field->n, field->f) * x[j->v0 + b];
}

void sn_workspace_multiply(sn_workspace *ws, bool gauss_newton, const double *x, double *out) {
    if (ws == NULL || x == NULL || out == NULL) return;
    const sn_model *m = ws->model;
    const sn_twist still = {{0, 0, 0}, {0, 0, 0}};
    bool exact = !gauss_newton;
    double *u = ws->scratch;  // the velocities behind the gains
    for (int v = 0; v < m->nv; v++) u[v] = x[v] * m->gain[v];
    if (ws->ties != NULL) sn_ties_follow_file(ws, u);

    // down: the twist of every body, and what the tasks on it answer
    for (int k = 0; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        sn_twist V = j->parent < 0 ? still : ws->carry[j->parent];
        for (int i = 0; i < j->nv; i++) V = twist_add(V, u[j->v0 + i], ws->S[j->slot + i]);
        ws->carry[k] = V;
        ws->answer[k] = ws->below[k] = still;
        (void)sn_field_of_body(ws, k, exact, &ws->body[k]);
    }
    if (ws->ties != NULL && ws->ties->forced) {
        (void)sn_ties_forces(ws, exact, true);
        sn_ties_fields(ws, exact, ws->body);
        sn_tied_answer(ws);
        if (sn_has_guards(ws)) sn_guards_answer(ws, u, NULL);
    }
    // up: answers and wrenches of whole subtrees
    for (int k = m->njoint - 1; k >= 0; k--) {
        const sn_joint *j = &m->joint[k];
        sn_field *field = &ws->body[k];
        sn_twist answer = curvature_times(field, exact, ws->carry[k]);
        answer = twist_add(answer, 1, ws->answer[k]);
        field->n = v3_add(field->n, ws->below[k].a);
        field->f = v3_add(field->f, ws->below[k].b);
        sn_twist V = j->parent < 0 ? still : ws->carry[j->parent];
        for (int i = 0; i < j->nv; i++) {
            sn_twist S = ws->S[j->slot + i];
            double h = wrench_dot(S, answer.a, answer.b);
            if (exact) h -= wrench_dot(twist_cross(V, S), field->n, field->f);
            out[j->v0 + i] = h;
            V = twist_add(V, u[j->v0 + i], S);
        }
        if (exact && j->ops->curve != NULL) multiply_curve(ws, k, u, out);
        if (exact && j->ops->bend != NULL) multiply_bend(ws, k, u, out);
        if (j->parent < 0) continue;
        ws->answer[j->parent] = twist_add(ws->answer[j->parent], 1, answer);
        ws->below[j->parent] = twist_add(ws->below[j->parent], 1, (sn_twist){field->n, field->f});
    }
    sn_joint_terms_multiply(ws, exact, u, out);
    if (sn_has_guards(ws)) sn_guards_answer(ws, u, out);
    if (ws->ties != NULL) sn_ties_multiply_file(ws, exact, u, out);
    for (int v = 0; v < m->nv; v++) out[v] *= m->gain[v];
}
