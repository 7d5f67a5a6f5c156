// SPDX-License-Identifier: MIT
// Recordings and motions at another frame rate. Frame 0 stays frame 0; the frames that follow are
// those whose times still lie within the take, numbered from 1. There is no filter: going to a much
// lower rate, what is faster than half of it turns into noise.
#pragma once

#include "sinew/model.h"
#include "sinew/motion.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Straight lines between the samples before and after. Where one of the two is missing, the new
/// sample is: gaps are not bridged.
/// @param rate  frames per second; the recording must know its own: SN_ERR_ARGUMENT
/// @param out   free with sn_recording_destroy(); NULL on failure
SN_API sn_status sn_recording_resample(const sn_recording *recording, double rate,
                                       const sn_allocator *allocator, sn_recording **out,
                                       sn_error *error);

/// Rotations of three degrees of freedom turn the shortest way at an even speed, whatever their
/// coordinates, single angles the shortest way round, everything else goes straight.
/// @param rate  frames per second; the motion must know its own: SN_ERR_ARGUMENT
/// @param out   free with sn_motion_destroy(); NULL on failure
SN_API sn_status sn_motion_resample(const sn_model *model, const sn_motion *motion, double rate,
                                    const sn_allocator *allocator, sn_motion **out,
                                    sn_error *error);

#ifdef __cplusplus
}
#endif
