// SPDX-License-Identifier: MIT
// Many problems at once, measured.
#pragma once

#include "sinew/sinew.h"

typedef struct bench_batch_options {
    const char *data;  ///< the folder of clips
    const char *peer;  ///< the program that solves chains with Ceres; NULL: none
    bool judged;       ///< targets count
} bench_batch_options;

/// The part on a device.
bool bench_batch_device(const bench_batch_options *o);

/// The table of `sinew bench batch`; false when a target was missed.
bool bench_batch(const bench_batch_options *o);
