// SPDX-License-Identifier: MIT
// H = L^T D L joint by joint, without H. With K_i summed over the subtree of i, H_ij = T_j . y_i
// and y_i = K_i T_i. Eliminating degree of freedom i changes every pair (j, k) above it by
//
//   H_jk -= (T_j . y_i)(T_k . y_i) / d_i        that is, K_k -= y_i y_i^T / d_i
//
// a symmetric rank-one change that adds up over subtrees as K does. So it is enough to carry its
// sum Q (6 x 6) towards the root: y_i = (K_i - Q) T_i. Inside a joint the own terms `local` come on
// top, which makes the elimination there a small dense one:
//
//   h_ab = T_b . y_a + local_ab,  y_b -= (h_ab / d_a) y_a      b outside a
//
// This is the articulated-body algorithm of rigid-body dynamics with K in the place of inertia, and
// works for the exact Hessian because its unsymmetric K only ever acts on the deeper of two joints.
// The cost is linear in the number of degrees of freedom, whatever the depth.
#include <string.h>

#include "math/six.h"
#include "sweeps/workspace.h"

enum { N = SN_MAX_JOINT_DOFS };

// y_a = (K - Q) T_a for the m degrees of freedom of a joint, column by column; a leaf has no Q.
SN_INLINE void columns(const double *K, const double *Q, const sn_twist *T, int m, six *y) {
    for (int a = 0; a < m; a++) y[a] = six_zero();
    for (int c = 0; c < 6; c++) {
        six column = six_load(K + 6 * c);
        if (Q != NULL) column = six_minus(column, six_load(Q + 6 * c));
        for (int a = 0; a < m; a++) y[a] = six_add(y[a], twist_numbers(&T[a])[c], column);
    }
}

// Eliminate the m degrees of freedom of joint k, the innermost first. -1, or the slot that failed.
// m is a constant wherever this is called, so that the loops unroll into registers.
// With `negatives`, a constant too, pivots below 0 are counted there and only those near 0 fail.
SN_INLINE int eliminate(sn_workspace *ws, int k, int m, const double *diagonal, const bool *keep,
                        double tolerance, double *failed, int *negatives) {
    const sn_joint *j = &ws->model->joint[k];
    const sn_twist *T = ws->T + j->slot;
    double h[N][N];  // the joint's own block, b <= a
    six y[N];
    columns(ws->field[k].K, j->leaf ? NULL : ws->Q + 36 * (size_t)k, T, m, y);
    for (int a = 0; a < m; a++)
        for (int b = 0; b <= a; b++) h[a][b] = six_dot(twist_load(&T[b]), y[a]);
    if (sn_has_local(ws, j))
        for (int a = 0; a < m; a++)
            for (int b = 0; b <= a; b++) h[a][b] += ws->local[N * (j->slot + a) + b];
    if (diagonal != NULL)
        for (int a = 0; a < m; a++) h[a][a] += diagonal[j->slot + a];
    double size[N];  // what pivots begin with
    for (int a = 0; a < m && negatives != NULL; a++) size[a] = fabs(h[a][a]);
    for (int a = m - 1; a >= 0; a--) {
        int i = j->slot + a;
        double *lower = ws->lower + N * i;
        double d = h[a][a], inverse = 0;
        if (keep == NULL || keep[i]) {
            if (negatives != NULL) {
                if (!(fabs(d) > 1e-14 * size[a])) {
                    *failed = d;
                    return i;
                }
                *negatives += d < 0;
            } else if (!(d > tolerance)) {
                *failed = d;
                return i;
            }
            inverse = 1 / d;
        }
        // a dropped one has inverse 0: it changes nothing, and nothing reaches it
        ws->pivot[i] = inverse;
        for (int b = 0; b < a; b++) {
            double l = h[a][b] * inverse;
            lower[b] = l;
            y[b] = six_add(y[b], -l, y[a]);
            for (int c = 0; c <= b; c++) h[b][c] -= l * h[a][c];
        }
        twist_store(&ws->yf[i], y[a]);
    }
    return -1;
}

