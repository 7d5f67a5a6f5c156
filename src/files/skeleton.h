// SPDX-License-Identifier: MIT
// A skeleton from the inside: what ASF and BVH give, and rows of numbers need.
//
// ASF. With C the rotation of a bone's `axis` line and M that of its degrees of freedom,
//
//   R_bone = R_parent C M C^-1        C = Rz Ry Rx for the letters XYZ: first letter innermost
//
// The joint's frame is R_bone C, so that M stands plain at its end:
//
//   R_bone C = (R_parent C_parent) (C_parent^-1 C) M
//
// which is a joint with rotation C_parent^-1 C and position C_parent^-1 (parent's bone vector).
//
// BVH. C is the identity everywhere, the position is the OFFSET, and M is the product of the
// rotation channels in the order in which they stand: first channel outermost.
#pragma once

#include "base/memory.h"
#include "files/lines.h"
#include "files/note.h"
#include "files/skeleton_rows.h"
#include "math/euler_near.h"
#include "math/vec3.h"
#include "model/model.h"
#include "sinew/files.h"

enum { SN_ROW_VALUES = 6, SN_BONE_DOFS = 3 };

/// Metres in the inch that ASF's unit of length divides.
#define SN_INCH 0.0254

/// One number of a row: a translation (0 1 2) or rotation (3 4 5) along or about x y z.
typedef int sn_channel;

/// Three different axes of X, Y, Z as a word of an ASF file has them, innermost rotation first.
typedef struct sn_axes {
    int axis[3];
} sn_axes;

/// A bone of ASF or a joint of BVH as the file states it, in the file's units. ASF's root is the
/// first.
typedef struct sn_entry {
    char name[SN_MAX_NAME + 1];
    char label[SN_MAX_NAME + 1];  ///< its name in the model where that must differ; else empty
    int line;                     ///< where it begins
    int parent;                   ///< -1: none, or in ASF not yet named by the hierarchy
    unsigned seen;                ///< keywords met
    int nchannel;
    sn_channel channel[SN_ROW_VALUES];  ///< in the order of the row

    // ASF
    double direction[3], length, angle[3];
    sn_axes order;  ///< of `axis` and of the degrees of freedom
    int nlimit, limit_line;
    double limit[2 * SN_BONE_DOFS];  ///< lower, upper per channel

    // BVH
    double offset[3];
    bool held;               ///< its position channels never change: they are a fixed offset
    double constant[3];      ///< which is this, by axis
    double low[3], high[3];  ///< what its position channels reach over the motion, by axis
} sn_entry;

/// An End Site of BVH.
typedef struct sn_end {
    int joint;
    double offset[3];
} sn_end;

/// A whole file's skeleton.
typedef struct sn_figure {
    sn_skeleton_format format;
    char name[SN_MAX_NAME + 1];
    double length_unit;  ///< ASF: lengths over this are inches
    double metres;       ///< BVH: per unit of length
    bool metres_guessed;
    char up[4];          ///< "+Y", ...; "" when not known
    char note[SN_NOTE];  ///< what the reader decided
    sn_angle_unit angle_unit;
    bool several_roots;  ///< entry 0 stands in no file: what hangs on it are BVH's ROOTs
    sn_entry *entry;     ///< BVH: parents first, depth first
    size_t nentry, capacity;
    sn_end *end;
    size_t nend, end_capacity;
} sn_figure;

/// What a number of a row is in a pose, when it is not a coordinate.
enum { SN_ROW_CONSTANT = -1, SN_ROW_QUATERNION = -2 };

typedef struct sn_bone {
    int row, nvalue;                    ///< its numbers in a row
    sn_channel channel[SN_ROW_VALUES];  ///< what they are
    int q[SN_ROW_VALUES];               ///< coordinate of each, or one of the above
    double base[SN_ROW_VALUES];         ///< a length is this plus the coordinate; or the constant
    int slot[SN_ROW_VALUES];            ///< of a quaternion: the angle's place in `order`
    int quaternion;                     ///< its first coordinate, -1 for none
    int nangle;                         ///< how many angles the quaternion has in the row
    int order[3];                       ///< their axes, outermost first
    sn_vec3 tip;
} sn_bone;

/// Where a limb ends, in its joint's frame and in metres.
typedef struct sn_limb_end {
    int joint;
    sn_vec3 at;
} sn_limb_end;

struct sn_skeleton {
    sn_allocator allocator;
    void *owner;
    sn_model *model;
    sn_figure figure;  ///< its arrays are this skeleton's
    int njoint, row_size, nend;
    double metres;     ///< per unit of length
    sn_bone *bone;     ///< njoint
    sn_limb_end *end;  ///< nend, by joint
    int *first_end;    ///< njoint + 1: where a joint's ends start
};

/// Radians in one unit of angle.
double sn_angle_radians(sn_angle_unit unit);

/// Build the model and the tables from a file that was read whole, or from what will be written.
sn_status sn_skeleton_build(const sn_figure *figure, bool use_limits, const sn_allocator *allocator,
                            sn_skeleton **out, sn_error *error);

/// An entry's name in the model.
const char *sn_entry_label(const sn_entry *entry);

/// Give labels to entries that have no name or one that an earlier entry has.
sn_status sn_figure_label(sn_figure *figure, const sn_allocator *allocator, sn_error *error);

/// C of an entry.
sn_quat sn_entry_rotation(const sn_figure *figure, size_t i);

/// Is it one that moves in the world?
static inline bool sn_entry_is_root(const sn_figure *figure, size_t i) {
    return figure->entry[i].parent < 0 || (figure->several_roots && figure->entry[i].parent == 0);
}

/// A new entry at the end, all zero but its parent; NULL with `error` filled.
sn_entry *sn_figure_add(sn_figure *figure, const char *name, int parent,
                        const sn_allocator *allocator, sn_error *error);
sn_status sn_figure_add_end(sn_figure *figure, int joint, const double offset[3],
                            const sn_allocator *allocator, sn_error *error);
