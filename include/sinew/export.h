// SPDX-License-Identifier: MIT
// Any model and its motion as a BVH or ASF skeleton: for conversion between the two, for models of
// other kinds, and for another unit or another axis up.
//
// World positions of all joints stay, and rotations up to the constant one each joint's frame has at
// the zero pose: both formats' frames are world-aligned there.
#pragma once

#include "sinew/formats.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A skeleton made from a model, and what carries poses over. One per thread.
typedef struct sn_export sn_export;

/// Start from sn_export_options_default().
typedef struct sn_export_options {
    uint32_t version;           ///< set by the default function, checked on creation
    const sn_skeleton *source;  ///< whose model it is: it knows where limbs end; default NULL
    double metres_per_unit;     ///< default 0: the source's; else BVH cm, ASF 0.0254/0.45 m
    double rotation[4];         ///< w x y z: turns the whole figure in the world; default none
} sn_export_options;

SN_API sn_export_options sn_export_options_default(void);

/// BVH: joint for joint, in depth-first order. Rotations are Zrotation Yrotation Xrotation for every
/// joint, fixed ones too, as many programs expect them; the root and joints that slide also have
/// positions.
///
/// ASF: bone for joint. A bone ends where its first child begins; other children, and children away
/// from the root, hang on bones "<joint>_to_<child>" that do not move. Hinges, universals with axes
/// at right angles and eulers of three axes keep their coordinates, turned by an `axis` line; other
/// rotations are rx ry rz. Joints below the root that slide cannot be written: SN_ERR_MODEL.
///
/// A leaf whose end is not known gets one at 5 % of the figure's size. Blanks, braces, brackets,
/// commas and # in names become _, names that are then equal get _2, _3, ...
/// @param model    must outlive the export
/// @param options  NULL for the defaults
/// @param out      free with sn_export_destroy(); NULL on failure
SN_API sn_status sn_export_create(const sn_model *model, sn_skeleton_format format,
                                  const sn_export_options *options, const sn_allocator *allocator,
                                  sn_export **out, sn_error *error);
SN_API void sn_export_destroy(sn_export *self);

/// The skeleton to write; lives as long as the export.
SN_API const sn_skeleton *sn_export_skeleton(const sn_export *self);
/// The skeleton's joint that a joint of the model became; -1 when out of range.
SN_API int sn_export_joint(const sn_export *self, int joint);

/// A pose of the model as one of the skeleton's model. Allocates nothing.
/// @param previous  the skeleton's pose of the frame before, to which angles stay near; may be NULL
/// @param out       nq of the skeleton's model
SN_API sn_status sn_export_pose(sn_export *self, const double *q, const double *previous,
                                double *out);

/// A whole motion.
/// @param out  free with sn_motion_destroy(); NULL on failure
SN_API sn_status sn_export_motion(sn_export *self, const sn_motion *motion,
                                  const sn_allocator *allocator, sn_motion **out, sn_error *error);

#ifdef __cplusplus
}
#endif
