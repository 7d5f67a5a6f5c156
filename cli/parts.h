// SPDX-License-Identifier: MIT
// Files in the making: each stands beside its place as PLACE.part-PID until it is whole. However the program
// ends, none of them is left; one of a program that was killed outright is told from one that is being
// written by its lock.
#pragma once

#include <stdbool.h>
#include <stdio.h>

typedef struct part_file {
    char *name;
    int lock;  ///< a descriptor that keeps the file locked until it has its place
    int slot;  ///< among the names that a signal removes
} part_file;

/// Remove the parts when the program exits or a signal ends it: an interrupt, a hang-up, a broken pipe, ...
/// Call once, first of all. A file that grows beyond the allowed size is then an error of its writer.
void parts_guard(void);

/// Let the first signal ask the program to stop instead; the second ends it.
/// @param ask  called in a signal handler
void parts_ask_first(void (*ask)(void));

/// End by the signal that asked, when there was one.
void parts_end(void);

/// Begin the part of a place. NULL and errno when it can't be.
FILE *part_create(part_file *out, const char *place);

/// Once its stream is closed: move it to its place. False and errno when it can't be; then it is gone.
bool part_finish(part_file *self, const char *place);
void part_remove(part_file *self);

/// Remove the parts of a place whose programs are gone. Where files can't be locked they stay.
void parts_remove_dead(const char *place);
