// SPDX-License-Identifier: MIT
// An OpenSim file as it was read, before it is a model.
#pragma once

#include "base/names.h"
#include "math/vec3.h"
#include "sinew/files.h"

enum { SN_OSIM_AXES = 6 };  ///< of a joint: three rotations, then three translations

/// A function as the file states it; its numbers are in `numbers`.
typedef struct sn_osim_function {
    sn_function_type type;
    bool stated;
    bool falling;    ///< a polynomial whose highest power comes first
    double scale;    ///< of the result
    double wave[4];  ///< sine: amplitude, frequency, phase, offset
    size_t x, nx;    ///< where they start, how many they are
    size_t y, ny;
} sn_osim_function;

typedef struct sn_osim_axis {
    size_t coordinate[SN_MAX_ARGUMENTS];  ///< names
    int ncoordinate;
    double axis[3];
    sn_osim_function function;
    int line;
} sn_osim_axis;

/// A place in a body: where a joint begins or ends.
typedef struct sn_osim_place {
    size_t body;  ///< name of the body, or of a frame; SIZE_MAX: not stated
    double position[3];
    double angles[3];  ///< about x, then the turned y, then the turned z
} sn_osim_place;

typedef struct sn_osim_frame {
    size_t name;
    sn_osim_place place;
} sn_osim_frame;

/// Items of a list.
typedef struct sn_osim_range {
    size_t first, count;
} sn_osim_range;

typedef struct sn_osim_joint {
    size_t name;
    int type;  ///< its row in the table of joints
    sn_osim_place parent, child;
    bool reverse;                    ///< what moves is the parent, seen from the child
    sn_osim_range own;               ///< its frames in `frame`
    size_t coordinate, ncoordinate;  ///< its own in `coordinate`
    sn_osim_axis axis[SN_OSIM_AXES];
    double radii[3];                        ///< of an ellipsoid
    double wing_origin[2], wing_direction;  ///< of a scapula's winging
    int parent_body, child_body;
    sn_frame parent_at, child_at;  ///< on those bodies
    bool named;                    ///< no other joint has its name
    bool used;                     ///< it has placed a body
    int line;
} sn_osim_joint;

typedef struct sn_osim_coordinate {
    size_t name;
    double value;  ///< the default
    double range[2];
    bool clamped, locked, prescribed;
    bool ranged;           ///< a range is stated
    sn_osim_axis by_time;  ///< its function, of the time, where it is prescribed
    bool unreadable;       ///< that function is of a kind that is not read
    int line;
} sn_osim_coordinate;

typedef struct sn_osim_body {
    size_t name;
    int at;                           ///< joint of the model, -1: not yet known
    double position[3], rotation[4];  ///< of the body in that joint's frame
    double mass, centre[3];
    bool drawn,
        resized;  ///< it has pictures of bones; one of them has another size than it was drawn in
    int line;
} sn_osim_body;

/// A CoordinateCouplerConstraint: `dependent` follows the axis's coordinates.
typedef struct sn_osim_coupler {
    size_t name, dependent;  ///< SIZE_MAX: not stated
    sn_osim_axis axis;       ///< only its coordinates and function
    bool off;
} sn_osim_coupler;

/// A constraint that holds two bodies together.
typedef struct sn_osim_constraint {
    size_t name;
    sn_loop_type type;
    sn_osim_place end[2];  ///< of a point on a line: the point, then the line
    sn_osim_range own;     ///< its frames in `frame`
    double direction[3];   ///< of the line
    double distance;       ///< NAN: not stated
    bool off;
    int line;
} sn_osim_constraint;

typedef struct sn_osim_marker {
    size_t name, body;
    double position[3];
    bool fixed;  ///< a landmark: OpenSim's scale tool leaves it where the model has it
    int line;
} sn_osim_marker;

/// A growing array.
#define SN_OSIM_LIST(type, list)                                                                   \
    type *list;                                                                                    \
    size_t n##list, list##_capacity

