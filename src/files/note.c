// SPDX-License-Identifier: MIT
#include "files/note.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void sn_note_add(char *note, size_t room, const char *format, ...) {
    size_t used = strlen(note);
    if (used + 5 >= room) return;
    if (used > 0) {
        memcpy(note + used, "; ", 3);
        used += 2;
    }
    va_list args;
    va_start(args, format);
    int n = vsnprintf(note + used, room - used, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= room - used) memcpy(note + room - 4, "...", 4);
}

void sn_lost_rows_note(char *note, int count, int first) {
    sn_note(note, "%d frame%s not in the file (first %d): taken as missing", count,
            count == 1 ? " is" : "s are", first);
}
