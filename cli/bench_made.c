// SPDX-License-Identifier: MIT
// Recordings made from motions that come without one: the usual markers on a body that does the motion.
#include "base/random.h"
#include "bench_fit.h"
#include "math/vec3.h"

// HDM05's.
static const char *const labels[] = {
    "LFHD", "RFHD", "LBHD", "RBHD", "C7",   "T10",  "CLAV", "STRN", "RBAC", "LSHO", "LUPA",
    "LELB", "LFRM", "LWRA", "LWRB", "LFIN", "RSHO", "RUPA", "RELB", "RFRM", "RWRA", "RWRB",
    "RFIN", "LFWT", "RFWT", "LBWT", "RBWT", "LTHI", "LKNE", "LSHN", "LANK", "LHEE", "LTOE",
    "LMT5", "RTHI", "RKNE", "RSHN", "RANK", "RHEE", "RTOE", "RMT5"};
enum { NLABEL = sizeof labels / sizeof labels[0] };
static const double off = 0.02;        // metres: how far the places are from the usual ones
static const double noise = 0.001;     // metres, of a sample
static const double usual_rate = 120;  // of files that do not say

static double about_zero(uint64_t *random) { return 2 * sn_random(random) - 1; }

// The figure with markers near their usual places: whose they are is for the fit to find.
static sn_model *with_markers(const sn_model *model, uint64_t *random) {
    sn_recording_info info = {.nmarker = NLABEL};
    sn_recording *names = NULL;
    sn_marker_set *usual = NULL, *set = NULL;
    sn_marker_place place[NLABEL];
    sn_model *out = NULL;
    bool good = sn_recording_create(&info, labels, NULL, &names, NULL) == SN_OK &&
                sn_marker_set_builtin(model, names, NULL, &usual, NULL) == SN_OK;
    int n = good ? sn_marker_set_count(usual) : 0;
    for (int i = 0; i < n; i++) {
        place[i] = *sn_marker_set_place(usual, i);
        for (int c = 0; c < 3; c++) place[i].position[c] += off * about_zero(random);
    }
    if (good && sn_marker_set_create("made", place, n, NULL, &set, NULL) == SN_OK)
        (void)sn_marker_set_apply(set, model, SN_LIMITS_OFF, NULL, NULL, &out, NULL);
    sn_marker_set_destroy(set);
    sn_marker_set_destroy(usual);
    sn_recording_destroy(names);
    return out;
}

static bool record(const sn_model *m, const sn_motion *motion, uint64_t *random,
                   sn_recording *out) {
    sn_problem *problem = NULL;
    sn_workspace *ws = NULL;
    bool good = sn_problem_create(m, NULL, 0, NULL, &problem, NULL) == SN_OK &&
                sn_workspace_create(problem, false, NULL, &ws, NULL) == SN_OK;
    for (int f = 0; good && f < sn_motion_nframe(motion); f++) {
        double *to = sn_recording_edit(out, f);
        good = sn_workspace_pose(ws, sn_motion_frame(motion, f)) == SN_OK;
        for (int i = 0; good && i < sn_model_nmarker(m); i++) {
            const sn_marker_desc *d = sn_model_marker(m, i);
            sn_vec3 p = sn_workspace_point(ws, d->joint, d->position);
            for (int c = 0; c < 3; c++) to[3 * i + c] = v3_at(p, c) + noise * about_zero(random);
        }
    }
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    return good;
}

sn_recording *bench_made_recording(const figure *body, const char *motion) {
    sn_document_options options = sn_document_options_default();
    sn_document document = {0};
    sn_recording *out = NULL;
    uint64_t random = 1;
    options.skeleton = body->skeleton;
    if (!load_document(motion, &options, &document)) return NULL;
    sn_model *m = document.motion != NULL ? with_markers(body->model, &random) : NULL;
    if (m != NULL) {
        const char *names[NLABEL];
        double rate = sn_motion_rate(document.motion);
        sn_recording_info info = {.nframe = sn_motion_nframe(document.motion),
                                  .nmarker = sn_model_nmarker(m),
                                  .rate = rate > 0 ? rate : usual_rate,
                                  .metres_per_unit = 1,
                                  .unit = "m"};
        for (int i = 0; i < info.nmarker; i++) names[i] = sn_model_marker(m, i)->name;
        if (sn_recording_create(&info, names, NULL, &out, NULL) == SN_OK &&
            !record(m, document.motion, &random, out)) {
            sn_recording_destroy(out);
            out = NULL;
        }
    }
    sn_model_destroy(m);
    sn_document_destroy(&document);
    return out;
}
