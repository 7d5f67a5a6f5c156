// SPDX-License-Identifier: MIT
// The report about joints: limits, angles, and the work they took.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fit_parts.h"

// In how many frames each degree of freedom of a table stands at its limit. Only coordinates that are
// plain numbers have limits, and for those nq and nv run side by side inside a joint.
void report_limits(plot_text *out, const fit_story *r) {
    static const char *const heads[] = {"joint", " degree of freedom", " frames at the lower",
                                        " at the upper"};
    const sn_model *m = r->model;
    const double *lower = sn_model_lower(m), *upper = sn_model_upper(m);
    page_section(out, "limits", "Limits");
    const sn_limit_use limits = r->summary->limits;
    if (limits != SN_LIMITS_HARD) {
        page_paragraph(out, limits == SN_LIMITS_OFF
                                ? "Joint limits were off (<code>--limits hard</code> holds them)."
                                : "Joint limits were soft: they pull, but can be passed.");
        return;
    }
    page_table_begin(out, "Degrees of freedom that stood at a limit.", heads, 4);
    int rows = 0;
    for (int j = 0; j < sn_model_njoint(m); j++) {
        int v = sn_model_v_index(m, j), q = sn_model_q_index(m, j),
            end = v + sn_model_joint_nv(m, j);
        for (int i = v; i < end; i++) {
            int low = 0, high = 0;
            char text[3][32];
            for (int f = 0; f < r->summary->count; f++) {
                double x = sn_motion_frame(r->motion, f)[q + i - v];
                low += x <= lower[i];
                high += x >= upper[i];
            }
            if (low + high == 0) continue;
            (void)snprintf(text[0], 32, "%d", i - v + 1);
            (void)snprintf(text[1], 32, "%d", low);
            (void)snprintf(text[2], 32, "%d", high);
            const char *cells[] = {sn_model_joint(m, j)->name, text[0], text[1], text[2]};
            page_table_row(out, cells, 4);
            rows++;
        }
    }
    page_table_end(out);
    if (rows == 0) page_paragraph(out, "No limit was touched.");
}

void report_work(plot_text *out, const fit_story *r) {
    enum { BINS = 13 };
    static const char *const names[BINS] = {"0", "1", "2", "3",     "4",     "5",    "6",
                                            "7", "8", "9", "10-19", "20-49", "50 up"};
    double count[BINS] = {0};
    long stops[SN_STOP_COUNT] = {0};
    for (int f = 0; f < r->summary->count; f++) {
        int n = r->frames[f].iterations;
        count[n < 10 ? n : n < 20 ? 10 : n < 50 ? 11 : 12]++;
        stops[r->frames[f].stop]++;
    }
    plot_series bars[] = {{.name = "frames", .style = 3, .n = BINS, .y = count}};
    plot_chart chart = {.kind = PLOT_BARS,
                        .title = "Iterations of a frame",
                        .x = {.label = "iterations"},
                        .y = {.label = "frames"},
                        .series = bars,
                        .nseries = 1,
                        .groups = names,
                        .ngroup = BINS};
    plot_figure chart_row = {.title = "How many iterations the frames took",
                             .charts = &chart,
                             .nchart = 1,
                             .columns = 1,
                             .width = 700,
                             .height = 240};
    const sn_fit_summary *s = &r->summary->fit;
    page_section(out, "work", "Work of the solver");
    page_figure(out, &chart_row, "Tries of a frame from other poses are counted with it.");
    plot_raw(out, "<div class=\"wide\"><table><tbody>\n");
    report_row(out, "evaluations of f alone", "%ld", s->functions);
    report_row(out, "of f and its gradient", "%ld", s->gradients);
    report_row(out, "of f, gradient and Hessian", "%ld", s->hessians);
    report_row(out, "factorisations", "%ld", s->factorizations);
    for (int i = 0; i < SN_STOP_COUNT; i++)
        if (stops[i] > 0)
            report_row(out, sn_stop_text((sn_stop)i), "%ld frame%s", stops[i],
                       stops[i] == 1 ? "" : "s");
    plot_raw(out, "</tbody></table></div>\n");
}

// What an angle is to a body (flexion ...), where that is known; else its place in the joint.
static const char *term_of(const fit_story *r, int joint, int dof, const char *place,
                           char out[24]) {
    const char *term = sn_take_angle_term(r->take, joint, dof);
    (void)snprintf(out, 24, "%s", term[0] != '\0' ? term : place);
    return out;
}

