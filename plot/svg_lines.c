// SPDX-License-Identifier: MIT
// Lines and points. A line of more points than pixels becomes the least and the greatest of each
// pixel column, so that no peak is lost and the file stays small.
#include <math.h>

#include "svg.h"

static bool inside(const plot_panel *p, double x, double y) {
    return isfinite(x) && isfinite(y) && x >= p->left - 0.5 && x <= p->left + p->width + 0.5;
}

static double held(const plot_panel *p, double y) {
    return fmin(fmax(y, p->top), p->top + p->height);
}

static void whole_line(plot_text *out, const plot_panel *p, const plot_series *s) {
    bool pen = false;
    for (int i = 0; i < s->n; i++) {
        double x = plot_px(p, s->x[i]), y = plot_py(p, s->y[i]);
        bool good = inside(p, x, y);
        if (good) plot_add(out, "%s%.1f %.1f", pen ? "L" : "M", x, held(p, y));
        pen = good;
    }
}

static void thinned_line(plot_text *out, const plot_panel *p, const plot_series *s) {
    bool pen = false;
    for (int i = 0; i < s->n;) {
        double x = plot_px(p, s->x[i]), least = INFINITY, most = -INFINITY, column = floor(x);
        int j = i;
        for (; j < s->n && floor(plot_px(p, s->x[j])) == column; j++) {
            double y = plot_py(p, s->y[j]);
            if (!isfinite(y)) continue;
            least = fmin(least, y);
            most = fmax(most, y);
        }
        if (j == i) j = i + 1;
        bool good = inside(p, x, least);
        if (good)
            plot_add(out, "%s%.1f %.1fV%.1f", pen ? "L" : "M", column, held(p, most),
                     held(p, least));
        pen = good;
        i = j;
    }
}

static void markers(plot_text *out, const plot_panel *p, const plot_series *s) {
    int every = s->points || s->n <= 14 ? 1 : s->n / 10;
    for (int i = 0; i < s->n; i += every) {
        double x = plot_px(p, s->x[i]), y = plot_py(p, s->y[i]);
        if (inside(p, x, y)) plot_marker(out, s->style, x, held(p, y));
    }
}

void plot_draw_lines(plot_text *out, const plot_panel *p) {
    plot_frame(out, p, true);
    for (int i = 0; i < p->chart->nseries; i++) {
        const plot_series *s = &p->chart->series[i];
        if (!s->points) {
            plot_raw(out, "<path class=\"line\"");
            plot_stroke(out, s->style);
            plot_raw(out, " d=\"");
            if (s->n > 3 * (int)p->width)
                thinned_line(out, p, s);
            else
                whole_line(out, p, s);
            plot_raw(out, "\"/>");
        }
        if (!s->plain) markers(out, p, s);
    }
}
