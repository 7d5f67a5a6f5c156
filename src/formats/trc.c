// SPDX-License-Identifier: MIT
// TRC: cells parted by tabs.
//
//   1  PathFileType ...
//   2  keys          DataRate ... NumFrames NumMarkers Units ..., in any order
//   3  values        under the keys
//   4  names         Frame#, Time, then the markers, with empty cells between them
//   5  axes          X1 Y1 Z1 X2 ...; then, or not, an empty line
//      rows          frame, time, x y z of every marker
//
// Where the empty cells stand between names differs from writer to writer, so they say nothing: the
// filled ones are the names, and there must be NumMarkers of them.
//
// A row has 2 + 3 NumMarkers cells. Three kinds of other rows are understood: empty cells at the
// end; three more cells for each point that the writer saw but had no name for (left out, and
// noted); fewer cells where an editor took the tabs at the end away, but only after a whole marker,
// and not at the very end of a file, which was cut off then (noted too). All else is an error.
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "formats/cells.h"
#include "motion/clock.h"

typedef struct reading {
    const sn_allocator *allocator;
    sn_error *error;
    size_t length;
    sn_rows rows;  // at the last line of the header
    sn_recording_info info;
    double rate;         // as the header says, 0 for nothing
    int claimed;         // frames, -1 for nothing
    int nshort, nextra;  // rows that end early, rows with unnamed points
    int nzero;           // samples at 0 0 0
    bool jumps;          // frames are not numbered one after the other
    const char **label;
    void *block;
} reading;

#define FAIL(r, ...) sn_fail((r)->error, SN_ERR_PARSE, (r)->rows.line, __VA_ARGS__)

static sn_status need_line(reading *r, const char *what) {
    if (sn_rows_next(&r->rows)) return SN_OK;
    return FAIL(r, "the file ends before its line of %s", what);
}

static sn_status read_value(reading *r, sn_word key, sn_word value) {
    double number;
    if (sn_word_is(key, "units")) {
        if (!sn_word_copy(value, r->info.unit, sizeof r->info.unit))
            return FAIL(r, "the unit '%.*s' is too long", SN_WORD(value));
        r->info.metres_per_unit = sn_unit_metres(r->info.unit);
        return SN_OK;
    }
    bool rate = sn_word_is(key, "datarate"), frames = sn_word_is(key, "numframes");
    bool markers = sn_word_is(key, "nummarkers");
    if (!rate && !frames && !markers) return SN_OK;
    if (!sn_word_number(value, &number) || number < 0 || number > 1e8 ||
        (!rate && floor(number) != number))
        return FAIL(r, "%.*s is '%.*s'", SN_WORD(key), SN_WORD(value));
    if (rate) r->rate = number;
    if (frames) r->claimed = (int)number;
    if (markers) r->info.nmarker = (int)number;
    return SN_OK;
}

static sn_status read_values(reading *r) {
    SN_TRY(need_line(r, "keys (DataRate, ...)"));
    sn_rows keys = r->rows;
    SN_TRY(need_line(r, "values"));
    char separator = memchr(keys.start, '\t', (size_t)(keys.stop - keys.start)) ? '\t' : SN_BLANKS;
    sn_word key, value;
    while (sn_rows_cell(&keys, separator, &key)) {
        (void)sn_rows_cell(&r->rows, separator, &value);
        SN_TRY(read_value(r, key, value));
    }
    if (r->info.nmarker == 0)
        return FAIL(r, "the header does not say how many markers there are (NumMarkers)");
    return SN_OK;
}

static sn_status read_names(reading *r) {
    SN_TRY(need_line(r, "marker names"));
    sn_word cell;
    (void)sn_rows_cell(&r->rows, '\t', &cell);
    if (!sn_word_is(cell, "frame#") && !sn_word_is(cell, "frame"))
        return FAIL(r, "the marker names must begin with Frame#, not '%.*s'", SN_WORD(cell));
    (void)sn_rows_cell(&r->rows, '\t', &cell);
    if (!sn_word_is(cell, "time"))
        return FAIL(r, "Time must follow Frame#, not '%.*s'", SN_WORD(cell));
    int count = 0;
    for (sn_rows copy = r->rows; sn_rows_cell(&copy, '\t', &cell);) count += cell.length > 0;
    if (count != r->info.nmarker)
        return FAIL(r, "the header says %d markers, but %d are named here", r->info.nmarker, count);
    size_t letters = (size_t)(r->rows.stop - r->rows.start);
    char *pool = NULL;
    sn_layout layout = {0};
    for (int pass = 0; pass < 2; pass++) {
        r->label = sn_layout_take(&layout, (size_t)count, sizeof *r->label);
        pool = sn_layout_take(&layout, letters + 1, 1);
        if (pass == 1) break;
        void *start = sn_layout_acquire(&layout, r->allocator, &r->block);
        if (start == NULL) return sn_fail_memory(r->error);
        layout = (sn_layout){.block = start};
    }
    for (int i = 0; i < count;) {
        (void)sn_rows_cell(&r->rows, '\t', &cell);
        if (cell.length == 0) continue;
        // every name is followed by a tab or by the end of the line, so the terminators have room
        if (!sn_word_copy(cell, pool, cell.length + 1))
            return FAIL(r, "the name of marker %d holds a NUL byte", i + 1);
        r->label[i++] = pool;
        pool += cell.length + 1;
    }
    return SN_OK;
}

