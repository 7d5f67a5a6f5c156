// SPDX-License-Identifier: MIT
// Scales, ticks, grid, styles.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "svg.h"

// Okabe and Ito's colours without yellow, which no one sees on white; lighter ones on dark ground.
const char plot_style[] =
    ":root{--ink:#1c2127;--soft:#59636e;--grid:#dfe3e8;--paper:#fff;--panel:#f6f7f9;"
    "--good:#00734f;--partly:#8a5a00;--bad:#a63c00;"
    "--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#b0558c;--c4:#c78500;--c5:#2f9fe0;--c6:#1c2127;--"
    "m1:#c6cbd2;--m2:#69717c}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6e9ed;--soft:#a2acb7;--grid:#343b44;"
    "--paper:#14181d;--panel:#1c2229;--good:#4fd1a5;--partly:#f0b94a;--bad:#ff9466;"
    "--c0:#4aa8e8;--c1:#ff8740;--c2:#2fc79b;--c3:#e39ac4;--c4:#f0b030;--c5:#9ad4f7;--c6:#e6e9ed;"
    "--m1:#4a535e;--m2:#939daa}}\n"
    "@media print{:root{--ink:#000;--soft:#333;--grid:#ccc;--paper:#fff;--panel:#fff;"
    "--good:#005c3f;--partly:#6e4800;--bad:#8a3200;"
    "--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#b0558c;--c4:#c78500;--c5:#2f9fe0;--c6:#000;"
    "--m1:#c6cbd2;--m2:#69717c}}\n"
    ".plot text{font:12px system-ui,sans-serif;fill:var(--ink)}"
    ".plot .tick{font-size:11px;fill:var(--soft)}.plot .head{font-weight:600}"
    ".plot .grid{stroke:var(--grid);stroke-width:1}"
    ".plot .edge{stroke:var(--soft);stroke-width:1;fill:none}"
    ".plot .line{fill:none;stroke-width:1.6;stroke-linejoin:round}"
    ".plot .m0{fill:var(--paper)}.plot .m1{fill:var(--m1)}.plot .m2{fill:var(--m2)}"
    ".plot .m3{fill:var(--c1)}"
    ".plot .level{fill:none;stroke:#0072b2;stroke-width:.9;opacity:.8}\n";

static const char *const dashes[] = {"", "7 3", "2 3", "9 3 2 3", "5 2 1 2 1 2"};

void plot_stroke(plot_text *out, int style) {
    if (style < 0) {
        plot_raw(out, " stroke=\"var(--soft)\" stroke-dasharray=\"1 4\"");
        return;
    }
    const char *dash = dashes[style % 5];
    plot_add(out, " stroke=\"var(--c%d)\"", style % PLOT_COLOURS);
    if (dash[0] != '\0') plot_add(out, " stroke-dasharray=\"%s\"", dash);
}

void plot_marker(plot_text *out, int style, double x, double y) {
    char colour[16] = "var(--soft)";
    const double s = 3.2;
    if (style >= 0) (void)snprintf(colour, sizeof colour, "var(--c%d)", style % PLOT_COLOURS);
    switch (style < 0 ? 0 : style % 6) {
    case 0:
        plot_add(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\"/>", x, y, s - 0.4,
                 colour);
        break;
    case 1:
        plot_add(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>",
                 x - s + 0.5, y - s + 0.5, 2 * s - 1, 2 * s - 1, colour);
        break;
    case 2:
        plot_add(out, "<path d=\"M%.1f %.1fl%.1f %.1fh%.1fz\" fill=\"%s\"/>", x, y - s - 0.5,
                 s + 0.3, 2 * s, -2 * s - 0.6, colour);
        break;
    case 3:
        plot_add(out, "<path d=\"M%.1f %.1fl%.1f %.1fl%.1f %.1fl%.1f %.1fz\" fill=\"%s\"/>", x,
                 y - s - 0.6, s + 0.4, s + 0.6, -s - 0.4, s + 0.6, -s - 0.4, -s - 0.6, colour);
        break;
    case 4:
        plot_add(out,
                 "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"var(--paper)\" stroke=\"%s\" "
                 "stroke-width=\"1.5\"/>",
                 x, y, s - 0.6, colour);
        break;
    default:
        plot_add(out,
                 "<path d=\"M%.1f %.1fl%.1f %.1fm0 %.1fl%.1f %.1f\" stroke=\"%s\" "
                 "stroke-width=\"1.6\" fill=\"none\"/>",
                 x - s, y - s, 2 * s, 2 * s, -2 * s, -2 * s, 2 * s, colour);
    }
}

double plot_along(const plot_axis *axis, double low, double high, double value) {
    if (axis->log) value = value > 0 ? log10(value) : NAN;
    return (value - low) / (high - low);
}

double plot_px(const plot_panel *p, double x) {
    return p->left + p->width * plot_along(&p->chart->x, p->x0, p->x1, x);
}

double plot_py(const plot_panel *p, double y) {
    return p->top + p->height * (1 - plot_along(&p->chart->y, p->y0, p->y1, y));
}

