// SPDX-License-Identifier: MIT
#pragma once

#include <stdbool.h>

/// Time the sweeps and print a table with the ratios that matter. False when one misses its target.
bool bench_sweeps(void);