// X1 Y1 Z1 X2 ...: there may be more of them than markers, for points without a name.
static sn_status read_axes(reading *r) {
    SN_TRY(need_line(r, "axes (X1, Y1, Z1, ...)"));
    sn_word cell;
    int count = 0;
    while (sn_rows_cell(&r->rows, '\t', &cell)) {
        if (cell.length == 0) continue;
        char axis = cell.text[0];
        if (axis != "XYZ"[count % 3] && axis != "xyz"[count % 3])
            return FAIL(r, "'%.*s' where %c%d was expected: axes must be X, Y, Z in turn",
                        SN_WORD(cell), "XYZ"[count % 3], count / 3 + 1);
        count++;
    }
    if (count % 3 != 0 || count / 3 < r->info.nmarker)
        return FAIL(r, "%d axes for %d markers", count, r->info.nmarker);
    return SN_OK;
}

static sn_status read_header(reading *r) {
    sn_word cell;
    if (!sn_rows_next(&r->rows)) return sn_fail(r->error, SN_ERR_PARSE, 0, "the file is empty");
    sn_rows first = r->rows;
    (void)sn_rows_cell(&first, SN_BLANKS, &cell);
    if (!sn_word_is(cell, "pathfiletype"))
        return FAIL(r, "this is no TRC file: PathFileType expected, not '%.*s'", SN_WORD(cell));
    SN_TRY(read_values(r));
    SN_TRY(read_names(r));
    return read_axes(r);
}

// Whether a row is long enough, or of a length that is understood. Counts what is unusual.
static sn_status measure_row(reading *r, const sn_rows *row) {
    int expected = 2 + 3 * r->info.nmarker, filled = sn_rows_count(row, '\t'), count = 0;
    sn_word cell;
    for (sn_rows copy = *row; sn_rows_cell(&copy, '\t', &cell);) count++;
    if (filled > expected) {
        if ((filled - expected) % 3 != 0)
            return sn_fail(r->error, SN_ERR_PARSE, row->line,
                           "this row has %d cells, but %d markers need %d", filled, r->info.nmarker,
                           expected);
        r->nextra++;
        int extra = (filled - expected) / 3;
        if (extra > r->info.nother) r->info.nother = extra;
    } else if (count < expected) {
        if (!sn_rows_ended(row))
            return sn_fail(r->error, SN_ERR_PARSE, row->line,
                           "the file ends inside this row: %d cells, but %d markers need %d", count,
                           r->info.nmarker, expected);
        if (filled < 2 || (filled - 2) % 3 != 0)
            return sn_fail(r->error, SN_ERR_PARSE, row->line,
                           "this row has %d cells, but %d markers need %d", count, r->info.nmarker,
                           expected);
        r->nshort++;
    }
    return SN_OK;
}

static sn_status measure(reading *r) {
    sn_rows rows = r->rows;
    while (sn_rows_next_filled(&rows, '\t')) {
        SN_TRY(measure_row(r, &rows));
        if (r->info.nframe == INT_MAX)
            return sn_fail(r->error, SN_ERR_SIZE, rows.line, "too many rows");
        r->info.nframe++;
    }
    if (r->info.nframe == 0) return sn_fail(r->error, SN_ERR_PARSE, rows.line, "no frames follow");
    // whole rows have a byte for every number; rows that end early must not make a small file large
    if ((double)r->info.nframe * 3 * r->info.nmarker > (double)r->length)
        return sn_fail(r->error, SN_ERR_PARSE, rows.line,
                       "nearly all rows end before the last of the %d markers", r->info.nmarker);
    return SN_OK;
}

