// SPDX-License-Identifier: MIT
// A figure, its motion and its markers as a file of any format.
#include "sinew/files.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "math/vec3.h"
#include "model/model.h"
#include "sinew/eval.h"

enum { SCENE_VERSION = 1 };

sn_scene sn_scene_default(const sn_model *model) {
    return (sn_scene){.version = SCENE_VERSION, .model = model, .up = 1, .up_sign = 1};
}

sn_scene sn_scene_of(const sn_document *d) {
    if (d == NULL) return sn_scene_default(NULL);
    sn_scene s = sn_scene_default(d->model);
    s.skeleton = d->skeleton;
    s.motion = d->motion;
    s.recording = d->recording;
    s.up = d->up;
    s.up_sign = d->up_sign;
    return s;
}

static sn_status need_motion(const sn_scene *s, sn_error *error, const char *format) {
    if (s->motion != NULL) return SN_OK;
    return sn_fail(error, SN_ERR_ARGUMENT, 0, "there is no motion to write as %s", format);
}

static bool turned(const sn_scene *s) {
    return s->rotation[1] != 0 || s->rotation[2] != 0 || s->rotation[3] != 0;
}

// The file's own skeleton will do: its kind, its lengths, its unit.
static bool as_it_is(const sn_scene *s, sn_skeleton_format format) {
    const sn_skeleton *own = s->skeleton;
    return own != NULL && !s->reshaped && !turned(s) && sn_skeleton_kind(own) == format &&
           (s->metres_per_unit == 0 || s->metres_per_unit == sn_skeleton_metres_per_unit(own));
}

static sn_status write_skeleton(const sn_scene *s, const sn_allocator *allocator, sn_format format,
                                const sn_skeleton *skeleton, const sn_motion *motion,
                                const sn_sink *sink, sn_error *error) {
    if (format == SN_FORMAT_ASF) return sn_asf_write(skeleton, sink, error);
    if (format == SN_FORMAT_BVH) return sn_bvh_write(skeleton, motion, sink, allocator, error);
    sn_status status = need_motion(s, error, "AMC");
    return status != SN_OK ? status : sn_amc_write(skeleton, motion, sink, allocator, error);
}

// A skeleton knows where its limbs end as long as its lengths hold.
static const sn_model *bones_model(const sn_scene *s) {
    return s->reshaped || s->skeleton == NULL ? s->model : sn_skeleton_model(s->skeleton);
}

// BVH, ASF, AMC.
static sn_status write_bones(const sn_scene *s, const sn_allocator *allocator, sn_format format,
                             const sn_sink *sink, sn_error *error) {
    sn_skeleton_format kind = format == SN_FORMAT_BVH ? SN_SKELETON_BVH : SN_SKELETON_ASF;
    if (as_it_is(s, kind))
        return write_skeleton(s, allocator, format, s->skeleton, s->motion, sink, error);
    sn_export_options options = sn_export_options_default();
    sn_export *export = NULL;
    sn_motion *motion = NULL;
    // the file knows where limbs end, as long as its lengths hold
    const sn_skeleton *own = s->skeleton;
    options.source = s->reshaped ? NULL : own;
    options.metres_per_unit = s->metres_per_unit;
    if (s->reshaped && s->metres_per_unit == 0 && own != NULL)
        options.metres_per_unit = sn_skeleton_metres_per_unit(own);
    if (turned(s)) memcpy(options.rotation, s->rotation, sizeof options.rotation);
    sn_status status = sn_export_create(bones_model(s), kind, &options, allocator, &export, error);
    if (status == SN_OK && s->motion != NULL && format != SN_FORMAT_ASF)
        status = sn_export_motion(export, s->motion, allocator, &motion, error);
    if (status == SN_OK)
        status =
            write_skeleton(s, allocator, format, sn_export_skeleton(export), motion, sink, error);
    sn_motion_destroy(motion);
    sn_export_destroy(export);
    return status;
}

// Where the bones end, which only the skeleton knows.
static sn_status find_tips(const sn_scene *s, const sn_allocator *allocator, double **out) {
    *out = NULL;
    if (s->reshaped || s->skeleton == NULL) return SN_OK;
    int n = sn_model_njoint(s->model);
    *out = sn_acquire(allocator, 3 * (size_t)n * sizeof **out);
    if (*out == NULL) return SN_ERR_MEMORY;
    for (int j = 0; j < n; j++) sn_skeleton_tip(s->skeleton, j, *out + 3 * j);
    return SN_OK;
}

static sn_status write_glb(const sn_scene *s, const sn_allocator *allocator, const sn_sink *sink,
                           sn_error *error) {
    static const char *const axes[2][3] = {{"+x", "+y", "+z"}, {"-x", "-y", "-z"}};
    sn_glb_scene g = sn_glb_scene_default(s->model);
    double *tips = NULL;
    SN_TRY(find_tips(s, allocator, &tips));
    g.tips = tips;
    g.motion = s->motion;
    g.recording = s->recording;
    g.samples = s->samples;
    g.fitted = s->recording != NULL || s->samples != NULL;
    g.shapes = s->shapes;
    // whatever axis was asked for: in these files y is up
    (void)sn_glb_up(axes[s->up_sign < 0][s->up], g.rotation);
    sn_status status = sn_glb_write(&g, sink, allocator, error);
    sn_release(allocator, tips);
    return status;
}

