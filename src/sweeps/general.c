// SPDX-License-Identifier: MIT
// The general path: any task on a body gives a wrench Phi = (n; f) with d phi = -Phi . S for a
// rigid motion S of the body, and a curvature C with d Phi = -C S. Turning an ancestor carries
// everything below it rigidly, dS_i = S_j x S_i, so with Phi and C summed over the subtree of i
//
//   g_i = -S_i . Phi,   H_ij = S_j . y_i,   y_i = C^T S_i - S_i x* Phi = K S_i
//
// K itself adds up over subtrees, so it is what is kept: K = C^T + [[n] [f]; [f] 0], in blocks.
// With p the world point, F = W r, B = [-[p] I]:
//
//   point         Phi = (p x F; F)     K = B^T W B + [-[F][p]  [F]; 0 0]
//   ... with a loss, F = w rho' r      W = w (rho' I + 2 rho'' r r^T), see tasks/loss.h
//   direction d   Phi = (w d x g; 0)   K_aa = -w [g][d]
//   orientation   Phi = (w psi; 0)     K_aa = w J_r^-1(psi),  psi = log(R_goal R^T)
//
// Gauss-Newton keeps B^T W B, -w [d][d] and w I.
#include "math/rotation.h"
#include "math/six.h"
#include "sweeps/workspace.h"
#include "tasks/loss.h"

static const sn_field zero_field;

// -[g][d] = (g . d) I - d g^T
static sn_mat3 minus_skew_skew(sn_vec3 g, sn_vec3 d) {
    double dot = v3_dot(g, d);
    return (sn_mat3){{{dot - d.x * g.x, -d.y * g.x, -d.z * g.x},
                      {-d.x * g.y, dot - d.y * g.y, -d.z * g.y},
                      {-d.x * g.z, -d.y * g.z, dot - d.z * g.z}}};
}

// Add a 3 x 3 block to K: rows and columns from 0 (angular) or 3 (linear).
static void add_block(double *K, int row, int column, const sn_mat3 *A) {
    for (int c = 0; c < 3; c++) {
        double *to = K + 6 * (column + c) + row;
        to[0] += A->c[c].x;
        to[1] += A->c[c].y;
        to[2] += A->c[c].z;
    }
}

void sn_add_along(double *K, double x, sn_vec3 p, sn_vec3 r) {
    const sn_twist twist = {v3_cross(p, r), r};
    const six u = twist_load(&twist);
    for (int c = 0; c < 6; c++)
        six_store(K + 6 * c, six_add(six_load(K + 6 * c), x * twist_numbers(&twist)[c], u));
}

static double add_scalar_point(const sn_workspace *ws, const sn_point *point, const sn_frame *frame,
                               bool exact, sn_field *field) {
    double w = point->weight;
    if (w == 0) return 0;
    sn_vec3 p = sn_place(frame, point->local), goal = v3_sub(point->goal, ws->origin);
    sn_vec3 r = v3_sub(goal, p);
    const sn_loss_terms loss = sn_loss_at(point, v3_dot(r, r));
    const double f = 0.5 * w * loss.value;
    if (exact && loss.bend != 0) sn_add_along(field->K, w * loss.bend, p, r);
    w *= loss.slope;
    sn_vec3 F = v3_scale(w, r);
    field->n = v3_add(field->n, v3_cross(p, F));
    field->f = v3_add(field->f, F);
    // with W = w I the blocks are -w [g][p], w [g], -w [p], w I
    sn_vec3 wg = v3_scale(w, exact ? goal : p);
    sn_mat3 aa = minus_skew_skew(wg, p), ab = m3_skew(wg), ba = m3_skew(v3_scale(-w, p));
    sn_mat3 bb = m3_diagonal(w);
    add_block(field->K, 0, 0, &aa);
    add_block(field->K, 0, 3, &ab);
    add_block(field->K, 3, 0, &ba);
    add_block(field->K, 3, 3, &bb);
    return f;
}

static double add_point(const sn_workspace *ws, const sn_part *part, const sn_frame *frame,
                        bool exact, sn_field *field) {
    sn_vec3 p = sn_place(frame, part->local), goal = v3_sub(part->goal, ws->origin);
    sn_vec3 r = sn_part_seen(part, v3_sub(goal, p)), F = m3_mul(&part->matrix, r);
    field->n = v3_add(field->n, v3_cross(p, F));
    field->f = v3_add(field->f, F);
    // B^T W B = [[p] W (-[p])  [p] W; -W [p]  W]
    sn_mat3 skew = m3_skew(p), ab = m3_mulm(&skew, &part->matrix), aa = m3_mulm(&ab, &skew);
    sn_mat3 ba = m3_mulm(&part->matrix, &skew);
    aa = m3_scale(-1, &aa);
    ba = m3_scale(-1, &ba);
    if (exact) {
        sn_mat3 turn = minus_skew_skew(F, p), push = m3_skew(F);
        aa = m3_add(&aa, &turn);
        ab = m3_add(&ab, &push);
    }
    add_block(field->K, 0, 0, &aa);
    add_block(field->K, 0, 3, &ab);
    add_block(field->K, 3, 0, &ba);
    add_block(field->K, 3, 3, &part->matrix);
    return fmax(0.5 * v3_dot(r, F), 0);  // a semidefinite weight may round below 0
}

