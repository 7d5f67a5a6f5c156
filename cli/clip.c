// SPDX-License-Identifier: MIT
#include "clip.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Rates nearer to each other than this part of themselves are one, written with few digits.
static const double same_rate = 1e-4;

// --- which frames --------------------------------------------------------------------------------

typedef struct cut {
    int first, count;  // from 0
} cut;

static bool find_cut(const clip_plan *p, const char *path, int first_frame, int nframe, cut *out) {
    long from = first_frame, to = from + nframe - 1;
    long first = p->frames.first != LONG_MIN ? p->frames.first : from;
    long last = p->frames.last != LONG_MAX ? p->frames.last : to;
    *out = (cut){0, nframe};
    if (p->frames_word == NULL) return true;
    if (nframe == 0 || first < from || last > to || first > last) {
        complain("--frames %s: the frames of %s are %ld to %ld", p->frames_word, path, from, to);
        return false;
    }
    *out = (cut){(int)(first - from), (int)(last - first + 1)};
    return true;
}

// --- motions and recordings ----------------------------------------------------------------------

// Seconds by which a frame's time would change with its new number and rate.
static double time_moved(int number, double rate, int new_number, double new_rate) {
    if (!(rate > 0) || !(new_rate > 0)) return 0;
    return (number > 1 ? number - 1 : 0) / rate - (new_number > 1 ? new_number - 1 : 0) / new_rate;
}

static sn_motion *pick_motion(const sn_motion *from, cut c, long every, int number, double rate) {
    int n = (int)((c.count + every - 1) / every), nq = sn_motion_nq(from);
    sn_motion *to = NULL;
    if (sn_motion_create(n, nq, number, rate, NULL, &to, NULL) != SN_OK) return NULL;
    sn_motion_set_time_offset(to, sn_motion_time_offset(from) +
                                      time_moved(sn_motion_first_frame(from) + c.first,
                                                 sn_motion_rate(from), number, rate));
    for (int k = 0; k < n; k++)
        memcpy(sn_motion_edit(to, k), sn_motion_frame(from, c.first + (int)(k * every)),
               (size_t)nq * sizeof(double));
    return to;
}

static sn_recording *pick_recording(const sn_recording *from, cut c, long every, int number,
                                    double rate) {
    sn_recording_info info = *sn_recording_about(from);
    info.nframe = (int)((c.count + every - 1) / every);
    info.time_offset += time_moved(info.first_frame + c.first, info.rate, number, rate);
    info.first_frame = number;
    info.rate = rate;
    const char **labels = must_alloc((size_t)info.nmarker, sizeof *labels);
    for (int m = 0; m < info.nmarker; m++) labels[m] = sn_recording_label(from, m);
    sn_recording *to = NULL;
    sn_status status = sn_recording_create(&info, labels, NULL, &to, NULL);
    free(labels);
    if (status != SN_OK) return NULL;
    for (int k = 0; k < info.nframe; k++)
        memcpy(sn_recording_edit(to, k), sn_recording_frame(from, c.first + (int)(k * every)),
               3 * (size_t)info.nmarker * sizeof(double));
    return to;
}

// Either of the two, so that the order of the steps stands in one place.
typedef struct take {
    const sn_model *model;
    sn_motion *motion;
    sn_recording *recording;
} take;

static void replace(take *t, sn_motion *motion, sn_recording *recording) {
    sn_motion_destroy(t->motion);
    sn_recording_destroy(t->recording);
    t->motion = motion;
    t->recording = recording;
}

static bool pick(take *t, cut c, long every, int number, double rate) {
    sn_motion *motion = t->motion == NULL ? NULL : pick_motion(t->motion, c, every, number, rate);
    sn_recording *recording =
        t->recording == NULL ? NULL : pick_recording(t->recording, c, every, number, rate);
    if (motion == NULL && recording == NULL) {
        complain("out of memory");
        return false;
    }
    replace(t, motion, recording);
    return true;
}

static bool resample(take *t, double fps) {
    sn_motion *motion = NULL;
    sn_recording *recording = NULL;
    sn_status status = t->motion != NULL
                           ? sn_motion_resample(t->model, t->motion, fps, NULL, &motion, NULL)
                           : sn_recording_resample(t->recording, fps, NULL, &recording, NULL);
    if (status != SN_OK) {
        complain("--fps %g: %s", fps, sn_status_text(status));
        return false;
    }
    replace(t, motion, recording);
    return true;
}

static int count_of(const take *t) {
    return t->motion != NULL ? sn_motion_nframe(t->motion)
                             : sn_recording_about(t->recording)->nframe;
}

static int number_of(const take *t) {
    return t->motion != NULL ? sn_motion_first_frame(t->motion)
                             : sn_recording_about(t->recording)->first_frame;
}

static double rate_of(const take *t) {
    return t->motion != NULL ? sn_motion_rate(t->motion) : sn_recording_about(t->recording)->rate;
}

static bool clip(const clip_plan *p, take *t, cut c, char *said) {
    double rate = rate_of(t), fps = p->fps > 0 ? p->fps : rate;
    bool all = c.first == 0 && c.count == count_of(t);
    size_t n = 0;
    said[0] = '\0';
    if (!all)
        n += (size_t)snprintf(said + n, 60, "frames %d to %d", number_of(t) + c.first,
                              number_of(t) + c.first + c.count - 1);
    const char *comma = n > 0 ? "; " : "";
    bool change = fps > 0 && rate > 0 && fabs(fps / rate - 1) > same_rate;
    if (p->fps > 0 && !(rate > 0)) {
        n += (size_t)snprintf(said + n, 60, "%sthe rate was stated: %g frames/s", comma, fps);
    } else if (change) {
        n += (size_t)snprintf(said + n, 60, "%sresampled from %g to %g frames/s", comma, rate, fps);
    } else if (fps != rate) {
        n += (size_t)snprintf(said + n, 60, "%s%.8g frames/s taken for %g", comma, rate, fps);
    }
    comma = n > 0 ? "; " : "";
    if (p->every > 1) (void)snprintf(said + n, 60, "%sone frame in %ld", comma, p->every);
    if (!all && !pick(t, c, 1, number_of(t) + c.first, rate)) return false;
    if (change && !resample(t, fps)) return false;
    if (p->every == 1 && (change || fps == rate)) return true;
    cut rest = {0, count_of(t)};
    // counted anew where numbers would no longer be the file's
    int number = p->every > 1 ? 1 : number_of(t);
    return pick(t, rest, p->every, number, fps / (double)p->every);
}

bool clip_motion(const clip_plan *plan, const char *path, const sn_model *model, sn_motion **motion,
                 char *said) {
    take t = {.model = model, .motion = *motion};
    cut c;
    if (!find_cut(plan, path, number_of(&t), count_of(&t), &c)) return false;
    bool good = clip(plan, &t, c, said);
    *motion = t.motion;
    return good;
}

bool clip_recording(const clip_plan *plan, const char *path, sn_recording **recording, char *said) {
    return clip_alongside(plan, path, sn_recording_about(*recording)->first_frame, recording, said);
}

bool clip_alongside(const clip_plan *plan, const char *path, int first_frame,
                    sn_recording **recording, char *said) {
    take t = {.recording = *recording};
    cut c;
    if (!find_cut(plan, path, first_frame, count_of(&t), &c)) return false;
    bool good = clip(plan, &t, c, said);
    *recording = t.recording;
    return good;
}
