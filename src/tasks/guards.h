// SPDX-License-Identifier: MIT
// Guards: what a pose must not do. Each is one number c(q) that must be 0 or above, in metres (for
// coordinates: in their unit):
//
//   segments     c = (2 E - D^2) / (2 D), E the smooth half squared distance of two segments
//                (collide/closest.h), D what they must keep: near contact that is the distance less D
//   plane        c = n . (p - o) - D, p an end of a segment, n and o of a plane
//   centre       c = n . (centre of mass) - D
//   coordinates  c = sum a q - D
//
// A guard's share of f is 1/2 w max(0, shift - c)^2; see solvers/guards.c for the shift.
#pragma once

#include "collide/closest.h"
#include "sinew/task.h"

typedef enum sn_guard_kind {
    SN_GUARD_SEGMENTS,
    SN_GUARD_PLANE,
    SN_GUARD_CENTRE,
    SN_GUARD_COORDINATES
} sn_guard_kind;

typedef struct sn_guard {
    sn_guard_kind kind;
    int task;
    int solid[2];         ///< segments: both; plane: the segment, then the plane
    double end;           ///< plane: which point of the segment: -1, 1; 0 of a sphere
    double least;         ///< D
    double radius, rest;  ///< of shapes: their radii, their distance at rest
    double near;          ///< segments: with middles this far apart c is above 0
    sn_vec3 normal;       ///< centre: n, in the world
    int first, count;     ///< centre: its masses; coordinates: its terms
    double weight;        ///< 0 while it does not count
} sn_guard;

/// A mass of a centre of mass.
typedef struct sn_guard_mass {
    int joint;  ///< in sweep order
    double share;
    sn_vec3 centre;
} sn_guard_mass;

/// A coordinate and its factor.
typedef struct sn_guard_term {
    int q, v, slot;
    double factor;
} sn_guard_term;

typedef struct sn_guards {
    void *owner;
    int nsolid;             ///< the model's shapes, then what half-space tasks state
    sn_shape_place *solid;  ///< nsolid
    int nguard;
    sn_guard *guard;  ///< nguard, by task
    int nmass;
    sn_guard_mass *mass;
    int nterm;
    sn_guard_term *term;
    bool seen;        ///< some plane is carried by a joint
    int *first;       ///< ntask + 1: where a task's guards start
    double *corners;  ///< 3 nguard: room for other corners of support tasks
    int *own;         ///< ntask: the first solid of a half-space task
} sn_guards;

/// Is it a task that becomes guards?
static inline bool sn_task_is_guard(const sn_task *t) {
    return t->type == SN_TASK_AVOID || t->type == SN_TASK_HALF_SPACE || t->type == SN_TASK_SUPPORT;
}

/// NULL, or what is wrong with such a task.
const char *sn_guard_check(const sn_model *model, const sn_task *task);

/// The guards of some tasks; *out NULL when there are none. Free with sn_guards_destroy().
sn_status sn_guards_create(const sn_model *model, const sn_task *tasks, int ntask,
                           const sn_allocator *allocator, sn_guards **out);
void sn_guards_destroy(sn_guards *guards, const sn_allocator *allocator);

/// Bring a task's guards up to date with what it states now.
void sn_guards_refresh(sn_guards *guards, const sn_model *model, const sn_task *task, int index,
                       bool active);
