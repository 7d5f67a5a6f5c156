// SPDX-License-Identifier: MIT
// Poses to look for other valleys from.
#pragma once

#include "track/limbs.h"
#include "track/valleys.h"

/// All limbs of a pose at the n-th start; the rest stays.
void sn_start_limbs(const sn_limbs *limbs, const sn_problem *problem,
                    const sn_valley_options *options, int n, double *q);

/// The figure as it is at home, and turned by quarters about each axis that places it. Returns how many poses q has then;
/// with q NULL how many there will be.
int sn_start_places(const sn_limbs *limbs, const sn_model *model, const sn_valley_options *options,
                    double *q);
