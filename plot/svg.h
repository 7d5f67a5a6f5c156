// SPDX-License-Identifier: MIT
// What the chart files share: a panel with its scales, and styles.
#pragma once

#include "plot.h"

enum { PLOT_COLOURS = 7 };

/// A panel being drawn: the rectangle of the data in pixels, and the axes' ranges.
typedef struct plot_panel {
    const plot_chart *chart;
    double left, top, width, height;
    double x0, x1, y0, y1;  ///< data; logarithms on a log axis
} plot_panel;

double plot_px(const plot_panel *p, double x);  ///< NAN where a log axis has no place for it
double plot_py(const plot_panel *p, double y);
/// The same from 0 (low) to 1 (high).
double plot_along(const plot_axis *axis, double low, double high, double value);

void plot_frame(plot_text *out, const plot_panel *p, bool x_ticks);
/// stroke="..." and dashes of a style
void plot_stroke(plot_text *out, int style);
void plot_marker(plot_text *out, int style, double x, double y);
/// A number as a tick shows it.
void plot_number(plot_text *out, double value);

void plot_draw_lines(plot_text *out, const plot_panel *p);
void plot_draw_bars(plot_text *out, const plot_panel *p);
void plot_draw_boxes(plot_text *out, const plot_panel *p);
void plot_draw_map(plot_text *out, const plot_panel *p);
void plot_draw_surface(plot_text *out, const plot_panel *p);

/// The style sheet: variables and classes, for a page or a file of its own.
extern const char plot_style[];
