// SPDX-License-Identifier: MIT
#include "clip.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basics.h"

// Which bone each of the 41 markers sits on; the names are those of the usual Vicon set.
static const char *const places[CLIP_MARKERS][2] = {
    {"LFHD", "head"},      {"RFHD", "head"},      {"LBHD", "head"},     {"RBHD", "head"},
    {"C7", "lowerneck"},   {"T10", "lowerback"},  {"CLAV", "thorax"},   {"STRN", "upperback"},
    {"RBAC", "upperback"}, {"LSHO", "lclavicle"}, {"LUPA", "lhumerus"}, {"LELB", "lhumerus"},
    {"LFRM", "lradius"},   {"LWRA", "lwrist"},    {"LWRB", "lwrist"},   {"LFIN", "lfingers"},
    {"RSHO", "rclavicle"}, {"RUPA", "rhumerus"},  {"RELB", "rhumerus"}, {"RFRM", "rradius"},
    {"RWRA", "rwrist"},    {"RWRB", "rwrist"},    {"RFIN", "rfingers"}, {"LFWT", "root"},
    {"RFWT", "root"},      {"LBWT", "root"},      {"RBWT", "root"},     {"LTHI", "lfemur"},
    {"LKNE", "lfemur"},    {"LSHN", "ltibia"},    {"LANK", "lfoot"},    {"LHEE", "lfoot"},
    {"LTOE", "ltoes"},     {"LMT5", "ltoes"},     {"RTHI", "rfemur"},   {"RKNE", "rfemur"},
    {"RSHN", "rtibia"},    {"RANK", "rfoot"},     {"RHEE", "rfoot"},    {"RTOE", "rtoes"},
    {"RMT5", "rtoes"}};

static char *read_whole(const char *path, size_t *length) {
    char *bytes = bench_file(NULL, path, length);
    if (bytes == NULL) fprintf(stderr, "bench: %s cannot be read\n", path);
    return bytes;
}

// The skeleton's model with the thumbs fixed.
static sn_model *without_thumbs(const sn_model *from) {
    sn_builder *b;
    sn_model *model = NULL;
    if (sn_builder_create(sn_model_name(from), NULL, &b, NULL) != SN_OK) return NULL;
    for (int j = 0; j < sn_model_njoint(from); j++) {
        sn_joint_desc d = *sn_model_joint(from, j);
        if (strstr(d.name, "thumb") != NULL) d.type = SN_JOINT_FIXED;
        (void)sn_builder_joint(b, &d);
    }
    (void)sn_builder_finish(b, &model, NULL);
    sn_builder_destroy(b);
    return model;
}

static void copy_pose(const sn_model *from, const double *q, const sn_model *to, double *out) {
    for (int j = 0; j < sn_model_njoint(to); j++) {
        int a = sn_model_q_index(from, j), b = sn_model_q_index(to, j);
        int end = j + 1 < sn_model_njoint(to) ? sn_model_q_index(to, j + 1) : sn_model_nq(to);
        for (int i = b; i < end; i++) out[i] = q[a + i - b];
    }
}

