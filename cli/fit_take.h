// SPDX-License-Identifier: MIT
// One take from files to files: the library's take with names, words and tables around it.
#pragma once

#include <stdatomic.h>

#include "figure.h"
#include "fit_report.h"
#include "solver_settings.h"

/// What the user asked for; words as they were given, NULL when they were not.
typedef struct fit_settings {
    const char *model, *input;
    const char *setup;                ///< of OpenSim's inverse kinematics
    word_list search;                 ///< folders in which its files are looked for, too
    const struct setup_names *names;  ///< what the setup names; NULL without one
    const char *name;                 ///< of the take in a list
    word_list outputs;
    const char *markers, *calibrate, *save_model, *report, *page;
    const char *still, *height;
    word_list lengths;
    const char *limits, *robust, *smooth, *frames, *threads, *max_error, *device;
    const char *up, *units, *axes, *subject, *truth, *out_units;
    const char *derivatives, *bodies;  ///< tables to write beside the motion
    const char *heading;               ///< of sensors
    solver_settings solver;
    bool json, quiet, barrier;
} fit_settings;

/// Progress on a terminal, and seconds.
typedef struct meter {
    bool shown;
    double begin, last;
    double calibrate_from, calibrated;  ///< when that began, how long it took
    double fit_from;
    double error;
} meter;

/// A fitted take.
typedef struct fit_result {
    const fit_settings *settings;
    const sn_take_options *options;
    figure figure;
    sn_recording *recording;
    sn_recording *still;  ///< a static trial; NULL for none
    sn_table *values;     ///< of the setup's coordinate file
    sn_take *take;
    // of the take, once it is fitted
    const sn_model *model;
    const sn_motion *motion;
    const sn_take_summary *summary;
    const sn_fit_frame *frames;
    const sn_fit_marker *markers;
    sn_take_truth truth;
    char file_note[SN_OSIM_NOTE + 200];  ///< what the reader of the model said, "" for nothing
    char output_note[600];               ///< about the files written
    double out_unit[64];  ///< of each output: metres per unit of length; 0: not known
    double calibrate_seconds, fit_seconds;
} fit_result;

/// Understand the settings; false and a message when they make no sense.
bool make_plan(const fit_settings *settings, sn_take_options *options);
/// Is --static about frames of the take, "10:60", and not a file?
bool still_is_frames(const char *word);

/// Fit, and write all outputs. Returns the exit code; `result` is to be freed in any case.
int fit_take(const fit_settings *settings, const sn_take_options *options, fit_result *result);
void free_result(fit_result *result);

/// The tables of --derivatives and --bodies, where they are asked for; false and a message when one can't be.
bool write_motion_tables(const fit_settings *settings, const sn_model *model,
                         const sn_motion *motion);

/// Set by Ctrl-C.
extern atomic_bool fit_cancelled;

meter meter_begin(bool quiet);
void meter_show(void *user, const sn_take_progress *progress);
void meter_end(const meter *m);

/// The i-th remark: see fit_report.h.
bool get_remark(const fit_result *r, int i, remark *out);

/// Warnings, on standard error.
void print_fit_warnings(const fit_result *r);
void print_fit_text(const fit_result *r);
void print_fit_json(const fit_result *r);
/// JSON of a take that failed with this exit code: why, and what was found until then.
void print_fit_failure(const fit_result *r, int code);

/// The report as one HTML file; false and a message when it can't be written.
bool write_fit_report(const char *path, const fit_result *r);

/// Every take of a data folder as a table; the exit code. @param wrong  how many markers of each are spoiled in turn
int bench_fit(const char *data, int wrong);
