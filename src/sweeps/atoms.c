// SPDX-License-Identifier: MIT
// The residuals of tied tasks, and how they move with the bodies.
//
// Bodies move by twists V = (a; b) as X <- exp(V) X. An atom's residual r depends on the motion of one
// body or two through a few rows y = T_0 V_0 + T_1 V_1 and moves with dr = D y. A pull lambda along r
// adds lambda . r to f; up to second order that is
//
//   lambda . (r + D y) + forces that turn with their bodies + 1/2 y^T X y
//
// The forces (sn_tie_force) carry all that is of second order in one body's motion beyond T V. With v_k(x)
// the velocity that body k gives to a point x, w_k its angular velocity, u = v_0(p_0) - v_1(.):
//
//   offset     r = p_0 - p_1 - goal         y = u at p_1         D = I    force -lambda on p_0, lambda on p_1
//   seen       r = N (R_1^T (p_0 - p_1) - goal)
//              y = (u at p_0; w_1)          D = (N R_1^T, 0)     L = R_1 N^T lambda: -L and L, both on p_0
//              X = (0, -[L]; [L], 0)        since p_0, seen from 1, turns with -w_1 x u
//   direction  r = goal - d                 y = w_0              D = [d]  d is drawn to lambda
//   look       r = t - d, t = unit(e), e = p_1 - p_0, P = (I - t t^T) / |e|
//              y = (v_1(p_1) - v_0(p_0); w_0)                    D = (P, [d])
//              L = P lambda: L on p_0, -L on p_1, d is drawn to lambda
//              X = -(t L^T + L t^T + (lambda . t) P) / |e|       on the first three
//   distance   r = |e| - length, e = p_0 - p_1, t = unit(e)
//              y = u at p_1                 D = t^T              X = lambda P
//   centre     r = sum share p - goal       y = sum share v(p)   D = I    -share lambda on every p
//   turn       psi = log(E), E = G R_1 R_0^T, or R_1 G R_0^T where the goal G is fixed in body 1, and
//              then r = R_1^T psi. To second order E moves to E exp(-x),
//              x = alpha -+ 1/2 (C w_1) x alpha,  alpha = w_0 - C w_1,  C = R_0 R_1^T, or I
//              y = (alpha; w_1), D = -J_r^-1(psi), and with n = J_r^-T lambda the torques n and -C^T n;
//              X has the second derivative of lambda . log(E exp(-x)), which is, symmetrised,
//              lambda . J'(J x) x with J'(h) x = h x x / 2 + c (h x (psi x x) + psi x (h x x))
//                                               + (c'/t)(psi . h) psi x (psi x x),
//              and between alpha and w_1 +- 1/2 C^T [n]
//   body       y = (w; velocity of the joint's origin), for a function of one's own
#include "math/rotation.h"
#include "sweeps/workspace.h"

int sn_atom_nleg(const sn_atom *a) { return a->kind == SN_ATOM_CENTRE ? a->nleg : 2; }

int sn_atom_nforce(const sn_atom *a) { return a->kind == SN_ATOM_CENTRE ? a->nleg : 3; }

// Where a point of a joint, or of the world, lies from the origin.
static sn_vec3 point_at(const sn_workspace *ws, int joint, sn_vec3 local) {
    return joint < 0 ? v3_sub(local, ws->origin) : sn_place(&ws->frame[joint], local);
}

static sn_mat3 rotation_at(const sn_workspace *ws, int joint) {
    return joint < 0 ? m3_identity() : ws->frame[joint].R;
}

// Rows [first, first + 3) of a leg += scale times the velocity of p.
static void add_velocity(sn_leg *leg, int first, sn_vec3 p, double scale) {
    const sn_mat3 skew = m3_skew(p);
    for (int r = 0; r < 3; r++) {
        double *row = leg->T + 6 * (first + r);
        for (int c = 0; c < 3; c++) row[c] -= scale * v3_at(skew.c[c], r);
        row[3 + r] += scale;
    }
}

// ... += A times the angular velocity.
static void add_turning(sn_leg *leg, int first, const sn_mat3 *A) {
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) leg->T[6 * (first + r) + c] += v3_at(A->c[c], r);
}

// A leg for a joint; none for the world, which does not move.
static sn_leg *next_leg(sn_atom_at *at, int joint) {
    if (joint < 0) return NULL;
    sn_leg *leg = &at->leg[at->nleg++];
    leg->joint = joint;
    for (int k = 0; k < 6 * at->nrow; k++) leg->T[k] = 0;
    return leg;
}

