// SPDX-License-Identifier: MIT
// Solvers on real clips, after three protocols, on random trees and on arms.
#include "solvers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols.h"

static void begin_csv(FILE *file) {
    bench_csv = file;
    fputs("clip,protocol,solver,error_cm,iterations,us_per_frame,above,restarts,hessians,"
          "factorizations\n",
          bench_csv);
}

static int every(const clip *c) { return c->nframe > 400 ? c->nframe / 100 : 4; }

// Offsets to begin with for a clip without a motion: those of the last one before it that has one.
static double *offsets_before(int i, const char *data) {
    double *out = NULL;
    while (out == NULL && i-- > 0) {
        clip c;
        if (!clip_load_known(i, data, &c)) continue;
        if (c.truth != NULL) out = clip_calibrate(&c, every(&c), NULL);
        clip_free(&c);
    }
    return out;
}

// All protocols on a clip.
static bool bench_clip(clip *c, bool quick, const double *guess, int *frames, int *good_frames) {
    bool good = true;
    printf("\n=== %s: %d frames, %d degrees of freedom, %d markers\n", c->name, c->nframe,
           sn_model_nv(c->model), CLIP_MARKERS);
    // calibrated on the whole clip, also where only its start is solved
    double *mine = clip_calibrate(c, every(c), guess);
    if (quick && c->nframe > 400) c->nframe = 400;
    if (c->truth != NULL) {
        good &= paper_protocol(c);
    } else {
        printf("\npaper protocol: left out, there is no motion file to take the offsets from\n");
    }
    good &= calibrated_protocol(c, mine);
    good &= cold_protocol(c, mine, frames, good_frames);
    free(mine);
    return good;
}

bool bench_solvers(const bench_options *o) {
    bool good = true;
    int frames = 0, good_frames = 0;
    if (o->csv != NULL) begin_csv(o->csv);
    for (int i = 0; i < CLIP_KNOWN && o->data != NULL; i++) {
        clip c;
        if (!clip_load_known(i, o->data, &c)) continue;
        if (o->clip == NULL || strstr(c.name, o->clip) != NULL) {
            double *guess = c.truth == NULL ? offsets_before(i, o->data) : NULL;
            good &= bench_clip(&c, o->quick, guess, &frames, &good_frames);
            free(guess);
        }
        clip_free(&c);
    }
    if (o->clip != NULL) {
        if (frames == 0) fprintf(stderr, "bench: no clip is called %s\n", o->clip);
        bench_csv = NULL;
        return good && frames > 0;
    }
    if (frames > 0) {
        printf(
            "\nall clips; cmu 85_02 is left out (markers, but no skeleton of its own), and 49_18, "
            "backflip and\ncharleston1 (motions, but no markers)\n");
        good &= judge("cold, all clips: % of frames where hybrid ends at the minimum",
                      100.0 * good_frames / frames, ">=", 99);
    }
    bench_csv = NULL;
    if (o->problems > 0) {
        good &= bench_random_trees(o->problems);
        good &= bench_arms();
    }
    return good;
}
