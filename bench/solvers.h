// SPDX-License-Identifier: MIT
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sinew/sinew.h"

typedef struct bench_options {
    const char *data;  ///< folder with hdm05/ and cmu/; NULL for none
    const char *clip;  ///< only the clips with this in their names; NULL for all
    FILE *csv;         ///< rows as CSV, NULL for none; the caller opens and closes it
    bool quick;        ///< the first 400 frames of a clip
    int problems;      ///< random trees
} bench_options;

/// A random tree of 5 to about 200 degrees of freedom.
sn_model *bench_tree(uint64_t *state, bool limits);
/// Points of it that are where pose q has them; f would be of the order of `scale` with errors as large as the tree.
sn_problem *bench_reachable(uint64_t *state, const sn_model *model, const double *q, double *scale);

/// Success on random trees; false when another method or the first release does better than the default.
bool bench_random_trees(int problems);

/// Success on arms from one start; false when the first release did better.
bool bench_arms(void);

/// A seven-axis arm by weights and by levels; false when levels take more than twice the iterations.
bool bench_levels(const bench_options *options);

/// A humanoid's servo loop; false when a target is missed.
bool bench_body(const bench_options *options);

/// The protocols on real clips and random trees, all solvers; false when a target is missed.
bool bench_solvers(const bench_options *options);
