// SPDX-License-Identifier: MIT
// Musculoskeletal models: a reader of OpenSim's .osim files.
#pragma once

#include "sinew/model.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SN_OSIM_NOTE = 1200 };

/// What an .osim file held.
typedef struct sn_osim_info {
    int version;  ///< of the file's layout: 20303, 30000, 40500, ...
    int nbody;    ///< without ground
    int njoint;
    int ncoordinate;
    char note[SN_OSIM_NOTE];  ///< what is not as in OpenSim, in sentences; "" when all is
} sn_osim_info;

/// An OpenSim model, of version 2 to 4 (files of version 20000 to 49999).
///
/// Joint 0 is the fixed joint "ground". Each joint of the file becomes a short chain, translations
/// before rotations: a slider or hinge for each coordinate that moves one axis evenly, a `function`
/// joint for the others, exact whatever the functions. A joint has the COORDINATE'S NAME, one of several
/// coordinates that of the file's joint, and its coordinates theirs: so the columns of OpenSim's .mot
/// files are those of sn_motion_from_table() and sn_table_from_motion(). A body has the frame of the
/// last joint of its chain, moved by a constant; a body that is welded on has that of the body it is
/// welded to. Markers keep their names.
///
/// Limits come from the range where a coordinate is `clamped`; one that is `locked` at 0 is locked,
/// one locked elsewhere becomes a constant. Read are CustomJoint, PinJoint, SliderJoint, WeldJoint,
/// BallJoint, GimbalJoint, UniversalJoint, PlanarJoint, FreeJoint, EllipsoidJoint and
/// ScapulothoracicJoint, reversed ones too. WeldConstraint, PointConstraint,
/// PointOnLineConstraint and ConstantDistanceConstraint are loops of the model, and so is a joint to a body
/// that hangs on another joint; a CoordinateCouplerConstraint is a coupling. Muscles and whatever else a file holds are
/// passed over.
///
/// @param out   free with sn_model_destroy(); NULL on failure
/// @param info  may be NULL
SN_API sn_status sn_osim_read(const char *text, size_t length, const sn_allocator *allocator,
                              sn_model **out, sn_osim_info *info, sn_error *error);

#ifdef __cplusplus
}
#endif