static void put_residual(sn_atom_at *at, double sign, sn_vec3 r) {
    for (int k = 0; k < at->nr; k++) at->r[k] = sign * v3_at(r, k);
}

// Columns [first, first + 3) of D: sign A.
static void put_D(sn_atom_at *at, int first, double sign, const sn_mat3 *A) {
    for (int c = 0; c < 3; c++)
        for (int r = 0; r < at->nr; r++) at->D[at->nr * (first + c) + r] = sign * v3_at(A->c[c], r);
}

// X += A at row i and column k, and A^T where the two change places.
static void add_X(sn_atom_at *at, int i, int k, const sn_mat3 *A) {
    const int R = at->nrow;
    for (int c = 0; c < 3; c++)
        for (int r = 0; r < 3; r++) {
            at->X[i + r + R * (k + c)] += v3_at(A->c[c], r);
            if (i != k) at->X[k + c + R * (i + r)] += v3_at(A->c[c], r);
        }
}

static sn_mat3 outer(sn_vec3 a, sn_vec3 b) {
    return (sn_mat3){{v3_scale(b.x, a), v3_scale(b.y, a), v3_scale(b.z, a)}};
}

// I - t t^T
static sn_mat3 across(sn_vec3 t) {
    sn_mat3 A = outer(t, v3_neg(t)), I = m3_identity();
    return m3_add(&I, &A);
}

// ---- offset, seen, direction, centre ------------------------------------------------------------

static void place_offset(const sn_workspace *ws, const sn_atom *a, bool moved, sn_atom_at *at) {
    const sn_vec3 p0 = point_at(ws, a->joint[0], a->local[0]);
    const sn_vec3 p1 = point_at(ws, a->joint[1], a->local[1]);
    put_residual(at, a->sign, v3_sub(v3_sub(p0, p1), a->goal));
    if (!moved) return;
    sn_leg *leg = next_leg(at, a->joint[0]);
    if (leg != NULL) add_velocity(leg, 0, p0, 1);
    leg = next_leg(at, a->joint[1]);
    if (leg != NULL) add_velocity(leg, 0, p1, -1);
    const sn_mat3 I = m3_identity();
    put_D(at, 0, a->sign, &I);
}

static void place_seen(const sn_workspace *ws, const sn_atom *a, bool moved, sn_atom_at *at) {
    const sn_vec3 p0 = point_at(ws, a->joint[0], a->local[0]);
    const sn_vec3 p1 = point_at(ws, a->joint[1], a->local[1]);
    const sn_mat3 R = rotation_at(ws, a->joint[1]), I = m3_identity();
    const sn_vec3 y = v3_sub(m3_tmul(&R, v3_sub(p0, p1)), a->goal);
    put_residual(at, a->sign, m3_tmul(&a->N, y));
    if (!moved) return;
    const sn_mat3 N = m3_mulm(&R, &a->N), D = m3_transpose(&N);
    put_D(at, 0, a->sign, &D);
    for (int k = at->nr * 3; k < at->nr * at->nrow; k++) at->D[k] = 0;
    sn_leg *leg = next_leg(at, a->joint[0]);
    if (leg != NULL) add_velocity(leg, 0, p0, 1);
    leg = next_leg(at, a->joint[1]);
    if (leg == NULL) return;
    add_velocity(leg, 0, p0, -1);
    add_turning(leg, 3, &I);
}

static int pull_points(const sn_workspace *ws, const sn_atom *a, sn_vec3 L, sn_tie_force *out) {
    int n = 0;
    const sn_vec3 p0 = point_at(ws, a->joint[0], a->local[0]);
    const sn_vec3 p1 = a->kind == SN_ATOM_SEEN ? p0 : point_at(ws, a->joint[1], a->local[1]);
    if (a->joint[0] >= 0) out[n++] = (sn_tie_force){SN_FORCE_POINT, a->joint[0], p0, v3_neg(L), 0};
    if (a->joint[1] >= 0) out[n++] = (sn_tie_force){SN_FORCE_POINT, a->joint[1], p1, L, 0};
    return n;
}

