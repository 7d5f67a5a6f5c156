// SPDX-License-Identifier: MIT
// 003's (docs/bibliography.md) Jacobians. Its twists are (v; w), linear velocity first; ours are (a; b), angular first,
// about the origin of the sweep. A frame (R, p) sees the twist S as
//
//   w = R^T a,   v = R^T (b + a x p)
//
// which is the inverse adjoint of the frame applied to S.
#include <string.h>

#include "sweeps/workspace.h"

void sn_adjoint(const sn_frame *frame, double Ad[36]) {
    if (frame == NULL || Ad == NULL) return;
    for (int c = 0; c < 3; c++) {
        sn_vec3 column = frame->R.c[c], moved = v3_cross(frame->p, column);
        const sn_vec3 block[2][2] = {{column, {0, 0, 0}}, {moved, column}};
        for (int side = 0; side < 2; side++) {
            memcpy(Ad + 6 * (c + 3 * side), &block[side][0], sizeof(sn_vec3));
            memcpy(Ad + 6 * (c + 3 * side) + 3, &block[side][1], sizeof(sn_vec3));
        }
    }
}

static void zero(double *x, size_t n) {
    for (size_t i = 0; i < n; i++) x[i] = 0;
}

// Columns of followers are handed to those they follow, at the placed pose.
static void lead_columns(const sn_workspace *ws, int height, double *J) {
    const sn_model *m = ws->model;
    for (int i = m->ncoupling - 1; i >= 0; i--) {
        const sn_coupling_place *c = &m->coupled[i];
        sn_jet jet;
        sn_driver_at(&c->driver, ws->q, &jet);
        double *from = J + (size_t)height * (size_t)c->follower_v;
        for (int k = 0; k < c->nleader; k++) {
            double *to = J + (size_t)height * (size_t)c->v[k], share = m->inner[c->v[k]] * jet.d[k];
            for (int r = 0; r < height; r++) to[r] += share * from[r];
        }
        zero(from, (size_t)height);
    }
}

void sn_jacobian_simple(const sn_workspace *ws, int joint, const double local[3], double *J) {
    if (ws == NULL || local == NULL || J == NULL) return;
    const sn_model *m = ws->model;
    zero(J, 3 * (size_t)m->nv);
    if (joint < 0 || joint >= m->njoint) return;
    int k = m->sweep_of[joint];
    sn_vec3 p = sn_place(&ws->frame[k], v3_from(local));
    for (; k >= 0; k = m->joint[k].parent) {
        const sn_joint *j = &m->joint[k];
        for (int i = 0; i < j->nv; i++) {
            const sn_twist *S = &ws->S[j->slot + i];
            sn_vec3 column = v3_scale(m->inner[j->v0 + i], v3_add(S->b, v3_cross(S->a, p)));
            memcpy(J + 3 * (j->v0 + i), &column, sizeof column);
        }
    }
    lead_columns(ws, 3, J);
}

// The frame `inner` as seen from `outer`.
static sn_frame frame_between(const sn_frame *outer, const sn_frame *inner) {
    sn_mat3 back = m3_transpose(&outer->R);
    return (sn_frame){m3_mulm(&back, &inner->R), m3_mul(&back, v3_sub(inner->p, outer->p))};
}

void sn_jacobian_generic(const sn_workspace *ws, int joint, double *J) {
    if (ws == NULL || J == NULL) return;
    const sn_model *m = ws->model;
    zero(J, 36 * (size_t)m->njoint);
    if (joint < 0 || joint >= m->njoint) return;
    int body = m->sweep_of[joint];
    for (int k = body; k >= 0; k = m->joint[k].parent) {
        sn_frame seen = frame_between(&ws->frame[body], &ws->frame[k]);
        sn_adjoint(&seen, J + 36 * (size_t)m->joint[k].id);
    }
}

// The frame in which a Jacobian is stated, its place from the sweep's origin.
static sn_frame stated_in(const sn_workspace *ws, int k, sn_jacobian_frame frame,
                          const double local[3]) {
    if (frame == SN_JACOBIAN_WORLD) return (sn_frame){m3_identity(), v3_neg(ws->origin)};
    sn_frame body = ws->frame[k];
    if (frame == SN_JACOBIAN_POINT && local != NULL) body.p = sn_place(&body, v3_from(local));
    return body;
}

