// SPDX-License-Identifier: MIT
// A figure and its motion as a file, whichever format the file's name asks for.
#include <stdlib.h>
#include <string.h>

#include "figure.h"
#include "output.h"

static sn_status need_motion(const scene *s, sn_error *error, const char *format) {
    if (s->motion != NULL) return SN_OK;
    error->line = 0;
    (void)snprintf(error->text, sizeof error->text, "there is no motion to write as %s", format);
    return SN_ERR_ARGUMENT;
}

static bool turned(const scene *s) { return s->rotation[0] != 0 && s->rotation[0] != 1; }

// The file's own skeleton will do: its kind, its lengths, its unit.
static bool as_it_is(const scene *s, sn_skeleton_format format) {
    const sn_skeleton *own = s->figure->skeleton;
    return own != NULL && !s->reshaped && !turned(s) && sn_skeleton_get_format(own) == format &&
           (s->metres == 0 || s->metres == sn_skeleton_metres_per_unit(own));
}

static sn_status write_skeleton(const scene *s, sn_format format, const sn_skeleton *skeleton,
                                const sn_motion *motion, const sn_sink *sink, sn_error *error) {
    if (format == SN_FORMAT_ASF) return sn_asf_write(skeleton, sink, error);
    if (format == SN_FORMAT_BVH) return sn_bvh_write(skeleton, motion, sink, NULL, error);
    sn_status status = need_motion(s, error, "AMC");
    return status != SN_OK ? status : sn_amc_write(skeleton, motion, sink, NULL, error);
}

// BVH, ASF, AMC.
static sn_status write_bones(const scene *s, sn_format format, const sn_sink *sink, sn_error *error) {
    sn_skeleton_format kind = format == SN_FORMAT_BVH ? SN_SKELETON_BVH : SN_SKELETON_ASF;
    if (as_it_is(s, kind))
        return write_skeleton(s, format, s->figure->skeleton, s->motion, sink, error);
    sn_export_options options = sn_export_options_default();
    sn_export *export = NULL;
    sn_motion *motion = NULL;
    // the file knows where limbs end, as long as its lengths hold
    const sn_skeleton *own = s->figure->skeleton;
    options.source = s->reshaped ? NULL : own;
    options.metres_per_unit = s->metres;
    if (s->reshaped && s->metres == 0 && own != NULL)
        options.metres_per_unit = sn_skeleton_metres_per_unit(own);
    if (turned(s)) memcpy(options.rotation, s->rotation, sizeof options.rotation);
    sn_status status = sn_export_create(s->reshaped ? s->model : s->figure->model, kind, &options, NULL, &export, error);
    if (status == SN_OK && s->motion != NULL && format != SN_FORMAT_ASF)
        status = sn_export_motion(export, s->motion, NULL, &motion, error);
    if (status == SN_OK)
        status = write_skeleton(s, format, sn_export_skeleton(export), motion, sink, error);
    sn_motion_destroy(motion);
    sn_export_destroy(export);
    return status;
}

static sn_status write_glb(const scene *s, const sn_sink *sink, sn_error *error) {
    static const char *const axes[2][3] = {{"+x", "+y", "+z"}, {"-x", "-y", "-z"}};
    sn_glb_scene g = sn_glb_scene_default(s->model);
    g.tips = s->reshaped ? NULL : s->figure->tips;
    g.motion = s->motion;
    g.recording = s->recording;
    g.fitted = s->recording != NULL;
    if (turned(s)) {
        memcpy(g.rotation, s->rotation, sizeof g.rotation);
    } else {
        (void)sn_glb_up(axes[s->figure->up_sign < 0][s->figure->up], g.rotation);
    }
    return sn_glb_write(&g, sink, error);
}

// Markers: the measured ones when there is no figure, else where the figure has them.
static sn_status write_markers(const scene *s, sn_format format, const sn_sink *sink, sn_error *error) {
    sn_markers_options options = sn_markers_options_default();
    sn_recording *made = NULL;
    const sn_recording *markers = s->recording;
    if (s->metres == 1) options.unit = "m";
    if (s->metres == 0.01) options.unit = "cm";
    if (s->motion != NULL && s->model != NULL) markers = made = marker_paths(s->model, s->motion);
    sn_status status = SN_ERR_ARGUMENT;
    if (markers == NULL || sn_recording_get_info(markers)->nmarker == 0) {
        (void)snprintf(error->text, sizeof error->text, "there are no markers to write");
    } else if (format == SN_FORMAT_C3D) {
        status = sn_c3d_write(markers, NULL, NULL, sink, error);
    } else if (format == SN_FORMAT_TRC) {
        status = sn_trc_write(markers, &options, sink, error);
    } else {
        status = sn_csv_write_recording(markers, &options, sink, error);
    }
    sn_recording_destroy(made);
    return status;
}

static sn_status write_csv(const scene *s, const sn_sink *sink, sn_error *error) {
    if (s->motion == NULL) return write_markers(s, SN_FORMAT_CSV, sink, error);
    sn_table *table = NULL;
    sn_status status = sn_table_from_motion(s->model, s->motion, NULL, &table, error);
    if (status == SN_OK) status = sn_csv_write_table(table, sink, error);
    sn_table_destroy(table);
    return status;
}

static sn_status write_json(const scene *s, const sn_sink *sink) {
    char *text = NULL;
    sn_status status = sn_model_write_json(s->model, NULL, &text);
    if (status == SN_OK && !sink->write(sink->user, text, strlen(text))) status = SN_ERR_FILE;
    sn_string_free(text, NULL);
    return status;
}

static sn_status write_as(const scene *s, sn_format format, const sn_sink *sink, sn_error *error) {
    switch (format) {
        case SN_FORMAT_ASF:
        case SN_FORMAT_AMC:
        case SN_FORMAT_BVH: return write_bones(s, format, sink, error);
        case SN_FORMAT_GLB: return write_glb(s, sink, error);
        case SN_FORMAT_C3D:
        case SN_FORMAT_TRC: return write_markers(s, format, sink, error);
        case SN_FORMAT_CSV: return write_csv(s, sink, error);
        case SN_FORMAT_MODEL: return write_json(s, sink);
        case SN_FORMAT_MOT: {
            sn_status status = need_motion(s, error, "MOT");
            return status != SN_OK ? status : sn_mot_write(s->model, s->motion, NULL, sink, error);
        }
        default: break;
    }
    (void)snprintf(error->text, sizeof error->text,
                   "its ending must be one of asf, amc, bvh, c3d, trc, mot, sto, csv, glb, json");
    return SN_ERR_ARGUMENT;
}

bool write_scene(const char *path, const scene *s) {
    output out;
    sn_error error = {0};
    if (!output_open(&out, path)) return false;
    sn_sink sink = output_sink(&out);
    sn_status status = write_as(s, sn_format_of_name(path), &sink, &error);
    bool good = output_close(&out, status == SN_OK);
    if (status != SN_OK && status != SN_ERR_FILE) {
        if (error.text[0] == '\0')
            (void)snprintf(error.text, sizeof error.text, "%s", sn_status_text(status));
        error.line = 0;
        (void)file_error(path, &error);
    }
    return good && status == SN_OK;
}
