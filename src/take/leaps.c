// SPDX-License-Identifier: MIT
// Markers that leap away and back again, by their own ways alone: no figure is asked.
//
// A marker goes on as it went: where it is further from there than it ever is, it has leapt. A leap by about as much
// the other way within some seconds brings it back, and between the two it was elsewhere. A thrown sample is the
// shortest of these.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/order.h"
#include "math/vec3.h"
#include "take/fit.h"

enum { SAMPLES = 1024, OPEN = 64, SHORT = 4 };

// A leap, metres, against what the marker does anyway; back again by as much but for this share.
static const double leap_least = 0.03, leap_times = 4, leap_back = 0.5;
// Seconds: that a leap is remembered for; a gap after which nothing is known of a marker's way; in which a hand or a foot
// changes its speed, so that it is no leap at few frames a second.
static const double remembered = 2.5, forgotten = 0.1, turning = 0.03;

// Of a marker's samples that may be left out.
static const double most_away = 0.7;

static double rate_of(const sn_fit_input *in) {
    double rate = sn_recording_about(in->recording)->rate;
    return fmin(rate > 0 ? rate : 120, 1e6);
}

static bool place_of(const sn_fit_input *in, int marker, int frame, sn_vec3 *out) {
    double x[3];
    if (frame < 0 || frame >= in->count || !sn_fit_goal(in, marker, in->first + frame, x))
        return false;
    *out = v3_from(x);
    return true;
}

bool sn_fit_leap_at(const sn_fit_input *in, int marker, int frame, double *out) {
    sn_vec3 x, y, z;
    int memory = (int)(forgotten * rate_of(in)) + 1;
    if (!place_of(in, marker, frame, &x)) return false;
    for (int k = frame - 1; k > 0 && k >= frame - memory; k--) {
        if (!place_of(in, marker, k, &y)) continue;
        if (!place_of(in, marker, k - 1, &z)) z = y;
        *out = v3_norm(v3_sub(v3_sub(x, y), v3_scale(frame - k, v3_sub(y, z))));
        return true;
    }
    return false;
}

double sn_fit_leap_least(const sn_fit_input *in, int marker) {
    float value[SAMPLES];
    size_t n = 0;
    int step = in->count / SAMPLES + 1;
    double d;
    for (int f = 2; f < in->count && n < SAMPLES; f += step)
        if (sn_fit_leap_at(in, marker, f, &d)) value[n++] = (float)d;
    if (n == 0) return leap_least;
    qsort(value, n, sizeof value[0], sn_by_value_float);
    return fmax(leap_least, leap_times * (double)value[n / 2]);
}

// A marker that is not seen for some frames may have turned meanwhile.
static double meanwhile(int frames) { return 1 + 0.25 * ((double)frames * frames - 1); }

typedef struct open_leap {
    int frame;
    sn_vec3 way;
} open_leap;

typedef struct way_of {
    const sn_fit_input *in;
    int marker, seen, last;  // samples so far, the frame of the latest
    sn_vec3 at, speed;       // of the latest, per frame
    open_leap open[OPEN];
    int nopen;
} way_of;

// How far from its way a marker is that only was fast: before `frame`, or behind the next, which a thrown one is back in.
static double only_fast(const way_of *w, int frame) {
    sn_vec3 a, b;
    double speed = v3_norm(w->speed);
    if (place_of(w->in, w->marker, frame + 1, &a) && place_of(w->in, w->marker, frame + 2, &b))
        speed = fmax(speed, v3_norm(v3_sub(b, a)));
    return fmin(1, 1 / (turning * rate_of(w->in))) * speed;
}

// How many samples from `frame` on are thrown before the marker is back on its way; 0: it does not come back soon.
static int thrown_from(const way_of *w, int frame, double size, double least) {
    for (int n = 1; n <= SHORT; n++) {
        sn_vec3 x;
        if (!place_of(w->in, w->marker, frame + n, &x)) continue;
        int ahead = frame + n - w->last;
        sn_vec3 d = v3_sub(v3_sub(x, w->at), v3_scale(ahead, w->speed));
        if (v3_norm(d) < fmin(least * meanwhile(ahead), leap_back * size)) return n;
    }
    return 0;
}

