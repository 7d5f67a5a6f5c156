// SPDX-License-Identifier: MIT
#include "files/rows_out.h"

sn_status sn_check_format(const sn_skeleton *skeleton, sn_skeleton_format format, sn_error *error) {
    if (skeleton->figure.format == format) return SN_OK;
    return sn_fail(error, SN_ERR_ARGUMENT, 0, "this skeleton is not %s: export it first",
                   format == SN_SKELETON_ASF ? "an ASF one" : "a BVH one");
}

sn_status sn_rows_out_begin(sn_rows_out *rows, const sn_skeleton *skeleton,
                            sn_skeleton_format format, const sn_motion *motion,
                            const sn_allocator *allocator, sn_error *error) {
    *rows = (sn_rows_out){.skeleton = skeleton, .motion = motion, .allocator = allocator};
    SN_TRY(sn_check_format(skeleton, format, error));
    if (motion != NULL && sn_motion_nq(motion) != sn_model_nq(skeleton->model))
        return sn_fail(error, SN_ERR_ARGUMENT, 0,
                       "the motion has %d coordinates, the skeleton's model %d",
                       sn_motion_nq(motion), sn_model_nq(skeleton->model));
    sn_layout layout = {0};
    for (int pass = 0; pass < 2; pass++) {
        rows->row = sn_layout_take(&layout, (size_t)skeleton->row_size, sizeof *rows->row);
        rows->previous = sn_layout_take(&layout, (size_t)skeleton->row_size, sizeof *rows->row);
        if (pass == 1) break;
        void *block = sn_layout_acquire(&layout, allocator, &rows->owner);
        if (block == NULL) return sn_fail_memory(error);
        layout = (sn_layout){.block = block};
    }
    return SN_OK;
}

sn_status sn_rows_out_next(sn_rows_out *rows, int frame, sn_error *error) {
    const sn_skeleton *s = rows->skeleton;
    const double *q = sn_motion_frame(rows->motion, frame);
    double *swap = rows->previous;
    SN_TRY(sn_model_check_pose(s->model, q, error));
    rows->previous = rows->row;
    rows->row = swap;
    sn_skeleton_to_row(s, s->figure.angle_unit, q, frame > 0 ? rows->previous : NULL, rows->row);
    for (int k = 0; k < s->row_size; k++)
        if (!(fabs(rows->row[k]) <= SN_TEXT_MAX))
            return sn_fail(error, SN_ERR_VALUE, 0, "frame %d has a number that is too large",
                           frame + sn_motion_first_frame(rows->motion));
    return SN_OK;
}

void sn_rows_out_end(sn_rows_out *rows) { sn_release(rows->allocator, rows->owner); }
