// SPDX-License-Identifier: MIT
// sinew bench fit: joint centres against those of the motions that come with the clips.
//
// Such a motion was fitted to the same markers by other means, and may be off itself: how far is seen by how much the
// markers wander on its bones, and by a fit that is told where they sit on these bones on average. No fit of the markers
// comes much nearer than that one, which knows the motion that it is held against. A skeleton that lacks its chest gets the
// fit's for both.
#include "bench_clips.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_fit.h"
#include "figure.h"

static const struct {
    const char *skeleton, *take;
    const char *motion;  // NULL: the skeleton's own
} clips[] = {
    {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_01-03_01_120.c3d", "hdm05/HDM_dg_01-03_01_120.amc"},
    {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_06-03_03_120.c3d", "hdm05/HDM_dg_06-03_03_120.amc"},
    {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_03-05_02_120.c3d", "hdm05/HDM_dg_03-05_02_120.amc"},
    {"cmu/02.asf", "cmu/02_01.c3d", "cmu/02_01.amc"},
    // these skeletons lack a chest: fit and motion are compared with the one that the fit found
    {"cmu/02_01.bvh", "cmu/02_01.c3d", NULL},
    {"cmu/85_02.bvh", "cmu/85_02.c3d", NULL},
};

typedef struct clip {
    figure body;
    sn_recording *take;
    sn_motion *own;
} clip;

static bool load(const char *skeleton, const char *take, const char *motion, clip *c) {
    sn_document_options options = sn_document_options_default();
    sn_document document = {0};
    *c = (clip){0};
    if (!load_figure(skeleton, true, 0, &c->body)) return false;
    options.skeleton = c->body.skeleton;
    bool good = motion == NULL || load_document(motion, &options, &document);
    sn_motion **from = motion != NULL ? &document.motion : &c->body.document.motion;
    c->own = *from;
    *from = NULL;
    sn_document_destroy(&document);
    if (good) c->take = load_recording(take);
    return good && c->own != NULL && c->take != NULL;
}

static void unload(clip *c) {
    sn_motion_destroy(c->own);
    sn_recording_destroy(c->take);
    free_figure(&c->body);
}

// With the default options; or with markers that are where the clip's own motion has them on the bones of that fit.
// @param shaped  the fit's model, for the second; free with sn_model_destroy()
static bool fit(const clip *c, const sn_model *model, const sn_marker_set *told, double *rms,
                sn_take_truth *out, sn_model **shaped) {
    sn_take_options o = sn_take_options_default();
    sn_take *t = NULL;
    o.model_up = c->body.up, o.model_up_sign = c->body.up_sign;
    if (told != NULL) o.markers = told, o.calibrate = SN_CALIBRATE_NONE;
    bool good = sn_take_create(model, c->take, &o, NULL, &t, NULL) == SN_OK &&
                sn_take_prepare(t) == SN_OK && sn_take_finish(t) == SN_OK &&
                sn_take_compare(t, NULL, c->own, out) == SN_OK;
    if (good) *rms = sn_take_about(t)->fit.rms;
    if (good && shaped != NULL) *shaped = bench_copy(sn_take_limited_model(t));
    sn_take_destroy(t);
    return good;
}

static bool fit_told(const clip *c, const sn_model *shaped, sn_take_truth *out) {
    sn_marker_set *set = NULL;
    sn_lesson lesson = {0};
    double rms;
    bool good = shaped != NULL &&
                sn_marker_set_learn(shaped, c->own, c->take, NULL, NULL, &set, NULL, &lesson,
                                    NULL) == SN_OK &&
                fit(c, shaped, set, &rms, out, NULL);
    sn_marker_set_destroy(set);
    return good;
}

static bool row(const char *data, int i) {
    const char *named = clips[i].motion != NULL ? clips[i].motion : clips[i].skeleton;
    char *skeleton = bench_path(data, clips[i].skeleton), *take = bench_path(data, clips[i].take),
         *motion = clips[i].motion != NULL ? bench_path(data, clips[i].motion) : NULL;
    bool there = access(skeleton, R_OK) == 0 && access(take, R_OK) == 0 &&
                 (motion == NULL || access(motion, R_OK) == 0),
         good = true;
    if (there) {
        clip c;
        sn_take_truth ours, told;
        sn_model *shaped = NULL;
        double rms;
        good = load(skeleton, take, motion, &c) &&
               fit(&c, c.body.model, NULL, &rms, &ours, &shaped) && fit_told(&c, shaped, &told);
        if (good)
            printf("  %-34s %9.3f %7.3f %12.2f %15.2f %9.2f\n", strrchr(named, '/') + 1, 100 * rms,
                   100 * ours.markers, ours.rms, 100 * ours.centres, 100 * told.centres);
        else
            printf("  %-34s could not be fitted\n", strrchr(named, '/') + 1);
        sn_model_destroy(shaped);
        unload(&c);
    } else {
        printf("  %-34s is not there\n", named);
    }
    (void)fflush(stdout);
    free(skeleton);
    free(take);
    free(motion);
    return good;
}

bool bench_clips(const char *data) {
    bool good = true;
    printf(
        "\n  Against the clips' own motions; own: how far the markers wander on the bones of the "
        "clip's own motion (each\n  about its mean place), cm; told: joint centres of a fit that "
        "is told these places\n  %-34s %9s %7s %12s %15s %9s\n",
        "motion", "RMS cm", "own", "angles RMS", "joint centres cm", "told");
    for (int i = 0; i < (int)(sizeof clips / sizeof clips[0]); i++) good = row(data, i) && good;
    return good;
}
