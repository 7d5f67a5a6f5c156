// SPDX-License-Identifier: MIT
// What every benchmark needs: clocks, and memory or the end.
#pragma once

#include <stddef.h>

/// Seconds this program has computed: on a busy machine these say more than those on the wall.
double bench_seconds(void);
/// Seconds on the wall, from some moment on.
double bench_wall(void);
/// Processor seconds of all programs of this machine since it started, of those too that share its processors from
/// outside; below 0 where nobody counts them.
double bench_machine(void);
/// The block itself; ends the program with a message when it is NULL.
void *bench_need(void *block);
/// n zeros.
double *bench_numbers(size_t n);
/// folder/name, or the path `name` where folder is NULL, terminated; NULL when it is not there. Free with free().
char *bench_file(const char *folder, const char *name, size_t *length);
