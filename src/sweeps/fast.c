// SPDX-License-Identifier: MIT
// The fast path: points of scalar weight need four sums per subtree, 16 numbers,
//
//   W = sum w,  P = sum w p,  G = sum w g,  M = sum w g p^T
//
// and every column of the exact Hessian follows from them (DESIGN in docs/derivations.md):
//
//   y_i = ((tr M I - M^T) a_i + G x b_i ; a_i x P + W b_i),   H_ij = S_j . y_i
//   g_i = a_i . sum w g x p + b_i . (P - G)
//
// Gauss-Newton is the same with g replaced by p in M and in the G of y_i. However many markers
// there are, they are summed once.
#include "sweeps/workspace.h"

// Sums over the points on joint k; f is their share of the objective.
static double sum_points(const sn_workspace *ws, int k, bool exact, sn_sums *sums,
                         sn_vec3 *torque) {
    const sn_problem *p = ws->problem;
    const sn_frame frame = ws->frame[k];
    const sn_vec3 origin = ws->origin;
    sn_mat3 M = m3_zero();
    sn_vec3 P = {0, 0, 0}, G = {0, 0, 0}, T = {0, 0, 0};
    double W = 0, f = 0;
    for (int i = p->point_first[k]; i < p->point_first[k + 1]; i++) {
        const sn_point *point = &p->point[i];
        double w = point->weight;
        if (w == 0) continue;
        sn_vec3 x = sn_place(&frame, point->local), goal = v3_sub(point->goal, origin);
        sn_vec3 r = v3_sub(goal, x), wx = v3_scale(w, x), wg = v3_scale(w, goal);
        f += w * v3_dot(r, r);
        W += w;
        P = v3_add(P, wx);
        G = v3_add(G, wg);
        sn_vec3 left = exact ? wg : wx;
        M.c[0] = v3_add(M.c[0], v3_scale(x.x, left));
        M.c[1] = v3_add(M.c[1], v3_scale(x.y, left));
        M.c[2] = v3_add(M.c[2], v3_scale(x.z, left));
        if (!exact) T = v3_add(T, v3_cross(wg, x));
    }
    *sums = (sn_sums){M, P, G, W};
    *torque = T;
    return 0.5 * f;
}

// Sum w g x p, from the antisymmetric part of M.
static sn_vec3 moment(const sn_mat3 *M) {
    return v3(M->c[2].y - M->c[1].z, M->c[0].z - M->c[2].x, M->c[1].x - M->c[0].y);
}

static void sums_add(sn_sums *to, const sn_sums *from) {
    to->M = m3_add(&to->M, &from->M);
    to->P = v3_add(to->P, from->P);
    to->G = v3_add(to->G, from->G);
    to->W += from->W;
}

double sn_sweep_fast(sn_workspace *ws, bool exact) {
    const sn_model *m = ws->model;
    double f = 0;
    sn_rows_begin(ws);
    for (int k = 0; k < m->njoint; k++)
        f += sum_points(ws, k, exact, &ws->sums[k], &ws->torque[k]);
    for (int k = m->njoint - 1; k >= 0; k--) {
        const sn_joint *j = &m->joint[k];
        const sn_sums *s = &ws->sums[k];
        sn_vec3 turn = exact ? moment(&s->M) : ws->torque[k], pull = v3_sub(s->P, s->G);
        sn_vec3 G = exact ? s->G : s->P;
        // tr M I - M^T
        double trace = s->M.c[0].x + s->M.c[1].y + s->M.c[2].z;
        sn_mat3 A = m3_transpose(&s->M);
        A = (sn_mat3){{{trace - A.c[0].x, -A.c[0].y, -A.c[0].z},
                       {-A.c[1].x, trace - A.c[1].y, -A.c[1].z},
                       {-A.c[2].x, -A.c[2].y, trace - A.c[2].z}}};
        for (int i = j->slot; i < j->slot + j->nv; i++) {
            const sn_twist S = ws->S[i];
            ws->g[i] = v3_dot(S.a, turn) + v3_dot(S.b, pull);
            sn_rows_fill(ws, i, v3_add(m3_mul(&A, S.a), v3_cross(G, S.b)),
                         v3_add(v3_cross(S.a, s->P), v3_scale(s->W, S.b)));
        }
        if (exact && sn_joint_ops_of(j->type)->curve != NULL)
            sn_rows_curve(ws, k, v3_neg(turn), v3_neg(pull));
        if (j->parent < 0) continue;
        sums_add(&ws->sums[j->parent], s);
        if (!exact) ws->torque[j->parent] = v3_add(ws->torque[j->parent], ws->torque[k]);
    }
    return f;
}
