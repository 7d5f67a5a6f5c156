// SPDX-License-Identifier: MIT
// sinew bench fit: a calibration from one half of a take on the other.
//
// Each half is fitted with a calibration of its own, with the other half's, and with the whole take's. A half may be harder
// than the other whatever its calibration; the mean ratio, sqrt(there * back) of the ratios to the halves' own, is free of
// that. What the whole take's calibration costs a half that it was found from, too, the other half's will hardly undercut.
#include "bench_halves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_fit.h"
#include "figure.h"

enum { MOST_MARKERS = 64, NAMED = 6 };

// Frames of a take with one calibration.
typedef struct part {
    double rms;
    int nmarker;
    double square[MOST_MARKERS];  // mean of each marker's squared error
    sn_model *shaped;             // with the calibration; owns it
} part;

static bool fit_part(const sn_model *model, const sn_recording *take, const sn_take_options *base,
                     int64_t first, int64_t last, part *out) {
    sn_take_options o = *base;
    sn_take *t = NULL;
    *out = (part){0};
    if (model == NULL) return false;
    o.first_frame = first, o.last_frame = last;
    bool good = sn_take_create(model, take, &o, NULL, &t, NULL) == SN_OK &&
                sn_take_prepare(t) == SN_OK && sn_take_finish(t) == SN_OK;
    if (good) {
        const sn_fit_marker *m = sn_take_marker_errors(t);
        out->rms = sn_take_about(t)->fit.rms;
        out->nmarker = sn_model_nmarker(sn_take_model(t));
        for (int i = 0; i < out->nmarker && i < MOST_MARKERS; i++)
            out->square[i] = m[i].rms * m[i].rms;
        out->shaped = bench_copy(sn_take_limited_model(t));
    }
    sn_take_destroy(t);
    return good && out->shaped != NULL;
}

// The markers that make most of what a foreign calibration loses.
static void print_losers(const char *way, const part *own, const part *other) {
    double all = 0;
    bool told[MOST_MARKERS] = {false};
    int n = own->nmarker < MOST_MARKERS ? own->nmarker : MOST_MARKERS;
    for (int i = 0; i < n; i++) all += other->square[i] - own->square[i];
    printf("    %-5s lost by", way);
    for (int k = 0; k < NAMED && k < n && all > 0; k++) {
        int most = -1;
        for (int i = 0; i < n; i++)
            if (!told[i] && (most < 0 || other->square[i] - own->square[i] >
                                             other->square[most] - own->square[most]))
                most = i;
        told[most] = true;
        printf("%s %s %.0f %% (%.2f to %.2f)", k > 0 ? "," : "",
               sn_model_marker(own->shaped, most)->name,
               100 * (other->square[most] - own->square[most]) / all, 100 * sqrt(own->square[most]),
               100 * sqrt(other->square[most]));
    }
    printf("%s\n", all > 0 ? "" : " none");
}

static bool compare(const char *name, const figure *f, const sn_recording *take, bool lengths) {
    const sn_recording_info *info = sn_recording_about(take);
    sn_take_options o = sn_take_options_default();
    int64_t first = info->first_frame, last = first + info->nframe - 1, middle = (first + last) / 2;
    part A, B, all, there, back, first_all, second_all;
    o.model_up = f->up, o.model_up_sign = f->up_sign;
    if (lengths) o.calibrate = SN_CALIBRATE_SCALE;
    bool good = fit_part(f->model, take, &o, first, middle, &A);
    good = fit_part(f->model, take, &o, middle + 1, last, &B) && good;
    good = fit_part(f->model, take, &o, first, last, &all) && good;
    o.calibrate = SN_CALIBRATE_NONE;
    good = fit_part(A.shaped, take, &o, middle + 1, last, &there) && good;
    good = fit_part(B.shaped, take, &o, first, middle, &back) && good;
    good = fit_part(all.shaped, take, &o, first, middle, &first_all) && good;
    good = fit_part(all.shaped, take, &o, middle + 1, last, &second_all) && good;
    if (good) {
        printf("  %-26s %6.3f %6.3f %6.3f %6.3f %10.3f %8.3f %8.3f %6.3f %7.3f %7.3f\n", name,
               100 * A.rms, 100 * B.rms, 100 * there.rms, 100 * back.rms, there.rms / A.rms,
               there.rms / B.rms, back.rms / A.rms, sqrt(there.rms / B.rms * (back.rms / A.rms)),
               first_all.rms / A.rms, second_all.rms / B.rms);
        print_losers("there", &B, &there);
        print_losers("back", &A, &back);
    }
    (void)fflush(stdout);
    part *parts[] = {&A, &B, &all, &there, &back, &first_all, &second_all};
    for (int i = 0; i < 7; i++) sn_model_destroy(parts[i]->shaped);
    return good;
}

static bool row(const char *data, const char *skeleton, const char *take, bool lengths) {
    char *model = bench_path(data, skeleton), *input = bench_path(data, take);
    bool there = access(model, R_OK) == 0 && access(input, R_OK) == 0, good = true;
    if (there) {
        figure f;
        sn_recording *r = NULL;
        char name[64];
        (void)snprintf(name, sizeof name, "%s%s", strrchr(take, '/') + 1,
                       lengths ? ", lengths" : "");
        good = load_figure(model, false, 0, &f);
        if (good) good = (r = load_recording(input)) != NULL && compare(name, &f, r, lengths);
        sn_recording_destroy(r);
        free_figure(&f);
    } else {
        printf("  %-34s is not there\n", take);
    }
    free(model);
    free(input);
    return good;
}

// 85_02's skeleton has other lengths than the person: with offsets alone no calibration of it is right.
static const struct {
    const char *skeleton, *take;
    bool lengths;
} takes[] = {
    {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_01-03_01_120.c3d", false},
    {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_06-03_03_120.c3d", false},
    {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_03-05_02_120.c3d", false},
    {"cmu/02.asf", "cmu/02_01.c3d", false},
    {"hdm05/HDM_mm.asf", "hdm05/HDM_mm_01-02_03_120.c3d", false},
    {"cmu/85_02.bvh", "cmu/85_02.c3d", false},
    {"cmu/85_02.bvh", "cmu/85_02.c3d", true},
};

bool bench_halves(const char *data) {
    bool good = true;
    printf("\n  Halves of a take: marker RMS, cm, of the first and the second with calibrations of "
           "their own; of the second\n  with the first's (there) and of the first with the "
           "second's (back); there over the first half's own, over\n  the second half's own, "
           "back over the first half's own, and the mean of the last two; of the first and the\n"
           "  second with the whole take's calibration over their own\n"
           "  %-26s %6s %6s %6s %6s %10s %8s %8s %6s %7s %7s\n",
           "take", "first", "second", "there", "back", "over first", "over own", "back own", "mean",
           "whole 1", "whole 2");
    for (size_t i = 0; i < sizeof takes / sizeof takes[0]; i++)
        good = row(data, takes[i].skeleton, takes[i].take, takes[i].lengths) && good;
    return good;
}
