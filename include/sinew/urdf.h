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
/// A joint with <mimic> is LOCKED: models know no coupled joints, so a solver leaves it where it
/// is. sn_mimics_apply() moves such joints to where they belong. One that mimics a joint that is not there,
/// one with other than one coordinate, or in the end itself, is an ordinary joint; sn_mimics_note() says so.
///
/// @param options  NULL for the defaults
/// @param out      free with sn_model_destroy(); NULL on failure
SN_API sn_status sn_urdf_read(const char *text, size_t length, const sn_urdf_options *options,
                              const sn_allocator *allocator, sn_model **out, sn_error *error);

/// One joint that follows another: q[joint] = multiplier q[source] + offset.
typedef struct sn_mimic {
    int joint, source;  ///< of the model
    double multiplier, offset;
} sn_mimic;

/// The <mimic> joints of a file. Constant once read; threads may share one.
typedef struct sn_mimics sn_mimics;

/// @param model  from sn_urdf_read() of the same text; not needed afterwards
/// @param out    may be without any entry; free with sn_mimics_destroy(); NULL on failure
SN_API sn_status sn_urdf_read_mimics(const char *text, size_t length, const sn_model *model,
                                     const sn_allocator *allocator, sn_mimics **out,
                                     sn_error *error);
SN_API void sn_mimics_destroy(sn_mimics *mimics);

/// Joints whose <mimic> cannot be followed, in sentences; "" for none. Valid as long as `mimics`.
SN_API const char *sn_mimics_note(const sn_mimics *mimics);

SN_API int sn_mimics_count(const sn_mimics *mimics);
/// A mimic always comes after the one it follows. NULL when out of range.
SN_API const sn_mimic *sn_mimics_at(const sn_mimics *mimics, int i);

/// Set the coordinates of all mimic joints in a pose from those they follow: do it to the pose a
/// solve starts from (an offset counts there too) and to the pose it ends with. Allocates nothing.
SN_API void sn_mimics_apply(const sn_mimics *mimics, double *q);

#ifdef __cplusplus
}
#endif
