// SPDX-License-Identifier: MIT
// Files in, files of other formats out.
#pragma once

#include "clip.h"
#include "figure.h"
#include "inputs.h"

enum { CONVERT_INPUTS = 16, CONVERT_NOTES = 12 };

/// What was asked for.
typedef struct convert_settings {
    const char *const *files;
    int nfile;
    word_list outputs;
    const char *fps, *units, *up, *frames, *every, *in_units, *in_up;
    bool force;
} convert_settings;

/// The same, understood, and what the files hold.
typedef struct conversion {
    const convert_settings *settings;
    clip_plan clip;
    double metres, in_metres;  ///< per unit; 0: not given
    bool source_unit;          ///< each output in the unit of the file that it comes from
    bool has_up, has_in_up;
    int up, in_up;
    double up_sign, in_up_sign;

    const char *figure_path, *motion_path, *recording_path, *table_path, *set_path;
    figure figure;  ///< when figure_path
    world figure_world, recording_world;
    sn_model *marked;  ///< the figure with the set's markers
    sn_marker_set *set;
    sn_motion *motion;
    bool assumed_rate;
    sn_recording *recording;  ///< in metres
    sn_table *table;          ///< until a model makes it a motion
    char notes[CONVERT_NOTES][400];
    int nnote;
} conversion;

/// Understand the settings; false and a message when they make no sense.
bool convert_plan(const convert_settings *settings, conversion *out);
/// Read all inputs and bring them together; false and a message when they don't belong together.
bool convert_read(conversion *c);
void convert_free(conversion *c);
/// Say a thing that people should know.
void convert_note(conversion *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/// The model that poses belong to.
const sn_model *convert_model(const conversion *c);
