// SPDX-License-Identifier: MIT
// What the parts of the TRC reader share.
#pragma once

#include "files/cells.h"

/// A TRC file being read.
typedef struct sn_trc {
    const sn_allocator *allocator;
    sn_error *error;
    size_t length;
    sn_rows rows;  ///< at the last line of the header, once that is read
    char separator;
    bool comma;  ///< decimal commas
    sn_recording_info info;
    double rate;         ///< as the header says, 0 for nothing
    int claimed;         ///< frames, -1 for nothing
    int nshort, nextra;  ///< rows that end early, rows with unnamed points
    int nzero;           ///< samples at 0 0 0
    bool doubtful;       ///< the last number may be cut off
    bool jumps;          ///< frames are not numbered one after the other
    int nrow;            ///< rows; info.nframe counts lost ones, too
    int *frame;          ///< nrow: which frame each is, from 0; NULL: one after the other
    int first_lost;      ///< with `frame`: the first that has no row
    void *lost_block;    ///< of it
    const char **label;
    void *block;
} sn_trc;

#define SN_TRC_FAIL(trc, ...) sn_fail((trc)->error, SN_ERR_PARSE, (trc)->rows.line, __VA_ARGS__)

/// Read the header: keys and values, names, axes. Sets `info`, `label` and `separator`.
sn_status sn_trc_read_header(sn_trc *trc);
