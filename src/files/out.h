// SPDX-License-Identifier: MIT
// Bytes on their way to a sink, gathered into pieces. An output that has failed stays failed, so a
// writer writes everything and asks once, at the end.
#pragma once

#include "base/status.h"

typedef struct sn_out {
    const sn_sink *sink;
    bool failed;
    size_t used;
    uint64_t total;  ///< bytes so far
    unsigned char buffer[4096];
} sn_out;

void sn_out_begin(sn_out *out, const sn_sink *sink);
/// Send what is left. SN_ERR_FILE when the sink took less than everything.
sn_status sn_out_end(sn_out *out, sn_error *error);

void sn_out_bytes(sn_out *out, const void *bytes, size_t count);

// --- text ---

void sn_out_text(sn_out *out, const char *text);
/// At most 63 bytes.
void sn_out_format(sn_out *out, const char *format, ...) SN_PRINTF(2, 3);
/// Not more than 40: a chain of thousands would be written as a triangle of blanks.
void sn_out_tabs(sn_out *out, int count);
void sn_out_integer(sn_out *out, int value);

/// A finite number, with as few digits as read back to the same bits.
void sn_out_number(sn_out *out, double value);

/// A number rounded to 1e-9, so that what was degrees before it became a rotation is seen as it was.
void sn_out_rounded(sn_out *out, double value);

/// A length in metres as a number of another unit: the shortest that reads back, times the unit, to
/// the same bits, where there is one; else to the bit beside.
void sn_out_length(sn_out *out, double metres, double metres_per_unit);

// --- binary, little-endian ---

void sn_out_byte(sn_out *out, unsigned value);
void sn_out_uint16(sn_out *out, unsigned value);
void sn_out_uint32(sn_out *out, uint32_t value);
void sn_out_float(sn_out *out, double value);
