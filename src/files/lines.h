// SPDX-License-Identifier: MIT
// Text as lines of words, each line with its number. Lines end with LF, CRLF or CR; the last one
// needs no end. Nothing is copied.
#pragma once

#include "base/status.h"

typedef struct sn_word {
    const char *text;
    size_t length;
} sn_word;

typedef struct sn_lines {
    const char *at;     ///< first unread byte of the line
    const char *stop;   ///< where the line ends
    const char *end;    ///< where the text ends
    uint64_t blank[2];  ///< a bit for each ASCII byte that parts words
    int line;           ///< 1-based; 0 before the first
} sn_lines;

/// Numbers beyond this are refused, so that products of a few stay finite.
#define SN_TEXT_MAX 1e50

/// @param blank  ASCII bytes that part words beside tab and space, for example "(),"
sn_lines sn_lines_begin(const char *text, size_t length, const char *blank);

/// Go to the next line that has a word. A '#' at the start of a word begins a comment that takes
/// the rest of the line. False at the end of the text.
bool sn_lines_next(sn_lines *lines);

/// Take the next word of the line; false, and an empty word, when there is none.
bool sn_lines_word(sn_lines *lines, sn_word *out);

/// Whether a line of numbers that has no end is whole for all that: its last number has as many digits behind
/// the point as the one above it, or something follows it.
/// @param before  the line above; empty for none
bool sn_line_whole(sn_word line, sn_word before);

/// The next word without taking it.
sn_word sn_lines_peek(const sn_lines *lines);

/// Letter case is ignored; `text` must be lower case.
bool sn_word_is(sn_word word, const char *text);

/// A finite number of at most SN_TEXT_MAX in size.
bool sn_word_number(sn_word word, double *out);

/// The same, or an infinity in one of its spellings.
bool sn_word_extended(sn_word word, double *out);

/// Why sn_word_number() refused a word: "is not a number", ... with the word before it.
const char *sn_word_fault(sn_word word);

/// Digits, with or without a sign, that fit an int.
bool sn_word_integer(sn_word word, int *out);

/// Copy a word as a terminated string; false when it does not fit or holds a NUL byte.
bool sn_word_copy(sn_word word, char *out, size_t size);

/// For messages: "%.*s" takes a word of any length, cut to 60 bytes.
#define SN_WORD(word) ((word).length < 60 ? (int)(word).length : 60), (word).text
