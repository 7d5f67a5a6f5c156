// SPDX-License-Identifier: MIT
// Real clips for the benchmarks: an ASF skeleton without its thumbs (58 degrees of freedom), the AMC
// motion as the truth, and the 41 markers of the C3D file in the skeleton's axes.
#pragma once

#include "sinew/sinew.h"

enum { CLIP_MARKERS = 41 };

typedef struct clip {
    char name[64];
    sn_model *model;
    int nframe;
    double rate;
    int joint[CLIP_MARKERS];
    const char *marker[CLIP_MARKERS];
    double *truth;  ///< nframe x nq; NULL when the clip has no motion file
    double *goals;  ///< nframe x 41 x 3, metres, y up; NaN where missing
} clip;

/// The clips of the benchmarks that have markers and a skeleton; the first is the one of 001.
enum { CLIP_KNOWN = 5 };
/// The i-th, from the folder `data`; false, without a word where its files are not there.
bool clip_load_known(int i, const char *data, clip *out);

/// The files of one clip.
typedef struct clip_files {
    char name[64];  ///< the take's, without HDM05's "HDM_" and "_120"
    char asf[512], amc[512], c3d[512];
} clip_files;

/// Every clip in a folder and the folders in it: a motion NAME.amc and markers NAME.c3d beside each other,
/// with the skeleton there whose name NAME begins with, or the only one there. Sorted by name; free it.
/// @param skipped  how many motions and recordings had no partner or no skeleton
clip_files *clip_find(const char *folder, int *n, int *skipped);

/// Load by the paths of its files, `amc` NULL when there is no motion; false and a message when one
/// can't be read.
bool clip_load(const char *name, const char *asf, const char *amc, const char *c3d, clip *out);
void clip_free(clip *c);

static inline const double *clip_truth(const clip *c, int frame) {
    return c->truth + (size_t)frame * (size_t)sn_model_nq(c->model);
}
static inline const double *clip_goals(const clip *c, int frame) {
    return c->goals + (size_t)frame * 3 * CLIP_MARKERS;
}
