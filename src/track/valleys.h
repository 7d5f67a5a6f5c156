// SPDX-License-Identifier: MIT
// The deepest valley of every frame, each frame for itself: nothing ties frames together but that a pose which
// is good in one is tried in its neighbours.
//
// Limits cut valleys off from each other: an arm that is caught at one stays there, however far the markers
// go on. The figure is parted into limbs, the chains at its ends, which hardly touch each other: a start that
// is wrong in one limb may be right in another, so poses are compared and put together limb by limb.
#pragma once

#include "sinew/track.h"
#include "track/each.h"

typedef struct sn_valley_options {
    sn_solver_options solver;  ///< of a frame
    const double *home;        ///< nq: where limbs are when nothing is known
    const double *lower;       ///< nv: a range for every coordinate to look for other starts in;
    const double *upper;       ///< infinite ones are a turn about `home`
    int every;                 ///< frames between those that are looked at from all sides
    int seeds;                 ///< other starts there
    double lower_by;           ///< what another valley must be lower by, of f
    const sn_each_rows *rows;  ///< other starts side by side in these lanes; NULL: one by one
    int threads;               ///< the result has the same bits for any number
    sn_threads pool;
    sn_cancel cancel;
} sn_valley_options;

/// A pose to begin a take with, from nothing: the figure brought to the goals of a frame as a rigid body from
/// several sides, then solved, then its limbs from many starts.
/// @param q  nq, filled
sn_status sn_valley_first(const sn_problem *problem, const sn_valley_options *options,
                          sn_track_goals goals, void *user, int frame,
                          const sn_allocator *allocator, double *q);

/// From poses of all frames to better ones, never to worse.
/// @param q        nframe x nq
/// @param changed  per frame: another valley was found; NULL if not wanted
sn_status sn_track_valleys(const sn_problem *problem, const sn_valley_options *options, int nframe,
                           sn_track_goals goals, void *user, const sn_allocator *allocator,
                           double *q, bool *changed);
