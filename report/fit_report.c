// SPDX-License-Identifier: MIT
// The page as a whole, and its summary.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fit_parts.h"

double frame_time(const fit_story *r, int f) {
    double rate = sn_motion_rate(r->motion);
    return rate > 0 ? f / rate : f + sn_motion_first_frame(r->motion);
}

const char *time_label(const fit_story *r) {
    return sn_motion_rate(r->motion) > 0 ? "time from the first frame fitted, s" : "frame";
}

// --- summary -----------------------------------------------------------------------------------------------

void report_row(plot_text *out, const char *what, const char *format, ...) {
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
    return known == SN_KNOWN_FORCED   ? "as you said"
           : known == SN_KNOWN_STATED ? "stated"
           : known == SN_KNOWN_FOUND  ? "found from the markers"
                                      : "assumed";
}

// Where the take plays: a page of the same run, or how to get one.
static void player(plot_text *out, const fit_story *r) {
    if (r->about->page == NULL) {
        report_row(out, "see it move", "%s", r->about->player);
        return;
    }
    plot_raw(out, "<tr><th scope=\"row\">see it move</th><td><a href=\"");
    plot_raw(out, r->about->page);
    plot_raw(out, "\">the page</a> plays the take with its markers</td></tr>\n");
}

static void summary(plot_text *out, const fit_story *r) {
    const sn_fit_summary *s = &r->summary->fit;
    const sn_take_truth *truth = r->about->truth;
    char map[8];
    int first = sn_motion_first_frame(r->motion);
    sn_axis_map_print(&r->summary->axes.map, map);
    page_section(out, "summary", "Summary");
    plot_raw(out, "<div class=\"wide\"><table><tbody>\n");
    player(out, r);
    report_row(out, "skeleton", "%s: %d joints, %d degrees of freedom", r->about->model_name,
               sn_model_njoint(r->model), sn_model_nv(r->model));
    report_row(out, "recording", "%s: frames %d to %d%s", r->about->input_name, first,
               first + r->summary->count - 1,
               sn_motion_rate(r->motion) > 0 ? "" : ", rate not known");
    if (sn_motion_rate(r->motion) > 0)
        report_row(out, "rate", "%g frames/s, %.2f s", sn_motion_rate(r->motion),
                   r->summary->count / sn_motion_rate(r->motion));
    report_row(out, "markers", "%d of the recording's %d labels; set: %s", r->summary->matched,
               r->summary->labels, sn_marker_set_name(sn_take_markers(r->take)));
    report_row(out, "units",
               "the recording is in %s (%s); everything here is in metres, centimetres, degrees",
               r->summary->unit, known_text(r->summary->axes.unit_known));
    report_row(out, "axes",
               "up is the recording's %s%c (%s) and the model's %s%c; the model's x y z are the "
               "recording's %s",
               r->summary->axes.up_sign < 0 ? "-" : "+", "xyz"[r->summary->axes.up],
               known_text(r->summary->axes.up_known), r -> about -> up_sign < 0 ? "-" : "+",
               "xyz"[r->about->up], map);
    report_row(out, "marker error", "RMS %.3f cm, mean %.3f cm, worst %.2f cm", 100 * s->rms,
               100 * s->mean, 100 * s->worst);
    if (truth != NULL)
        report_row(out, "joint angles",
                   "off the known motion by %.2f degrees (median), %.2f (RMS), 95 %% below %.2f",
                   truth->median, truth->rms, truth->most);
    if (truth != NULL && truth->late > 0)
        report_row(out, "known motion", "begins %d frame%s before the recording", truth->late,
                   truth->late == 1 ? "" : "s");
    if (truth != NULL && truth->chest)
        report_row(out, "its skeleton", "lacks its chest, too, and was given the same");
    if (r->summary->calibrated)
        report_row(out, "calibration",
                   "%s from %d frame%s, RMS %.2f cm before, %.2f cm after; markers moved by %.1f "
                   "cm on average",
                   r->summary->chest      ? "marker offsets and the chest's length"
                   : r->summary->reshaped ? "marker offsets and bone lengths"
                                          : "marker offsets",
                   r->summary->calibration.frames, r->summary->calibration.frames == 1 ? "" : "s",
                   100 * r->summary->calibration.rms_before, 100 * r->summary->calibration.rms,
                   100 * r->summary->shift);
    const long all = s->missing + s->samples + s->dropped;
    report_row(out, "gaps", "%ld of %ld samples missing (%.1f %%)", s->missing, all,
               100.0 * (double)s->missing / fmax(1, (double)all));
    if (s->dropped > 0)
        report_row(out, "wrong samples", "%ld of %ld count for nothing (%.1f %%)", s->dropped, all,
                   100.0 * (double)s->dropped / fmax(1, (double)all));
    report_row(out, "frames held for want of markers", "%d", s->held);
    report_row(out, "frames solved again",
               "%d: solved from other poses too, and the better result kept; nothing to do%s",
               r->summary->again,
               10 * r->summary->again > r->summary->count
                   ? ", but it is more than one frame in ten: look whether the figure jumps there"
                   : "");
    if (r->options->smooth > 0)
        report_row(out, "smoothing",
                   "W = %g s: marker RMS %.3f cm before, %.3f cm after; mean joint acceleration "
                   "%.1f rad/s2 before, %.1f after",
                   r->options->smooth, 100 * s->rms_unsmoothed, 100 * s->rms,
                   s->acceleration_unsmoothed, s->acceleration);
    if (isfinite(r->options->max_error))
        report_row(out, "frames above the limit", "%d of %d above %g cm", r->summary->above,
                   r->summary->count, 100 * r->options->max_error);
    // no times: the same take gives the same bytes
    report_row(out, "solver", "%s, %.2f iterations a frame",
               sn_method_name(r->options->solver.method), s->iterations);
    plot_raw(out, "</tbody></table></div>\n");
}

void *report_room(plot_text *out, size_t count, size_t size) {
    void *room = calloc(count + 1, size);
    if (room == NULL) out->failed = true;
    return room;
}

void fit_report(plot_text *text, const fit_about *about) {
    const sn_take *take = about->take;
    const fit_story story = {.about = about,
                             .take = take,
                             .recording = about->recording,
                             .options = about->options,
                             .model = sn_take_model(take),
                             .motion = sn_take_motion(take),
                             .summary = sn_take_about(take),
                             .frames = sn_take_frames(take),
                             .markers = sn_take_marker_errors(take)};
    page_begin(text, "sinew fit report", "A skeleton fitted to a recording of markers.");
    report_verdict(text, &story);
    if (story.motion == NULL) {
        page_end(text);
        return;
    }
    summary(text, &story);
    report_errors(text, &story);
    report_markers(text, &story);
    report_worst(text, &story);
    report_sure(text, &story);
    report_limits(text, &story);
    report_work(text, &story);
    report_angles(text, &story);
    page_end(text);
}
