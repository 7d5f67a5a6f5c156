// SPDX-License-Identifier: MIT
// What a fit has to say, as text and as JSON.
#include <math.h>
#include <stdlib.h>

#include "fit_take.h"

static const char *known_text(sn_known known) {
    return known == SN_KNOWN_FORCED   ? "as you said"
           : known == SN_KNOWN_STATED ? "stated"
           : known == SN_KNOWN_FOUND  ? "found"
                                      : "assumed";
}

static void axis_text(int axis, double sign, char out[3]) {
    out[0] = sign < 0 ? '-' : '+';
    out[1] = "xyz"[axis];
    out[2] = '\0';
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The usual and the worst of one kind of what was calibrated.
static void print_sure(const fit_result *r, sn_sure_kind kind, const char *what, double unit,
                       const char *unit_name) {
    int n = 0, all = sn_take_nsure(r->take);
    const sn_take_sure *worst = NULL;
    double *sigma = malloc(((size_t)all + 1) * sizeof *sigma);
    for (int i = 0; sigma != NULL && i < all; i++) {
        const sn_take_sure *s = sn_take_sure_of(r->take, i);
        if (s->kind != kind) continue;
        sigma[n++] = s->sigma;
        if (worst == NULL || s->sigma > worst->sigma) worst = s;
    }
    if (n > 0) {
        qsort(sigma, (size_t)n, sizeof *sigma, by_size);
        printf("%s to %.1f%s (%s %.1f)", what, unit * sigma[n / 2], unit_name, worst->name,
               unit * worst->sigma);
    }
    free(sigma);
}

void print_fit_text(const fit_result *r) {
    const sn_recording_info *info = sn_recording_about(r->recording);
    const sn_take_summary *t = r->summary;
    const sn_fit_summary *s = &t->fit;
    char map[8], up[3], model_up[3];
    sn_axis_map_print(&t->axes.map, map);
    axis_text(t->axes.up, t->axes.up_sign, up);
    axis_text(r->figure.up, r->figure.up_sign, model_up);
    printf("%s: frames %d to %d", r->settings->input, sn_motion_first_frame(r->motion),
           sn_motion_first_frame(r->motion) + t->count - 1);
    if (info->rate > 0) printf(", %g frames/s", info->rate);
    printf("\n  markers       %d of %d labels, set: %s\n", t->matched, t->labels,
           sn_marker_set_name(sn_take_markers(r->take)));
    printf("  units         %s (%s) to metres\n", t->unit, known_text(t->axes.unit_known));
    printf("  axes          up %s (%s); the model's x y z are the recording's %s, its up is %s\n",
           up, known_text(t->axes.up_known), map, model_up);
    if (t->calibrated) {
        printf("  calibration   %s from %d frame%s: %.2f cm to %.2f cm RMS",
               t->chest      ? "offsets and the chest's length"
               : t->reshaped ? "offsets and lengths"
                             : "marker offsets",
               t->calibration.frames, t->calibration.frames == 1 ? "" : "s",
               100 * t->calibration.rms_before, 100 * t->calibration.rms);
        printf(", %d iteration%s, %.1f s; markers moved by %.1f cm on average",
               t->calibration.iterations, t->calibration.iterations == 1 ? "" : "s",
               r->calibrate_seconds, 100 * t->shift);
        if (t->reshaped && !t->chest)
            printf(", bones are %.2f to %.2f times the skeleton's", t->shortest, t->longest);
        if (sn_take_nsure(r->take) > 0) {
            printf("\n  sure          ");
            print_sure(r, SN_SURE_PLACE, "places", 100, " cm");
            if (t->reshaped && !t->chest) print_sure(r, SN_SURE_SIZE, ", sizes", 100, " %");
            print_sure(r, SN_SURE_ZERO, ", joint zeros", 57.29577951308232, " degrees");
        }
        putchar('\n');
    }
    printf("  error         RMS %.3f cm, mean %.3f cm, worst %.2f cm", 100 * s->rms, 100 * s->mean,
           100 * s->worst);
    if (s->worst_frame >= 0)
        printf(" (%s, frame %d)", sn_model_marker(r->model, s->worst_marker)->name,
               s->worst_frame + sn_motion_first_frame(r->motion));
    if (r->settings->truth != NULL)
        printf("\n  joint angles  off the known motion by %.2f degrees (median), %.2f (RMS), 95 %% "
               "below %.2f; joint centres by %.2f cm (RMS)",
               r->truth.median, r->truth.rms, r->truth.most, 100 * r->truth.centres);
    if (r->settings->truth != NULL && r->truth.joints < r->truth.movable)
        printf(" (%d of %d joints, those with the same names)", r->truth.joints, r->truth.movable);
    if (r->settings->truth != NULL && r->truth.late > 0)
        printf("; the known motion begins %d frame%s before the recording", r->truth.late,
               r->truth.late == 1 ? "" : "s");
    if (r->settings->truth != NULL && r->truth.chest)
        printf("; its skeleton was given the same chest");
    if (r->settings->truth != NULL && r->truth.markers > fmax(0.01, 2 * s->rms))
        printf("\n  known motion  the markers wander on its own bones by %.2f cm (RMS), on the "
               "fit's by %.2f: "
               "agreement closer than that means nothing",
               100 * r->truth.markers, 100 * s->rms);
    long all = s->missing + s->samples + s->dropped;
    printf("\n  gaps          %ld of %ld samples missing (%.1f %%)", s->missing, all,
           100.0 * (double)s->missing / fmax(1, (double)all));
    if (s->dropped > 0) printf("; %ld more are wrong and count for nothing", s->dropped);
    putchar('\n');
    if (r->options->smooth > 0)
        printf("  smoothing     W = %g s: marker RMS %.3f cm before, %.3f cm after; mean joint "
               "acceleration %.1f rad/s2 before, %.1f after\n",
               r->options->smooth, 100 * s->rms_unsmoothed, 100 * s->rms,
               s->acceleration_unsmoothed, s->acceleration);
    printf("  frames        %d, %.2f iterations each", t->count, s->iterations);
    if (t->again > 0)
        printf("; %d solved again from other poses, the better result kept", t->again);
    if (s->held > 0) printf("; %d held for want of markers", s->held);
    printf("\n  time          %.2f s, %.0f frames/s\n", r->fit_seconds, t->count / r->fit_seconds);
    remark one;
    for (int i = 0; get_remark(r, i, &one); i++)
        if (one.severity == SN_SEVERITY_NOTE) printf("  note          %s\n", one.text);
    if (t->above > 0)
        printf("  above         %d of %d frames stayed above %g cm RMS (--max-error %s)\n",
               t->above, t->count, 100 * r->options->max_error, r->settings->max_error);
    int doubts = 0;
    for (int i = 0; get_remark(r, i, &one); i++) doubts += sn_finding_doubts(one.finding);
    printf("  verdict       %s", sn_verdict_name(sn_take_verdict(r->take)));
    if (doubts > 0) printf(": %d warning%s", doubts, doubts == 1 ? "" : "s");
    putchar('\n');
    for (int i = 0; i < r->settings->outputs.count; i++) {
        char unit[48];
        describe_unit(r->out_unit[i], unit, sizeof unit);
        printf("  wrote         %s%s\n", r->settings->outputs.word[i], unit);
    }
    if (r->settings->save_model != NULL) printf("  wrote         %s\n", r->settings->save_model);
    if (r->settings->report != NULL) printf("  wrote         %s\n", r->settings->report);
}

void print_fit_warnings(const fit_result *r) {
    remark one;
    (void)fflush(stdout);
    for (int i = 0; get_remark(r, i, &one); i++) {
        bool setup = one.finding != NULL && one.finding->code == SN_FINDING_SETUP_IGNORED;
        const char *path =
            setup && r->settings->setup != NULL ? r->settings->setup : r->settings->input;
        if (one.severity == SN_SEVERITY_WARNING)
            fprintf(stderr, "sinew: WARNING: %s: %s\n", path, one.text);
    }
}

// The sentences of a severity.
static void print_sentences(const char *key, const fit_result *r, sn_severity severity) {
    remark one;
    bool first = true;
    printf(",\"%s\":[", key);
    for (int i = 0; get_remark(r, i, &one); i++) {
        if (one.severity != severity) continue;
        if (!first) putchar(',');
        print_json_string(one.text);
        first = false;
    }
    putchar(']');
}

static void print_marker(const char *key, const fit_result *r, int marker) {
    if (marker < 0 || r->model == NULL) return;
    printf(",\"%s\":", key);
    print_json_string(sn_model_marker(r->model, marker)->name);
}

static void print_finding(const fit_result *r, const remark *one) {
    const sn_finding *f = one->finding;
    printf("{\"code\":\"%s\",\"severity\":\"%s\"", one->code, sn_severity_name(one->severity));
    for (int k = 0; f != NULL && k < f->nnumber; k++) {
        char name[16];
        sn_finding_number_name(f->code, k, name);
        printf(",\"%s\":", name);
        print_number(f->number[k]);
    }
    if (f != NULL) {
        print_marker("marker", r, f->marker);
        print_marker("other", r, f->other);
        if (f->joint >= 0 && r->model != NULL) {
            printf(",\"joint\":");
            print_json_string(sn_model_joint(r->model, f->joint)->name);
        }
        if (f->has_frames)
            printf(",\"first\":%lld,\"last\":%lld", (long long)f->first, (long long)f->last);
    }
    printf(",\"sentence\":");
    print_json_string(one->text);
    putchar('}');
}

static void print_findings(const fit_result *r) {
    remark one;
    printf(",\"findings\":[");
    for (int i = 0; get_remark(r, i, &one); i++) {
        if (i > 0) putchar(',');
        print_finding(r, &one);
    }
    putchar(']');
}

static void print_exchanged(const fit_result *r) {
    bool first = true;
    printf(",\"exchanged\":[");
    for (int i = 0; i < sn_take_nfinding(r->take); i++) {
        const sn_finding *f = sn_take_finding(r->take, i);
        if (f->code != SN_FINDING_EXCHANGED) continue;
        printf("%s{\"markers\":[", first ? "" : ",");
        print_json_string(sn_model_marker(r->model, f->marker)->name);
        putchar(',');
        print_json_string(sn_model_marker(r->model, f->other)->name);
        printf("],\"first\":%lld,\"last\":%lld}", (long long)f->first, (long long)f->last);
        first = false;
    }
    putchar(']');
}

// How the JSON of a take begins.
static void print_files(const fit_result *r, bool good) {
    printf("{\"ok\":%s", good ? "true" : "false");
    if (r->settings->name != NULL) {
        printf(",\"name\":");
        print_json_string(r->settings->name);
    }
    printf(",\"input\":");
    print_json_string(r->settings->input);
    printf(",\"model\":");
    print_json_string(r->settings->model);
}

void print_fit_failure(const fit_result *r, int code) {
    print_files(r, false);
    printf(",\"exit\":%d,\"error\":", code);
    print_json_string(last_complaint());
    print_findings(r);
    puts("}");
}

void print_fit_json(const fit_result *r) {
    const sn_recording_info *info = sn_recording_about(r->recording);
    const sn_take_summary *t = r->summary;
    const sn_fit_summary *s = &t->fit;
    char map[8], up[3];
    sn_axis_map_print(&t->axes.map, map);
    axis_text(t->axes.up, t->axes.up_sign, up);
    print_files(r, true);
    printf(",\"frames\":%d,\"first_frame\":%d,\"rate\":", t->count,
           sn_motion_first_frame(r->motion));
    print_number(info->rate);
    printf(",\"units\":");
    print_json_string(t->unit);
    printf(",\"units_known\":\"%s\",\"up\":\"%s\",\"up_known\":\"%s\",\"axes\":\"%s\"",
           known_text(t->axes.unit_known), up, known_text(t->axes.up_known), map);
    printf(",\"markers\":%d,\"labels\":%d,\"set\":", t->matched, t->labels);
    print_json_string(sn_marker_set_name(sn_take_markers(r->take)));
    if (t->calibrated) {
        printf(",\"calibration\":{\"scale\":%s,\"chest\":%s,\"frames\":%d,\"iterations\":%d,"
               "\"rms_before\":",
               t->reshaped && !t->chest ? "true" : "false", t->chest ? "true" : "false",
               t->calibration.frames, t->calibration.iterations);
        print_number(t->calibration.rms_before);
        printf(",\"rms\":");
        print_number(t->calibration.rms);
        printf(",\"sure\":[");
        for (int i = 0; i < sn_take_nsure(r->take); i++) {
            static const char *const kinds[] = {"place", "size", "zero"};
            const sn_take_sure *k = sn_take_sure_of(r->take, i);
            printf("%s{\"what\":\"%s\",\"name\":", i > 0 ? "," : "", kinds[k->kind]);
            print_json_string(k->name);
            for (int x = 0; k->kind != SN_SURE_ZERO && x < 3; x++) {
                printf(x == 0 ? ",\"value\":[" : ",");
                print_number(k->value[x]);
            }
            printf("%s,\"sigma\":", k->kind != SN_SURE_ZERO ? "]" : "");
            print_number(k->sigma);
            printf(",\"shown\":%s}", k->shown ? "true" : "false");
        }
        printf("]}");
    }
    printf(",\"rms\":");
    print_number(s->rms);
    printf(",\"mean\":");
    print_number(s->mean);
    printf(",\"worst\":");
    print_number(s->worst);
    printf(",\"worst_frame\":%d,\"missing\":%ld,\"samples\":%ld,\"dropped\":%ld,\"held\":%d,"
           "\"restarted\":%d,\"moved\":%d,\"iterations\":",
           s->worst_frame + sn_motion_first_frame(r->motion), s->missing, s->samples, s->dropped,
           s->held, s->restarted, s->moved);
    print_number(s->iterations);
    if (r->options->smooth > 0) {
        printf(",\"smoothing\":{\"seconds\":");
        print_number(r->options->smooth);
        printf(",\"rms_before\":");
        print_number(s->rms_unsmoothed);
        printf(",\"acceleration_before\":");
        print_number(s->acceleration_unsmoothed);
        printf(",\"acceleration\":");
        print_number(s->acceleration);
        putchar('}');
    }
    if (r->settings->truth != NULL) {
        printf(",\"joint_error_median\":");
        print_number(r->truth.median);
        printf(",\"joint_error_rms\":");
        print_number(r->truth.rms);
        printf(",\"joint_centres_rms\":");
        print_number(r->truth.centres);
        printf(",\"truth_markers_rms\":");
        print_number(r->truth.markers);
        printf(",\"truth_late\":%d,\"truth_chest\":%s", r->truth.late,
               r->truth.chest ? "true" : "false");
    }
    printf(",\"above\":%d,\"frames_per_second\":", t->above);
    print_number(t->count / r->fit_seconds);
    printf(",\"verdict\":\"%s\",\"jumps\":%d", sn_verdict_name(sn_take_verdict(r->take)), t->jumps);
    print_exchanged(r);
    print_sentences("warnings", r, SN_SEVERITY_WARNING);
    print_sentences("notes", r, SN_SEVERITY_NOTE);
    print_findings(r);
    printf(",\"outputs\":[");
    for (int i = 0; i < r->settings->outputs.count; i++) {
        if (i > 0) putchar(',');
        print_json_string(r->settings->outputs.word[i]);
    }
    printf("],\"output_units\":[");
    for (int i = 0; i < r->settings->outputs.count; i++) {
        if (i > 0) putchar(',');
        print_number(r->out_unit[i]);
    }
    puts("]}");
}