// Q_parent += Q + sum y_a y_a^T / d_a over the joint's m degrees of freedom. A leaf has no Q yet,
// and the parent none before its last child hands up.
SN_INLINE void hand_up(const sn_workspace *ws, const sn_joint *j, int m, const double *Q,
                       double *parent) {
    const sn_twist *y = ws->yf + j->slot;
    const double *inverse = ws->pivot + j->slot;
    six ys[N];
    for (int a = 0; a < m; a++) ys[a] = twist_load(&y[a]);
    for (int c = 0; c < 6; c++, Q += 6, parent += 6) {
        six q = j->leaf ? six_zero() : six_load(Q);
        if (!j->last) q = six_plus(q, six_load(parent));
        for (int a = 0; a < m; a++) q = six_add(q, twist_numbers(&y[a])[c] * inverse[a], ys[a]);
        six_store(parent, q);
    }
}

// One joint of a factorisation; again with m a constant.
SN_INLINE int factor_joint(sn_workspace *ws, int k, int m, const double *diagonal, const bool *keep,
                           double tolerance, double *failed, int *negatives) {
    const sn_joint *j = &ws->model->joint[k];
    int slot = eliminate(ws, k, m, diagonal, keep, tolerance, failed, negatives);
    if (slot < 0 && j->parent >= 0)
        hand_up(ws, j, m, ws->Q + 36 * (size_t)k, ws->Q + 36 * (size_t)j->parent);
    return slot;
}

// Models with a joint of four or five degrees of freedom, which only function joints have, go this way:
// the loops of the others stay unrolled.
static int factor_odd(sn_workspace *ws, const double *diagonal, const bool *keep, double tolerance,
                      double *d, int *negatives) {
    const sn_model *m = ws->model;
    for (int k = m->njoint - 1; k >= 0; k--) {
        int failed = factor_joint(ws, k, m->joint[k].nv, diagonal, keep, tolerance, d, negatives);
        if (failed >= 0) return failed;
    }
    return -1;
}

// All joints; -1, or the slot that failed.
SN_INLINE int factor_all(sn_workspace *ws, const double *diagonal, const bool *keep,
                         double tolerance, double *d, int *negatives) {
    const sn_model *m = ws->model;
    if (m->odd) return factor_odd(ws, diagonal, keep, tolerance, d, negatives);
    for (int k = m->njoint - 1; k >= 0; k--) {
        int failed;
        switch (m->joint[k].nv) {
        case 0:
            failed = factor_joint(ws, k, 0, diagonal, keep, tolerance, d, negatives);
            break;
        case 1:
            failed = factor_joint(ws, k, 1, diagonal, keep, tolerance, d, negatives);
            break;
        case 2:
            failed = factor_joint(ws, k, 2, diagonal, keep, tolerance, d, negatives);
            break;
        case 3:
            failed = factor_joint(ws, k, 3, diagonal, keep, tolerance, d, negatives);
            break;
        default:
            failed = factor_joint(ws, k, 6, diagonal, keep, tolerance, d, negatives);
            break;
        }
        if (failed >= 0) return failed;
    }
    return -1;
}

int sn_workspace_count_negatives(sn_workspace *ws, const double *diagonal, const bool *keep) {
    double d;
    int negatives = 0;
    int failed = factor_all(ws, diagonal, keep, 0, &d, &negatives);
    return failed < 0 ? negatives : -1 - failed;
}

int sn_workspace_factor(sn_workspace *ws, const double *diagonal, const bool *keep,
                        double tolerance, double *pivot) {
    if (ws == NULL) return 0;
    if (sn_has_rows(ws)) return sn_ties_factor(ws, diagonal, keep, tolerance, pivot);
    double d = 0;
    int failed = factor_all(ws, diagonal, keep, tolerance, &d, NULL);
    if (failed >= 0 && pivot != NULL) *pivot = d;
    return failed;
}

// Up: x_i becomes what is left of the right-hand side at i when all below is eliminated, over d_i.
SN_INLINE void reduce_joint(sn_workspace *ws, int k, int m, double *x) {
    const sn_joint *j = &ws->model->joint[k];
    const sn_twist *T = ws->T + j->slot, *y = ws->yf + j->slot;
    const double *inverse = ws->pivot + j->slot;
    double own[N];
    for (int a = 0; a < m; a++) own[a] = x[j->slot + a];
    six push = six_zero();
    if (!j->leaf) {
        push = twist_load(&ws->push[k]);
        for (int a = 0; a < m; a++) own[a] -= six_dot(twist_load(&T[a]), push);
    }
    for (int a = m - 1; a >= 0; a--) {
        const double *lower = ws->lower + N * (j->slot + a);
        for (int b = 0; b < a; b++) own[b] -= lower[b] * own[a];
        own[a] *= inverse[a];
        push = six_add(push, own[a], twist_load(&y[a]));
        x[j->slot + a] = own[a];
    }
    if (j->parent < 0) return;
    if (!j->last) push = six_plus(push, twist_load(&ws->push[j->parent]));
    twist_store(&ws->push[j->parent], push);
}

