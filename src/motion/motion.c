// SPDX-License-Identifier: MIT
#include "sinew/motion.h"

#include <math.h>

#include "base/memory.h"

struct sn_motion {
    sn_allocator allocator;
    void *owner;
    int nframe, nq, first_frame;
    double rate, time_offset;
    double *q;  ///< nframe x nq
};

sn_status sn_motion_create(int nframe, int nq, int first_frame, double rate,
                           const sn_allocator *allocator, sn_motion **out, sn_error *error) {
    SN_NEED(out, error);
    *out = NULL;
    if (nframe < 0) return sn_fail_range(error, "nframe");
    if (nq < 0) return sn_fail_range(error, "nq");
    if ((size_t)nq > SIZE_MAX / 64) return sn_fail_size(error, "nq");  // where size_t has 32 bits
    sn_motion m = {.allocator = sn_allocator_of(allocator),
                   .nframe = nframe,
                   .nq = nq,
                   .first_frame = first_frame,
                   .rate = rate > 0 ? rate : 0};
    sn_layout layout = {0};
    sn_motion *motion = NULL;
    for (int pass = 0; pass < 2; pass++) {
        motion = sn_layout_take(&layout, 1, sizeof *motion);
        m.q = sn_layout_take(&layout, (size_t)nframe, (size_t)nq * sizeof *m.q + (nq == 0));
        if (pass == 1) break;
        if (layout.overflow) return sn_fail_size(error, "nframe times nq");
        void *block = sn_layout_acquire(&layout, allocator, &m.owner);
        if (block == NULL) return sn_fail_memory(error);
        layout = (sn_layout){.block = block};
    }
    *motion = m;
    *out = motion;
    return SN_OK;
}

void sn_motion_destroy(sn_motion *motion) {
    if (motion == NULL) return;
    sn_allocator allocator = motion->allocator;
    sn_release(&allocator, motion->owner);
}

int sn_motion_nframe(const sn_motion *motion) { return motion != NULL ? motion->nframe : 0; }
int sn_motion_nq(const sn_motion *motion) { return motion != NULL ? motion->nq : 0; }
int sn_motion_first_frame(const sn_motion *motion) {
    return motion != NULL ? motion->first_frame : 0;
}
double sn_motion_rate(const sn_motion *motion) { return motion != NULL ? motion->rate : 0; }

double sn_motion_time_offset(const sn_motion *motion) {
    return motion != NULL ? motion->time_offset : 0;
}

void sn_motion_set_time_offset(sn_motion *motion, double seconds) {
    if (motion == NULL) return;
    motion->time_offset = isfinite(seconds) ? seconds : 0;
}

double *sn_motion_edit(sn_motion *motion, int frame) {
    if (motion == NULL) return NULL;
    if (frame < 0 || frame >= motion->nframe) return NULL;
    return motion->q + (size_t)frame * (size_t)motion->nq;
}

const double *sn_motion_frame(const sn_motion *motion, int frame) {
    if (motion == NULL) return NULL;
    if (frame < 0 || frame >= motion->nframe) return NULL;
    return motion->q + (size_t)frame * (size_t)motion->nq;
}
