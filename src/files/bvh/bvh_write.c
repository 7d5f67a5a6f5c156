// SPDX-License-Identifier: MIT
// Writing BVH.
#include <math.h>

#include "files/rows_out.h"
#include "math/round.h"
#include "sinew/files.h"

static void write_offset(sn_out *out, int depth, const double offset[3]) {
    sn_out_tabs(out, depth);
    sn_out_text(out, "OFFSET");
    for (int c = 0; c < 3; c++) {
        sn_out_text(out, " ");
        sn_out_number(out, offset[c]);
    }
    sn_out_text(out, "\n");
}

static void write_channels(sn_out *out, const sn_skeleton *skeleton, int joint, int depth) {
    int n = sn_skeleton_row_count(skeleton, joint);
    sn_out_tabs(out, depth);
    sn_out_text(out, "CHANNELS ");
    sn_out_integer(out, n);
    for (int k = 0; k < n; k++) {
        sn_out_text(out, " ");
        sn_out_text(out, sn_skeleton_row_name(skeleton, joint, k));
    }
    sn_out_text(out, "\n");
}

static void open_block(sn_out *out, int depth, const char *what, const char *name) {
    sn_out_tabs(out, depth);
    sn_out_text(out, what);
    sn_out_text(out, name);
    sn_out_text(out, "\n");
    sn_out_tabs(out, depth);
    sn_out_text(out, "{\n");
}

static void close_block(sn_out *out, int depth) {
    sn_out_tabs(out, depth);
    sn_out_text(out, "}\n");
}

static void write_joint(sn_out *out, const sn_skeleton *s, int joint, int depth) {
    const sn_figure *figure = &s->figure;
    const sn_entry *e = &figure->entry[joint];
    bool root = sn_entry_is_root(figure, (size_t)joint);
    open_block(out, depth, root ? "ROOT " : "JOINT ",
               e->name[0] != '\0' ? e->name : sn_entry_label(e));
    write_offset(out, depth + 1, e->offset);
    write_channels(out, s, joint, depth + 1);
}

// Joints stand parents first, depth first, and ends by joint.
static void write_hierarchy(sn_out *out, const sn_skeleton *s) {
    const sn_figure *figure = &s->figure;
    int first = figure->several_roots ? 1 : 0, open = -1, depth = 0;
    size_t end = 0;
    sn_out_text(out, "HIERARCHY\n");
    for (int i = first; i < s->njoint; i++) {
        // close what is not above this one
        for (int parent = figure->entry[i].parent; open >= first && open != parent;
             open = figure->entry[open].parent)
            close_block(out, --depth);
        write_joint(out, s, i, depth++);
        open = i;
        for (; end < figure->nend && figure->end[end].joint == i; end++) {
            open_block(out, depth, "End Site", "");
            write_offset(out, depth + 1, figure->end[end].offset);
            close_block(out, depth);
        }
    }
    while (depth > 0) close_block(out, --depth);
}

// The time from which the same rate is read again: as few digits as do that.
static double frame_time(double rate) {
    if (!(rate > 0)) return 0;
    double time = 1 / rate, rounded = sn_round(time * 1e12) / 1e12;
    return rounded > 0 && 1 / rounded == rate ? rounded : time;
}

static sn_status write_motion(sn_out *out, sn_rows_out *rows, sn_error *error) {
    const sn_motion *motion = rows->motion;
    int nframe = motion != NULL ? sn_motion_nframe(motion) : 0;
    if (rows->skeleton->row_size == 0) nframe = 0;  // rows without numbers are no rows
    sn_out_text(out, "MOTION\nFrames: ");
    sn_out_integer(out, nframe);
    sn_out_text(out, "\nFrame Time: ");
    sn_out_number(out, motion != NULL ? frame_time(sn_motion_rate(motion)) : 0);
    sn_out_text(out, "\n");
    for (int i = 0; i < nframe && !out->failed; i++) {
        SN_TRY(sn_rows_out_next(rows, i, error));
        for (int k = 0; k < rows->skeleton->row_size; k++) {
            if (k > 0) sn_out_text(out, " ");
            sn_out_rounded(out, rows->row[k]);
        }
        sn_out_text(out, "\n");
    }
    return SN_OK;
}

sn_status sn_bvh_write(const sn_skeleton *skeleton, const sn_motion *motion, const sn_sink *sink,
                       const sn_allocator *allocator, sn_error *error) {
    SN_NEED(skeleton, error);
    SN_NEED(sink, error);
    SN_NEED(sink->write, error);
    sn_rows_out rows;
    sn_out out;
    SN_TRY(sn_rows_out_begin(&rows, skeleton, SN_SKELETON_BVH, motion, allocator, error));
    sn_out_begin(&out, sink);
    write_hierarchy(&out, skeleton);
    sn_status status = write_motion(&out, &rows, error);
    if (status == SN_OK) status = sn_out_end(&out, error);
    sn_rows_out_end(&rows);
    return status;
}