static double add_direction(const sn_part *part, const sn_frame *frame, bool exact,
                            sn_field *field) {
    sn_vec3 d = m3_mul(&frame->R, part->local), g = part->goal, r = v3_sub(g, d);
    field->n = v3_add(field->n, v3_scale(part->weight, v3_cross(d, g)));
    sn_mat3 aa = minus_skew_skew(exact ? g : d, d);
    aa = m3_scale(part->weight, &aa);
    add_block(field->K, 0, 0, &aa);
    return 0.5 * part->weight * v3_dot(r, r);
}

static double add_orientation(const sn_part *part, const sn_frame *frame, bool exact,
                              sn_field *field) {
    sn_mat3 back = m3_transpose(&frame->R), turn = m3_mulm(&part->matrix, &back);
    sn_vec3 psi = sn_rotation_log(&turn);
    double t2 = v3_dot(psi, psi), w = part->weight, c, dc;
    field->n = v3_add(field->n, v3_scale(w, psi));
    sn_mat3 aa = m3_diagonal(w);
    if (exact) {
        sn_log_coefficients(t2, &c, &dc);
        for (int i = 0; i < 3; i++)
            aa.c[i] = v3_scale(w, sn_log_jacobian_right(c, psi, v3_unit(i)));
    }
    add_block(field->K, 0, 0, &aa);
    return 0.5 * w * t2;
}

void sn_ties_fields(const sn_workspace *ws, bool exact, sn_field *fields) {
    for (int i = 0; i < ws->ties->nforce; i++) {
        const sn_tie_force *force = &ws->ties->force[i];
        sn_field *field = &fields[force->joint];
        if (force->kind == SN_FORCE_TORQUE) {
            field->n = v3_add(field->n, force->F);
            sn_mat3 aa = m3_skew(v3_scale(0.5, force->F));
            if (exact) add_block(field->K, 0, 0, &aa);
            continue;
        }
        if (force->kind == SN_FORCE_TURN) {
            field->n = v3_add(field->n, v3_scale(force->w, v3_cross(force->p, force->F)));
            sn_mat3 aa = minus_skew_skew(force->F, force->p);
            aa = m3_scale(force->w, &aa);
            if (exact) add_block(field->K, 0, 0, &aa);
            continue;
        }
        field->n = v3_add(field->n, v3_cross(force->p, force->F));
        field->f = v3_add(field->f, force->F);
        if (!exact) continue;
        if (force->kind == SN_FORCE_SEEN) {
            // K = [[p][F] 0; [F] 0]
            sn_mat3 aa = minus_skew_skew(force->p, force->F), ba = m3_skew(force->F);
            aa = m3_scale(-1, &aa);
            add_block(field->K, 0, 0, &aa);
            add_block(field->K, 3, 0, &ba);
            continue;
        }
        sn_mat3 turn = minus_skew_skew(force->F, force->p), push = m3_skew(force->F);
        add_block(field->K, 0, 0, &turn);
        add_block(field->K, 0, 3, &push);
    }
    sn_tied_fields(ws, fields);
}

double sn_field_of_body(const sn_workspace *ws, int k, bool exact, sn_field *field) {
    const sn_problem *p = ws->problem;
    const sn_frame *frame = &ws->frame[k];
    double f = 0;
    *field = zero_field;
    for (int i = p->point_first[k]; i < p->point_first[k + 1]; i++)
        f += add_scalar_point(ws, &p->point[i], frame, exact, field);
    for (int i = p->part_first[k]; i < p->part_first[k + 1]; i++) {
        const sn_part *part = &p->part[i];
        if (!part->active) continue;
        switch (part->type) {
        case SN_PART_POINT:
            f += add_point(ws, part, frame, exact, field);
            break;
        case SN_PART_DIRECTION:
            f += add_direction(part, frame, exact, field);
            break;
        case SN_PART_ORIENTATION:
            f += add_orientation(part, frame, exact, field);
            break;
        }
    }
    return f;
}

static void field_add(sn_field *to, const sn_field *from) {
    to->n = v3_add(to->n, from->n);
    to->f = v3_add(to->f, from->f);
    for (int i = 0; i < 36; i++) to->K[i] += from->K[i];
}

double sn_sweep_general(sn_workspace *ws, bool exact, bool second) {
    const sn_model *m = ws->model;
    double f = 0;
    ws->fields_full = true;
    for (int k = 0; k < m->njoint; k++) f += sn_field_of_body(ws, k, exact, &ws->field[k]);
    if (ws->ties != NULL && ws->ties->forced) sn_ties_fields(ws, exact, ws->field);
    for (int k = m->njoint - 1; k >= 0; k--) {
        const sn_joint *j = &m->joint[k];
        const sn_field *field = &ws->field[k];
        for (int i = j->slot; i < j->slot + j->nv; i++)
            ws->g[i] = -(v3_dot(ws->S[i].a, field->n) + v3_dot(ws->S[i].b, field->f));
        if (second && exact && j->curved) sn_local_curve(ws, k, field->n, field->f);
        if (j->parent >= 0) field_add(&ws->field[j->parent], field);
    }
    return f;
}