// Markers as an STO table: in metres, as OpenSim has them, unless another unit was asked for.
static sn_status write_sto(const sn_scene *s, const sn_allocator *allocator,
                           const sn_recording *markers, const sn_sink *sink, sn_error *error) {
    double metres = s->metres_per_unit;
    const sn_recording_info *r = sn_recording_about(markers);
    sn_table_info info = sn_table_info_default();
    info.nrow = r->nframe;
    info.ncolumn = 1 + 3 * r->nmarker;
    info.time = 0;
    info.rate = r->rate;
    (void)strcpy(info.name, "markers");
    char unit[24];
    sn_unit_name(metres > 0 ? metres : 1, unit);
    double scale = r->metres_per_unit > 0 && metres > 0 ? 1 / metres : 1;
    if (r->metres_per_unit > 0) (void)snprintf(info.unit, sizeof info.unit, "%.15s", unit);
    enum { LONGEST = 300 };
    const char **names = NULL;
    char *pool = NULL;
    sn_layout layout = {0};
    void *block = NULL;
    for (int pass = 0; pass < 2; pass++) {
        names = sn_layout_take(&layout, (size_t)info.ncolumn, sizeof *names);
        pool = sn_layout_take(&layout, (size_t)info.ncolumn, LONGEST);
        if (pass == 1) break;
        block = layout.overflow ? NULL : sn_acquire(allocator, layout.used);
        if (block == NULL) return sn_fail_memory(error);
        layout = (sn_layout){.block = block};
    }
    names[0] = "time";
    for (int i = 1; i < info.ncolumn; i++) {
        char *at = pool + (size_t)i * LONGEST;
        (void)snprintf(at, LONGEST, "%.280s_t%c", sn_recording_label(markers, (i - 1) / 3),
                       "xyz"[(i - 1) % 3]);
        names[i] = at;
    }
    sn_table *table = NULL;
    sn_status status = sn_table_create(&info, names, allocator, &table, error);
    for (int f = 0; status == SN_OK && f < info.nrow; f++) {
        double *row = sn_table_edit(table, f);
        row[0] = r->time_offset + (r->first_frame - 1 + f) / r->rate;
        const double *x = sn_recording_frame(markers, f);
        for (int i = 0; i < 3 * r->nmarker; i++) row[1 + i] = x[i] * scale;
    }
    if (status == SN_OK) status = sn_sto_write(table, sink, error);
    sn_table_destroy(table);
    sn_release(allocator, block);
    return status;
}

static sn_status write_marker_file(const sn_scene *s, const sn_allocator *allocator,
                                   const sn_recording *markers, sn_format format,
                                   const sn_sink *sink, sn_error *error) {
    sn_markers_options options = sn_markers_options_default();
    sn_c3d_options c3d = sn_c3d_options_default();
    char unit[24];
    if (s->metres_per_unit > 0) {
        sn_unit_name(s->metres_per_unit, unit);
        options.unit = c3d.unit = unit;
    }
    if (format == SN_FORMAT_C3D) return sn_c3d_write(markers, &c3d, sink, allocator, error);
    if (format == SN_FORMAT_TRC) return sn_trc_write(markers, &options, sink, error);
    if (format == SN_FORMAT_MOT) return write_sto(s, allocator, markers, sink, error);
    return sn_csv_write_recording(markers, &options, sink, error);
}

// Markers: the measured ones when there is no figure, else where the figure has them.
static sn_status write_markers(const sn_scene *s, const sn_allocator *allocator, sn_format format,
                               const sn_sink *sink, sn_error *error) {
    sn_recording *made = NULL;
    const sn_recording *markers = s->recording;
    if (s->motion != NULL && s->model != NULL) {
        if (sn_marker_paths(s->model, s->motion, allocator, &made, error) != SN_OK)
            return sn_fail_memory(error);
        if (turned(s)) sn_recording_turn(made, s->rotation);
        markers = made;
    }
    sn_status status = markers == NULL || sn_recording_about(markers)->nmarker == 0
                           ? sn_fail(error, SN_ERR_ARGUMENT, 0, "there are no markers to write")
                           : write_marker_file(s, allocator, markers, format, sink, error);
    sn_recording_destroy(made);
    return status;
}

static sn_status write_csv(const sn_scene *s, const sn_allocator *allocator, const sn_sink *sink,
                           sn_error *error) {
    if (s->motion == NULL) return write_markers(s, allocator, SN_FORMAT_CSV, sink, error);
    sn_table *table = NULL;
    sn_status status = sn_table_from_motion(s->model, s->motion, allocator, &table, error);
    if (status == SN_OK) status = sn_csv_write_table(table, sink, error);
    sn_table_destroy(table);
    return status;
}

