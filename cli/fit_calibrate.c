// SPDX-License-Identifier: MIT
// The calibration of a take, and whether what it found can be.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit_steps.h"

// Markers of right skeletons sit at 0.056 to 0.088 of the figure's size from their bones (HDM05, CMU, the
// example, with skeletons of their own and of others); of one that is too small by a quarter at 0.17, of an
// elephant at 0.13.
static const double far_from_bones = 0.11;

static bool replace_set(fit_result *r, const sn_marker_place *places, int n) {
    sn_marker_set *next = NULL;
    bool good = sn_marker_set_create(sn_marker_set_name(r->set), places, n, NULL, &next) == SN_OK;
    if (!good) complain("out of memory");
    sn_marker_set_destroy(r->set);
    r->set = next;
    return good;
}

static bool is_placed(const sn_marker_set *set) {
    bool placed = true;
    for (int i = 0; i < sn_marker_set_count(set); i++)
        placed &= sn_marker_set_place(set, i)->placed;
    return placed;
}

bool check_handedness(fit_result *r) {
    sn_fit_input input = r->input;
    input.model = r->limited;
    if (sn_fit_handedness(&input, &fit_cancel, NULL, &r->handed) != SN_OK) {
        complain("out of memory");
        return false;
    }
    if (r->handed.looks_mirrored)
        warn(r,
             "the markers look mirrored (in a mirror %d frame%s %.1f times better): the axes or "
             "the left and right labels are likely exchanged; see --axes (one sign turned mirrors "
             "them back; labels are to be exchanged in the file)",
             r->handed.frames, r->handed.frames == 1 ? " fits" : "s fit",
             r->handed.given / fmax(r->handed.mirrored, 1e-12));
    return !fit_cancelled;
}

// After it: markers that hang in the air belong to another skeleton.
static bool check_bones(fit_result *r) {
    sn_bone_report b;
    if (sn_fit_bones(r->model, NULL, &b) != SN_OK) {
        complain("out of memory");
        return false;
    }
    // a rigid body has no bones
    if (sn_model_njoint(r->model) > 3 && b.rms > far_from_bones * b.size)
        warn(r,
             "after the calibration the markers sit %.0f cm from their bones (RMS; the worst, %s, "
             "%.0f cm) on a figure of %.2g m: the skeleton is likely not this body's, or the set "
             "names wrong joints, and the small error proves nothing%s",
             100 * b.rms, sn_model_marker(r->model, b.worst_marker)->name, 100 * b.worst, b.size,
             r->reshaped ? "" : "; --calibrate=scale fits the lengths of bones");
    return true;
}

// Begin with a figure as large as the body, so that no factor has far to go.
static bool scale_figure(fit_result *r) {
    double size = r->axes.size;
    for (int j = 0; j < sn_model_njoint(r->model); j++) r->factor[j] = 1;
    if (!r->plan->calibrate.scale || !(size > 0) || (size > 0.8 && size < 1.25)) return true;
    int n = sn_marker_set_count(r->set);
    sn_marker_place *places = must_alloc((size_t)n, sizeof *places);
    for (int i = 0; i < n; i++) {
        places[i] = *sn_marker_set_place(r->set, i);
        for (int k = 0; k < 3; k++) places[i].position[k] *= size;
    }
    for (int j = 0; j < sn_model_njoint(r->model); j++) r->factor[j] = size;
    bool good = replace_set(r, places, n) && apply_set(r, r->factor);
    free(places);
    return good;
}

// Put the markers where the calibration found them.
static bool move_markers(fit_result *r, const double *position) {
    int n = sn_model_nmarker(r->model);
    sn_marker_place *places = must_alloc((size_t)n, sizeof *places);
    for (int i = 0; i < n; i++) {
        places[i] = *sn_marker_set_place(r->set, i);
        double moved = 0;
        for (int k = 0; k < 3; k++) moved += pow(position[3 * i + k] - places[i].position[k], 2);
        r->shift += sqrt(moved) / n;
        memcpy(places[i].position, position + 3 * i, sizeof places[i].position);
        places[i].placed = true;
    }
    bool good = replace_set(r, places, n);
    free(places);
    return good && apply_set(r, r->reshaped ? r->factor : NULL);
}

static bool calibrate(fit_result *r) {
    int njoint = sn_model_njoint(r->model);
    double *position = must_alloc((size_t)sn_model_nmarker(r->model), 3 * sizeof *position);
    double *factor = must_alloc((size_t)njoint, sizeof *factor);
    meter m = meter_begin(r->settings);
    sn_calibrate_options o = r->plan->calibrate;
    sn_error error = {0};
    sn_fit_input input = r->input;
    input.model = r->limited;
    o.limits = r->plan->fit.limits != SN_LIMITS_OFF;
    o.cancel = fit_cancel;
    o.progress = show_calibration;
    o.progress_user = &m;
    sn_status status = sn_calibrate(&input, &o, NULL, position, factor, &r->calibration, &error);
    meter_end(&m);
    r->calibrate_seconds = now() - m.begin;
    r->calibrated = true;
    r->reshaped = o.scale;
    if (status != SN_OK) (void)file_error(r->settings->input, &error);
    for (int j = 0; status == SN_OK && j < njoint; j++) r->factor[j] *= factor[j];
    r->shortest = INFINITY;
    for (int j = 0; j < njoint; j++) {
        r->shortest = fmin(r->shortest, r->factor[j]);
        r->longest = fmax(r->longest, r->factor[j]);
    }
    bool good = status == SN_OK && !fit_cancelled && move_markers(r, position);
    free(factor);
    free(position);
    return good;
}

bool calibrate_take(fit_result *r) {
    r->input.model = r->model;
    bool wanted = r->plan->must_calibrate || (r->plan->may_calibrate && !is_placed(r->set));
    if (!wanted) return true;
    if (r->input.count < 60)
        note(r,
             "calibrated from %d frame%s only: a short or still take hardly tells marker places "
             "from joint angles, and a small error proves little",
             r->input.count, r->input.count == 1 ? "" : "s");
    if (!scale_figure(r) || !check_handedness(r) || !calibrate(r) || !check_bones(r)) return false;
    r->input.model = r->model;
    return true;
}
