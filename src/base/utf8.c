// SPDX-License-Identifier: MIT
#include "base/utf8.h"

size_t sn_utf8_length(const char *text, size_t left) {
    const unsigned char *b = (const unsigned char *)text;
    if (left == 0) return 0;
    if (b[0] < 0x80) return 1;
    // lead byte -> length and the smallest code point that may be written so
    size_t length = b[0] >= 0xF0 ? 4 : b[0] >= 0xE0 ? 3 : 2;
    unsigned least = length == 4 ? 0x10000 : length == 3 ? 0x800 : 0x80;
    if (b[0] < 0xC2 || b[0] > 0xF4 || left < length) return 0;
    unsigned code = b[0] & (0xFFu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((b[i] & 0xC0) != 0x80) return 0;
        code = code << 6 | (b[i] & 0x3Fu);
    }
    if (code < least || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return 0;
    return length;
}
