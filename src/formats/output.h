// SPDX-License-Identifier: MIT
// Bytes to a sink, gathered into pieces of some size. An output that has failed stays failed, so a
// writer writes everything and asks once, at the end.
#pragma once

#include "base/status.h"

typedef struct sn_output {
    const sn_sink *sink;
    size_t used;
    bool failed;
    char buffer[4096];
} sn_output;

void sn_output_begin(sn_output *output, const sn_sink *sink);
void sn_output_bytes(sn_output *output, const void *bytes, size_t count);
void sn_output_text(sn_output *output, const char *text);
void sn_output_format(sn_output *output, const char *format, ...) SN_PRINTF(2, 3);
/// A finite number, with as few digits as read back to the same bits.
void sn_output_number(sn_output *output, double value);
/// Send what is left. SN_ERR_FILE when the sink took less than everything.
sn_status sn_output_end(sn_output *output, sn_error *error);

/// A length in metres as a number of another unit: the shortest that reads back, times the unit, to
/// the same bits, where there is one; else to the bit beside.
void sn_output_length(sn_output *output, double metres, double metres_per_unit);
