// SPDX-License-Identifier: MIT
// How far every body gives way: J H^-1 J^T of all of them in one sweep from the root, after a factorisation.
//
// H = L^T D L says how a pose with the Hessian H would tremble: from the root to the leaves each degree of freedom
// follows what lies above it and adds a trembling of its own, of variance 1 / d. With V the twist of all that lies above,
//
//   x_a = e_a - y_a . V / d_a - sum_{b < a} l_ab x_b        inside a joint, the outermost first
//
// so the joint hands V' = V + sum T_a x_a on, and the variance of V' is the compliance C of the body that it carries:
//
//   C' = A C A^T + sum_a u_a u_a^T / d_a,    A = I - sum_a T_a g_a^T
//
// Here g_a is what x_a takes of V, and u_a all that e_a moves.
#include <string.h>

#include "math/six.h"
#include "sweeps/workspace.h"

enum { N = SN_MAX_JOINT_DOFS };

// C + x u v^T
static void add_product(double *C, double x, six u, const double *v) {
    for (int c = 0; c < 6; c++, C += 6) six_store(C, six_add(six_load(C), x * v[c], u));
}

static void joint_compliance(const sn_workspace *ws, int k, const double *above, double *C) {
    const sn_joint *j = &ws->model->joint[k];
    const int m = j->nv;
    double g[N][6], share[N][N] = {{0}};  // x_a = sum_c share_ac e_c - g_a . V
    for (int a = 0; a < m; a++) {
        const double *lower = ws->lower + N * (j->slot + a), inverse = ws->pivot[j->slot + a];
        six own = six_add(six_zero(), inverse, twist_load(&ws->yf[j->slot + a]));
        share[a][a] = 1;
        for (int b = 0; b < a; b++) {
            own = six_add(own, -lower[b], six_load(g[b]));
            for (int c = 0; c <= b; c++) share[a][c] -= lower[b] * share[b][c];
        }
        six_store(g[a], own);
    }
    if (above != NULL) {
        // A C A^T, one side after the other; C is symmetric
        double half[36], g_half[N][6];
        memcpy(half, above, sizeof half);
        for (int a = 0; a < m; a++) {
            double Cg[6];
            for (int c = 0; c < 6; c++) Cg[c] = six_dot(six_load(above + 6 * c), six_load(g[a]));
            // rows: C - T_a (C g_a)^T
            add_product(half, -1, twist_load(&ws->T[j->slot + a]), Cg);
        }
        for (int a = 0; a < m; a++) {
            six sum = six_zero();
            for (int c = 0; c < 6; c++) sum = six_add(sum, g[a][c], six_load(half + 6 * c));
            six_store(g_half[a], sum);
        }
        memcpy(C, half, sizeof half);
        for (int a = 0; a < m; a++)
            add_product(C, -1, six_load(g_half[a]), twist_numbers(&ws->T[j->slot + a]));
    } else {
        memset(C, 0, 36 * sizeof *C);
    }
    for (int c = 0; c < m; c++) {
        double u[6];
        six sum = six_zero();
        for (int a = c; a < m; a++)
            sum = six_add(sum, share[a][c], twist_load(&ws->T[j->slot + a]));
        six_store(u, sum);
        add_product(C, ws->pivot[j->slot + c], sum, u);
    }
}

void sn_workspace_compliance(const sn_workspace *ws, double *C) {
    const sn_model *m = ws->model;
    for (int k = 0; k < m->njoint; k++) {
        const int parent = m->joint[k].parent;
        joint_compliance(ws, k, parent < 0 ? NULL : C + 36 * (size_t)parent, C + 36 * (size_t)k);
    }
}

sn_mat3 sn_compliance_at(const sn_workspace *ws, const double *C, int joint,
                         const double local[3]) {
    // velocity b + a x p of the twist (a; b): B = [ -[p] I ], B C B^T
    const int k = ws->model->sweep_of[joint];
    const sn_vec3 p = sn_place(&ws->frame[k], v3_from(local));
    sn_mat3 out;
    double rows[3][6];
    for (int i = 0; i < 3; i++) {
        const sn_vec3 turn = v3_cross(p, v3_unit(i));  // e_i . (a x p) = a . (p x e_i)
        const double w[6] = {turn.x, turn.y, turn.z, i == 0, i == 1, i == 2};
        six sum = six_zero();
        const double *from = C + 36 * (size_t)k;
        for (int c = 0; c < 6; c++) sum = six_add(sum, w[c], six_load(from + 6 * c));
        six_store(rows[i], sum);
    }
    for (int i = 0; i < 3; i++) {
        const sn_vec3 turn = v3_cross(p, v3_unit(i));
        double column[3];
        for (int r = 0; r < 3; r++)
            column[r] =
                rows[r][0] * turn.x + rows[r][1] * turn.y + rows[r][2] * turn.z + rows[r][3 + i];
        out.c[i] = v3_from(column);
    }
    return out;
}
