// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L
// The report of a fit: one HTML file, charts as inline SVG, nothing fetched.
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fit_take.h"
#include "output.h"
#include "plot.h"
#include "take_page.h"

static double frame_time(const fit_result *r, int f) {
    double rate = sn_motion_rate(r->motion);
    return rate > 0 ? f / rate : f + sn_motion_first_frame(r->motion);
}

static const char *time_label(const fit_result *r) {
    return sn_motion_rate(r->motion) > 0 ? "time from the first frame fitted, s" : "frame";
}

// --- summary -----------------------------------------------------------------------------------------------

static void row(plot_text *out, const char *what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void row(plot_text *out, const char *what, const char *format, ...) {
    char value[1200];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    plot_raw(out, "<tr><th scope=\"row\">");
    plot_escaped(out, what);
    plot_raw(out, "</th><td>");
    plot_escaped(out, value);
    plot_raw(out, "</td></tr>\n");
}

static const char *known_text(sn_known known) {
    return known == SN_KNOWN_FORCED ? "as you said" : known == SN_KNOWN_STATED ? "stated" : known == SN_KNOWN_FOUND ? "found from the markers" : "assumed";
}

// A path as the address of a link.
static void address(plot_text *out, const char *path) {
    for (; *path != '\0'; path++) {
        unsigned char c = (unsigned char)*path;
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || strchr("0123456789/._-~", c) != NULL;
        char text[4] = {(char)c, '\0', '\0', '\0'};
        if (!plain) (void)snprintf(text, sizeof text, "%%%02X", c);
        plot_raw(out, text);
    }
}

static size_t folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

// Where the take plays: a page of the same run, or how to get one.
static void player(plot_text *out, const char *report, const fit_settings *s) {
    const char *page = NULL;
    for (int i = 0; i < s->outputs.count; i++)
        if (is_page_name(s->outputs.word[i])) page = s->outputs.word[i];
    if (page == NULL) {
        row(out, "see it move", "fit again with -o NAME.html as well: that page plays the take with its markers");
        return;
    }
    size_t folder = folder_length(page);
    bool beside = folder == folder_length(report) && memcmp(page, report, folder) == 0;
    char here[4096] = "";
    plot_raw(out, "<tr><th scope=\"row\">see it move</th><td><a href=\"");
    if (beside) {
        // a colon in the name is no scheme
        plot_raw(out, "./");
        address(out, page + folder);
    } else {
        plot_raw(out, "file://");
        if (page[0] != '/' && getcwd(here, sizeof here) != NULL) {
            address(out, here);
            plot_raw(out, "/");
        }
        address(out, page);
    }
    plot_raw(out, "\">");
    plot_escaped(out, page + folder);
    plot_raw(out, "</a> plays the take with its markers</td></tr>\n");
}

static void summary(plot_text *out, const char *path, const fit_result *r) {
    const sn_fit_summary *s = &r->summary;
    const fit_settings *set = r->settings;
    char map[8];
    int first = sn_motion_first_frame(r->motion);
    sn_axis_map_print(&r->axes.map, map);
    page_section(out, "summary", "Summary");
    plot_raw(out, "<div class=\"wide\"><table><tbody>\n");
    player(out, path, set);
    row(out, "skeleton", "%s: %d joints, %d degrees of freedom", set->model, sn_model_njoint(r->model),
        sn_model_nv(r->model));
    row(out, "recording", "%s: frames %d to %d%s", set->input, first, first + r->input.count - 1,
        sn_motion_rate(r->motion) > 0 ? "" : ", rate not known");
    if (sn_motion_rate(r->motion) > 0)
        row(out, "rate", "%g frames/s, %.2f s", sn_motion_rate(r->motion),
            r->input.count / sn_motion_rate(r->motion));
    row(out, "markers", "%d of the recording's %d labels; set: %s", r->matched, r->nlabel,
        sn_marker_set_name(r->set));
    row(out, "units", "the recording is in %s (%s); everything here is in metres, centimetres, degrees",
        r->unit_text, known_text(r->axes.unit_known));
    row(out, "axes", "up is the recording's %s%c (%s) and the model's %s%c; the model's x y z are the "
                     "recording's %s",
        r->axes.up_sign < 0 ? "-" : "+", "xyz"[r->axes.up], known_text(r->axes.up_known),
        r->figure.up_sign < 0 ? "-" : "+", "xyz"[r->figure.up], map);
    row(out, "marker error", "RMS %.3f cm, mean %.3f cm, worst %.2f cm", 100 * s->rms, 100 * s->mean,
        100 * s->worst);
    if (r->settings->truth != NULL)
        row(out, "joint angles", "off the known motion by %.2f degrees (median), %.2f (RMS), 95 %% below %.2f",
            r->truth_median, r->truth_rms, r->truth_95);
    if (r->calibrated)
        row(out, "calibration", "%s from %d frames, RMS %.2f cm before, %.2f cm after",
            r->reshaped ? "marker offsets and bone lengths" : "marker offsets", r->calibration.frames,
            100 * r->calibration.rms_before, 100 * r->calibration.rms);
    row(out, "gaps", "%ld of %ld samples missing (%.1f %%)", s->missing, s->missing + s->samples,
        100.0 * (double)s->missing / fmax(1, (double)(s->missing + s->samples)));
    row(out, "frames held for want of markers", "%d", s->held);
    row(out, "frames tried again", "%d", s->restarted);
    row(out, "frames moved to a lower valley", "%d", s->moved);
    if (isfinite(r->plan->max_error))
        row(out, "frames above the limit", "%d of %d above %g cm", r->above, r->input.count,
            100 * r->plan->max_error);
    // no times: the same take gives the same bytes
    row(out, "solver", "%s, %.2f iterations a frame", sn_method_name(r->plan->fit.track.solver.method),
        s->iterations);
    for (int i = 0; i < r->nnote; i++) row(out, "note", "%s", r->notes[i]);
    plot_raw(out, "</tbody></table></div>\n");
}

// --- error ---------------------------------------------------------------------------------------------------

static void error_over_time(plot_text *out, const fit_result *r) {
    int n = r->input.count;
    double *x = must_alloc((size_t)n, sizeof *x), *rms = must_alloc((size_t)n, sizeof *rms),
           *worst = must_alloc((size_t)n, sizeof *worst), *seen = must_alloc((size_t)n, sizeof *seen);
    for (int f = 0; f < n; f++) {
        x[f] = frame_time(r, f);
        rms[f] = r->frames[f].markers > 0 ? 100 * (double)r->frames[f].rms : NAN;
        worst[f] = r->frames[f].markers > 0 ? 100 * (double)r->frames[f].worst : NAN;
        seen[f] = r->frames[f].markers;
    }
    plot_series errors[] = {{.name = "worst marker", .style = 1, .n = n, .x = x, .y = worst, .plain = true},
                            {.name = "RMS over the markers", .n = n, .x = x, .y = rms, .plain = true}};
    plot_series visible[] = {{.name = "markers seen", .style = 2, .n = n, .x = x, .y = seen, .plain = true}};
    plot_chart error = {.title = "Distance between measured and fitted markers",
                        .x = {.label = time_label(r)},
                        .y = {.label = "error, cm"},
                        .series = errors,
                        .nseries = 2};
    plot_chart count = {.title = "Markers seen",
                        .x = {.label = time_label(r)},
                        .y = {.label = "markers", .low = 0, .high = r->matched + 1},
                        .series = visible,
                        .nseries = 1};
    plot_figure wide = {.title = "Marker error over time", .charts = &error, .nchart = 1, .columns = 1,
                        .width = 1040, .height = 300};
    plot_figure low = {.title = "Markers seen over time", .charts = &count, .nchart = 1, .columns = 1,
                       .width = 1040, .height = 160};
    page_section(out, "error", "Error over time");
    page_figure(out, &wide, "Root mean square over the markers seen, and the worst of them, per frame.");
    page_figure(out, &low, "How many of the matched markers each frame has.");
    free(x);
    free(rms);
    free(worst);
    free(seen);
}

static void marker_table(plot_text *out, const fit_result *r) {
    static const char *const heads[] = {"marker", "joint", " RMS, cm", " mean, cm", " worst, cm",
                                        " worst frame", " seen, %"};
    int n = sn_model_nmarker(r->model), first = sn_motion_first_frame(r->motion);
    page_table_begin(out, "Each marker over the whole take.", heads, 7);
    for (int i = 0; i < n; i++) {
        const sn_fit_marker *m = &r->markers[i];
        const sn_marker_desc *d = sn_model_marker(r->model, i);
        char text[5][32];
        if (m->seen == 0) {
            const char *none[] = {d->name, sn_model_joint(r->model, d->joint)->name, "never seen", "", "", "", "0.0"};
            page_table_row(out, none, 7);
            continue;
        }
        (void)snprintf(text[0], 32, "%.3f", 100 * m->rms);
        (void)snprintf(text[1], 32, "%.3f", 100 * m->mean);
        (void)snprintf(text[2], 32, "%.2f", 100 * m->worst);
        (void)snprintf(text[3], 32, "%d", m->worst_frame + first);
        (void)snprintf(text[4], 32, "%.1f", 100.0 * m->seen / r->input.count);
        const char *cells[] = {d->name, sn_model_joint(r->model, d->joint)->name, text[0], text[1], text[2],
                               text[3], text[4]};
        page_table_row(out, cells, 7);
    }
    page_table_end(out);
}

// Which stretches of the take each marker is missing in; only when some are.
static void gap_map(plot_text *out, const fit_result *r) {
    static const char *const kinds[] = {"seen", "partly missing", "missing"};
    enum { ACROSS = 520 };
    int n = sn_model_nmarker(r->model), across = r->input.count < ACROSS ? r->input.count : ACROSS;
    if (r->summary.missing == 0 || n == 0) return;
    unsigned char *cell = must_alloc((size_t)across * (size_t)n, 1);
    for (int i = 0; i < n; i++)
        for (int b = 0; b < across; b++) {
            int from = (int)((long)r->input.count * b / across), gone = 0;
            int to = (int)((long)r->input.count * (b + 1) / across);
            for (int f = from; f < to; f++)
                gone += r->column[i] < 0 ||
                        !sn_recording_present(r->recording, r->input.first + f, r->column[i]);
            cell[(size_t)i * (size_t)across + (size_t)b] =
                (unsigned char)(gone == 0 ? 0 : gone < to - from ? 1 : 2);
        }
    plot_chart chart = {.kind = PLOT_MAP,
                        .title = "Gaps",
                        .x = {time_label(r), false, frame_time(r, 0), frame_time(r, r->input.count)},
                        .y = {"marker, by its row in the table", false, 0.5, n + 0.5},
                        .nx = across,
                        .ny = n,
                        .category = cell,
                        .categories = kinds,
                        .ncategory = 3};
    plot_figure chart_row = {.title = "Which markers are missing when", .charts = &chart, .nchart = 1,
                          .columns = 1, .width = 1040, .height = 340};
    page_figure(out, &chart_row, "Where samples are missing. A missing marker drops out of its frame.");
    free(cell);
}

static void markers(plot_text *out, const fit_result *r) {
    int n = sn_model_nmarker(r->model);
    double *rms = must_alloc((size_t)n, sizeof *rms);
    const char **names = must_alloc((size_t)n, sizeof *names);
    for (int i = 0; i < n; i++) {
        rms[i] = 100 * r->markers[i].rms;
        names[i] = sn_model_marker(r->model, i)->name;
    }
    plot_series bars[] = {{.name = "RMS error", .n = n, .y = rms}};
    plot_chart chart = {.kind = PLOT_BARS,
                        .title = "Error of each marker",
                        .y = {.label = "RMS error, cm"},
                        .series = bars,
                        .nseries = 1,
                        .groups = names,
                        .ngroup = n};
    plot_figure chart_row = {.title = "Error of each marker", .charts = &chart, .nchart = 1, .columns = 1,
                          .width = 1040, .height = 300};
    page_section(out, "markers", "Markers");
    page_figure(out, &chart_row, "A marker that stands out may sit on another bone than the set says.");
    gap_map(out, r);
    marker_table(out, r);
    free(rms);
    free(names);
}

// The ten worst frames that are a tenth of a second apart at least.
static void worst_frames(plot_text *out, const fit_result *r) {
    static const char *const heads[] = {" frame", " RMS, cm", " worst, cm", "worst marker", " markers seen",
                                        " iterations", "ended"};
    enum { MOST = 10 };
    int taken[MOST], n = 0, apart = (int)(sn_motion_rate(r->motion) / 10) + 1;
    page_section(out, "worst", "Worst frames");
    page_table_begin(out, "By RMS error; neighbours of a worse frame are left out.", heads, 7);
    while (n < MOST) {
        int best = -1;
        for (int f = 0; f < r->input.count; f++) {
            bool near = false;
            for (int k = 0; k < n; k++) near |= abs(taken[k] - f) < apart;
            if (!near && r->frames[f].markers > 0 && (best < 0 || r->frames[f].rms > r->frames[best].rms))
                best = f;
        }
        if (best < 0) break;
        taken[n++] = best;
        const sn_fit_frame *frame = &r->frames[best];
        char text[5][32];
        (void)snprintf(text[0], 32, "%d", best + sn_motion_first_frame(r->motion));
        (void)snprintf(text[1], 32, "%.3f", 100 * (double)frame->rms);
        (void)snprintf(text[2], 32, "%.2f", 100 * (double)frame->worst);
        (void)snprintf(text[3], 32, "%d", frame->markers);
        (void)snprintf(text[4], 32, "%d", frame->iterations);
        const char *cells[] = {text[0], text[1], text[2], sn_model_marker(r->model, frame->worst_marker)->name,
                               text[3], text[4], sn_stop_text((sn_stop)frame->stop)};
        page_table_row(out, cells, 7);
    }
    page_table_end(out);
}

// --- limits, work --------------------------------------------------------------------------------------------

static int dofs_of(const sn_model *model, int joint) {
    switch (sn_model_joint(model, joint)->type) {
        case SN_JOINT_FIXED: return 0;
        case SN_JOINT_HINGE:
        case SN_JOINT_SLIDER:
        case SN_JOINT_SCREW: return 1;
        case SN_JOINT_UNIVERSAL: return 2;
        case SN_JOINT_FREE: return 6;
        default: return 3;
    }
}

// In how many frames each degree of freedom of a table stands at its limit. Only coordinates that are
// plain numbers have limits, and for those nq and nv run side by side inside a joint.
static void limits_hit(plot_text *out, const fit_result *r) {
    static const char *const heads[] = {"joint", " degree of freedom", " frames at the lower", " at the upper"};
    const sn_model *m = r->model;
    const double *lower = sn_model_lower(m), *upper = sn_model_upper(m);
    page_section(out, "limits", "Limits");
    if (r->plan->fit.limits != SN_LIMITS_HARD) {
        page_paragraph(out, r->plan->fit.limits == SN_LIMITS_OFF
                                ? "Joint limits were off (<code>--limits hard</code> holds them)."
                                : "Joint limits were soft: they pull, but can be passed.");
        return;
    }
    page_table_begin(out, "Degrees of freedom that stood at a limit.", heads, 4);
    int rows = 0;
    for (int j = 0; j < sn_model_njoint(m); j++) {
        int v = sn_model_v_index(m, j), q = sn_model_q_index(m, j), end = v + dofs_of(m, j);
        for (int i = v; i < end; i++) {
            int low = 0, high = 0;
            char text[3][32];
            for (int f = 0; f < r->input.count; f++) {
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

static void work(plot_text *out, const fit_result *r) {
    enum { BINS = 13 };
    static const char *const names[BINS] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10-19", "20-49",
                                            "50 up"};
    double count[BINS] = {0};
    long stops[SN_STOP_COUNT] = {0};
    for (int f = 0; f < r->input.count; f++) {
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
    plot_figure chart_row = {.title = "How many iterations the frames took", .charts = &chart, .nchart = 1,
                          .columns = 1, .width = 700, .height = 240};
    const sn_fit_summary *s = &r->summary;
    page_section(out, "work", "Work of the solver");
    page_figure(out, &chart_row, "Tries of a frame from other poses are counted with it.");
    plot_raw(out, "<div class=\"wide\"><table><tbody>\n");
    row(out, "evaluations of f alone", "%ld", s->functions);
    row(out, "of f and its gradient", "%ld", s->gradients);
    row(out, "of f, gradient and Hessian", "%ld", s->hessians);
    row(out, "factorisations", "%ld", s->factorizations);
    for (int i = 0; i < SN_STOP_COUNT; i++)
        if (stops[i] > 0) row(out, sn_stop_text((sn_stop)i), "%ld frames", stops[i]);
    plot_raw(out, "</tbody></table></div>\n");
}

// --- angles --------------------------------------------------------------------------------------------------

// Lengths have a panel of their own, apart from the joint's angles.
static bool is_length(const sn_model *model, int joint, int dof) {
    sn_joint_type type = sn_model_joint(model, joint)->type;
    return type == SN_JOINT_SLIDER || type == SN_JOINT_TRANSLATION || (type == SN_JOINT_FREE && dof < 3) ||
           (type == SN_JOINT_PLANAR && dof < 2);
}

static void angles(plot_text *out, const fit_result *r) {
    static const char *const names[SN_MAX_JOINT_DOFS] = {"first", "second", "third",
                                                         "fourth", "fifth", "sixth"};
    sn_table *table = NULL;
    page_section(out, "angles", "Joint angles");
    if (sn_table_from_motion(r->model, r->motion, NULL, &table, NULL) != SN_OK) return;
    int n = r->input.count, ncolumn = sn_table_get_info(table)->ncolumn, njoint = sn_model_njoint(r->model);
    double *x = must_alloc((size_t)n, sizeof *x);
    double *y = must_alloc((size_t)n * (size_t)ncolumn, sizeof *y);
    plot_series *series = must_alloc((size_t)ncolumn, sizeof *series);
    plot_chart *charts = must_alloc((size_t)ncolumn, sizeof *charts);
    for (int f = 0; f < n; f++) {
        x[f] = frame_time(r, f);
        for (int c = 0; c < ncolumn; c++)
            y[(size_t)c * (size_t)n + (size_t)f] = sn_table_row(table, f)[c];
    }
    int ncharts = 0;
    for (int j = 0; j < njoint; j++) {
        // the first column is the time
        int begin = 1 + sn_model_v_index(r->model, j), end = begin + dofs_of(r->model, j);
        for (int from = begin, to; from < end; from = to) {
            bool length = is_length(r->model, j, from - begin);
            for (to = from; to < end && is_length(r->model, j, to - begin) == length; to++)
                series[to] = (plot_series){.name = names[to - from],
                                           .style = to - from,
                                           .n = n,
                                           .x = x,
                                           .y = y + (size_t)to * (size_t)n,
                                           .plain = true};
            charts[ncharts++] =
                (plot_chart){.title = sn_model_joint(r->model, j)->name,
                             .x = {.label = sn_motion_rate(r->motion) > 0 ? "time, s" : "frame"},
                             .y = {.label = length ? "place, m" : "angle, degrees"},
                             .series = series + from,
                             .nseries = to - from};
        }
    }
    plot_figure chart_row = {.title = "Joint angles over time", .charts = charts, .nchart = ncharts, .columns = 3,
                          .width = 340, .height = 190};
    if (ncharts == 0) page_paragraph(out, "The model has no degrees of freedom.");
    if (ncharts > 0)
        page_figure(out, &chart_row,
                "Every joint's degrees of freedom in the order of the model: first, second, third. Rotations "
                "of free joints and balls are rotation vectors in degrees.");
    sn_table_destroy(table);
    free(x);
    free(y);
    free(series);
    free(charts);
}

bool write_fit_report(const char *path, const fit_result *r) {
    plot_text text = {0};
    page_begin(&text, "sinew fit report", "A skeleton fitted to a recording of markers.");
    summary(&text, path, r);
    error_over_time(&text, r);
    markers(&text, r);
    worst_frames(&text, r);
    limits_hit(&text, r);
    work(&text, r);
    angles(&text, r);
    page_end(&text);
    output out;
    bool good = !text.failed && output_open(&out, path);
    if (text.failed) complain("out of memory");
    if (good) {
        sn_sink sink = output_sink(&out);
        bool written = sink.write(sink.user, text.data, text.length);
        good = output_close(&out, written) && written;
    }
    plot_text_free(&text);
    return good;
}
