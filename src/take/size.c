// SPDX-License-Identifier: MIT
// How large the recorded body is against the figure.
//
// Distances between markers of one bone, or across a joint that hardly moved, do not depend on the pose: of
// all pairs those are asked whose distance changed least over the take, each against its distance on the
// figure at rest. The median of these ratios is good to some ten percent even where the markers' places are
// only guessed; how far the markers are spread says less, as arms hang down in a take and not at rest.
//
// One frame, or the same one again and again, does not show which distances depend on the pose: the median over all
// pairs tells metres from millimetres there, and no more.
#include <math.h>

#include "math/vec3.h"
#include "take/fit.h"

enum { LOOKED_AT = 16, LEAST_SEEN = 3, LEAST_PAIRS = 10, NEIGHBOURS = 100 };

// Markers nearer to each other than this share of the figure's spread say little; and two that may be anywhere on their
// bones, as those of clusters.
static const double near = 0.15, near_anywhere = 0.5;

// Rounding changes distances that are the same by less.
static const double no_change = 1e-6;

typedef struct pair {
    double ratio;   // measured over at rest
    double change;  // standard deviation over mean
} pair;

static bool measure(const sn_recording *recording, int a, int b, double rest, pair *out) {
    const sn_recording_info *info = sn_recording_about(recording);
    int n = 0, step = info->nframe / LOOKED_AT + 1;
    double sum = 0, square = 0;
    for (int f = 0; f < info->nframe; f += step) {
        const double *x = sn_recording_frame(recording, f);
        const double *p = x + 3 * a, *q = x + 3 * b;
        if (!isfinite(p[0] + p[1] + p[2]) || !isfinite(q[0] + q[1] + q[2])) continue;
        const sn_vec3 d = v3_sub(v3_from(p), v3_from(q));
        const double d2 = v3_dot(d, d);
        sum += d2;
        square += d2 * d2;
        n++;
    }
    if (n < (info->nframe < LEAST_SEEN ? 1 : LEAST_SEEN) || !(sum > 0)) return false;
    // of distances' squares, which need no roots: their root is that of the mean square, and they change twice as much
    double mean = sum / n;
    out->ratio = sqrt(mean) / rest;
    out->change = sqrt(fmax(square / n - mean * mean, 0)) / mean;
    return isfinite(out->ratio) && isfinite(out->change);
}

static double key_of(const pair *p, bool change) { return change ? p->change : p->ratio; }

// Bring the pair that would be at `at` in order there, smaller ones before it: Hoare's selection.
static void put_in_place(pair *p, int n, int at, bool change) {
    int first = 0, last = n - 1;
    while (first < last) {
        const double middle = key_of(&p[first + (last - first) / 2], change);
        int i = first, k = last;
        while (i <= k) {
            while (key_of(&p[i], change) < middle) i++;
            while (key_of(&p[k], change) > middle) k--;
            if (i > k) break;
            const pair other = p[i];
            p[i++] = p[k];
            p[k--] = other;
        }
        if (at <= k)
            last = k;
        else if (at >= i)
            first = i;
        else
            return;
    }
}

sn_status sn_fit_size(const sn_fit_input *in, const sn_vec3 *rest, double figure,
                      const sn_allocator *allocator, double *out, bool *sure) {
    int count = sn_model_nmarker(in->model), n = 0;
    pair *pairs = sn_acquire(allocator, ((size_t)count * NEIGHBOURS + 1) * sizeof *pairs);
    *out = 0;
    *sure = false;
    if (pairs == NULL) return SN_ERR_MEMORY;
    for (int i = 0; i < count; i++) {
        bool anywhere = sn_is_tracking_name(sn_model_marker(in->model, i)->name);
        for (int k = i + 1; k < count && k <= i + NEIGHBOURS; k++) {
            double d = v3_norm(v3_sub(rest[i], rest[k]));
            if (in->column[i] < 0 || in->column[k] < 0 || d < near * figure) continue;
            if (anywhere && d < near_anywhere * figure &&
                sn_is_tracking_name(sn_model_marker(in->model, k)->name))
                continue;
            n += measure(in->recording, in->column[i], in->column[k], d, &pairs[n]);
        }
    }
    *sure = sn_model_njoint(in->model) <= SN_FIT_RIGID;
    for (int i = 0; i < n; i++) *sure |= pairs[i].change > no_change;
    *sure &= sn_recording_about(in->recording)->nframe >= LEAST_SEEN;
    // one in five
    int kept = n / 5 > LEAST_PAIRS ? n / 5 : n < LEAST_PAIRS ? n : LEAST_PAIRS;
    if (!*sure) kept = n;
    if (kept > 0) {
        if (kept < n) put_in_place(pairs, n, kept - 1, true);
        put_in_place(pairs, kept, kept / 2, false);
        *out = pairs[kept / 2].ratio;
    }
    sn_release(allocator, pairs);
    return SN_OK;
}
