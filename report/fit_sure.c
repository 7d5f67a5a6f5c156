// SPDX-License-Identifier: MIT
// The report about the calibration: how well places, sizes and zeros are known.
#include <stdio.h>
#include <stdlib.h>

#include "fit_parts.h"

// Markers as bars; those that the take does not show in a colour of their own.
static void places(plot_text *out, const fit_story *r) {
    const int all = sn_take_nsure(r->take);
    double *known = report_room(out, 2 * (size_t)all, sizeof *known);
    const char **names = report_room(out, (size_t)all, sizeof *names);
    int n = 0, hidden = 0;
    for (int i = 0; i < all && !out->failed; i++) {
        const sn_take_sure *s = sn_take_sure_of(r->take, i);
        if (s->kind != SN_SURE_PLACE) continue;
        known[n] = s->shown ? 100 * s->sigma : 0;
        known[all + n] = s->shown ? 0 : 100 * s->sigma;
        hidden += !s->shown;
        names[n++] = s->name;
    }
    plot_series series[] = {{.name = "shown by the take", .n = n, .y = known},
                            {.name = "not shown: about as the figure has it", .style = 1, .n = n}};
    if (known != NULL) series[1].y = known + all;
    plot_chart chart = {.kind = PLOT_BARS,
                        .title = "Places of markers",
                        .y = {.label = "known to, cm"},
                        .series = series,
                        .nseries = hidden > 0 ? 2 : 1,
                        .groups = names,
                        .ngroup = n};
    plot_figure figure = {.title = "Places of markers",
                          .charts = &chart,
                          .nchart = 1,
                          .columns = 1,
                          .width = 1040,
                          .height = 260};
    if (!out->failed && n > 0)
        page_figure(out, &figure, "How well it is known where each marker sits on its bone.");
    free(names);
    free(known);
}

// Joints and, where they were asked for, bodies: the sizes that were found along three axes.
static void bodies(plot_text *out, const fit_story *r) {
    static const char *const heads[] = {"joint or body", "what", " found", " known to",
                                        "by this take"};
    page_table_begin(out, "Zeros of joints and sizes of bodies.", heads, 5);
    for (int i = 0; i < sn_take_nsure(r->take); i++) {
        const sn_take_sure *s = sn_take_sure_of(r->take, i);
        char found[64] = "", known[32];
        const bool size = s->kind == SN_SURE_SIZE;
        if (s->kind == SN_SURE_PLACE || (size && !r->summary->reshaped)) continue;
        if (size) {
            (void)snprintf(found, sizeof found, "%.3f %.3f %.3f", s->value[0], s->value[1],
                           s->value[2]);
            (void)snprintf(known, sizeof known, "%.1f %%", 100 * s->sigma);
        } else {
            (void)snprintf(known, sizeof known, "%.1f degrees", 57.29577951308232 * s->sigma);
        }
        const char *cells[] = {s->name, size ? "size" : "zero", found, known,
                               s->shown ? "shown" : "not shown"};
        page_table_row(out, cells, 5);
    }
    page_table_end(out);
}

void report_sure(plot_text *out, const fit_story *r) {
    if (sn_take_nsure(r->take) == 0) return;
    page_section(out, "sure", "How sure the calibration is");
    page_paragraph(out,
                   "Standard deviations, from the calibration's own Hessian. A joint's zero is "
                   "what all its angles may be off by together.");
    places(out, r);
    bodies(out, r);
}
