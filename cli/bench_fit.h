// SPDX-License-Identifier: MIT
// Tables about sinew fit. Each is a function over the same list of takes; it prints its head and rows.
#pragma once

#include "fit_take.h"

/// Markers of each take that are spoiled in turn.
enum { BENCH_SPOILED = 3 };

/// A take of the data folder.
typedef struct bench_take {
    const char *skeleton, *take;
    const char *own;  ///< the motion that comes with it, from its first frame on; NULL for none
    int own_skip;     ///< frames of it before the recording's first
    bool placed;      ///< the skeleton has marker places of its own: nothing to calibrate
    /// Markers to be wrong for a second; together they are all over the body.
    const char *spoiled[BENCH_SPOILED];
} bench_take;

extern const bench_take bench_takes[];
extern const int bench_ntake;

/// DATA/NAME; free with free().
char *bench_path(const char *data, const char *name);
/// Both files can be read; else a row says so.
bool bench_is_there(const char *data, const bench_take *take);

/// A copy of a take's model, which outlives the take; NULL when there is no memory.
sn_model *bench_copy(const sn_model *model);

/// A copy of a recording, to be changed; NULL when there is no memory.
sn_recording *bench_copy_recording(const sn_recording *recording);

/// What the usual markers would record of a body that does the motion of a file, placed some centimetres off by chance,
/// the same each time. NULL when it can't be made.
sn_recording *bench_made_recording(const figure *body, const char *motion);

/// How a motion turns from frame to frame.
typedef struct bench_turns {
    int over20, over45;  ///< joint-frames that turn by more than so many degrees
    double spine;        ///< mean acceleration of trunk, neck and head, rad/s^2; 0: not known
} bench_turns;

bool bench_measure_turns(const sn_model *model, const sn_motion *motion, double rate, int first,
                         bench_turns *out);

bool bench_fit_speed(const char *data);   ///< error, gaps, seconds; and a take of 72,000 frames
bool bench_fit_flips(const char *data);   ///< joints that jump, and how calm the spine is
bool bench_fit_hidden(const char *data);  ///< limbs that are hidden for half a second
/// A marker that is wrong for a second.
/// @param count  of each take; up to BENCH_SPOILED those chosen by hand, else the first ones
bool bench_fit_wrong(const char *data, int count);
