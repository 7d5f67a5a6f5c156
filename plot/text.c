// SPDX-License-Identifier: MIT
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plot.h"

static bool grow(plot_text *out, size_t more) {
    if (out->failed) return false;
    if (out->length + more < out->capacity) return true;
    size_t capacity = 2 * (out->capacity + more) + 1024;
    char *data = realloc(out->data, capacity);
    if (data == NULL) {
        out->failed = true;
        return false;
    }
    out->data = data;
    out->capacity = capacity;
    return true;
}

void plot_raw(plot_text *out, const char *text) {
    size_t n = strlen(text);
    if (!grow(out, n + 1)) return;
    memcpy(out->data + out->length, text, n + 1);
    out->length += n;
}

void plot_add(plot_text *out, const char *format, ...) {
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    int n = vsnprintf(NULL, 0, format, list);
    if (n >= 0 && grow(out, (size_t)n + 1)) {
        (void)vsnprintf(out->data + out->length, (size_t)n + 1, format, again);
        out->length += (size_t)n;
    }
    va_end(again);
    va_end(list);
}

void plot_escaped(plot_text *out, const char *text) {
    for (; *text != '\0'; text++) {
        char one[2] = {*text, '\0'};
        plot_raw(out, *text == '&'   ? "&amp;"
                      : *text == '<' ? "&lt;"
                      : *text == '>' ? "&gt;"
                      : *text == '"' ? "&quot;"
                                     : one);
    }
}

void plot_text_free(plot_text *out) {
    free(out->data);
    *out = (plot_text){0};
}
