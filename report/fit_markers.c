// SPDX-License-Identifier: MIT
// The report about markers: error over time, each marker, gaps, worst frames.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "fit_parts.h"

void report_errors(plot_text *out, const fit_story *r) {
    int n = r->summary->count;
    double *x = report_room(out, 4 * (size_t)n, sizeof *x);
    if (x == NULL) return;
    double *rms = x + n, *worst = rms + n, *seen = worst + n;
    for (int f = 0; f < n; f++) {
        x[f] = frame_time(r, f);
        rms[f] = r->frames[f].markers > 0 ? 100 * (double)r->frames[f].rms : NAN;
        worst[f] = r->frames[f].markers > 0 ? 100 * (double)r->frames[f].worst : NAN;
        seen[f] = r->frames[f].markers;
    }
    plot_series errors[] = {
        {.name = "worst marker", .style = 1, .n = n, .x = x, .y = worst, .plain = true},
        {.name = "RMS over the markers", .n = n, .x = x, .y = rms, .plain = true}};
    plot_series visible[] = {
        {.name = "markers seen", .style = 2, .n = n, .x = x, .y = seen, .plain = true}};
    plot_chart error = {.title = "Distance between measured and fitted markers",
                        .x = {.label = time_label(r)},
                        .y = {.label = "error, cm"},
                        .series = errors,
                        .nseries = 2};
    plot_chart count = {.title = "Markers seen",
                        .x = {.label = time_label(r)},
                        .y = {.label = "markers", .low = 0, .high = r->summary->matched + 1},
                        .series = visible,
                        .nseries = 1};
    bool cut = false;
    robust_axis(out, &error.y, errors, 2, &cut);
    if (cut) error.y.low = 0;
    plot_figure wide = {.title = "Marker error over time",
                        .charts = &error,
                        .nchart = 1,
                        .columns = 1,
                        .width = 1040,
                        .height = 300};
    plot_figure low = {.title = "Markers seen over time",
                       .charts = &count,
                       .nchart = 1,
                       .columns = 1,
                       .width = 1040,
                       .height = 160};
    page_section(out, "error", "Error over time");
    page_figure(out, &wide,
                cut ? "Root mean square over the markers seen, and the worst of them, per frame. "
                      "A few frames go beyond the top: see the worst frames."
                    : "Root mean square over the markers seen, and the worst of them, per frame.");
    page_figure(out, &low, "How many of the matched markers each frame has.");
    free(x);
}

// How many gaps a marker has, and the longest: frames, and from which on (from 0).
static void find_gaps(const fit_story *r, int marker, int *gaps, int *longest, int *from) {
    int column = sn_take_column(r->take, marker);
    *gaps = *longest = *from = 0;
    for (int f = 0, n = 0; f <= r->summary->count; f++) {
        bool gone =
            f < r->summary->count &&
            (column < 0 || !sn_recording_present(r->recording, r->summary->first + f, column));
        if (gone) {
            n++;
            continue;
        }
        *gaps += n > 0;
        if (n > *longest) *longest = n, *from = f - n;
        n = 0;
    }
}

static void marker_table(plot_text *out, const fit_story *r) {
    static const char *const heads[] = {
        "marker",       "joint",    " RMS, cm",  " mean, cm", " worst, cm",
        " worst frame", " seen, %", " wrong, %", " gaps",     " longest gap, frames"};
    int n = sn_model_nmarker(r->model), first = sn_motion_first_frame(r->motion);
    page_table_begin(out, "Each marker over the whole take.", heads, 10);
    for (int i = 0; i < n; i++) {
        const sn_fit_marker *m = &r->markers[i];
        const sn_marker_desc *d = sn_model_marker(r->model, i);
        char text[8][64];
        int gaps, longest, from, there = m->seen + m->dropped;
        (void)snprintf(text[4], 32, "%.1f", 100.0 * there / r->summary->count);
        (void)snprintf(text[7], 32, "%.1f", 100.0 * m->dropped / (there > 0 ? there : 1));
        if (m->dropped == 0) text[7][0] = '\0';
        if (m->seen == 0) {
            const char *none[] = {d->name,
                                  sn_model_joint(r->model, d->joint)->name,
                                  m->dropped > 0 ? "always wrong" : "never seen",
                                  "",
                                  "",
                                  "",
                                  m->dropped > 0 ? text[4] : "0.0",
                                  m->dropped > 0 ? text[7] : "",
                                  "",
                                  ""};
            page_table_row(out, none, 10);
            continue;
        }
        (void)snprintf(text[0], 32, "%.3f", 100 * m->rms);
        (void)snprintf(text[1], 32, "%.3f", 100 * m->mean);
        (void)snprintf(text[2], 32, "%.2f", 100 * m->worst);
        (void)snprintf(text[3], 32, "%d", m->worst_frame + first);
        find_gaps(r, i, &gaps, &longest, &from);
        (void)snprintf(text[5], 32, "%d", gaps);
        if (gaps > 0)
            (void)snprintf(text[6], 64, "%d, from %d", longest, from + first);
        else
            text[6][0] = '\0';
        const char *cells[] = {d->name, sn_model_joint(r->model, d->joint)->name,
                               text[0], text[1],
                               text[2], text[3],
                               text[4], text[7],
                               text[5], text[6]};
        page_table_row(out, cells, 10);
    }
    page_table_end(out);
}

