// SPDX-License-Identifier: MIT
// What the writers of marker positions share.
#pragma once

#include "files/out.h"
#include "sinew/files.h"

/// How lengths are written.
typedef struct sn_markers_unit {
    char name[16];
    double metres;  ///< per unit; 1 when the recording's unit is not known
} sn_markers_unit;

/// The unit for a file: `wanted` when the recording's is known, else the recording's own. An error
/// when `wanted` is no unit of length, or when there is nothing to write.
sn_status sn_markers_begin(const sn_recording *recording, const char *wanted, sn_markers_unit *out,
                           sn_error *error);

/// The options with defaults in place of NULL; an error when their version is not known.
sn_status sn_markers_options_of(const sn_markers_options *options, sn_markers_options *out,
                                sn_error *error);

/// The positions of a frame as cells, each after a separator; empty where a marker is missing.
void sn_markers_row(sn_out *o, const sn_recording *recording, int frame,
                    const sn_markers_unit *unit, const char *separator);
