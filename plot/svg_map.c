// SPDX-License-Identifier: MIT
// Cells over a rectangle with level sets, and the same as a surface.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "svg.h"

static double range_of(const plot_chart *c, double *low) {
    double high = -INFINITY;
    *low = INFINITY;
    for (int i = 0; i < c->nx * c->ny && c->value != NULL; i++) {
        if (!isfinite(c->value[i])) continue;
        *low = fmin(*low, c->value[i]);
        high = fmax(high, c->value[i]);
    }
    return high > *low ? high - *low : 1;
}

// From dark blue over grey to yellow (after cividis): even in brightness, safe for the colour-blind.
static void ramp(double t, char colour[16]) {
    static const double stops[5][3] = {
        {0, 34, 78}, {65, 77, 107}, {124, 123, 120}, {188, 175, 111}, {254, 232, 56}};
    t = fmin(fmax(t, 0), 1) * 4;
    int i = t >= 4 ? 3 : (int)t;
    int rgb[3];
    for (int k = 0; k < 3; k++)
        rgb[k] = (int)(stops[i][k] + (t - i) * (stops[i + 1][k] - stops[i][k]));
    (void)snprintf(colour, 16, "#%02x%02x%02x", (unsigned)rgb[0] & 255u, (unsigned)rgb[1] & 255u,
                   (unsigned)rgb[2] & 255u);
}

// What colours cell i: class="m1" or fill="#..."
static void fill_of(plot_text *out, const plot_chart *c, int i, double low, double range) {
    char colour[16];
    if (c->category != NULL) {
        plot_add(out, " class=\"m%d\"", c->category[i] % 4);
        return;
    }
    ramp((c->value[i] - low) / range, colour);
    plot_add(out, " fill=\"%s\"", colour);
}

// Where two neighbours of a square cross a level.
static bool crossing(double a, double b, double level, double *t) {
    if ((a < level) == (b < level)) return false;
    *t = (level - a) / (b - a);
    return true;
}

// Level sets by marching squares, between the centres of cells.
static void level_set(plot_text *out, const plot_panel *p, double level) {
    const plot_chart *c = p->chart;
    double dx = p->width / c->nx, dy = p->height / c->ny;
    plot_raw(out, "<path class=\"level\" d=\"");
    for (int j = 0; j + 1 < c->ny; j++)
        for (int i = 0; i + 1 < c->nx; i++) {
            const double *v = c->value + i + c->nx * j;
            double x = p->left + dx * (i + 0.5), y = p->top + p->height - dy * (j + 0.5), t;
            double ends[4][2];
            int n = 0;
            if (crossing(v[0], v[1], level, &t)) ends[n][0] = x + t * dx, ends[n++][1] = y;
            if (crossing(v[1], v[1 + c->nx], level, &t))
                ends[n][0] = x + dx, ends[n++][1] = y - t * dy;
            if (crossing(v[c->nx], v[1 + c->nx], level, &t))
                ends[n][0] = x + t * dx, ends[n++][1] = y - dy;
            if (crossing(v[0], v[c->nx], level, &t)) ends[n][0] = x, ends[n++][1] = y - t * dy;
            for (int k = 0; k + 1 < n; k += 2)
                plot_add(out, "M%.1f %.1fL%.1f %.1f", ends[k][0], ends[k][1], ends[k + 1][0],
                         ends[k + 1][1]);
        }
    plot_raw(out, "\"/>");
}

