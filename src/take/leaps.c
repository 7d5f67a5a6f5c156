// SPDX-License-Identifier: MIT
// Markers that leap away and back again, by their own ways alone: no figure is asked.
//
// A marker goes on as it went: where it is further from there than it ever is, it has leapt. A leap by about as much
// the other way within some seconds brings it back, and between the two it was elsewhere. A thrown sample is the
// shortest of these.
//
// A hand that is flung about does as much by itself. There a marker is looked at from the middle of three others beside
// it, which go with it: to them it hardly moves.
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

// Others go with a marker while their distances vary by less, metres.
static const double most_varied = 0.03;

// Against what a marker does anyway within so many seconds to each side.
static const double leap_times_there = 2.5, there = 0.2;

// Of a marker's samples that may be left out.
static const double most_away = 0.7;

static double rate_of(const sn_fit_input *in) {
    double rate = sn_recording_about(in->recording)->rate;
    return fmin(rate > 0 ? rate : 120, 1e6);
}

enum { BESIDE = 3 };

// A marker, by itself or against others.
typedef struct view {
    const sn_fit_input *in;
    int marker;
    int beside[BESIDE];
    bool against;
} view;

static bool sample_of(const view *v, int marker, int frame, sn_vec3 *out) {
    double x[3];
    if (!sn_fit_goal(v->in, marker, v->in->first + frame, x)) return false;
    *out = v3_from(x);
    return true;
}

