// SPDX-License-Identifier: MIT
// Markers that shake: noise that is new in every frame, from the recording alone.
//
// Of n samples in a row a difference takes out all that is a polynomial of degree n - 2, and of white noise of variance s^2
// leaves s^2 times the sum of its coefficients' squares: 6 of the second, 70 of the fourth. A body's motion is smooth, so
// that the fourth holds far less of it than the second does, but the same noise: at 15 frames a second a fast move looks like
// 1.5 cm of noise to the second and like 0.5 to the fourth. Noise is what both of them show.
#include <math.h>
#include <stdlib.h>

#include "math/order.h"
#include "math/vec3.h"
#include "take/take.h"

// What is told, metres from where the marker is, root-mean-square. Real takes of cameras and markers stand below 0.001 at 60
// frames a second and more, below 0.002 at 30; the example, which is made with 2 mm along each axis, at 0.0035.
static const double told = 0.007, doubtful = 0.015;

// Of noise alone both show the same; of motion the fourth shows a half or less of the second.
static const double same = 0.6;

// And the fit must be off by it, but for what its poses have taken up. Noise alone leaves all of it, 1; skin that slides on fast
// motion, seen so rarely that it looks like noise, leaves half of what the motion seems to be.
static const double off_share = 0.8;

// With fewer frames a second any motion may be new in every frame. Without a rate nobody knows.
static const double least_rate = 10;

// The median of a squared distance in three dimensions, over the variance along one axis.
static const double median_square = 2.366;

// So many of a marker at the most, spread over the take, are as good as all.
enum { TAPS = 5, LEAST_WINDOWS = 20, MOST_WINDOWS = 1000 };
static const double second[TAPS] = {0, 1, -2, 1, 0}, fourth[TAPS] = {1, -4, 6, -4, 1};

// A marker's noise along an axis by either; false where too few samples stand in a row. @param square  MOST_WINDOWS
static bool measure(const sn_fit_input *in, int marker, const double taps[TAPS], double *square,
                    double *out) {
    const int step = in->count / MOST_WINDOWS + 1;
    int n = 0;
    double sum = 0;
    for (int k = 0; k < TAPS; k++) sum += taps[k] * taps[k];
    for (int f = 0; f + TAPS <= in->count; f += step) {
        sn_vec3 d = v3(0, 0, 0);
        bool there = true;
        for (int k = 0; k < TAPS && there; k++) {
            double x[3];
            there = sn_fit_goal(in, marker, in->first + f + k, x);
            if (there) d = v3_add(d, v3_scale(taps[k], v3_from(x)));
        }
        if (there) square[n++] = v3_dot(d, d);
    }
    if (n < LEAST_WINDOWS) return false;
    qsort(square, (size_t)n, sizeof *square, sn_by_value);
    *out = sqrt(square[n / 2] / (median_square * sum));
    return true;
}

sn_status sn_take_check_shake(sn_take *t) {
    const sn_model *m = t->model;
    const size_t nmarker = (size_t)sn_model_nmarker(m);
    const sn_allocator *allocator = &t->allocator;
    const double rate = sn_recording_about(t->recording)->rate;
    if (rate > 0 && rate < least_rate) return SN_OK;
    double *square = sn_acquire(allocator, (MOST_WINDOWS + 2 * nmarker + 1) * sizeof *square);
    if (square == NULL) return SN_ERR_MEMORY;
    double *by_second = square + MOST_WINDOWS, *by_fourth = by_second + nmarker;
    int n = 0;
    for (int i = 0; i < (int)nmarker; i++)
        if (measure(&t->input, i, second, square, &by_second[n]) &&
            measure(&t->input, i, fourth, square, &by_fourth[n]))
            n++;
    // the median of all: some markers that shake are told by other means
    qsort(by_second, (size_t)n, sizeof *by_second, sn_by_value);
    qsort(by_fourth, (size_t)n, sizeof *by_fourth, sn_by_value);
    const double smooth = n > 0 ? by_second[n / 2] : 0, noise = n > 0 ? by_fourth[n / 2] : 0;
    sn_release(allocator, square);
    const double shake = sqrt(3) * noise;
    const double left = n > 0 ? fmax(1 - (double)sn_fit_freedom(m) / (3 * n), 0.2) : 0;
    if (shake < told || noise < same * smooth ||
        t->summary.fit.rms < off_share * sqrt(left) * shake)
        return SN_OK;
    sn_finding *f = sn_take_add(t, SN_FINDING_MARKERS_SHAKE, NULL);
    if (f == NULL) return SN_ERR_MEMORY;
    f->number[0] = shake;
    // which smoothing takes out
    if (shake >= doubtful && !(t->options.smooth > 0)) f->severity = SN_SEVERITY_WARNING;
    return SN_OK;
}
