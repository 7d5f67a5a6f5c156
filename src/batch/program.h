// SPDX-License-Identifier: MIT
// A problem's kernels as a text for a device's compiler: its counts and lists as constants, so that they
// fold, and the recursions of core.h behind them.
#pragma once

#include "base/text.h"
#include "batch/table.h"

/// The text of lists.h and dialect.cl, and of the recursions and the kernel; terminated.
extern const char sn_batch_text_head[];
extern const char sn_batch_text_body[];

/// The whole program. @param floats  numbers are floats; the options' tolerance and iterations are these
void sn_batch_program(const sn_batch_table *t, bool floats, double gradient, int iterations,
                      sn_text *out);