// A leap that does not come back at once: does it bring the marker back from an earlier one?
static bool close_leap(way_of *w, int frame, sn_vec3 d, sn_fit_leap *out) {
    int memory = (int)(remembered * rate_of(w->in)) + 2, from = w->nopen;
    while (from > 0 && (frame - w->open[from - 1].frame > memory ||
                        v3_norm(v3_add(d, w->open[from - 1].way)) > leap_back * v3_norm(d)))
        from--;
    if (from > 0) {
        const open_leap *away = &w->open[from - 1];
        *out = (sn_fit_leap){away->frame, frame - 1, v3_norm(away->way)};
    }
    if (w->nopen == OPEN) memmove(w->open, w->open + 1, (size_t)--w->nopen * sizeof w->open[0]);
    w->open[w->nopen++] = (open_leap){frame, d};
    return from > 0;
}

sn_status sn_fit_drop_leaps(const sn_fit_input *in, const sn_allocator *allocator,
                            unsigned char *dropped) {
    size_t nmarker = (size_t)sn_model_nmarker(in->model), count = (size_t)in->count;
    sn_fit_leap *leaps = sn_acquire(allocator, count * sizeof *leaps);
    if (leaps == NULL) return SN_ERR_MEMORY;
    memset(dropped, 0, count * nmarker);
    for (size_t i = 0; i < nmarker; i++) {
        int n = sn_fit_find_leaps(in, (int)i, leaps), away = 0, seen = 0;
        double goal[3];
        for (int k = 0; k < n; k++)
            for (int f = leaps[k].first; f <= leaps[k].last; f++)
                dropped[(size_t)f * nmarker + i] = 1;
        for (int f = 0; n > 0 && f < in->count; f++) {
            seen += sn_fit_goal(in, (int)i, in->first + f, goal);
            away += dropped[(size_t)f * nmarker + i];
        }
        // a marker that is elsewhere most of the time has no place that it comes back to
        for (int f = 0; away > most_away * seen && f < in->count; f++)
            dropped[(size_t)f * nmarker + i] = 0;
    }
    sn_release(allocator, leaps);
    return SN_OK;
}

int sn_fit_find_leaps(const sn_fit_input *in, int marker, sn_fit_leap *out) {
    way_of w = {.in = in, .marker = marker};
    double least = sn_fit_leap_least(in, marker);
    int memory = (int)(forgotten * rate_of(in)) + 1, count = 0;
    bool leapt = false;
    for (int f = 0; f < in->count; f++) {
        sn_vec3 x;
        if (!place_of(in, marker, f, &x)) continue;
        if (w.seen > 0 && f - w.last > memory) w.seen = 0;
        sn_vec3 step = w.seen > 0 ? v3_scale(1.0 / (f - w.last), v3_sub(x, w.at)) : v3(0, 0, 0);
        sn_vec3 d = v3_scale(f - w.last, v3_sub(step, w.speed));
        bool far = w.seen > 1 && v3_norm(d) > least * meanwhile(f - w.last);
        far = far && v3_norm(d) > least * meanwhile(f - w.last) + only_fast(&w, f);
        int thrown = far && !leapt ? thrown_from(&w, f, v3_norm(d), least) : 0;
        if (thrown > 0) {
            out[count++] = (sn_fit_leap){f, f + thrown - 1, v3_norm(d)};
            f += thrown - 1;
            continue;
        }
        if (far) count += close_leap(&w, f, d, &out[count]);
        // a leap says nothing of where the marker is going
        if (!far || leapt) w.speed = step;
        leapt = far && !leapt;
        w.at = x, w.last = f, w.seen++;
    }
    return count;
}
