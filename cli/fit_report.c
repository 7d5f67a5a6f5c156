// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L
// The report of a fit: one HTML file, charts as inline SVG, nothing fetched.
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "fit_report.h"
#include "output.h"
#include "take_page.h"

double frame_time(const fit_result *r, int f) {
    double rate = sn_motion_rate(r->motion);
    return rate > 0 ? f / rate : f + sn_motion_first_frame(r->motion);
}

const char *time_label(const fit_result *r) {
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

// A path as the address of a link.
static void address(plot_text *out, const char *path) {
    for (; *path != '\0'; path++) {
        unsigned char c = (unsigned char)*path;
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                     strchr("0123456789/._-~", c) != NULL;
        char text[4] = {(char)c, '\0', '\0', '\0'};
        if (!plain) (void)snprintf(text, sizeof text, "%%%02X", c);
        plot_raw(out, text);
    }
}

static size_t folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

bool report_page(plot_text *out, const char *report, const fit_result *r) {
    const fit_settings *s = r->settings;
    const char *page = NULL;
    for (int i = 0; i < s->outputs.count; i++)
        if (is_page_name(s->outputs.word[i])) page = s->outputs.word[i];
    if (page == NULL) return false;
    size_t folder = folder_length(page);
    bool beside = folder == folder_length(report) && memcmp(page, report, folder) == 0;
    char here[4096] = "";
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
    return true;
}

// Where the take plays: a page of the same run, or how to get one.
static void player(plot_text *out, const char *report, const fit_result *r) {
    plot_text link = {0};
    if (!report_page(&link, report, r)) {
        report_row(
            out, "see it move",
            "fit again with -o NAME.html as well: that page plays the take with its markers");
        return;
    }
    plot_raw(out, "<tr><th scope=\"row\">see it move</th><td><a href=\"");
    plot_raw(out, link.data != NULL ? link.data : "");
    plot_raw(out, "\">the page</a> plays the take with its markers</td></tr>\n");
    out->failed |= link.failed;
    plot_text_free(&link);
}

static void summary(plot_text *out, const char *path, const fit_result *r) {
    const sn_fit_summary *s = &r->summary->fit;
    const fit_settings *set = r->settings;
    char map[8];
    int first = sn_motion_first_frame(r->motion);
    sn_axis_map_print(&r->summary->axes.map, map);
    page_section(out, "summary", "Summary");
    plot_raw(out, "<div class=\"wide\"><table><tbody>\n");
    player(out, path, r);
    report_row(out, "skeleton", "%s: %d joints, %d degrees of freedom", set->model,
               sn_model_njoint(r->model), sn_model_nv(r->model));
    report_row(out, "recording", "%s: frames %d to %d%s", set->input, first,
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
               known_text(r->summary->axes.up_known), r -> figure.up_sign < 0 ? "-" : "+",
               "xyz"[r->figure.up], map);
    report_row(out, "marker error", "RMS %.3f cm, mean %.3f cm, worst %.2f cm", 100 * s->rms,
               100 * s->mean, 100 * s->worst);
    if (r->settings->truth != NULL)
        report_row(out, "joint angles",
                   "off the known motion by %.2f degrees (median), %.2f (RMS), 95 %% below %.2f",
                   r->truth.median, r->truth.rms, r->truth.most);
    if (r->summary->calibrated)
        report_row(out, "calibration",
                   "%s from %d frame%s, RMS %.2f cm before, %.2f cm after; markers moved by %.1f "
                   "cm on average",
                   r->summary->reshaped ? "marker offsets and bone lengths" : "marker offsets",
                   r->summary->calibration.frames, r->summary->calibration.frames == 1 ? "" : "s",
                   100 * r->summary->calibration.rms_before, 100 * r->summary->calibration.rms,
                   100 * r->summary->shift);
    long all = s->missing + s->samples + s->dropped;
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

bool write_fit_report(const char *path, const fit_result *r) {
    plot_text text = {0};
    page_begin(&text, "sinew fit report", "A skeleton fitted to a recording of markers.");
    report_verdict(&text, path, r);
    summary(&text, path, r);
    report_errors(&text, r);
    report_markers(&text, r);
    report_worst(&text, path, r);
    report_limits(&text, r);
    report_work(&text, r);
    report_angles(&text, r);
    page_end(&text);
    output out;
    bool good = !text.failed && output_open(&out, path);
    if (text.failed) complain("out of memory");
    if (good) {
        sn_sink sink = output_sink(&out);
        bool written = sink.write(sink.user, text.data, text.length);
        good = output_close(&out, written ? SN_OK : SN_ERR_FILE, NULL);
    }
    plot_text_free(&text);
    return good;
}
