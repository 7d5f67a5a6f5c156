// SPDX-License-Identifier: MIT
// Where a model's markers are in a motion; turning recordings; names of units.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "math/vec3.h"
#include "sinew/eval.h"
#include "sinew/files.h"

sn_status sn_marker_paths(const sn_model *model, const sn_motion *motion,
                          const sn_allocator *allocator, sn_recording **out, sn_error *error) {
    SN_NEED(out, error);
    *out = NULL;
    SN_NEED(model, error);
    SN_NEED(motion, error);
    if (sn_motion_nq(motion) != sn_model_nq(model))
        return sn_fail_range(error, "the motion is not of this model");
    int n = sn_model_nmarker(model), nframe = sn_motion_nframe(motion);
    sn_recording_info info = {.nframe = nframe,
                              .nmarker = n,
                              .first_frame = sn_motion_first_frame(motion),
                              .rate = sn_motion_rate(motion),
                              .time_offset = sn_motion_time_offset(motion),
                              .metres_per_unit = 1,
                              .unit = "m"};
    const char **labels = sn_acquire(allocator, ((size_t)n + 1) * sizeof *labels);
    if (labels == NULL) return sn_fail_memory(error);
    for (int i = 0; i < n; i++) labels[i] = sn_model_marker(model, i)->name;
    sn_recording *paths = NULL;
    sn_problem *problem = NULL;
    sn_workspace *ws = NULL;
    sn_status status = sn_recording_create(&info, labels, allocator, &paths, error);
    if (status == SN_OK) status = sn_problem_create(model, NULL, 0, allocator, &problem, error);
    if (status == SN_OK) status = sn_workspace_create(problem, false, allocator, &ws, error);
    for (int f = 0; status == SN_OK && f < nframe; f++) {
        // a pose that is none leaves its markers missing
        if (sn_workspace_pose(ws, sn_motion_frame(motion, f)) != SN_OK) continue;
        double *to = sn_recording_edit(paths, f);
        for (int i = 0; i < n; i++) {
            const sn_marker_desc *m = sn_model_marker(model, i);
            sn_vec3 p = sn_workspace_point(ws, m->joint, m->position);
            to[3 * i] = p.x, to[3 * i + 1] = p.y, to[3 * i + 2] = p.z;
        }
    }
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    sn_release(allocator, labels);
    if (status == SN_OK) {
        *out = paths;
    } else {
        sn_recording_destroy(paths);
    }
    return status;
}

void sn_recording_turn(sn_recording *recording, const double rotation[4]) {
    if (recording == NULL || rotation == NULL) return;
    const sn_recording_info *info = sn_recording_about(recording);
    sn_mat3 R = sn_mat3_from_quat((sn_quat){rotation[0], rotation[1], rotation[2], rotation[3]});
    for (int f = 0; f < info->nframe; f++) {
        double *x = sn_recording_edit(recording, f);
        for (int m = 0; m < info->nmarker; m++, x += 3) {
            sn_vec3 p = m3_mul(&R, v3_from(x));
            x[0] = p.x, x[1] = p.y, x[2] = p.z;
        }
    }
}

void sn_unit_name(double metres, char out[24]) {
    static const struct {
        double metres;
        const char *name;
    } units[] = {{1, "m"},       {0.01, "cm"},   {0.001, "mm"},
                 {0.0254, "in"}, {0.3048, "ft"}, {0.1, "dm"}};
    if (out == NULL) return;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (!(fabs(metres / units[i].metres - 1) < 1e-12)) continue;
        (void)strcpy(out, units[i].name);
        return;
    }
    (void)snprintf(out, 24, "%.6g m", metres);
}
