// SPDX-License-Identifier: MIT
// What a calibration from one half of a take is good for in the other.
#pragma once

#include <stdbool.h>

/// A row a take, and the markers that lose most; false when one is there and could not be fitted.
bool bench_halves(const char *data);
