// SPDX-License-Identifier: MIT
// Products with the Hessian whose fields K the workspace holds. H_ij = T_j . y_i with y_i = K_i T_i
// for j above i; K is not symmetric, but it only ever acts on the deeper of two. So (H x)_i takes
// y_i . V from the joints above, V being their twist, and T_i . (sum of y_k x_k) from those below.
#include "math/six.h"
#include "sweeps/workspace.h"

static inline six field_times(const double *K, const sn_twist *T) {
    six y = six_zero();
    for (int c = 0; c < 6; c++) y = six_add(y, twist_numbers(T)[c], six_load(K + 6 * c));
    return y;
}

// The tree's share of H x.
static void multiply_tree(sn_workspace *ws, const double *x, double *y) {
    const sn_model *m = ws->model;
    // down: the twist V of everything at and above a joint
    for (int k = 0; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        six V = j->parent < 0 ? six_zero() : twist_load(&ws->carry[j->parent]);
        for (int i = j->slot; i < j->slot + j->nv; i++) V = six_add(V, x[i], twist_load(&ws->T[i]));
        twist_store(&ws->carry[k], V);
        twist_store(&ws->push[k], six_zero());
    }
    // up: push collects the y_i x_i of a subtree
    for (int k = m->njoint - 1; k >= 0; k--) {
        const sn_joint *j = &m->joint[k];
        bool own = sn_has_local(ws, j);
        six push = twist_load(&ws->push[k]);
        six V = j->parent < 0 ? six_zero() : twist_load(&ws->carry[j->parent]);
        six ys[SN_MAX_JOINT_DOFS];
        for (int a = 0; a < j->nv; a++) ys[a] = field_times(ws->field[k].K, &ws->T[j->slot + a]);
        for (int a = 0; a < j->nv; a++) {
            int i = j->slot + a;
            six T = twist_load(&ws->T[i]);
            double sum = six_dot(T, push) + six_dot(ys[a], V);
            for (int b = 0; b < j->nv; b++) {
                int deep = a > b ? a : b, shallow = a > b ? b : a;
                double h = six_dot(twist_load(&ws->T[j->slot + shallow]), ys[deep]);
                if (own) h += ws->local[SN_MAX_JOINT_DOFS * (j->slot + deep) + shallow];
                sum += h * x[j->slot + b];
            }
            y[i] = sum;
        }
        if (j->parent < 0) continue;
        for (int a = 0; a < j->nv; a++) push = six_add(push, x[j->slot + a], ys[a]);
        twist_store(&ws->push[j->parent], six_plus(twist_load(&ws->push[j->parent]), push));
    }
}

void sn_workspace_fields_multiply(sn_workspace *ws, const double *x, double *y) {
    if (ws->ties == NULL) {
        multiply_tree(ws, x, y);
        return;
    }
    double *v = ws->scratch;
    for (int i = 0; i < ws->model->nv; i++) v[i] = x[i];
    sn_ties_follow(ws, v);
    multiply_tree(ws, v, y);
    sn_ties_multiply(ws, v, y);
    sn_ties_lead(ws, y);
}

void sn_tree_diagonal(const sn_workspace *ws, double *d) {
    const sn_model *m = ws->model;
    for (int k = 0; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        bool own = sn_has_local(ws, j);
        for (int a = 0; a < j->nv; a++) {
            int i = j->slot + a;
            d[i] = six_dot(twist_load(&ws->T[i]), field_times(ws->field[k].K, &ws->T[i]));
            if (own) d[i] += ws->local[SN_MAX_JOINT_DOFS * i + a];
        }
    }
}

void sn_workspace_fields_diagonal(const sn_workspace *ws, double *d) {
    sn_tree_diagonal(ws, d);
    if (ws->ties != NULL) sn_ties_diagonal(ws, d);
}
