// SPDX-License-Identifier: MIT
// The fast path: points of scalar weight need four sums per subtree, 16 numbers,
//
//   W = sum w,  P = sum w p,  G = sum w g,  M = sum w g p^T
//
// and gradient and exact Hessian follow from them (derived in docs/derivations.md):
//
//   y_i = K S_i = ((tr M I - M^T) a_i + G x b_i ; a_i x P + W b_i),   H_ij = S_j . y_i
//   g_i = a_i . sum w g x p + b_i . (P - G)
//
// Gauss-Newton is the same with g replaced by p in M and in the G of K. However many markers there
// are, they are summed once.
//
// A point with a loss is summed with the weight w rho'; its exact Hessian has in addition the
// rank-one matrix 2 w rho'' u u^T, u = (p x r; r), in K (tasks/loss.h). Those are summed apart, in
// the places of the products' fields of bodies, and only for problems that have losses.
#include "math/six.h"
#include "sweeps/workspace.h"
#include "tasks/loss.h"

// Sums over the points on joint k; returns their share of 2 f. Vectors are held as (x, y) and z.
SN_INLINE double sum_points(const sn_workspace *ws, int k, bool exact, bool losses, sn_sums *sums) {
    const sn_problem *p = ws->problem;
    const sn_mat3 *R = &ws->frame[k].R;
    const sn_pair c0 = pair_load(&R->c[0].x), c1 = pair_load(&R->c[1].x);
    const sn_pair c2 = pair_load(&R->c[2].x), at = pair_load(&ws->frame[k].p.x);
    const sn_pair origin = pair_load(&ws->origin.x);
    const double at_z = ws->frame[k].p.z, origin_z = ws->origin.z;
    sn_pair M0 = pair_of(0), M1 = M0, M2 = M0, Mz = M0, P = M0, G = M0, F = M0;
    double Mzz = 0, Pz = 0, Gz = 0, W = 0, Fz = 0, lost = 0;
    sn_vec3 T = {0, 0, 0};
    for (int i = p->point_first[k]; i < p->point_first[k + 1]; i++) {
        const sn_point *point = &p->point[i];
        double w = point->weight;
        if (w == 0) continue;
        const sn_vec3 l = point->local;
        sn_pair x = pair_add(at, pair_mul(c0, pair_of(l.x)));
        x = pair_add(x, pair_mul(c1, pair_of(l.y)));
        x = pair_add(x, pair_mul(c2, pair_of(l.z)));
        const double z = ((at_z + R->c[0].z * l.x) + R->c[1].z * l.y) + R->c[2].z * l.z;
        const sn_pair g = pair_sub(pair_load(&point->goal.x), origin);
        const double gz = point->goal.z - origin_z;
        const sn_pair r = pair_sub(g, x);
        const double rz = gz - z;
        if (losses && point->loss != SN_LOSS_NONE) {
            const sn_vec3 at_point = v3(pair_first(x), pair_second(x), z);
            const sn_vec3 left_over = v3(pair_first(r), pair_second(r), rz);
            const sn_loss_terms loss = sn_loss_at(point, v3_dot(left_over, left_over));
            lost += w * loss.value;
            if (exact && loss.bend != 0)
                sn_add_along(ws->body[k].K, w * loss.bend, at_point, left_over);
            w *= loss.slope;
        } else {
            F = pair_add(F, pair_mul(pair_of(w), pair_mul(r, r)));
            Fz += w * (rz * rz);
        }
        const sn_pair ww = pair_of(w);
        const sn_pair wg = pair_mul(ww, g), wx = pair_mul(ww, x);
        const double wgz = w * gz, wz = w * z;
        W += w;
        P = pair_add(P, wx);
        Pz += wz;
        G = pair_add(G, wg);
        Gz += wgz;
        const sn_pair left = exact ? wg : wx;
        const double left_z = exact ? wgz : wz;
        M0 = pair_add(M0, pair_mul(left, pair_of(pair_first(x))));
        M1 = pair_add(M1, pair_mul(left, pair_of(pair_second(x))));
        M2 = pair_add(M2, pair_mul(left, pair_of(z)));
        Mz = pair_add(Mz, pair_mul(x, pair_of(left_z)));
        Mzz += left_z * z;
        if (!exact)
            T = v3_add(T, v3_cross(v3(pair_first(wg), pair_second(wg), wgz),
                                   v3(pair_first(x), pair_second(x), z)));
    }
    *sums = (sn_sums){{pair_first(M0), pair_second(M0), pair_first(Mz), pair_first(M1),
                       pair_second(M1), pair_second(Mz), pair_first(M2), pair_second(M2), Mzz},
                      {pair_first(P), pair_second(P), Pz},
                      {pair_first(G), pair_second(G), Gz},
                      W,
                      {T.x, T.y, T.z},
                      0};
    return losses ? (pair_sum(F) + Fz) + lost : pair_sum(F) + Fz;
}

