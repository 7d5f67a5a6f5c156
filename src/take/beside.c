// SPDX-License-Identifier: MIT
// Where a marker would be, by the markers beside it alone: no figure is asked.
//
// The markers whose distances to it vary least go with it. In frames all over the take in which it is right they are turned and
// moved onto where they are now, and it goes with them. The mean over such frames counts, those in which the others lie to
// each other as they do now, and those of a near time, before all. How good that is is asked of frames in which it is known,
// with nothing from as near a time as the stretch is long.
//
// By them it is also seen that a marker leapt while it was hidden, when its own way tells nothing.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/align.h"
#include "math/order.h"
#include "math/vec3.h"
#include "take/fit.h"

// Markers beside it; frames that are looked at: to each side of the stretch, all over the take.
enum { WITH = 4, LEAST_WITH = 3, BESIDE = 16, AROUND = 96, FEW = 24, MOST = 2 * BESIDE + AROUND };
enum { LOOKED_AT = 64, LEAST_SEEN = 8, ASKED = 48 };
// Of leaps over gaps: frames that are looked at, steps that are measured, frames about a gap; gaps whose usual step is kept.
enum { IN_RUNS = 256, PAIRS = 64, EDGE = 5, LAGS = 128 };

// Seconds to each side; how near the others lie as they do (metres, RMS) and in time (s) is near.
static const double beside = 0.4, like = 0.005, near = 2;
// For a long stretch fewer frames are looked at: so many times its own frames.
static const int most_work = 16000;

typedef struct group {
    const sn_fit_input *in;
    int marker, first, last;
    double rate;
    int with[WITH], nwith;
    int known[MOST], nknown;                   // frames
    int frame[IN_RUNS], run[IN_RUNS], nframe;  // all over the take, and in which run each is
    double usual[LAGS];                        // see usual_step(); negative where nobody has asked
} group;

static bool sample_of(const group *g, int marker, int frame, sn_vec3 *out) {
    double x[3];
    if (frame < 0 || frame >= g->in->count || sn_fit_dropped(g->in, marker, frame) ||
        !sn_fit_goal(g->in, marker, g->in->first + frame, x))
        return false;
    *out = v3_from(x);
    return true;
}

// --- which markers -------------------------------------------------------------------------------

// How much its distance to another marker varies, metres.
static double varies(const group *g, int other) {
    double sum = 0, square = 0;
    int n = 0, step = g->in->count / LOOKED_AT + 1;
    for (int f = step / 2; f < g->in->count; f += step) {
        sn_vec3 x, y;
        if (!sample_of(g, g->marker, f, &x) || !sample_of(g, other, f, &y)) continue;
        const double d = v3_norm(v3_sub(x, y));
        sum += d, square += d * d, n++;
    }
    return n < LEAST_SEEN ? (double)INFINITY : sqrt(fmax(square / n - sum / n * (sum / n), 0));
}

// Is it seen in nearly all of the stretch?
static bool is_there(const group *g, int other) {
    const int count = g->last - g->first + 1, step = count / LOOKED_AT + 1;
    int seen = 0, n = 0;
    for (int f = g->first; f <= g->last; f += step, n++) {
        sn_vec3 x;
        seen += sample_of(g, other, f, &x);
    }
    return 20 * seen >= 19 * n;
}

static void find_group(group *g, double (*varies_by)(const group *g, int other)) {
    double least[WITH];
    for (int i = 0; i < sn_model_nmarker(g->in->model); i++) {
        if (i == g->marker || g->in->column[i] < 0 || !is_there(g, i)) continue;
        double d = varies_by(g, i);
        int who = i, k = 0;
        if (!isfinite(d)) continue;
        for (; k < g->nwith; k++) {
            if (!(d < least[k])) continue;
            const double more = least[k];
            const int other = g->with[k];
            least[k] = d, g->with[k] = who;
            d = more, who = other;
        }
        if (k < WITH) least[k] = d, g->with[k] = who, g->nwith++;
    }
}

// --- which frames --------------------------------------------------------------------------------

