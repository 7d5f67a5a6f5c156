// SPDX-License-Identifier: MIT
// How jerky a motion is: the mean acceleration of its joints' angles.
#include <math.h>

#include "model/model.h"
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
    double *before = d, *after = d + nv;
    const int nframe = sn_motion_nframe(motion);
    if (rate > 0 && nframe > 2)
        sn_model_difference(model, sn_motion_frame(motion, 0), sn_motion_frame(motion, 1), before);
    for (int f = 1; rate > 0 && f + 1 < nframe; f++) {
        sn_model_difference(model, sn_motion_frame(motion, f), sn_motion_frame(motion, f + 1),
                            after);
        for (int k = 0; k < model->njoint; k++) {
            const sn_joint *j = &model->joint[model->sweep_of[k]];
            for (int i = 0; i < j->nv; i++) {
                if (j->lengths >> i & 1) continue;
                sum += fabs(after[j->v0 + i] - before[j->v0 + i]) * rate * rate;
                n++;
            }
        }
        double *other = before;
        before = after, after = other;
    }
    sn_release(allocator, d);
    if (n > 0) *out = sum / (double)n;
    return SN_OK;
}