// A word looks the same in all charts; what has none gets what is left.
static int style_of(const char *term) {
    static const char *const words[] = {"flexion", "abduction", "rotation", "side bending"};
    for (int i = 0; i < 4; i++)
        if (strcmp(term, words[i]) == 0) return i;
    return -1;
}

static void choose_styles(plot_series *series, int count) {
    for (int i = 0; i < count; i++) series[i].style = style_of(series[i].name);
    for (int i = 0; i < count; i++)
        for (int style = 0; series[i].style < 0; style++) {
            bool taken = false;
            for (int k = 0; k < count; k++) taken = taken || series[k].style == style;
            if (!taken) series[i].style = style;
        }
}

void report_angles(plot_text *out, const fit_story *r) {
    static const char *const names[SN_MAX_JOINT_DOFS] = {"first",  "second", "third",
                                                         "fourth", "fifth",  "sixth"};
    sn_table *table = NULL;
    page_section(out, "angles", "Joint angles");
    if (sn_table_from_motion(r->model, r->motion, NULL, &table, NULL) != SN_OK) return;
    int n = r->summary->count, ncolumn = sn_table_about(table)->ncolumn,
        njoint = sn_model_njoint(r->model);
    double *x = report_room(out, (size_t)n, sizeof *x);
    double *y = report_room(out, (size_t)n * (size_t)ncolumn, sizeof *y);
    plot_series *series = report_room(out, (size_t)ncolumn, sizeof *series);
    plot_chart *charts = report_room(out, (size_t)ncolumn, sizeof *charts);
    char(*terms)[24] = report_room(out, (size_t)ncolumn, sizeof *terms);
    for (int f = 0; f < n && !out->failed; f++) {
        x[f] = frame_time(r, f);
        for (int c = 0; c < ncolumn; c++)
            y[(size_t)c * (size_t)n + (size_t)f] = sn_table_row(table, f)[c];
    }
    int ncharts = 0;
    bool cut = false;
    for (int j = 0; j < njoint && !out->failed; j++) {
        // the first column is the time
        int begin = 1 + sn_model_v_index(r->model, j), end = begin + sn_model_joint_nv(r->model, j);
        for (int from = begin, to; from < end; from = to) {
            bool length = sn_model_is_length(r->model, j, from - begin);
            for (to = from; to < end && sn_model_is_length(r->model, j, to - begin) == length; to++)
                series[to] =
                    (plot_series){.name = term_of(r, j, to - begin, names[to - from], terms[to]),
                                  .n = n,
                                  .x = x,
                                  .y = y + (size_t)to * (size_t)n,
                                  .plain = true};
            choose_styles(series + from, to - from);
            charts[ncharts++] =
                (plot_chart){.title = sn_model_joint(r->model, j)->name,
                             .x = {.label = sn_motion_rate(r->motion) > 0 ? "time, s" : "frame"},
                             .y = {.label = length ? "place, m" : "angle, degrees"},
                             .series = series + from,
                             .nseries = to - from};
            robust_axis(out, &charts[ncharts - 1].y, series + from, to - from, &cut);
        }
    }
    if (ncharts == 0) page_paragraph(out, "The model has no degrees of freedom.");
    // as many in a figure as stand on a sheet of paper below a heading
    enum { ON_A_SHEET = 18 };
    for (int from = 0; from < ncharts && !out->failed; from += ON_A_SHEET) {
        int left = ncharts - from;
        plot_figure chart_row = {.title = "Joint angles over time",
                                 .charts = charts + from,
                                 .nchart = left < ON_A_SHEET ? left : ON_A_SHEET,
                                 .columns = 3,
                                 .width = 340,
                                 .height = 190};
        page_figure(
            out, &chart_row,
            left > ON_A_SHEET ? ""
            : cut ? "Angles by what they are to a body where that is known, else in the order "
                    "of the model: first, second, third. Rotations of free joints and balls "
                    "are rotation vectors in degrees. Some short peaks go beyond their charts."
                  : "Angles by what they are to a body where that is known, else in the order "
                    "of the model: first, second, third. Rotations of free joints and balls "
                    "are rotation vectors in degrees.");
    }
    sn_table_destroy(table);
    free(x);
    free(y);
    free(terms);
    free(series);
    free(charts);
}
