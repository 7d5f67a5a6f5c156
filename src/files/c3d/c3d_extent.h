// SPDX-License-Identifier: MIT
// What the frames of a C3D file are made of, how many there are, and where they begin.
#pragma once

#include "files/c3d/c3d_section.h"

typedef struct sn_c3d_extent {
    size_t npoint, nanalog;   ///< points and analog samples of a frame, as stored
    double scale;             ///< of whole numbers; negative: floats, not scaled
    size_t data, frame_size;  ///< bytes
    int nframe, first;
} sn_c3d_extent;

/// Find the parameters of `file`, of which bytes and length are set, and measure its frames. What
/// the header and the parameters disagree about is decided by the room that the data take, and
/// noted.
sn_status sn_c3d_measure(sn_c3d_file *file, sn_c3d_extent *out, char note[], sn_error *error);

/// The first number of a parameter; -1 when there is none.
sn_status sn_c3d_find_number(const sn_c3d_file *file, const char *group, const char *name,
                             double *out, sn_error *error);
