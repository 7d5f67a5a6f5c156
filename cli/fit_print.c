// SPDX-License-Identifier: MIT
// What a fit has to say, as text and as JSON.
#include <math.h>

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

void print_fit_text(const fit_result *r) {
    const sn_recording_info *info = sn_recording_get_info(r->recording);
    const sn_fit_summary *s = &r->summary;
    char map[8], up[3], model_up[3];
    sn_axis_map_print(&r->axes.map, map);
    axis_text(r->axes.up, r->axes.up_sign, up);
    axis_text(r->figure.up, r->figure.up_sign, model_up);
    printf("%s: frames %d to %d", r->settings->input, sn_motion_first_frame(r->motion),
           sn_motion_first_frame(r->motion) + r->input.count - 1);
    if (info->rate > 0) printf(", %g frames/s", info->rate);
    printf("\n  markers       %d of %d labels, set: %s\n", r->matched, r->nlabel,
           sn_marker_set_name(r->set));
    printf("  units         %s (%s) to metres\n", r->unit_text, known_text(r->axes.unit_known));
    printf("  axes          up %s (%s); the model's x y z are the recording's %s, its up is %s\n",
           up, known_text(r->axes.up_known), map, model_up);
    if (r->calibrated) {
        printf("  calibration   %s from %d frame%s: %.2f cm to %.2f cm RMS",
               r->reshaped ? "offsets and lengths" : "marker offsets", r->calibration.frames,
               r->calibration.frames == 1 ? "" : "s", 100 * r->calibration.rms_before,
               100 * r->calibration.rms);
        printf(", %d iteration%s, %.1f s; markers moved by %.1f cm on average",
               r->calibration.iterations, r->calibration.iterations == 1 ? "" : "s",
               r->calibrate_seconds, 100 * r->shift);
        if (r->reshaped)
            printf(", bones are %.2f to %.2f times the skeleton's", r->shortest, r->longest);
        putchar('\n');
    }
    printf("  error         RMS %.3f cm, mean %.3f cm, worst %.2f cm", 100 * s->rms, 100 * s->mean,
           100 * s->worst);
    if (s->worst_frame >= 0)
        printf(" (%s, frame %d)", sn_model_marker(r->model, s->worst_marker)->name,
               s->worst_frame + sn_motion_first_frame(r->motion));
    if (r->settings->truth != NULL)
        printf("\n  joint angles  off the known motion by %.2f degrees (median), %.2f (RMS), 95 %% "
               "below %.2f",
               r->truth_median, r->truth_rms, r->truth_95);
    if (r->settings->truth != NULL && r->truth_joints < r->truth_of)
        printf(" (%d of %d joints, those with the same names)", r->truth_joints, r->truth_of);
    printf("\n  gaps          %ld of %ld samples missing (%.1f %%)\n", s->missing,
           s->missing + s->samples,
           100.0 * (double)s->missing / fmax(1, (double)(s->missing + s->samples)));
    if (r->plan->fit.smooth > 0)
        printf("  smoothing     W = %g s: marker RMS %.3f cm before, %.3f cm after; mean joint "
               "acceleration %.1f rad/s2 before, %.1f after\n",
               r->plan->fit.smooth, 100 * s->rms_unsmoothed, 100 * s->rms,
               s->acceleration_unsmoothed, s->acceleration);
    printf("  frames        %d, %.2f iterations each", r->input.count, s->iterations);
    if (r->again > 0)
        printf("; %d solved again from other poses, the better result kept", r->again);
    if (s->held > 0) printf("; %d held for want of markers", s->held);
    printf("\n  time          %.2f s, %.0f frames/s\n", r->fit_seconds,
           r->input.count / r->fit_seconds);
    for (int i = 0; i < r->notes.count; i++) printf("  note          %s\n", r->notes.text[i]);
    if (r->above > 0)
        printf("  above         %d of %d frames stayed above %g cm RMS (--max-error %s)\n",
               r->above, r->input.count, 100 * r->plan->max_error, r->settings->max_error);
    for (int i = 0; i < r->settings->outputs.count; i++)
        printf("  wrote         %s\n", r->settings->outputs.word[i]);
    if (r->settings->save_model != NULL) printf("  wrote         %s\n", r->settings->save_model);
    if (r->settings->report != NULL) printf("  wrote         %s\n", r->settings->report);
}

