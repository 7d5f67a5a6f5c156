// SPDX-License-Identifier: MIT
// Robots: a reader of URDF files. xacro files must be expanded first.
#pragma once

#include "sinew/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Start from sn_urdf_options_default().
typedef struct sn_urdf_options {
    uint32_t version;    ///< set by the default function, checked on reading
    bool floating_base;  ///< the root link moves freely; default false: it is fixed to the world
} sn_urdf_options;

SN_API sn_urdf_options sn_urdf_options_default(void);

/// A robot as a model.
///
/// Joint 0 holds the root link and has its name (where a joint of the file has that name too,
/// "_root" is added); joint i is the i-th <joint> of the file, under its name. A link's frame is
/// the frame of the joint that holds it, and every link's origin is a marker with the link's name,
/// so that a goal may name a link. Joints: revolute and continuous are hinges, prismatic sliders,
/// fixed, floating is free, planar moves across its axis. Only joints are used: meshes, inertias
/// and whatever else a file holds are passed over.
///
/// A joint with <mimic> follows the other in every pose: it is a coupling of the model, and both
/// joints' limits hold. One that mimics a joint that is not there, one with other than one coordinate,
/// or in the end itself, is an ordinary joint.
///
/// @param options  NULL for the defaults
/// @param out      free with sn_model_destroy(); NULL on failure
SN_API sn_status sn_urdf_read(const char *text, size_t length, const sn_urdf_options *options,
                              const sn_allocator *allocator, sn_model **out, sn_error *error);

#ifdef __cplusplus
}
#endif
