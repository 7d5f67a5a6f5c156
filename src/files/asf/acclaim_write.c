// SPDX-License-Identifier: MIT
// Writing ASF and AMC, Acclaim's skeleton and motion.
#include <math.h>

#include "files/rows_out.h"

static void write_numbers(sn_out *out, const char *key, const double *x, int count) {
    sn_out_text(out, key);
    for (int i = 0; i < count; i++) {
        sn_out_text(out, " ");
        if (isfinite(x[i])) {
            sn_out_number(out, x[i]);
        } else {
            sn_out_text(out, x[i] < 0 ? "-inf" : "inf");
        }
    }
}

static void write_axes(sn_out *out, const sn_axes *axes) {
    const char letters[] = {
        ' ', "XYZ"[axes->axis[0]], "XYZ"[axes->axis[1]], "XYZ"[axes->axis[2]], '\n', '\0'};
    sn_out_text(out, letters);
}

static void write_channels(sn_out *out, const sn_skeleton *s, int joint) {
    for (int k = 0; k < sn_skeleton_row_count(s, joint); k++) {
        sn_out_text(out, " ");
        sn_out_text(out, sn_skeleton_row_name(s, joint, k));
    }
    sn_out_text(out, "\n");
}

static void write_head(sn_out *out, const sn_skeleton *s) {
    const sn_figure *figure = &s->figure;
    sn_out_text(out, ":version 1.10\n");
    if (figure->name[0] != '\0') {
        sn_out_text(out, ":name ");
        sn_out_text(out, figure->name);
        sn_out_text(out, "\n");
    }
    sn_out_text(out, ":units\n  mass 1.0\n");
    write_numbers(out, "  length", &figure->length_unit, 1);
    sn_out_text(out,
                figure->angle_unit == SN_ANGLE_DEGREES ? "\n  angle deg\n" : "\n  angle rad\n");
    sn_out_text(out, ":root\n  order");
    write_channels(out, s, 0);
    sn_out_text(out, "  axis");
    write_axes(out, &figure->entry[0].order);
    sn_out_text(out, "  position 0 0 0\n  orientation 0 0 0\n");
}

static void write_bone(sn_out *out, const sn_skeleton *s, int joint) {
    const sn_entry *e = &s->figure.entry[joint];
    sn_out_text(out, "  begin\n    id ");
    sn_out_integer(out, joint);
    sn_out_text(out, "\n    name ");
    sn_out_text(out, e->name);
    write_numbers(out, "\n    direction", e->direction, 3);
    write_numbers(out, "\n    length", &e->length, 1);
    write_numbers(out, "\n    axis", e->angle, 3);
    write_axes(out, &e->order);
    if (e->nchannel > 0) {
        sn_out_text(out, "    dof");
        write_channels(out, s, joint);
    }
    for (int k = 0; 2 * k < e->nlimit; k++) {
        sn_out_text(out, k == 0 ? "    limits (" : "           (");
        write_numbers(out, "", e->limit + 2 * k, 2);
        sn_out_text(out, ")\n");
    }
    sn_out_text(out, "  end\n");
}

static void write_hierarchy(sn_out *out, const sn_skeleton *s) {
    sn_out_text(out, ":hierarchy\n  begin\n");
    for (int i = 0; i < s->njoint; i++) {
        int left = s->model->nchild[i];
        if (left == 0) continue;
        sn_out_text(out, "    ");
        sn_out_text(out, s->figure.entry[i].name);
        for (int k = 0; left > 0; k++) {
            if (s->figure.entry[k].parent != i) continue;
            sn_out_text(out, " ");
            sn_out_text(out, s->figure.entry[k].name);
            left--;
        }
        sn_out_text(out, "\n");
    }
    sn_out_text(out, "  end\n");
}

sn_status sn_asf_write(const sn_skeleton *skeleton, const sn_sink *sink, sn_error *error) {
    SN_NEED(skeleton, error);
    SN_NEED(sink, error);
    SN_NEED(sink->write, error);
    sn_out out;
    SN_TRY(sn_check_format(skeleton, SN_SKELETON_ASF, error));
    sn_out_begin(&out, sink);
    write_head(&out, skeleton);
    sn_out_text(&out, ":bonedata\n");
    for (int i = 1; i < skeleton->njoint; i++) write_bone(&out, skeleton, i);
    write_hierarchy(&out, skeleton);
    return sn_out_end(&out, error);
}

static sn_status write_frame(sn_out *out, sn_rows_out *rows, int frame, sn_error *error) {
    const sn_skeleton *s = rows->skeleton;
    SN_TRY(sn_rows_out_next(rows, frame, error));
    sn_out_integer(out, sn_motion_first_frame(rows->motion) + frame);
    sn_out_text(out, "\n");
    for (int i = 0; i < s->njoint; i++) {
        int n = sn_skeleton_row_count(s, i), at = sn_skeleton_row_index(s, i);
        if (n == 0) continue;
        sn_out_text(out, s->figure.entry[i].name);
        for (int k = 0; k < n; k++) {
            sn_out_text(out, " ");
            sn_out_rounded(out, rows->row[at + k]);
        }
        sn_out_text(out, "\n");
    }
    return SN_OK;
}

sn_status sn_amc_write(const sn_skeleton *skeleton, const sn_motion *motion, const sn_sink *sink,
                       const sn_allocator *allocator, sn_error *error) {
    SN_NEED(skeleton, error);
    SN_NEED(motion, error);
    SN_NEED(sink, error);
    SN_NEED(sink->write, error);
    sn_rows_out rows;
    sn_out out;
    SN_TRY(sn_rows_out_begin(&rows, skeleton, SN_SKELETON_ASF, motion, allocator, error));
    sn_out_begin(&out, sink);
    sn_out_text(&out, ":FULLY-SPECIFIED\n");
    bool degrees = skeleton->figure.angle_unit == SN_ANGLE_DEGREES;
    sn_out_text(&out, degrees ? ":DEGREES\n" : ":RADIANS\n");
    if (sn_motion_rate(motion) > 0) {
        sn_out_text(&out, ":SAMPLES-PER-SECOND ");
        sn_out_number(&out, sn_motion_rate(motion));
        sn_out_text(&out, "\n");
    }
    sn_status status = SN_OK;
    for (int i = 0; i < sn_motion_nframe(motion) && status == SN_OK && !out.failed; i++)
        status = write_frame(&out, &rows, i, error);
    if (status == SN_OK) status = sn_out_end(&out, error);
    sn_rows_out_end(&rows);
    return status;
}