static sn_status turn_model(const sn_scene *s, const sn_allocator *allocator, sn_model **out,
                            sn_error *error) {
    sn_builder *builder;
    SN_TRY(sn_builder_create_from(s->model, allocator, &builder, error));
    sn_builder_turn_world(builder, s->rotation);
    sn_status status = sn_builder_finish(builder, out, error);
    sn_builder_destroy(builder);
    return status;
}

static sn_status write_json(const sn_scene *s, const sn_allocator *allocator, const sn_sink *sink,
                            sn_error *error) {
    sn_model *model = NULL;
    sn_status status = turned(s) ? turn_model(s, allocator, &model, error) : SN_OK;
    if (status == SN_OK)
        status = sn_model_write_json(model != NULL ? model : s->model, sink, allocator, error);
    sn_model_destroy(model);
    return status;
}

static sn_status write_mot(const sn_scene *s, const sn_allocator *allocator, const sn_sink *sink,
                           sn_error *error) {
    if (s->motion == NULL && s->recording != NULL)
        return write_markers(s, allocator, SN_FORMAT_MOT, sink, error);
    SN_TRY(need_motion(s, error, "MOT"));
    return sn_mot_write(s->model, s->motion, sink, allocator, error);
}

static sn_status check(const sn_scene *s, sn_format format, sn_error *error) {
    bool bones = format == SN_FORMAT_ASF || format == SN_FORMAT_AMC || format == SN_FORMAT_BVH ||
                 format == SN_FORMAT_GLB || format == SN_FORMAT_MODEL;
    if (s->version != SCENE_VERSION)
        return sn_fail(error, SN_ERR_ARGUMENT, 0,
                       "the scene does not come from sn_scene_default()");
    if (s->model == NULL && (bones || s->motion != NULL))
        return sn_fail(error, SN_ERR_ARGUMENT, 0, "there is no figure to write as %s",
                       sn_format_name(format));
    if (s->up < 0 || s->up > 2)
        return sn_fail(error, SN_ERR_ARGUMENT, 0, "the scene's up axis is %d, not 0, 1 or 2",
                       s->up);
    if (!(s->metres_per_unit >= 0) || !isfinite(s->metres_per_unit))
        return sn_fail(error, SN_ERR_ARGUMENT, 0, "the scene's metres_per_unit is %g",
                       s->metres_per_unit);
    return SN_OK;
}

sn_status sn_scene_write(const sn_scene *s, sn_format format, const sn_sink *sink,
                         const sn_allocator *allocator, sn_error *error) {
    if (s == NULL || sink == NULL || sink->write == NULL)
        return sn_fail(error, SN_ERR_ARGUMENT, 0, "the scene or the sink is missing");
    SN_TRY(check(s, format, error));
    switch (format) {
    case SN_FORMAT_ASF:
    case SN_FORMAT_AMC:
    case SN_FORMAT_BVH:
        return write_bones(s, allocator, format, sink, error);
    case SN_FORMAT_GLB:
        return write_glb(s, allocator, sink, error);
    case SN_FORMAT_C3D:
    case SN_FORMAT_TRC:
        return write_markers(s, allocator, format, sink, error);
    case SN_FORMAT_CSV:
        return write_csv(s, allocator, sink, error);
    case SN_FORMAT_MOT:
        return write_mot(s, allocator, sink, error);
    case SN_FORMAT_MODEL:
        return write_json(s, allocator, sink, error);
    default:
        return sn_fail(
            error, SN_ERR_ARGUMENT, 0,
            "its ending must be one of asf, amc, bvh, c3d, trc, mot, sto, csv, glb, json");
    }
}

double sn_scene_unit(const sn_scene *s, sn_format format) {
    if (s == NULL) return 0;
    const bool motion = s->motion != NULL && s->model != NULL;
    switch (format) {
    case SN_FORMAT_BVH:
    case SN_FORMAT_ASF:
    case SN_FORMAT_AMC:
        if (s->metres_per_unit > 0) return s->metres_per_unit;
        // an export keeps the unit of the skeleton it comes from
        if (s->skeleton != NULL) return sn_skeleton_metres_per_unit(s->skeleton);
        return format == SN_FORMAT_BVH ? 0.01 : 0.0254 / 0.45;
    case SN_FORMAT_GLB:
    case SN_FORMAT_MODEL:
        return 1;
    case SN_FORMAT_MOT:
    case SN_FORMAT_CSV:
        if (s->motion != NULL) return 1;  // coordinates of the model
        break;
    case SN_FORMAT_C3D:
    case SN_FORMAT_TRC:
        break;
    default:
        return 0;
    }
    // markers; numbers of an unknown unit stay as they are
    if (!motion &&
        (s->recording == NULL || !(sn_recording_about(s->recording)->metres_per_unit > 0)))
        return 0;
    if (s->metres_per_unit > 0) return s->metres_per_unit;
    return format == SN_FORMAT_MOT ? 1 : 0.001;
}