static bool group_of(const group *g, int frame, sn_vec3 *out) {
    for (int k = 0; k < g->nwith; k++)
        if (!sample_of(g, g->with[k], frame, &out[k])) return false;
    return true;
}

static void know(group *g, int frame) {
    sn_vec3 x, y[WITH];
    if (g->nknown < MOST && sample_of(g, g->marker, frame, &x) && group_of(g, frame, y))
        g->known[g->nknown++] = frame;
}

static void find_known(group *g) {
    const int reach = (int)(beside * g->rate) + 1, step = reach / BESIDE + 1,
              count = g->last - g->first + 1;
    int around = most_work / count;
    around = around < FEW ? FEW : around > AROUND ? AROUND : around;
    for (int k = 0; k < BESIDE && k * step < reach; k++) {
        know(g, g->first - 1 - k * step);
        know(g, g->last + 1 + k * step);
    }
    const int stride = g->in->count / around + 1;
    for (int f = stride / 2; f < g->in->count; f += stride)
        if (f < g->first - reach || f > g->last + reach) know(g, f);
}

// --- where it would be ---------------------------------------------------------------------------

static sn_vec3 middle_of(const sn_vec3 *x, int n) {
    sn_vec3 sum = v3(0, 0, 0);
    for (int k = 0; k < n; k++) sum = v3_add(sum, x[k]);
    return v3_scale(1.0 / n, sum);
}

// By how it lay to the others in another frame. *square: how far these are from where they were, turned and moved.
static sn_vec3 carried(const group *g, int known, const sn_vec3 *now, double *square) {
    sn_vec3 then[WITH], x = v3(0, 0, 0);
    sn_mat3 M = m3_zero();
    (void)sample_of(g, g->marker, known, &x);
    (void)group_of(g, known, then);
    const sn_vec3 from = middle_of(then, g->nwith), to = middle_of(now, g->nwith);
    for (int k = 0; k < g->nwith; k++) {
        const sn_vec3 p = v3_sub(then[k], from), q = v3_sub(now[k], to);
        for (int i = 0; i < 3; i++) M.c[i] = v3_add(M.c[i], v3_scale(v3_at(p, i), q));
    }
    const sn_mat3 R = sn_best_rotation(&M);
    *square = 0;
    for (int k = 0; k < g->nwith; k++) {
        const sn_vec3 d = v3_sub(m3_mul(&R, v3_sub(then[k], from)), v3_sub(now[k], to));
        *square += v3_dot(d, d) / g->nwith;
    }
    return v3_add(to, m3_mul(&R, v3_sub(x, from)));
}

// Without frames within `apart`. *square: how far the others are from where they lay in these; false where nothing tells.
static bool place_in(const group *g, int frame, int apart, sn_vec3 *out, double *square) {
    sn_vec3 now[WITH], mean = v3(0, 0, 0);
    double weights = 0, sum = 0;
    if (!group_of(g, frame, now)) return false;
    for (int i = 0; i < g->nknown; i++) {
        const int late = g->known[i] - frame;
        double bent;
        if (late >= -apart && late <= apart) continue;
        const sn_vec3 x = carried(g, g->known[i], now, &bent);
        const double time = late / (near * g->rate), d = bent / (like * like) + time * time;
        double share = 1 / ((1 + d) * (1 + d));
        // those in which they lie otherwise say next to nothing
        share *= share;
        weights += share;
        sum += share * bent;
        mean = v3_add(mean, v3_scale(share, x));
    }
    if (!(weights > 0)) return false;
    *out = v3_scale(1 / weights, mean);
    *square = sum / weights;
    return true;
}

// How far it would be off where it is known, metres; *bent: how far the others then are from how they lay.
static double ask(const group *g, double *bent) {
    const int reach = (int)(beside * g->rate) + 1, half = (g->last - g->first + 1) / 2,
              apart = half > reach ? half : reach, step = g->nknown / ASKED + 1;
    double sum = 0;
    int n = 0;
    *bent = 0;
    for (int i = 0; i < g->nknown; i += step) {
        sn_vec3 is, x;
        double square;
        if (!sample_of(g, g->marker, g->known[i], &is) ||
            !place_in(g, g->known[i], apart, &x, &square))
            continue;
        const sn_vec3 d = v3_sub(x, is);
        sum += v3_dot(d, d);
        *bent += square;
        n++;
    }
    *bent = n > 0 ? sqrt(*bent / n) : 0;
    return n < LEAST_SEEN ? (double)INFINITY : sqrt(sum / n);
}

