// SPDX-License-Identifier: MIT
// BVH: a skeleton and its motion in one text file.
#pragma once

#include "sinew/formats.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What to do with position channels of joints that are not roots. They replace the joint's OFFSET.
typedef enum sn_bvh_positions {
    SN_BVH_POSITIONS_AUTO,  ///< a fixed offset where they never change (to 1e-6 of the figure)
    SN_BVH_POSITIONS_MOVE   ///< they always are degrees of freedom
} sn_bvh_positions;

/// Start from sn_bvh_options_default().
typedef struct sn_bvh_options {
    uint32_t version;            ///< set by the default function, checked on reading
    double metres_per_unit;      ///< default 0: guessed from the figure's size
    sn_bvh_positions positions;  ///< default SN_BVH_POSITIONS_AUTO
} sn_bvh_options;

SN_API sn_bvh_options sn_bvh_options_default(void);

/// Read a file. Joints stand in the model as in the file; where several ROOTs stand, they hang on a
/// fixed joint 0 that the file has not. A name that an earlier joint has gets "_2", "_3", ...; a
/// joint without one becomes "joint_1", ... All frames are world-aligned at the zero pose.
///
/// Joint types: no channels fixed; 1, 2, 3 rotations hinge, universal, euler (ZXZ and such too);
/// 1 position slider, 2 or 3 translation; 2 positions and a rotation about the third axis planar;
/// any other set with positions free, a position that is not listed locked. Coordinates of a root
/// are its place in the world, those of other joints what is added to the OFFSET.
///
/// All rows are frames, whatever number is stated; sn_skeleton_note() tells when they differ. A file
/// without MOTION, or with no frames, is a skeleton with an empty motion. The rate of a file
/// whose Frame Time is 0 or missing is not known. Frames are numbered from 1.
/// @param options   NULL for the defaults
/// @param skeleton  free with sn_skeleton_destroy(); NULL on failure
/// @param motion    free with sn_motion_destroy(); NULL on failure
SN_API sn_status sn_bvh_read(const char *text, size_t length, const sn_bvh_options *options,
                             const sn_allocator *allocator, sn_skeleton **skeleton,
                             sn_motion **motion, sn_error *error);

/// Write a BVH skeleton and poses of its model. What was read comes back with the same names,
/// channels and OFFSETs, to the last bit, and with the numbers of its rows to 1e-9 of their unit. A
/// rate that is not known becomes a Frame Time of 0. SN_ERR_ARGUMENT for a skeleton of another
/// format: see export.h.
/// @param motion     NULL for none
/// @param allocator  for two rows while it writes
SN_API sn_status sn_bvh_write(const sn_skeleton *skeleton, const sn_motion *motion,
                              const sn_sink *sink, const sn_allocator *allocator, sn_error *error);

#ifdef __cplusplus
}
#endif
