// SPDX-License-Identifier: MIT
// The kernels of a batch's device, and a piece of a job that they work on.
#pragma once

#include "batch/batch.h"
#include "batch/session.h"

enum { SN_BATCH_GROUP = 64, SN_BATCH_SLOTS = SN_SESSION_QUEUES };

/// A piece under way: memory on the device, and here.
typedef struct sn_batch_slot {
    sn_cl queue, goals, starts, poses, stats, next, list, list2, fixed;
    double *seen, *begin, *goal;  ///< here: stats, starts, and goals where they must be made ready
    bool *bad;                    ///< chains whose start is none
    size_t rows, chains;          ///< what there is room for
    int first, nchain;            ///< chains of the piece; nchain 0: none is under way
    int frame, nframe;            ///< and their frames
} sn_batch_slot;

struct sn_batch_device {
    sn_allocator allocator;
    sn_session s;
    sn_cl program[4], trips[2], quick[2], verify, put, carry;  // of doubles, of floats
    int nprogram;
    sn_batch_slot slots[SN_BATCH_SLOTS];
    sn_cl heads[2];      ///< the last two poses of each chain, before a piece and behind it
    size_t head_chains;  ///< for which there is room in them
    sn_cl carried;       ///< an event: they are written; NULL: nothing to wait for
    size_t threads, most_bytes;
};

/// Compile what a batch needs; false with a reason in `why`.
bool sn_batch_launch_build(sn_batch_device *d, const sn_batch *b, char *why, size_t size);

/// Chains that go on in another piece can be cut along their frames.
static inline bool sn_batch_launch_cuts(const sn_batch_device *d) { return d->quick[1] != NULL; }

/// All kernels of a piece, one after the other. @param cut  its chains are in other pieces, too
int32_t sn_batch_launch(const sn_batch *b, sn_batch_slot *s, bool cut);
