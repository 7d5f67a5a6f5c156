// SPDX-License-Identifier: MIT
#include "clip.h"

#include <limits.h>

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

// What is done, for people.
static void tell(const clip_plan *p, cut c, int number, int nframe, double rate, sn_clip_rate what,
                 char *said) {
    size_t n = 0;
    said[0] = '\0';
    if (c.first != 0 || c.count != nframe)
        n += (size_t)snprintf(said + n, 60, "frames %d to %d", number + c.first,
                              number + c.first + c.count - 1);
    const char *comma = n > 0 ? "; " : "";
    if (what == SN_CLIP_RATE_STATED)
        n += (size_t)snprintf(said + n, 60, "%sthe rate was stated: %g frames/s", comma, p->fps);
    if (what == SN_CLIP_RATE_RESAMPLED)
        n += (size_t)snprintf(said + n, 60, "%sresampled from %g to %g frames/s", comma, rate,
                              p->fps);
    if (what == SN_CLIP_RATE_TAKEN_FOR)
        n += (size_t)snprintf(said + n, 60, "%s%.8g frames/s taken for %g", comma, rate, p->fps);
    comma = n > 0 ? "; " : "";
    if (p->every > 1) (void)snprintf(said + n, 60, "%sone frame in %ld", comma, p->every);
}

static sn_clip clip_of(const clip_plan *p, cut c) {
    sn_clip clip = sn_clip_default();
    clip.first = c.first, clip.count = c.count;
    clip.every = p->every < INT_MAX ? (int)p->every : INT_MAX;
    clip.rate = p->fps;
    return clip;
}

static bool refused(const clip_plan *p, const sn_error *error) {
    if (p->fps > 0 && error->status != SN_ERR_MEMORY)
        complain("--fps %g: %s", p->fps, sn_status_text(error->status));
    else
        complain("%s", sn_status_text(error->status));
    return false;
}

bool clip_motion(const clip_plan *plan, const char *path, const sn_model *model, sn_motion **motion,
                 char *said) {
    int number = sn_motion_first_frame(*motion), nframe = sn_motion_nframe(*motion);
    cut c;
    sn_motion *part = NULL;
    sn_clip_rate what;
    sn_error error = {0};
    if (!find_cut(plan, path, number, nframe, &c)) return false;
    sn_clip wanted = clip_of(plan, c);
    if (sn_motion_clip(model, *motion, &wanted, NULL, &part, &what, &error) != SN_OK)
        return refused(plan, &error);
    tell(plan, c, number, nframe, sn_motion_rate(*motion), what, said);
    sn_motion_destroy(*motion);
    *motion = part;
    return true;
}

bool clip_recording(const clip_plan *plan, const char *path, sn_recording **recording, char *said) {
    return clip_alongside(plan, path, sn_recording_about(*recording)->first_frame, recording, said);
}

bool clip_alongside(const clip_plan *plan, const char *path, int first_frame,
                    sn_recording **recording, char *said) {
    const sn_recording_info *info = sn_recording_about(*recording);
    cut c;
    sn_recording *part = NULL;
    sn_clip_rate what;
    sn_error error = {0};
    if (!find_cut(plan, path, first_frame, info->nframe, &c)) return false;
    sn_clip wanted = clip_of(plan, c);
    if (sn_recording_clip(*recording, &wanted, NULL, &part, &what, &error) != SN_OK)
        return refused(plan, &error);
    tell(plan, c, info->first_frame, info->nframe, info->rate, what, said);
    sn_recording_destroy(*recording);
    *recording = part;
    return true;
}
