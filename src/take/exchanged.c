// SPDX-License-Identifier: MIT
// Markers that exchange their labels for a while: told, and where that is beyond doubt put right, so that the take can be
// fitted again. Left as they are each holds a limb where the other one belongs, and what they are left out for hangs
// on which of the two is looked at first.
#include <math.h>
#include <string.h>

#include "take/take.h"

enum { MOST = 16 };

// Of the objective of a stretch as it is, with labels exchanged. Stretches that are not stand at 1.5 and above; those of
// two markers of a wrist, which turns over to follow, at 0.7.
static const double certain = 0.5;

sn_status sn_take_copy_recording(sn_take *t) {
    const sn_clip whole = sn_clip_default();
    if (t->relabelled != NULL) return SN_OK;
    SN_TRY(sn_recording_clip(t->recording, &whole, &t->allocator, &t->relabelled, NULL, NULL));
    t->input.recording = t->relabelled;
    return SN_OK;
}

static void exchange(sn_take *t, const sn_fit_swap *swap) {
    const size_t a = 3 * (size_t)t->input.column[swap->a], b = 3 * (size_t)t->input.column[swap->b];
    for (int f = swap->first; f <= swap->last; f++) {
        double *row = sn_recording_edit(t->relabelled, t->input.first + f), x[3];
        memcpy(x, row + a, sizeof x);
        memcpy(row + a, row + b, sizeof x);
        memcpy(row + b, x, sizeof x);
    }
}

static sn_status tell(sn_take *t, const sn_fit_swap *swap, bool mended) {
    sn_finding *f = sn_take_add(t, SN_FINDING_EXCHANGED, NULL);
    if (f == NULL) return SN_ERR_MEMORY;
    f->marker = swap->a;
    f->other = swap->b;
    f->has_frames = true;
    f->first = (int64_t)swap->first + t->summary.first_frame;
    f->last = (int64_t)swap->last + t->summary.first_frame;
    f->number[0] = sqrt(swap->given / fmax(swap->exchanged, 1e-30));
    f->number[1] = mended;
    return SN_OK;
}

sn_status sn_take_find_exchanged(sn_take *t, bool *mended) {
    sn_fit_swap swap[MOST];
    int count;
    // what OpenSim's own tool is asked for counts every sample as it is
    const bool may = t->options.setup == NULL;
    *mended = false;
    SN_TRY(sn_fit_swaps(&t->input, t->motion, &t->allocator, swap, MOST, &count));
    for (int i = 0; i < count; i++) {
        const bool mend = may && swap[i].exchanged < certain * swap[i].given;
        if (mend) {
            SN_TRY(sn_take_copy_recording(t));
            exchange(t, &swap[i]);
            *mended = true;
        }
        SN_TRY(tell(t, &swap[i], mend));
    }
    return SN_OK;
}