static void put_column(const sn_frame *in, sn_twist S, double gain, unsigned rows, double *J,
                       int column) {
    sn_vec3 v = v3_add(S.b, v3_cross(S.a, in->p));
    sn_vec3 part[2] = {v3_scale(gain, m3_tmul(&in->R, v)), v3_scale(gain, m3_tmul(&in->R, S.a))};
    int height = rows == SN_ROWS_BOTH ? 6 : 3;
    double *to = J + (size_t)height * (size_t)column;
    if (rows & SN_ROWS_LINEAR) memcpy(to, &part[0], sizeof part[0]);
    if (rows & SN_ROWS_ANGULAR) memcpy(to + height - 3, &part[1], sizeof part[1]);
}

void sn_jacobian_adjusted(const sn_workspace *ws, int joint, sn_jacobian_frame frame,
                          const double local[3], unsigned rows, double *J) {
    if (ws == NULL || J == NULL) return;
    const sn_model *m = ws->model;
    rows &= SN_ROWS_BOTH;
    if (rows == 0) return;
    zero(J, (rows == SN_ROWS_BOTH ? 6 : 3) * (size_t)m->nv);
    if (joint < 0 || joint >= m->njoint) return;
    int k = m->sweep_of[joint];
    sn_frame in = stated_in(ws, k, frame, local);
    for (; k >= 0; k = m->joint[k].parent) {
        const sn_joint *j = &m->joint[k];
        for (int i = 0; i < j->nv; i++)
            put_column(&in, ws->S[j->slot + i], m->inner[j->v0 + i], rows, J, j->v0 + i);
    }
    lead_columns(ws, rows == SN_ROWS_BOTH ? 6 : 3, J);
}

// dS/dt of velocity i of joint k beyond being carried by what lies outside it: the same-joint
// terms. The axes of a rotation held as a quaternion are those of the parent-side frame, so its own
// motion does not move them at all: what its outer axes contribute as if stacked is taken out
// again.
static sn_twist own_rate(const sn_workspace *ws, int k, int i, const double *qd) {
    const sn_joint *j = &ws->model->joint[k];
    const sn_joint_ops *ops = j->ops;
    sn_vec3 rate = {0, 0, 0}, e[3][3];
    int first = ops->curve_first, a = i - first;
    if (ops->bend != NULL) {
        sn_twist E[SN_MAX_JOINT_DOFS][SN_MAX_JOINT_DOFS], sum = {rate, rate};
        ops->bend(j, ws->q + j->q0, &ws->base[k], E);
        for (int b = 0; b < j->nv; b++)
            sum = twist_add(sum, qd[j->v0 + b], b <= i ? E[i][b] : E[b][i]);
        return sum;
    }
    if (ops->curve == NULL || a < 0 || a >= ops->curve_count) return (sn_twist){rate, rate};
    const double *own = qd + j->v0 + first;
    if (ops->quaternion >= 0) {
        for (int b = 0; b < a; b++)
            rate = v3_sub(rate, v3_scale(own[b], v3_cross(ws->S[j->slot + first + b].a,
                                                          ws->S[j->slot + i].a)));
        return twist_about(rate, ws->frame[k].p);
    }
    ops->curve(j, ws->q + j->q0, &ws->base[k], e);
    for (int b = 0; b < ops->curve_count; b++)
        rate = v3_add(rate, v3_scale(own[b], b <= a ? e[a][b] : e[b][a]));
    return twist_about(rate, ws->frame[k].p);
}