// Down: x_a = reduced_a - y_a . V / d_a - ..., V being the twist of all that lies above.
SN_INLINE void substitute_joint(sn_workspace *ws, int k, int m, double *x) {
    const sn_joint *j = &ws->model->joint[k];
    const sn_twist *T = ws->T + j->slot, *y = ws->yf + j->slot;
    const double *inverse = ws->pivot + j->slot;
    double own[N];
    six above = j->parent < 0 ? six_zero() : twist_load(&ws->carry[j->parent]), V = above;
    for (int a = 0; a < m; a++) {
        const double *lower = ws->lower + N * (j->slot + a);
        own[a] = x[j->slot + a] - inverse[a] * six_dot(twist_load(&y[a]), above);
        for (int b = 0; b < a; b++) own[a] -= lower[b] * own[b];
        x[j->slot + a] = own[a];
        V = six_add(V, own[a], twist_load(&T[a]));
    }
    if (!j->leaf) twist_store(&ws->carry[k], V);
}

void sn_workspace_reduce(sn_workspace *ws, double *x) {
    const sn_model *m = ws->model;
    if (m->odd) {
        for (int k = m->njoint - 1; k >= 0; k--) reduce_joint(ws, k, m->joint[k].nv, x);
        return;
    }
    for (int k = m->njoint - 1; k >= 0; k--) {
        switch (m->joint[k].nv) {
        case 0:
            reduce_joint(ws, k, 0, x);
            break;
        case 1:
            reduce_joint(ws, k, 1, x);
            break;
        case 2:
            reduce_joint(ws, k, 2, x);
            break;
        case 3:
            reduce_joint(ws, k, 3, x);
            break;
        default:
            reduce_joint(ws, k, 6, x);
            break;
        }
    }
}

void sn_workspace_substitute(sn_workspace *ws, double *x) {
    const sn_model *m = ws->model;
    if (m->odd) {
        for (int k = 0; k < m->njoint; k++) substitute_joint(ws, k, m->joint[k].nv, x);
        return;
    }
    for (int k = 0; k < m->njoint; k++) {
        switch (m->joint[k].nv) {
        case 0:
            substitute_joint(ws, k, 0, x);
            break;
        case 1:
            substitute_joint(ws, k, 1, x);
            break;
        case 2:
            substitute_joint(ws, k, 2, x);
            break;
        case 3:
            substitute_joint(ws, k, 3, x);
            break;
        default:
            substitute_joint(ws, k, 6, x);
            break;
        }
    }
}

void sn_workspace_solve(sn_workspace *ws, double *x) {
    if (ws == NULL || x == NULL) return;
    if (sn_has_rows(ws)) {
        sn_ties_solve(ws, x);
        return;
    }
    sn_workspace_reduce(ws, x);
    sn_workspace_substitute(ws, x);
}

void sn_workspace_curvature(sn_workspace *ws, int k, double *z) {
    if (ws == NULL || z == NULL) return;
    const sn_model *m = ws->model;
    if (sn_has_rows(ws)) {
        memcpy(z, ws->ties->z, (size_t)m->nv * sizeof *z);
        return;
    }
    for (int i = 0; i < m->nv; i++) z[i] = 0;
    if (k < 0 || k >= m->nv) return;
    z[k] = 1;
    int joint = 0;
    while (m->joint[joint].slot + m->joint[joint].nv <= k) joint++;
    // L z = e_k: the joint of k from the velocity behind k on, then what hangs on it
    for (int n = joint; n < m->njoint; n++) {
        const sn_joint *j = &m->joint[n];
        if (n != joint && j->parent < joint) break;  // subtrees are contiguous
        six above = n == joint ? six_zero() : twist_load(&ws->carry[j->parent]), V = above;
        for (int a = 0; a < j->nv; a++) {
            int i = j->slot + a;
            const double *lower = ws->lower + N * i;
            if (i > k) {
                z[i] = -ws->pivot[i] * six_dot(twist_load(&ws->yf[i]), above);
                for (int b = 0; b < a; b++) z[i] -= lower[b] * z[j->slot + b];
            }
            V = six_add(V, z[i], twist_load(&ws->T[i]));
        }
        twist_store(&ws->carry[n], V);
    }
}
