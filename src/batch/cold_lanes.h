// SPDX-License-Identifier: MIT
// Lanes for a search of valleys (solvers/cold.c): a batch's own, while no job is in them.
#pragma once

#include "batch/batch.h"

typedef struct sn_batch_cold {
    sn_cold_lanes base;
    sn_batch *batch;
    sn_batch_worker *worker;  ///< whose lanes these are
    sn_batch_table table;     ///< the batch's with the solver's options
    void *owner;              ///< of a solver's own
    double option[4];
    double *numbers;  ///< ngoal
    double rival;
    double watched[8];
    int slow[8], iterations[8];  ///< -1: not looked at yet
    bool hopeless[8];
    sn_cancel cancel;
    bool cancelled;
} sn_batch_cold;

/// Its room.
void sn_batch_cold_layout(sn_batch_cold *c, const sn_batch *batch, sn_layout *layout);
/// For solvers of the batch's tasks, whose problem may have one rest pose more: where the batch pulls rows, or while that
/// one is off. @param worker  whose lanes are used
void sn_batch_cold_make(sn_batch_cold *c, sn_batch *batch, int worker);