typedef struct sn_osim {
    const sn_allocator *allocator;
    sn_error *error;
    sn_osim_info info;
    SN_OSIM_LIST(char, names);  ///< terminated one after the other
    size_t name;                ///< of the model
    SN_OSIM_LIST(double, numbers);
    SN_OSIM_LIST(sn_osim_body, body);  ///< ground is the first
    SN_OSIM_LIST(sn_osim_joint, joint);
    SN_OSIM_LIST(sn_osim_frame, frame);
    SN_OSIM_LIST(sn_osim_coordinate, coordinate);
    SN_OSIM_LIST(sn_osim_marker, marker);
    SN_OSIM_LIST(sn_osim_coupler, coupler);
    SN_OSIM_LIST(sn_osim_constraint, constraint);
    int nstranger;  ///< constraints of other kinds
    double *work;   ///< 6 nnumbers + 512
    void *tables;   ///< behind body_names and joint_names
    sn_names body_names, joint_names;
} sn_osim;

/// Room for `more` items behind those of a list; `list` is a member of an sn_osim.
#define SN_OSIM_ROOM(u, list, more)                                                                \
    sn_osim_grow((u), &(u)->list, &(u)->list##_capacity, (u)->n##list + (more), sizeof *(u)->list)

/// @param list  the address of a pointer to the items
sn_status sn_osim_grow(const sn_osim *u, void *list, size_t *capacity, size_t need, size_t size);

/// Read the file into `u`, which is to be ended in either case.
sn_status sn_osim_parse(sn_osim *u, const char *text, size_t length);
/// osim_build.c: find the bodies of its joints, and where those sit on them.
sn_status sn_osim_connect(sn_osim *u);
/// osim_build.c: give back all that it holds.
void sn_osim_end(sn_osim *u);

/// osim_coordinates.c: what a file that was read says of its coordinates.
sn_status sn_osim_coordinates_make(const sn_osim *u, const sn_model *model,
                                   sn_osim_coordinates **out);
/// Whether a coordinate's function of the time is there and can be evaluated.
static inline bool sn_osim_is_prescribed(const sn_osim_coordinate *c) {
    return c->prescribed && c->by_time.function.stated && !c->unreadable;
}

/// The joints that are known: which of a joint's six axes its coordinates move, in their order.
typedef struct sn_osim_joint_type {
    const char *name;
    int ncoordinate;  ///< -1: as its SpatialTransform says
    struct {
        int slot;  ///< 0 1 2: rotations, 3 4 5: translations
        int axis;  ///< x y z
    } moves[SN_OSIM_AXES];
    bool ellipsoid;  ///< and glides on one
    bool wings;      ///< and its last coordinate is a scapula's winging
} sn_osim_joint_type;

extern const sn_osim_joint_type sn_osim_joint_types[];
extern const int sn_osim_njoint_type;

/// A frame's place and angles as a frame.
sn_frame sn_osim_frame_of(const sn_osim_place *place);

/// Says in the info what is not as in the file.
void sn_osim_note(sn_osim *u, const char *format, ...) SN_PRINTF(2, 3);

/// osim_joint.c: where a chain of the model's joints has got to.
typedef struct sn_osim_chain {
    int last;       ///< joint of the model
    sn_frame here;  ///< in its frame
} sn_osim_chain;

/// Add what a joint of the file does; backwards: from its child to its parent.
sn_status sn_osim_add_moves(sn_osim *u, const sn_osim_joint *joint, bool backwards,
                            sn_builder *builder, sn_osim_chain *chain);

/// osim_build.c: the body of a name, and where on it: frames may stand between them, on each other.
/// `own` are the frames of what names it, which go first.
sn_status sn_osim_find_body(const sn_osim *u, sn_osim_range own, size_t name, int line,
                            const char *owner, int *body, sn_frame *at);

/// A body's frame in that of the joint it hangs on.
sn_frame sn_osim_body_frame(const sn_osim_body *body);

/// osim_loop.c: hold two frames together beside the tree; weld, or what the constraint says.
sn_status sn_osim_add_weld(sn_osim *u, const sn_osim_joint *joint, const sn_osim_chain *copy,
                           const sn_osim_body *body, sn_builder *builder);
sn_status sn_osim_add_constraint(sn_osim *u, const sn_osim_constraint *constraint,
                                 sn_builder *builder);

/// osim_build.c: sn_osim_read(), and what the locations of its markers are measured in.
/// @param out     NULL at first
/// @param frames  a frame of the joint for each marker, in the file's order; free with sn_release(), also
///                after a failure; may be NULL
sn_status sn_osim_read_frames(const char *text, size_t length, const sn_allocator *allocator,
                              sn_model **out, sn_osim_coordinates **coordinates, sn_osim_info *info,
                              sn_frame **frames, sn_error *error);
