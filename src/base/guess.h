// SPDX-License-Identifier: MIT
// What was meant by a name that is none: the nearest of those that are.
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct sn_guess {
    const char *wanted;
    const char *name;  ///< the nearest so far; NULL: none is like it
    int least;         ///< edits to it; more is no likeness
} sn_guess;

sn_guess sn_guess_begin(const char *wanted);

/// True when `name`, which may be NULL, is nearer than those before it.
bool sn_guess_try(sn_guess *guess, const char *name);

/// The end of a message, "; did you mean \"NAME\"?", or "" for no likeness; in `text`, of `size` bytes.
const char *sn_guess_text(const sn_guess *guess, char *text, size_t size);
