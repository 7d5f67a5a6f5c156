// SPDX-License-Identifier: MIT
// A problem from the inside: every task is broken into simple parts, grouped by joint.
//
//   point          scalar weight: the fast kind, summed into 16 numbers per subtree
//   body part      3x3-weighted point, direction, orientation: a wrench and a 6x6 curvature
//   joint part     rest, limit: acts on coordinates alone
//
// frame2 is a point and two directions, pose a point and an orientation.
#pragma once

#include "base/memory.h"
#include "model/model.h"
#include "sinew/task.h"

typedef struct sn_point {
    sn_vec3 local, goal;
    double weight;  ///< 0 while the task is not active
    sn_loss loss;
    double scale2;  ///< the loss's c^2
} sn_point;

typedef enum sn_part_type { SN_PART_POINT, SN_PART_DIRECTION, SN_PART_ORIENTATION } sn_part_type;

typedef struct sn_part {
    sn_part_type type;
    bool active;
    double weight;
    sn_vec3 local, goal;
    sn_mat3 matrix;  ///< point: its weight; orientation: the goal's rotation
    bool plane;      ///< a point onto a plane: only its distance along `normal` counts
    sn_vec3 normal;
} sn_part;

/// What of a residual a part sees. The way along a plane weighs nothing, but r^T W r would lose the
/// digits of the way to it among those of the way along.
static inline sn_vec3 sn_part_seen(const sn_part *part, sn_vec3 r) {
    return part->plane ? v3_scale(v3_dot(part->normal, r), part->normal) : r;
}

typedef struct sn_rest {
    bool active;
    int task;
    double weight;
    double *q;         ///< nq
    double *q_weight;  ///< nv, file order
} sn_rest;

typedef struct sn_soft {
    bool active;
    int first, count;  ///< velocities in file order
    double weight;
    const double *lower, *upper;  ///< nv, file order: limits of its own; NULL: the model's
    const double *q_weight;       ///< nv, file order; NULL for all 1
} sn_soft;

static inline double sn_soft_weight(const sn_soft *soft, int v) {
    return soft->q_weight != NULL ? soft->weight * soft->q_weight[v] : soft->weight;
}

/// How far a coordinate is outside of a soft limit.
static inline double sn_soft_out(const sn_soft *soft, const sn_model *model, int v, double x) {
    double lower = soft->lower != NULL ? soft->lower[v] : model->lower[v];
    double upper = soft->upper != NULL ? soft->upper[v] : model->upper[v];
    return x < lower ? x - lower : x > upper ? x - upper : 0;
}

/// Two points, of two joints, that should lie `offset` apart in the world.
typedef struct sn_relative {
    int joint[2];  ///< in sweep order
    sn_vec3 local[2], offset;
    double weight;  ///< 0 while the task is not active
} sn_relative;

/// Where a task's parts are; -1 for none.
typedef struct sn_task_parts {
    int joint;  ///< in sweep order
    int point, part, part2;
    int rest, soft;
    int relative;
    bool enabled, missing;
} sn_task_parts;

struct sn_problem {
    sn_allocator allocator;
    void *owner;
    const sn_model *given;  ///< the model that it was made for
    const sn_model
        *model;  ///< &view: that model with this problem's limits and gains, see freedom.c
    sn_model view;
    double *strength;  ///< nv, file order: gains are these, 0 where locked
    bool *locked;      ///< nv, file order
    int ntask;
    sn_task *task;
    sn_task_parts *parts;

    int npoint, npart, nrest, nsoft;
    int nloss;         ///< how many points have a loss
    sn_point *point;   ///< npoint, by joint in sweep order
    int *point_first;  ///< njoint + 1
    sn_part *part;     ///< npart, likewise
    int *part_first;   ///< njoint + 1
    sn_rest *rest;
    sn_soft *soft;
    double *soft_numbers;  ///< 3 nv each: what they have of their own
    int nrelative;
    sn_relative *relative;
};

/// freedom.c: its share of the problem's memory; then the view, with another problem's locks and
/// strengths where `other` is not NULL.
void sn_freedom_layout(sn_problem *problem, sn_layout *layout);
void sn_freedom_copy(sn_problem *problem, const sn_model *from, const sn_problem *other);
