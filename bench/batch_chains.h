// SPDX-License-Identifier: MIT
// A clip cut into chains of frames, for lanes, the plain solver and a peer.
#pragma once

#include "protocols.h"

typedef struct chains {
    const clip *clip;
    const double *offsets;  ///< 41 x 3, or nframe x 41 x 3 where rows bring them
    bool own;               ///< they do
    int nchain, nframe;
    int *first, *step;  ///< the frame where a chain begins, and 1 or -1: which way it goes
    double *goals, *starts, *poses;
    sn_batch_report *reports;
} chains;

/// Two chains go from a first frame, one forwards and one backwards from the frame before it. The last two
/// overlap those before them where the frames do not come out even.
/// @param nchain  an even number
chains chains_cut(const clip *c, const double *offsets, bool own, int nchain);
/// The same chains so many times over.
chains chains_repeat(const chains *k, int times);
void chains_free(chains *k);

/// The chains' first frames, one for two of them, by the plain tracker: their starts. Returns seconds.
double chains_firsts(chains *k, const sn_track_options *o);

/// Seconds of all chains in lanes.
double chains_run(chains *k, const sn_batch_options *o, sn_batch_counts *counts);

/// The plain solver on the same chains; f of every row, free it.
typedef struct plain_run {
    double *f, micros, iterations, factors;
} plain_run;
plain_run chains_plain(const chains *k, const sn_track_options *o);

/// Mean over the frames of the summed distance of the markers, cm.
double chains_error(const chains *k);

/// How many rows' f falls by more than a share of it when the plain solver goes on to a gradient of 1e-9; the
/// largest fall, relative.
int chains_unfinished(const chains *k, double share, double *worst);

/// How many rows' f is above that of another run by more than a share of it, and how many below.
int chains_above(const chains *k, const double *f, double share, int *below);

/// Microseconds a frame of the peer, a program, on the same chains from their starts; below 0 when there is
/// none. Prints what it found beside the last run's.
double chains_peer(const chains *k, const char *peer, const sn_solver_options *o);
