// SPDX-License-Identifier: MIT
// Tasks on the coordinates themselves: rest and soft limits. They touch the diagonal of H only, but
// for a rotation held as a quaternion, whose residual psi = log(R R_rest^T) couples its three
// degrees of freedom:
//
//   phi = 1/2 psi^T W psi,  g = J_r^-1(psi) W psi = u + psi x u / 2 + c psi x (psi x u),  u = W psi
//   H = the symmetric part of dg along psi + J_l^-1(psi) e_b
//
// since the second derivative by exp(delta) R is the mean of both orders.
#include "math/rotation.h"
#include "math/sincos.h"
#include "sweeps/workspace.h"

// First of the three rotational velocities of a joint held as a quaternion, -1 for other joints.
static int rotation_start(const sn_joint *j) {
    const sn_joint_ops *ops = j->ops;
    return ops->quaternion >= 0 ? ops->curve_first : -1;
}

// c_w(W, psi): gradient and Hessian of 1/2 psi^T W psi, W diagonal.
static void rotation_term(sn_vec3 weight, sn_vec3 psi, bool exact, sn_vec3 *g, sn_vec3 H[3]) {
    double c, dc;
    sn_log_coefficients(v3_dot(psi, psi), &c, &dc);
    sn_vec3 u = v3(weight.x * psi.x, weight.y * psi.y, weight.z * psi.z);
    *g = sn_log_jacobian_right(c, psi, u);
    sn_vec3 pu = v3_cross(psi, u), full[3];
    for (int b = 0; b < 3; b++) {
        // x = J_l^-1(psi) e_b; J_l^-1 is J_r^-1 with psi negated
        sn_vec3 x = sn_log_jacobian_right(c, v3_neg(psi), v3_unit(b));
        sn_vec3 wx = v3(weight.x * x.x, weight.y * x.y, weight.z * x.z);
        full[b] = sn_log_jacobian_right(c, psi, wx);
        if (!exact) continue;
        sn_vec3 xu = v3_cross(x, u);
        sn_vec3 twice = v3_add(v3_cross(x, pu), v3_cross(psi, xu));
        sn_vec3 last = v3_scale(dc * v3_dot(psi, x), v3_cross(psi, pu));
        full[b] = v3_add(full[b], v3_add(v3_scale(0.5, xu), v3_add(v3_scale(c, twice), last)));
    }
    for (int a = 0; a < 3; a++)
        H[a] = v3(0.5 * (v3_at(full[a], 0) + v3_at(full[0], a)),
                  0.5 * (v3_at(full[a], 1) + v3_at(full[1], a)),
                  0.5 * (v3_at(full[a], 2) + v3_at(full[2], a)));
}

// How many of a joint's velocities change a plain number.
static int plain_count(const sn_joint *j) {
    return j->ops->quaternion >= 0 ? j->ops->curve_first : j->nv;
}

// The rotation of a joint held as a quaternion, against its rest: weights, psi and their term.
typedef struct turned {
    sn_vec3 weight, psi, g, H[3];
} turned;

static turned rest_rotation(const sn_workspace *ws, const sn_rest *rest, const sn_joint *j,
                            bool exact) {
    turned t;
    double delta[SN_MAX_JOINT_DOFS];
    int start = rotation_start(j);
    j->ops->difference(rest->q + j->q0, ws->q + j->q0, delta);
    t.psi = v3_from(delta + start);
    t.weight = v3_scale(rest->weight, v3_from(rest->q_weight + j->v0 + start));
    rotation_term(t.weight, t.psi, exact, &t.g, t.H);
    return t;
}

static double turned_value(const turned *t) {
    return 0.5 * (t->weight.x * t->psi.x * t->psi.x + t->weight.y * t->psi.y * t->psi.y +
                  t->weight.z * t->psi.z * t->psi.z);
}

