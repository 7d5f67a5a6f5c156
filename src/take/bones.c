// SPDX-License-Identifier: MIT
// How far a model's markers sit from the bones they belong to.
//
// A calibration can move a marker anywhere, so that a skeleton of another size or kind is met as well, with
// a small error: markers that hang in the air show it.
#include <math.h>

#include "math/vec3.h"
#include "take/fit.h"

// From a point to the way from 0 to b.
static double to_segment(sn_vec3 p, sn_vec3 b) {
    double bb = v3_dot(b, b), s = bb > 0 ? fmin(fmax(v3_dot(p, b) / bb, 0), 1) : 0;
    return v3_norm(v3_sub(p, v3_scale(s, b)));
}

// A joint's bones lead to its children.
static double to_bones(const sn_model *model, const sn_marker_desc *m) {
    sn_vec3 p = v3_from(m->position);
    double least = v3_norm(p);
    for (int j = 0; j < sn_model_njoint(model); j++) {
        if (sn_model_parent(model, j) != m->joint) continue;
        least = fmin(least, to_segment(p, v3_from(sn_model_joint(model, j)->position)));
    }
    return least;
}

// The longest side of the box around all joints at the zero pose.
static double figure_size(const sn_model *model, const sn_workspace *ws) {
    double low[3], high[3], size = 0;
    for (int k = 0; k < 3; k++) low[k] = INFINITY, high[k] = -INFINITY;
    for (int j = 0; j < sn_model_njoint(model); j++)
        for (int k = 0; k < 3; k++) {
            double x = v3_at(sn_workspace_frame(ws, j).p, k);
            low[k] = fmin(low[k], x);
            high[k] = fmax(high[k], x);
        }
    for (int k = 0; k < 3; k++) size = fmax(size, high[k] - low[k]);
    return size;
}

sn_status sn_fit_bones(const sn_model *model, const sn_allocator *allocator, sn_bone_report *out) {
    if (model == NULL || out == NULL) return SN_ERR_ARGUMENT;
    *out = (sn_bone_report){.worst_marker = -1};
    sn_fit_place at;
    sn_status status = sn_fit_place_open(&at, model, allocator);
    if (status == SN_OK) {
        sn_model_zero(model, at.q);
        status = sn_workspace_pose(at.workspace, at.q);
    }
    int n = sn_model_nmarker(model);
    for (int i = 0; status == SN_OK && i < n; i++) {
        double d = to_bones(model, sn_model_marker(model, i));
        out->rms += d * d / n;
        if (out->worst_marker < 0 || d > out->worst) out->worst = d, out->worst_marker = i;
    }
    out->rms = sqrt(out->rms);
    if (status == SN_OK) out->size = figure_size(model, at.workspace);
    sn_fit_place_close(&at, allocator);
    return status;
}