static double middle_of(double a, double b, double c) {
    return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

static bool place_of(const view *v, int frame, sn_vec3 *out) {
    sn_vec3 y[BESIDE];
    if (frame < 0 || frame >= v->in->count || !sample_of(v, v->marker, frame, out)) return false;
    for (int i = 0; v->against && i < BESIDE; i++)
        if (!sample_of(v, v->beside[i], frame, &y[i])) return false;
    // the middle one along each axis: where one of them leaps, two do not
    if (v->against)
        *out = v3_sub(*out, v3(middle_of(y[0].x, y[1].x, y[2].x), middle_of(y[0].y, y[1].y, y[2].y),
                               middle_of(y[0].z, y[1].z, y[2].z)));
    return true;
}

static bool leap_at(const view *v, int frame, double *out) {
    sn_vec3 x, y, z;
    int memory = (int)(forgotten * rate_of(v->in)) + 1;
    if (!place_of(v, frame, &x)) return false;
    for (int k = frame - 1; k > 0 && k >= frame - memory; k--) {
        if (!place_of(v, k, &y)) continue;
        if (!place_of(v, k - 1, &z)) z = y;
        *out = v3_norm(v3_sub(v3_sub(x, y), v3_scale(frame - k, v3_sub(y, z))));
        return true;
    }
    return false;
}

static double least_of(const view *v) {
    float value[SAMPLES];
    size_t n = 0;
    int step = v->in->count / SAMPLES + 1;
    double d;
    for (int f = 2; f < v->in->count && n < SAMPLES; f += step)
        if (leap_at(v, f, &d)) value[n++] = (float)d;
    if (n == 0) return leap_least;
    qsort(value, n, sizeof value[0], sn_by_value_float);
    return fmax(leap_least, leap_times * (double)value[n / 2]);
}

bool sn_fit_leap_at(const sn_fit_input *in, int marker, int frame, double *out) {
    return leap_at(&(view){.in = in, .marker = marker}, frame, out);
}

double sn_fit_leap_least(const sn_fit_input *in, int marker) {
    return least_of(&(view){.in = in, .marker = marker});
}

// A marker that is not seen for some frames may have turned meanwhile.
static double meanwhile(int frames) { return 1 + 0.25 * ((double)frames * frames - 1); }

typedef struct open_leap {
    int frame;
    sn_vec3 way;
} open_leap;

typedef struct way_of {
    const view *view;
    int seen, last;     // samples so far, the frame of the latest
    sn_vec3 at, speed;  // of the latest, per frame
    open_leap open[OPEN];
    int nopen;
} way_of;

// How far from its way a marker is that only was fast: before `frame`, or behind the next, which a thrown one is back in.
static double only_fast(const way_of *w, int frame) {
    sn_vec3 a, b;
    double speed = v3_norm(w->speed);
    if (place_of(w->view, frame + 1, &a) && place_of(w->view, frame + 2, &b))
        speed = fmax(speed, v3_norm(v3_sub(b, a)));
    return fmin(1, 1 / (turning * rate_of(w->view->in))) * speed;
}

// How many samples from `frame` on are thrown before the marker is back on its way; 0: it does not come back soon.
static int thrown_from(const way_of *w, int frame, double size, double least) {
    for (int n = 1; n <= SHORT; n++) {
        sn_vec3 x;
        if (!place_of(w->view, frame + n, &x)) continue;
        int ahead = frame + n - w->last;
        sn_vec3 d = v3_sub(v3_sub(x, w->at), v3_scale(ahead, w->speed));
        if (v3_norm(d) < fmin(least * meanwhile(ahead), leap_back * size)) return n;
    }
    return 0;
}

// The latest leap that this one brings the marker back from, from 1 on; 0: none.
static int away_by(const way_of *w, int frame, sn_vec3 d) {
    int memory = (int)(remembered * rate_of(w->view->in)) + 2, from = w->nopen;
    while (from > 0 && (frame - w->open[from - 1].frame > memory ||
                        v3_norm(v3_add(d, w->open[from - 1].way)) > leap_back * v3_norm(d)))
        from--;
    return from;
}

// A leap that does not come back at once: does it bring the marker back from an earlier one?
static bool close_leap(way_of *w, int frame, sn_vec3 d, sn_fit_leap *out) {
    int from = away_by(w, frame, d);
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
    for (size_t i = 0; in->wrong != NULL && i < count * nmarker; i++) dropped[i] |= in->wrong[i];
    sn_release(allocator, leaps);
    return SN_OK;
}

// The leaps of one view, `room` of them at most. *doubted: something was as far as a leap, but so fast that it may be none.
static int find_leaps(const view *v, sn_fit_leap *out, int room, bool *doubted) {
    way_of w = {.view = v};
    double least = least_of(v);
    int memory = (int)(forgotten * rate_of(v->in)) + 1, count = 0;
    bool leapt = false;
    for (int f = 0; f < v->in->count && count < room; f++) {
        sn_vec3 x;
        if (!place_of(v, f, &x)) continue;
        if (w.seen > 0 && f - w.last > memory) w.seen = 0;
        sn_vec3 step = w.seen > 0 ? v3_scale(1.0 / (f - w.last), v3_sub(x, w.at)) : v3(0, 0, 0);
        sn_vec3 d = v3_scale(f - w.last, v3_sub(step, w.speed));
        double size = v3_norm(d), usual = least * meanwhile(f - w.last);
        bool far = w.seen > 1 && size > usual && size > usual + only_fast(&w, f);
        *doubted |= w.seen > 1 && !far && size > leap_least * meanwhile(f - w.last);
        // against others a small leap soon is lost in what the marker does anyway
        bool back = v->against && far && away_by(&w, f, d) > 0;
        int thrown = far && !leapt && !back ? thrown_from(&w, f, size, least) : 0;
        if (thrown > 0) {
            out[count++] = (sn_fit_leap){f, f + thrown - 1, size};
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

// How much the distance of two markers varies, metres; INFINITY where that is not seen.
static double varies(const sn_fit_input *in, int a, int b) {
    const view v = {.in = in};
    double sum = 0, square = 0;
    int n = 0, step = in->count / 64 + 1;
    for (int f = step / 2; f < in->count; f += step) {
        sn_vec3 x, y;
        if (!sample_of(&v, a, f, &x) || !sample_of(&v, b, f, &y)) continue;
        double d = v3_norm(v3_sub(x, y));
        sum += d, square += d * d, n++;
    }
    return n > 2 ? sqrt(fmax(square / n - sum / n * (sum / n), 0)) : (double)INFINITY;
}

// The three markers whose distances from it vary the least; false when these vary much.
static bool find_beside(view *v) {
    const sn_model *m = v->in->model;
    double least[BESIDE] = {INFINITY, INFINITY, INFINITY};
    for (int i = 0; i < sn_model_nmarker(m); i++) {
        if (i == v->marker || v->in->column[i] < 0) continue;
        double d = varies(v->in, v->marker, i);
        int who = i;
        for (int k = 0; k < BESIDE; k++) {
            if (!(d < least[k])) continue;
            double more = least[k];
            int other = v->beside[k];
            least[k] = d, v->beside[k] = who;
            d = more, who = other;
        }
    }
    v->against = least[BESIDE - 1] < most_varied;
    return v->against;
}

static bool is_known(const sn_fit_leap *list, int n, const sn_fit_leap *leap) {
    for (int i = 0; i < n; i++)
        if (list[i].first <= leap->last && leap->first <= list[i].last) return true;
    return false;
}

// What a marker does anyway about a frame, metres.
static double usual_about(const view *v, int frame) {
    float value[SAMPLES];
    size_t n = 0;
    const int reach = (int)(there * rate_of(v->in)) + 1, step = 2 * reach / SAMPLES + 1;
    double d;
    for (int f = frame - reach; f <= frame + reach && n < SAMPLES; f += step)
        if (f > 1 && f < v->in->count && leap_at(v, f, &d)) value[n++] = (float)d;
    if (n == 0) return 0;
    qsort(value, n, sizeof value[0], sn_by_value_float);
    return (double)value[n / 2];
}

static int at_least(int a, int b) { return a > b ? a : b; }
static int at_most(int a, int b) { return a < b ? a : b; }

// Do leaps leave out most of the samples about one of them? Of samples that are thrown now and then they do not.
static bool is_crowded(const view *v, const sn_fit_leap *list, int n, int i) {
    const int reach = (int)(there * rate_of(v->in)) + 1,
              memory = (int)(remembered * rate_of(v->in)) + 2;
    const int low = at_least(list[i].first - reach, 0),
              high = at_most(list[i].last + reach, v->in->count - 1);
    int from = i, covered = 0;
    while (from > 0 && list[from - 1].last >= low) from--;
    for (int k = from; k < n && list[k].last <= high + memory; k++)
        covered += at_least(at_most(list[k].last, high) - at_least(list[k].first, low) + 1, 0);
    return 2 * covered > high - low + 1;
}

// Noise is no reason to leave out what it is on: the mean of samples that are 2 cm off is nearer than where a limb is led
// that nothing shows. In it one leap is as good as another, and there are leaps all over.
static int without_noise(const view *v, sn_fit_leap *list, int n) {
    int count = 0;
    for (int i = 0; i < n; i++) {
        const bool noise = is_crowded(v, list, n, i) &&
                           !(list[i].size > leap_times_there * usual_about(v, list[i].first) &&
                             list[i].size > leap_times_there * usual_about(v, list[i].last + 1));
        if (noise) list[i].size = -list[i].size;
    }
    for (int i = 0; i < n; i++)
        if (list[i].size > 0) list[count++] = list[i];
    return count;
}

// Where all markers leap none of them does by itself.
static int without_cuts(const view *v, sn_fit_leap *list, int n) {
    const bool *cut = v->in->cut;
    int count = 0;
    for (int i = 0; i < n; i++) {
        const int back = list[i].last + 1;
        if (cut == NULL || !(cut[list[i].first] || (back < v->in->count && cut[back])))
            list[count++] = list[i];
    }
    return count;
}

// What is not known yet; how many there are then.
static int add_unknown(sn_fit_leap *list, int n, const sn_fit_leap *more, int count) {
    int all = n;
    for (int i = 0; i < count; i++)
        if (!is_known(list, n, &more[i])) list[all++] = more[i];
    return all;
}

int sn_fit_find_leaps(const sn_fit_input *in, int marker, sn_fit_leap *out) {
    view v = {.in = in, .marker = marker};
    bool doubted = false, unused = false;
    int n = find_leaps(&v, out, in->count, &doubted);
    if (n > 0) n = without_noise(&v, out, without_cuts(&v, out, n));
    if (doubted && find_beside(&v)) {
        int more = find_leaps(&v, out + n, in->count - n, &unused);
        if (more > 0) more = without_noise(&v, out + n, without_cuts(&v, out + n, more));
        n = add_unknown(out, n, out + n, more);
    }
    int more = sn_fit_leaps_over_gaps(in, marker, out + n, in->count - n);
    if (more > 0) more = without_cuts(&v, out + n, more);
    return add_unknown(out, n, out + n, more);
}
