// SPDX-License-Identifier: MIT
// How jerky a motion is: the mean acceleration of its joints' angles.
#include <math.h>

#include "take/fit.h"

// The root's place is a length and does not count; sliders do not either.
sn_status sn_fit_acceleration(const sn_model *model, const sn_motion *motion,
                              const sn_allocator *allocator, double *out) {
    size_t nv = (size_t)sn_model_nv(model);
    double rate = sn_motion_rate(motion), sum = 0;
    long n = 0;
    *out = 0;
    double *d = sn_acquire(allocator, (2 * nv + 1) * sizeof *d);
    if (d == NULL) return SN_ERR_MEMORY;
    for (int f = 1; rate > 0 && f + 1 < sn_motion_nframe(motion); f++) {
        const double *q = sn_motion_frame(motion, f);
        sn_model_difference(model, sn_motion_frame(motion, f - 1), q, d);
        sn_model_difference(model, q, sn_motion_frame(motion, f + 1), d + nv);
        for (int j = 0; j < sn_model_njoint(model); j++) {
            size_t v = (size_t)sn_model_v_index(model, j);
            size_t end =
                j + 1 < sn_model_njoint(model) ? (size_t)sn_model_v_index(model, j + 1) : nv;
            for (size_t i = v; i < end; i++) {
                if (sn_model_is_length(model, j, (int)(i - v))) continue;
                sum += fabs(d[nv + i] - d[i]) * rate * rate;
                n++;
            }
        }
    }
    sn_release(allocator, d);
    if (n > 0) *out = sum / (double)n;
    return SN_OK;
}
