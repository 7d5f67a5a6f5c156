// SPDX-License-Identifier: MIT
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TEXT_OF(x)  TEXT_OF_(x)
#define TEXT_OF_(x) #x

const char *sn_version(void) {
    return TEXT_OF(SN_VERSION_MAJOR) "." TEXT_OF(SN_VERSION_MINOR) "." TEXT_OF(SN_VERSION_PATCH);
}

const char *sn_status_text(sn_status status) {
    static const char *const texts[] = {
#define TEXT(code, text) text,
        SN_STATUS_LIST(TEXT)
#undef TEXT
    };
    if ((unsigned)status >= SN_STATUS_COUNT) return "unknown status";
    return texts[status];
}

sn_status sn_fail(sn_error *error, sn_status status, int line, const char *format, ...) {
    if (error != NULL) {
        error->status = status;
        error->line = line;
        va_list args;
        va_start(args, format);
        (void)vsnprintf(error->text, sizeof error->text, format, args);
        va_end(args);
        // a name taken from a file may hold anything: keep the message on one line
        for (char *c = error->text; *c != '\0'; c++)
            if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = '?';
    }
    return status;
}

sn_status sn_fail_memory(sn_error *error) {
    return sn_fail(error, SN_ERR_MEMORY, 0, "%s", sn_status_text(SN_ERR_MEMORY));
}

sn_status sn_fail_missing(sn_error *error, const char *name) {
    return sn_fail(error, SN_ERR_ARGUMENT, 0, "an argument is missing: %s is NULL", name);
}

sn_status sn_fail_range(sn_error *error, const char *name) {
    return sn_fail(error, SN_ERR_ARGUMENT, 0, "an argument is out of range: %s", name);
}

sn_status sn_fail_size(sn_error *error, const char *name) {
    return sn_fail(error, SN_ERR_SIZE, 0, "too large: %s", name);
}

sn_status sn_fail_option(sn_error *error, const char *name) {
    if (name == NULL) return SN_OK;
    if (strcmp(name, "version") == 0)
        return sn_fail(error, SN_ERR_ARGUMENT, 0,
                       "the options do not come from their default function in this version");
    return sn_fail(error, SN_ERR_ARGUMENT, 0, "this option is out of range: %s", name);
}
