// SPDX-License-Identifier: MIT
// Where a recording does not go on: frames that are missing without a word, or repeat the one before.
//
// Bodies are heavy: from one frame to the next half of the markers change their speed together by a few g, not more. Where
// they do, frames were lost, or two takes were joined, and no marker that leaps there is wrong by itself.
//
// What loses samples often fills in the last one that it had. Held for a while to the last bit, and then elsewhere at
// once: there is nothing in such samples, and they are taken as missing. A foot that stands may be as still, but it is
// slow to go on.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/order.h"
#include "math/vec3.h"
#include "take/take.h"

// Frames that are looked at; markers that show a cut; repeats that are no chance.
enum { LOOKED_AT = 256, MARKERS = 8, HELD = 3 };

// A leap of half of the markers, metres; as an acceleration, m/s^2; of what they mostly do.
static const double least = 0.01, hardest = 60, times = 5;
// A marker that was held leaps by so much, metres, and as many times as it goes in the next frame.
static const double held_leap = 0.03, held_times = 3;
// Seconds that it is held for.
static const double held = 0.05;

typedef struct search {
    sn_take *t;
    int count, nmarker;  // frames, markers that have a column
    int *column;
    double scale;  // to metres
    double bar;    // a leap
    float *value;  // nmarker
} search;

static const double *row_of(const search *s, int frame) {
    return sn_recording_frame(s->t->input.recording, s->t->input.first + frame);
}

static bool sample(const search *s, int frame, int marker, sn_vec3 *out) {
    if (frame < 0 || frame >= s->count) return false;
    const double *x = row_of(s, frame) + 3 * (size_t)s->column[marker];
    if (!sn_fit_there(x)) return false;
    *out = v3_scale(s->scale, v3_from(x));
    return true;
}

// How far a marker is from where it would be at its speed before; false where that is not seen.
static bool off_its_way(const search *s, int frame, int marker, double *out) {
    sn_vec3 x, y, z;
    if (!sample(s, frame, marker, &x) || !sample(s, frame - 1, marker, &y) ||
        !sample(s, frame - 2, marker, &z))
        return false;
    *out = v3_norm(v3_add(v3_sub(x, y), v3_sub(z, y)));
    return true;
}

// What half of the markers do at most; -1 with too few.
static double half_of(const search *s, int frame) {
    size_t n = 0;
    for (int i = 0; i < s->nmarker; i++) {
        double d;
        if (off_its_way(s, frame, i, &d)) s->value[n++] = (float)d;
    }
    if (n < MARKERS) return -1;
    qsort(s->value, n, sizeof *s->value, sn_by_value_float);
    return (double)s->value[n / 2];
}

static double bar_of(const search *s) {
    const double rate = sn_recording_about(s->t->recording)->rate, second = rate > 0 ? rate : 120;
    float value[LOOKED_AT];
    size_t n = 0;
    for (int k = 0; k < LOOKED_AT && s->count > 2; k++) {
        const int frame = 2 + (int)((int64_t)(s->count - 2) * k / LOOKED_AT);
        const double half = half_of(s, frame);
        if (half >= 0) value[n++] = (float)half;
    }
    qsort(value, n, sizeof *value, sn_by_value_float);
    const double usual = n > 0 ? (double)value[n / 2] : 0;
    return fmax(fmax(least, times * usual), hardest / (second * second));
}

// Do more than half of the markers leap?
static bool is_cut(const search *s, int frame) {
    int n = 0, leap = 0;
    for (int i = 0; i < s->nmarker; i++) {
        double d;
        if (!off_its_way(s, frame, i, &d)) continue;
        n++;
        leap += d > s->bar;
    }
    return n >= MARKERS && 2 * leap > n;
}

// --- samples that are held -----------------------------------------------------------------------

static bool is_repeated(const search *s, int frame, int marker) {
    const size_t at = 3 * (size_t)s->column[marker];
    const double *x = row_of(s, frame) + at;
    return sn_fit_there(x) && memcmp(x, row_of(s, frame - 1) + at, 3 * sizeof *x) == 0;
}

static bool is_repeated_by_all(const search *s, int frame) {
    int n = 0;
    for (int i = 0; i < s->nmarker; i++) {
        if (is_repeated(s, frame, i))
            n++;
        else if (sn_fit_there(row_of(s, frame) + 3 * (size_t)s->column[i]))
            return false;
    }
    return n >= MARKERS;
}

// Does a marker that is held until a frame leap behind it?
static bool leaps_behind(const search *s, int frame, int marker) {
    sn_vec3 x, y, z;
    if (!sample(s, frame, marker, &x) || !sample(s, frame + 1, marker, &y)) return false;
    const double leap = v3_norm(v3_sub(y, x));
    const double next = sample(s, frame + 2, marker, &z) ? v3_norm(v3_sub(z, y)) : 0;
    return leap > fmax(held_leap, s->bar) && leap > held_times * next;
}

static int shortest(const search *s) {
    const double rate = sn_recording_about(s->t->recording)->rate;
    const int n = (int)(held * (rate > 0 ? rate : 120));
    return n > HELD ? n : HELD;
}

// The last frame of those from one on that repeat the frame before; one less when that one does not. marker -1: all of them.
static int held_until(const search *s, int frame, int marker) {
    while (frame < s->count &&
           (marker < 0 ? is_repeated_by_all(s, frame) : is_repeated(s, frame, marker)))
        frame++;
    return frame - 1;
}

