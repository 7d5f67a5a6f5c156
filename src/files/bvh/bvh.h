// SPDX-License-Identifier: MIT
// What the parts of the BVH reader share.
#pragma once

#include "files/skeleton.h"
#include "sinew/files.h"

/// Read the HIERARCHY into `figure`, up to the word MOTION or the end of the text. *motion tells
/// whether it was there.
sn_status sn_bvh_hierarchy(sn_lines *lines, sn_figure *figure, const sn_allocator *allocator,
                           bool *motion, sn_error *error);

/// The way along bones from one end of the figure to the furthest other, in the file's unit.
sn_status sn_figure_size(const sn_figure *figure, const sn_allocator *allocator, double *out,
                         sn_error *error);

/// The unit of length that a figure of this size most likely has.
double sn_guess_metres(double size);

/// The axis along which the figure stands, into skeleton->figure.up.
sn_status sn_guess_up_axis(sn_skeleton *skeleton, const sn_motion *motion,
                           const sn_allocator *allocator, sn_error *error);
