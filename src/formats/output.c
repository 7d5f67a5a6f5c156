// SPDX-License-Identifier: MIT
#include "formats/output.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

void sn_output_begin(sn_output *output, const sn_sink *sink) {
    output->sink = sink;
    output->used = 0;
    output->failed = false;
}

static void flush(sn_output *output) {
    if (output->used > 0 && !output->failed)
        output->failed = !output->sink->write(output->sink->user, output->buffer, output->used);
    output->used = 0;
}

void sn_output_bytes(sn_output *output, const void *bytes, size_t count) {
    const char *from = bytes;
    while (count > 0 && !output->failed) {
        size_t room = sizeof output->buffer - output->used, piece = count < room ? count : room;
        memcpy(output->buffer + output->used, from, piece);
        output->used += piece;
        from += piece;
        count -= piece;
        if (output->used == sizeof output->buffer) flush(output);
    }
}

void sn_output_text(sn_output *output, const char *text) {
    sn_output_bytes(output, text, strlen(text));
}

void sn_output_format(sn_output *output, const char *format, ...) {
    char text[64];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    SN_ASSERT(length >= 0 && (size_t)length < sizeof text);
    (void)length;
    sn_output_text(output, text);
}

void sn_output_number(sn_output *output, double value) {
    char text[SN_NUMBER_TEXT];
    sn_number_print(value, text);
    sn_output_text(output, text);
}

// The number nearby that has 15 digits.
static double shorter(double value) {
    double size = fabs(value);
    if (!(size > 1e-6 && size < 1e15)) return value;
    double power = pow(10, 14 - floor(log10(size)));
    return round(value * power) / power;
}

void sn_output_length(sn_output *output, double metres, double metres_per_unit) {
    double value = metres / metres_per_unit;
    // the neighbours too: dividing and multiplying again may round twice the same way
    const double near[] = {shorter(value), value, nextafter(value, INFINITY),
                           nextafter(value, -INFINITY)};
    for (int i = 0; i < 4; i++) {
        if (near[i] * metres_per_unit != metres) continue;
        sn_output_number(output, near[i]);
        return;
    }
    sn_output_number(output, value);
}

sn_status sn_output_end(sn_output *output, sn_error *error) {
    flush(output);
    if (!output->failed) return SN_OK;
    return sn_fail(error, SN_ERR_FILE, 0, "%s", sn_status_text(SN_ERR_FILE));
}