void plot_number(plot_text *out, double value) {
    char text[32];
    if (fabs(value) < 1e-12) value = 0;
    (void)snprintf(text, sizeof text, "%.4g", fabs(value));
    // thousands without an exponent up to a million
    if (fabs(value) >= 1e4 && fabs(value) < 1e6)
        (void)snprintf(text, sizeof text, "%.0f", fabs(value));
    plot_raw(out, value < 0 ? "\xE2\x88\x92" : "");
    plot_raw(out, text);
}

// One tick: its grid line and its number.
static void tick(plot_text *out, const plot_panel *p, bool along_x, double at, double value,
                 bool power, bool number) {
    double right = p->left + p->width, bottom = p->top + p->height;
    if (along_x) {
        double x = p->left + p->width * at;
        plot_add(out, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>", x, p->top, bottom);
        if (!number) return;
        plot_add(out, "<text class=\"tick\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">", x,
                 bottom + 15);
    } else {
        double y = bottom - p->height * at;
        plot_add(out, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>", p->left, y, right);
        if (!number) return;
        plot_add(out, "<text class=\"tick\" text-anchor=\"end\" x=\"%.1f\" y=\"%.1f\">",
                 p->left - 6, y + 4);
    }
    if (power) {
        plot_raw(out, "10<tspan dy=\"-4\" font-size=\"8.5\">");
        plot_number(out, log10(value));
        plot_raw(out, "</tspan>");
    } else {
        plot_number(out, value);
    }
    plot_raw(out, "</text>");
}

static void ticks(plot_text *out, const plot_panel *p, bool along_x) {
    const plot_axis *axis = along_x ? &p->chart->x : &p->chart->y;
    double low = along_x ? p->x0 : p->y0, high = along_x ? p->x1 : p->y1, range = high - low;
    double room = along_x ? p->width / 56 : p->height / 30;
    if (axis->log && range > 1.01) {
        int every = (int)ceil(range / room);
        if (every < 1) every = 1;
        for (int e = (int)ceil(low - 1e-9); e <= high + 1e-9; e++)
            tick(out, p, along_x, (e - low) / range, pow(10, e), true, e % every == 0);
        return;
    }
    if (axis->log) {
        static const double parts[] = {1, 1.5, 2, 3, 5, 7};
        for (int e = (int)floor(low); e <= (int)ceil(high); e++)
            for (int i = 0; i < 6; i++) {
                double at = e + log10(parts[i]);
                if (at < low - 1e-9 || at > high + 1e-9) continue;
                tick(out, p, along_x, (at - low) / range, pow(10, at), false, true);
            }
        return;
    }
    // 1, 2 or 5 times a power of ten, at most `room` of them; a full turn by quarters
    static const double nice[] = {1, 2, 5, 10};
    double power = pow(10, floor(log10(range / room))), step = power;
    for (int i = 0; i < 4 && range / step > room; i++) step = nice[i] * power;
    if (fabs(range - 365) < 15) step = 90;
    double v = step * ceil(low / step - 1e-9);
    while (v <= high + 1e-9 * range) {
        tick(out, p, along_x, axis->down ? (high - v) / range : (v - low) / range, v, false, true);
        v += step;
    }
}

// Names of a map's rows; what is too long for the margin ends in dots.
static void row_names(plot_text *out, const plot_panel *p) {
    enum { MOST = 9 };
    const plot_chart *c = p->chart;
    double height = p->height / c->ny;
    for (int i = 0; i < c->ny; i++) {
        char name[MOST + 4];
        size_t n = strlen(c->rows[i]), kept = n <= MOST ? n : MOST - 1;
        // never a part of a letter
        while (kept < n && kept > 0 && ((unsigned char)c->rows[i][kept] & 0xc0) == 0x80) kept--;
        (void)snprintf(name, sizeof name, "%.*s%s", (int)kept, c->rows[i], kept < n ? ".." : "");
        plot_add(out,
                 "<text class=\"tick\" text-anchor=\"end\" font-size=\"10\" x=\"%.1f\" y=\"%.1f\">",
                 p->left - 4, p->top + height * (i + 0.5) + 3.5);
        plot_escaped(out, name);
        plot_raw(out, "</text>");
    }
}

void plot_frame(plot_text *out, const plot_panel *p, bool x_ticks) {
    double bottom = p->top + p->height, middle = p->left + p->width / 2;
    if (x_ticks) ticks(out, p, true);
    if (p->chart->rows != NULL)
        row_names(out, p);
    else
        ticks(out, p, false);
    plot_add(out, "<path class=\"edge\" d=\"M%.1f %.1fV%.1fH%.1f\"/>", p->left, p->top, bottom,
             p->left + p->width);
    if (p->chart->title != NULL) {
        plot_add(out, "<text class=\"head\" x=\"%.1f\" y=\"%.1f\">", p->left, p->top - 9);
        plot_escaped(out, p->chart->title);
        plot_raw(out, "</text>");
    }
    if (p->chart->x.label != NULL) {
        plot_add(out, "<text text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">", middle, bottom + 33);
        plot_escaped(out, p->chart->x.label);
        plot_raw(out, "</text>");
    }
    if (p->chart->y.label != NULL) {
        double y = p->top + p->height / 2, x = p->left - 46;
        plot_add(out,
                 "<text text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\" transform=\"rotate(-90 %.1f "
                 "%.1f)\">",
                 x, y, x, y);
        plot_escaped(out, p->chart->y.label);
        plot_raw(out, "</text>");
    }
}
