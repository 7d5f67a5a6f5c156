// SPDX-License-Identifier: MIT
// What the sweeps share. Positions and twists are measured from `origin`, the root joint's place in
// the world, so that a figure far away loses no digits; goals are brought there as they are read.
#pragma once

#include "base/memory.h"
#include "model/model.h"
#include "sinew/eval.h"
#include "tasks/problem.h"

/// The sums of the fast path over the points of a subtree, p and g from the origin:
/// M = sum w g p^T, P = sum w p, G = sum w g, W = sum w. For Gauss-Newton g is replaced by p in M,
/// and the torque sum w p x g is kept apart.
typedef struct sn_sums {
    sn_mat3 M;
    sn_vec3 P, G;
    double W;
} sn_sums;

/// The general path's: wrench (n; f) with g_i = -S_i . Phi, and K with y_i = K S_i, H_ij = S_j . y_i.
typedef struct sn_field {
    sn_vec3 n, f;
    sn_mat3 aa, ab, ba, bb;  ///< K = [aa ab; ba bb]
} sn_field;

struct sn_workspace {
    sn_allocator allocator;
    void *owner;
    const sn_problem *problem;
    const sn_model *model;
    bool has_rows;

    sn_vec3 origin;
    sn_frame *frame;  ///< njoint, sweep order
    sn_frame *base;   ///< njoint: the parent-side frames
    sn_twist *S;      ///< nv, sweep order
    sn_angle *angle;  ///< nv: sine and cosine of the angle coordinates
    double *q;        ///< nq: the pose of the last evaluation

    sn_sums *sums;    ///< njoint
    sn_vec3 *torque;  ///< njoint: sum w p x g of a subtree, for the Gauss-Newton fast path
    sn_field *field;  ///< njoint
    sn_twist *carry;  ///< njoint: how a product moves every body,
    sn_twist *answer; ///< what the tasks below answer (a wrench),
    sn_twist *below;  ///< and their wrench itself
    double *column[6];  ///< nv each: the twists by component, for the rows of H
    double *g;        ///< nv, sweep order
    double *rows;     ///< path-sparse, or NULL
    double *scratch;  ///< nv
};

/// pose.c: place all joints.
void sn_sweep_pose(sn_workspace *ws, const double *q);

/// values.c: the tasks' share of f at the placed pose, coordinates included.
double sn_sweep_value(const sn_workspace *ws);

/// fast.c: f, gradient and rows when all body tasks are scalar-weight points.
double sn_sweep_fast(sn_workspace *ws, bool exact);

/// general.c: f and gradient, and the rows when `rows` says so, for any tasks.
double sn_sweep_general(sn_workspace *ws, bool exact, bool rows);

/// general.c: the wrench and curvature of the tasks of joint k alone; returns their f.
double sn_field_of_body(const sn_workspace *ws, int k, bool exact, sn_field *field);

/// rows.c: row of H for slot i from y = (ya; yb), and the twists by component it needs.
void sn_rows_begin(sn_workspace *ws);
void sn_rows_fill(sn_workspace *ws, int slot, sn_vec3 ya, sn_vec3 yb);

/// rows.c: take the same-joint second derivatives of joint k, whose subtree has wrench (n; f), out
/// of its rows.
void sn_rows_curve(sn_workspace *ws, int k, sn_vec3 n, sn_vec3 f);

/// joint_terms.c: rest and soft-limit tasks: their f, and their share of the gradient and rows.
double sn_joint_terms_value(const sn_workspace *ws);
double sn_joint_terms_add(sn_workspace *ws, bool exact, bool rows);

/// Joint terms' share of H x (file order), added to `out`.
void sn_joint_terms_multiply(const sn_workspace *ws, bool exact, const double *x, double *out);

/// The point of a part in the world, from the origin.
static inline sn_vec3 sn_place(const sn_frame *frame, sn_vec3 local) {
    return v3_add(frame->p, m3_mul(&frame->R, local));
}
