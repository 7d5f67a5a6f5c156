// SPDX-License-Identifier: MIT
// The shape of a take: when to calibrate, and whether what comes out can be.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/vec3.h"
#include "take/estimate.h"
#include "take/marker_set.h"
#include "take/stretch.h"
#include "take/take.h"

// Markers of right skeletons sit at 0.056 to 0.088 of the figure's size from their bones (HDM05, CMU,
// the example, with skeletons of their own and of others); of one that is too small by a quarter at
// 0.17, of an elephant at 0.13.
static const double far_from_bones = 0.11;

// Fewer frames hardly tell marker places from joint angles.
enum { FEW_FRAMES = 60 };

// A figure whose size is further off begins with another one, so that no factor has far to go.
static const double size_below = 0.8, size_above = 1.25;

// Legs of people of one height differ by some percent. Whatever is given, they come out as the markers show them to 2 % (HDM05,
// CMU, subject4, the example; 1.2 to 2.1 m).
static const double other_height = 0.08;

static sn_status replace_set(sn_take *t, const sn_marker_place *places) {
    sn_marker_set *next = NULL;
    SN_TRY(sn_marker_set_create(sn_marker_set_name(t->set), places, sn_marker_set_count(t->set),
                                &t->allocator, &next, NULL));
    // the first one is what a fit with other labels begins with
    if (t->unshaped == NULL)
        t->unshaped = t->set;
    else
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

// @param few  may be NULL
static sn_status find_handedness(sn_take *t, sn_fit_few *few) {
    sn_fit_input input = t->input;
    input.model = t->limited;
    SN_TRY(sn_fit_handedness_poses(&input, &t->options.cancel, &t->allocator, &t->summary.handed,
                                   few));
    return sn_take_check_cancel(t);
}

static sn_status tell_handedness(sn_take *t) {
    const sn_handedness *h = &t->summary.handed;
    for (int legs = 0; legs < 2 && !h->looks_mirrored; legs++)
        if (legs ? h->legs_exchanged : h->arms_exchanged)
            SN_TRY(sn_take_note(t, SN_FINDING_SIDES_EXCHANGED, legs ? "legs" : "arms",
                                sqrt(1 / fmax(legs ? h->legs : h->arms, 1e-30)), 0));
    if (!h->looks_mirrored) return SN_OK;
    return sn_take_note(t, SN_FINDING_MIRRORED, NULL, h->frames,
                        h->given / fmax(h->mirrored, 1e-12));
}

sn_status sn_take_check_handedness(sn_take *t) {
    SN_TRY(find_handedness(t, NULL));
    return tell_handedness(t);
}

// After it: markers that hang in the air belong to another skeleton.
static sn_status check_bones(sn_take *t) {
    sn_bone_report b;
    SN_TRY(sn_fit_bones(t->model, &t->allocator, &b));
    // a rigid body has no bones, and an .osim file's bodies are more than the ways between their joints
    if (t->options.coordinates != NULL || sn_model_njoint(t->model) <= 3 ||
        !(b.rms > far_from_bones * b.size))
        return SN_OK;
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
    for (int j = 0; j < sn_model_njoint(t->model); j++) t->stretch[j] = m3_diagonal(size);
    SN_TRY(replace_set(t, places));
    return sn_take_apply(t, t->stretch);
}

// Put the markers where the calibration found them.
static sn_status move_markers(sn_take *t, const double *position, sn_marker_place *places) {
    int n = sn_marker_set_count(t->set);
    for (int i = 0; i < n; i++) {
        places[i] = *sn_marker_set_place(t->set, i);
        sn_vec3 moved = v3_sub(v3_from(position + 3 * i), v3_from(places[i].position));
        t->summary.shift += v3_norm(moved) / n;
        memcpy(places[i].position, position + 3 * i, sizeof places[i].position);
        places[i].placed = true;
    }
    SN_TRY(replace_set(t, places));
    return sn_take_apply(t, t->summary.reshaped ? t->stretch : NULL);
}

static void tell_calibration(void *user, double fraction) {
    const sn_take *t = user;
    // one with labels put right is a part of the end
    if (t->finishing) return;
    sn_take_tell(t, &(sn_take_progress){.stage = SN_STAGE_CALIBRATE, .fraction = fraction});
}

// How far from its joint a marker may be whose place on it nobody knows, metres.
static const double nowhere = 0.2;

// How well each marker's place is known: by the set, by the flags of an .osim file, by its name.
static void find_doubts(const sn_take *t, double *doubt) {
    for (int i = 0; i < sn_marker_set_count(t->set); i++) {
        const sn_marker_place *p = sn_marker_set_place(t->set, i);
        bool fixed;
        doubt[i] = sn_doubt_of_name(p->name);
        if (sn_osim_landmark(t->options.coordinates, p->name, &fixed))
            doubt[i] = sn_doubt_of_flag(p->name, fixed);
        // about its joint, where nobody said more
        if (!p->placed) doubt[i] = fmax(doubt[i], nowhere);
        if (p->doubt > 0) doubt[i] = p->doubt;
    }
}

// Without landmarks nothing measures a figure: of the built-in set alone, as only that says how well it knows places.
static sn_status check_landmarks(sn_take *t) {
    int n = sn_marker_set_count(t->set);
    for (int i = 0; i < n; i++) {
        double doubt = sn_marker_set_place(t->set, i)->doubt;
        if (!(doubt > SN_ESTIMATE_WELL_KNOWN)) return SN_OK;
    }
    return sn_take_note(t, SN_FINDING_LANDMARKS_NONE, NULL, n, 0);
}

static void tell_shape(sn_take *t, const sn_mat3 *stretch) {
    sn_take_summary *s = &t->summary;
    s->calibrated = true;
    s->chest = t->mended != NULL && t->options.calibrate != SN_CALIBRATE_SCALE;
    s->reshaped = s->chest || t->options.calibrate == SN_CALIBRATE_SCALE;
    s->shortest = INFINITY;
    for (int j = 0; j < sn_model_njoint(t->model); j++) {
        t->stretch[j] = m3_mulm(&stretch[j], &t->stretch[j]);
        double size = sn_stretch_size(&t->stretch[j]);
        s->shortest = fmin(s->shortest, size);
        s->longest = fmax(s->longest, size);
    }
}

static sn_calibrate_options calibrate_options(const sn_take *t) {
    sn_calibrate_options o = sn_calibrate_options_default();
    o.frames = t->options.calibrate_frames;
    o.scale = t->options.calibrate == SN_CALIBRATE_SCALE;
    if (t->mended != NULL) o.only = t->missing.chest;
    o.coordinates = t->options.coordinates;
    o.left = t->left;
    o.height = t->options.height;
    o.lengths = t->options.lengths;
    o.nlength = t->options.nlength;
    o.threads = t->options.threads;
    o.pool = t->options.pool;
    o.cancel = t->options.cancel;
    return o;
}

// @param o  the rest of its options is filled in
static sn_status run_calibration(sn_take *t, sn_calibrate_options *o, double *position,
                                 sn_mat3 *stretch, sn_calibrate_report *report, sn_error *error) {
    sn_fit_input input = t->input, still;
    size_t n = (size_t)sn_model_nmarker(t->model) + 1;
    double *doubt = sn_acquire(&t->allocator, n * (sizeof *doubt + sizeof(int)));
    // a marker that is elsewhere for a while must not move the shape
    unsigned char *dropped = sn_acquire(&t->allocator, (size_t)input.count * n);
    sn_status status = doubt == NULL || dropped == NULL ? SN_ERR_MEMORY : SN_OK;
    input.model = t->limited;
    if (status == SN_OK) find_doubts(t, doubt);
    if (status == SN_OK) status = sn_take_find_still(t, (int *)(doubt + n), &still);
    // once, by the calibration that counts
    if (status == SN_OK && still.count > 0 && o->sure != NULL)
        status = sn_take_check_still(t, &still);
    if (status == SN_OK && still.count > 0) o->still = &still;
    o->doubt = doubt;
    if (status == SN_OK) status = sn_fit_drop_leaps(&input, &t->allocator, dropped);
    input.dropped = dropped;
    if (status == SN_OK)
        status = sn_calibrate(&input, o, &t->allocator, position, stretch, report, error);
    // what it did without is asked for when the fit has found what is wrong
    if (o->sure != NULL) {
        sn_release(&t->allocator, t->unused);
        t->unused = dropped;
    } else {
        sn_release(&t->allocator, dropped);
    }
    sn_release(&t->allocator, doubt);
    return status;
}

// A marker of which so many samples were taken for right in the calibration and are wrong has moved the shape.
static const double misled = 0.05;

sn_status sn_take_was_misled(sn_take *t, bool *out) {
    const size_t nmarker = (size_t)sn_model_nmarker(t->model), count = (size_t)t->input.count;
    const unsigned char *wrong = t->fitting.dropped;
    *out = false;
    if (t->unused == NULL || wrong == NULL || t->options.setup != NULL) return SN_OK;
    for (size_t i = 0; i < nmarker && !*out; i++) {
        size_t n = 0;
        for (size_t f = 0; f < count; f++)
            n += (wrong[f * nmarker + i] & 1) != 0 && !t->unused[f * nmarker + i];
        *out = (double)n > misled * (double)count;
    }
    if (!*out) return SN_OK;
    t->wrong = sn_acquire(&t->allocator, count * nmarker + 1);
    if (t->wrong == NULL) return SN_ERR_MEMORY;
    for (size_t i = 0; i < count * nmarker; i++) t->wrong[i] = wrong[i] & 1;
    t->input.wrong = t->wrong;
    return SN_OK;
}

static sn_status calibrate(sn_take *t, double *position, sn_mat3 *stretch) {
    sn_calibrate_options o = calibrate_options(t);
    sn_error error = {0};
    const size_t room =
        (size_t)sn_model_nmarker(t->model) + 1 + 2 * (size_t)sn_model_njoint(t->model);
    t->sure = sn_acquire(&t->allocator, room * sizeof *t->sure);
    if (t->sure == NULL) return SN_ERR_MEMORY;
    o.sure = t->sure;
    o.nsure = &t->nsure;
    o.progress = tell_calibration;
    o.progress_user = t;
    sn_status status = run_calibration(t, &o, position, stretch, &t->summary.calibration, &error);
    // what a static trial is refused for is told already
    if (error.text[0] != '\0') status = sn_take_fail(t, SN_FINDING_FAILED, status, &error);
    SN_TRY(status);
    SN_TRY(sn_take_check_cancel(t));
    tell_calibration(t, 1);
    tell_shape(t, stretch);
    return SN_OK;
}

// Frames of a calibration that only compares labels: with 60 they stand no further apart.
enum { COMPARED = 20 };

sn_status sn_take_weigh_labels(sn_take *t, double *energy) {
    sn_calibrate_options o = calibrate_options(t);
    sn_calibrate_report report;
    sn_error error = {0};
    const size_t njoint = (size_t)sn_model_njoint(t->model);
    double *position =
        sn_acquire(&t->allocator, 3 * ((size_t)sn_model_nmarker(t->model) + 1) * sizeof *position);
    sn_mat3 *stretch = sn_acquire(&t->allocator, njoint * sizeof *stretch);
    *energy = INFINITY;
    o.energy = energy;
    if (o.frames > COMPARED) o.frames = COMPARED;
    sn_status status = position == NULL || stretch == NULL ? SN_ERR_MEMORY : SN_OK;
    for (size_t j = 0; j < njoint && status == SN_OK; j++) stretch[j] = m3_identity();
    if (status == SN_OK) status = run_calibration(t, &o, position, stretch, &report, &error);
    sn_release(&t->allocator, stretch);
    sn_release(&t->allocator, position);
    SN_TRY(sn_take_check_cancel(t));
    return status;
}

// What the take does not show. Names are the present model's: the one that the calibration saw is gone.
static sn_status tell_sure(sn_take *t) {
    sn_name_list list = {0};
    static const char *const what[][2] = {
        {"place of ", "places of "}, {"size of ", "sizes of "}, {"zero of ", "zeros of "}};
    int kind = -1;  // that was told last
    int hidden[3] = {0};
    for (int i = 0; i < t->nsure; i++) hidden[t->sure[i].kind] += !t->sure[i].shown;
    for (int i = 0; i < t->nsure; i++) {
        sn_take_sure *s = &t->sure[i];
        if (s->kind == SN_SURE_PLACE)
            s->name = sn_model_marker(t->model, s->index)->name;
        else
            s->name = sn_model_joint(t->model, s->index)->name;
        // bodies come before joints among the frames of an .osim file
        for (int f = sn_model_nframe(t->model) - 1; s->kind == SN_SURE_SIZE && f >= 0; f--)
            if (sn_model_frame(t->model, f)->joint == s->index)
                s->name = sn_model_frame(t->model, f)->name;
        char one[120];
        // left and right are held alike, and a marker that may be anywhere is where it is seen
        if (s->shown) continue;
        (void)snprintf(one, sizeof one, "%s%.80s",
                       (int)s->kind != kind ? what[s->kind][hidden[s->kind] > 1] : "", s->name);
        sn_name_list_add(&list, one);
        kind = (int)s->kind;
    }
    char text[sizeof list.text + 40];
    if (list.count == 0) return SN_OK;
    sn_name_list_print(&list, text);
    return sn_take_note(t, SN_FINDING_NOT_SHOWN, text, list.count, 0);
}

// A height that was given, against that of the legs as they came out. These follow the markers where the two contradict each
// other, and the rest of the body is torn between them.
static sn_status check_height(sn_take *t) {
    const double given = t->options.height;
    double found = 0;
    if (!(given > 0)) return SN_OK;
    double *q = sn_acquire(&t->allocator, (size_t)sn_model_nq(t->model) * sizeof *q);
    if (q == NULL) return SN_ERR_MEMORY;
    sn_model_zero(t->model, q);
    sn_status status = sn_fit_height(t->model, q, &t->allocator, &found);
    sn_release(&t->allocator, q);
    if (status != SN_OK || !(found > 0) || fabs(given / found - 1) < other_height) return status;
    return sn_take_note(t, SN_FINDING_HEIGHT_DIFFERS, NULL, given, found);
}

// Before markers may move, as they would absorb it.
static sn_status check_labels(sn_take *t) {
    const size_t nq = (size_t)sn_model_nq(t->limited), n = (size_t)sn_model_nmarker(t->limited);
    double *doubt = sn_acquire(&t->allocator, (n + 1 + SN_FIT_FEW * nq) * sizeof *doubt);
    sn_fit_few few = {.q = doubt != NULL ? doubt + n + 1 : NULL};
    bool mended = false;
    sn_status status = doubt == NULL ? SN_ERR_MEMORY : find_handedness(t, &few);
    if (status == SN_OK && !t->summary.handed.looks_mirrored) {
        find_doubts(t, doubt);
        status = sn_take_find_mixed(t, doubt, &few, &mended);
    }
    sn_release(&t->allocator, doubt);
    SN_TRY(status);
    if (mended) SN_TRY(find_handedness(t, NULL));
    return tell_handedness(t);
}

static sn_status find_shape(sn_take *t, double *position, sn_mat3 *stretch,
                            sn_marker_place *places) {
    SN_TRY(scale_figure(t, places));
    SN_TRY(check_labels(t));
    SN_TRY(calibrate(t, position, stretch));
    SN_TRY(move_markers(t, position, places));
    SN_TRY(check_height(t));
    SN_TRY(sn_take_tell_missing(t));
    SN_TRY(tell_sure(t));
    return check_bones(t);
}

sn_status sn_take_find_shape(sn_take *t) {
    sn_calibrate_use use = t->options.calibrate;
    size_t nmarker = (size_t)sn_model_nmarker(t->model) + 1,
           njoint = (size_t)sn_model_njoint(t->model);
    const sn_allocator *allocator = &t->allocator;
    if (use == SN_CALIBRATE_NONE || (use == SN_CALIBRATE_AUTO && is_placed(t->set)))
        return sn_take_has_still(&t->options)
                   ? sn_take_note(t, SN_FINDING_STATIC_UNUSED, NULL, 0, 0)
                   : SN_OK;
    if (t->input.count < FEW_FRAMES)
        SN_TRY(sn_take_note(t, SN_FINDING_FEW_FRAMES, NULL, t->input.count, 0));
    SN_TRY(check_landmarks(t));
    double *position = sn_acquire(allocator, 3 * nmarker * sizeof *position);
    sn_mat3 *stretch = sn_acquire(allocator, njoint * sizeof *stretch);
    sn_marker_place *places = sn_acquire(allocator, nmarker * sizeof *places);
    t->stretch = sn_acquire(allocator, njoint * sizeof *t->stretch);
    sn_status status = SN_ERR_MEMORY;
    if (position != NULL && stretch != NULL && places != NULL && t->stretch != NULL) {
        for (size_t j = 0; j < njoint; j++) t->stretch[j] = stretch[j] = m3_identity();
        status = find_shape(t, position, stretch, places);
    }
    sn_release(allocator, places);
    sn_release(allocator, stretch);
    sn_release(allocator, position);
    return status;
}
