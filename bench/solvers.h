// SPDX-License-Identifier: MIT
#pragma once

#include <stdbool.h>

typedef struct bench_options {
    const char *data;  ///< folder with hdm05/ and cmu/; NULL for none
    const char *csv;   ///< file to write, NULL for none
    bool quick;        ///< every tenth frame, a hundredth of the random problems
} bench_options;

/// The protocols on real clips and random trees, all solvers; false when a target is missed.
bool bench_solvers(const bench_options *options);
