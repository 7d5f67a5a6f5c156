// SPDX-License-Identifier: MIT
// Charts as SVG text and pages that hold them as one HTML file without a network. libc and libm only.
//
// Colours are CSS variables, so that one figure reads well on light, dark and paper; the series differ
// in colour (Okabe and Ito's, which colour-blind readers can tell apart), in dashes and in markers.
// A legend stands below the panels and never covers a line.
#pragma once

#include <stdbool.h>
#include <stddef.h>

/// A growing text. Once memory is out it stays failed and takes nothing more: ask once at the end.
typedef struct plot_text {
    char *data;  ///< terminated; NULL while empty
    size_t length, capacity;
    bool failed;
} plot_text;

#if defined(__GNUC__)
#define PLOT_FORMAT(at, from) __attribute__((format(printf, at, from)))
#else
#define PLOT_FORMAT(at, from)
#endif

void plot_add(plot_text *out, const char *format, ...) PLOT_FORMAT(2, 3);
void plot_raw(plot_text *out, const char *text);
/// With & < > " ' written as entities, and what is no character (control characters, bytes that are not
/// UTF-8) as U+FFFD.
void plot_escaped(plot_text *out, const char *text);
enum { PLOT_HASH = 45 };
/// SHA-256 of the texts one behind the other, in base64.
void plot_hash(const char *const *texts, int count, char out[PLOT_HASH]);
void plot_text_free(plot_text *out);

/// An axis; low = high = 0 takes the range of the data.
typedef struct plot_axis {
    const char *label;  ///< with its unit: "time, s"
    bool log;
    double low, high;
    bool down;  ///< its numbers run from the top down; for maps, whose rows must be given so, too
} plot_axis;

/// Numbers that belong together. Points that are not finite, or not positive on a log axis, leave a gap.
typedef struct plot_series {
    const char *name;  ///< in the legend, once for all series of the same name; NULL: not there
    int style;         ///< colour, dashes and marker; PLOT_GREY for a guide line
    int n;
    const double *x;  ///< lines only
    const double *y;  ///< lines, boxes: n values; bars: one per group
    bool points;      ///< lines: markers alone (a scatter)
    bool plain;       ///< lines: no markers
} plot_series;

enum { PLOT_GREY = -1 };

typedef enum plot_kind {
    PLOT_LINES,   ///< lines or points over x
    PLOT_BARS,    ///< a group of bars per name in `groups`, one bar per series
    PLOT_BOXES,   ///< a box per series: quartiles, whiskers to 1.5 of their distance, outliers
    PLOT_MAP,     ///< cells over a rectangle, coloured by category or by value, with level sets
    PLOT_SURFACE  ///< the same as a surface over the rectangle
} plot_kind;

/// One panel. Zero what is not needed.
typedef struct plot_chart {
    plot_kind kind;
    const char *title;
    plot_axis x, y;
    const plot_series *series;
    int nseries;
    const char *const *groups;  ///< bars
    int ngroup;

    // map and surface: nx x ny values, x fastest, over the ranges of the axes (which must be given)
    int nx, ny;
    const double *value;            ///< height and level sets; NULL for none
    const unsigned char *category;  ///< NULL: colour by value
    const char *const *categories;
    int ncategory;  ///< up to 4
    const double *levels;
    int nlevel;
    const char *const
        *rows;  ///< ny names instead of numbers on the y axis, from the top; NULL for none
    const char *value_label;
} plot_chart;

/// Panels side by side with one legend below.
typedef struct plot_figure {
    const char *title;  ///< for those who cannot see it
    const plot_chart *charts;
    int nchart;
    int columns;
    int width, height;  ///< of one panel, pixels; 0 for usual ones
} plot_figure;

/// @param standalone  a file of its own: with name space and colours; else part of a page
void plot_figure_svg(plot_text *out, const plot_figure *figure, bool standalone);

/// Slope of log y over log x by least squares: the exponent of a power law. NAN below two points.
double plot_exponent(const double *x, const double *y, int n);

/// The value below which the part p of n sorted values lies.
double plot_quantile(const double *sorted, int n, double p);

// A page: head, then sections of paragraphs, tables and figures. Text is escaped, except where it
// says html.
void page_begin(plot_text *out, const char *title, const char *subtitle_html);
void page_section(plot_text *out, const char *id, const char *title);
void page_paragraph(plot_text *out, const char *html);
void page_figure(plot_text *out, const plot_figure *figure, const char *caption_html);
void page_table_begin(plot_text *out, const char *caption_html, const char *const *heads,
                      int nhead);
/// A row; cells that begin like a number are set to the right. A head that begins with a space stands
/// over such.
void page_table_row(plot_text *out, const char *const *cells, int ncell);
void page_table_end(plot_text *out);
/// @param kind  "good", "partly" or "bad": its colour; the words say it too
void page_verdict(plot_text *out, const char *kind, const char *html);
void page_end(plot_text *out);
