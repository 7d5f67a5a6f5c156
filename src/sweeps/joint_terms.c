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

// Gradient g[nv] and the lower triangle of H (by joint: 6 x 6) of one joint's coordinates.
typedef struct joint_term {
    double f;
    double g[SN_MAX_JOINT_DOFS];
    double diagonal[SN_MAX_JOINT_DOFS];
    sn_vec3 H[3];  // the rotational block, when it has one
} joint_term;

static void add_rest(const sn_workspace *ws, const sn_rest *rest, const sn_joint *j, bool exact,
                     joint_term *term) {
    const sn_joint_ops *ops = j->ops;
    const double *q = ws->q + j->q0, *q0 = rest->q + j->q0, *w = rest->q_weight + j->v0;
    double delta[SN_MAX_JOINT_DOFS];
    if (ops->difference != NULL) {
        ops->difference(q0, q, delta);
    } else {
        for (int i = 0; i < j->nv; i++) delta[i] = q[i] - q0[i];
    }
    int start = rotation_start(j), count = start < 0 ? j->nv : start;
    for (int i = 0; i < count; i++) {
        double wi = rest->weight * w[i];
        term->f += 0.5 * wi * delta[i] * delta[i];
        term->g[i] += wi * delta[i];
        term->diagonal[i] += wi;
    }
    if (start < 0) return;
    sn_vec3 weight = v3_scale(rest->weight, v3_from(w + start)), g, H[3];
    sn_vec3 psi = v3_from(delta + start);
    rotation_term(weight, psi, exact, &g, H);
    term->f +=
        0.5 * (weight.x * psi.x * psi.x + weight.y * psi.y * psi.y + weight.z * psi.z * psi.z);
    for (int a = 0; a < 3; a++) {
        term->g[start + a] += v3_at(g, a);
        term->H[a] = v3_add(term->H[a], H[a]);
    }
}

static void add_soft(const sn_workspace *ws, const sn_soft *soft, const sn_joint *j,
                     joint_term *term) {
    int start = rotation_start(j), count = start < 0 ? j->nv : start;
    if (j->v0 < soft->first || j->v0 >= soft->first + soft->count) return;
    for (int i = 0; i < count; i++) {
        double x = ws->q[j->q0 + i], lower = ws->model->lower[j->v0 + i];
        double upper = ws->model->upper[j->v0 + i];
        double out = x < lower ? x - lower : x > upper ? x - upper : 0;
        if (out == 0) continue;
        term->f += 0.5 * soft->weight * out * out;
        term->g[i] += soft->weight * out;
        term->diagonal[i] += soft->weight;
    }
}

static joint_term term_of(const sn_workspace *ws, const sn_joint *j, bool exact) {
    const sn_problem *p = ws->problem;
    joint_term term = {0};
    for (int i = 0; i < p->nrest; i++)
        if (p->rest[i].active) add_rest(ws, &p->rest[i], j, exact, &term);
    for (int i = 0; i < p->nsoft; i++)
        if (p->soft[i].active) add_soft(ws, &p->soft[i], j, &term);
    return term;
}

double sn_joint_terms_value(const sn_workspace *ws) {
    double f = 0;
    if (!sn_joint_terms_any(ws)) return 0;
    for (int k = 0; k < ws->model->njoint; k++) f += term_of(ws, &ws->model->joint[k], false).f;
    return f;
}

double sn_joint_terms_add(sn_workspace *ws, bool exact, bool second) {
    double f = 0;
    if (!sn_joint_terms_any(ws)) return 0;
    for (int k = 0; k < ws->model->njoint; k++) {
        const sn_joint *j = &ws->model->joint[k];
        joint_term term = term_of(ws, j, exact);
        double *local = ws->local + SN_MAX_JOINT_DOFS * j->slot;
        int start = rotation_start(j);
        f += term.f;
        for (int a = 0; a < j->nv; a++, local += SN_MAX_JOINT_DOFS) {
            ws->g[j->slot + a] += term.g[a];
            if (!second) continue;
            local[a] += term.diagonal[a];
            for (int b = start; start >= 0 && a >= start && b <= a; b++)
                local[b] += v3_at(term.H[a - start], b - start);
        }
    }
    return f;
}

void sn_joint_terms_multiply(const sn_workspace *ws, bool exact, const double *x, double *out) {
    if (!sn_joint_terms_any(ws)) return;
    for (int k = 0; k < ws->model->njoint; k++) {
        const sn_joint *j = &ws->model->joint[k];
        joint_term term = term_of(ws, j, exact);
        int start = rotation_start(j);
        for (int i = 0; i < j->nv; i++) out[j->v0 + i] += term.diagonal[i] * x[j->v0 + i];
        if (start < 0) continue;
        sn_vec3 turn = v3_from(x + j->v0 + start);
        for (int a = 0; a < 3; a++) out[j->v0 + start + a] += v3_dot(term.H[a], turn);
    }
}
