// SPDX-License-Identifier: MIT
// Any output: a model, its motion and its markers as a file of whichever format.
#pragma once

#include "sinew/document.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What a file is made from. Start from sn_scene_default(). Everything must live until the writer
/// returns.
typedef struct sn_scene {
    uint32_t version;             ///< set by the default function, checked on writing
    const sn_model *model;        ///< that poses belong to; NULL: markers alone
    const sn_skeleton *skeleton;  ///< the ASF or BVH skeleton that the model came from; NULL: none.
                                  ///< Where nothing has changed it is written as it is
    bool reshaped;                ///< the model's lengths or joints are no longer the skeleton's
    const sn_motion *motion;      ///< NULL: the figure alone
    const sn_recording *recording;  ///< measured markers in metres and the model's world; NULL
    double metres_per_unit;  ///< of the output, for formats that can choose: BVH, ASF, C3D, TRC, STO,
                             ///< CSV; default 0: the skeleton's, else the format's custom
    double rotation[4];      ///< w x y z, turns figure and markers; default none
    int up;                  ///< the model's axis that points up: 0 1 2; default 1
    double up_sign;          ///< 1 or -1
    const sn_allocator *allocator;  ///< for what the writer needs meanwhile; NULL for malloc
} sn_scene;

SN_API sn_scene sn_scene_default(const sn_model *model);

/// From a document: its model, skeleton, motion, recording and up axis.
SN_API sn_scene sn_scene_of(const sn_document *document);

/// Write a scene as ASF, AMC, BVH, C3D, TRC, MOT (a table of coordinates, or of markers where there is
/// no motion), CSV, GLB or native JSON. Lengths of coordinates in MOT and CSV are metres.
/// SN_ERR_ARGUMENT with a sentence when the scene lacks what the format needs.
SN_API sn_status sn_scene_write(const sn_scene *scene, sn_format format, const sn_sink *sink,
                                sn_error *error);

/// Metres per unit of length in the file that sn_scene_write() would write; 0 where it is not known: a
/// format without lengths, markers of an unknown unit.
SN_API double sn_scene_unit(const sn_scene *scene, sn_format format);

/// Where the model's markers are in every frame of a motion, in metres.
/// @param out  free with sn_recording_destroy(); NULL on failure
SN_API sn_status sn_marker_paths(const sn_model *model, const sn_motion *motion,
                                 const sn_allocator *allocator, sn_recording **out);

/// Turn every sample of a recording by a rotation w x y z.
SN_API void sn_recording_turn(sn_recording *recording, const double rotation[4]);

/// "m", "cm", "mm", "in", "ft", "dm", or the metres with a number: the reverse of sn_unit_metres().
SN_API void sn_unit_name(double metres, char out[24]);

#ifdef __cplusplus
}
#endif