static sn_status hide(const search *s, int first, int last, int marker) {
    SN_TRY(sn_take_copy_recording(s->t));
    for (int f = first; f <= last; f++) {
        double *row = sn_recording_edit(s->t->relabelled, s->t->input.first + f);
        for (int i = 0; i < s->nmarker; i++)
            for (int k = 0; k < 3 && (marker < 0 || i == marker); k++)
                row[3 * s->column[i] + k] = (double)NAN;
    }
    return SN_OK;
}

static void add(sn_cut *x, int first, int last) {
    if (x->count == 0) x->first = first;
    x->count += last - first + 1;
    if (last > x->last) x->last = last;
    if (first < x->first) x->first = first;
}

// Whole frames first: of these some markers stand by themselves.
static sn_status find_repeated(const search *s) {
    sn_cut *x = &s->t->cuts.repeated;
    for (int f = 1; f < s->count; f++) {
        const int last = held_until(s, f, -1);
        if (last - f + 1 >= shortest(s) && last + 1 < s->count) {
            int leap = 0;
            for (int i = 0; i < s->nmarker; i++) leap += leaps_behind(s, last, i);
            if (leap >= 3) {
                add(x, f, last);
                SN_TRY(hide(s, f, last, -1));
            }
        }
        if (last > f) f = last;
    }
    return SN_OK;
}

static sn_status find_held(const search *s) {
    sn_cut *x = &s->t->cuts.held;
    for (int i = 0; i < s->nmarker; i++) {
        const int before = x->count;
        for (int f = 1; f < s->count; f++) {
            const int last = held_until(s, f, i);
            if (last - f + 1 >= shortest(s) && leaps_behind(s, last, i)) {
                add(x, f, last);
                SN_TRY(hide(s, f, last, i));
            }
            if (last > f) f = last;
        }
        if (x->count > before)
            sn_name_list_add(&s->t->cuts.names, sn_label_name(sn_recording_label(
                                                    s->t->input.recording, s->column[i])));
    }
    return SN_OK;
}

// --- all of it -----------------------------------------------------------------------------------

static sn_status find_cuts(const search *s) {
    sn_cut *x = &s->t->cuts.cut;
    bool before = false;
    for (int f = 2; f < s->count; f++) {
        const bool now = is_cut(s, f);
        // a leap is seen twice, as it is and as a speed that was none
        if (now && !before) {
            add(x, f, f);
            x->most = fmax(x->most, half_of(s, f));
            if (s->t->cut == NULL) {
                s->t->cut = sn_acquire(&s->t->allocator, (size_t)s->count * sizeof *s->t->cut);
                if (s->t->cut == NULL) return SN_ERR_MEMORY;
                for (int k = 0; k < s->count; k++) s->t->cut[k] = false;
            }
            s->t->cut[f] = true;
        }
        before = now && !before;
    }
    return SN_OK;
}

static sn_status find(search *s) {
    for (int i = 0; i < sn_model_nmarker(s->t->model); i++)
        if (s->t->column[i] >= 0) s->column[s->nmarker++] = s->t->column[i];
    s->bar = bar_of(s);
    // what OpenSim's own tool is asked for counts every sample as it is
    if (s->t->options.setup == NULL) {
        SN_TRY(find_repeated(s));
        SN_TRY(find_held(s));
    }
    return find_cuts(s);
}

static sn_status search_for(sn_take *t) {
    const size_t n = (size_t)sn_model_nmarker(t->model) + 1;
    search s = {.t = t, .count = t->input.count, .scale = t->input.axes.scale};
    s.column = sn_acquire(&t->allocator, n * sizeof *s.column);
    s.value = sn_acquire(&t->allocator, n * sizeof *s.value);
    const sn_status status = s.column == NULL || s.value == NULL ? SN_ERR_MEMORY : find(&s);
    sn_release(&t->allocator, s.value);
    sn_release(&t->allocator, s.column);
    return status;
}

static sn_status tell(sn_take *t, sn_finding_code code, const char *text, const sn_cut *x) {
    if (x->count == 0) return SN_OK;
    sn_finding *f = sn_take_add(t, code, text);
    if (f == NULL) return SN_ERR_MEMORY;
    f->number[0] = x->count;
    f->number[1] = x->most;
    f->has_frames = true;
    f->first = (int64_t)x->first + t->summary.first_frame;
    f->last = (int64_t)x->last + t->summary.first_frame;
    return SN_OK;
}

sn_status sn_take_find_cuts(sn_take *t) {
    char text[sizeof t->cuts.names.text + 40];
    // a thing may be thrown
    if (sn_model_njoint(t->model) <= SN_FIT_RIGID) return SN_OK;
    // a take that is prepared anew, with labels put right, has been searched
    if (!t->cuts.searched) SN_TRY(search_for(t));
    t->cuts.searched = true;
    t->input.cut = t->cut;
    sn_name_list_print(&t->cuts.names, text);
    SN_TRY(tell(t, SN_FINDING_FRAMES_REPEATED, NULL, &t->cuts.repeated));
    SN_TRY(tell(t, SN_FINDING_MARKERS_HELD, text, &t->cuts.held));
    return tell(t, SN_FINDING_RECORDING_CUT, NULL, &t->cuts.cut);
}
