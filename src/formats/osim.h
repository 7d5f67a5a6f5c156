// SPDX-License-Identifier: MIT
// An OpenSim file as it was read, before it is a model.
#pragma once

#include "base/names.h"
#include "sinew/osim.h"

enum { SN_OSIM_AXES = 6 };  ///< of a joint: three rotations, then three translations

/// A function of one coordinate: what a transform axis does.
typedef enum sn_osim_kind {
    SN_OSIM_NONE,
    SN_OSIM_CONSTANT,    ///< y[0]
    SN_OSIM_LINEAR,      ///< y[0] x + y[1]
    SN_OSIM_POLYNOMIAL,  ///< y[0] x^(n-1) + ... + y[n-1]
    SN_OSIM_SPLINE,      ///< cubic through the points
    SN_OSIM_POLYLINE     ///< straight between the points
} sn_osim_kind;

typedef struct sn_osim_function {
    sn_osim_kind kind;
    double scale;  ///< of the result
    size_t x, nx;  ///< where its numbers start in `numbers`
    size_t y, ny;
} sn_osim_function;

typedef struct sn_osim_axis {
    size_t coordinate;  ///< name; SIZE_MAX for none
    double axis[3];
    sn_osim_function function;
    int line;
} sn_osim_axis;

/// A place in a body: where a joint begins or ends.
typedef struct sn_osim_place {
    size_t body;  ///< name of the body, or of a frame of the joint; SIZE_MAX: not stated
    double position[3];
    double angles[3];  ///< about x, then the turned y, then the turned z
} sn_osim_place;

typedef struct sn_osim_frame {
    size_t name;
    sn_osim_place place;
} sn_osim_frame;

typedef struct sn_osim_joint {
    size_t name;
    int type;  ///< its row in the table of joints
    sn_osim_place parent, child;
    size_t frame, nframe;            ///< its own in `frame`
    size_t coordinate, ncoordinate;  ///< its own in `coordinate`
    sn_osim_axis axis[SN_OSIM_AXES];
    int parent_body, child_body;
    int line;
} sn_osim_joint;

typedef struct sn_osim_coordinate {
    size_t name;
    double value;  ///< the default
    double range[2];
    bool clamped, locked;
    int line;
} sn_osim_coordinate;

typedef struct sn_osim_body {
    size_t name;
    int joint;                        ///< that holds it, -1: none
    int at;                           ///< joint of the model, -1: not yet known
    double position[3], rotation[4];  ///< of the body in that joint's frame
    int line;
} sn_osim_body;

typedef struct sn_osim_marker {
    size_t name, body;
    double position[3];
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
    int nconstraint;
    void *tables;  ///< behind body_names
    sn_names body_names;
} sn_osim;

/// Room for `more` items behind those of a list; `list` is a member of an sn_osim.
#define SN_OSIM_ROOM(u, list, more)                                                                \
    sn_osim_grow((u), &(u)->list, &(u)->list##_capacity, (u)->n##list + (more), sizeof *(u)->list)

/// @param list  the address of a pointer to the items
sn_status sn_osim_grow(const sn_osim *u, void *list, size_t *capacity, size_t need, size_t size);

/// Read the file into `u`, which is to be ended in either case.
sn_status sn_osim_parse(sn_osim *u, const char *text, size_t length);

/// The joints that are known: which of a joint's six axes its coordinates move, in their order.
typedef struct sn_osim_joint_type {
    const char *name;
    int ncoordinate;  ///< -1: as its SpatialTransform says
    struct {
        int slot;  ///< 0 1 2: rotations, 3 4 5: translations
        int axis;  ///< x y z
    } moves[SN_OSIM_AXES];
} sn_osim_joint_type;

extern const sn_osim_joint_type sn_osim_joint_types[];
extern const int sn_osim_njoint_type;

/// A function's value. A spline goes on straight beyond its ends. May be infinite or NaN for absurd
/// numbers.
/// @param work  room for 3 nx numbers
double sn_osim_value(const sn_osim *u, const sn_osim_function *f, double x, double *work);
