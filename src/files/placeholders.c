// SPDX-License-Identifier: MIT
#include "files/placeholders.h"

#include <math.h>

#include "files/note.h"
#include "motion/recording.h"

// In so many samples no marker is by chance where all three coordinates are the same to the last bit.
enum { FEW = 3 };

// Nearer than this (metres, or numbers in a unit that is not known) such a place may be meant, as (1, 1, 1) is in an example.
static const double nearest = 9;

// It is further away than all else along every axis, and along two of them this many times: a take may go far along one.
static const double far_beyond = 2;

enum { MOST = 8 };

typedef struct triple {
    double value;
    long long count;
} triple;

typedef struct triples {
    triple each[MOST];
    int count;
    double furthest[3];  // coordinates of all other samples
} triples;

static bool is_triple(const double *x) {
    return x[0] == x[1] && x[1] == x[2] && fabs(x[0]) >= nearest;
}

static triple *find(triples *all, double value) {
    for (int i = 0; i < all->count; i++)
        if (all->each[i].value == value) return &all->each[i];
    return NULL;
}

static const double *sample(const sn_recording *recording, int frame, int marker) {
    return sn_recording_frame(recording, frame) + 3 * (size_t)marker;
}

static void count_triples(const sn_recording *recording, triples *out) {
    const sn_recording_info *info = sn_recording_about(recording);
    for (int f = 0; f < info->nframe; f++)
        for (int m = 0; m < info->nmarker; m++) {
            const double *x = sample(recording, f, m);
            if (!is_triple(x)) continue;
            triple *known = find(out, x[0]);
            if (known == NULL && out->count < MOST)
                known = &out->each[out->count++], *known = (triple){x[0], 0};
            if (known != NULL) known->count++;
        }
}

static void measure_others(const sn_recording *recording, triples *all) {
    const sn_recording_info *info = sn_recording_about(recording);
    for (int f = 0; f < info->nframe; f++)
        for (int m = 0; m < info->nmarker; m++) {
            const double *x = sample(recording, f, m);
            const triple *known = is_triple(x) ? find(all, x[0]) : NULL;
            if (known != NULL && known->count >= FEW) continue;
            for (int k = 0; k < 3; k++)
                if (fabs(x[k]) > all->furthest[k]) all->furthest[k] = fabs(x[k]);
        }
}

static bool stands_for_none(const triples *all, const triple *one) {
    int beyond = 0, far = 0, others = 0;
    for (int k = 0; k < 3; k++) {
        beyond += fabs(one->value) > all->furthest[k];
        far += fabs(one->value) > far_beyond * all->furthest[k];
        others += all->furthest[k] > 0;
    }
    return one->count >= FEW && others > 0 && beyond == 3 && far >= 2;
}

static bool drop_once(sn_recording *recording) {
    const sn_recording_info *info = sn_recording_about(recording);
    const double metres = info->metres_per_unit > 0 ? info->metres_per_unit : 1;
    triples all = {.count = 0};
    bool dropped = false;
    count_triples(recording, &all);
    if (all.count == 0) return false;
    measure_others(recording, &all);
    for (int i = 0; i < all.count; i++) {
        const triple *t = &all.each[i];
        if (!stands_for_none(&all, t)) continue;
        const double number = t->value / metres;
        sn_note(sn_recording_note(recording),
                "%.9g %.9g %.9g stands in %lld samples: taken as missing", number, number, number,
                t->count);
        dropped = true;
    }
    for (int f = 0; dropped && f < info->nframe; f++)
        for (int m = 0; m < info->nmarker; m++) {
            double *x = sn_recording_edit(recording, f) + 3 * (size_t)m;
            const triple *known = is_triple(x) ? find(&all, x[0]) : NULL;
            if (known != NULL && stands_for_none(&all, known)) x[0] = x[1] = x[2] = NAN;
        }
    return dropped;
}

// Where there are more kinds than are counted at a time the others' turn comes later.
void sn_drop_placeholders(sn_recording *recording) {
    while (drop_once(recording)) continue;
}
