// SPDX-License-Identifier: MIT
#include "files/out.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "math/round.h"

void sn_out_begin(sn_out *out, const sn_sink *sink) {
    out->sink = sink;
    out->failed = false;
    out->used = 0;
    out->total = 0;
}

static void flush(sn_out *out) {
    if (out->used > 0 && !out->failed)
        out->failed = !out->sink->write(out->sink->user, out->buffer, out->used);
    out->used = 0;
}

sn_status sn_out_end(sn_out *out, sn_error *error) {
    flush(out);
    if (!out->failed) return SN_OK;
    return sn_fail(error, SN_ERR_FILE, 0, "not all of the file could be written");
}

void sn_out_bytes(sn_out *out, const void *bytes, size_t count) {
    const char *from = bytes;
    out->total += count;
    while (count > 0 && !out->failed) {
        size_t room = sizeof out->buffer - out->used, piece = count < room ? count : room;
        memcpy(out->buffer + out->used, from, piece);
        out->used += piece;
        from += piece;
        count -= piece;
        if (out->used == sizeof out->buffer) flush(out);
    }
}

// --- text ------------------------------------------------------------------------------------------

void sn_out_text(sn_out *out, const char *text) { sn_out_bytes(out, text, strlen(text)); }

void sn_out_format(sn_out *out, const char *format, ...) {
    char text[64];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    SN_ASSERT(length >= 0 && (size_t)length < sizeof text);
    (void)length;
    sn_out_text(out, text);
}

void sn_out_tabs(sn_out *out, int count) {
    for (int i = 0; i < count && i < 40; i++) sn_out_text(out, "\t");
}

void sn_out_integer(sn_out *out, int value) { sn_out_format(out, "%d", value); }

void sn_out_number(sn_out *out, double value) {
    char digits[SN_NUMBER_TEXT];
    sn_number_print(value, digits);
    sn_out_text(out, digits);
}

// A whole number of billionths, from 1e5 up to 1e15: what sn_out_number() writes of it, at a tenth of the work, as
// a number with fifteen digits is the shortest of its double.
static void out_parts(sn_out *out, double parts) {
    char text[32], *at = text + sizeof text;
    uint64_t n = (uint64_t)fabs(parts);
    int fraction = 9;
    for (; fraction > 0 && n % 10 == 0; fraction--) n /= 10;
    for (int i = 0; i < fraction; i++, n /= 10) *--at = (char)('0' + n % 10);
    if (fraction > 0) *--at = '.';
    do {
        *--at = (char)('0' + n % 10);
        n /= 10;
    } while (n > 0);
    if (parts < 0) *--at = '-';
    sn_out_bytes(out, at, (size_t)(text + sizeof text - at));
}

void sn_out_rounded(sn_out *out, double value) {
    // a double has no digits to lose beyond this
    double parts = fabs(value) < 1e6 ? sn_round(value * 1e9) : 0;
    if (parts == 0 && fabs(value) < 1e6) {
        sn_out_bytes(out, "0", 1);  // no "-0"
        return;
    }
    if (fabs(parts) >= 1e5) {
        out_parts(out, parts);
        return;
    }
    if (fabs(value) < 1e6) value = parts / 1e9;
    sn_out_number(out, value);
}

// The number nearby that has 15 digits.
static double shorter(double value) {
    double size = fabs(value);
    if (!(size > 1e-6 && size < 1e15)) return value;
    static const double from[] = {1e14, 1e13, 1e12, 1e11, 1e10, 1e9,  1e8,  1e7,  1e6,  1e5, 1e4,
                                  1e3,  1e2,  1e1,  1e0,  1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 0};
    double power = 1;
    for (int i = 0; size < from[i]; i++) power *= 10;  // exact up to 1e22
    return sn_round(value * power) / power;
}

void sn_out_length(sn_out *out, double metres, double metres_per_unit) {
    double value = metres / metres_per_unit;
    // the neighbours too: dividing and multiplying again may round twice the same way
    const double near[] = {shorter(value), value, nextafter(value, INFINITY),
                           nextafter(value, -INFINITY)};
    for (int i = 0; i < 4; i++) {
        if (near[i] * metres_per_unit != metres) continue;
        sn_out_number(out, near[i]);
        return;
    }
    sn_out_number(out, value);
}

// --- binary ----------------------------------------------------------------------------------------

void sn_out_byte(sn_out *out, unsigned value) {
    if (out->used == sizeof out->buffer) flush(out);
    out->buffer[out->used++] = (unsigned char)value;
    out->total++;
}

void sn_out_uint16(sn_out *out, unsigned value) {
    sn_out_byte(out, value & 0xff);
    sn_out_byte(out, value >> 8 & 0xff);
}

void sn_out_uint32(sn_out *out, uint32_t value) {
    for (int i = 0; i < 4; i++) sn_out_byte(out, value >> 8 * i & 0xff);
}

void sn_out_float(sn_out *out, double value) {
    float rounded = (float)value;
    uint32_t bits;
    memcpy(&bits, &rounded, sizeof bits);
    sn_out_uint32(out, bits);
}