double sn_fit_beside(const sn_fit_input *in, int marker, int first, int last, float *goal) {
    const double rate = sn_recording_about(in->recording)->rate;
    group g = {.in = in,
               .marker = marker,
               .first = first,
               .last = last,
               .rate = fmin(rate > 0 ? rate : 120, 1e6)};
    double sum = 0, usual;
    int n = 0;
    for (int f = first; f <= last; f++)
        for (int c = 0; c < 3; c++) goal[3 * (f - first) + c] = NAN;
    find_group(&g, varies);
    if (g.nwith < LEAST_WITH) return (double)INFINITY;
    find_known(&g);
    const double doubt = ask(&g, &usual);
    if (!isfinite(doubt)) return doubt;
    for (int f = first; f <= last; f++) {
        sn_vec3 x;
        double bent;
        if (!place_in(&g, f, -1, &x, &bent)) continue;
        for (int c = 0; c < 3; c++) goal[3 * (f - first) + c] = (float)v3_at(x, c);
        sum += bent;
        n++;
    }
    // where they lie as they never do it is told worse
    const double bent = n > 0 ? sqrt(sum / n) : (double)INFINITY;
    return doubt * fmax(1, bent / fmax(usual, 1e-4));
}

// --- leaps over gaps -------------------------------------------------------------------------------

// A leap, metres, against how far it mostly (nine times of ten) goes among those beside it in as long a time; back again by as
// much but for this share. Where their distances change by less it is none.
static const double leap_least = 0.03, leap_times = 2, leap_back = 0.5, least_change = 0.01;
// Seconds: that a leap is remembered for; of the longest gap.
static const double remembered = 2.5, longest_gap = 0.5;

typedef struct run {
    int first, last;
} run;

// Frames in which it is seen, but for single ones that are missing: the next run from a frame on.
static bool next_run(const group *g, int from, run *out) {
    sn_vec3 x;
    while (from < g->in->count && !sample_of(g, g->marker, from, &x)) from++;
    *out = (run){from, from};
    for (int f = from + 1; f < g->in->count && f - out->last < 3; f++)
        if (sample_of(g, g->marker, f, &x)) out->last = f;
    return from < g->in->count;
}

static void find_frames(group *g) {
    const int step = g->in->count / IN_RUNS + 1;
    run r;
    for (int from = 0, n = 0; next_run(g, from, &r); from = r.last + 1, n++) {
        const int late = r.first % step;
        for (int f = late > 0 ? r.first + step - late : r.first; f <= r.last; f += step) {
            if (g->nframe == IN_RUNS) return;
            g->frame[g->nframe] = f;
            g->run[g->nframe++] = n;
        }
    }
}

// How much its distance to another varies within runs, metres: between them it may have leapt.
static double varies_within(const group *g, int other) {
    double all = 0, sum = 0, square = 0;
    int seen = 0, n = 0;
    for (int i = 0; i < g->nframe; i++) {
        sn_vec3 x, y;
        if (i > 0 && g->run[i] != g->run[i - 1]) sum = square = n = 0;
        if (!sample_of(g, g->marker, g->frame[i], &x) || !sample_of(g, other, g->frame[i], &y))
            continue;
        const double d = v3_norm(v3_sub(x, y)), before = n > 0 ? square - sum / n * sum : 0;
        sum += d, square += d * d, n++, seen++;
        all += square - sum / n * sum - before;
    }
    return seen < LEAST_SEEN ? (double)INFINITY : sqrt(fmax(all / seen, 0));
}

// From where it was among the others to where it is among them.
static bool step_of(const group *g, int from, int to, double *out) {
    sn_vec3 x, then[WITH], now[WITH];
    double square;
    if (!sample_of(g, g->marker, from, &x) || !sample_of(g, g->marker, to, &x) ||
        !group_of(g, from, then) || !group_of(g, to, now))
        return false;
    *out = v3_norm(v3_sub(x, carried(g, from, now, &square)));
    return true;
}

