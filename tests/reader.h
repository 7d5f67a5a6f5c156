// SPDX-License-Identifier: MIT
// What every reader is asked: to refuse a broken file at the right line, and to put up with memory that is out.
#pragma once

#include "support.h"

/// One reader: its status, with everything that it made released, and an assertion that it made nothing on failure.
typedef sn_status reader(const char *bytes, size_t length, const sn_allocator *allocator,
                         sn_error *error);

/// A copy of text with the first `from` replaced by `to`; free it.
char *replaced(const char *text, const char *from, const char *to);

/// A file that is wrong in one place, and what is to be said of it.
typedef struct edit {
    const char *from, *to;
    int line;  ///< 0: at none
    const char *message;
} edit;

/// Each of the edited texts is refused at its line with its message.
void check_edits(reader *read, const char *text, const edit *list, size_t count);

/// Every allocation fails in turn, alone and with all behind it: SN_ERR_MEMORY, and nothing is left. How many there are.
long check_memory(reader *read, const char *bytes, size_t length);