// Which stretches of the take each marker is missing in; only when some are.
static void gap_map(plot_text *out, const fit_story *r) {
    static const char *const kinds[] = {"seen", "partly missing", "missing"};
    enum { ACROSS = 520 };
    int n = sn_model_nmarker(r->model),
        across = r->summary->count < ACROSS ? r->summary->count : ACROSS;
    if (r->summary->fit.missing == 0 || n == 0) return;
    unsigned char *cell = report_room(out, (size_t)across * (size_t)n, 1);
    const char **names = report_room(out, (size_t)n, sizeof *names);
    for (int i = 0; i < n && names != NULL; i++) names[i] = sn_model_marker(r->model, i)->name;
    for (int i = 0; i < n && cell != NULL; i++)
        for (int b = 0; b < across; b++) {
            int column = sn_take_column(r->take, i);
            int from = (int)((long)r->summary->count * b / across), gone = 0;
            int to = (int)((long)r->summary->count * (b + 1) / across);
            for (int f = from; f < to; f++)
                gone += column < 0 ||
                        !sn_recording_present(r->recording, r->summary->first + f, column);
            // the map has its first row below, the table above
            cell[(size_t)(n - 1 - i) * (size_t)across + (size_t)b] =
                (unsigned char)(gone == 0          ? 0
                                : gone < to - from ? 1
                                                   : 2);
        }
    plot_chart chart = {
        .kind = PLOT_MAP,
        .title = "Gaps",
        .x = {time_label(r), false, frame_time(r, 0), frame_time(r, r->summary->count), false},
        .y = {NULL, false, 0.5, n + 0.5, true},
        .rows = names,
        .nx = across,
        .ny = n,
        .category = cell,
        .categories = kinds,
        .ncategory = 3};
    plot_figure chart_row = {.title = "Which markers are missing when",
                             .charts = &chart,
                             .nchart = 1,
                             .columns = 1,
                             .width = 1040,
                             .height = 90 + 13 * n};
    if (!out->failed)
        page_figure(out, &chart_row,
                    "Where samples are missing. A missing marker drops out of its frame.");
    free(names);
    free(cell);
}

void report_markers(plot_text *out, const fit_story *r) {
    int n = sn_model_nmarker(r->model);
    double *rms = report_room(out, (size_t)n, sizeof *rms);
    const char **names = report_room(out, (size_t)n, sizeof *names);
    for (int i = 0; i < n && !out->failed; i++) {
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
    plot_figure chart_row = {.title = "Error of each marker",
                             .charts = &chart,
                             .nchart = 1,
                             .columns = 1,
                             .width = 1040,
                             .height = 300};
    page_section(out, "markers", "Markers");
    if (!out->failed) {
        page_figure(out, &chart_row,
                    "A marker that stands out may sit on another bone than the set says.");
        gap_map(out, r);
        marker_table(out, r);
    }
    free(rms);
    free(names);
}

// A row whose frame opens the page there.
static void page_table_link_row(plot_text *out, const char *page, double seconds, const char *frame,
                                char (*text)[32], const char *marker, const char *ended) {
    plot_add(out, "<tr><td class=\"n\"><a href=\"%s#at=%.4f\">%s</a></td>", page, seconds, frame);
    plot_add(out, "<td class=\"n\">%s</td><td class=\"n\">%s</td><td>", text[0], text[1]);
    plot_escaped(out, marker);
    plot_add(out, "</td><td class=\"n\">%s</td><td class=\"n\">%s</td><td>", text[2], text[3]);
    plot_escaped(out, ended);
    plot_raw(out, "</td></tr>\n");
}

// The ten worst frames that are a tenth of a second apart at least.
void report_worst(plot_text *out, const fit_story *r) {
    static const char *const heads[] = {" frame",       " RMS, cm",      " worst, cm",
                                        "worst marker", " markers seen", " iterations",
                                        "ended"};
    enum { MOST = 10 };
    int taken[MOST], n = 0, apart = (int)(sn_motion_rate(r->motion) / 10) + 1;
    const double rate = sn_motion_rate(r->motion);
    const char *page = r->about->page;
    page_section(out, "worst", "Worst frames");
    page_table_begin(
        out,
        page != NULL
            ? "By RMS error; neighbours of a worse frame are left out. A frame's number opens "
              "the page there."
            : "By RMS error; neighbours of a worse frame are left out.",
        heads, 7);
    while (n < MOST) {
        int best = -1;
        for (int f = 0; f < r->summary->count; f++) {
            bool near = false;
            for (int k = 0; k < n; k++) near |= abs(taken[k] - f) < apart;
            if (!near && r->frames[f].markers > 0 &&
                (best < 0 || r->frames[f].rms > r->frames[best].rms))
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
        if (page != NULL && rate > 0) {
            page_table_link_row(out, page, (double)best / rate, text[0], text + 1,
                                sn_model_marker(r->model, frame->worst_marker)->name,
                                sn_stop_text((sn_stop)frame->stop));
            continue;
        }
        const char *cells[] = {text[0],
                               text[1],
                               text[2],
                               sn_model_marker(r->model, frame->worst_marker)->name,
                               text[3],
                               text[4],
                               sn_stop_text((sn_stop)frame->stop)};
        page_table_row(out, cells, 7);
    }
    page_table_end(out);
}
