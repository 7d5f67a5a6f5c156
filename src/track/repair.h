// SPDX-License-Identifier: MIT
// Second thoughts about a tracked take.
//
// Tracking follows a valley of f; where another becomes deeper it does not see it. So now and then a frame
// is solved cold, and where that ends clearly lower its valley is followed to both sides for as long as
// it stays lower.
#pragma once

#include "sinew/track.h"

typedef struct sn_repair_options {
    int every;     ///< a frame in so many is solved cold
    double lower;  ///< f must fall below this share of what it was to be another valley,
    double same;   ///< and a valley is followed while f stays below this share
    sn_cancel cancel;
} sn_repair_options;

/// @param problem  what to solve; its goals are set by `goals` in a copy
/// @param q        nframe x nq numbers, changed where a better valley was found
/// @param changed  nframe flags, set where a pose was changed; may be NULL
sn_status sn_track_repair(const sn_problem *problem, const sn_repair_options *options, int nframe,
                          sn_track_goals goals, void *user, const sn_allocator *allocator,
                          double *q, bool *changed);
