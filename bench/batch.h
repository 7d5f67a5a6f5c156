// SPDX-License-Identifier: MIT
// Many problems at once, measured.
#pragma once

#include "sinew/sinew.h"

typedef struct bench_batch_options {
    const char *data;  ///< the folder of clips
    sn_device device;
    sn_precision precision;
    int threads;
} bench_batch_options;

/// The table of `sinew bench batch`; false when a target was missed.
bool bench_batch(const bench_batch_options *o);
