// SPDX-License-Identifier: MIT
#include "files/lines.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/number.h"

static void set_blank(sn_lines *lines, char c) {
    unsigned byte = (unsigned char)c;
    SN_ASSERT(byte < 128);
    lines->blank[byte / 64] |= UINT64_C(1) << byte % 64;
}

sn_lines sn_lines_begin(const char *text, size_t length, const char *blank) {
    // the mark that some editors put before UTF-8
    size_t skip = length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    if (text == NULL) text = "";
    sn_lines lines = {.at = text + skip, .stop = text + skip, .end = text + length};
    for (const char *c = " \t\v\f"; *c != '\0'; c++) set_blank(&lines, *c);
    for (const char *c = blank; *c != '\0'; c++) set_blank(&lines, *c);
    return lines;
}

static bool is_blank(const sn_lines *lines, char c) {
    unsigned byte = (unsigned char)c;
    return byte < 128 && (lines->blank[byte / 64] >> byte % 64 & 1);
}

// Move to the next word of the line; false when only blanks or a comment are left.
static bool skip_blanks(sn_lines *lines) {
    while (lines->at < lines->stop && is_blank(lines, *lines->at)) lines->at++;
    if (lines->at < lines->stop && *lines->at == '#') lines->at = lines->stop;
    return lines->at < lines->stop;
}

bool sn_lines_next(sn_lines *lines) {
    for (;;) {
        const char *at = lines->stop;
        if (lines->line > 0 && at < lines->end)
            at += *at == '\r' && at + 1 < lines->end && at[1] == '\n' ? 2 : 1;
        lines->at = lines->stop = at;
        if (at >= lines->end) return false;
        if (lines->line < INT_MAX) lines->line++;
        while (at < lines->end && *at != '\n' && *at != '\r') at++;
        lines->stop = at;
        if (skip_blanks(lines)) return true;
    }
}

bool sn_lines_word(sn_lines *lines, sn_word *out) {
    *out = (sn_word){"", 0};
    if (!skip_blanks(lines)) return false;
    const char *start = lines->at;
    while (lines->at < lines->stop && !is_blank(lines, *lines->at)) lines->at++;
    *out = (sn_word){start, (size_t)(lines->at - start)};
    return true;
}

sn_word sn_lines_peek(const sn_lines *lines) {
    sn_lines copy = *lines;
    sn_word word;
    (void)sn_lines_word(&copy, &word);
    return word;
}

// What follows the point of a line's last number, exponent and all; -1 without a point.
static int after_point(sn_word line) {
    int n = 0;
    for (size_t i = line.length; i-- > 0; n++) {
        if (line.text[i] == '.' || line.text[i] == ',') return n;
        if (strchr(" \t\v\f;", line.text[i]) != NULL) break;
    }
    return -1;
}

bool sn_line_whole(sn_word line, sn_word before) {
    if (line.length == 0 || strchr(" \t\v\f,;\"", line.text[line.length - 1]) != NULL) return true;
    while (before.length > 0 && strchr(" \t\v\f,;\"", before.text[before.length - 1]) != NULL)
        before.length--;
    int digits = after_point(line), above = after_point(before);
    char last = line.text[line.length - 1];
    return last >= '0' && last <= '9' && above > 0 && digits >= above;
}

bool sn_word_is(sn_word word, const char *text) {
    for (size_t i = 0; i < word.length; i++) {
        char c = word.text[i];
        if (c >= 'A' && c <= 'Z') c = (char)(c - 'A' + 'a');
        if (text[i] == '\0' || c != text[i]) return false;
    }
    return text[word.length] == '\0';
}

bool sn_word_number(sn_word word, double *out) {
    return sn_number_parse(word.text, word.length, out) && fabs(*out) <= SN_TEXT_MAX;
}

bool sn_word_extended(sn_word word, double *out) {
    static const char *const spellings[] = {"inf", "infinity", "1.#inf"};
    if (sn_word_number(word, out)) return true;
    bool sign = word.length > 0 && (word.text[0] == '-' || word.text[0] == '+');
    *out = sign && word.text[0] == '-' ? -INFINITY : INFINITY;
    if (sign) word.text++, word.length--;
    for (int i = 0; i < 3; i++)
        if (sn_word_is(word, spellings[i])) return true;
    return false;
}

const char *sn_word_fault(sn_word word) {
    double number;
    const char *comma = memchr(word.text, ',', word.length);
    if (sn_number_parse(word.text, word.length, &number)) return "is beyond 1e50 and surely wrong";
    if (comma != NULL && word.length < 64) {
        char copy[64];
        memcpy(copy, word.text, word.length);
        copy[comma - word.text] = '.';
        if (sn_number_parse(copy, word.length, &number))
            return "has a decimal comma: the format has points";
    }
    return "is not a number";
}

bool sn_word_integer(sn_word word, int *out) {
    *out = 0;
    size_t i = word.length > 0 && (word.text[0] == '-' || word.text[0] == '+') ? 1 : 0;
    if (i == word.length) return false;
    int64_t value = 0;
    for (; i < word.length; i++) {
        if (word.text[i] < '0' || word.text[i] > '9') return false;
        value = value * 10 + (word.text[i] - '0');
        if (value > INT_MAX) return false;
    }
    *out = (int)(word.text[0] == '-' ? -value : value);
    return true;
}

bool sn_word_copy(sn_word word, char *out, size_t size) {
    if (word.length >= size || memchr(word.text, '\0', word.length) != NULL) return false;
    memcpy(out, word.text, word.length);
    out[word.length] = '\0';
    return true;
}
