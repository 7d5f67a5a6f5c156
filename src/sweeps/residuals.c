// SPDX-License-Identifier: MIT
// Residuals and Jacobian of the tasks. For a rigid motion (a; b) of a body, V being the square root
// of the weight:
//
//   point         r = V (g - p)            dr = -V (b + a x p)          V^T V = W
//   direction     r = V (g - d)            dr = -V (a x d)
//   orientation   r = V psi                dr = -V J_r^-1(psi) a        psi = log(R_goal R^T)
//   rest          r = V (q - q_rest)       dr = V u
//   ... rotation  r = V psi                dr = V J_l^-1(psi) u         psi = log(R R_rest^T)
//   limit         r = V (q - limit)        dr = V u                     outside the limit only
//
// The two Jacobians of the logarithm: moving the body puts exp(-a) on the right of exp(psi), in the
// rest task exp(u) comes on its left, and
//
//   log(exp(psi) exp(x)) = psi + J_r^-1(psi) x + ...,   log(exp(x) exp(psi)) = psi + J_l^-1(psi) x
//
// with J_l^-1(psi) = J_r^-1(-psi). Their transposes leave psi itself as it is, so a scalar weight's
// gradient needs neither; J^T J does.
//
// A point with a loss has V = sqrt(w rho'), and V counts as constant in dr (tasks/loss.h).
//
// A matrix weight is taken apart by Cholesky's method with the largest pivot first, W = V^T V:
// exact for singular weights such as a plane's w n n^T, where the remaining pivots are rounding and
// the rows become zero.
#include "sweeps/residuals.h"

#include <string.h>

#include "math/rotation.h"
#include "tasks/loss.h"

// Where rows go. J has `rows` of them; it is NULL when nobody asks.
typedef struct sink {
    const sn_workspace *ws;
    double *r, *J;
    int rows;
    int row;  // first of the block being written
} sink;

int sn_residual_triples(const sn_problem *problem) {
    return 3 * (problem->npoint + problem->npart + problem->natom + problem->nposed);
}

int sn_residual_count(const sn_problem *problem) {
    int count = sn_residual_triples(problem) + problem->nrest * problem->model->nv;
    for (int i = 0; i < problem->nsoft; i++) count += problem->soft[i].count;
    return count;
}

// V with W = V^T V.
static sn_mat3 square_root(const sn_mat3 *W) {
    double A[3][3], V[3][3] = {{0}};
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < 3; i++) A[i][c] = v3_at(W->c[c], i);
    double least = 1e-15 * fmax(A[0][0], fmax(A[1][1], A[2][2]));
    for (int k = 0; k < 3; k++) {
        int top = 0;
        for (int i = 1; i < 3; i++)
            if (A[i][i] > A[top][top]) top = i;
        double pivot = A[top][top];
        if (!(pivot > least)) break;
        for (int i = 0; i < 3; i++) V[k][i] = A[i][top] / sqrt(pivot);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) A[i][j] -= V[k][i] * V[k][j];
        A[top][top] = 0;
    }
    return (sn_mat3){
        {{V[0][0], V[1][0], V[2][0]}, {V[0][1], V[1][1], V[2][1]}, {V[0][2], V[1][2], V[2][2]}}};
}

// Three rows of r, and for every degree of freedom on the path of joint k its column -(A a + B b);
// B may be NULL for zero.
static void put_body(sink *to, int k, sn_vec3 r, const sn_mat3 *A, const sn_mat3 *B) {
    const sn_model *m = to->ws->model;
    to->r[to->row] = r.x;
    to->r[to->row + 1] = r.y;
    to->r[to->row + 2] = r.z;
    for (; to->J != NULL && k >= 0; k = m->joint[k].parent) {
        const sn_joint *j = &m->joint[k];
        for (int a = 0; a < j->nv; a++) {
            const sn_twist *S = &to->ws->S[j->slot + a];
            double *column = to->J + (size_t)to->rows * (size_t)(j->slot + a) + to->row;
            sn_vec3 dr = m3_mul(A, S->a);
            if (B != NULL) dr = v3_add(dr, m3_mul(B, S->b));
            dr = v3_scale(-m->inner[j->v0 + a], dr);
            column[0] += dr.x;
            column[1] += dr.y;
            column[2] += dr.z;
        }
    }
}

