// SPDX-License-Identifier: MIT
// Where an interior-point method stops: not at the bottom of f but at that of
//
//   f(q) - mu sum log(q_i - l_i) + log(u_i - q_i)      over the coordinates with limits l, u
//
// What the tasks hardly see leans towards the middle of its range.
#pragma once

#include "sinew/track.h"

typedef struct sn_barrier_options {
    sn_solver_options solver;
    double mu;
    int rest;     ///< a rest task of the problem with weights 0, which is used for it
    int threads;  ///< the result has the same bits for any number
    sn_threads pool;
    sn_cancel cancel;
} sn_barrier_options;

/// From the bottoms of f to those with the barrier.
/// @param q  nframe x nq
sn_status sn_track_barrier(const sn_problem *problem, const sn_barrier_options *options, int nframe,
                           sn_track_goals goals, void *user, const sn_allocator *allocator,
                           double *q);
