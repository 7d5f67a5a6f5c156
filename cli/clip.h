// SPDX-License-Identifier: MIT
// Part of a take, or the take at another rate.
#pragma once

#include "cli.h"

typedef struct clip_plan {
    frame_range frames;
    const char *frames_word;
    long every;  ///< 1: all
    double fps;  ///< 0: as it is
} clip_plan;

/// Cut, then resample (or state the rate, where none is known), then thin out. *motion is replaced.
/// False and a message when it can't be.
/// @param said  what was done, for people; at least 200 bytes
bool clip_motion(const clip_plan *plan, const char *path, const sn_model *model, sn_motion **motion,
                 char *said);
bool clip_recording(const clip_plan *plan, const char *path, sn_recording **recording, char *said);

/// The same for a recording that runs alongside a motion: the same frames from the begin of the
/// take.
/// @param first_frame  number of the motion's first frame
bool clip_alongside(const clip_plan *plan, const char *path, int first_frame,
                    sn_recording **recording, char *said);
