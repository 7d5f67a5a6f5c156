// SPDX-License-Identifier: MIT
// `sinew solve -t TASKS --goals FILE`: the same tasks with other goals, a row of numbers each.
#pragma once

#include "cli.h"

typedef struct rows_settings {
    const char *goals, *out, *device, *precision;
    long jobs;
} rows_settings;

/// Solve all rows from `start` and write the poses as CSV. Returns the exit code.
int solve_rows(const sn_problem *problem, const double *start, const sn_solver_options *options,
               const rows_settings *s);

/// "cpu", "opencl" or "auto", as the options have it.
sn_device device_of(const char *name);
