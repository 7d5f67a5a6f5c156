// SPDX-License-Identifier: MIT
// What the sweeps share. Positions and twists are measured from `origin`, the root joint's place in
// the world, so that a figure far away loses no digits; goals are brought there as they are read.
#pragma once

#include "base/memory.h"
#include "model/model.h"
#include "sinew/eval.h"
#include "sweeps/guards.h"
#include "sweeps/ties.h"
#include "tasks/problem.h"

/// The sums of the fast path over the points of a body or a subtree, p and g from the origin:
/// M = sum w g p^T (column-major), P = sum w p, G = sum w g, W = sum w. For Gauss-Newton g is
/// replaced by p in M, and the torque T = sum w g x p is kept apart.
typedef struct sn_sums {
    double M[9], P[3], G[3], W;
    double T[3], unused;
} sn_sums;

/// What the tasks on a body or a subtree give: the wrench (n; f) with g_i = -S_i . Phi, and the 6 x
/// 6 matrix K, column-major, with y_i = K S_i and H_ij = S_j . y_i.
typedef struct sn_field {
    sn_vec3 n, f;
    double K[36];
} sn_field;

/// Which joints have entries in `local`.
typedef enum sn_locals { SN_LOCALS_NONE, SN_LOCALS_CURVED, SN_LOCALS_ALL } sn_locals;

/// A pose with all that the sweep from the root to the leaves makes of it.
typedef struct sn_placed {
    sn_vec3 origin;
    sn_frame *frame, *base;
    sn_twist *S;
    sn_angle *angle;
    double *q;
} sn_placed;

struct sn_workspace {
    sn_allocator allocator;
    void *owner;
    const sn_problem *problem;
    const sn_model *model;
    bool has_rows;

    // Two placed poses: evaluating f alone must not disturb the one whose derivatives are held.
    sn_placed placed[2];
    int latest;   ///< which was placed last; the pointers below are its
    int derived;  ///< which the fields, T and local belong to; -1 for none yet
    sn_vec3 origin;
    sn_frame *frame;   ///< njoint, sweep order
    sn_frame *base;    ///< njoint: the parent-side frames
    sn_twist *S;       ///< nv, sweep order
    sn_angle *angle;   ///< nv: sine and cosine of the angle coordinates
    double *q;         ///< nq: the pose itself
    sn_twist *scaled;  ///< nv: room for that
    sn_twist *T;       ///< S of the derived pose scaled by the gains; S itself when all are 1

    sn_sums *sums;     ///< njoint
    sn_field *field;   ///< njoint: of whole subtrees, after an evaluation with second derivatives
    bool fields_full;  ///< something else is where the fast path's K has zeros
    sn_field *body;    ///< njoint: of bodies alone, for a product; the losses' share of K before
    sn_twist *carry;   ///< njoint: how a product moves every body,
    sn_twist *answer;  ///< what the tasks below answer (a wrench),
    sn_twist *below;   ///< and their wrench itself
    double *g;         ///< nv, sweep order
    double *local;  ///< nv x SN_MAX_JOINT_DOFS: what H has between velocities b <= a of one joint
                    ///< beyond T_b . K T_a
    sn_locals locals;  ///< which joints have any
    double *columns;   ///< 6 x stride: T by component, for the rows of H
    size_t stride;     ///< nv, at least
    double *rows;      ///< path-sparse, or NULL
    bool rows_valid;   ///< rows are those of the last evaluation
    double *scratch;   ///< nv

    // articulated.c: the factorisation
    double *Q;       ///< njoint x 36: what the eliminated joints below take from K, column-major
    sn_twist *yf;    ///< nv: y of the factorisation
    double *pivot;   ///< nv: 1 / d, 0 for a dropped degree of freedom
    double *lower;   ///< nv x SN_MAX_JOINT_DOFS: L inside the joint
    sn_twist *push;  ///< njoint: the right-hand side's share of the joints below

    sn_ties *ties;         ///< what couples branches; NULL for nothing
    sn_guards_at *guards;  ///< what must not happen; NULL for nothing
};

/// Are there rows that couple branches? Tied tasks on one body alone have none.
static inline bool sn_has_rows(const sn_workspace *ws) {
    return ws->ties != NULL && ws->ties->ntie > 0;
}

/// Guards of the problem; a view of one level of its tasks may have none.
static inline bool sn_has_guards(const sn_workspace *ws) {
    return ws->guards != NULL && ws->problem->guards != NULL;
}

/// articulated.c: factor and go on past negative pivots. Returns how many there are; when one is too
/// near 0 to go on, -1 - its slot.
int sn_workspace_count_negatives(sn_workspace *ws, const double *diagonal, const bool *keep);

/// articulated.c: the two halves of a solve: x <- D^-1 L^-T x, and x <- L^-1 x.
void sn_workspace_reduce(sn_workspace *ws, double *x);
void sn_workspace_substitute(sn_workspace *ws, double *x);

/// compliance.c: J H^-1 J^T of the twist of every joint's body, njoint x 36, after sn_workspace_factor() of a problem
/// without rows that couple branches.
void sn_workspace_compliance(const sn_workspace *ws, double *C);
/// The same, 3 x 3, of a point in a joint's frame.
sn_mat3 sn_compliance_at(const sn_workspace *ws, const double *C, int joint, const double local[3]);

