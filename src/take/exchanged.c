// SPDX-License-Identifier: MIT
// Labels that were exchanged for a while: told, and where that is beyond doubt put right, so that the take can be
// calibrated and fitted again. Left as they are each marker holds a limb where the other one belongs, and what they are
// left out for hangs on which of the two is looked at first.
#include <math.h>
#include <string.h>

#include "take/take.h"

enum { MOST = 16 };

// Of the objective of a stretch as it is, with labels exchanged. Stretches that are not stand at 1.5 and above; those of
// two markers of a wrist, which turns over to follow, at 0.7.
static const double certain = 0.5;

// --- what was found so far -------------------------------------------------------------------------

sn_status sn_take_copy_recording(sn_take *t) {
    const sn_clip whole = sn_clip_default();
    if (t->relabelled != NULL) return SN_OK;
    SN_TRY(sn_recording_clip(t->recording, &whole, &t->allocator, &t->relabelled, NULL, NULL));
    t->input.recording = t->relabelled;
    return SN_OK;
}

static void exchange(sn_take *t, int marker, int other, int first, int last) {
    const size_t a = 3 * (size_t)t->input.column[marker], b = 3 * (size_t)t->input.column[other];
    for (int f = first; f <= last; f++) {
        double *row = sn_recording_edit(t->relabelled, t->input.first + f), x[3];
        memcpy(x, row + a, sizeof x);
        memcpy(row + a, row + b, sizeof x);
        memcpy(row + b, x, sizeof x);
    }
}

static bool same_labels(const sn_exchange *a, const sn_exchange *b) {
    return a->mended == b->mended && a->npair == b->npair &&
           memcmp(a->pair, b->pair, (size_t)a->npair * sizeof *a->pair) == 0;
}

// The entry of these labels, a new one without frames where there is none.
static sn_exchange *entry_of(sn_take *t, const sn_exchange *what) {
    for (size_t i = 0; i < t->nexchange; i++)
        if (same_labels(&t->exchange[i], what)) return &t->exchange[i];
    void *items = t->exchange;
    const sn_status status =
        sn_grow(&t->allocator, &items, &t->exchange_room, t->nexchange + 1, sizeof *t->exchange);
    t->exchange = items;
    unsigned char *frames =
        status == SN_OK ? sn_acquire(&t->allocator, (size_t)t->input.count) : NULL;
    if (frames == NULL) return NULL;
    memset(frames, 0, (size_t)t->input.count);
    sn_exchange *entry = &t->exchange[t->nexchange++];
    *entry = *what;
    entry->frames = frames;
    entry->given = entry->exchanged = 0;
    return entry;
}

sn_status sn_take_exchange(sn_take *t, const sn_exchange *what, int first, int last) {
    sn_exchange *entry = entry_of(t, what);
    if (entry == NULL) return SN_ERR_MEMORY;
    if (what->mended) SN_TRY(sn_take_copy_recording(t));
    entry->given += what->given;
    entry->exchanged += what->exchanged;
    // what was exchanged once more than it should have been is right again
    for (int f = first; f <= last; f++) entry->frames[f] ^= 1;
    for (int i = 0; i < what->npair && what->mended; i++)
        exchange(t, what->pair[i][0], what->pair[i][1], first, last);
    return SN_OK;
}

void sn_take_forget_exchanges(sn_take *t, bool mended) {
    size_t n = 0;
    for (size_t i = 0; i < t->nexchange; i++) {
        if (t->exchange[i].mended && !mended)
            t->exchange[n++] = t->exchange[i];
        else
            sn_release(&t->allocator, t->exchange[i].frames);
    }
    t->nexchange = n;
}

// --- telling -----------------------------------------------------------------------------------------

static sn_status tell(sn_take *t, const sn_exchange *e, int first, int last) {
    const bool sides = e->sides != NULL;
    sn_finding *f =
        sn_take_add(t, sides ? SN_FINDING_SIDES_EXCHANGED : SN_FINDING_EXCHANGED, e->sides);
    if (f == NULL) return SN_ERR_MEMORY;
    if (!sides) {
        f->marker = e->pair[0][0];
        f->other = e->pair[0][1];
    }
    // what is put right does no harm
    if (e->mended) f->severity = SN_SEVERITY_NOTE;
    if (e->doubtful) f->severity = SN_SEVERITY_WARNING;
    f->has_frames = true;
    f->first = (int64_t)first + t->summary.first_frame;
    f->last = (int64_t)last + t->summary.first_frame;
    f->number[0] = sqrt(e->given / fmax(e->exchanged, 1e-30));
    f->number[1] = e->mended;
    return SN_OK;
}

static bool shows(const sn_take *t, const sn_exchange *e, int frame) {
    double x[3];
    for (int i = 0; i < e->npair; i++)
        if (sn_fit_goal(&t->input, e->pair[i][0], t->input.first + frame, x) &&
            sn_fit_goal(&t->input, e->pair[i][1], t->input.first + frame, x))
            return true;
    return false;
}

sn_status sn_take_tell_exchanges(sn_take *t) {
    for (size_t i = 0; i < t->nexchange; i++) {
        const sn_exchange *e = &t->exchange[i];
        // frames that hide them go with those before
        for (int f = 1; f < t->input.count; f++)
            if (!shows(t, e, f)) e->frames[f] = e->frames[f - 1];
        for (int f = 0, first = 0; f < t->input.count; f++) {
            if (!e->frames[f]) first = f + 1;
            const bool ends = f + 1 == t->input.count || !e->frames[f + 1];
            if (!e->frames[f] || !ends) continue;
            // at its ends nothing was exchanged that was hidden
            int last = f;
            while (first < last && !shows(t, e, first)) first++;
            while (last > first && !shows(t, e, last)) last--;
            SN_TRY(tell(t, e, first, last));
        }
    }
    return SN_OK;
}

// --- looking -----------------------------------------------------------------------------------------

sn_status sn_take_find_exchanged(sn_take *t, bool *mended) {
    sn_fit_swap swap[MOST];
    int count;
    // what OpenSim's own tool is asked for counts every sample as it is
    const bool may = t->options.setup == NULL;
    *mended = false;
    SN_TRY(sn_fit_swaps(&t->input, t->motion, &t->allocator, swap, MOST, &count));
    for (int i = 0; i < count; i++) {
        const sn_exchange what = {.npair = 1,
                                  .pair = {{swap[i].a, swap[i].b}},
                                  .mended = may && swap[i].exchanged < certain * swap[i].given,
                                  .given = swap[i].given,
                                  .exchanged = swap[i].exchanged};
        SN_TRY(sn_take_exchange(t, &what, swap[i].first, swap[i].last));
        *mended = *mended || what.mended;
    }
    return SN_OK;
}