static int pull_seen(const sn_workspace *ws, const sn_atom *a, sn_vec3 lambda, sn_atom_at *at,
                     sn_tie_force *out) {
    const sn_mat3 R = rotation_at(ws, a->joint[1]), N = m3_mulm(&R, &a->N);
    const sn_vec3 L = m3_mul(&N, lambda);
    if (at != NULL && a->joint[1] >= 0) {
        const sn_mat3 X = m3_skew(v3_neg(L));
        add_X(at, 0, 3, &X);
    }
    return pull_points(ws, a, L, out);
}

static void place_direction(const sn_workspace *ws, const sn_atom *a, bool moved, sn_atom_at *at) {
    const sn_vec3 d = m3_mul(&ws->frame[a->joint[0]].R, a->local[0]);
    put_residual(at, a->sign, v3_sub(a->goal, d));
    if (!moved) return;
    const sn_mat3 I = m3_identity(), D = m3_skew(d);
    add_turning(next_leg(at, a->joint[0]), 0, &I);
    put_D(at, 0, a->sign, &D);
}

static void place_centre(const sn_workspace *ws, const sn_atom *a, bool moved, sn_atom_at *at) {
    sn_vec3 c = v3_sub(ws->origin, a->goal);
    for (int k = a->leg; k < a->leg + a->nleg; k++) {
        const sn_mass *mass = &ws->problem->mass[k];
        const sn_vec3 p = sn_place(&ws->frame[mass->joint], mass->local);
        c = v3_add(c, v3_scale(mass->share, p));
        if (moved) add_velocity(next_leg(at, mass->joint), 0, p, mass->share);
    }
    put_residual(at, a->sign, c);
    const sn_mat3 I = m3_identity();
    if (moved) put_D(at, 0, a->sign, &I);
}

static int pull_centre(const sn_workspace *ws, const sn_atom *a, sn_vec3 lambda,
                       sn_tie_force *out) {
    for (int k = 0; k < a->nleg; k++) {
        const sn_mass *mass = &ws->problem->mass[a->leg + k];
        out[k] = (sn_tie_force){SN_FORCE_POINT, mass->joint,
                                sn_place(&ws->frame[mass->joint], mass->local),
                                v3_scale(-mass->share, lambda), 0};
    }
    return a->nleg;
}

// ---- distance and look --------------------------------------------------------------------------

// What is nearer than this has no direction.
static const double nowhere = 1e-100;

static void place_distance(const sn_workspace *ws, const sn_atom *a, bool moved, sn_atom_at *at) {
    const sn_vec3 p0 = point_at(ws, a->joint[0], a->local[0]);
    const sn_vec3 p1 = point_at(ws, a->joint[1], a->local[1]), e = v3_sub(p0, p1);
    const double size = v3_norm(e);
    at->r[0] = a->sign * (size - a->length);
    if (!moved) return;
    const sn_vec3 t = size > nowhere ? v3_scale(1 / size, e) : v3_unit(0);
    for (int c = 0; c < 3; c++) at->D[c] = a->sign * v3_at(t, c);
    sn_leg *leg = next_leg(at, a->joint[0]);
    if (leg != NULL) add_velocity(leg, 0, p0, 1);
    leg = next_leg(at, a->joint[1]);
    if (leg != NULL) add_velocity(leg, 0, p1, -1);
}

static int pull_distance(const sn_workspace *ws, const sn_atom *a, double lambda, sn_atom_at *at,
                         sn_tie_force *out) {
    const sn_vec3 e =
        v3_sub(point_at(ws, a->joint[0], a->local[0]), point_at(ws, a->joint[1], a->local[1]));
    const double size = v3_norm(e);
    const sn_vec3 t = size > nowhere ? v3_scale(1 / size, e) : v3_unit(0);
    if (at != NULL && size > nowhere) {
        const sn_mat3 P = across(t), X = m3_scale(lambda / size, &P);
        add_X(at, 0, 0, &X);
    }
    return pull_points(ws, a, v3_scale(lambda, t), out);
}

static void place_look(const sn_workspace *ws, const sn_atom *a, bool moved, sn_atom_at *at) {
    const sn_vec3 p0 = point_at(ws, a->joint[0], a->local[0]);
    const sn_vec3 p1 = point_at(ws, a->joint[1], a->local[1]), e = v3_sub(p1, p0);
    const sn_vec3 d = m3_mul(&ws->frame[a->joint[0]].R, a->axis);
    const double size = v3_norm(e);
    const sn_vec3 t = size > nowhere ? v3_scale(1 / size, e) : d;
    put_residual(at, a->sign, v3_sub(t, d));
    if (!moved) return;
    sn_mat3 P = across(t), turn = m3_skew(d), I = m3_identity();
    P = m3_scale(size > nowhere ? 1 / size : 0, &P);
    put_D(at, 0, a->sign, &P);
    put_D(at, 3, a->sign, &turn);
    sn_leg *leg = next_leg(at, a->joint[0]);
    add_velocity(leg, 0, p0, -1);
    add_turning(leg, 3, &I);
    leg = next_leg(at, a->joint[1]);
    if (leg != NULL) add_velocity(leg, 0, p1, 1);
}

