// SPDX-License-Identifier: MIT
// Files that were dropped into the page, and files that it saves.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sinew/files.h"
#include "take.h"

void set_message(sn_error *error, const char *text) {
    (void)snprintf(error->text, sizeof error->text, "%s", text);
    error->line = 0;
}

// The sentence that the page shows.
static int bad(const sn_error *error, sn_status status) {
    const char *text = error->text[0] != '\0' ? error->text : sn_status_text(status);
    char line[24] = "";
    if (error->line > 0) (void)snprintf(line, sizeof line, "line %d: ", error->line);
    (void)snprintf(the.error.text, sizeof the.error.text, "%s%.220s", line, text);
    return 0;
}

// Robots have z up; the page has y up. The same model, its root turned.
static sn_status upright(sn_model **model, sn_error *error) {
    sn_builder *b;
    sn_model *turned;
    sn_status status = sn_builder_create(sn_model_name(*model), NULL, &b, NULL);
    if (status != SN_OK) return status;
    for (int j = 0; j < sn_model_njoint(*model); j++) {
        sn_joint_desc d = *sn_model_joint(*model, j);
        if (d.parent < 0) {
            const sn_quat up = {0x1.6a09e667f3bcdp-1, -0x1.6a09e667f3bcdp-1, 0, 0};
            sn_quat r = sn_quat_mul(
                up, (sn_quat){d.rotation[0], d.rotation[1], d.rotation[2], d.rotation[3]});
            const double rotation[4] = {r.w, r.x, r.y, r.z};
            const double position[3] = {d.position[0], d.position[2], -d.position[1]};
            memcpy(d.rotation, rotation, sizeof rotation);
            memcpy(d.position, position, sizeof position);
        }
        (void)sn_builder_joint(b, &d);
    }
    for (int i = 0; i < sn_model_nmarker(*model); i++)
        (void)sn_builder_marker(b, sn_model_marker(*model, i));
    sn_builder_couple_as(b, *model);
    status = sn_builder_finish(b, &turned, error);
    sn_builder_destroy(b);
    if (status != SN_OK) return status;
    sn_model_destroy(*model);
    *model = turned;
    return SN_OK;
}

// What a document holds becomes the page's; what is taken over is cleared in it.
static sn_status take_document(sn_document *d, const char *subject, int *found, sn_error *error) {
    sn_status status = SN_OK;
    *found = 0;
    if (d->model == NULL && d->motion == NULL && d->recording == NULL) {
        set_message(error, "this file holds no skeleton, no motion and no markers");
        return SN_ERR_VALUE;
    }
    if (d->skeleton != NULL || d->owned != NULL) {
        const bool turned = d->format == SN_FORMAT_URDF || d->format == SN_FORMAT_MJCF;
        if (turned) status = upright(&d->owned, error);
        if (status != SN_OK) return status;
        sn_model *model = d->owned;
        sn_skeleton *skeleton = d->skeleton;
        d->owned = NULL;
        d->skeleton = NULL;
        status = (sn_status)stage_take_model(model, skeleton);
        *found = WEB_MODEL;
        if (status == SN_OK) {
            the.turned = turned;
            the.coordinates = d->coordinates;
            d->coordinates = NULL;
        }
    }
    if (status == SN_OK && d->motion != NULL && sn_motion_nframe(d->motion) > 0) {
        sn_motion *motion = d->motion;
        d->motion = NULL;
        status = take_motion(motion);
        *found |= WEB_MOTION;
    }
    if (status == SN_OK && d->recording != NULL) {
        sn_recording *recording = d->recording;
        bool figure;
        d->recording = NULL;
        status = take_recording(recording, subject, d->format == SN_FORMAT_GLB, &figure, error);
        *found |= WEB_MARKERS | (figure ? WEB_MODEL : 0);
    }
    return status;
}

int web_open(int bytes, double metres) {
    const char *name = the.buffer, *subject = name + strlen(name) + 1,
               *data = subject + strlen(subject) + 1;
    sn_error error = {0};
    sn_document document;
    sn_document_options options = sn_document_options_default();
    options.skeleton = the.skeleton;
    options.use_limits = true;  // the page switches them
    options.metres_per_unit = metres;
    int found;
    take_no_subjects();
    if (sn_format_of(data, (size_t)bytes, name) == SN_FORMAT_AMC && the.skeleton == NULL) {
        set_message(&error, "an AMC motion needs its skeleton: drop the ASF file with it");
        return bad(&error, SN_ERR_VALUE);
    }
    sn_status status =
        sn_document_read(data, (size_t)bytes, name, &options, NULL, &document, &error);
    if (status != SN_OK) return bad(&error, status);
    status = take_document(&document, subject, &found, &error);
    if (status == SN_OK)
        (void)snprintf(the.error.text, sizeof the.error.text, "%.250s", document.note);
    sn_document_destroy(&document);
    return status == SN_OK ? found : bad(&error, status);
}

