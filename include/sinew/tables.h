// SPDX-License-Identifier: MIT
// Tables of numbers, and files that are tables: TRC marker recordings, MOT and STO, CSV.
//
// Readers take the bytes of a whole file and keep none. On failure nothing is handed out, and
// `error` (may be NULL) holds the line and a sentence. What a reader decided for the user stands in
// the `note` of what it gives. Numbers are read and written alike in every locale; those over 1e50
// in size are refused.
#pragma once

#include "sinew/model.h"
#include "sinew/motion.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Columns with names, rows of numbers; NaN where there is none. One block of memory. Once filled,
/// several threads may read one.
typedef struct sn_table sn_table;

/// What is known about a table. Start from sn_table_info_default().
typedef struct sn_table_info {
    int nrow, ncolumn;
    int time;         ///< column of the time in seconds, -1 for none
    int frame;        ///< column of the frame numbers, -1 for none
    double rate;      ///< rows per second as the file states it, 0 when it does not
    bool in_degrees;  ///< angles are degrees, else radians; which columns are angles is not known
    char unit[16];    ///< unit of length as it is written in the file, "" when not stated
    char name[256];   ///< of the whole table, as in its file
    char note[400];   ///< what a reader had to decide and a person should know, "" for nothing
} sn_table_info;

/// Empty, degrees, neither time nor frame.
SN_API sn_table_info sn_table_info_default(void);

/// A table with every cell NaN.
/// @param names  ncolumn strings, copied
/// @param out    free with sn_table_destroy(); NULL on failure
SN_API sn_status sn_table_create(const sn_table_info *info, const char *const *names,
                                 const sn_allocator *allocator, sn_table **out, sn_error *error);
SN_API void sn_table_destroy(sn_table *table);

SN_API const sn_table_info *sn_table_about(const sn_table *table);
/// A row (from 0), ncolumn numbers; NULL when out of range.
SN_API const double *sn_table_row(const sn_table *table, int row);
/// The same, to be filled.
SN_API double *sn_table_edit(sn_table *table, int row);
/// The name of a column; NULL when out of range.
SN_API const char *sn_table_column(const sn_table *table, int column);
/// The first column of a name, -1 when there is none.
SN_API int sn_table_find(const sn_table *table, const char *name);
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
/// vectors are degrees, lengths metres. Of the vectors that give a ball's rotation, the nearest to
/// the row before is taken, so that columns go on past 180 degrees without a jump.
/// @param out  free with sn_table_destroy(); NULL on failure
SN_API sn_status sn_table_from_motion(const sn_model *model, const sn_motion *motion,
                                      const sn_allocator *allocator, sn_table **out,
                                      sn_error *error);
/// The other way. Every degree of freedom needs its column; where a joint has only one, both names
/// will do. Other columns are not looked at.
/// @param out  free with sn_motion_destroy(); NULL on failure
SN_API sn_status sn_motion_from_table(const sn_model *model, const sn_table *table,
                                      const sn_allocator *allocator, sn_motion **out,
                                      sn_error *error);

/// MOT and STO, which are one format. In degrees where the file does not say and states no version.
/// @param out  free with sn_table_destroy(); NULL on failure
SN_API sn_status sn_sto_read(const char *text, size_t length, const sn_allocator *allocator,
                             sn_table **out, sn_error *error);
/// The table needs a time; it is written as the first column. A number reads back to the same bits.
SN_API sn_status sn_sto_write(const sn_table *table, const sn_sink *sink, sn_error *error);
/// sn_table_from_motion(), then sn_sto_write(). The motion needs a frame rate.
SN_API sn_status sn_mot_write(const sn_model *model, const sn_motion *motion, const sn_sink *sink,
                              const sn_allocator *allocator, sn_error *error);

/// Comma, semicolon or tab separated; also the files of OptiTrack Motive, Vicon Nexus and Qualisys
/// QTM, of which the markers are taken.
/// @param out  free with sn_table_destroy(); NULL on failure
SN_API sn_status sn_csv_read_table(const char *text, size_t length, const sn_allocator *allocator,
                                   sn_table **out, sn_error *error);
/// Commas, one row of names. A number reads back to the same bits.
SN_API sn_status sn_csv_write_table(const sn_table *table, const sn_sink *sink, sn_error *error);

/// How marker positions are written. Start from sn_markers_options_default().
typedef struct sn_markers_options {
    uint32_t version;  ///< set by the default function, checked on writing
    const char *unit;  ///< default "mm"; a recording in no known unit keeps its numbers
    double rate;       ///< frames per second; 0, the default: as the recording says
} sn_markers_options;

SN_API sn_markers_options sn_markers_options_default(void);

/// sn_csv_read_table(), then sn_recording_from_table() with the unit that the file states.
SN_API sn_status sn_csv_read_recording(const char *text, size_t length,
                                       const sn_allocator *allocator, sn_recording **out,
                                       sn_error *error);
/// @param options  NULL for the defaults
SN_API sn_status sn_csv_write_recording(const sn_recording *recording,
                                        const sn_markers_options *options, const sn_sink *sink,
                                        sn_error *error);

/// @param out  free with sn_recording_destroy(); NULL on failure
SN_API sn_status sn_trc_read(const char *text, size_t length, const sn_allocator *allocator,
                             sn_recording **out, sn_error *error);
/// @param options  NULL for the defaults
SN_API sn_status sn_trc_write(const sn_recording *recording, const sn_markers_options *options,
                              const sn_sink *sink, sn_error *error);

#ifdef __cplusplus
}
#endif
