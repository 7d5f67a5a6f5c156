// SPDX-License-Identifier: MIT
// Frames per second from a column of times.
#pragma once

#include "sinew/base.h"

/// Times as they come, one per row. Zeroed at first.
typedef struct sn_clock {
    int count;
    double first, last;
    double least, most;  ///< steps
    bool broken;         ///< a time was missing
} sn_clock;

void sn_clock_add(sn_clock *clock, double time);

/// Rows per second from the first time to the last; 0 when there is none to be had.
/// @param even  whether every step is about the mean, as far as times in milliseconds can tell
double sn_clock_rate(const sn_clock *clock, bool *even);

/// The time of a row, in seconds: frame 1 is at 0. A first frame below 1 is taken as 1.
double sn_clock_time(int first_frame, int row, double rate);
