// SPDX-License-Identifier: MIT
// Part of a take, or the take at another rate: cut, then resampled, then thinned out.
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "motion/clock.h"
#include "sinew/motion.h"

sn_clip sn_clip_default(void) { return (sn_clip){.count = INT_MAX, .every = 1}; }

// What is to be done with a take of so many frames.
typedef struct plan {
    int first, count, every;
    int number;          // of the first frame that is kept
    double rate;         // before thinning
    bool cut, resample;  // else these need no step of their own
    sn_clip_rate what;
} plan;

static sn_status make_plan(const sn_clip *clip, int nframe, int number, double rate, plan *out,
                           sn_error *error) {
    int rest = nframe - clip->first;
    if (clip->first < 0 || clip->first > nframe) return sn_fail_range(error, "first");
    if (clip->count < 0) return sn_fail_range(error, "count");
    if (clip->every < 1) return sn_fail_range(error, "every");
    if (!(clip->rate >= 0) || isinf(clip->rate)) return sn_fail_range(error, "rate");
    *out = (plan){.first = clip->first,
                  .count = clip->count < rest ? clip->count : rest,
                  .every = clip->every,
                  .number = number + clip->first,
                  .rate = clip->rate > 0 ? clip->rate : rate,
                  .what = SN_CLIP_RATE_KEPT};
    out->cut = out->count != nframe;
    if (clip->rate > 0 && !(rate > 0)) {
        out->what = SN_CLIP_RATE_STATED;
    } else if (clip->rate > 0 && !sn_same_rate(clip->rate, rate)) {
        out->what = SN_CLIP_RATE_RESAMPLED;
        out->resample = true;
    } else if (clip->rate > 0 && clip->rate != rate) {
        out->what = SN_CLIP_RATE_TAKEN_FOR;
    }
    return SN_OK;
}

// Frames first, first + every, ... under new numbers and a new rate: times stay what they are.
typedef struct pick {
    int first, count, every, number;
    double rate;
} pick;

static double time_moved(int number, double rate, const pick *p) {
    if (!(rate > 0) || !(p->rate > 0)) return 0;
    return sn_clock_time(number, 0, rate) - sn_clock_time(p->number, 0, p->rate);
}

static int picked(const pick *p) { return p->count > 0 ? (p->count - 1) / p->every + 1 : 0; }

static sn_status pick_motion(const sn_motion *from, const pick *p, const sn_allocator *allocator,
                             sn_motion **out, sn_error *error) {
    int n = picked(p), nq = sn_motion_nq(from), number = sn_motion_first_frame(from) + p->first;
    SN_TRY(sn_motion_create(n, nq, p->number, p->rate, allocator, out, error));
    sn_motion_set_time_offset(*out, sn_motion_time_offset(from) +
                                        time_moved(number, sn_motion_rate(from), p));
    for (int k = 0; k < n; k++)
        memcpy(sn_motion_edit(*out, k), sn_motion_frame(from, p->first + k * p->every),
               (size_t)nq * sizeof(double));
    return SN_OK;
}

static sn_status pick_recording(const sn_recording *from, const pick *p,
                                const sn_allocator *allocator, sn_recording **out,
                                sn_error *error) {
    sn_recording_info info = *sn_recording_about(from);
    info.nframe = picked(p);
    info.time_offset += time_moved(info.first_frame + p->first, info.rate, p);
    info.first_frame = p->number;
    info.rate = p->rate;
    const char **labels = sn_acquire(allocator, ((size_t)info.nmarker + 1) * sizeof *labels);
    if (labels == NULL) return sn_fail_memory(error);
    for (int m = 0; m < info.nmarker; m++) labels[m] = sn_recording_label(from, m);
    sn_status status = sn_recording_create(&info, labels, allocator, out, error);
    sn_release(allocator, labels);
    for (int k = 0; status == SN_OK && k < info.nframe; k++)
        memcpy(sn_recording_edit(*out, k), sn_recording_frame(from, p->first + k * p->every),
               3 * (size_t)info.nmarker * sizeof(double));
    return status;
}

// The first step keeps the take's own rate where the next one resamples; the last one thins out.
static pick cutting(const plan *p, double rate) {
    return (pick){p->first, p->count, 1, p->number, rate};
}

// Counted anew where numbers would no longer be the file's.
static pick thinning(const plan *p, int first, int count, int number) {
    return (pick){first, count, p->every, p->every > 1 ? 1 : number, p->rate / p->every};
}

sn_status sn_motion_clip(const sn_model *model, const sn_motion *motion, const sn_clip *clip,
                         const sn_allocator *allocator, sn_motion **out, sn_clip_rate *what,
                         sn_error *error) {
    if (out != NULL) *out = NULL;
    if (what != NULL) *what = SN_CLIP_RATE_KEPT;
    SN_NEED(model, error);
    SN_NEED(motion, error);
    SN_NEED(clip, error);
    SN_NEED(out, error);
    plan p = {0};
    double rate = sn_motion_rate(motion);
    SN_TRY(
        make_plan(clip, sn_motion_nframe(motion), sn_motion_first_frame(motion), rate, &p, error));
    if (what != NULL) *what = p.what;
    if (!p.resample) {
        pick last = thinning(&p, p.first, p.count, p.number);
        return pick_motion(motion, &last, allocator, out, error);
    }
    sn_motion *part = NULL, *at_rate = NULL;
    pick first = cutting(&p, rate);
    sn_status status = p.cut ? pick_motion(motion, &first, allocator, &part, error) : SN_OK;
    if (status == SN_OK)
        status = sn_motion_resample(model, part != NULL ? part : motion, p.rate, allocator,
                                    &at_rate, error);
    if (status == SN_OK && p.every > 1) {
        pick last = thinning(&p, 0, sn_motion_nframe(at_rate), 1);
        status = pick_motion(at_rate, &last, allocator, out, error);
    } else if (status == SN_OK) {
        *out = at_rate, at_rate = NULL;
    }
    sn_motion_destroy(part);
    sn_motion_destroy(at_rate);
    return status;
}

sn_status sn_recording_clip(const sn_recording *recording, const sn_clip *clip,
                            const sn_allocator *allocator, sn_recording **out, sn_clip_rate *what,
                            sn_error *error) {
    if (out != NULL) *out = NULL;
    if (what != NULL) *what = SN_CLIP_RATE_KEPT;
    SN_NEED(recording, error);
    SN_NEED(clip, error);
    SN_NEED(out, error);
    plan p = {0};
    const sn_recording_info *info = sn_recording_about(recording);
    SN_TRY(make_plan(clip, info->nframe, info->first_frame, info->rate, &p, error));
    if (what != NULL) *what = p.what;
    if (!p.resample) {
        pick last = thinning(&p, p.first, p.count, p.number);
        return pick_recording(recording, &last, allocator, out, error);
    }
    sn_recording *part = NULL, *at_rate = NULL;
    pick first = cutting(&p, info->rate);
    sn_status status = p.cut ? pick_recording(recording, &first, allocator, &part, error) : SN_OK;
    if (status == SN_OK)
        status = sn_recording_resample(part != NULL ? part : recording, p.rate, allocator, &at_rate,
                                       error);
    if (status == SN_OK && p.every > 1) {
        pick last = thinning(&p, 0, sn_recording_about(at_rate)->nframe, 1);
        status = pick_recording(at_rate, &last, allocator, out, error);
    } else if (status == SN_OK) {
        *out = at_rate, at_rate = NULL;
    }
    sn_recording_destroy(part);
    sn_recording_destroy(at_rate);
    return status;
}
