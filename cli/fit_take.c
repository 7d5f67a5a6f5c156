// SPDX-License-Identifier: MIT
// One take from files to files.
#include "fit_steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"

volatile bool fit_cancelled;

static bool find_swaps(fit_result *r) {
    int most = (int)(sizeof r->swaps / sizeof r->swaps[0]),
        first = sn_motion_first_frame(r->motion);
    if (sn_fit_swaps(&r->input, r->motion, NULL, r->swaps, most, &r->nswap) != SN_OK) {
        complain("out of memory");
        return false;
    }
    for (int i = 0; i < r->nswap; i++) {
        const sn_fit_swap *s = &r->swaps[i];
        note(r,
             "%s and %s look exchanged in frames %d to %d: with their labels exchanged these fit "
             "%.1f times better; mend it in the file, or try --robust",
             sn_model_marker(r->model, s->a)->name, sn_model_marker(r->model, s->b)->name,
             s->first + first, s->last + first, sqrt(s->given / fmax(s->exchanged, 1e-30)));
    }
    return true;
}

static bool run_fit(fit_result *r) {
    const sn_recording_info *info = sn_recording_get_info(r->recording);
    sn_fit_options o = r->plan->fit;
    meter m = meter_begin(r->settings);
    sn_error error = {0};
    o.cancel = &fit_cancelled;
    o.track.progress = show_fit;
    o.track.progress_user = &m;
    r->frames = must_alloc((size_t)r->input.count, sizeof *r->frames);
    r->markers = must_alloc((size_t)sn_model_nmarker(r->model), sizeof *r->markers);
    if (sn_motion_create(r->input.count, sn_model_nq(r->model), info->first_frame + r->input.first,
                         info->rate, NULL, &r->motion) != SN_OK) {
        complain("out of memory");
        return false;
    }
    sn_motion_set_time_offset(r->motion, info->time_offset);
    sn_status status =
        sn_fit_run(&r->input, &o, NULL, r->motion, r->frames, r->markers, &r->summary, &error);
    r->fit_seconds = now() - m.begin;
    if (status != SN_OK) (void)file_error(r->settings->input, &error);
    for (int f = 0; status == SN_OK && f < r->input.count; f++) {
        r->above += (double)r->frames[f].rms > r->plan->max_error;
        r->again += f > 0 && (r->frames[f].restarted || r->frames[f].moved);
    }
    if (status == SN_OK && !find_swaps(r)) return false;
    // with known places and a large error too: then the reason may be the mirror
    if (status == SN_OK && !r->calibrated && r->summary.rms > 0.02 && !check_handedness(r))
        return false;
    return status == SN_OK && !fit_cancelled;
}

// The frames that were fitted; NULL and a message when memory is out.
static sn_recording *fitted_frames(const fit_result *r) {
    sn_recording_info info = *sn_recording_get_info(r->recording);
    const char **labels = must_alloc((size_t)info.nmarker, sizeof *labels);
    for (int m = 0; m < info.nmarker; m++) labels[m] = sn_recording_label(r->recording, m);
    info.nframe = r->input.count;
    info.first_frame += r->input.first;
    sn_recording *out = NULL;
    if (sn_recording_create(&info, labels, NULL, &out) != SN_OK) complain("out of memory");
    for (int f = 0; out != NULL && f < info.nframe; f++)
        memcpy(sn_recording_edit(out, f), sn_recording_frame(r->recording, r->input.first + f),
               3 * (size_t)info.nmarker * sizeof(double));
    free(labels);
    return out;
}

// An AMC file means nothing without the ASF file whose bones it moves.
static void tell_amc(fit_result *r) {
    const fit_settings *s = r->settings;
    const char *amc = NULL;
    bool asf = false, ours = r->figure.skeleton != NULL && !r->reshaped &&
                             sn_skeleton_get_format(r->figure.skeleton) == SN_SKELETON_ASF;
    for (int i = 0; i < s->outputs.count; i++) {
        sn_format format = sn_format_of_name(s->outputs.word[i]);
        asf |= format == SN_FORMAT_ASF;
        if (format == SN_FORMAT_AMC) amc = s->outputs.word[i];
    }
    if (amc == NULL || asf || ours) return;
    // without the folder: a report is the same wherever it is written
    const char *slash = strrchr(amc, '/'), *name = slash != NULL ? slash + 1 : amc;
    const char *whose =
        r->reshaped ? "with the bone lengths found here" : "that no ASF file holds yet";
    if (s->name != NULL)
        note(r, "%s belongs to a skeleton %s: write that beside it, --formats asf,amc", name,
             whose);
    else
        note(r, "%s belongs to a skeleton %s: write that beside it, -o %.*s.asf", name, whose,
             (int)strlen(name) - 4, name);
}

static bool write_outputs(fit_result *r) {
    const fit_settings *s = r->settings;
    // the recording must run alongside the motion
    sn_recording *part = fitted_frames(r);
    if (part == NULL) return false;
    tell_amc(r);
    sn_scene all = figure_scene(&r->figure), shape = all;
    all.model = r->model;
    all.reshaped = shape.reshaped = r->reshaped;
    all.motion = r->motion;
    all.recording = part;
    shape.model = r->limited;
    bool good = true;
    outputs_hold();
    for (int i = 0; good && i < s->outputs.count && !fit_cancelled; i++)
        good = write_scene(s->outputs.word[i], &all, s->page);
    if (good && s->save_model != NULL) {
        // with the file's limits, whether or not they were used here
        good = write_scene(s->save_model, &shape, NULL);
    }
    if (good && s->report != NULL) good = write_fit_report(s->report, r);
    sn_recording_destroy(part);
    return outputs_release(good && !fit_cancelled);
}

// Told before the work, not after it.
static bool outputs_allowed(const fit_settings *s) {
    for (int i = 0; i < s->outputs.count; i++)
        if (!output_allowed(s->outputs.word[i])) return false;
    return (s->save_model == NULL || output_allowed(s->save_model)) &&
           (s->report == NULL || output_allowed(s->report));
}

int fit_take(const fit_settings *settings, const fit_plan *plan, fit_result *r) {
    *r = (fit_result){.settings = settings, .plan = plan};
    // all of a person is smaller
    if (settings->max_error != NULL && isfinite(plan->max_error) && plan->max_error > 1)
        note(r, "--max-error %s is %g metres, which nothing passes: say 5mm or 0.5cm",
             settings->max_error, plan->max_error);
    bool good = load_take(r) && outputs_allowed(settings) && enter_world(r);
    int code = EXIT_INPUT;
    if (good) {
        r->factor = must_alloc((size_t)sn_model_njoint(r->model), sizeof *r->factor);
        good = choose_frames(r);
        if (!good) return EXIT_INPUT;
        code = EXIT_FAILED;
        good = calibrate_take(r) && run_fit(r) &&
               (settings->truth == NULL || compare_with_truth(r)) && write_outputs(r);
    }
    if (fit_cancelled) {
        fputs("\nsinew: stopped; no file was left half-written\n", stderr);
        return EXIT_FAILED;
    }
    if (!good) return code;
    return r->above > 0 ? EXIT_POOR : EXIT_OK;
}

void free_result(fit_result *r) {
    free_sentences(&r->notes);
    free_sentences(&r->warnings);
    free(r->frames);
    free(r->markers);
    free(r->column);
    free(r->factor);
    sn_motion_destroy(r->motion);
    sn_model_destroy(r->model);
    sn_model_destroy(r->limited);
    sn_marker_set_destroy(r->set);
    sn_recording_destroy(r->recording);
    free_figure(&r->figure);
}
