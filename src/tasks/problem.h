// SPDX-License-Identifier: MIT
// A problem from the inside: every task is broken into simple parts, grouped by joint.
//
//   point          scalar weight: the fast kind, summed into 16 numbers per subtree
//   body part      3x3-weighted point, direction, orientation: a wrench and a 6x6 curvature
//   joint part     rest, limit, posture: acts on coordinates alone
//   tied           everything else: atoms, weighed together, that may touch several bodies
//
// frame2 is a point and two directions, pose a point and an orientation.
#pragma once

#include "base/memory.h"
#include "model/model.h"
#include "sinew/task.h"
#include "tasks/guards.h"

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

/// What one residual of a tied task is made of; p0 and p1 are `local` of `joint`, or of the world. All
/// that its derivatives need is in sweeps/atoms.c.
typedef enum sn_atom_kind {
    SN_ATOM_OFFSET,     ///< p0 - p1 - goal
    SN_ATOM_SEEN,       ///< N (R1^T (p0 - p1) - goal): in the axes of joint[1]
    SN_ATOM_TURN,       ///< the rotation vector that is left to `turn` times R1, or R1 times `turn`
    SN_ATOM_DIRECTION,  ///< goal - R0 local
    SN_ATOM_LOOK,       ///< unit(p1 - p0) - R0 axis
    SN_ATOM_DISTANCE,   ///< |p0 - p1| - length
    SN_ATOM_CENTRE,     ///< sum share p - goal
    SN_ATOM_BODY        ///< a joint of a task of one's own
} sn_atom_kind;

typedef struct sn_atom {
    sn_atom_kind kind;
    bool active;   ///< counts among those it is weighed with
    bool inside;   ///< turn: the goal is fixed in joint[1]
    int joint[2];  ///< in sweep order; -1: the world
    int nr;        ///< numbers of the residual
    int nrow;      ///< rows of motion that it depends on
    double sign;   ///< -1: the residual is negated
    sn_vec3 local[2], goal, axis;
    sn_mat3 N;  ///< seen: its rows in columns
    sn_mat3 turn;
    double length;
    int leg, nleg;  ///< centre: its masses
} sn_atom;

/// A mass of a centre of mass.
typedef struct sn_mass {
    int joint;  ///< in sweep order
    sn_vec3 local;
    double share;
} sn_mass;

/// f = 1/2 weight rho(r^T W r), r the residuals of some atoms one after the other.
typedef struct sn_tied {
    int task;
    int atom, natom;
    int nr, nrow;  ///< sums over its atoms; one's own: nr 1
    bool active;
    bool single;  ///< on one body alone: it has no rows
    bool points;  ///< only forces on points come of it
    double weight;
    double *W;  ///< nr x nr
    sn_loss loss;
    double scale2;
} sn_tied;

/// The rotations of some joints in their parents' frames, each to one of its own.
typedef struct sn_posture {
    bool active;
    double weight;
    double *q;  ///< nq
    int first, count;
} sn_posture;

typedef struct sn_posture_joint {
    int joint;     ///< in sweep order
    sn_mat3 turn;  ///< in the parent-side frame
} sn_posture_joint;

/// Where a task's parts are; -1 for none.
typedef struct sn_task_parts {
    int joint;  ///< in sweep order
    int point, part, part2;
    int rest, soft;
    int tied, ntied;
    int posture;
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
    int ntied, natom, nmass, ncoupled;
    sn_tied *tied;
    sn_atom *atom;
    sn_mass *mass;
    int nposture, nposed;
    sn_posture *posture;
    sn_posture_joint *posed;
    sn_guards *guards;  ///< NULL for none
};

/// tied_tasks.c: how many of what a task becomes; what the task has no use for stays 0.
typedef struct sn_tied_need {
    int tied, atom, mass;
    size_t matrix, numbers, indices;  ///< numbers of W; what is copied of the task's own arrays
} sn_tied_need;
sn_tied_need sn_tied_needs(const sn_model *model, const sn_task *tasks, int i);

/// tied_tasks.c: does this task become a tied one?
bool sn_task_is_tied(const sn_task *task);

/// tied_tasks.c: numbers in the residual of a task that can be coupled; 0 for others.
int sn_task_residuals(const sn_task *task);

/// tied_tasks.c: structure, then numbers; with those of coupled tasks that it is a member of.
void sn_tied_assign(sn_problem *problem, int task);
void sn_tied_refresh(sn_problem *problem, int task);

/// problem.c: bring the parts of a task up to date with its description.
void sn_problem_refresh(sn_problem *problem, int task);

/// freedom.c: its share of the problem's memory; then the view, with another problem's locks and
/// strengths where `other` is not NULL.
void sn_freedom_layout(sn_problem *problem, sn_layout *layout);
void sn_freedom_copy(sn_problem *problem, const sn_model *from, const sn_problem *other);