// V (g - p); p moves with b - [p] a.
static void put_point(sink *to, int k, sn_vec3 local, sn_vec3 goal, const sn_mat3 *V) {
    sn_vec3 p = sn_place(&to->ws->frame[k], local);
    sn_vec3 r = v3_sub(v3_sub(goal, to->ws->origin), p);
    sn_mat3 skew = m3_skew(v3_neg(p)), A = m3_mulm(V, &skew);
    put_body(to, k, m3_mul(V, r), &A, V);
}

static void put_direction(sink *to, int k, const sn_part *part) {
    sn_vec3 d = m3_mul(&to->ws->frame[k].R, part->local);
    double root = sqrt(part->weight);
    sn_mat3 A = m3_skew(v3_scale(-root, d));
    put_body(to, k, v3_scale(root, v3_sub(part->goal, d)), &A, NULL);
}

static void put_orientation(sink *to, int k, const sn_part *part) {
    sn_mat3 back = m3_transpose(&to->ws->frame[k].R), turn = m3_mulm(&part->matrix, &back), A;
    sn_vec3 psi = sn_rotation_log(&turn);
    double root = sqrt(part->weight), c, dc;
    sn_log_coefficients(v3_dot(psi, psi), &c, &dc);
    for (int i = 0; i < 3; i++) A.c[i] = v3_scale(root, sn_log_jacobian_right(c, psi, v3_unit(i)));
    put_body(to, k, v3_scale(root, psi), &A, NULL);
}

static void put_part(sink *to, int k, const sn_part *part) {
    switch (part->type) {
    case SN_PART_POINT: {
        sn_mat3 V = square_root(&part->matrix);
        put_point(to, k, part->local, part->goal, &V);
        break;
    }
    case SN_PART_DIRECTION:
        put_direction(to, k, part);
        break;
    case SN_PART_ORIENTATION:
        put_orientation(to, k, part);
        break;
    }
}

// One entry of J: a row of the present block, and velocity a of a joint.
static void put_entry(sink *to, int row, const sn_joint *j, int a, double value) {
    if (to->J == NULL) return;
    to->J[(size_t)to->rows * (size_t)(j->slot + a) + (size_t)(to->row + row)] =
        to->ws->model->inner[j->v0 + a] * value;
}

// The rows of a rest task are in file order, like its weights.
static void put_rest(sink *to, const sn_rest *rest, const sn_joint *j) {
    const sn_joint_ops *ops = j->ops;
    const double *q = to->ws->q + j->q0, *q0 = rest->q + j->q0, *w = rest->q_weight + j->v0;
    double delta[SN_MAX_JOINT_DOFS];
    if (ops->difference != NULL) {
        ops->difference(q0, q, delta);
    } else {
        for (int i = 0; i < j->nv; i++) delta[i] = sn_joint_apart(j, i, q[i], q0[i]);
    }
    int start = ops->quaternion >= 0 ? ops->curve_first : j->nv;
    for (int i = 0; i < j->nv; i++) {
        double root = sqrt(rest->weight * w[i]);
        to->r[to->row + j->v0 + i] = root * delta[i];
        if (i < start) put_entry(to, j->v0 + i, j, i, root);
    }
    if (start == j->nv) return;
    sn_vec3 psi = v3_from(delta + start);
    double c, dc;
    sn_log_coefficients(v3_dot(psi, psi), &c, &dc);
    for (int b = 0; b < 3; b++) {
        sn_vec3 x = sn_log_jacobian_right(c, v3_neg(psi), v3_unit(b));
        for (int i = 0; i < 3; i++) {
            double root = sqrt(rest->weight * w[start + i]);
            put_entry(to, j->v0 + start + i, j, start + b, root * v3_at(x, i));
        }
    }
}

