// SPDX-License-Identifier: MIT
// Rows that a file of frames has lost: its times, and its frame numbers where it has any, go on as if they were there.
#pragma once

#include "sinew/base.h"

/// The even grid of times that rows are a part of.
typedef struct sn_lost_rows {
    int total;    ///< frames, lost ones with them
    int first;    ///< the first lost one, from 0
    double rate;  ///< frames per second
} sn_lost_rows;

/// Find it. False where no row is lost, or that can't be told: times must rise, most of them by the same step and the others by
/// whole multiples of it, and frame numbers by just these multiples; and at most nine frames in ten may be lost.
/// @param number  count frame numbers; NULL: there are none
/// @param step    room for count numbers
/// @param frame   of each row: which frame it is, from 0
bool sn_lost_rows_find(const double *time, const double *number, int count, double *step,
                       int *frame, sn_lost_rows *out);
