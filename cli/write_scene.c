// SPDX-License-Identifier: MIT
// A figure and its motion as a file, whichever format the file's name asks for.
#include <stdlib.h>
#include <string.h>

#include "figure.h"
#include "inputs.h"
#include "output.h"
#include "take_page.h"

static sn_status need_motion(const scene *s, sn_error *error, const char *format) {
    if (s->motion != NULL) return SN_OK;
    error->line = 0;
    (void)snprintf(error->text, sizeof error->text, "there is no motion to write as %s", format);
    return SN_ERR_ARGUMENT;
}

static bool turned(const scene *s) {
    return s->rotation[1] != 0 || s->rotation[2] != 0 || s->rotation[3] != 0;
}

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
    // whatever axis was asked for: in these files y is up
    (void)sn_glb_up(axes[s->figure->up_sign < 0][s->figure->up], g.rotation);
    return sn_glb_write(&g, sink, error);
}

void turn_markers(const scene *s, sn_recording *markers) {
    const sn_recording_info *info = sn_recording_get_info(markers);
    sn_mat3 R = sn_mat3_from_quat(
        (sn_quat){s->rotation[0], s->rotation[1], s->rotation[2], s->rotation[3]});
    for (int f = 0; f < info->nframe; f++) {
        double *x = sn_recording_edit(markers, f);
        for (int m = 0; m < info->nmarker; m++, x += 3) {
            const double p[3] = {x[0], x[1], x[2]};
            for (int k = 0; k < 3; k++)
                x[k] = (&R.c[0].x)[k] * p[0] + (&R.c[1].x)[k] * p[1] + (&R.c[2].x)[k] * p[2];
        }
    }
}

// Markers as an STO table: in metres, as OpenSim has them, unless another unit was asked for.
static sn_status write_sto(const sn_recording *markers, double metres, const sn_sink *sink,
                           sn_error *error) {
    const sn_recording_info *r = sn_recording_get_info(markers);
    sn_table_info info = sn_table_info_default();
    info.nrow = r->nframe;
    info.ncolumn = 1 + 3 * r->nmarker;
    info.time = 0;
    info.rate = r->rate;
    (void)strcpy(info.name, "markers");
    char unit[24];
    unit_name(metres > 0 ? metres : 1, unit);
    double scale = r->metres_per_unit > 0 && metres > 0 ? 1 / metres : 1;
    if (r->metres_per_unit > 0) (void)snprintf(info.unit, sizeof info.unit, "%.15s", unit);
    enum { LONGEST = 300 };
    const char **names = must_alloc((size_t)info.ncolumn, sizeof *names);
    char *pool = must_alloc((size_t)info.ncolumn, LONGEST);
    names[0] = "time";
    for (int i = 1; i < info.ncolumn; i++) {
        char *at = pool + (size_t)i * LONGEST;
        (void)snprintf(at, LONGEST, "%.280s_t%c", sn_recording_label(markers, (i - 1) / 3),
                       "xyz"[(i - 1) % 3]);
        names[i] = at;
    }
    sn_table *table = NULL;
    sn_status status = sn_table_create(&info, names, NULL, &table);
    for (int f = 0; status == SN_OK && f < info.nrow; f++) {
        double *row = sn_table_edit(table, f);
        row[0] = r->time_offset + (r->first_frame - 1 + f) / r->rate;
        const double *x = sn_recording_frame(markers, f);
        for (int i = 0; i < 3 * r->nmarker; i++) row[1 + i] = x[i] * scale;
    }
    if (status == SN_OK) status = sn_sto_write(table, sink, error);
    sn_table_destroy(table);
    free(pool);
    free(names);
    return status;
}

static sn_status write_marker_file(const scene *s, const sn_recording *markers, sn_format format,
                                   const sn_sink *sink, sn_error *error) {
    sn_markers_options options = sn_markers_options_default();
    sn_c3d_options c3d = sn_c3d_options_default();
    char unit[24];
    if (s->metres > 0) {
        unit_name(s->metres, unit);
        options.unit = c3d.unit = unit;
    }
    if (format == SN_FORMAT_C3D) return sn_c3d_write(markers, &c3d, NULL, sink, error);
    if (format == SN_FORMAT_TRC) return sn_trc_write(markers, &options, sink, error);
    if (format == SN_FORMAT_MOT) return write_sto(markers, s->metres, sink, error);
    return sn_csv_write_recording(markers, &options, sink, error);
}

