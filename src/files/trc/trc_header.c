// SPDX-License-Identifier: MIT
// The header of TRC:
//
//   1  PathFileType ...
//   2  keys          DataRate ... NumFrames NumMarkers Units ..., in any order
//   3  values        under the keys
//   4  names         Frame#, Time, then the markers, with empty cells between them
//   5  axes          X1 Y1 Z1 X2 ..., or none; empty lines anywhere
//
// Where the empty cells stand between names differs from writer to writer, so they say nothing: the
// filled ones are the names, and there are as many markers as names. Some writers repeat a name over
// all three columns.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "files/trc/trc.h"

static sn_status need_line(sn_trc *r, const char *what) {
    if (sn_rows_next_filled(&r->rows, '\t')) return SN_OK;
    return SN_TRC_FAIL(r, "the file ends before its line of %s", what);
}

// A rate must be one; counts are only claims, which the file itself can answer.
static sn_status read_value(sn_trc *r, sn_word key, sn_word value, int *nmarker) {
    double number;
    if (sn_word_is(key, "units")) {
        if (!sn_word_copy(value, r->info.unit, sizeof r->info.unit))
            return SN_TRC_FAIL(r, "the unit '%.*s' is too long", SN_WORD(value));
        r->info.metres_per_unit = sn_unit_metres(r->info.unit);
        return SN_OK;
    }
    bool rate = sn_word_is(key, "datarate"), frames = sn_word_is(key, "numframes");
    bool markers = sn_word_is(key, "nummarkers");
    if ((!rate && !frames && !markers) || sn_word_missing(value)) return SN_OK;
    if (!sn_cell_number(value, true, &number) || number < 0 || number > 1e8 ||
        (!rate && floor(number) != number)) {
        if (rate) return SN_TRC_FAIL(r, "%.*s is '%.*s'", SN_WORD(key), SN_WORD(value));
        sn_note(r->info.note, "%.*s is '%.*s'", SN_WORD(key), SN_WORD(value));
        return SN_OK;
    }
    if (rate) r->rate = number;
    if (frames) r->claimed = (int)number;
    if (markers) *nmarker = (int)number;
    return SN_OK;
}

static sn_status read_values(sn_trc *r, int *nmarker) {
    SN_TRY(need_line(r, "keys (DataRate, ...)"));
    sn_rows keys = r->rows;
    SN_TRY(need_line(r, "values"));
    char separator = memchr(keys.start, '\t', (size_t)(keys.stop - keys.start)) ? '\t' : SN_BLANKS;
    sn_word key, value;
    while (sn_rows_cell(&keys, separator, &key)) {
        (void)sn_rows_cell(&r->rows, separator, &value);
        SN_TRY(read_value(r, key, value, nmarker));
    }
    return SN_OK;
}

