// SPDX-License-Identifier: MIT
// A problem's kernels as a text for a device's compiler: its counts and lists as constants, so that they
// fold, and the recursions of core.h behind them.
#pragma once

#include "base/text.h"
#include "batch/table.h"

/// The parts of the kernels' text, terminated: lists.h and dialect.cl, the recursions, trips, quick chains; those
/// of an arm (arm/device.c).
extern const char sn_batch_text_head[];
extern const char sn_batch_text_common[];
extern const char sn_batch_text_trips[];
extern const char sn_batch_text_quick[];
extern const char sn_batch_text_armhead[];
extern const char sn_batch_text_arm[];

/// Programs there are.
typedef enum sn_batch_kernels {
    SN_BATCH_TRIPS,  ///< kernel.cl: everything, as the lanes of a processor do it
    SN_BATCH_QUICK   ///< quick.cl: points on joints without coupled terms
} sn_batch_kernels;

/// The whole program. @param floats  numbers are floats; the options' tolerance and iterations are these
void sn_batch_program(const sn_batch_table *t, sn_batch_kernels kind, bool floats, double gradient,
                      int iterations, sn_text *out);

/// Can quick.cl do it?
bool sn_batch_is_quick(const sn_batch_table *t);
