// SPDX-License-Identifier: MIT
// A model from the inside.
#pragma once

#include "base/memory.h"
#include "base/names.h"
#include "linalg/path.h"
#include "model/function.h"
#include "model/joint.h"

/// A coupling as solvers use it.
typedef struct sn_coupling_place {
    int given;  ///< its index among the couplings as they were given
    int follower_q, follower_v, follower_slot;
    int nleader;
    int q[SN_MAX_LEADERS], v[SN_MAX_LEADERS], slot[SN_MAX_LEADERS];
    bool curved;       ///< its second derivatives are not all 0
    bool limited;      ///< it has several leaders, and limits that theirs cannot express
    sn_driver driver;  ///< of the whole pose
} sn_coupling_place;

/// A loop as solvers use it.
typedef struct sn_loop_place {
    sn_loop_type type;
    int joint[2];         ///< sweep positions; -1: the world
    sn_vec3 position[2];  ///< in the joints' frames
    sn_mat3 frame[2];     ///< weld: the rotations; pin, line: the axis in column 0, two across it
    double distance;
} sn_loop_place;

/// A shape as the sweeps use it: a sphere is a capsule whose ends coincide.
typedef struct sn_shape_place {
    sn_shape_type type;
    int joint;            ///< sweep position; -1: the world
    int body;             ///< the first joint upwards that can move; -1: the world
    sn_vec3 middle, arm;  ///< the ends are middle - arm and middle + arm
    sn_vec3 normal;       ///< unit
    double radius;
    double reach;  ///< everything of it is this near to the middle; INFINITY for planes
} sn_shape_place;

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

    // What couples coordinates; the same array is m->gain where there is nothing to couple.
    int ncoupling;
    int nleader;                 ///< of all couplings together
    sn_coupling_desc *coupling;  ///< ncoupling, as they were given
    sn_coupling_place *coupled;  ///< ncoupling: leaders before those that follow them
    double *inner;               ///< nv, file order: gain, but 1 for followers
    bool *follows;               ///< nv, file order
    bool *paired;                ///< nv, file order: it follows or is followed
    int nloop;
    sn_loop_desc *loop;     ///< nloop, as they were given
    sn_loop_place *looped;  ///< nloop
    bool tied_limits;       ///< some coupling is `limited`
    int nshape, nexcluded;
    sn_shape_desc *shape;    ///< nshape, as they were given
    sn_shape_place *shaped;  ///< nshape
    int (*excluded)[2];      ///< nexcluded, file order
    int nframe;
    sn_frame_desc *frame;  ///< nframe

    int nangle;
    struct sn_angle_place {
        int q, slot;
    } * angle;  ///< coordinates whose sine and cosine the sweep needs, and where to put them

    int nquaternion;
    int ncone;        ///< how many of them have limits
    int *quaternion;  ///< njoint at most: the joints (sweep order) that hold one

    sn_path path;
    sn_names joint_names, marker_names, frame_names;
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

typedef struct sn_coupling_entry {
    sn_coupling_desc desc;  ///< x and y of its function are not used
    size_t numbers;         ///< where they start among the builder's numbers, x first
    int line;
} sn_coupling_entry;

typedef struct sn_loop_entry {
    sn_loop_desc desc;
    int line;
} sn_loop_entry;

typedef struct sn_shape_entry {
    sn_shape_desc desc;
    size_t name;
    int line;
} sn_shape_entry;

typedef struct sn_frame_entry {
    sn_frame_desc desc;
    size_t name;
    int line;
} sn_frame_entry;

struct sn_builder {
    sn_allocator allocator;
    sn_status status;
    char *names;  ///< terminated one after the other, the model's first
    size_t names_used, names_capacity;
    sn_joint_entry *joint;
    size_t njoint, joint_capacity;
    sn_marker_entry *marker;
    size_t nmarker, marker_capacity;
    sn_coupling_entry *coupling;
    size_t ncoupling, coupling_capacity;
    sn_loop_entry *loop;
    size_t nloop, loop_capacity;
    sn_shape_entry *shape;
    size_t nshape, shape_capacity;
    int (*excluded)[2];
    size_t nexcluded, excluded_capacity;
    sn_frame_entry *frame;
    size_t nframe, frame_capacity;
    double *numbers;  ///< of the couplings' functions
    size_t nnumber, number_capacity;
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
/// Put more mass on a joint that was added: the centre becomes that of all of it.
void sn_builder_add_mass(sn_builder *builder, int joint, double mass, const double centre[3]);
int sn_builder_marker_at(sn_builder *builder, const sn_marker_desc *marker, int line);
int sn_builder_couple_at(sn_builder *builder, const sn_coupling_desc *coupling, int line);

int sn_builder_loop_at(sn_builder *builder, const sn_loop_desc *loop, int line);

/// Turn all that is given in the world (roots, and the world's own shapes and ends of loops), w x y z: the model's
/// poses stay as they are.
void sn_builder_turn_world(sn_builder *builder, const double rotation[4]);

int sn_builder_frame_at(sn_builder *builder, const sn_frame_desc *frame, int line);

int sn_builder_shape_at(sn_builder *builder, const sn_shape_desc *shape, int line);

/// shapes.c: check the shapes of a builder; `names` is the builder's pool as the model has it.
void sn_shapes_layout(sn_model *model, const sn_builder *builder, sn_layout *layout);
sn_status sn_shapes_build(sn_model *model, const sn_builder *builder, const char *names,
                          sn_error *error);

/// frames.c: check the frames of a builder, likewise.
void sn_frames_layout(sn_model *model, const sn_builder *builder, sn_layout *layout);
sn_status sn_frames_build(sn_model *model, const sn_builder *builder, const char *names,
                          sn_error *error);
/// A frame's place in that of its joint, with its rotation made a unit.
sn_frame sn_frame_place(const sn_frame_desc *frame);

/// loop.c: check the loops of a builder.
sn_status sn_loops_build(sn_model *model, const sn_builder *builder, sn_error *error);
void sn_loops_layout(sn_model *model, const sn_builder *builder, sn_layout *layout);

/// couple.c: check the couplings of a builder and put them in order; narrow the leaders' limits.
sn_status sn_couplings_build(sn_model *model, const sn_builder *builder, sn_error *error);

/// couple.c: its share of the model's memory.
void sn_couplings_layout(sn_model *model, const sn_builder *builder, int nv, double **numbers,
                         sn_layout *layout);
void sn_couplings_copy(sn_model *model, const sn_builder *builder, double *numbers);

/// couple_range.c: the widest interval of x in [*lower, *upper] where low <= f(x) <= high, f being
/// a driver of one argument. False when there is none.
bool sn_driver_range(const sn_driver *driver, double low, double high, double *lower,
                     double *upper);

/// Move leaders until followers of several of them are inside their limits, as far as possible.
/// Returns how many coordinates moved.
int sn_model_lead_back(const sn_model *model, double *q);

/// How far the farthest follower of several leaders is outside its limits.
double sn_model_followers_outside(const sn_model *model, const double *q);

/// Are all followers of several leaders inside their limits? Those of one leader always are.
bool sn_model_followers_inside(const sn_model *model, const double *q);
