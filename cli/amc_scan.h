// SPDX-License-Identifier: MIT
// What can be said about an AMC file without its skeleton.
#pragma once

#include "cli.h"

typedef struct amc_facts {
    int nframe, first_frame;
    double rate;  ///< 0: not stated, as usual
    int bones;    ///< lines of a frame, the root's among them
    int values;   ///< numbers of a frame
} amc_facts;

/// Frames must be numbered one after the other and have as many lines and numbers each.
sn_status scan_amc(const char *text, size_t length, amc_facts *out, sn_error *error);
