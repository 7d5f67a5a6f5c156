// SPDX-License-Identifier: MIT
// Bars and boxes.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "svg.h"

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double plot_quantile(const double *sorted, int n, double p) {
    if (n == 0) return NAN;
    double at = p * (n - 1);
    int i = (int)floor(at);
    return i + 1 < n ? sorted[i] + (at - i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

// A name below a place of the axis, on two lines where it is too long for one, upright where it cannot be
// parted.
static void name_below(plot_text *out, const plot_panel *p, double x, const char *name,
                       double room) {
    char first[128];
    size_t length = strlen(name), cut = length;
    double y = p->top + p->height + 14;
    if (6 * (double)length > room && length < sizeof first)
        for (size_t i = 1; i + 1 < length; i++) {
            double from = fabs((double)i - (double)length / 2);
            bool better = cut == length || from < fabs((double)cut - (double)length / 2);
            if ((name[i] == ' ' || name[i] == '-') && better) cut = i;
        }
    if (cut == length && 6 * (double)length > room) {
        plot_add(out,
                 "<text class=\"tick\" text-anchor=\"end\" transform=\"translate(%.1f %.1f) "
                 "rotate(-90)\">",
                 x + 4, y - 8);
        plot_escaped(out, name);
        plot_raw(out, "</text>");
        return;
    }
    plot_add(out, "<text class=\"tick\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">", x, y);
    if (cut < length) {
        memcpy(first, name, cut + 1);
        first[cut + (name[cut] == '-')] = '\0';
        plot_escaped(out, first);
        plot_add(out, "<tspan x=\"%.1f\" dy=\"13\">", x);
        plot_escaped(out, name + cut + 1);
        plot_raw(out, "</tspan>");
    } else {
        plot_escaped(out, name);
    }
    plot_raw(out, "</text>");
}

static double bounded(const plot_panel *p, double y) {
    double at = plot_py(p, y), bottom = p->top + p->height;
    return isfinite(at) ? fmin(fmax(at, p->top), bottom) : bottom;
}

void plot_draw_bars(plot_text *out, const plot_panel *p) {
    const plot_chart *c = p->chart;
    double slot = p->width / c->ngroup, bar = 0.8 * slot / c->nseries;
    double base = c->y.log ? p->top + p->height : bounded(p, 0);
    // where one name must stand upright, all do
    double room = slot;
    for (int g = 0; g < c->ngroup; g++)
        if (strpbrk(c->groups[g], " -") == NULL && 6 * (double)strlen(c->groups[g]) > slot)
            room = 0;
    plot_frame(out, p, false);
    for (int g = 0; g < c->ngroup; g++) {
        double x = p->left + slot * (g + 0.1);
        for (int i = 0; i < c->nseries; i++, x += bar) {
            double value = c->series[i].y[g], y = bounded(p, value);
            if (!isfinite(value)) continue;
            plot_add(out,
                     "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
                     "fill=\"var(--c%d)\"><title>",
                     x, fmin(y, base), fmax(bar - 1, 0.5), fabs(base - y),
                     c->series[i].style % PLOT_COLOURS);
            if (c->series[i].name != NULL) plot_escaped(out, c->series[i].name);
            plot_add(out, " %g</title></rect>", value);
        }
        name_below(out, p, p->left + slot * (g + 0.5), c->groups[g], room);
    }
}

static void box(plot_text *out, const plot_panel *p, const plot_series *s, double x, double half) {
    double *v = malloc((size_t)(s->n > 0 ? s->n : 1) * sizeof *v);
    int n = 0;
    if (v == NULL) {
        out->failed = true;
        return;
    }
    for (int i = 0; i < s->n; i++)
        if (isfinite(s->y[i])) v[n++] = s->y[i];
    qsort(v, (size_t)n, sizeof *v, compare);
    double q1 = plot_quantile(v, n, 0.25), q2 = plot_quantile(v, n, 0.5);
    double q3 = plot_quantile(v, n, 0.75), reach = 1.5 * (q3 - q1), low = q1, high = q3;
    for (int i = 0; i < n; i++) {
        if (v[i] >= q1 - reach) low = fmin(low, v[i]);
        if (v[i] <= q3 + reach) high = fmax(high, v[i]);
    }
    if (n > 0) {
        plot_add(out, "<g class=\"line\" stroke=\"var(--c%d)\">", s->style % PLOT_COLOURS);
        plot_add(out, "<path d=\"M%.1f %.1fV%.1fM%.1f %.1fV%.1f\"/>", x, bounded(p, high),
                 bounded(p, q3), x, bounded(p, q1), bounded(p, low));
        plot_add(out,
                 "<path d=\"M%.1f %.1fH%.1fM%.1f %.1fH%.1f\"/><rect x=\"%.1f\" y=\"%.1f\" "
                 "width=\"%.1f\" height=\"%.1f\"/>",
                 x - half / 2, bounded(p, high), x + half / 2, x - half / 2, bounded(p, low),
                 x + half / 2, x - half, bounded(p, q3), 2 * half,
                 fmax(bounded(p, q1) - bounded(p, q3), 0.5));
        plot_add(out, "<path stroke-width=\"3\" d=\"M%.1f %.1fH%.1f\"/></g>", x - half,
                 bounded(p, q2), x + half);
        double last = NAN;
        for (int i = 0; i < n; i++) {
            double y = bounded(p, v[i]);
            if ((v[i] >= low && v[i] <= high) || fabs(y - last) < 1.5) continue;
            plot_add(out, "<path class=\"line\" stroke=\"var(--c%d)\" d=\"M%.1f %.1fh6m-3 -3v6\"/>",
                     s->style % PLOT_COLOURS, x - 3, y);
            last = y;
        }
    }
    free(v);
}

void plot_draw_boxes(plot_text *out, const plot_panel *p) {
    const plot_chart *c = p->chart;
    double slot = p->width / c->nseries;
    plot_frame(out, p, false);
    for (int i = 0; i < c->nseries; i++) {
        double x = p->left + slot * (i + 0.5);
        box(out, p, &c->series[i], x, fmin(0.3 * slot, 26));
        name_below(out, p, x, c->series[i].name, slot);
    }
}
