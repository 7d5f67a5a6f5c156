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

void report_errors(plot_text *out, const fit_result *r);   ///< over time
void report_markers(plot_text *out, const fit_result *r);  ///< each of them, and gaps
void report_worst(plot_text *out, const fit_result *r);    ///< frames
void report_limits(plot_text *out, const fit_result *r);
void report_work(plot_text *out, const fit_result *r);
void report_angles(plot_text *out, const fit_result *r);
