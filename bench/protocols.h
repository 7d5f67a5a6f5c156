// SPDX-License-Identifier: MIT
// The protocols on real clips, and how their results are printed.
#pragma once

#include <stdio.h>

#include "protocol.h"

/// Where rows go beside the table; NULL for nowhere.
extern FILE *bench_csv;

void print_head(const char *what);
void print_row(const char *clip_name, const char *protocol, const char *name, const clip_row *r);
/// A line with a figure and its target; whether it was met.
bool judge(const char *what, double value, const char *relation, double target);

bool paper_protocol(const clip *c);
bool calibrated_protocol(const clip *c, const double *offsets);
/// Adds to the counts of frames, and of those where the default ends at the minimum.
bool cold_protocol(const clip *c, const double *offsets, int *frames, int *good_frames);
