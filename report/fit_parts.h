// SPDX-License-Identifier: MIT
// The parts of a fit's report.
#pragma once

#include "fit_report.h"

/// A fitted take as the parts see it.
typedef struct fit_story {
    const fit_about *about;
    const sn_take *take;
    const sn_recording *recording;
    const sn_take_options *options;
    const sn_model *model;
    const sn_motion *motion;
    const sn_take_summary *summary;
    const sn_fit_frame *frames;
    const sn_fit_marker *markers;
} fit_story;

/// Room for numbers; NULL, and the text has failed, when memory is out.
void *report_room(plot_text *out, size_t count, size_t size);

/// The time of a fitted frame, or its number where no rate is known; and what to call that.
double frame_time(const fit_story *r, int frame);
const char *time_label(const fit_story *r);

/// A row of a table with two columns.
void report_row(plot_text *out, const char *what, const char *format, ...) PLOT_FORMAT(3, 4);

/// The verdict, in words and colour, and what to do.
void report_verdict(plot_text *out, const fit_story *r);
/// A range that a few outliers do not stretch: what 99 of 100 numbers lie in, with some room; the axis is left as it
/// is where that is nearly all of it. `*cut` is set where something lies outside.
void robust_axis(plot_text *out, plot_axis *axis, const plot_series *series, int nseries,
                 bool *cut);

void report_errors(plot_text *out, const fit_story *r);   ///< over time
void report_markers(plot_text *out, const fit_story *r);  ///< each of them, and gaps
void report_worst(plot_text *out, const fit_story *r);    ///< frames
void report_sure(plot_text *out, const fit_story *r);     ///< what the calibration found
void report_limits(plot_text *out, const fit_story *r);
void report_work(plot_text *out, const fit_story *r);
void report_angles(plot_text *out, const fit_story *r);
