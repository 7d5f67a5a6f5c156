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
    sn_status status = sn_document_read(bytes, length, path, options, NULL, out, &error);
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
    sn_document_destroy(&document);
    return recording;
}

void figure_of(sn_document *document, figure *out) {
    *out = (figure){.document = *document,
                    .model = document->model,
                    .skeleton = document->skeleton,
                    .up = document->up,
                    .up_sign = document->up_sign,
                    .up_guessed = document->up_guessed};
    *document = (sn_document){0};
}

sn_scene figure_scene(const figure *self) {
    sn_scene s = sn_scene_default(self->model);
    s.skeleton = self->skeleton;
    s.up = self->up;
    s.up_sign = self->up_sign;
    return s;
}

static bool load(const char *path, const sn_document_options *options, figure *out) {
    *out = (figure){0};
    input in;
    sn_error error;
    bool good = input_read(path, options, &in, &error);
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

bool load_figure(const char *path, bool use_limits, double metres, figure *out) {
    sn_document_options options = sn_document_options_default();
    options.use_limits = use_limits;
    options.metres_per_unit = metres;
    return load(path, &options, out);
}

const sn_model *load_model(const char *path, figure *out) { return load_robot(path, false, out); }

static bool read_robot(const char *path, bool floating, figure *out) {
    sn_document_options options = sn_document_options_default();
    options.use_limits = true;
    options.floating_base = floating;
    return load(path, &options, out);
}

const sn_model *load_robot(const char *path, bool floating, figure *out) {
    if (!read_robot(path, floating, out)) return NULL;
    if (out->document.note[0] != '\0') fprintf(stderr, "sinew: %s: %s\n", path, out->document.note);
    return out->model;
}

const sn_model *load_arm_robot(const char *path, bool floating, figure *out) {
    if (!read_robot(path, floating, out)) return NULL;
    // clauses with semicolons between them
    for (const char *at = out->document.note; *at != '\0';) {
        const char *end = strstr(at, "; "), *mesh = strstr(at, "collision mesh");
        const size_t length = end != NULL ? (size_t)(end - at) : strlen(at);
        if (mesh == NULL || mesh >= at + length)
            fprintf(stderr, "sinew: %s: %.*s\n", path, (int)length, at);
        at += length + (end != NULL ? 2 : 0);
    }
    return out->model;
}

void free_figure(figure *self) { sn_document_destroy(&self->document); }
