// SPDX-License-Identifier: MIT
// sinew bench fit: the takes of the data folder through sinew fit with its default options, as tables.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_angles.h"
#include "bench_fit.h"

const bench_take bench_takes[] = {
    {"hdm05/HDM_dg.asf",
     "hdm05/HDM_dg_03-05_02_120.c3d",
     "hdm05/HDM_dg_03-05_02_120.amc",
     0,
     false,
     {"LKNE", "RELB", "C7"}},
    {"hdm05/HDM_dg.asf",
     "hdm05/HDM_dg_01-03_01_120.c3d",
     "hdm05/HDM_dg_01-03_01_120.amc",
     0,
     false,
     {"RTOE", "LWRA", "STRN"}},
    {"hdm05/HDM_dg.asf",
     "hdm05/HDM_dg_06-03_03_120.c3d",
     "hdm05/HDM_dg_06-03_03_120.amc",
     0,
     false,
     {"RKNE", "LSHO", "LFHD"}},
    {"hdm05/HDM_mm.asf", "hdm05/HDM_mm_01-02_03_120.c3d", NULL, 0, false, {"LELB", "RANK", "T10"}},
    {"cmu/02.asf", "cmu/02_01.c3d", "cmu/02_01.amc", 0, false, {"LTHI", "RFIN", "RBHD"}},
    // its first frame is a T pose that was added
    {"cmu/85_02.bvh", "cmu/85_02.c3d", "cmu/85_02.bvh", 1, false, {"RSHN", "LUPA", "CLAV"}},
    {"opensim/subject01_simbody.osim",
     "opensim/subject01_synthetic_marker_data.trc",
     NULL,
     0,
     true,
     {"R.Knee", "L.Toe", "R.ASIS"}},
    {"biomech/subject4/generic.osim",
     "biomech/subject4/DJ1.trc",
     NULL,
     0,
     false,
     {"r_knee", "L_elbow_lat", "C7"}},
};
const int bench_ntake = (int)(sizeof bench_takes / sizeof bench_takes[0]);

char *bench_path(const char *data, const char *name) {
    size_t size = strlen(data) + strlen(name) + 2;
    char *path = must_alloc(size, 1);
    (void)snprintf(path, size, "%s/%s", data, name);
    return path;
}

bool bench_is_there(const char *data, const bench_take *take) {
    char *model = bench_path(data, take->skeleton), *input = bench_path(data, take->take);
    bool there = access(model, R_OK) == 0 && access(input, R_OK) == 0;
    if (!there) printf("  %-34s is not there\n", take->take);
    free(model);
    free(input);
    return there;
}

sn_model *bench_copy(const sn_model *model) {
    sn_builder *b;
    sn_model *copy = NULL;
    if (sn_builder_create_from(model, NULL, &b, NULL) != SN_OK) return NULL;
    (void)sn_builder_finish(b, &copy, NULL);
    sn_builder_destroy(b);
    return copy;
}

sn_recording *bench_copy_recording(const sn_recording *recording) {
    const sn_recording_info *info = sn_recording_about(recording);
    const char **labels = must_alloc((size_t)info->nmarker, sizeof *labels);
    sn_recording *out = NULL;
    for (int i = 0; i < info->nmarker; i++) labels[i] = sn_recording_label(recording, i);
    if (sn_recording_create(info, labels, NULL, &out, NULL) == SN_OK)
        for (int f = 0; f < info->nframe; f++)
            memcpy(sn_recording_edit(out, f), sn_recording_frame(recording, f),
                   3 * (size_t)info->nmarker * sizeof(double));
    free(labels);
    return out;
}

int bench_fit(const char *data, int wrong) {
    if (data == NULL) {
        fputs("sinew bench fit: --data DIR is needed\n", stderr);
        return EXIT_USAGE;
    }
    bool good = bench_fit_speed(data);
    good = bench_fit_flips(data) && good;
    good = bench_fit_hidden(data) && good;
    good = bench_fit_wrong(data, wrong) && good;
    good = bench_angles(data) && good;
    return good ? EXIT_OK : EXIT_FAILED;
}