/// pose.c: place all joints.
void sn_sweep_pose(sn_workspace *ws, const double *q);

/// values.c: the tasks' share of f at the placed pose, coordinates included.
double sn_sweep_value(sn_workspace *ws);

/// values.c: the length of a task's residual, whatever its weights are.
double sn_task_length(const sn_workspace *ws, int task);

/// fast.c, when all body tasks are scalar-weight points: sum them on every joint and return f; then
/// sum over subtrees, giving g and the fields.
double sn_fast_sum(sn_workspace *ws, bool exact);
void sn_fast_fields(sn_workspace *ws, bool exact);

/// general.c: f and g, and the fields when `second` says so, for any tasks.
double sn_sweep_general(sn_workspace *ws, bool exact, bool second);

/// general.c: the wrench and curvature of the tasks of joint k alone; returns their f.
double sn_field_of_body(const sn_workspace *ws, int k, bool exact, sn_field *field);

/// general.c: what the forces of ties, and tied tasks on one body, add to the bodies' fields.
void sn_ties_fields(const sn_workspace *ws, bool exact, sn_field *fields);

/// general.c: K += x u u^T with u = B^T r = (p x r; r), what a loss adds along the residual r of a
/// point p.
void sn_add_along(double *K, double x, sn_vec3 p, sn_vec3 r);

/// curve.c: put the same-joint second derivatives of joint k, whose subtree has wrench (n; f), into
/// `local`.
void sn_local_curve(sn_workspace *ws, int k, sn_vec3 n, sn_vec3 f);

static inline bool sn_has_local(const sn_workspace *ws, const sn_joint *j) {
    return ws->locals == SN_LOCALS_ALL || (ws->locals == SN_LOCALS_CURVED && j->curved);
}

/// rows.c: all path-sparse rows, from T, K and local.
void sn_rows_fill(sn_workspace *ws);

/// fields.c: H x and the diagonal of H in sweep order, exact or Gauss-Newton, from the fields of
/// the last evaluation with second derivatives.
void sn_workspace_fields_multiply(sn_workspace *ws, const double *x, double *y);
void sn_workspace_fields_diagonal(const sn_workspace *ws, double *d);

/// dense.c: H whole, n x n in sweep order, from the fields of the last evaluation with second derivatives;
/// what followers have is with their leaders. With `loops` the square A^T A of the loops' rows is added.
void sn_workspace_dense(const sn_workspace *ws, bool loops, double *H);

/// fields.c: the tree's share of that diagonal.
void sn_tree_diagonal(const sn_workspace *ws, double *d);

/// joint_terms.c: rest and soft-limit tasks: their f, and their share of g and local.
static inline bool sn_joint_terms_any(const sn_workspace *ws) {
    return ws->problem->nrest > 0 || ws->problem->nsoft > 0 || ws->problem->nposture > 0;
}
/// A ball outside of a soft limit: by how much, about which axis, and the second derivatives of f.
typedef struct sn_soft_turn {
    double weight, out;
    sn_vec3 axis, H[3];
} sn_soft_turn;
bool sn_soft_turned(const sn_soft *soft, const sn_joint *joint, const double *q, bool exact,
                    sn_soft_turn *out);
double sn_joint_terms_value(sn_workspace *ws);
double sn_joint_terms_add(sn_workspace *ws, bool exact, bool second);

/// Their derivative by the k-th coordinate of a joint, a plain one.
double sn_joint_terms_slope(const sn_workspace *ws, const sn_joint *j, int k);

/// Joint terms' share of H x (file order), added to `out`.
void sn_joint_terms_multiply(const sn_workspace *ws, bool exact, const double *x, double *out);

/// posture.c: the same for one posture; its residuals, 3 for each joint from `row` on, J of `rows` by
/// sweep order or NULL; the length of all its rotation vectors.
double sn_posture_add(sn_workspace *ws, const sn_posture *posture, bool exact, bool first,
                      bool second);
double sn_posture_slope(const sn_workspace *ws, const sn_posture *posture, const sn_joint *j,
                        int k);
void sn_posture_multiply(const sn_workspace *ws, const sn_posture *posture, bool exact,
                         const double *x, double *out);
void sn_posture_residuals(const sn_workspace *ws, const sn_posture *posture, double *r, double *J,
                          int rows, int row);
double sn_posture_error(const sn_workspace *ws, const sn_posture *posture);

/// The product K S.
static inline sn_twist sn_field_times(const double *K, sn_twist S) {
    const double x[6] = {S.a.x, S.a.y, S.a.z, S.b.x, S.b.y, S.b.z};
    double y[6] = {0};
    for (int c = 0; c < 6; c++)
        for (int r = 0; r < 6; r++) y[r] += K[6 * c + r] * x[c];
    return (sn_twist){{y[0], y[1], y[2]}, {y[3], y[4], y[5]}};
}

/// The point of a part in the world, from the origin.
static inline sn_vec3 sn_place(const sn_frame *frame, sn_vec3 local) {
    return v3_add(frame->p, m3_mul(&frame->R, local));
}