void plot_draw_map(plot_text *out, const plot_panel *p) {
    const plot_chart *c = p->chart;
    double dx = p->width / c->nx, dy = p->height / c->ny, low, range = range_of(c, &low);
    plot_raw(out, "<g shape-rendering=\"crispEdges\">");
    for (int j = 0; j < c->ny; j++)
        for (int i = 0, end; i < c->nx; i = end) {
            // runs of one category are one rectangle
            for (end = i + 1; end < c->nx && c->category != NULL; end++)
                if (c->category[end + c->nx * j] != c->category[i + c->nx * j]) break;
            plot_add(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"",
                     p->left + dx * i, p->top + p->height - dy * (j + 1), dx * (end - i) + 0.2,
                     dy + 0.2);
            fill_of(out, c, i + c->nx * j, low, range);
            plot_raw(out, "/>");
        }
    plot_raw(out, "</g>");
    for (int i = 0; i < c->nlevel; i++) level_set(out, p, c->levels[i]);
    plot_frame(out, p, true);
}

// A point of the surface on the screen: seen from the front, a little from the right and from above.
static void project(const plot_panel *p, double u, double v, double height, double *x, double *y) {
    double a = u - 0.5, b = v - 0.5;
    *x = p->left + p->width * (0.5 + 0.62 * a + 0.34 * b);
    *y = p->top + p->height * (0.73 + 0.16 * a - 0.27 * b - 0.5 * height);
}

// The edge in front, with the axes' names.
static void ground(plot_text *out, const plot_panel *p) {
    double x[4], y[4];
    for (int i = 0; i < 4; i++)
        project(p, i == 1 || i == 2 ? 1 : 0, i >= 2 ? 1 : 0, 0, &x[i], &y[i]);
    plot_add(out, "<path class=\"edge\" d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fL%.1f %.1fz\"/>", x[0],
             y[0], x[1], y[1], x[2], y[2], x[3], y[3]);
    plot_add(out, "<text class=\"tick\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">",
             (x[0] + x[1]) / 2 - 26, (y[0] + y[1]) / 2 + 24);
    plot_escaped(out, p->chart->x.label);
    plot_add(out, "</text><text class=\"tick\" x=\"%.1f\" y=\"%.1f\">", (x[1] + x[2]) / 2 + 8,
             (y[1] + y[2]) / 2 + 14);
    plot_escaped(out, p->chart->y.label);
    plot_raw(out, "</text>");
    if (p->chart->title != NULL) {
        plot_add(out, "<text class=\"head\" x=\"%.1f\" y=\"%.1f\">", p->left, p->top - 9);
        plot_escaped(out, p->chart->title);
        plot_raw(out, "</text>");
    }
}

void plot_draw_surface(plot_text *out, const plot_panel *p) {
    const plot_chart *c = p->chart;
    double low, range = range_of(c, &low);
    ground(out, p);
    plot_raw(out, "<g stroke=\"#59636e\" stroke-width=\".35\" stroke-linejoin=\"round\">");
    // from the back to the front: what is nearer covers what is behind
    for (int j = c->ny - 2; j >= 0; j--)
        for (int i = 0; i + 1 < c->nx; i++) {
            plot_raw(out, "<path d=\"");
            for (int k = 0; k < 4; k++) {
                int a = i + (k == 1 || k == 2), b = j + (k >= 2);
                double x, y;
                project(p, (double)a / (c->nx - 1), (double)b / (c->ny - 1),
                        (c->value[a + c->nx * b] - low) / range, &x, &y);
                plot_add(out, "%s%.1f %.1f", k == 0 ? "M" : "L", x, y);
            }
            plot_raw(out, "z\"");
            fill_of(out, c, i + c->nx * j, low, range);
            plot_raw(out, "/>");
        }
    plot_raw(out, "</g>");
    if (c->value_label != NULL) {
        double x0, y0, x1, y1;
        project(p, 0, 0, 0, &x0, &y0);
        project(p, 0, 0, 1, &x1, &y1);
        plot_add(out, "<path class=\"edge\" d=\"M%.1f %.1fV%.1f\"/>", x0, y0, y1);
        plot_add(out, "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\">", p->left, p->top + 5);
        plot_escaped(out, c->value_label);
        plot_raw(out, ", ");
        plot_number(out, low);
        plot_raw(out, " to ");
        plot_number(out, low + range);
        plot_raw(out, "</text>");
    }
}
