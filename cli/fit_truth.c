// SPDX-License-Identifier: MIT
// A fitted motion against one that is known: how far the joints' rotations are apart.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit_take.h"
#include "math/rotation.h"
#include "math/vec3.h"

// A known motion from a file, for the figure's model.
static sn_motion *load_motion(const char *path, const figure *f) {
    sn_document_options options = sn_document_options_default();
    sn_document document;
    sn_error error = {0};
    options.skeleton = f->skeleton;
    if (!load_document(path, &options, &document)) return NULL;
    sn_motion *motion = document.motion;
    document.motion = NULL;
    if (motion == NULL && document.table != NULL &&
        sn_motion_from_table(f->model, document.table, NULL, &motion, &error) != SN_OK) {
        (void)file_error(path, &error);
    } else if (motion == NULL) {
        complain("%s: this %s file holds no motion", path, sn_format_name(document.format));
    } else if (sn_motion_nq(motion) != sn_model_nq(f->model)) {
        complain("%s: this motion belongs to another skeleton", path);
        sn_motion_destroy(motion);
        motion = NULL;
    }
    sn_document_free(&document);
    return motion;
}

// A joint's rotation against its parent.
static sn_quat turn_of(const sn_workspace *ws, const sn_model *model, int joint) {
    int parent = sn_model_parent(model, joint);
    sn_mat3 R = sn_workspace_frame(ws, joint).R;
    if (parent < 0) return sn_quat_from_mat3(R);
    sn_mat3 P = sn_workspace_frame(ws, parent).R;
    P = m3_transpose(&P);
    return sn_quat_from_mat3(m3_mulm(&P, &R));
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool compare(fit_result *r, const sn_motion *truth, int offset) {
    const sn_model *model = r->model;
    int njoint = sn_model_njoint(model), count = r->input.count, n = 0;
    sn_problem *problem = NULL;
    sn_workspace *a = NULL, *b = NULL;
    double *angle = must_alloc((size_t)count * (size_t)njoint, sizeof *angle), sum = 0;
    bool good = sn_problem_create(model, NULL, 0, NULL, &problem, NULL) == SN_OK &&
                sn_workspace_create(problem, false, NULL, &a) == SN_OK &&
                sn_workspace_create(problem, false, NULL, &b) == SN_OK;
    for (int f = 0; good && f < count; f++) {
        if (sn_workspace_pose(a, sn_motion_frame(r->motion, f)) != SN_OK ||
            sn_workspace_pose(b, sn_motion_frame(truth, offset + f)) != SN_OK)
            continue;
        for (int j = 0; j < njoint; j++) {
            if (sn_model_joint(model, j)->type == SN_JOINT_FIXED) continue;
            sn_quat d = sn_quat_mul(sn_quat_conj(turn_of(b, model, j)), turn_of(a, model, j));
            double e = v3_norm(sn_quat_log(d)) * 180 / 3.14159265358979323846;
            angle[n++] = e;
            sum += e * e;
        }
    }
    qsort(angle, (size_t)n, sizeof *angle, by_size);
    r->truth_median = n > 0 ? angle[n / 2] : 0;
    r->truth_95 = n > 0 ? angle[(int)(0.95 * (n - 1))] : 0;
    r->truth_rms = n > 0 ? sqrt(sum / n) : 0;
    sn_workspace_destroy(a);
    sn_workspace_destroy(b);
    sn_problem_destroy(problem);
    free(angle);
    if (!good) complain("out of memory");
    return good;
}

bool compare_with_truth(fit_result *r) {
    const char *path = r->settings->truth;
    sn_motion *truth = load_motion(path, &r->figure);
    if (truth == NULL) return false;
    // the k-th frame of the recording is the k-th of the known motion
    bool good = sn_motion_nframe(truth) >= r->input.first + r->input.count;
    if (!good)
        complain("%s: %d frames, but the fit goes to the recording's %d-th", path,
                 sn_motion_nframe(truth), r->input.first + r->input.count);
    good = good && compare(r, truth, r->input.first);
    sn_motion_destroy(truth);
    return good;
}
