// SPDX-License-Identifier: MIT
#include "figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "inputs.h"

bool load_document(const char *path, const sn_document_options *options, sn_document *out) {
    size_t length;
    sn_error error = {0};
    char *bytes = read_file(path, &length);
    if (bytes == NULL) return false;
    sn_status status = sn_document_read(path, bytes, length, options, NULL, out, &error);
    free(bytes);
    if (status != SN_OK) (void)file_error(path, &error);
    return status == SN_OK;
}

sn_recording *load_recording(const char *path) {
    sn_document document;
    if (!load_document(path, NULL, &document)) return NULL;
    sn_recording *recording = document.recording;
    document.recording = NULL;
    if (recording == NULL)
        complain("%s: this %s file holds no marker positions", path,
                 sn_format_name(document.format));
    sn_document_free(&document);
    return recording;
}

// The tips that the file knew; a model without them gets none.
static double *find_tips(const sn_skeleton *skeleton) {
    if (skeleton == NULL) return NULL;
    int n = sn_model_njoint(sn_skeleton_model(skeleton));
    double *tips = must_alloc((size_t)n, 3 * sizeof *tips);
    for (int j = 0; j < n; j++) sn_skeleton_tip(skeleton, j, tips + 3 * j);
    return tips;
}

void figure_of(sn_document *document, figure *out) {
    *out = (figure){.document = *document, .up = 1, .up_sign = 1};
    *document = (sn_document){0};
    out->model = out->document.model;
    out->skeleton = out->document.skeleton;
    if (out->document.format == SN_FORMAT_URDF || out->document.format == SN_FORMAT_MJCF)
        out->up = 2;
    if (out->skeleton != NULL) {
        const char *up = sn_skeleton_up_axis(out->skeleton);
        out->up_guessed = sn_skeleton_get_format(out->skeleton) == SN_SKELETON_BVH;
        if (!sn_axis_parse(up, &out->up, &out->up_sign)) out->up = 1, out->up_sign = 1;
    }
    out->tips = find_tips(out->skeleton);
}

bool load_figure(const char *path, bool use_limits, double metres, figure *out) {
    *out = (figure){0};
    input in;
    sn_error error;
    sn_document_options options = sn_document_options_default();
    options.use_limits = use_limits;
    options.metres_per_unit = metres;
    bool good = input_read(path, &options, &in, &error);
    if (!good) {
        (void)file_error(path, &error);
    } else if (in.document.model == NULL) {
        complain("%s: this %s file holds no skeleton", path, sn_format_name(in.document.format));
        good = false;
    } else {
        figure_of(&in.document, out);
    }
    input_free(&in);
    return good;
}

void free_figure(figure *self) {
    sn_document_free(&self->document);
    free(self->tips);
    self->tips = NULL;
}

sn_recording *marker_paths(const sn_model *model, const sn_motion *motion) {
    int n = sn_model_nmarker(model), nframe = sn_motion_nframe(motion);
    sn_recording_info info = {.nframe = nframe,
                              .nmarker = n,
                              .first_frame = sn_motion_first_frame(motion),
                              .rate = sn_motion_rate(motion),
                              .time_offset = sn_motion_time_offset(motion),
                              .metres_per_unit = 1,
                              .unit = "m"};
    const char **labels = must_alloc((size_t)n, sizeof *labels);
    for (int i = 0; i < n; i++) labels[i] = sn_model_marker(model, i)->name;
    sn_recording *out = NULL;
    sn_problem *problem = NULL;
    sn_workspace *ws = NULL;
    bool good = sn_recording_create(&info, labels, NULL, &out) == SN_OK &&
                sn_problem_create(model, NULL, 0, NULL, &problem, NULL) == SN_OK &&
                sn_workspace_create(problem, false, NULL, &ws) == SN_OK;
    for (int f = 0; good && f < nframe; f++) {
        if (sn_workspace_pose(ws, sn_motion_frame(motion, f)) != SN_OK) continue;
        double *to = sn_recording_edit(out, f);
        for (int i = 0; i < n; i++) {
            const sn_marker_desc *m = sn_model_marker(model, i);
            sn_vec3 p = sn_workspace_point(ws, m->joint, m->position);
            to[3 * i] = p.x, to[3 * i + 1] = p.y, to[3 * i + 2] = p.z;
        }
    }
    if (!good) {
        complain("out of memory");
        sn_recording_destroy(out);
        out = NULL;
    }
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    free(labels);
    return out;
}
