// SPDX-License-Identifier: MIT
// The example take with its truth, and ways to spoil a recording.
#pragma once

#include "support.h"
#include "take/fit.h"

typedef struct example_take {
    sn_model *model;    ///< the humanoid with its usual markers
    sn_model *subject;  ///< with its markers where they really are
    sn_motion *truth;
    sn_recording *recording;  ///< y up, metres
    int nframe;
} example_take;

void example_take_create(example_take *take, uint64_t seed);
void example_take_destroy(example_take *take);
/// For a group of tests whose state is the example take.
int example_begin(void **state);
int example_end(void **state);

/// A copy of some frames.
sn_recording *recording_cut(const sn_recording *recording, int first, int count);
/// A copy with other facts, labels and points: out[i] = scale sign[i] in[axis[i]] of `map`.
sn_recording *recording_turned(const sn_recording *recording, const sn_axis_map *map,
                               const sn_recording_info *info);

/// Remove a part of the samples at random.
void spoil_gaps(sn_recording *recording, double part, uint64_t *state);
/// Throw a part of the samples `distance` away, in random directions.
void spoil_throw(sn_recording *recording, double part, double distance, uint64_t *state);
/// Swap the places of two markers in a part of the samples.
void spoil_swap(sn_recording *recording, double part, uint64_t *state);

/// One sinew fit in the library: its input, motion and what was measured.
typedef struct fitted {
    sn_model *model;  ///< with calibrated markers
    int *column;
    sn_fit_input input;
    sn_motion *motion;
    sn_fit_frame *frames;
    sn_fit_marker *markers;
    sn_fit_summary summary;
    sn_calibrate_report calibration;
} fitted;

/// @param model   with markers; copied
/// @param wanted  NULL: no calibration
/// @param options NULL for those of the program
fitted fit_of(const sn_model *model, const sn_recording *recording, const sn_axis_map *axes,
              const sn_calibrate_options *wanted, const sn_fit_options *options);
void fitted_free(fitted *fit);

/// Root-mean-square distance over every present sample, measured anew from frames and markers.
double plain_rms(const sn_model *model, const sn_motion *motion, const sn_recording *recording,
                 const int *column, const sn_axis_map *axes, int first, int step);

/// The median over frames and degrees of freedom (the root's too, in radians) of the difference of two
/// motions, degrees.
double median_angle(const sn_model *model, const sn_motion *a, const sn_motion *b);

/// The built-in marker set on a model, with its limits.
sn_model *with_builtin(const sn_model *model, const sn_recording *recording);
/// A file of the data folder; empty when it isn't there.
sn_document read_clip(const char *name);
