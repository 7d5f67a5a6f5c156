// SPDX-License-Identifier: MIT
// Markers that go off slowly.
#pragma once

#include "take/fit.h"

/// How far every marker would be from its place if it were left out, all over a take.
typedef struct sn_drifts sn_drifts;

/// A stretch in which a marker is suspect.
typedef struct sn_drift {
    int marker, first, last;  ///< frames from 0
    int from, to, looks;      ///< drift.c's own
} sn_drift;

/// @param out  to be closed, also after a failure
sn_status sn_drifts_open(sn_fitting *fitting, sn_drifts **out);
void sn_drifts_close(sn_drifts *drifts);

/// The worst that was not asked for before; false when there is none.
bool sn_drifts_next(sn_drifts *drifts, sn_drift *out);
/// Is it wrong between its first and last frame, which may be a part of it? They were followed without the marker; those that
/// stay without it are left in `drift`.
sn_status sn_drifts_judge(const sn_drifts *drifts, sn_drift *drift, bool *wrong);
/// Look again at frames whose poses have changed, as a marker was wrong there; its other stretches are asked again.
sn_status sn_drifts_look(sn_drifts *drifts, const sn_drift *wrong, int first, int last);