static int pull_look(const sn_workspace *ws, const sn_atom *a, sn_vec3 lambda, sn_atom_at *at,
                     sn_tie_force *out) {
    const sn_vec3 p0 = point_at(ws, a->joint[0], a->local[0]);
    const sn_vec3 p1 = point_at(ws, a->joint[1], a->local[1]), e = v3_sub(p1, p0);
    const sn_vec3 d = m3_mul(&ws->frame[a->joint[0]].R, a->axis);
    const double size = v3_norm(e);
    int n = 0;
    out[n++] = (sn_tie_force){SN_FORCE_TURN, a->joint[0], d, lambda, 1};
    if (!(size > nowhere)) return n;
    const sn_vec3 t = v3_scale(1 / size, e);
    sn_mat3 P = across(t);
    P = m3_scale(1 / size, &P);
    const sn_vec3 L = m3_mul(&P, lambda);
    if (at != NULL) {
        sn_mat3 X = m3_scale(v3_dot(lambda, t), &P), one = outer(t, L), other = outer(L, t);
        X = m3_add(&X, &one);
        X = m3_add(&X, &other);
        X = m3_scale(-1 / size, &X);
        add_X(at, 0, 0, &X);
    }
    return n + pull_points(ws, a, v3_neg(L), out + n);
}

// ---- turn ---------------------------------------------------------------------------------------

typedef struct turning {
    sn_mat3 R0, R1, C;
    sn_vec3 psi;
    double c, dc;
} turning;

static turning turning_at(const sn_workspace *ws, const sn_atom *a) {
    turning t = {.R0 = rotation_at(ws, a->joint[0]), .R1 = rotation_at(ws, a->joint[1])};
    const sn_mat3 back = m3_transpose(&t.R0), back1 = m3_transpose(&t.R1);
    sn_mat3 goal = a->inside ? m3_mulm(&t.R1, &a->turn) : m3_mulm(&a->turn, &t.R1);
    goal = m3_mulm(&goal, &back);
    t.psi = sn_rotation_log(&goal);
    t.C = a->inside ? m3_identity() : m3_mulm(&t.R0, &back1);
    sn_log_coefficients(v3_dot(t.psi, t.psi), &t.c, &t.dc);
    return t;
}

static void place_turn(const sn_workspace *ws, const sn_atom *a, bool moved, sn_atom_at *at) {
    const turning t = turning_at(ws, a);
    const sn_mat3 I = m3_identity(), back = m3_scale(-1, &t.C);
    put_residual(at, a->sign, a->inside ? m3_tmul(&t.R1, t.psi) : t.psi);
    if (!moved) return;
    sn_mat3 D;
    for (int c = 0; c < 3; c++) {
        D.c[c] = v3_neg(sn_log_jacobian_right(t.c, t.psi, v3_unit(c)));
        if (a->inside) D.c[c] = m3_tmul(&t.R1, D.c[c]);
    }
    put_D(at, 0, a->sign, &D);
    for (int k = 9; k < 3 * at->nrow; k++) at->D[k] = 0;
    add_turning(next_leg(at, a->joint[0]), 0, &I);
    sn_leg *leg = next_leg(at, a->joint[1]);
    if (leg == NULL) return;
    add_turning(leg, 0, &back);
    add_turning(leg, 3, &I);
}

// J'(h) x
static sn_vec3 bend_log(const turning *t, sn_vec3 h, sn_vec3 x) {
    const sn_vec3 px = v3_cross(t->psi, x), hx = v3_cross(h, x);
    const sn_vec3 twice = v3_add(v3_cross(h, px), v3_cross(t->psi, hx));
    const sn_vec3 last = v3_scale(t->dc * v3_dot(t->psi, h), v3_cross(t->psi, px));
    return v3_add(v3_scale(0.5, hx), v3_add(v3_scale(t->c, twice), last));
}

