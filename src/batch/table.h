// SPDX-License-Identifier: MIT
// What the recursions of many problems read and write, as flat lists: on the CPU pointers into one block,
// on a device constants that are written into the program's source and arrays of a thread.
#pragma once

#include "base/memory.h"
#include "batch/lists.h"

typedef struct sn_batch_table {
#define SN_BATCH_FIELD(name) int name;
    SN_BATCH_COUNTS(SN_BATCH_FIELD)
#undef SN_BATCH_FIELD
#define SN_BATCH_FIELD(name, count) int *name;
    SN_BATCH_INTS(SN_BATCH_FIELD)
#undef SN_BATCH_FIELD
#define SN_BATCH_FIELD(name, count) double *name;
    SN_BATCH_NUMBERS(SN_BATCH_FIELD)
#undef SN_BATCH_FIELD
} sn_batch_table;

/// Lane l of number k is at [k lanes + l].
typedef struct sn_batch_work {
    double *goal;  ///< ngoal
    double *hold;  ///< nv where rows are pulled: what to their own rest pose weighs
#define SN_BATCH_FIELD(name, count) double *name;
    SN_BATCH_ARRAYS(SN_BATCH_FIELD)
#undef SN_BATCH_FIELD
} sn_batch_work;
