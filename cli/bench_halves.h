// SPDX-License-Identifier: MIT
// What a calibration from one half of a take is good for in the other.
#pragma once

#include <stdbool.h>

void bench_halves_head(void);
/// A row, and the markers that lose most; false when the take is there and could not be fitted.
bool bench_halves(const char *data, const char *skeleton, const char *take);
