// SPDX-License-Identifier: MIT
// A figure: panels in columns, their ranges, one legend below them.
#include <math.h>
#include <string.h>

#include "svg.h"

enum { LEFT = 62, RIGHT = 14, TOP = 26, BOTTOM = 44, ROW = 18, MOST_ENTRIES = 32 };

double plot_exponent(const double *x, const double *y, int n) {
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    int m = 0;
    for (int i = 0; i < n; i++) {
        if (!(x[i] > 0) || !(y[i] > 0)) continue;
        double u = log(x[i]), v = log(y[i]);
        sx += u;
        sy += v;
        sxx += u * u;
        sxy += u * v;
        m++;
    }
    double d = m * sxx - sx * sx;
    return m > 1 && d > 0 ? (m * sxy - sx * sy) / d : NAN;
}

static void widen(const plot_axis *axis, double v, double *low, double *high) {
    if (axis->log) v = v > 0 ? log10(v) : NAN;
    if (!isfinite(v)) return;
    *low = fmin(*low, v);
    *high = fmax(*high, v);
}

// The range of an axis: as given, or from the data with a little room.
static void range(const plot_chart *c, bool along_x, double *low, double *high) {
    const plot_axis *axis = along_x ? &c->x : &c->y;
    *low = INFINITY;
    *high = -INFINITY;
    if (axis->low < axis->high) {
        *low = axis->log ? log10(axis->low) : axis->low;
        *high = axis->log ? log10(axis->high) : axis->high;
        return;
    }
    for (int i = 0; i < c->nseries; i++) {
        const double *v = along_x ? c->series[i].x : c->series[i].y;
        int n = c->kind == PLOT_BARS ? c->ngroup : c->series[i].n;
        for (int k = 0; k < n && v != NULL; k++) widen(axis, v[k], low, high);
    }
    if (c->kind == PLOT_BARS && !axis->log && !along_x) *low = fmin(*low, 0);
    if (!(*low <= *high)) {
        *low = axis->log ? -1 : 0;
        *high = 1;
    }
    // the least bar of a log axis must be seen
    if (c->kind == PLOT_BARS && axis->log && !along_x) *low -= 0.3;
    if (axis->log && *high - *low > 1) {
        *low = floor(*low + 0.02);
        *high = ceil(*high - 0.02);
        return;
    }
    double room = *high > *low ? 0.04 * (*high - *low) : fmax(0.1, 0.1 * fabs(*low));
    if (axis->log) room = fmax(room, 0.05);
    if (*low != 0 || axis->log) *low -= room;
    if (*low > -2 * room && *low < 0 && !axis->log && *low + room >= 0) *low = 0;
    *high += room;
}

static void draw(plot_text *out, const plot_chart *c, double x, double y, double w, double h) {
    plot_panel p = {.chart = c,
                    .left = x + LEFT,
                    .top = y + TOP,
                    .width = w - LEFT - RIGHT,
                    .height = h - TOP - BOTTOM};
    range(c, true, &p.x0, &p.x1);
    range(c, false, &p.y0, &p.y1);
    switch (c->kind) {
    case PLOT_LINES:
        plot_draw_lines(out, &p);
        break;
    case PLOT_BARS:
        plot_draw_bars(out, &p);
        break;
    case PLOT_BOXES:
        plot_draw_boxes(out, &p);
        break;
    case PLOT_MAP:
        plot_draw_map(out, &p);
        break;
    case PLOT_SURFACE:
        plot_draw_surface(out, &p);
        break;
    }
}

typedef struct entry {
    const char *name;
    const plot_chart *chart;
    int style;     // of a series
    bool points;   // without a line
    int category;  // of a map, or -1
} entry;

static bool known(const entry *entries, int n, const char *name) {
    for (int i = 0; i < n; i++)
        if (strcmp(entries[i].name, name) == 0) return true;
    return false;
}

