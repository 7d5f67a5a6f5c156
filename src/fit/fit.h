// SPDX-License-Identifier: MIT
// What the parts of the fit share.
#pragma once

#include "base/memory.h"
#include "sinew/fit.h"

/// Somewhere to place a model: a workspace without tasks, and a pose.
typedef struct sn_fit_place {
    sn_problem *problem;
    sn_workspace *workspace;
    double *q;
} sn_fit_place;

/// Axes are 0, 1 or 2, and all numbers finite.
bool sn_axis_map_good(const sn_axis_map *map);

/// Nothing in an input is missing or out of range; `motion` (may be NULL) is one of it.
bool sn_fit_input_good(const sn_fit_input *input, const sn_motion *motion);

sn_status sn_fit_place_open(sn_fit_place *place, const sn_model *model,
                            const sn_allocator *allocator);
void sn_fit_place_close(sn_fit_place *place, const sn_allocator *allocator);

/// A marker's goal in the model's world; false when it has none in this frame (from 0, of the recording).
bool sn_fit_goal(const sn_fit_input *input, int marker, int frame, double goal[3]);

/// A pose to start a take from: a cold solve of a frame.
/// @param problem  one point task per marker of the model; its goals are changed
sn_status sn_fit_first_pose(const sn_fit_input *input, sn_problem *problem, int frame,
                            const sn_allocator *allocator, double *q);

/// The problem of a frame: one point task per marker, then what holds the joints.
sn_status sn_fit_problem(const sn_fit_input *input, const sn_fit_options *options,
                         const sn_allocator *allocator, sn_problem **out, sn_error *error);

/// The zero pose (nq), and what a pull to it weighs (nv): nothing for a free root, 1 for the rest.
void sn_fit_neutral(const sn_model *model, double *q, double *weight);
/// The same, with more for the parts of a human figure that turn by little: posture.c.
void sn_fit_posture(const sn_model *model, double *q, double *weight);

/// The recorded body's size against the figure's, in the recording's own numbers; 0 when it can't be told.
/// @param rest    where the markers are at the zero pose
/// @param figure  how far those are spread
sn_status sn_fit_size(const sn_fit_input *input, const sn_vec3 *rest, double figure,
                      const sn_allocator *allocator, double *out);

/// Mean acceleration of the joints' angles over a motion, rad/s^2; 0 without a rate or three frames.
sn_status sn_fit_acceleration(const sn_model *model, const sn_motion *motion,
                              const sn_allocator *allocator, double *out);

/// Of the coordinates that mean the same pose, those nearest to the frame before; in the first, to zero. No
/// joint or marker moves.
void sn_fit_tidy(const sn_model *model, sn_motion *motion);
