// SPDX-License-Identifier: MIT
// Text that grows: what the writers fill. A text that has failed stays failed, so a writer writes
// everything and asks once.
#pragma once

#include "base/memory.h"

typedef struct sn_text {
    sn_allocator allocator;
    char *data;     ///< terminated once anything was added
    size_t length;  ///< without the terminator
    size_t capacity;
    sn_status status;
} sn_text;

sn_text sn_text_begin(const sn_allocator *allocator);
void sn_text_end(sn_text *text);

void sn_text_add(sn_text *text, const char *piece);
void sn_text_add_bytes(sn_text *text, const char *bytes, size_t length);

/// A number that reads back to the same double, as short as that allows.
void sn_text_add_number(sn_text *text, double value);

/// A JSON array of such numbers: [1,2.5].
void sn_text_add_array(sn_text *text, const double *values, int count);
/// The same as a later member of a JSON object: , "key": [1,2.5].
void sn_text_add_numbers(sn_text *text, const char *key, const double *values, int count);

/// A JSON string with its quotes; control characters, quotes and backslashes are escaped, and
/// bytes that are not UTF-8 become U+FFFD.
void sn_text_add_json_string(sn_text *text, const char *string);