static bool fill(clip *c, const sn_skeleton *skeleton, const sn_motion *motion,
                 const sn_recording *recording) {
    const sn_model *from = sn_skeleton_model(skeleton);
    c->model = without_thumbs(from);
    int frames = sn_recording_about(recording)->nframe;
    c->nframe = frames;
    if (motion != NULL && sn_motion_nframe(motion) < frames) c->nframe = sn_motion_nframe(motion);
    c->rate = sn_recording_about(recording)->rate;
    if (c->model == NULL) return false;
    size_t nq = (size_t)sn_model_nq(c->model);
    if (motion != NULL) c->truth = malloc((size_t)c->nframe * nq * sizeof *c->truth);
    c->goals = malloc((size_t)c->nframe * 3 * CLIP_MARKERS * sizeof *c->goals);
    if ((motion != NULL && c->truth == NULL) || c->goals == NULL) return false;
    for (int i = 0; i < CLIP_MARKERS; i++) {
        c->marker[i] = places[i][0];
        c->joint[i] = sn_model_find_joint(c->model, places[i][1]);
        int m = sn_recording_find(recording, places[i][0]);
        if (c->joint[i] < 0 || m < 0) {
            fprintf(stderr, "bench: %s: no marker %s or no bone %s\n", c->name, places[i][0],
                    places[i][1]);
            return false;
        }
        for (int f = 0; f < c->nframe; f++) {
            // the skeleton's x y z are the recording's y z x
            const double *p = sn_recording_frame(recording, f) + 3 * m;
            double *to = c->goals + ((size_t)f * CLIP_MARKERS + (size_t)i) * 3;
            to[0] = p[1];
            to[1] = p[2];
            to[2] = p[0];
        }
    }
    for (int f = 0; f < c->nframe && motion != NULL; f++)
        copy_pose(from, sn_motion_frame(motion, f), c->model, c->truth + (size_t)f * nq);
    return true;
}

// Name, skeleton, motion and markers; no motion: no truth.
static const char *const known[CLIP_KNOWN][4] = {
    {"dg_03-05_02", "hdm05/HDM_dg.asf", "hdm05/HDM_dg_03-05_02_120.amc",
     "hdm05/HDM_dg_03-05_02_120.c3d"},
    {"dg_01-03_01", "hdm05/HDM_dg.asf", "hdm05/HDM_dg_01-03_01_120.amc",
     "hdm05/HDM_dg_01-03_01_120.c3d"},
    {"dg_06-03_03", "hdm05/HDM_dg.asf", "hdm05/HDM_dg_06-03_03_120.amc",
     "hdm05/HDM_dg_06-03_03_120.c3d"},
    {"mm_01-02_03", "hdm05/HDM_mm.asf", NULL, "hdm05/HDM_mm_01-02_03_120.c3d"},
    {"cmu 02_01", "cmu/02.asf", "cmu/02_01.amc", "cmu/02_01.c3d"},
};

bool clip_load_known(int i, const char *data, clip *out) {
    char path[3][512];
    for (int k = 0; k < 3; k++)
        (void)snprintf(path[k], sizeof path[k], "%s/%s", data,
                       known[i][k + 1] != NULL ? known[i][k + 1] : "");
    return clip_load(known[i][0], path[0], known[i][2] != NULL ? path[1] : NULL, path[2], out);
}

bool clip_load(const char *name, const char *asf, const char *amc, const char *c3d, clip *out) {
    *out = (clip){0};
    (void)snprintf(out->name, sizeof out->name, "%s", name);
    size_t na, nm = 0, nc;
    char *a = read_whole(asf, &na), *m = amc != NULL ? read_whole(amc, &nm) : NULL;
    char *c = read_whole(c3d, &nc);
    sn_skeleton *skeleton = NULL;
    sn_motion *motion = NULL;
    sn_recording *recording = NULL;
    sn_error error = {0};
    bool good = a != NULL && (amc == NULL || m != NULL) && c != NULL &&
                sn_asf_read(a, na, NULL, NULL, &skeleton, &error) == SN_OK &&
                (amc == NULL || sn_amc_read(m, nm, skeleton, NULL, &motion, &error) == SN_OK) &&
                sn_c3d_read(c, nc, NULL, &recording, &error) == SN_OK &&
                fill(out, skeleton, motion, recording);
    if (!good && error.text[0] != '\0') fprintf(stderr, "bench: %s: %s\n", name, error.text);
    if (!good) clip_free(out);
    sn_recording_destroy(recording);
    sn_motion_destroy(motion);
    sn_skeleton_destroy(skeleton);
    free(a);
    free(m);
    free(c);
    return good;
}

void clip_free(clip *c) {
    sn_model_destroy(c->model);
    free(c->truth);
    free(c->goals);
    c->model = NULL;
    c->truth = c->goals = NULL;
}
