// SPDX-License-Identifier: MIT
// A picture that moves: a model, its motion and its markers as a binary glTF 2.0 file (.glb), which
// browsers, Blender and game engines open; and the way back, from sinew's files and others'.
#pragma once

#include "sinew/model.h"
#include "sinew/motion.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What to show. Start from sn_glb_scene_default(). Everything must live until the writer returns.
///
/// Every joint is a node with its name, placed and turned as its frame is. Bones and small balls are
/// one mesh, skinned to those nodes with the model's zero pose as the rest pose: Blender and game
/// engines import an armature. A bone leads from a joint to each of its children, from a joint at
/// the end to the middle of its markers, or, where `tips` are given, from a joint to its tip.
typedef struct sn_glb_scene {
    uint32_t version;         ///< set by the default function, checked on writing
    const sn_model *model;    ///< needed
    const double *tips;       ///< njoint x 3, ends of the joints' bones in their frames; NULL: none
    const double *q;          ///< nq, the pose where there is no motion; NULL: all zero
    const sn_motion *motion;  ///< NULL: one still picture
    const sn_recording *recording;  ///< measured markers, in metres and the model's world; NULL
    bool fitted;         ///< show the model's own markers, in a second colour; default false
    double rate;         ///< frames per second; 0: the motion's, else the recording's
    double rotation[4];  ///< w x y z, turns the scene so that +y is up; see sn_glb_up()
    const sn_allocator *allocator;  ///< for what the writer needs meanwhile; NULL for malloc
} sn_glb_scene;

SN_API sn_glb_scene sn_glb_scene_default(const sn_model *model);

/// The rotation that turns an axis upwards: "x", "Y", "+Z", "-y", ... as in a recording's y_screen.
/// False, and none, when it is no axis.
SN_API bool sn_glb_up(const char *axis, double rotation[4]);

/// Write the file, piece by piece: memory goes with the model, not with the length of the motion.
/// Frame 0 of motion and recording are at time 0. A marker is hidden while its sample is missing,
/// and left out when all are. What does not move gets no animation. SN_ERR_SIZE over 4 GiB, the
/// most that the format can hold, or over 8,388,608 frames, behind which its times could not be
/// told apart; SN_ERR_VALUE when a number is not finite; SN_ERR_ARGUMENT when something moves and
/// no rate is known, or two that differ; SN_ERR_FILE when the sink fails.
SN_API sn_status sn_glb_write(const sn_glb_scene *scene, const sn_sink *sink, sn_error *error);

enum { SN_GLB_NOTE = 600 };

/// What a GLB file holds, in metres, y up.
typedef struct sn_glb_content {
    sn_model *model;          ///< its zero pose is the file's rest pose
    sn_motion *motion;        ///< of the first animation; NULL when no joint has keys
    sn_recording *recording;  ///< measured markers of a file of sinew's; NULL when there are none
    char note[SN_GLB_NOTE];   ///< what was left out or decided, "" for nothing
} sn_glb_content;

/// Read a GLB file, or a glTF text that holds its numbers itself. In files of sinew's the joints are
/// the model's (free, ball, translation or fixed, as they move), the fitted markers its markers, and
/// numbers come back to float precision. In others' the joints are those of the skins; without a
/// skin the nodes that carry nothing or move. See docs/files.md.
/// @param out  free with sn_glb_content_free(); empty on failure
SN_API sn_status sn_glb_read(const void *bytes, size_t length, const sn_allocator *allocator,
                             sn_glb_content *out, sn_error *error);
SN_API void sn_glb_content_free(sn_glb_content *content);

#ifdef __cplusplus
}
#endif
