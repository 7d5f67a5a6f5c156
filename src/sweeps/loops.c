// SPDX-License-Identifier: MIT
// Loops as equalities c(q) = 0. With p_0, p_1 the two points in the world and d = p_0 - p_1,
//
//   point      c = d
//   distance   c = (d . d - L^2) / (2 L)
//   line       c_k = n_k . d              n_1, n_2 across the line, fixed in the second body
//   pin, weld  a point, and sums of products a . b of directions of the two bodies:
//              pin    a . n_1,  a . n_2           the first's axis across the second's
//              weld   (a_i . b_j - a_j . b_i) / 2  for (i, j) = (1, 2), (2, 0), (0, 1)
//
// A force mu along c adds mu . c to f. Its gradient is wrenches on the two bodies. Its second
// derivatives are the curvature of each body's own motion (sn_tie_force) and what both do together:
//
//   a . b      (w_0 x a) . (w_1 x b)     weighted rows w_0, w_1: the bodies' angular velocities
//   line       w_1 . (F x v_0)           F = sum mu_k n_k, v_0 the velocity of p_0
//   distance   mu / L |v_0 - v_1|^2
#include "math/atan2.h"
#include "math/rotation.h"
#include "sweeps/workspace.h"

typedef struct ends {
    sn_vec3 p[2], d;
    sn_mat3 R[2];  // directions in the world
} ends;

static ends ends_at(const sn_workspace *ws, const sn_loop_place *loop) {
    ends e;
    for (int i = 0; i < 2; i++) {
        if (loop->joint[i] < 0) {
            e.p[i] = v3_sub(loop->position[i], ws->origin);
            e.R[i] = loop->frame[i];
        } else {
            const sn_frame *frame = &ws->frame[loop->joint[i]];
            e.p[i] = sn_place(frame, loop->position[i]);
            e.R[i] = m3_mulm(&frame->R, &loop->frame[i]);
        }
    }
    e.d = v3_sub(e.p[0], e.p[1]);
    return e;
}

// One product a . b of a row, with its share.
typedef struct product {
    int row;
    double share;
    sn_vec3 a, b;
} product;

static int products_of(const sn_loop_place *loop, const ends *e, product out[6]) {
    int n = 0;
    if (loop->type == SN_LOOP_PIN)
        for (int k = 0; k < 2; k++) out[n++] = (product){3 + k, 1, e->R[0].c[0], e->R[1].c[1 + k]};
    if (loop->type == SN_LOOP_WELD) {
        for (int k = 0; k < 3; k++) {
            int i = (k + 1) % 3, j = (k + 2) % 3;
            out[n++] = (product){3 + k, 0.5, e->R[0].c[i], e->R[1].c[j]};
            out[n++] = (product){3 + k, -0.5, e->R[0].c[j], e->R[1].c[i]};
        }
    }
    return n;
}

static bool holds_point(const sn_loop_place *loop) {
    return loop->type == SN_LOOP_POINT || loop->type == SN_LOOP_PIN || loop->type == SN_LOOP_WELD;
}

int sn_loop_nrow(const sn_loop_place *loop) {
    static const int rows[SN_LOOP_TYPE_COUNT] = {3, 5, 6, 2, 1};
    return rows[loop->type];
}

int sn_loop_nbend(const sn_loop_place *loop) {
    if (loop->type == SN_LOOP_DISTANCE) return 3;
    return loop->type == SN_LOOP_POINT || loop->joint[1] < 0 ? 0 : 6;
}

int sn_loop_values(const sn_workspace *ws, int index, double c[SN_TIE_ROWS]) {
    const sn_loop_place *loop = &ws->model->looped[index];
    const ends e = ends_at(ws, loop);
    product all[6];
    int n = sn_loop_nrow(loop);
    for (int r = 0; r < n; r++) c[r] = 0;
    if (holds_point(loop))
        for (int r = 0; r < 3; r++) c[r] = v3_at(e.d, r);
    if (loop->type == SN_LOOP_DISTANCE)
        c[0] = (v3_dot(e.d, e.d) - loop->distance * loop->distance) / (2 * loop->distance);
    for (int r = 0; r < 2 && loop->type == SN_LOOP_LINE; r++) c[r] = v3_dot(e.R[1].c[1 + r], e.d);
    for (int i = 0, count = products_of(loop, &e, all); i < count; i++)
        c[all[i].row] += all[i].share * v3_dot(all[i].a, all[i].b);
    return n;
}