// Markers: the measured ones when there is no figure, else where the figure has them.
static sn_status write_markers(const scene *s, sn_format format, const sn_sink *sink, sn_error *error) {
    sn_recording *made = NULL;
    const sn_recording *markers = s->recording;
    if (s->motion != NULL && s->model != NULL) markers = made = marker_paths(s->model, s->motion);
    if (made != NULL && turned(s)) turn_markers(s, made);
    sn_status status = SN_ERR_ARGUMENT;
    if (markers == NULL || sn_recording_get_info(markers)->nmarker == 0) {
        (void)snprintf(error->text, sizeof error->text, "there are no markers to write");
    } else {
        status = write_marker_file(s, markers, format, sink, error);
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

// The model with its root turned: its poses stay as they are.
static sn_status turn_model(const scene *s, sn_model **out, sn_error *error) {
    sn_builder *builder;
    sn_status status = sn_builder_create(sn_model_name(s->model), NULL, &builder);
    if (status != SN_OK) return status;
    sn_quat turn = {s->rotation[0], s->rotation[1], s->rotation[2], s->rotation[3]};
    for (int j = 0; j < sn_model_njoint(s->model); j++) {
        sn_joint_desc d = *sn_model_joint(s->model, j);
        if (d.parent < 0) {
            sn_quat q = sn_quat_mul(
                turn, (sn_quat){d.rotation[0], d.rotation[1], d.rotation[2], d.rotation[3]});
            sn_mat3 R = sn_mat3_from_quat(turn);
            const double p[3] = {d.position[0], d.position[1], d.position[2]};
            for (int k = 0; k < 3; k++)
                d.position[k] = (&R.c[0].x)[k] * p[0] + (&R.c[1].x)[k] * p[1] + (&R.c[2].x)[k] * p[2];
            d.rotation[0] = q.w, d.rotation[1] = q.x, d.rotation[2] = q.y, d.rotation[3] = q.z;
        }
        (void)sn_builder_joint(builder, &d);
    }
    for (int i = 0; i < sn_model_nmarker(s->model); i++)
        (void)sn_builder_marker(builder, sn_model_marker(s->model, i));
    sn_builder_couple_as(builder, s->model);
    status = sn_builder_finish(builder, out, error);
    sn_builder_destroy(builder);
    return status;
}

static sn_status write_json(const scene *s, const sn_sink *sink, sn_error *error) {
    char *text = NULL;
    sn_model *model = NULL;
    sn_status status = turned(s) ? turn_model(s, &model, error) : SN_OK;
    if (status == SN_OK)
        status = sn_model_write_json(model != NULL ? model : s->model, NULL, &text);
    if (status == SN_OK && !sink->write(sink->user, text, strlen(text))) status = SN_ERR_FILE;
    sn_string_free(text, NULL);
    sn_model_destroy(model);
    return status;
}

sn_status write_scene_to(const scene *s, sn_format format, const sn_sink *sink, sn_error *error) {
    switch (format) {
        case SN_FORMAT_ASF:
        case SN_FORMAT_AMC:
        case SN_FORMAT_BVH: return write_bones(s, format, sink, error);
        case SN_FORMAT_GLB: return write_glb(s, sink, error);
        case SN_FORMAT_C3D:
        case SN_FORMAT_TRC: return write_markers(s, format, sink, error);
        case SN_FORMAT_CSV: return write_csv(s, sink, error);
        case SN_FORMAT_MODEL: return write_json(s, sink, error);
        case SN_FORMAT_MOT: {
            if (s->motion == NULL && s->recording != NULL)
                return write_markers(s, format, sink, error);
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
    sn_status status = is_page_name(path) ? write_take_page(s, path, &sink, &error)
                                          : write_scene_to(s, sn_format_of_name(path), &sink, &error);
    bool good = output_close(&out, status == SN_OK);
    if (status != SN_OK && status != SN_ERR_FILE) {
        if (error.text[0] == '\0')
            (void)snprintf(error.text, sizeof error.text, "%s", sn_status_text(status));
        error.line = 0;
        (void)file_error(path, &error);
    }
    return good && status == SN_OK;
}
