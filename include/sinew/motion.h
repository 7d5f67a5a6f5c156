// SPDX-License-Identifier: MIT
// What was measured and what was found: marker recordings and motions, as plain containers.
//
// Both are one block of memory from one allocator. Once filled, several threads may read one.
#pragma once

#include "sinew/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Positions of markers over time.
typedef struct sn_recording sn_recording;

/// What is known about a recording. Zeroed, it states nothing.
typedef struct sn_recording_info {
    int nframe;              ///< frames
    int nmarker;             ///< markers
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

/// What is known about it; lives as long as the recording.
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

/// Samples of markers, read one by one from wherever they are: a recording, or what a take maps into its
/// model's world (sn_take_samples()). It owns nothing; what it reads from must live as long.
typedef struct sn_samples {
    int nframe, nmarker;  ///< how many there are
    double rate;          ///< frames per second, 0 when not known
    const void *user;     ///< handed to both functions
    /// A marker's label.
    const char *(*label)(const void *user, int marker);
    /// Where a marker is in a frame; false, and `out` untouched, where the sample is missing.
    bool (*sample)(const void *user, int frame, int marker, double out[3]);
} sn_samples;

/// The samples of a recording as they are; none for NULL.
SN_API sn_samples sn_recording_samples(const sn_recording *recording);

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

/// Frames, and the coordinates of each.
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

// --- another frame rate ----------------------------------------------------------------------------
//
// Recordings and motions at another frame rate. Frame 0 stays frame 0; the frames that follow are
// those whose times still lie within the take, numbered from 1. There is no filter: going to a much
// lower rate, what is faster than half of it turns into noise.

/// Straight lines between the samples before and after. Where one of the two is missing, the new
/// sample is: gaps are not bridged.
/// @param rate  frames per second; the recording must know its own: SN_ERR_ARGUMENT
/// @param out   free with sn_recording_destroy(); NULL on failure
SN_API sn_status sn_recording_resample(const sn_recording *recording, double rate,
                                       const sn_allocator *allocator, sn_recording **out,
                                       sn_error *error);

/// Rotations of three degrees of freedom turn the shortest way at an even speed, whatever their
/// coordinates, single angles the shortest way round, everything else goes straight.
/// @param rate  frames per second; the motion must know its own: SN_ERR_ARGUMENT
/// @param out   free with sn_motion_destroy(); NULL on failure
SN_API sn_status sn_motion_resample(const sn_model *model, const sn_motion *motion, double rate,
                                    const sn_allocator *allocator, sn_motion **out,
                                    sn_error *error);

// --- part of a take ----------------------------------------------------------------------------------

/// Which frames of a take to keep. Start from sn_clip_default().
typedef struct sn_clip {
    int first, count;  ///< frames, from 0; default 0 and INT_MAX: all. More than there are is all
    int every;         ///< keep each so many-th of them; default 1
    double rate;       ///< frames per second, before thinning; default 0: as they are
} sn_clip;

/// What became of the rate.
typedef enum sn_clip_rate {
    SN_CLIP_RATE_KEPT,       ///< it is what it was
    SN_CLIP_RATE_STATED,     ///< none was known: now it is the wanted one
    SN_CLIP_RATE_TAKEN_FOR,  ///< it was the wanted one but for rounding (a part in 10,000)
    SN_CLIP_RATE_RESAMPLED   ///< the frames are new ones
} sn_clip_rate;

/// The defaults that sn_clip states: all frames as they are.
SN_API sn_clip sn_clip_default(void);

/// Cut, then resample (or state the rate, where none is known), then thin out. Frames keep their numbers and
/// times unless they are resampled or thinned out: then they are numbered from 1, and times stay what they were.
/// @param what  NULL, or what became of the rate
/// @param out   free with sn_motion_destroy(), sn_recording_destroy(); NULL on failure
SN_API sn_status sn_motion_clip(const sn_model *model, const sn_motion *motion, const sn_clip *clip,
                                const sn_allocator *allocator, sn_motion **out, sn_clip_rate *what,
                                sn_error *error);
SN_API sn_status sn_recording_clip(const sn_recording *recording, const sn_clip *clip,
                                   const sn_allocator *allocator, sn_recording **out,
                                   sn_clip_rate *what, sn_error *error);

// --- tables ----------------------------------------------------------------------------------------
//
// Columns of numbers with names: what MOT, STO and CSV files hold.

/// Columns with names, rows of numbers; NaN where there is none. One block of memory. Once filled,
/// several threads may read one.
typedef struct sn_table sn_table;

/// What is known about a table. Start from sn_table_info_default().
typedef struct sn_table_info {
    int nrow, ncolumn;  ///< its size
    int time;           ///< column of the time in seconds, -1 for none
    int frame;          ///< column of the frame numbers, -1 for none
    double rate;        ///< rows per second as the file states it, 0 when it does not
    bool in_degrees;    ///< angles are degrees, else radians; which columns are angles is not known
    char unit[16];      ///< unit of length as it is written in the file, "" when not stated
    char name[256];     ///< of the whole table, as in its file
    char note[400];     ///< what a reader had to decide and a person should know, "" for nothing
} sn_table_info;

/// Empty, degrees, neither time nor frame.
SN_API sn_table_info sn_table_info_default(void);

/// A table with every cell NaN.
/// @param names  ncolumn strings, copied
/// @param out    free with sn_table_destroy(); NULL on failure
SN_API sn_status sn_table_create(const sn_table_info *info, const char *const *names,
                                 const sn_allocator *allocator, sn_table **out, sn_error *error);
SN_API void sn_table_destroy(sn_table *table);

/// What is known about it; lives as long as the table.
SN_API const sn_table_info *sn_table_about(const sn_table *table);
/// A row (from 0), ncolumn numbers; NULL when out of range.
SN_API const double *sn_table_row(const sn_table *table, int row);
/// The same, to be filled.
SN_API double *sn_table_edit(sn_table *table, int row);
/// The name of a column; NULL when out of range.
SN_API const char *sn_table_column(const sn_table *table, int column);
/// The first column of a name, -1 when there is none.
SN_API int sn_table_find(const sn_table *table, const char *name);
/// A column at a time in seconds: straight between its rows, the first and the last beyond them. NaN without a column
/// of times or rows, when `column` is out of range, and at no time.
SN_API double sn_table_at(const sn_table *table, int column, double time);
/// Rows per second by the time column, where at most a tenth of its steps differ; else as stated.
SN_API double sn_table_rate(const sn_table *table);

/// The markers of a table: three columns NAME.X, NAME.Y, NAME.Z each. In place of the point may
/// stand _ : - or a blank, the letters may be small, and a t may stand before them (NAME_tx). Other
/// columns are left out, and counted in the note; an error when they are more than the markers'.
/// @param unit  of the lengths; NULL for what the table states
/// @param out   free with sn_recording_destroy(); NULL on failure
SN_API sn_status sn_recording_from_table(const sn_table *table, const char *unit,
                                         const sn_allocator *allocator, sn_recording **out,
                                         sn_error *error);

/// A motion as a table: the time (the frame where there is no rate), then a column for each degree
/// of freedom. A joint with only one gives it its name; where that would also be a coordinate of
/// another joint, and for joints with more, columns are named JOINT_COORDINATE: `angle` (hinge,
/// screw), `distance` (slider), `angle1 angle2`
/// (universal), `rx` ... in the joint's order (euler; the third is `rz3` where its letter came
/// before), `wx wy wz` (ball, expmap: a rotation vector), `su sv twist` (swing-twist),
/// `tu tv angle` (planar), `tx ty tz` (translation), `tx ty tz wx wy wz` (free). Angles and rotation
/// vectors are degrees, lengths metres; coordinates of a function joint by which nothing turns evenly are as
/// they are, as in OpenSim's files. Of the vectors that give a ball's rotation, the nearest to
/// the row before is taken, so that columns go on past 180 degrees without a jump.
/// @param out  free with sn_table_destroy(); NULL on failure
SN_API sn_status sn_table_from_motion(const sn_model *model, const sn_motion *motion,
                                      const sn_allocator *allocator, sn_table **out,
                                      sn_error *error);
/// Velocities and accelerations of a motion: the time, then NAME_u and NAME_dudt for each column of
/// sn_table_from_motion(), of balls and free joints about the model's axes. By differences to the frames before and
/// behind, to second order; the motion must know its rate, and have three frames.
/// @param out  free with sn_table_destroy(); NULL on failure
SN_API sn_status sn_table_from_rates(const sn_model *model, const sn_motion *motion,
                                     const sn_allocator *allocator, sn_table **out,
                                     sn_error *error);

/// Where the bodies are: the time, then NAME_X, NAME_Y, NAME_Z of every joint's centre that lies elsewhere than its
/// parent's, and center_of_mass_X, _Y, _Z where the model has masses. Metres.
/// @param out  free with sn_table_destroy(); NULL on failure
SN_API sn_status sn_table_from_bodies(const sn_model *model, const sn_motion *motion,
                                      const sn_allocator *allocator, sn_table **out,
                                      sn_error *error);

/// The other way. Every degree of freedom needs its column; where a joint has only one, both names
/// will do. Other columns are not looked at.
/// @param out  free with sn_motion_destroy(); NULL on failure
SN_API sn_status sn_motion_from_table(const sn_model *model, const sn_table *table,
                                      const sn_allocator *allocator, sn_motion **out,
                                      sn_error *error);

#ifdef __cplusplus
}
#endif