// -- saving

static struct {
    char *bytes;
    size_t used, room;
} saved;

static bool save(void *user, const void *bytes, size_t count) {
    (void)user;
    if (saved.used + count > saved.room) {
        size_t room = 2 * (saved.used + count);
        char *more = realloc(saved.bytes, room);
        if (more == NULL) return false;
        saved.bytes = more;
        saved.room = room;
    }
    memcpy(saved.bytes + saved.used, bytes, count);
    saved.used += count;
    return true;
}

static sn_status save_bvh(const sn_motion *motion, const sn_sink *sink, sn_error *error) {
    if (the.skeleton != NULL && sn_skeleton_kind(the.skeleton) == SN_SKELETON_BVH)
        return sn_bvh_write(the.skeleton, motion, sink, NULL, error);
    sn_export *carry;
    sn_motion *carried = NULL;
    sn_export_options options = sn_export_options_default();
    options.source = the.skeleton;
    sn_status status = sn_export_create(the.base, SN_SKELETON_BVH, &options, NULL, &carry, error);
    if (status != SN_OK) return status;
    status = sn_export_motion(carry, motion, NULL, &carried, error);
    if (status == SN_OK)
        status = sn_bvh_write(sn_export_skeleton(carry), carried, sink, NULL, error);
    sn_motion_destroy(carried);
    sn_export_destroy(carry);
    return status;
}

// Measured markers in the figure's world.
static sn_status turned_recording(sn_recording **out) {
    const sn_recording *from = the_take.recording;
    sn_recording_info info = *sn_recording_about(from);
    info.nmarker = the_take.nmarker;
    const char **labels = calloc((size_t)info.nmarker, sizeof *labels);
    if (labels == NULL) return SN_ERR_MEMORY;
    for (int m = 0; m < info.nmarker; m++) labels[m] = sn_recording_label(from, m);
    sn_status status = sn_recording_create(&info, labels, NULL, out, NULL);
    free(labels);
    for (int k = 0; status == SN_OK && k < info.nframe; k++)
        for (int m = 0; m < info.nmarker; m++)
            sn_axis_map_point(&the_take.axes, sn_recording_frame(from, k) + 3 * m,
                              sn_recording_edit(*out, k) + 3 * m);
    return status;
}

static sn_status save_glb(const sn_motion *motion, const sn_sink *sink, sn_error *error) {
    sn_glb_scene scene = sn_glb_scene_default(the.base);
    sn_recording *recording = NULL;
    scene.motion = motion;
    scene.rate = sn_motion_rate(motion) > 0 ? sn_motion_rate(motion) : web_take_rate();
    scene.q = the.rest;
    // the markers of a take go with it
    const sn_samples measured = sn_take_samples(the_take.fit);
    if (motion == take_poses() && the_take.fit != NULL) {
        scene.samples = &measured;
        scene.fitted = sn_model_nmarker(the.base) > 0;
    } else if (motion == take_poses() && the_take.recording != NULL &&
               turned_recording(&recording) == SN_OK) {
        scene.recording = recording;
        scene.fitted = sn_model_nmarker(the.base) > 0;
    }
    sn_status status = sn_glb_write(&scene, sink, NULL, error);
    sn_recording_destroy(recording);
    return status;
}

int web_save(int kind, int nframe, double rate) {
    const sn_sink sink = {save, NULL};
    sn_error error = {0};
    sn_motion *own = NULL;
    const sn_motion *motion = take_poses();
    sn_status status = SN_OK;
    saved.used = 0;
    if (nframe > 0) {
        size_t bytes = (size_t)sn_model_nq(the.base) * sizeof(double);
        status = sn_motion_create(nframe, sn_model_nq(the.base), 1, rate, NULL, &own, NULL);
        for (int k = 0; k < nframe && status == SN_OK; k++)
            memcpy(sn_motion_edit(own, k), (const char *)the.buffer + (size_t)k * bytes, bytes);
        motion = own;
    }
    if (status == SN_OK && motion == NULL) status = SN_ERR_ARGUMENT;
    if (status == SN_OK)
        status =
            kind == WEB_BVH ? save_bvh(motion, &sink, &error) : save_glb(motion, &sink, &error);
    sn_motion_destroy(own);
    if (status != SN_OK) {
        (void)bad(&error, status);
        return -1;
    }
    return (int)saved.used;
}

const char *web_saved(void) { return saved.bytes; }
