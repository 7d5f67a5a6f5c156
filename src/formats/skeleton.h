// SPDX-License-Identifier: MIT
// A skeleton from the inside: what ASF gives and AMC needs.
//
// With C the rotation of a bone's `axis` line and M that of its degrees of freedom,
//
//   R_bone = R_parent C M C^-1        C = Rz Ry Rx for the letters XYZ: first letter innermost
//
// The joint's frame is R_bone C, so that M stands plain at its end:
//
//   R_bone C = (R_parent C_parent) (C_parent^-1 C) M
//
// which is a joint with rotation C_parent^-1 C and position C_parent^-1 (parent's bone vector).
#pragma once

#include "base/memory.h"
#include "formats/lines.h"
#include "math/vec3.h"
#include "model/model.h"
#include "sinew/formats.h"

enum { SN_ROOT_VALUES = 6, SN_BONE_DOFS = 3 };

/// One number of an AMC line: a translation (0 1 2) or rotation (3 4 5) along or about x y z.
typedef int sn_channel;

/// Three different axes of X, Y, Z as a word of an ASF file has them, innermost rotation first.
typedef struct sn_axes {
    int axis[3];
} sn_axes;

/// A bone as the file states it, in the file's units. The root is the first.
typedef struct sn_asf_bone {
    char name[SN_MAX_NAME + 1];
    int line;       ///< where it begins
    int parent;     ///< -1 until the hierarchy names it
    unsigned seen;  ///< keywords met
    double direction[3], length, angle[3];
    sn_axes order;
    int nchannel;
    sn_channel channel[SN_ROOT_VALUES];
    int nlimit, limit_line;
    double limit[2 * SN_BONE_DOFS];  ///< lower, upper per channel
} sn_asf_bone;

/// A whole file.
typedef struct sn_asf {
    char name[SN_MAX_NAME + 1];
    double length_unit;  ///< lengths over this are inches
    sn_angle_unit angle_unit;
    sn_asf_bone *bone;
    size_t nbone, capacity;
} sn_asf;

typedef struct sn_bone {
    int row, nvalue;                     ///< its numbers in a row
    sn_channel channel[SN_ROOT_VALUES];  ///< what they are
    int q[SN_BONE_DOFS];                 ///< coordinate of each; not used for the root
    sn_vec3 tip;
} sn_bone;

struct sn_skeleton {
    sn_allocator allocator;
    void *owner;
    sn_model *model;
    int njoint, row_size;
    double metres;  ///< per unit of length
    sn_angle_unit unit;
    sn_axes root_order;  ///< in which the root's angles apply
    sn_bone *bone;       ///< njoint
};

/// Radians in one unit of angle.
double sn_angle_radians(sn_angle_unit unit);

/// Build the model and the tables from a file that was read whole.
sn_status sn_skeleton_build(const sn_asf *asf, const sn_asf_options *options,
                            const sn_allocator *allocator, sn_skeleton **out, sn_error *error);
