// SPDX-License-Identifier: MIT
// Files that appear whole or not at all: written beside their place, then renamed. Links are followed; a
// device or a pipe is written as it is.
#pragma once

#include "cli.h"
#include "parts.h"

typedef struct output {
    FILE *file;
    char *path;      ///< as it was given
    char *place;     ///< where links lead; NULL for standard output, a device or a pipe
    part_file part;  ///< of the place
    bool failed;
    int why;  ///< errno of the first failure
} output;

/// Whether a file may be written: false and a message when it was read as an input, which it would replace.
/// Ask before long work; output_open() asks too.
bool output_allowed(const char *path);
/// From here on inputs may be replaced. @param word  the option that does this, which messages then name
void outputs_may_replace(bool yes, const char *word);

/// Begin a file; "-" is standard output. False and a message when it can't be.
bool output_open(output *out, const char *path);

/// Where a writer sends its bytes.
sn_sink output_sink(output *out);

/// End the file as its writer did: after SN_OK it takes its place, else it is gone. False and a message
/// when it did not take it, whatever the reason.
/// @param error  the writer's; NULL or without text: the status says it
bool output_close(output *out, sn_status status, const sn_error *error);

/// A whole file from its text. False and a message when it can't be, or when memory was out for the text: `failed`.
bool output_text(const char *path, const char *text, size_t length, bool failed);

/// From here on files that are ended well wait beside their places, until all of them take them together or
/// none does: the files of a take belong together.
void outputs_hold(void);
/// End the waiting. Without `good` the files are gone. False and a message when one could not take its
/// place; then those are gone that had not yet.
bool outputs_release(bool good);

/// A folder that is there afterwards, its parents too; false and a message when it can't be made.
bool make_folder(const char *path);