// The column of velocity v of a Jacobian with those of its followers in it: J is nowhere kept.
static void led_column(const sn_workspace *ws, int body, const sn_frame *in, unsigned rows, int v,
                       double column[6]) {
    const sn_model *m = ws->model;
    for (int r = 0; r < 6; r++) column[r] = 0;
    for (int k = body; k >= 0; k = m->joint[k].parent) {
        const sn_joint *j = &m->joint[k];
        if (v >= j->v0 && v < j->v0 + j->nv)
            put_column(in, ws->S[j->slot + v - j->v0], m->inner[v], rows, column, 0);
    }
    for (int i = 0; i < m->ncoupling; i++) {
        const sn_coupling_place *c = &m->coupled[i];
        for (int k = 0; k < c->nleader; k++) {
            if (c->v[k] != v) continue;
            sn_jet jet;
            double own[6];
            sn_driver_at(&c->driver, ws->q, &jet);
            led_column(ws, body, in, rows, c->follower_v, own);
            for (int r = 0; r < 6; r++) column[r] += m->inner[v] * jet.d[k] * own[r];
        }
    }
}

// Rates of followers' columns are handed to those they follow, whose share of them changes as well.
static void lead_rates(const sn_workspace *ws, int body, const sn_frame *in, unsigned rows,
                       const double *qd, double *Jdot) {
    const sn_model *m = ws->model;
    const int height = rows == SN_ROWS_BOTH ? 6 : 3;
    for (int i = m->ncoupling - 1; i >= 0; i--) {
        const sn_coupling_place *c = &m->coupled[i];
        sn_jet jet;
        double column[6], *from = Jdot + (size_t)height * (size_t)c->follower_v;
        sn_driver_at(&c->driver, ws->q, &jet);
        led_column(ws, body, in, rows, c->follower_v, column);
        for (int k = 0; k < c->nleader; k++) {
            double *to = Jdot + (size_t)height * (size_t)c->v[k], inner = m->inner[c->v[k]];
            double rate = 0;
            for (int l = 0; l < c->nleader; l++)
                rate += (l <= k ? jet.dd[k][l] : jet.dd[l][k]) * qd[c->v[l]];
            for (int r = 0; r < height; r++)
                to[r] += inner * (jet.d[k] * from[r] + rate * column[r]);
        }
        zero(from, (size_t)height);
    }
}

void sn_jacobian_dot(sn_workspace *ws, int joint, sn_jacobian_frame frame, const double local[3],
                     unsigned rows, const double *given, double *Jdot) {
    if (ws == NULL || given == NULL || Jdot == NULL) return;
    const sn_model *m = ws->model;
    double *qd = ws->scratch;
    rows &= SN_ROWS_BOTH;
    if (rows == 0) return;
    zero(Jdot, (rows == SN_ROWS_BOTH ? 6 : 3) * (size_t)m->nv);
    if (joint < 0 || joint >= m->njoint) return;
    int body = m->sweep_of[joint];
    sn_frame in = stated_in(ws, body, frame, local);
    for (int v = 0; v < m->nv; v++) qd[v] = given[v];
    if (m->ncoupling > 0) sn_ties_follow_file(ws, qd);

    // the twist of every joint on the path, summed from the body up: V[k] = whole - what is below
    sn_twist whole = {{0, 0, 0}, {0, 0, 0}};
    for (int k = body; k >= 0; k = m->joint[k].parent) {
        const sn_joint *j = &m->joint[k];
        for (int i = 0; i < j->nv; i++) whole = twist_add(whole, qd[j->v0 + i], ws->S[j->slot + i]);
    }
    // column = Ad(in)^-1 S, so its rate is Ad(in)^-1 (dS - V_in x S); the world does not move
    sn_twist V_in = whole, above = whole;
    if (frame == SN_JACOBIAN_WORLD) V_in = (sn_twist){{0, 0, 0}, {0, 0, 0}};
    for (int k = body; k >= 0; k = m->joint[k].parent) {
        const sn_joint *j = &m->joint[k];
        for (int i = j->nv - 1; i >= 0; i--) {
            sn_twist S = ws->S[j->slot + i];
            above = twist_add(above, -qd[j->v0 + i], S);
            sn_twist rate = twist_add(twist_cross(above, S), 1, own_rate(ws, k, i, qd));
            rate = twist_add(rate, -1, twist_cross(V_in, S));
            put_column(&in, rate, m->inner[j->v0 + i], rows, Jdot, j->v0 + i);
        }
    }
    if (m->ncoupling > 0) lead_rates(ws, body, &in, rows, qd, Jdot);
}