// What the legend names: the series of lines and bars, the categories of maps, each once.
static int collect(const plot_figure *f, entry *entries) {
    int n = 0;
    for (int k = 0; k < f->nchart; k++) {
        const plot_chart *c = &f->charts[k];
        for (int i = 0; i < c->nseries && c->kind <= PLOT_BARS; i++) {
            const plot_series *s = &c->series[i];
            if (n == MOST_ENTRIES || s->name == NULL || known(entries, n, s->name)) continue;
            entries[n++] = (entry){s->name, c, s->style, s->points, -1};
        }
        for (int i = 0; i < c->ncategory; i++) {
            if (n == MOST_ENTRIES || known(entries, n, c->categories[i])) continue;
            entries[n++] = (entry){c->categories[i], c, 0, false, i};
        }
    }
    return n;
}

static size_t letters(const char *text) {
    size_t n = 0;
    for (; *text != '\0'; text++) n += ((unsigned char)*text & 0xC0) != 0x80;
    return n;
}

// The legend from (8, y) on; how high it is. Draws only when asked to.
static double legend(plot_text *out, const entry *entries, int n, double width, double y,
                     bool really) {
    double x = LEFT - 30, row = y;
    for (int i = 0; i < n; i++) {
        double w = 44 + 6.6 * (double)letters(entries[i].name) + 12;
        if (x + w > width && x > LEFT) {
            x = LEFT - 30;
            row += ROW;
        }
        if (really) {
            const entry *e = &entries[i];
            if (e->category >= 0) {
                plot_add(
                    out,
                    "<rect class=\"m%d\" stroke=\"#59636e\" x=\"%.1f\" y=\"%.1f\" width=\"24\" "
                    "height=\"11\"/>",
                    e->category % 4, x + 6, row - 4);
            } else if (e->chart->kind == PLOT_BARS) {
                plot_add(out,
                         "<rect fill=\"var(--c%d)\" x=\"%.1f\" y=\"%.1f\" width=\"24\" "
                         "height=\"11\"/>",
                         e->style % PLOT_COLOURS, x + 6, row - 4);
            } else {
                if (!e->points) {
                    plot_raw(out, "<path class=\"line\"");
                    plot_stroke(out, e->style);
                    plot_add(out, " d=\"M%.1f %.1fh34\"/>", x, row + 1);
                }
                if (e->style >= 0) plot_marker(out, e->style, x + 17, row + 1);
            }
            plot_add(out, "<text x=\"%.1f\" y=\"%.1f\">", x + 40, row + 5);
            plot_escaped(out, e->name);
            plot_raw(out, "</text>");
        }
        x += w;
    }
    return n > 0 ? row - y + ROW : 0;
}

void plot_figure_svg(plot_text *out, const plot_figure *f, bool standalone) {
    entry entries[MOST_ENTRIES];
    int n = collect(f, entries), columns = f->columns > 0 ? f->columns : 1;
    if (columns > f->nchart) columns = f->nchart;
    int rows = (f->nchart + columns - 1) / columns;
    double w = f->width > 0 ? f->width : 460, h = f->height > 0 ? f->height : 300;
    double width = w * columns, below = h * rows + 12;
    double height = below + legend(out, entries, n, width, 0, false);
    plot_add(out, "<svg class=\"plot\"%s viewBox=\"0 0 %.0f %.0f\"",
             standalone ? " xmlns=\"http://www.w3.org/2000/svg\"" : "", width, height);
    // inside a page no style but the page's own is allowed
    plot_add(out, standalone ? " style=\"max-width:%.0fpx\"" : " width=\"%.0f\"", width);
    plot_raw(out, " role=\"img\"><title>");
    plot_escaped(out, f->title);
    plot_raw(out, "</title>");
    if (standalone) {
        plot_add(out, "<style>%s</style>", plot_style);
        plot_raw(out, "<rect width=\"100%\" height=\"100%\" fill=\"var(--paper)\"/>");
    }
    for (int i = 0; i < f->nchart; i++) {
        int row = i / columns, column = i % columns;
        draw(out, &f->charts[i], w * column, h * row, w, h);
    }
    (void)legend(out, entries, n, width, below - 2, true);
    plot_raw(out, "</svg>\n");
}
