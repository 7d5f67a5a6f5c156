// SPDX-License-Identifier: MIT
#include "base/text.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/utf8.h"

sn_text sn_text_begin(const sn_allocator *allocator) {
    return (sn_text){.allocator = sn_allocator_of(allocator)};
}

void sn_text_end(sn_text *text) {
    sn_release(&text->allocator, text->data);
    text->data = NULL;
    text->length = text->capacity = 0;
}

void sn_text_add_bytes(sn_text *text, const char *bytes, size_t length) {
    if (text->status != SN_OK) return;
    void *data = text->data;
    if (length > SIZE_MAX - 1 - text->length) {
        text->status = SN_ERR_SIZE;
        return;
    }
    text->status = sn_grow(&text->allocator, &data, &text->capacity, text->length + length + 1, 1);
    text->data = data;
    if (text->status != SN_OK) return;
    memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void sn_text_add(sn_text *text, const char *piece) {
    sn_text_add_bytes(text, piece, strlen(piece));
}

void sn_text_add_number(sn_text *text, double value) {
    char digits[SN_NUMBER_TEXT];
    sn_number_print(value, digits);
    sn_text_add(text, digits);
}

void sn_text_add_array(sn_text *text, const double *values, int count) {
    sn_text_add(text, "[");
    for (int i = 0; i < count; i++) {
        if (i > 0) sn_text_add(text, ",");
        sn_text_add_number(text, values[i]);
    }
    sn_text_add(text, "]");
}

void sn_text_add_numbers(sn_text *text, const char *key, const double *values, int count) {
    sn_text_add(text, ", \"");
    sn_text_add(text, key);
    sn_text_add(text, "\": ");
    sn_text_add_array(text, values, count);
}

void sn_text_add_json_string(sn_text *text, const char *string) {
    sn_text_add(text, "\"");
    size_t left = strlen(string);
    while (left > 0) {
        unsigned char c = (unsigned char)*string;
        size_t n = sn_utf8_length(string, left);
        if (n == 0) {
            sn_text_add(text, "\xEF\xBF\xBD");
            n = 1;
        } else if (c == '"' || c == '\\') {
            char escaped[2] = {'\\', (char)c};
            sn_text_add_bytes(text, escaped, 2);
        } else if (c < 0x20 || c == 0x7f) {
            char escaped[8];
            (void)snprintf(escaped, sizeof escaped, "\\u%04x", c);
            sn_text_add(text, escaped);
        } else {
            sn_text_add_bytes(text, string, n);
        }
        string += n;
        left -= n;
    }
    sn_text_add(text, "\"");
}
