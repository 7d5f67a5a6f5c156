// SPDX-License-Identifier: MIT
// What was measured and what was found: marker recordings and motions, as plain containers.
//
// Both are one block of memory from one allocator. Once filled, several threads may read one.
#pragma once

#include "sinew/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Positions of markers over time.
typedef struct sn_recording sn_recording;

/// What is known about a recording. Zeroed, it states nothing.
typedef struct sn_recording_info {
    int nframe;
    int nmarker;
    int nother;              ///< points of the file that were left out: angles, forces, ...
    int nrenamed;            ///< markers whose label another had; see sn_recording_create()
    int nanalog, nevent;     ///< analog channels and events of the file, which are not read
    int first_frame;         ///< number of the first frame in the file
    double rate;             ///< frames per second, 0 when not known
    double time_offset;      ///< seconds that the file's times are beyond (frame number - 1) / rate
    double metres_per_unit;  ///< of the unit below; 0 when not known: nothing was converted then
    char unit[16];     ///< the file's unit of length as it is written there, "" when not stated
    char x_screen[4];  ///< axis to the right on a screen, "+X", "-Y", ...; "" when not stated
    char y_screen[4];  ///< axis that points up on a screen, likewise
    char note[400];    ///< what a reader had to decide and a person should know, "" for nothing
} sn_recording_info;

/// A recording with every sample missing.
/// @param labels  nmarker strings, copied; one that an earlier marker has gets "_2", "_3", ..., as
///                files of most formats could not be read back otherwise
/// @param out     free with sn_recording_destroy(); NULL on failure
SN_API sn_status sn_recording_create(const sn_recording_info *info, const char *const *labels,
                                     const sn_allocator *allocator, sn_recording **out,
                                     sn_error *error);
SN_API void sn_recording_destroy(sn_recording *recording);

SN_API const sn_recording_info *sn_recording_about(const sn_recording *recording);

/// Positions of a frame (from 0): nmarker x 3 numbers, IN METRES whenever the unit is known, else
/// as in the file; a missing sample is three NaN. NULL when out of range.
SN_API const double *sn_recording_frame(const sn_recording *recording, int frame);
/// The same, to be filled.
SN_API double *sn_recording_edit(sn_recording *recording, int frame);

/// False for a missing sample and for what is out of range.
SN_API bool sn_recording_present(const sn_recording *recording, int frame, int marker);
/// How many samples of a marker are missing.
SN_API int sn_recording_missing(const sn_recording *recording, int marker);

/// The label as in the file, "Daniel:LFHD", but different from all others; NULL when out of range.
SN_API const char *sn_recording_label(const sn_recording *recording, int marker);
/// A label without the subject before its last colon: "LFHD". Points into the label.
SN_API const char *sn_label_name(const char *label);

/// A marker by its label, or by its name without a subject, or by that in other letter case. -1 when
/// there is none, -2 when several subjects have one of this name: ask with the whole label then.
SN_API int sn_recording_find(const sn_recording *recording, const char *name);

/// Metres in a unit of length ("mm", "cm", "m", "in", ...; letter case ignored), 0 when not known.
SN_API double sn_unit_metres(const char *unit);

/// Poses of a model over time.
typedef struct sn_motion sn_motion;

/// @param nq    coordinates of a pose, sn_model_nq()
/// @param rate  frames per second, 0 when not known
/// @param out   all zero; free with sn_motion_destroy(); NULL on failure
SN_API sn_status sn_motion_create(int nframe, int nq, int first_frame, double rate,
                                  const sn_allocator *allocator, sn_motion **out, sn_error *error);
SN_API void sn_motion_destroy(sn_motion *motion);

SN_API int sn_motion_nframe(const sn_motion *motion);
SN_API int sn_motion_nq(const sn_motion *motion);
SN_API int sn_motion_first_frame(const sn_motion *motion);  ///< its number in the file
SN_API double sn_motion_rate(const sn_motion *motion);      ///< frames per second, 0: not known
/// Seconds that the file's times are beyond (frame number - 1) / rate; 0 unless it was set.
SN_API double sn_motion_time_offset(const sn_motion *motion);
SN_API void sn_motion_set_time_offset(sn_motion *motion, double seconds);

/// The pose of a frame (from 0), nq numbers. NULL when out of range.
SN_API const double *sn_motion_frame(const sn_motion *motion, int frame);
/// The same, to be filled.
SN_API double *sn_motion_edit(sn_motion *motion, int frame);

#ifdef __cplusplus
}
#endif
