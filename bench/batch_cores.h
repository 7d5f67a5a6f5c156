// SPDX-License-Identifier: MIT
// The pieces of an iteration by themselves: microseconds of one lane.
#pragma once

#include "batch/table.h"

enum { CORE_ALL, CORE_POSE, CORE_SUMS, CORE_FACTOR, CORE_SOLVE, CORE_PIECES };

/// On the numbers of a batch's thread after a job; the least of some rounds. Only where the machine has the
/// registers.
void bench_core4(const sn_batch_table *tab, const sn_batch_work *room, int rounds, double *micros);
void bench_core8(const sn_batch_table *tab, const sn_batch_work *room, int rounds, double *micros);

/// The lanes' trips, compiled once more beside their pieces.
void bench_trip4(const sn_batch_table *tab, const sn_batch_work *room);
void bench_trip8(const sn_batch_table *tab, const sn_batch_work *room);
