// SPDX-License-Identifier: MIT
// How a report begins: what to make of the fit, and what to do about it.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fit_parts.h"

fit_about fit_about_take(const sn_take *take, const sn_recording *recording,
                         const sn_take_options *options) {
    return (fit_about){.take = take,
                       .recording = recording,
                       .options = options,
                       .up = options->model_up,
                       .up_sign = options->model_up_sign,
                       .model_name = "",
                       .input_name = "",
                       .player = "",
                       .voice = SN_VOICE_PLAIN,
                       .file_note = "",
                       .output_note = ""};
}

bool fit_remark(const fit_about *r, int i, remark *out) {
    *out = (remark){.code = "model-file"};
    if (r->file_note[0] != '\0' && i-- == 0) {
        (void)snprintf(out->text, sizeof out->text, "%.2300s", r->file_note);
        return true;
    }
    int n = sn_take_nfinding(r->take);
    if (i < n) {
        out->finding = sn_take_finding(r->take, i);
        out->code = sn_finding_name(out->finding->code);
        out->severity = out->finding->severity;
        (void)sn_take_sentence(r->take, i, r->voice, out->text, sizeof out->text);
        return true;
    }
    out->code = "motion-file";
    (void)snprintf(out->text, sizeof out->text, "%s", r->output_note);
    return i == n && r->output_note[0] != '\0';
}

static void say_good(plot_text *out, const fit_story *r) {
    const sn_fit_summary *s = &r->summary->fit;
    plot_add(out,
             "<b>Good.</b>The figure follows its markers within %.2f cm (RMS), no joint jumps, and "
             "nothing speaks against the motion.",
             100 * s->rms);
}

static void say_doubts(plot_text *out, const fit_story *r, sn_verdict verdict, int doubts) {
    const sn_fit_summary *s = &r->summary->fit;
    if (verdict == SN_VERDICT_BAD && s->mean > 0.1)
        plot_raw(out, "<b>Do not use it.</b>The figure does not follow its markers. ");
    else if (verdict == SN_VERDICT_BAD)
        plot_raw(out, "<b>Do not use it.</b>This is not the motion of this body, however small the "
                      "error is. ");
    else
        plot_raw(out, "<b>Look at it.</b>Most of it may be right, but not all. ");
    plot_add(out, "%d warning%s below; markers within %.2f cm (RMS)", doubts,
             doubts == 1 ? "" : "s", 100 * s->rms);
    if (r->summary->jumps > 0)
        plot_add(out, "; joints jump %d time%s", r->summary->jumps,
                 r->summary->jumps == 1 ? "" : "s");
    plot_raw(out, ".");
}

// Does it begin with the name of a joint, a marker or a file, which has its own letters?
static bool begins_with_name(const sn_model *model, const remark *one) {
    const sn_finding *f = one->finding;
    if (f == NULL || model == NULL) return f == NULL;
    const sn_joint_desc *joint = sn_model_joint(model, f->joint);
    const sn_marker_desc *marker = sn_model_marker(model, f->marker);
    const char *name = joint != NULL ? joint->name : marker != NULL ? marker->name : NULL;
    return name != NULL && strncmp(one->text, name, strlen(name)) == 0;
}

// A sentence with a capital and a full stop, and a link to its frames where there is a page.
static void item(plot_text *out, const fit_story *r, const remark *one) {
    char text[sizeof one->text];
    (void)snprintf(text, sizeof text, "%s", one->text);
    if (text[0] >= 'a' && text[0] <= 'z' && !begins_with_name(r->model, one))
        text[0] = (char)(text[0] - 'a' + 'A');
    static const char *const kinds[] = {"note", "warning", "error"};
    static const char *const words[] = {"Note", "Warning", "Error"};
    plot_add(out, "<li class=\"%s\"><b>%s</b> ", kinds[one->severity], words[one->severity]);
    plot_escaped(out, text);
    plot_raw(out, ".");
    double rate = r->motion != NULL ? sn_motion_rate(r->motion) : 0;
    if (one->finding != NULL && one->finding->has_frames && rate > 0) {
        long long first = one->finding->first - sn_motion_first_frame(r->motion);
        if (r->about->page != NULL)
            plot_add(out, " <a href=\"%s#at=%.4f\">See frame %lld</a>", r->about->page,
                     (double)first / rate, (long long)one->finding->first);
    }
    plot_raw(out, "</li>\n");
}

void report_verdict(plot_text *out, const fit_story *r) {
    static const char *const kinds[] = {"good", "partly", "bad"};
    sn_verdict verdict = sn_take_verdict(r->about->take);
    plot_text html = {0};
    remark one;
    int doubts = 0, count = 0;
    for (int i = 0; fit_remark(r->about, i, &one); i++)
        doubts += sn_finding_doubts(one.finding), count++;
    if (r->motion == NULL)
        plot_raw(&html, "<b>Nothing was fitted.</b>The recording and the skeleton do not go "
                        "together as they are; there is no motion.");
    else if (verdict == SN_VERDICT_GOOD)
        say_good(&html, r);
    else
        say_doubts(&html, r, verdict, doubts);
    page_verdict(out, kinds[r->motion == NULL ? SN_VERDICT_BAD : verdict],
                 html.data != NULL ? html.data : "");
    out->failed |= html.failed;
    plot_text_free(&html);
    page_section(out, "findings", "What to do");
    if (count == 0) {
        page_paragraph(out, "Nothing: use the motion.");
        return;
    }
    plot_raw(out, "<ul class=\"findings\">\n");
    for (int severity = SN_SEVERITY_ERROR; severity >= SN_SEVERITY_NOTE; severity--)
        for (int i = 0; fit_remark(r->about, i, &one); i++)
            if ((int)one.severity == severity) item(out, r, &one);
    plot_raw(out, "</ul>\n");
}

// --- axes ----------------------------------------------------------------------------------------

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void robust_axis(plot_text *out, plot_axis *axis, const plot_series *series, int nseries,
                 bool *cut) {
    size_t n = 0, room = 1;
    for (int i = 0; i < nseries; i++) room += (size_t)series[i].n;
    double *all = report_room(out, room, sizeof *all);
    if (all == NULL) return;
    for (int i = 0; i < nseries; i++)
        for (int k = 0; k < series[i].n; k++)
            if (isfinite(series[i].y[k])) all[n++] = series[i].y[k];
    qsort(all, n, sizeof *all, by_value);
    if (n >= 20) {
        double low = plot_quantile(all, (int)n, 0.005), high = plot_quantile(all, (int)n, 0.995);
        double span = high - low, least = all[0], most = all[n - 1];
        // what goes a little beyond is shown whole
        bool above = most > high + span, below = least < low - span;
        if (span > 0 && (above || below)) {
            axis->low = below ? low - 0.15 * span : least;
            axis->high = above ? high + 0.15 * span : most;
            *cut = true;
        }
    }
    free(all);
}