static bool same_words(sn_word a, sn_word b) {
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

// Whether every name stands three times in a row.
static bool is_repeated(const sn_trc *r, int count) {
    sn_rows copy = r->rows;
    sn_word cell, name = {"", 0};
    int i = 0;
    while (sn_rows_cell(&copy, r->separator, &cell)) {
        if (cell.length == 0) continue;
        if (i % 3 == 0) name = cell;
        if (!same_words(cell, name)) return false;
        i++;
    }
    return count > 0 && count % 3 == 0;
}

static sn_status place_labels(sn_trc *r, int every) {
    size_t letters = (size_t)(r->rows.stop - r->rows.start), count = (size_t)r->info.nmarker;
    char *pool = NULL;
    sn_layout layout = {0};
    for (int pass = 0; pass < 2; pass++) {
        r->label = sn_layout_take(&layout, count, sizeof *r->label);
        pool = sn_layout_take(&layout, letters + 1, 1);
        if (pass == 1) break;
        void *start = sn_layout_acquire(&layout, r->allocator, &r->block);
        if (start == NULL) return sn_fail_memory(r->error);
        layout = (sn_layout){.block = start};
    }
    for (int i = 0; i < every * r->info.nmarker;) {
        sn_word cell;
        (void)sn_rows_cell(&r->rows, r->separator, &cell);
        if (cell.length == 0) continue;
        if (i++ % every != 0) continue;
        // every name is followed by a tab or by the end of the line, so the terminators have room
        if (!sn_word_copy(cell, pool, cell.length + 1))
            return SN_TRC_FAIL(r, "the name of marker %d holds a NUL byte", i);
        r->label[(i - 1) / every] = pool;
        pool += cell.length + 1;
    }
    return SN_OK;
}

// How many columns of axes there are; 0 when the next line is something else, and stays.
static sn_status read_axes(sn_trc *r, int *count) {
    sn_rows next = r->rows;
    sn_word cell = {"", 0};
    *count = 0;
    if (!sn_rows_next_filled(&next, '\t')) return SN_OK;
    sn_rows cells = next;
    while (cell.length == 0 && sn_rows_cell(&cells, r->separator, &cell)) continue;
    double number;
    if (sn_cell_number(cell, true, &number)) return SN_OK;
    r->rows = next;
    while (sn_rows_cell(&next, r->separator, &cell)) {
        if (cell.length == 0) continue;
        char axis = cell.text[0];
        if (axis != "XYZ"[*count % 3] && axis != "xyz"[*count % 3])
            return SN_TRC_FAIL(r, "'%.*s' where %c%d was expected: axes must be X, Y, Z in turn",
                               SN_WORD(cell), "XYZ"[*count % 3], *count / 3 + 1);
        ++*count;
    }
    if (*count % 3 != 0) return SN_TRC_FAIL(r, "%d axes: each marker needs three", *count);
    return SN_OK;
}

static sn_status read_names(sn_trc *r, int stated) {
    sn_word cell;
    SN_TRY(need_line(r, "marker names"));
    size_t length = (size_t)(r->rows.stop - r->rows.start);
    r->separator = memchr(r->rows.start, '\t', length) != NULL ? '\t' : SN_BLANKS;
    (void)sn_rows_cell(&r->rows, r->separator, &cell);
    if (!sn_word_is(cell, "frame#") && !sn_word_is(cell, "frame"))
        return SN_TRC_FAIL(r, "the marker names must begin with Frame#, not '%.*s'", SN_WORD(cell));
    (void)sn_rows_cell(&r->rows, r->separator, &cell);
    if (cell.length < 4 || !sn_word_is((sn_word){cell.text, 4}, "time"))
        return SN_TRC_FAIL(r, "Time must follow Frame#, not '%.*s'", SN_WORD(cell));
    int named = 0, naxis;
    sn_trc behind = *r;
    for (sn_rows copy = r->rows; sn_rows_cell(&copy, r->separator, &cell);)
        named += cell.length > 0;
    SN_TRY(read_axes(&behind, &naxis));
    bool thrice = (naxis > 0 ? naxis : 3 * (int64_t)stated) == named && is_repeated(r, named);
    int every = thrice ? 3 : 1;
    named /= every;
    if (named == 0) return SN_TRC_FAIL(r, "no marker is named");
    if (naxis > 0 && naxis < 3 * named)
        return SN_TRC_FAIL(r, "%d markers are named here, but there are axes for %d only", named,
                           naxis / 3);
    if (stated >= 0 && stated != named)
        sn_note(r->info.note, "NumMarkers is %d, but %d %s named", stated, named,
                named == 1 ? "is" : "are");
    r->info.nmarker = named;
    SN_TRY(place_labels(r, every));
    r->rows = behind.rows;
    return SN_OK;
}

sn_status sn_trc_read_header(sn_trc *r) {
    sn_word cell;
    int nmarker = -1;
    if (!sn_rows_next_filled(&r->rows, '\t'))
        return sn_fail(r->error, SN_ERR_PARSE, 0, "the file is empty");
    sn_rows first = r->rows;
    (void)sn_rows_cell(&first, SN_BLANKS, &cell);
    if (!sn_word_is(cell, "pathfiletype"))
        return SN_TRC_FAIL(r, "this is no TRC file: PathFileType expected, not '%.*s'",
                           SN_WORD(cell));
    SN_TRY(read_values(r, &nmarker));
    return read_names(r, nmarker);
}