// How far apart the ends are, and how far turned from each other.
static void apart(const sn_workspace *ws, int index, double *away, double *turn) {
    const sn_loop_place *loop = &ws->model->looped[index];
    const ends e = ends_at(ws, loop);
    *away = v3_norm(e.d);
    *turn = 0;
    if (loop->type == SN_LOOP_DISTANCE) *away = fabs(*away - loop->distance);
    if (loop->type == SN_LOOP_LINE) *away = v3_norm(v3_cross(e.d, e.R[1].c[0]));
    if (loop->type == SN_LOOP_PIN) {
        sn_vec3 cross = v3_cross(e.R[0].c[0], e.R[1].c[0]);
        *turn = sn_atan2(v3_norm(cross), v3_dot(e.R[0].c[0], e.R[1].c[0]));
    }
    if (loop->type == SN_LOOP_WELD) {
        sn_mat3 back = m3_transpose(&e.R[1]), between = m3_mulm(&e.R[0], &back);
        *turn = v3_norm(sn_rotation_log(&between));
    }
}

double sn_loop_error(const sn_workspace *ws, int index) {
    double away, turn;
    apart(ws, index, &away, &turn);
    return fmax(away, turn);
}

double sn_loop_misfit(const sn_workspace *ws, int index) {
    double away, turn;
    apart(ws, index, &away, &turn);
    return 0.5 * (away * away + turn * turn);
}

int sn_loop_forces(const sn_workspace *ws, int index, const double *mu, sn_tie_force *out) {
    const sn_loop_place *loop = &ws->model->looped[index];
    const ends e = ends_at(ws, loop);
    sn_vec3 F = {0, 0, 0};
    int n = 0;
    if (holds_point(loop)) F = v3_from(mu);
    if (loop->type == SN_LOOP_DISTANCE) F = v3_scale(mu[0] / loop->distance, e.d);
    if (loop->type == SN_LOOP_LINE)
        F = v3_add(v3_scale(mu[0], e.R[1].c[1]), v3_scale(mu[1], e.R[1].c[2]));
    bool line = loop->type == SN_LOOP_LINE;
    out[n++] = (sn_tie_force){SN_FORCE_POINT, loop->joint[0], e.p[0], v3_neg(F), 0};
    if (loop->joint[1] >= 0)
        out[n++] = (sn_tie_force){line ? SN_FORCE_SEEN : SN_FORCE_POINT, loop->joint[1],
                                  line ? e.p[0] : e.p[1], F, 0};
    product all[6];
    for (int i = 0, count = products_of(loop, &e, all); i < count; i++) {
        // w (1 - a . b) is what a direction drawn to another costs
        double w = -mu[all[i].row] * all[i].share;
        out[n++] = (sn_tie_force){SN_FORCE_TURN, loop->joint[0], all[i].a, all[i].b, w};
        if (loop->joint[1] >= 0)
            out[n++] = (sn_tie_force){SN_FORCE_TURN, loop->joint[1], all[i].b, all[i].a, w};
    }
    return n;
}

// Rows [first, first + 3) += scale times the velocity of point p of a body, or with p NULL its
// angular velocity.
static void add_motion(const sn_workspace *ws, sn_tie *tie, int first, int body, const sn_vec3 *p,
                       double scale) {
    const sn_model *m = ws->model;
    int n = 0;
    for (int k = body; k >= 0; k = m->joint[k].parent) {
        while (tie->joint[n] != k) n++;
        const sn_joint *j = &m->joint[k];
        for (int a = 0; a < j->nv; a++) {
            const sn_twist *T = &ws->T[j->slot + a];
            sn_vec3 v = p != NULL ? v3_add(T->b, v3_cross(T->a, *p)) : T->a;
            double *z = tie->z + tie->nrow * (tie->at[n] + a) + first;
            z[0] += scale * v.x;
            z[1] += scale * v.y;
            z[2] += scale * v.z;
            tie->size = fmax(tie->size, fabs(scale) * fmax(fmax(fabs(v.x), fabs(v.y)), fabs(v.z)));
        }
    }
}

