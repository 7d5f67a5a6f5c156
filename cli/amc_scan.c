// SPDX-License-Identifier: MIT
#include "amc_scan.h"

#include <limits.h>

#include "files/lines.h"

typedef struct scan {
    sn_lines lines;
    amc_facts facts;
    int number, frame_line, bones, values;  // of this frame
    sn_error *error;
} scan;

#define FAIL(s, ...) sn_fail((s)->error, SN_ERR_PARSE, (s)->lines.line, __VA_ARGS__)

static sn_status end_frame(scan *s) {
    amc_facts *f = &s->facts;
    if (f->nframe == 1) f->bones = s->bones, f->values = s->values;
    if (f->nframe > 0 && (s->bones != f->bones || s->values != f->values))
        return sn_fail(s->error, SN_ERR_PARSE, s->frame_line,
                       "frame %d has %d bones with %d numbers, the first one %d with %d", s->number,
                       s->bones, s->values, f->bones, f->values);
    s->bones = s->values = 0;
    return SN_OK;
}

static sn_status begin_frame(scan *s, int number) {
    SN_TRY(end_frame(s));
    if (s->facts.nframe > 0 && (long)number != (long)s->number + 1)
        return FAIL(s, "frame %d follows frame %d: frames must be numbered one after the other",
                    number, s->number);
    if (s->facts.nframe == INT_MAX) return FAIL(s, "too many frames");
    if (s->facts.nframe++ == 0) s->facts.first_frame = number;
    s->number = number;
    s->frame_line = s->lines.line;
    return SN_OK;
}

static sn_status scan_line(scan *s) {
    sn_word word;
    int number;
    double value;
    (void)sn_lines_word(&s->lines, &word);
    if (word.text[0] == ':') {
        if (!sn_word_is(word, ":samples-per-second")) return SN_OK;
        (void)sn_lines_word(&s->lines, &word);
        return sn_word_number(word, &s->facts.rate) && s->facts.rate > 0
                   ? SN_OK
                   : FAIL(s, "\"%.*s\" is no number of samples per second", SN_WORD(word));
    }
    if (sn_lines_peek(&s->lines).length == 0 && sn_word_integer(word, &number))
        return begin_frame(s, number);
    if (s->facts.nframe == 0)
        return FAIL(s, "\"%.*s\" before the first frame's number", SN_WORD(word));
    s->bones++;
    while (sn_lines_word(&s->lines, &word)) {
        if (!sn_word_number(word, &value))
            return FAIL(s, "\"%.*s\" is not a number", SN_WORD(word));
        s->values++;
    }
    return SN_OK;
}

sn_status scan_amc(const char *text, size_t length, amc_facts *out, sn_error *error) {
    scan s = {.lines = sn_lines_begin(text, length, "(),"), .error = error};
    while (sn_lines_next(&s.lines)) SN_TRY(scan_line(&s));
    SN_TRY(end_frame(&s));
    if (s.facts.nframe == 0) return FAIL(&s, "the file has no frames");
    *out = s.facts;
    return SN_OK;
}
