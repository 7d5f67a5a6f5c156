// SPDX-License-Identifier: MIT
#include <stdarg.h>
#include <stdbool.h>
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

// Bytes of the character at `text` that a page can hold, 0 where there is none: what is not UTF-8, and
// control characters, which XML forbids.
static int character(const char *text) {
    const unsigned char *c = (const unsigned char *)text;
    if (c[0] < 0x80) return c[0] >= 0x20 ? c[0] != 0x7f : c[0] == '\t' || c[0] == '\n';
    int more = c[0] >= 0xf0 ? 3 : c[0] >= 0xe0 ? 2 : 1;
    if (c[0] < 0xc2 || c[0] > 0xf4) return 0;
    for (int i = 1; i <= more; i++)
        if ((c[i] & 0xc0) != 0x80) return 0;
    bool overlong = (c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xf0 && c[1] < 0x90);
    bool beyond = (c[0] == 0xed && c[1] > 0x9f) || (c[0] == 0xf4 && c[1] > 0x8f);
    bool none = c[0] == 0xef && c[1] == 0xbf && c[2] > 0xbd;  // U+FFFE, U+FFFF
    bool control = c[0] == 0xc2 && c[1] < 0xa0;               // U+0080 to U+009F
    return overlong || beyond || none || control ? 0 : 1 + more;
}

void plot_escaped(plot_text *out, const char *text) {
    for (int n; *text != '\0'; text += n > 0 ? n : 1) {
        n = character(text);
        plot_raw(out, n == 0          ? "\xef\xbf\xbd"
                      : *text == '&'  ? "&amp;"
                      : *text == '<'  ? "&lt;"
                      : *text == '>'  ? "&gt;"
                      : *text == '"'  ? "&quot;"
                      : *text == '\'' ? "&#39;"
                                      : "");
        if (n > 0 && strchr("&<>\"'", *text) == NULL) plot_add(out, "%.*s", n, text);
    }
}

void plot_text_free(plot_text *out) {
    free(out->data);
    *out = (plot_text){0};
}
