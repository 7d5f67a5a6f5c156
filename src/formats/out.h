// SPDX-License-Identifier: MIT
// Text on its way to a sink, gathered into pieces. An output that has failed stays failed, so a
// writer writes everything and asks once.
#pragma once

#include "base/status.h"

typedef struct sn_out {
    const sn_sink *sink;
    bool failed;
    size_t used;
    char buffer[4096];
} sn_out;

void sn_out_begin(sn_out *out, const sn_sink *sink);
void sn_out_text(sn_out *out, const char *text);
void sn_out_tabs(sn_out *out, int count);
void sn_out_integer(sn_out *out, int value);

/// A number that reads back to the same double, as short as that allows.
void sn_out_exact(sn_out *out, double value);

/// A number rounded to 1e-9, so that what was degrees before it became a rotation is seen as it was.
void sn_out_rounded(sn_out *out, double value);

/// Send what is left.
sn_status sn_out_end(sn_out *out, sn_error *error);