static void put_soft(sink *to, const sn_soft *soft, const sn_joint *j) {
    const sn_model *m = to->ws->model;
    if (j->v0 < soft->first || j->v0 >= soft->first + soft->count) return;
    int count = j->ops->quaternion >= 0 ? j->ops->curve_first : j->nv;
    for (int i = 0; i < count; i++) {
        int v = j->v0 + i, row = v - soft->first;
        double root = sqrt(sn_soft_weight(soft, v));
        double out = sn_soft_out(soft, m, v, to->ws->q[j->q0 + i]);
        if (out == 0) continue;
        to->r[to->row + row] = root * out;
        put_entry(to, row, j, i, root);
    }
    sn_soft_turn t;
    if (!sn_soft_turned(soft, j, to->ws->q, false, &t)) return;
    int row = j->v0 + count - soft->first;
    double root = sqrt(t.weight);
    to->r[to->row + row] = root * t.out;
    for (int b = 0; b < 3; b++) put_entry(to, row, j, count + b, root * v3_at(t.axis, b));
}

// Columns of followers are handed to those they follow.
static void lead_columns(const sn_workspace *ws, int rows, double *J) {
    const sn_model *m = ws->model;
    const double *slope = ws->ties->slope + m->nleader;
    for (int i = m->ncoupling - 1; i >= 0; i--) {
        const sn_coupling_place *c = &m->coupled[i];
        double *from = J + (size_t)rows * (size_t)c->follower_slot;
        slope -= c->nleader;
        for (int k = 0; k < c->nleader; k++) {
            double *to = J + (size_t)rows * (size_t)c->slot[k];
            for (int r = 0; r < rows; r++) to[r] += slope[k] * from[r];
        }
        memset(from, 0, (size_t)rows * sizeof *from);
    }
}

void sn_residuals(const sn_workspace *ws, double *r, double *J) {
    const sn_problem *p = ws->problem;
    const sn_model *m = ws->model;
    sink to = {.ws = ws, .r = r, .J = J, .rows = sn_residual_count(p)};
    memset(r, 0, (size_t)to.rows * sizeof *r);
    if (J != NULL) memset(J, 0, (size_t)to.rows * (size_t)m->nv * sizeof *J);
    for (int k = 0; k < m->njoint; k++) {
        for (int i = p->point_first[k]; i < p->point_first[k + 1]; i++) {
            const sn_point *point = &p->point[i];
            if (point->weight == 0) continue;
            sn_vec3 at = v3_add(ws->origin, sn_place(&ws->frame[k], point->local));
            sn_mat3 V = m3_diagonal(sqrt(sn_point_pull(point, v3_sub(point->goal, at))));
            to.row = 3 * i;
            put_point(&to, k, point->local, point->goal, &V);
        }
        for (int i = p->part_first[k]; i < p->part_first[k + 1]; i++) {
            to.row = 3 * (p->npoint + i);
            if (p->part[i].active) put_part(&to, k, &p->part[i]);
        }
    }
    for (int i = 0; i < p->ntied; i++) {
        to.row = 3 * (p->npoint + p->npart + p->tied[i].atom);
        if (p->tied[i].active) sn_tied_residuals(ws, i, r + to.row, J, to.rows, to.row);
    }
    for (int i = 0; i < p->nposture; i++) {
        to.row = 3 * (p->npoint + p->npart + p->natom + p->posture[i].first);
        if (p->posture[i].active) sn_posture_residuals(ws, &p->posture[i], r, J, to.rows, to.row);
    }
    to.row = sn_residual_triples(p);
    for (int i = 0; i < p->nrest; i++) {
        for (int k = 0; k < m->njoint && p->rest[i].active; k++)
            put_rest(&to, &p->rest[i], &m->joint[k]);
        to.row += m->nv;
    }
    for (int i = 0; i < p->nsoft; i++) {
        for (int k = 0; k < m->njoint && p->soft[i].active; k++)
            put_soft(&to, &p->soft[i], &m->joint[k]);
        to.row += p->soft[i].count;
    }
    if (J != NULL && m->ncoupling > 0) lead_columns(ws, to.rows, J);
}
