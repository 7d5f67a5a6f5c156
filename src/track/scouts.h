// SPDX-License-Identifier: MIT
// Short runs from several starts of some frames, side by side in lanes.
#pragma once

#include "track/each.h"
#include "track/limbs.h"

enum { SN_SCOUTED_FRAMES = 64 };  ///< at once

typedef struct sn_scouts {
    const sn_each_rows *rows;
    size_t nq;
    int count, starts;             ///< frames, and starts of each
    int frame[SN_SCOUTED_FRAMES];  ///< rising
    double *q, *goals, *shares;    ///< of every start
    sn_batch_report *reports;
} sn_scouts;

/// Room for so many starts of so many frames, SN_SCOUTED_FRAMES at most; to be closed in any case.
sn_status sn_scouts_open(sn_scouts *scouts, const sn_each_rows *rows, int frames, int starts,
                         const sn_allocator *allocator);
void sn_scouts_close(sn_scouts *scouts, const sn_allocator *allocator);

/// The goals of one more frame, for all its starts.
void sn_scouts_add(sn_scouts *scouts, int frame);

/// A start of the at-th frame; once they have run, where it led.
static inline double *sn_scouts_pose(const sn_scouts *scouts, int at, int start) {
    return scouts->q + (size_t)(at * scouts->starts + start) * scouts->nq;
}

/// @param held  degrees of freedom from this one on (sweep order) stay as they are
sn_status sn_scouts_run(sn_scouts *scouts, double gradient, int iterations, int held);

/// Is one of the limbs elsewhere and better where a start of the at-th frame led than at the pose `own`?
/// @param by  what it must be lower by
/// @param ws  of the same model, to place both in
bool sn_scouts_better(const sn_scouts *scouts, int at, int start, const sn_limbs *limbs,
                      const double *own, double by, sn_workspace *ws);
