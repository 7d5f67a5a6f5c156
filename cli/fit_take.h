// SPDX-License-Identifier: MIT
// One take from files to files.
#pragma once

#include <signal.h>
#include <stdatomic.h>

#include "figure.h"

/// What the user asked for; words as they were given, NULL when they were not.
typedef struct fit_settings {
    const char *model, *input;
    const char *name;  ///< of the take in a list
    word_list outputs;
    const char *markers, *calibrate, *save_model, *report, *page;
    const char *limits, *robust, *smooth, *solver, *frames, *threads, *max_error;
    const char *up, *units, *axes, *subject, *truth;
    bool json, quiet;
} fit_settings;

/// The same, understood.
typedef struct fit_plan {
    sn_fit_options fit;
    sn_calibrate_options calibrate;
    bool may_calibrate, must_calibrate;
    double unit;    ///< metres; 0: as stated or found
    bool has_axes;  ///< with `axes`
    sn_axis_map axes;
    bool has_up;
    int up;
    double up_sign;
    frame_range frames;
    double max_error;  ///< metres; INFINITY: none
} fit_plan;

typedef struct sentences {
    char **text;
    int count;
} sentences;

/// A fitted take.
typedef struct fit_result {
    const fit_settings *settings;
    const fit_plan *plan;
    figure figure;
    sn_recording
        *recording;  ///< in metres and the model's world; markers without a place are missing
    sn_marker_set *set;
    sn_model *model;    ///< with its markers, calibrated
    sn_model *limited;  ///< the same with the file's limits
    bool reshaped;
    double *factor;  ///< per joint
    int *column;
    int matched;
    int nlabel;  ///< of the recording
    char unit_text[16];
    sn_axes_report axes;
    sn_handedness handed;  ///< frames 0 when it was not looked at
    bool calibrated;
    sn_calibrate_report calibration;
    double shortest, longest;  ///< factors of the bones' lengths
    double shift;              ///< mean way of the markers from where they were before, metres
    sn_fit_input input;
    sn_motion *motion;
    sn_fit_frame *frames;
    sn_fit_marker *markers;
    sn_fit_summary summary;
    sn_fit_swap swaps[16];  ///< markers that look exchanged
    int nswap;
    int again;  ///< frames that were solved again, the first left out: it always is
    int above;  ///< frames above max_error
    double calibrate_seconds, fit_seconds;
    double truth_median, truth_95, truth_rms;  ///< degrees, over all joints and frames
    int truth_joints, truth_of;                ///< joints that were compared, of all that move
    sentences notes, warnings;                 ///< for people
} fit_result;

/// Understand the settings; false and a message when they make no sense.
bool make_plan(const fit_settings *settings, fit_plan *plan);

/// Fit, and write all outputs. Returns the exit code; `result` is to be freed in any case.
int fit_take(const fit_settings *settings, const fit_plan *plan, fit_result *result);
void free_result(fit_result *result);

/// Fill how far the motion is from the known one; false and a message when that can't be read.
bool compare_with_truth(fit_result *r);

/// Set by Ctrl-C.
extern atomic_bool fit_cancelled;
/// The same, for the library to ask.
extern const sn_cancel fit_cancel;

/// Warnings, on standard error.
void print_fit_warnings(const fit_result *r);
void print_fit_text(const fit_result *r);
void print_fit_json(const fit_result *r);

/// The report as one HTML file; false and a message when it can't be written.
bool write_fit_report(const char *path, const fit_result *r);

/// Every take of a data folder as a table; the exit code.
int bench_fit(const char *data);
