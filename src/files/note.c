// SPDX-License-Identifier: MIT
#include "files/note.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void sn_note(char note[SN_NOTE], const char *format, ...) {
    size_t used = strlen(note);
    if (used > 0 && used + 2 < SN_NOTE) {
        memcpy(note + used, "; ", 3);
        used += 2;
    }
    va_list args;
    va_start(args, format);
    (void)vsnprintf(note + used, SN_NOTE - used, format, args);
    va_end(args);
}
