// SPDX-License-Identifier: MIT
#include "formats/out.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

enum { MOST_TABS = 40 };  // a chain of thousands would be written as a triangle of blanks

void sn_out_begin(sn_out *out, const sn_sink *sink) {
    out->sink = sink;
    out->failed = false;
    out->used = 0;
}

static void flush(sn_out *out) {
    if (!out->failed && out->used > 0)
        out->failed = !out->sink->write(out->sink->user, out->buffer, out->used);
    out->used = 0;
}

void sn_out_text(sn_out *out, const char *text) {
    size_t length = strlen(text);
    while (length > 0) {
        size_t room = sizeof out->buffer - out->used, n = length < room ? length : room;
        memcpy(out->buffer + out->used, text, n);
        out->used += n;
        text += n;
        length -= n;
        if (out->used == sizeof out->buffer) flush(out);
    }
}

void sn_out_tabs(sn_out *out, int count) {
    for (int i = 0; i < count && i < MOST_TABS; i++) sn_out_text(out, "\t");
}

void sn_out_integer(sn_out *out, int value) {
    char digits[16];
    (void)snprintf(digits, sizeof digits, "%d", value);
    sn_out_text(out, digits);
}

void sn_out_exact(sn_out *out, double value) {
    char digits[SN_NUMBER_TEXT];
    sn_number_print(value, digits);
    sn_out_text(out, digits);
}

void sn_out_rounded(sn_out *out, double value) {
    // a double has no digits to lose beyond this
    if (fabs(value) < 1e6) value = round(value * 1e9) / 1e9;
    sn_out_exact(out, value == 0 ? 0 : value);  // no "-0"
}

sn_status sn_out_end(sn_out *out, sn_error *error) {
    flush(out);
    if (!out->failed) return SN_OK;
    return sn_fail(error, SN_ERR_FILE, 0, "the text could not be written");
}