// Row r += u . the same.
static void add_along(const sn_workspace *ws, sn_tie *tie, int r, int body, const sn_vec3 *p,
                      sn_vec3 u) {
    const sn_model *m = ws->model;
    int n = 0;
    for (int k = body; k >= 0; k = m->joint[k].parent) {
        while (tie->joint[n] != k) n++;
        const sn_joint *j = &m->joint[k];
        for (int a = 0; a < j->nv; a++) {
            const sn_twist *T = &ws->T[j->slot + a];
            sn_vec3 v = p != NULL ? v3_add(T->b, v3_cross(T->a, *p)) : T->a;
            tie->z[tie->nrow * (tie->at[n] + a) + r] += v3_dot(u, v);
            tie->size = fmax(tie->size, fabs(v3_dot(u, v)));
        }
    }
}

void sn_loop_rows(const sn_workspace *ws, sn_tie *tie) {
    const sn_loop_place *loop = &ws->model->looped[tie->index];
    const ends e = ends_at(ws, loop);
    const int *body = loop->joint;
    tie->size = 0;
    if (holds_point(loop)) {
        add_motion(ws, tie, 0, body[0], &e.p[0], 1);
        add_motion(ws, tie, 0, body[1], &e.p[1], -1);
    }
    if (loop->type == SN_LOOP_DISTANCE) {
        sn_vec3 u = v3_scale(1 / loop->distance, e.d);
        add_along(ws, tie, 0, body[0], &e.p[0], u);
        add_along(ws, tie, 0, body[1], &e.p[1], v3_neg(u));
    }
    for (int r = 0; r < 2 && loop->type == SN_LOOP_LINE; r++) {
        // moving the second body is moving p_0 the other way
        add_along(ws, tie, r, body[0], &e.p[0], e.R[1].c[1 + r]);
        add_along(ws, tie, r, body[1], &e.p[0], v3_neg(e.R[1].c[1 + r]));
    }
    product all[6];
    for (int i = 0, count = products_of(loop, &e, all); i < count; i++) {
        sn_vec3 u = v3_scale(all[i].share, v3_cross(all[i].a, all[i].b));
        add_along(ws, tie, all[i].row, body[0], NULL, u);
        add_along(ws, tie, all[i].row, body[1], NULL, v3_neg(u));
    }
}

// W has X in its upper right corner and X^T in the lower left.
static void put_corner(double *W, int i, int j, double x) {
    W[i + 6 * (3 + j)] += x;
    W[3 + j + 6 * i] += x;
}

void sn_loop_bend(const sn_workspace *ws, sn_tie *tie, const double *mu, double *W) {
    const sn_loop_place *loop = &ws->model->looped[tie->index];
    const ends e = ends_at(ws, loop);
    const int *body = loop->joint;
    if (loop->type == SN_LOOP_DISTANCE) {
        add_motion(ws, tie, 0, body[0], &e.p[0], 1);
        add_motion(ws, tie, 0, body[1], &e.p[1], -1);
        for (int i = 0; i < 3; i++) W[4 * i] = mu[0] / loop->distance;
        return;
    }
    if (loop->type == SN_LOOP_LINE) {
        sn_vec3 F = v3_add(v3_scale(mu[0], e.R[1].c[1]), v3_scale(mu[1], e.R[1].c[2]));
        sn_mat3 X = m3_skew(F);
        add_motion(ws, tie, 0, body[1], NULL, 1);
        add_motion(ws, tie, 3, body[0], &e.p[0], 1);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) put_corner(W, i, j, v3_at(X.c[j], i));
        return;
    }
    add_motion(ws, tie, 0, body[0], NULL, 1);
    add_motion(ws, tie, 3, body[1], NULL, 1);
    product all[6];
    for (int n = 0, count = products_of(loop, &e, all); n < count; n++) {
        // (e_i x a) . (e_j x b) = (a . b) e_i . e_j - (e_i . b) (e_j . a)
        double m = mu[all[n].row] * all[n].share, dot = v3_dot(all[n].a, all[n].b);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                put_corner(W, i, j,
                           m * ((i == j ? dot : 0) - v3_at(all[n].b, i) * v3_at(all[n].a, j)));
    }
}
