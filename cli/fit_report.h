// SPDX-License-Identifier: MIT
// The parts of a fit's report.
#pragma once

#include "fit_take.h"
#include "plot.h"

/// The time of a fitted frame, or its number where no rate is known; and what to call that.
double frame_time(const fit_result *r, int frame);
const char *time_label(const fit_result *r);

/// A row of a table with two columns.
void report_row(plot_text *out, const char *what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/// Where the take plays, as an address of a link from the report at `report`; false: there is no such page.
bool report_page(plot_text *out, const char *report, const fit_result *r);
/// The verdict, in words and colour, and what to do.
void report_verdict(plot_text *out, const char *path, const fit_result *r);
/// A range that a few outliers do not stretch: what 99 of 100 numbers lie in, with some room; the axis is left as it
/// is where that is nearly all of it. `*cut` is set where something lies outside.
void robust_axis(plot_axis *axis, const plot_series *series, int nseries, bool *cut);

void report_errors(plot_text *out, const fit_result *r);   ///< over time
void report_markers(plot_text *out, const fit_result *r);  ///< each of them, and gaps
void report_worst(plot_text *out, const char *path, const fit_result *r);  ///< frames
void report_limits(plot_text *out, const fit_result *r);
void report_work(plot_text *out, const fit_result *r);
void report_angles(plot_text *out, const fit_result *r);
