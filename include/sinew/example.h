// SPDX-License-Identifier: MIT
// A take of sinew's own making, for trying things out without anybody's data: the built-in figure
// walks, does a cartwheel, walks on and stops; and what a capture system would have seen of it.
//
// The same seed gives the same bits on every platform.
#pragma once

#include "sinew/model.h"
#include "sinew/motion.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The true motion of sn_model_humanoid(): 120 frames a second, about 10 s, y up, walking along z,
/// the floor at y = 0. It takes a solve per frame.
/// @param humanoid  sn_model_humanoid(); another model is SN_ERR_ARGUMENT
/// @param out       free with sn_motion_destroy(); NULL on failure
SN_API sn_status sn_example_motion(const sn_model *humanoid, const sn_allocator *allocator,
                                   sn_motion **out, sn_error *error);

/// The humanoid with its markers where they really are on this person: up to 8 mm along each axis from where
/// sn_model_humanoid() has them.
/// @param out  free with sn_model_destroy(); NULL on failure
SN_API sn_status sn_example_subject(uint64_t seed, const sn_allocator *allocator, sn_model **out,
                                    sn_error *error);

/// The markers of a model through a motion as a capture system records them, in metres, axes as the
/// model's: noise of 2 mm, short dropouts, limbs hidden for half a second; labels with a subject
/// before them ("figure:LFHD"), and a last, unlabelled point ("*41") that belongs to nothing.
/// @param out  free with sn_recording_destroy(); NULL on failure
SN_API sn_status sn_example_recording(const sn_model *subject, const sn_motion *motion,
                                      uint64_t seed, const sn_allocator *allocator,
                                      sn_recording **out, sn_error *error);

#ifdef __cplusplus
}
#endif