void print_fit_warnings(const fit_result *r) {
    (void)fflush(stdout);
    for (int i = 0; i < r->warnings.count; i++)
        fprintf(stderr, "sinew: WARNING: %s: %s\n", r->settings->input, r->warnings.text[i]);
}

static void print_strings(const char *key, char *const *text, int count) {
    printf(",\"%s\":[", key);
    for (int i = 0; i < count; i++) {
        if (i > 0) putchar(',');
        print_json_string(text[i]);
    }
    putchar(']');
}

void print_fit_json(const fit_result *r) {
    const sn_recording_info *info = sn_recording_get_info(r->recording);
    const sn_fit_summary *s = &r->summary;
    char map[8], up[3];
    sn_axis_map_print(&r->axes.map, map);
    axis_text(r->axes.up, r->axes.up_sign, up);
    printf("{\"ok\":true");
    if (r->settings->name != NULL) {
        printf(",\"name\":");
        print_json_string(r->settings->name);
    }
    printf(",\"input\":");
    print_json_string(r->settings->input);
    printf(",\"model\":");
    print_json_string(r->settings->model);
    printf(",\"frames\":%d,\"first_frame\":%d,\"rate\":", r->input.count,
           sn_motion_first_frame(r->motion));
    print_number(info->rate);
    printf(",\"units\":");
    print_json_string(r->unit_text);
    printf(",\"units_known\":\"%s\",\"up\":\"%s\",\"up_known\":\"%s\",\"axes\":\"%s\"",
           known_text(r->axes.unit_known), up, known_text(r->axes.up_known), map);
    printf(",\"markers\":%d,\"labels\":%d,\"set\":", r->matched, r->nlabel);
    print_json_string(sn_marker_set_name(r->set));
    if (r->calibrated) {
        printf(",\"calibration\":{\"scale\":%s,\"frames\":%d,\"iterations\":%d,\"rms_before\":",
               r->reshaped ? "true" : "false", r->calibration.frames, r->calibration.iterations);
        print_number(r->calibration.rms_before);
        printf(",\"rms\":");
        print_number(r->calibration.rms);
        printf("}");
    }
    printf(",\"rms\":");
    print_number(s->rms);
    printf(",\"mean\":");
    print_number(s->mean);
    printf(",\"worst\":");
    print_number(s->worst);
    printf(",\"worst_frame\":%d,\"missing\":%ld,\"samples\":%ld,\"held\":%d,\"restarted\":%d,"
           "\"moved\":%d,\"iterations\":",
           s->worst_frame + sn_motion_first_frame(r->motion), s->missing, s->samples, s->held,
           s->restarted, s->moved);
    print_number(s->iterations);
    if (r->plan->fit.smooth > 0) {
        printf(",\"smoothing\":{\"seconds\":");
        print_number(r->plan->fit.smooth);
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
        print_number(r->truth_median);
        printf(",\"joint_error_rms\":");
        print_number(r->truth_rms);
    }
    printf(",\"above\":%d,\"frames_per_second\":", r->above);
    print_number(r->input.count / r->fit_seconds);
    printf(",\"exchanged\":[");
    for (int i = 0; i < r->nswap; i++) {
        const sn_fit_swap *x = &r->swaps[i];
        printf("%s{\"markers\":[", i > 0 ? "," : "");
        print_json_string(sn_model_marker(r->model, x->a)->name);
        putchar(',');
        print_json_string(sn_model_marker(r->model, x->b)->name);
        printf("],\"first\":%d,\"last\":%d}", x->first + sn_motion_first_frame(r->motion),
               x->last + sn_motion_first_frame(r->motion));
    }
    putchar(']');
    print_strings("warnings", r->warnings.text, r->warnings.count);
    print_strings("notes", r->notes.text, r->notes.count);
    print_strings("outputs", (char *const *)(uintptr_t)r->settings->outputs.word,
                  r->settings->outputs.count);
    puts("}");
}
