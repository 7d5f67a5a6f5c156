// SPDX-License-Identifier: MIT
// Frames per second: from a column of times, and whether two are the same.
#pragma once

#include "sinew/base.h"
#include "sinew/motion.h"

/// Times as they come, one per row. Zeroed at first.
typedef struct sn_clock {
    int count;
    int nother;          ///< steps that are not about as long as the first
    int nback;           ///< steps that do not go forward
    int odd, back;       ///< rows before which the first of either kind lies, counted from 0
    double odd_step;     ///< how long that one of another length is
    double first, last;  ///< times
    double step, other;  ///< the first step; the sum of those that are different
    bool broken;         ///< a time was missing
} sn_clock;

void sn_clock_add(sn_clock *clock, double time);

/// All times of a table; none when it has no such column.
void sn_table_clock(const sn_table *table, sn_clock *out);

/// Rows per second, steps of another length left out; 0 when there is none to be had: less than two
/// times, one missing, or more than a tenth of the steps of another length.
double sn_clock_rate(const sn_clock *clock);

/// What a person should know of times that are not even, "" for nothing. Rows are called as frames from the first one's number on.
void sn_clock_words(const sn_clock *clock, int first_frame, char *out, size_t room);

/// The time of a row, in seconds: frame 1 is at 0. A first frame below 1 is taken as 1.
double sn_clock_time(int first_frame, int row, double rate);

/// What the time of the first row is beyond that; 0 when rounding to milliseconds explains it, or
/// one of them is not known.
double sn_clock_offset(int first_frame, double time, double rate);

/// Rates nearer to each other than a part in 10,000 are one, written with few digits.
bool sn_same_rate(double one, double other);
