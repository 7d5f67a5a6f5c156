// SPDX-License-Identifier: MIT
// Frames that nothing ties together, each to the bottom by itself, side by side in the lanes of a batch.
#pragma once

#include "sinew/batch.h"
#include "sinew/track.h"
#include "track/lanes.h"

/// The goals of a frame as a row of the batch; *share: what rest poses are multiplied with.
typedef void (*sn_each_row)(void *user, int frame, double *row, double *share);

/// Where the rows of a take come from.
typedef struct sn_each_rows {
    sn_batch *batch;
    sn_each_row row;
    void *user;
} sn_each_rows;

/// A take on its way. Owned by the caller, who ends it in any case.
typedef struct sn_each {
    sn_allocator allocator;
    sn_each_rows rows;
    int nframe, solved;
    int length, block;         ///< frames of a chain, and of the chains that are followed at once
    double *q;                 ///< the caller's: nframe x nq
    sn_lane_frame *frames;     ///< the caller's
    double *start;             ///< nq: where the first chains' poses are looked for from
    double *goals, *shares;    ///< a row for each frame of a block
    double *starts;            ///< of each chain
    sn_batch_report *reports;  ///< a block's
    double error;  ///< of the last frame: the root of the mean square of its goals' errors
    void *owner;
} sn_each;

/// @param start   the pose of any frame
/// @param q       nframe x nq, filled by sn_each_advance()
/// @param frames  nframe
sn_status sn_each_begin(sn_each *each, const sn_each_rows *rows, int nframe, const double *start,
                        const sn_allocator *allocator, double *q, sn_lane_frame *frames);
/// Follow chains until `count` more frames (-1: all) have poses.
sn_status sn_each_advance(sn_each *each, int count);
void sn_each_end(sn_each *each);
