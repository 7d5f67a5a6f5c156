// SPDX-License-Identifier: MIT
// A motion as rows, one after the other: what the AMC and BVH writers share.
#pragma once

#include "files/out.h"
#include "files/skeleton.h"

typedef struct sn_rows_out {
    const sn_skeleton *skeleton;
    const sn_motion *motion;
    const sn_allocator *allocator;
    void *owner;
    double *row;       ///< of the frame that was asked for last
    double *previous;  ///< of the one before
} sn_rows_out;

/// SN_ERR_ARGUMENT when the skeleton is of another format or the motion of another model.
sn_status sn_rows_out_begin(sn_rows_out *rows, const sn_skeleton *skeleton,
                            sn_skeleton_format format, const sn_motion *motion,
                            const sn_allocator *allocator, sn_error *error);
/// Make the row of a frame; frames must be asked for one after the other.
sn_status sn_rows_out_next(sn_rows_out *rows, int frame, sn_error *error);
void sn_rows_out_end(sn_rows_out *rows);

/// SN_ERR_ARGUMENT when the skeleton is of another format.
sn_status sn_check_format(const sn_skeleton *skeleton, sn_skeleton_format format, sn_error *error);