// One sample, in metres; false when it is neither whole nor missing.
static bool read_sample(reading *r, double metres, double *x, sn_word *bad) {
    int missing = 0;
    for (int c = 0; c < 3; c++) {
        sn_word cell;
        (void)sn_rows_cell(&r->rows, '\t', &cell);
        if (!sn_cell_number(cell, false, &x[c])) {
            *bad = cell;
            return false;
        }
        missing += isnan(x[c]);
        x[c] *= metres;
    }
    *bad = (sn_word){"", 0};
    // some exporters write a gap as the origin, where no marker ever is
    if (x[0] == 0 && x[1] == 0 && x[2] == 0) {
        x[0] = x[1] = x[2] = NAN;
        r->nzero++;
        return true;
    }
    return missing == 0 || missing == 3;
}

static sn_status read_row(reading *r, int frame, sn_clock *clock, sn_recording *recording) {
    sn_word cell;
    int number;
    double time, metres = r->info.metres_per_unit > 0 ? r->info.metres_per_unit : 1;
    (void)sn_rows_cell(&r->rows, '\t', &cell);
    if (!sn_word_integer(cell, &number)) return FAIL(r, "'%.*s' is no frame number", SN_WORD(cell));
    if (frame == 0) r->info.first_frame = number;
    if ((double)number - r->info.first_frame != frame) r->jumps = true;
    (void)sn_rows_cell(&r->rows, '\t', &cell);
    if (!sn_cell_number(cell, false, &time)) return FAIL(r, "'%.*s' is no time", SN_WORD(cell));
    sn_clock_add(clock, time);
    if (recording == NULL) return SN_OK;
    double *row = sn_recording_edit(recording, frame);
    for (int i = 0; i < r->info.nmarker; i++, row += 3) {
        if (read_sample(r, metres, row, &cell)) continue;
        if (cell.length > 0)
            return FAIL(r, "'%.*s' of marker '%.40s' is no number, or one that is too large",
                        SN_WORD(cell), r->label[i]);
        return FAIL(r, "marker '%.60s' has only some of its three coordinates", r->label[i]);
    }
    return SN_OK;
}

// Which rate it is, and what the user should know. Times decide against the header: files cut down
// to every n-th frame keep the old header. A time may be rounded to a millisecond.
static void decide(reading *r, const sn_clock *clock) {
    double rate = sn_clock_rate(clock);
    char *note = r->info.note;
    r->info.rate = r->rate;
    double slack = 0.02 + r->rate * 0.001 / (r->info.nframe > 1 ? r->info.nframe - 1 : 1);
    if (rate > 0 && fabs(r->rate / rate - 1) > slack) {
        r->info.rate = rate;
        if (r->rate > 0)
            sn_note(note, "the header says %g Hz, the times %g Hz: the times are believed", r->rate,
                    rate);
    }
    if (r->info.nframe > 1 && rate == 0) sn_note(note, "the times do not go on in even steps");
    if (rate > 0 && clock->nother > 0)
        sn_note(note, "%d of %d time steps differ", clock->nother, r->info.nframe - 1);
    if (r->claimed >= 0 && r->claimed != r->info.nframe)
        sn_note(note, "the header says %d frames, %d are there", r->claimed, r->info.nframe);
    if (r->jumps) sn_note(note, "frames are not numbered one by one");
    if (r->nextra > 0) sn_note(note, "points without a name left out in %d frames", r->nextra);
    if (r->nzero > 0) sn_note(note, "%d samples at 0 0 0 taken as missing", r->nzero);
    if (r->nshort > 0) sn_note(note, "%d rows end early", r->nshort);
}

// All frame numbers and times, to know the rate before the recording is made.
static sn_status read_times(reading *r) {
    sn_rows start = r->rows;
    sn_clock clock = {0};
    for (int i = 0; sn_rows_next_filled(&r->rows, '\t'); i++) SN_TRY(read_row(r, i, &clock, NULL));
    decide(r, &clock);
    r->rows = start;
    return SN_OK;
}

static sn_status read_file(reading *r, sn_recording **out) {
    SN_TRY(read_header(r));
    SN_TRY(measure(r));
    SN_TRY(read_times(r));
    sn_status status = sn_recording_create(&r->info, r->label, r->allocator, out);
    if (status != SN_OK) return sn_fail(r->error, status, 0, "%s", sn_status_text(status));
    sn_clock clock = {0};
    for (int i = 0; sn_rows_next_filled(&r->rows, '\t'); i++) SN_TRY(read_row(r, i, &clock, *out));
    return SN_OK;
}

sn_status sn_trc_read(const char *text, size_t length, const sn_allocator *allocator,
                      sn_recording **out, sn_error *error) {
    *out = NULL;
    reading r = {.allocator = allocator,
                 .error = error,
                 .length = length,
                 .rows = sn_rows_begin(text, length, false),
                 .claimed = -1};
    sn_status status = read_file(&r, out);
    sn_release(allocator, r.block);
    if (status != SN_OK) {
        sn_recording_destroy(*out);
        *out = NULL;
    }
    return status;
}
