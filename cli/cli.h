// SPDX-License-Identifier: MIT
// What the commands share: options, files, messages.
#pragma once

#include <stdio.h>

#include "options.h"
#include "sinew/sinew.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_INPUT = 3, EXIT_POOR = 4 };

extern const command command_fit, command_solve, command_info, command_eval, command_check,
    command_bench, command_example, command_convert, command_markers, command_man,
    command_completion, command_scale;

/// Parse a finite number at or above `low`; false and a message when it isn't one.
bool parse_number(const char *option_name, const char *text, double low, double *out);

/// Parse a whole number in [low, high]; false and a message when it isn't one.
bool parse_integer(const char *option_name, const char *text, long low, long high, long *out);

/// Frames by their numbers in a file, both included.
typedef struct frame_range {
    long first, last;  ///< LONG_MIN, LONG_MAX: from the first, to the last
} frame_range;

/// Parse "a:b", "a:" or ":b"; NULL is all. False and a message when it is none of these.
bool parse_frames(const char *word, frame_range *out);

/// A whole file, terminated; "-" is standard input. NULL and a message when it can't be read.
/// Free with free().
char *read_file(const char *path, size_t *length);

/// The same, with what is wrong in `error` instead of a message. A pipe may be read again: its bytes are
/// kept.
char *read_bytes(const char *path, size_t *length, sn_error *error);
/// Whether this is a file on a disk, of which a first look costs little; standard input is not.
bool is_plain_file(const char *path);
/// Whether the program has read this very file, under whatever name.
bool was_input(const char *path);

/// Say what is wrong, on standard error: "sinew: text". The last sentence is kept.
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *last_complaint(void);
void forget_complaint(void);

/// Say what is wrong with a file: "sinew: FILE:LINE: text". Returns EXIT_INPUT.
int file_error(const char *path, const sn_error *error);

sn_problem *load_problem(const char *path, const sn_model *model);

/// nq numbers from a file (a JSON array, or separated by white space or commas), the zero pose when
/// path is NULL. NULL and a message when it can't be. Free with free().
double *load_pose(const char *path, const sn_model *model);
/// However many numbers there are (*count), of which the first `most` are kept.
double *load_numbers(const char *path, int most, int *count);
/// nv numbers in the same way; there must be a path.
double *load_velocities(const char *path, const sn_model *model);

/// Numbers as JSON with 17 digits: [1,2,3]
void print_numbers(const double *x, int n);
void print_json_string(const char *string);
void print_number(double x);

/// Seconds from some fixed moment.
double now(void);

/// An allocation that can't fail: it ends the program with a message instead.
void *must_alloc(size_t count, size_t size);
