// SPDX-License-Identifier: MIT
// A model from the inside.
#pragma once

#include "base/memory.h"
#include "base/names.h"
#include "linalg/path.h"
#include "model/joint.h"

struct sn_model {
    sn_allocator allocator;
    void *owner;  ///< the block behind everything below
    const char *name;
    int njoint, nmarker, nq, nv, depth, root;

    sn_joint *joint;         ///< njoint, sweep order: parents first, depth first
    int *sweep_of;           ///< njoint: position in sweep order of a joint in file order
    sn_joint_desc *desc;     ///< njoint, file order; what was given, unchanged
    int *nchild;             ///< njoint, file order
    sn_marker_desc *marker;  ///< nmarker

    double *lower, *upper, *gain;  ///< nv, file order
    bool gained;                   ///< some gain is not 1
    bool curved;                   ///< some joint has second derivatives of its own (see curve)
    bool odd;                      ///< some joint has four or five degrees of freedom
    int *v_of;                     ///< nv: velocity (file order) of a slot (sweep order)
    bool sorted;                   ///< v_of is 0, 1, 2, ...

    int nangle;
    struct sn_angle_place {
        int q, slot;
    } * angle;  ///< coordinates whose sine and cosine the sweep needs, and where to put them

    int nquaternion;
    int ncone;        ///< how many of them have limits
    int *quaternion;  ///< njoint at most: the joints (sweep order) that hold one

    sn_path path;
    sn_names joint_names, marker_names;
};

/// Unit quaternions, and nothing else: a shorter rotation vector is the same pose, but not to a
/// rest task.
void sn_model_normalize_quaternions(const sn_model *model, double *q);

/// Per velocity in sweep order: its limits, and its coordinate; -1 in a quaternion, which has none of its own.
void sn_model_sweep_limits(const sn_model *model, int *q_of, double *lower, double *upper);

/// A builder's entry and where it stood in a file.
typedef struct sn_joint_entry {
    sn_joint_desc desc;
    size_t name;        ///< where its name starts among the builder's names
    int line;           ///< 0: not from a file
    const char *wrong;  ///< what is wrong with its functions, NULL for nothing
    int wrong_move;     ///< with which of them, -1: the joint itself
} sn_joint_entry;

typedef struct sn_marker_entry {
    sn_marker_desc desc;
    size_t name;
    int line;
} sn_marker_entry;

struct sn_builder {
    sn_allocator allocator;
    sn_status status;
    char *names;  ///< terminated one after the other, the model's first
    size_t names_used, names_capacity;
    sn_joint_entry *joint;
    size_t njoint, joint_capacity;
    sn_marker_entry *marker;
    size_t nmarker, marker_capacity;
};

/// functions.c: what is wrong with a joint's functions; NULL for nothing. *move: with which, -1: none.
const char *sn_functions_check(const sn_joint_functions *functions, int *move);

/// A copy of functions that are right, with names and numbers, in a layout (measured, then placed).
sn_joint_functions *sn_functions_layout(const sn_joint_functions *from, sn_layout *layout);

/// The same in a block of its own; give it to sn_release().
sn_joint_functions *sn_functions_copy(const sn_joint_functions *from,
                                      const sn_allocator *allocator);

/// What the sweeps need of functions that stay where they are.
sn_drive *sn_drive_layout(const sn_joint_functions *from, sn_layout *layout);

/// sn_builder_joint() and sn_builder_marker() with a line for messages.
int sn_builder_joint_at(sn_builder *builder, const sn_joint_desc *joint, int line);
int sn_builder_marker_at(sn_builder *builder, const sn_marker_desc *marker, int line);