// f of a rest task, and its share of the gradient and of `local` where they are asked for.
static double add_rest(sn_workspace *ws, const sn_rest *rest, bool exact, bool first, bool second) {
    const sn_model *m = ws->model;
    double f = 0;
    for (int k = 0; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        const double *q = ws->q + j->q0, *q0 = rest->q + j->q0, *w = rest->q_weight + j->v0;
        double *local = ws->local + SN_MAX_JOINT_DOFS * j->slot;
        for (int i = 0, n = plain_count(j); i < n; i++) {
            double wi = rest->weight * w[i], delta = sn_joint_apart(j, i, q[i], q0[i]),
                   pull = wi * delta;
            f += 0.5 * pull * delta;
            if (first) ws->g[j->slot + i] += pull;
            if (second) local[SN_MAX_JOINT_DOFS * i + i] += wi;
        }
        int start = rotation_start(j);
        if (start < 0) continue;
        turned t = rest_rotation(ws, rest, j, exact);
        f += turned_value(&t);
        for (int a = 0; a < 3 && first; a++) {
            ws->g[j->slot + start + a] += v3_at(t.g, a);
            for (int b = 0; b <= a && second; b++)
                local[SN_MAX_JOINT_DOFS * (start + a) + start + b] += v3_at(t.H[a], b);
        }
    }
    return f;
}

// A ball that may turn by so much from zero: r = |psi| - most, psi = log R, whose derivative by exp(delta) R
// is n = psi / |psi|, and the second
//
//   n n^T + (|psi| - most) cot(|psi| / 2) / 2 (I - n n^T)      in f
bool sn_soft_turned(const sn_soft *soft, const sn_joint *j, const double *q, bool exact,
                    sn_soft_turn *out) {
    const int start = rotation_start(j);
    static const double none[7] = {0, 0, 0, 1, 0, 0, 0};
    if (start < 0 || soft->upper == NULL || !(soft->upper[j->v0 + start] < INFINITY)) return false;
    double delta[SN_MAX_JOINT_DOFS];
    // zero: a free joint has its place before its quaternion
    j->ops->difference(none + 3 - start, q + j->q0, delta);
    sn_vec3 psi = v3_from(delta + start);
    double angle = v3_norm(psi);
    out->out = angle - soft->upper[j->v0 + start];
    if (!(out->out > 0) || !(angle > 0)) return false;
    out->weight = sn_soft_weight(soft, j->v0 + start);
    out->axis = v3_scale(1 / angle, psi);
    double s, c;
    sn_sincos_inline(0.5 * angle, &s, &c);
    double across = exact ? out->out * 0.5 * c / s : 0;
    for (int a = 0; a < 3; a++) {
        sn_vec3 along = v3_scale((1 - across) * v3_at(out->axis, a), out->axis);
        out->H[a] = v3_scale(out->weight, v3_add(along, v3_scale(across, v3_unit(a))));
    }
    return true;
}

// The same for soft limits.
static double add_soft(sn_workspace *ws, const sn_soft *soft, bool exact, bool first, bool second) {
    const sn_model *m = ws->model;
    double f = 0;
    for (int k = 0; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        if (j->v0 < soft->first || j->v0 >= soft->first + soft->count) continue;
        for (int i = 0, n = plain_count(j); i < n; i++) {
            double out = sn_soft_out(soft, m, j->v0 + i, ws->q[j->q0 + i]);
            if (out == 0) continue;
            double weight = sn_soft_weight(soft, j->v0 + i);
            f += 0.5 * weight * out * out;
            if (first) ws->g[j->slot + i] += weight * out;
            if (second) ws->local[SN_MAX_JOINT_DOFS * (j->slot + i) + i] += weight;
        }
        sn_soft_turn t;
        if (!sn_soft_turned(soft, j, ws->q, exact, &t)) continue;
        int start = rotation_start(j);
        f += 0.5 * t.weight * t.out * t.out;
        for (int a = 0; a < 3 && first; a++) {
            ws->g[j->slot + start + a] += t.weight * t.out * v3_at(t.axis, a);
            for (int b = 0; b <= a && second; b++)
                ws->local[SN_MAX_JOINT_DOFS * (j->slot + start + a) + start + b] +=
                    v3_at(t.H[a], b);
        }
    }
    return f;
}

