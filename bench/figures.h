// SPDX-License-Identifier: MIT
// Models and problems for the benchmarks.
#pragma once

#include "sinew/sinew.h"

/// `copies` humanoids on one fixed root, each with `markers` markers spread over its joints as the
/// built-in one's are; with euler_root the free joint becomes a translation and Euler angles.
sn_model *bench_model(int copies, int markers, bool euler_root);

/// Point tasks for all markers, their goals at a random pose, plus noise of 1 cm: a residual that
/// does not vanish.
sn_problem *bench_problem(const sn_model *model, uint64_t seed);
