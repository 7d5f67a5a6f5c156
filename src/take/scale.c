// SPDX-License-Identifier: MIT
// The shape of a take: when to calibrate, and whether what comes out can be.
#include <math.h>
#include <string.h>

#include "take/take.h"

// Markers of right skeletons sit at 0.056 to 0.088 of the figure's size from their bones (HDM05, CMU,
// the example, with skeletons of their own and of others); of one that is too small by a quarter at
// 0.17, of an elephant at 0.13.
static const double far_from_bones = 0.11;

// Fewer frames hardly tell marker places from joint angles.
enum { FEW_FRAMES = 60 };

// A figure whose size is further off begins with another one, so that no factor has far to go.
static const double size_below = 0.8, size_above = 1.25;

static sn_status replace_set(sn_take *t, const sn_marker_place *places) {
    sn_marker_set *next = NULL;
    SN_TRY(sn_marker_set_create(sn_marker_set_name(t->set), places, sn_marker_set_count(t->set),
                                &t->allocator, &next, NULL));
    sn_marker_set_destroy(t->set);
    t->set = next;
    return SN_OK;
}

static bool is_placed(const sn_marker_set *set) {
    bool placed = true;
    for (int i = 0; i < sn_marker_set_count(set); i++)
        placed &= sn_marker_set_place(set, i)->placed;
    return placed;
}

sn_status sn_take_check_handedness(sn_take *t) {
    sn_handedness *h = &t->summary.handed;
    sn_fit_input input = t->input;
    input.model = t->limited;
    SN_TRY(sn_fit_handedness(&input, &t->options.cancel, &t->allocator, h));
    SN_TRY(sn_take_check_cancel(t));
    if (!h->looks_mirrored) return SN_OK;
    return sn_take_note(t, SN_FINDING_MIRRORED, NULL, h->frames,
                        h->given / fmax(h->mirrored, 1e-12));
}

// After it: markers that hang in the air belong to another skeleton.
static sn_status check_bones(sn_take *t) {
    sn_bone_report b;
    SN_TRY(sn_fit_bones(t->model, &t->allocator, &b));
    // a rigid body has no bones
    if (sn_model_njoint(t->model) <= 3 || !(b.rms > far_from_bones * b.size)) return SN_OK;
    sn_finding *f = sn_take_add(t, SN_FINDING_FAR_FROM_BONES, NULL);
    if (f == NULL) return SN_ERR_MEMORY;
    f->number[0] = b.rms;
    f->number[1] = b.worst;
    f->number[2] = b.size;
    f->marker = b.worst_marker;
    return SN_OK;
}

// Begin with a figure as large as the body.
static sn_status scale_figure(sn_take *t, sn_marker_place *places) {
    double size = t->summary.axes.size;
    if (t->options.calibrate != SN_CALIBRATE_SCALE || !(size > 0) ||
        (size > size_below && size < size_above))
        return SN_OK;
    for (int i = 0; i < sn_marker_set_count(t->set); i++) {
        places[i] = *sn_marker_set_place(t->set, i);
        for (int k = 0; k < 3; k++) places[i].position[k] *= size;
    }
    for (int j = 0; j < sn_model_njoint(t->model); j++) t->factor[j] = size;
    SN_TRY(replace_set(t, places));
    return sn_take_apply(t, t->factor);
}

// Put the markers where the calibration found them.
static sn_status move_markers(sn_take *t, const double *position, sn_marker_place *places) {
    int n = sn_marker_set_count(t->set);
    for (int i = 0; i < n; i++) {
        places[i] = *sn_marker_set_place(t->set, i);
        double moved = 0;
        for (int k = 0; k < 3; k++) moved += pow(position[3 * i + k] - places[i].position[k], 2);
        t->summary.shift += sqrt(moved) / n;
        memcpy(places[i].position, position + 3 * i, sizeof places[i].position);
        places[i].placed = true;
    }
    SN_TRY(replace_set(t, places));
    return sn_take_apply(t, t->summary.reshaped ? t->factor : NULL);
}

static void tell_calibration(void *user, double fraction) {
    sn_take_tell(user, &(sn_take_progress){.stage = SN_STAGE_CALIBRATE, .fraction = fraction});
}

static sn_status calibrate(sn_take *t, double *position, double *factor) {
    int njoint = sn_model_njoint(t->model);
    sn_calibrate_options o = sn_calibrate_options_default();
    sn_error error = {0};
    sn_take_summary *s = &t->summary;
    sn_fit_input input = t->input;
    input.model = t->limited;
    o.frames = t->options.calibrate_frames;
    o.scale = t->options.calibrate == SN_CALIBRATE_SCALE;
    o.limits = t->options.limits != SN_LIMITS_OFF;
    o.threads = t->options.threads;
    o.pool = t->options.pool;
    o.cancel = t->options.cancel;
    o.progress = tell_calibration;
    o.progress_user = t;
    sn_status status =
        sn_calibrate(&input, &o, &t->allocator, position, factor, &s->calibration, &error);
    SN_TRY(sn_take_fail(t, SN_FINDING_FAILED, status, &error));
    SN_TRY(sn_take_check_cancel(t));
    tell_calibration(t, 1);
    s->calibrated = true;
    s->reshaped = o.scale;
    s->shortest = INFINITY;
    for (int j = 0; j < njoint; j++) {
        t->factor[j] *= factor[j];
        s->shortest = fmin(s->shortest, t->factor[j]);
        s->longest = fmax(s->longest, t->factor[j]);
    }
    return SN_OK;
}

static sn_status find_shape(sn_take *t, double *position, double *factor, sn_marker_place *places) {
    SN_TRY(scale_figure(t, places));
    // before markers may move, as they would absorb it
    SN_TRY(sn_take_check_handedness(t));
    SN_TRY(calibrate(t, position, factor));
    SN_TRY(move_markers(t, position, places));
    return check_bones(t);
}

sn_status sn_take_find_shape(sn_take *t) {
    sn_calibrate_use use = t->options.calibrate;
    size_t nmarker = (size_t)sn_model_nmarker(t->model) + 1,
           njoint = (size_t)sn_model_njoint(t->model);
    const sn_allocator *allocator = &t->allocator;
    if (use == SN_CALIBRATE_NONE || (use == SN_CALIBRATE_AUTO && is_placed(t->set))) return SN_OK;
    if (t->input.count < FEW_FRAMES)
        SN_TRY(sn_take_note(t, SN_FINDING_FEW_FRAMES, NULL, t->input.count, 0));
    double *position = sn_acquire(allocator, 3 * nmarker * sizeof *position);
    double *factor = sn_acquire(allocator, njoint * sizeof *factor);
    sn_marker_place *places = sn_acquire(allocator, nmarker * sizeof *places);
    t->factor = sn_acquire(allocator, njoint * sizeof *t->factor);
    sn_status status = SN_ERR_MEMORY;
    if (position != NULL && factor != NULL && places != NULL && t->factor != NULL) {
        for (size_t j = 0; j < njoint; j++) t->factor[j] = factor[j] = 1;
        status = find_shape(t, position, factor, places);
    }
    sn_release(allocator, places);
    sn_release(allocator, factor);
    sn_release(allocator, position);
    return status;
}
