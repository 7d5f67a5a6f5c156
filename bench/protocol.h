// SPDX-License-Identifier: MIT
// What the protocols on clips share: a clip's problem, its offsets, a track over it and its errors.
#pragma once

#include "basics.h"
#include "clip.h"

/// A point task for each of the clip's markers; with offsets (41 x 3) as their local points.
sn_problem *clip_problem(const clip *c, const double *offsets);

/// Where the markers of a frame are in their joints' frames at pose q: 41 x 3.
void clip_offsets_at(const clip *c, sn_workspace *ws, const double *q, int frame, double *out);

/// The paper protocol's: of every frame from its own truth, nframe x 41 x 3.
double *clip_all_offsets(const clip *c);

/// Fixed offsets from the clip itself: pose and offsets in turn, on every so many frames. From the
/// truth's mean offsets on; without a truth from `guess`, each frame first solved cold.
double *clip_calibrate(const clip *c, int every, const double *guess);
/// A pose to start the clip from: the truth's first, or without a truth the first frame solved cold.
double *clip_first_pose(const clip *c, const double *offsets);

/// The zero pose with the root at the mean of a frame's markers.
void clip_zero(const clip *c, int frame, double *q);

/// What a frame's goals come from.
typedef struct clip_source {
    const clip *clip;
    const double *offsets;  ///< nframe x 41 x 3 for the paper's protocol, NULL when they are fixed
    int every;              ///< frames taken: 0, every, 2 every, ...
} clip_source;

/// An sn_track_goals function; `user` is a clip_source.
sn_status clip_set_goals(void *user, int frame, sn_problem *problem);

/// How a solver did over a clip.
typedef struct clip_row {
    double error;  ///< mean over frames of the summed marker error, cm
    double iterations, functions, hessians, factorizations;  ///< means
    double evaluations;                                      ///< of f, alone or with derivatives
    double poses;                                            ///< ... those at one pose once
    double micros;                                           ///< per frame
    int above;                                               ///< frames left above 1e-2 cm^2
    int restarted;
    double *f;     ///< per frame; free it
    double *bare;  ///< f of the goals alone where a rest task is beside them; free it
} clip_row;

clip_row clip_track(const clip *c, clip_source *src, const sn_track_options *options,
                    const double *offsets, const double *start);
