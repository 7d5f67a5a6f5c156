// SPDX-License-Identifier: MIT
// The rows of TRC: frame, time, x y z of every marker. The header is in trc_header.c.
//
// A row has 2 + 3 cells for each marker. Three kinds of other rows are understood: empty cells at the
// end; three more cells for each point that the writer saw but had no name for (left out, and
// noted); fewer cells where an editor took the tabs at the end away, but only after a whole marker,
// and not at the very end of a file, which was cut off then (noted too). All else is an error.
//
// The last line needs no end. Where the header states more frames than there are and the last number may be
// cut off (sn_line_whole), its sample counts as missing.
//
// Rows that are not there, while frame numbers and times go on as if they were, are frames without samples.
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "files/placeholders.h"
#include "files/trc/trc.h"
#include "motion/clock.h"
#include "motion/lost_rows.h"
#include "motion/recording.h"

// Whether a row is long enough, or of a length that is understood. Counts what is unusual.
static sn_status measure_row(sn_trc *r, const sn_rows *row) {
    int expected = 2 + 3 * r->info.nmarker, filled = sn_rows_count(row, r->separator), count = 0;
    sn_word cell;
    for (sn_rows copy = *row; sn_rows_cell(&copy, r->separator, &cell);) count++;
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

static sn_status measure(sn_trc *r) {
    sn_rows rows = r->rows;
    sn_word before = {"", 0};
    while (sn_rows_next_filled(&rows, r->separator)) {
        int extra = r->nextra;
        SN_TRY(measure_row(r, &rows));
        sn_word line = {rows.start, (size_t)(rows.stop - rows.start)};
        r->doubtful = !sn_rows_ended(&rows) && r->nextra == extra && !sn_line_whole(line, before);
        before = line;
        if (r->nrow == INT_MAX) return sn_fail(r->error, SN_ERR_SIZE, rows.line, "too many rows");
        r->nrow++;
    }
    r->info.nframe = r->nrow;
    if (r->info.nframe == 0) return sn_fail(r->error, SN_ERR_PARSE, rows.line, "no frames follow");
    if (r->info.nframe >= r->claimed) r->doubtful = false;
    // whole rows have a byte for every number; rows that end early must not make a small file large
    if ((double)r->info.nframe * 3 * r->info.nmarker > (double)r->length)
        return sn_fail(r->error, SN_ERR_PARSE, rows.line,
                       "nearly all rows end before the last of the %d markers", r->info.nmarker);
    return SN_OK;
}

// One sample, in metres; false when it is neither whole nor missing.
static bool read_sample(sn_trc *r, double metres, double *x, sn_word *bad) {
    int missing = 0;
    for (int c = 0; c < 3; c++) {
        sn_word cell;
        (void)sn_rows_cell(&r->rows, r->separator, &cell);
        if (!sn_cell_number(cell, r->comma, &x[c])) {
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

// The row's frame number and time.
static sn_status read_head(sn_trc *r, double *number, double *time) {
    sn_word cell;
    (void)sn_rows_cell(&r->rows, r->separator, &cell);
    if (!sn_cell_number(cell, r->comma, number) || floor(*number) != *number || fabs(*number) > 1e9)
        return SN_TRC_FAIL(r, "'%.*s' is no frame number", SN_WORD(cell));
    (void)sn_rows_cell(&r->rows, r->separator, &cell);
    if (!sn_cell_number(cell, r->comma, time))
        return SN_TRC_FAIL(r, "'%.*s' is no time", SN_WORD(cell));
    return SN_OK;
}

static sn_status read_samples(sn_trc *r, int at, sn_recording *recording) {
    sn_word cell;
    double metres = r->info.metres_per_unit > 0 ? r->info.metres_per_unit : 1;
    double *row = sn_recording_edit(recording, r->frame != NULL ? r->frame[at] : at);
    for (int i = 0; i < r->info.nmarker; i++, row += 3) {
        bool cut = r->doubtful && at == r->nrow - 1 && i == r->info.nmarker - 1;
        bool good = read_sample(r, metres, row, &cell);
        if (cut) row[0] = row[1] = row[2] = NAN;
        if (good || cut) continue;
        if (cell.length > 0)
            return SN_TRC_FAIL(r, "'%.*s' of marker '%.40s' is no number, or one that is too large",
                               SN_WORD(cell), r->label[i]);
        return SN_TRC_FAIL(r, "marker '%.60s' has only some of its three coordinates", r->label[i]);
    }
    return SN_OK;
}

// Which rate it is, and what the user should know. Times decide against the header: files cut down
// to every n-th frame keep the old header. A time may be rounded to a millisecond.
static void decide_rate(sn_trc *r, const sn_clock *clock, double rate) {
    r->info.rate = r->rate;
    double slack = 0.02 + r->rate * 0.001 / (r->info.nframe > 1 ? r->info.nframe - 1 : 1);
    if (rate > 0 && fabs(r->rate / rate - 1) > slack) {
        r->info.rate = rate;
        if (r->rate > 0)
            sn_note(r->info.note, "the header says %g Hz, the times %g Hz: the times are believed",
                    r->rate, rate);
    }
    r->info.time_offset =
        clock->broken ? 0 : sn_clock_offset(r->info.first_frame, clock->first, r->info.rate);
}

// What else: of rows that are not as they should be.
static void tell_rows(sn_trc *r, const sn_clock *clock) {
    char *note = r->info.note, times[120];
    sn_clock_words(clock, r->info.first_frame, times, sizeof times);
    if (r->frame != NULL)
        sn_lost_rows_note(note, r->info.nframe - r->nrow, r->info.first_frame + r->first_lost);
    else if (r->nrow > 1 && times[0] != '\0')
        sn_note(note, "%s", times);
    if (r->claimed >= 0 && r->claimed != r->nrow && r->claimed != r->info.nframe)
        sn_note(note, "the header says %d frame%s, %d %s there", r->claimed, SN_S(r->claimed),
                r->nrow, r->nrow == 1 ? "is" : "are");
    if (r->jumps && r->frame == NULL) sn_note(note, "frames are not numbered one by one");
    if (r->nextra > 0)
        sn_note(note, "points without a name left out in %d frame%s", r->nextra, SN_S(r->nextra));
    if (r->doubtful)
        sn_note(note, "the last number may be cut off: its sample is taken as missing");
    if (r->nshort > 0)
        sn_note(note, "%d row%s early", r->nshort, r->nshort == 1 ? " ends" : "s end");
}

// Where numbers and times jump: which frames are not there. @param rate  theirs, where that is found
static sn_status find_lost(sn_trc *r, double *rate) {
    const size_t count = (size_t)r->nrow;
    const sn_rows start = r->rows;
    sn_lost_rows lost;
    double *number = sn_acquire(r->allocator, count * (3 * sizeof *number + sizeof *r->frame));
    if (number == NULL) return sn_fail_memory(r->error);
    r->lost_block = number;
    double *time = number + count, *step = time + count;
    int *frame = (int *)(step + count);
    for (int i = 0; sn_rows_next_filled(&r->rows, r->separator); i++)
        SN_TRY(read_head(r, &number[i], &time[i]));
    r->rows = start;
    if (!sn_lost_rows_find(time, number, r->nrow, step, frame, &lost)) return SN_OK;
    r->frame = frame;
    r->first_lost = lost.first;
    r->info.nframe = lost.total;
    *rate = lost.rate;
    return SN_OK;
}

// All frame numbers and times, to know the rate before the recording is made.
static sn_status read_times(sn_trc *r) {
    const sn_rows start = r->rows;
    sn_clock clock = {0};
    double number, time;
    for (int i = 0; sn_rows_next_filled(&r->rows, r->separator); i++) {
        SN_TRY(read_head(r, &number, &time));
        if (i == 0) r->info.first_frame = (int)number;
        if (number - r->info.first_frame != i) r->jumps = true;
        sn_clock_add(&clock, time);
    }
    r->rows = start;
    double rate = sn_clock_rate(&clock);
    if (r->jumps && !clock.broken && clock.nback == 0) SN_TRY(find_lost(r, &rate));
    decide_rate(r, &clock, rate);
    tell_rows(r, &clock);
    return SN_OK;
}

static sn_status read_file(sn_trc *r, sn_recording **out) {
    SN_TRY(sn_trc_read_header(r));
    SN_TRY(sn_rows_find_commas(r->rows, r->separator, NULL, INT_MAX, &r->comma, r->error));
    if (r->comma) sn_note(r->info.note, "numbers have decimal commas");
    SN_TRY(measure(r));
    SN_TRY(read_times(r));
    sn_status status = sn_recording_create(&r->info, r->label, r->allocator, out, NULL);
    if (status != SN_OK) return sn_fail(r->error, status, 0, "%s", sn_status_text(status));
    double number, time;
    for (int i = 0; sn_rows_next_filled(&r->rows, r->separator); i++) {
        SN_TRY(read_head(r, &number, &time));
        SN_TRY(read_samples(r, i, *out));
    }
    if (r->nzero > 0)
        sn_note(sn_recording_note(*out), "%d sample%s at 0 0 0 taken as missing", r->nzero,
                SN_S(r->nzero));
    sn_drop_placeholders(*out);
    return SN_OK;
}

sn_status sn_trc_read(const char *text, size_t length, const sn_allocator *allocator,
                      sn_recording **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    if (length > 0) SN_NEED(text, error);
    SN_NEED(out, error);
    if (text == NULL) text = "";
    sn_trc r = {.allocator = allocator,
                .error = error,
                .length = length,
                .rows = sn_rows_begin(text, length, false),
                .claimed = -1};
    sn_status status = read_file(&r, out);
    sn_release(allocator, r.lost_block);
    sn_release(allocator, r.block);
    if (status != SN_OK) {
        sn_recording_destroy(*out);
        *out = NULL;
    }
    return status;
}