// The same with losses, kept out of the way of the plain loop.
static double sum_with_losses(sn_workspace *ws, bool exact) {
    double twice = 0;
    for (int k = 0; k < ws->model->njoint; k++) {
        for (int i = 0; i < 36; i++) ws->body[k].K[i] = 0;
        if (exact) {
            twice += sum_points(ws, k, true, true, &ws->sums[k]);
        } else {
            twice += sum_points(ws, k, false, true, &ws->sums[k]);
        }
    }
    return 0.5 * twice;
}

// A force F on a point p is a point of weight 0 with w g = F.
static void add_forces(sn_workspace *ws, bool exact) {
    for (int i = 0; i < ws->ties->nforce; i++) {
        const sn_tie_force *force = &ws->ties->force[i];
        sn_sums *s = &ws->sums[force->joint];
        const sn_vec3 p = force->p, F = force->F;
        for (int r = 0; r < 3; r++) {
            s->G[r] += v3_at(F, r);
            for (int c = 0; c < 3 && exact; c++) s->M[r + 3 * c] += v3_at(F, r) * v3_at(p, c);
            if (!exact) s->T[r] += v3_at(v3_cross(F, p), r);
        }
    }
}

static double sum_all(sn_workspace *ws, bool exact) {
    double twice = 0;
    if (ws->problem->nloss > 0) return sum_with_losses(ws, exact);
    for (int k = 0; k < ws->model->njoint; k++) {
        if (exact) {
            twice += sum_points(ws, k, true, false, &ws->sums[k]);
        } else {
            twice += sum_points(ws, k, false, false, &ws->sums[k]);
        }
    }
    return 0.5 * twice;
}

double sn_fast_sum(sn_workspace *ws, bool exact) {
    double f = sum_all(ws, exact);
    if (ws->ties != NULL && ws->ties->forced) add_forces(ws, exact);
    return f;
}

// All 20 numbers; when the torque is not in use it is 0.
static void sums_add(sn_sums *to, const sn_sums *from) {
    double *x = (double *)(void *)to;
    const double *y = (const double *)(const void *)from;
    for (int i = 0; i < 20; i += 2) pair_store(x + i, pair_add(pair_load(x + i), pair_load(y + i)));
}

// K = [tr M I - M^T, [G]; -[P], W I], column by column. What is 0 in it was set by clear_fields().
static void put_field(const sn_sums *restrict s, const double *restrict G, double *restrict K) {
    const double *M = s->M, *P = s->P, W = s->W, trace = M[0] + M[4] + M[8];
    K[0] = trace - M[0], K[1] = -M[3], K[2] = -M[6], K[4] = -P[2], K[5] = P[1];
    K[6] = -M[1], K[7] = trace - M[4], K[8] = -M[7], K[9] = P[2], K[11] = -P[0];
    K[12] = -M[2], K[13] = -M[5], K[14] = trace - M[8], K[15] = -P[1], K[16] = P[0];
    K[19] = G[2], K[20] = -G[1], K[21] = W;
    K[24] = -G[2], K[26] = G[0], K[28] = W;
    K[30] = G[1], K[31] = -G[0], K[35] = W;
}

// The general sweep and losses fill all of K; after them the zeros must be put back.
static void clear_fields(sn_workspace *ws) {
    for (int k = 0; k < ws->model->njoint; k++)
        for (int i = 0; i < 36; i++) ws->field[k].K[i] = 0;
}

// What the losses below take off goes into joint k's field and on to its parent.
static void add_losses(sn_workspace *ws, int k) {
    double *K = ws->field[k].K;
    const double *own = ws->body[k].K;
    const int parent = ws->model->joint[k].parent;
    for (int i = 0; i < 36; i++) K[i] += own[i];
    if (parent < 0) return;
    for (int i = 0; i < 36; i++) ws->body[parent].K[i] += own[i];
}

void sn_fast_fields(sn_workspace *ws, bool exact) {
    const sn_model *m = ws->model;
    const bool losses = exact && ws->problem->nloss > 0;
    if (ws->fields_full) clear_fields(ws);
    ws->fields_full = losses;
    for (int k = m->njoint - 1; k >= 0; k--) {
        const sn_joint *j = &m->joint[k];
        const sn_sums *s = &ws->sums[k];
        const double *M = s->M;
        // sum w g x p, from the antisymmetric part of M when that has g in it
        sn_vec3 turn = exact ? v3(M[7] - M[5], M[2] - M[6], M[3] - M[1]) : v3_from(s->T);
        sn_vec3 pull = v3_sub(v3_from(s->P), v3_from(s->G));
        put_field(s, exact ? s->G : s->P, ws->field[k].K);
        if (losses) add_losses(ws, k);
        const sn_twist down = {turn, pull};
        const six phi = twist_load(&down);
        for (int i = j->slot; i < j->slot + j->nv; i++)
            ws->g[i] = six_dot(twist_load(&ws->S[i]), phi);
        if (exact && j->curved) sn_local_curve(ws, k, v3_neg(turn), v3_neg(pull));
        if (j->parent >= 0) sums_add(&ws->sums[j->parent], s);
    }
}