static double add_all(sn_workspace *ws, bool exact, bool first, bool second) {
    const sn_problem *p = ws->problem;
    double f = 0;
    for (int i = 0; i < p->nrest; i++)
        if (p->rest[i].active) f += add_rest(ws, &p->rest[i], exact, first, second);
    for (int i = 0; i < p->nsoft; i++)
        if (p->soft[i].active) f += add_soft(ws, &p->soft[i], exact, first, second);
    for (int i = 0; i < p->nposture; i++)
        if (p->posture[i].active) f += sn_posture_add(ws, &p->posture[i], exact, first, second);
    return f;
}

double sn_joint_terms_value(sn_workspace *ws) {
    return sn_joint_terms_any(ws) ? add_all(ws, false, false, false) : 0;
}

double sn_joint_terms_add(sn_workspace *ws, bool exact, bool second) {
    return sn_joint_terms_any(ws) ? add_all(ws, exact, true, second) : 0;
}

double sn_joint_terms_slope(const sn_workspace *ws, const sn_joint *j, int k) {
    const sn_problem *p = ws->problem;
    const int q = j->q0 + k, v = j->v0 + k;
    double slope = 0, x = ws->q[q];
    for (int i = 0; i < p->nrest; i++)
        if (p->rest[i].active)
            slope += p->rest[i].weight * p->rest[i].q_weight[v] *
                     sn_joint_apart(j, k, x, p->rest[i].q[q]);
    for (int i = 0; i < p->nsoft; i++) {
        const sn_soft *soft = &p->soft[i];
        if (!soft->active || v < soft->first || v >= soft->first + soft->count) continue;
        slope += sn_soft_weight(soft, v) * sn_soft_out(soft, ws->model, v, x);
    }
    for (int i = 0; i < p->nposture; i++)
        if (p->posture[i].active) slope += sn_posture_slope(ws, &p->posture[i], j, k);
    return slope;
}

void sn_joint_terms_multiply(const sn_workspace *ws, bool exact, const double *x, double *out) {
    const sn_model *m = ws->model;
    const sn_problem *p = ws->problem;
    for (int k = 0; k < m->njoint && sn_joint_terms_any(ws); k++) {
        const sn_joint *j = &m->joint[k];
        int start = rotation_start(j), n = plain_count(j);
        for (int r = 0; r < p->nrest; r++) {
            const sn_rest *rest = &p->rest[r];
            if (!rest->active) continue;
            for (int i = 0; i < n; i++)
                out[j->v0 + i] += rest->weight * rest->q_weight[j->v0 + i] * x[j->v0 + i];
            if (start < 0) continue;
            turned t = rest_rotation(ws, rest, j, exact);
            sn_vec3 turn = v3_from(x + j->v0 + start);
            for (int a = 0; a < 3; a++) out[j->v0 + start + a] += v3_dot(t.H[a], turn);
        }
        for (int r = 0; r < p->nsoft; r++) {
            const sn_soft *soft = &p->soft[r];
            if (!soft->active || j->v0 < soft->first || j->v0 >= soft->first + soft->count)
                continue;
            for (int i = 0; i < n; i++) {
                int v = j->v0 + i;
                if (sn_soft_out(soft, m, v, ws->q[j->q0 + i]) != 0)
                    out[v] += sn_soft_weight(soft, v) * x[v];
            }
            sn_soft_turn t;
            if (!sn_soft_turned(soft, j, ws->q, exact, &t)) continue;
            sn_vec3 turn = v3_from(x + j->v0 + start);
            for (int a = 0; a < 3; a++) out[j->v0 + start + a] += v3_dot(t.H[a], turn);
        }
    }
    for (int i = 0; i < p->nposture; i++)
        if (p->posture[i].active) sn_posture_multiply(ws, &p->posture[i], exact, x, out);
}