static int pull_turn(const sn_workspace *ws, const sn_atom *a, sn_vec3 lambda, sn_atom_at *at,
                     sn_tie_force *out) {
    const turning t = turning_at(ws, a);
    int count = 0;
    if (a->inside) lambda = m3_mul(&t.R1, lambda);
    // J_r^-T is J_r^-1 with psi negated
    const sn_vec3 n = sn_log_jacobian_right(t.c, v3_neg(t.psi), lambda);
    out[count++] = (sn_tie_force){SN_FORCE_TORQUE, a->joint[0], v3(0, 0, 0), n, 0};
    if (a->joint[1] >= 0)
        out[count++] =
            (sn_tie_force){SN_FORCE_TORQUE, a->joint[1], v3(0, 0, 0), v3_neg(m3_tmul(&t.C, n)), 0};
    if (at == NULL) return count;
    sn_mat3 Q;
    sn_vec3 J[3];
    double *q = (double *)(void *)&Q;
    for (int i = 0; i < 3; i++) J[i] = sn_log_jacobian_right(t.c, t.psi, v3_unit(i));
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            q[i + 3 * k] = 0.5 * (v3_dot(lambda, bend_log(&t, J[i], v3_unit(k))) +
                                  v3_dot(lambda, bend_log(&t, J[k], v3_unit(i))));
    add_X(at, 0, 0, &Q);
    if (a->joint[1] >= 0) {
        sn_mat3 skew = m3_skew(v3_scale(a->inside ? -0.5 : 0.5, n));
        skew = m3_mulm(&skew, &t.C);
        skew = m3_scale(-1, &skew);
        add_X(at, 0, 3, &skew);
    }
    return count;
}

// ---- all ----------------------------------------------------------------------------------------

static void place_body(const sn_workspace *ws, const sn_atom *a, sn_atom_at *at) {
    const sn_mat3 I = m3_identity();
    sn_leg *leg = next_leg(at, a->joint[0]);
    add_turning(leg, 0, &I);
    add_velocity(leg, 3, ws->frame[a->joint[0]].p, 1);
}

void sn_atom_place(const sn_workspace *ws, const sn_atom *a, bool moved, sn_atom_at *at) {
    at->nr = a->nr;
    at->nrow = a->nrow;
    at->nleg = 0;
    switch (a->kind) {
    case SN_ATOM_OFFSET:
        place_offset(ws, a, moved, at);
        break;
    case SN_ATOM_SEEN:
        place_seen(ws, a, moved, at);
        break;
    case SN_ATOM_TURN:
        place_turn(ws, a, moved, at);
        break;
    case SN_ATOM_DIRECTION:
        place_direction(ws, a, moved, at);
        break;
    case SN_ATOM_LOOK:
        place_look(ws, a, moved, at);
        break;
    case SN_ATOM_DISTANCE:
        place_distance(ws, a, moved, at);
        break;
    case SN_ATOM_CENTRE:
        place_centre(ws, a, moved, at);
        break;
    case SN_ATOM_BODY:
        if (moved) place_body(ws, a, at);
        break;
    }
}

int sn_atom_pull(const sn_workspace *ws, const sn_atom *a, const double *lambda, bool bent,
                 sn_atom_at *at, sn_tie_force *out) {
    sn_vec3 pull = {0, 0, 0};
    pull.x = a->sign * lambda[0];
    if (a->nr > 1) pull = v3_scale(a->sign, v3_from(lambda));
    for (int k = 0; k < a->nrow * a->nrow && bent; k++) at->X[k] = 0;
    if (!bent) at = NULL;
    switch (a->kind) {
    case SN_ATOM_OFFSET:
        return pull_points(ws, a, pull, out);
    case SN_ATOM_SEEN:
        return pull_seen(ws, a, pull, at, out);
    case SN_ATOM_TURN:
        return pull_turn(ws, a, pull, at, out);
    case SN_ATOM_DIRECTION:
        out[0] = (sn_tie_force){SN_FORCE_TURN, a->joint[0],
                                m3_mul(&ws->frame[a->joint[0]].R, a->local[0]), pull, 1};
        return 1;
    case SN_ATOM_LOOK:
        return pull_look(ws, a, pull, at, out);
    case SN_ATOM_DISTANCE:
        return pull_distance(ws, a, pull.x, at, out);
    case SN_ATOM_CENTRE:
        return pull_centre(ws, a, pull, out);
    case SN_ATOM_BODY:
        break;
    }
    return 0;
}