// The least of some about two frames: one that is thrown makes no leap.
static double step_about(const group *g, int from, int to) {
    double least = (double)INFINITY, d;
    for (int k = 0; k < EDGE; k++)
        if (step_of(g, from - k, to + k, &d)) least = fmin(least, d);
    return isfinite(least) ? least : 0;
}

static bool is_seen_along(const group *g, int from, int to) {
    sn_vec3 x;
    for (int f = from; f <= to; f++)
        if (!sample_of(g, g->marker, f, &x)) return false;
    return true;
}

// How far it mostly goes in so many frames, where it is seen all along.
static double find_usual(const group *g, int lag) {
    double step[PAIRS];
    size_t n = 0;
    const int stride = g->in->count / PAIRS + 1;
    for (int f = 0; f + lag < g->in->count && n < PAIRS; f += stride)
        if (is_seen_along(g, f, f + lag) && step_of(g, f, f + lag, &step[n])) n++;
    if (n < LEAST_SEEN) return (double)INFINITY;
    qsort(step, n, sizeof *step, sn_by_value);
    return step[9 * n / 10];
}

static double usual_step(group *g, int lag) {
    if (lag >= LAGS) return find_usual(g, lag);
    if (g->usual[lag] < 0) g->usual[lag] = find_usual(g, lag);
    return g->usual[lag];
}

// Do distances to the others change at all?
static bool may_leap(const group *g, int from, int to) {
    sn_vec3 x, y, then[WITH], now[WITH];
    if (!sample_of(g, g->marker, from, &x) || !sample_of(g, g->marker, to, &y) ||
        !group_of(g, from, then) || !group_of(g, to, now))
        return true;
    for (int k = 0; k < g->nwith; k++)
        if (fabs(v3_norm(v3_sub(x, then[k])) - v3_norm(v3_sub(y, now[k]))) > least_change)
            return true;
    return false;
}

// By how far it leapt between two runs, metres; 0: it did not.
static double leap_between(group *g, const run *a, const run *b) {
    const int lag = b->first - a->last;
    if (lag > longest_gap * g->rate || !may_leap(g, a->last, b->first)) return 0;
    const double step = step_about(g, a->last, b->first);
    return step > leap_least && step > leap_times * usual_step(g, lag) ? step : 0;
}

// The end of the run after which it is back where it was before `away`; -1: none.
static int back_after(group *g, const run *before, const run *away, double size) {
    run r = *away, next;
    while (next_run(g, r.last + 1, &next)) {
        if (next.first - before->last > remembered * g->rate) return -1;
        if (leap_between(g, &r, &next) > 0 &&
            step_about(g, before->last, next.first) < leap_back * size)
            return r.last;
        r = next;
    }
    return -1;
}

int sn_fit_leaps_over_gaps(const sn_fit_input *in, int marker, sn_fit_leap *out, int room) {
    const double rate = sn_recording_about(in->recording)->rate;
    // what is left out for such a leap is looked at all the same
    sn_fit_input all = *in;
    all.dropped = NULL;
    group g = {.in = &all,
               .marker = marker,
               .last = in->count - 1,
               .rate = fmin(rate > 0 ? rate : 120, 1e6)};
    run r, next;
    int count = 0;
    for (int k = 0; k < LAGS; k++) g.usual[k] = -1;
    if (in->column[marker] < 0 || !next_run(&g, 0, &r)) return 0;
    for (; count < room && next_run(&g, r.last + 1, &next); r = next) {
        if (g.nframe == 0) {
            find_frames(&g);
            find_group(&g, varies_within);
        }
        if (g.nwith < LEAST_WITH) return count;
        const double size = leap_between(&g, &r, &next);
        const int last = size > 0 ? back_after(&g, &r, &next, size) : -1;
        if (last < 0) continue;
        out[count++] = (sn_fit_leap){next.first, last, size};
        // it is back then
        (void)next_run(&g, last + 1, &next);
    }
    return count;
}
