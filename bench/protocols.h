// SPDX-License-Identifier: MIT
// What the protocols on real clips share.
#pragma once

#include <stdio.h>

#include "clip.h"

/// Where rows go beside the table; NULL for nowhere.
extern FILE *bench_csv;

/// Processor time of this program, so that others on the machine count less.
double bench_seconds(void);
/// The block, or the end of the program when there is none.
void *need(void *block);
double *numbers(size_t n);

/// Point tasks for all markers, at these offsets (NULL: at their joints' origins).
sn_problem *clip_problem(const clip *c, const double *offsets);
/// Where the markers of a frame are in their joints' frames at pose q.
void offsets_at(const clip *c, sn_workspace *ws, const double *q, int frame, double *out);

/// Fixed offsets from the clip itself: pose and offsets in turn, on every so many frames. From the
/// truth's mean offsets on; without a truth from `guess`, each frame first solved cold.
double *calibrate(const clip *c, int every, const double *guess);

/// The zero pose with the root at the mean marker of a frame.
void cold_start(const clip *c, int frame, double *q);
/// A pose to start the clip from: the truth's first, or without a truth the first frame solved cold.
double *first_pose(const clip *c, const double *offsets);

/// What a frame's goals come from.
typedef struct source {
    const clip *clip;
    const double *offsets;  ///< nframe x 41 x 3 for the paper's protocol, NULL when they are fixed
    int every;              ///< frames taken: 0, every, 2 every, ...
} source;

/// Goals of a frame, for sn_tracker_run().
sn_status set_goals(void *user, int frame, sn_problem *problem);

typedef struct row {
    double error;  ///< mean over frames of the summed marker error, cm
    double iterations, functions, hessians, factorizations;  ///< means
    double micros;                                           ///< per frame
    int above;                                               ///< frames left above 1e-2 cm^2
    int restarted;
    double *f;  ///< per frame
} row;

/// Track a clip.
row track(const clip *c, source *src, const sn_track_options *options, const double *offsets,
          const double *start);

void print_head(const char *what);
void print_row(const char *clip_name, const char *protocol, const char *name, const row *r);
/// A line with a figure and its target; whether it was met.
bool judge(const char *what, double value, const char *relation, double target);

bool paper_protocol(const clip *c);
bool calibrated_protocol(const clip *c, const double *offsets);
/// Adds to the counts of frames, and of those where the default ends at the minimum.
bool cold_protocol(const clip *c, const double *offsets, int *frames, int *good_frames);
