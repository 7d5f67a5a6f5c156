// SPDX-License-Identifier: MIT
// The TSV files of Qualisys' QTM: lines of a key and its values, then rows, all parted by tabs.
//
//   NO_OF_FRAMES     500
//   NO_OF_MARKERS    2
//   FREQUENCY        100
//   DATA_INCLUDED    3D
//   MARKER_NAMES     LFHD  C7                    and others, in any order
//   Frame  Time  LFHD X  LFHD Y  LFHD Z ...      or not
//   1  0.00  512.1 ...                           frame and time, or not
//
// Lengths are millimetres. A marker that was not seen is 0 0 0, or empty.
#include <string.h>

#include "files/csv/csv.h"

typedef struct header {
    sn_rows names;           // behind the word MARKER_NAMES; start NULL when there are none
    double nframe, nmarker;  // as stated, -1 for nothing
} header;

bool sn_csv_is_qtm(const sn_rows *rows) {
    sn_rows copy = *rows;
    sn_word key, value;
    (void)sn_rows_cell(&copy, '\t', &key);
    (void)sn_rows_cell(&copy, '\t', &value);
    return sn_word_is(key, "no_of_frames") && value.length > 0;
}

// A key has capitals, digits and underscores, one at least.
static bool is_key(sn_word word) {
    bool underscore = false;
    for (size_t i = 0; i < word.length; i++) {
        char c = word.text[i];
        underscore = underscore || c == '_';
        if (c != '_' && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9')) return false;
    }
    return underscore || sn_word_is(word, "frequency") || sn_word_is(word, "description") ||
           sn_word_is(word, "event");
}

// Read keys up to the first line that has none; csv->rows stays at the line before that.
static sn_status read_keys(sn_csv *csv, header *h) {
    sn_word key, value;
    for (sn_rows rows = csv->rows;;) {
        csv->rows = rows;
        sn_rows cells = rows;
        (void)sn_rows_cell(&cells, '\t', &key);
        sn_rows values = cells;
        (void)sn_rows_cell(&cells, '\t', &value);
        if (sn_word_is(key, "marker_names")) h->names = values;
        if (sn_word_is(key, "no_of_frames")) (void)sn_word_number(value, &h->nframe);
        if (sn_word_is(key, "no_of_markers")) (void)sn_word_number(value, &h->nmarker);
        if (sn_word_is(key, "frequency")) (void)sn_word_number(value, &csv->info.rate);
        if (sn_word_is(key, "data_included") && !sn_word_is(value, "3d"))
            return SN_CSV_FAIL(csv, "the file holds '%.*s': only 3D positions are read",
                               SN_WORD(value));
        if (!sn_rows_next(&rows)) break;
        cells = rows;
        (void)sn_rows_cell(&cells, '\t', &key);
        if (!is_key(key)) break;
    }
    if (h->names.start == NULL) return SN_CSV_FAIL(csv, "a QTM file needs a line MARKER_NAMES");
    return SN_OK;
}

// Whether frame and time stand before the first marker: a row of names says so, and is passed over;
// without one the number of cells does.
static sn_status find_columns(sn_csv *csv, int nmarker, bool *frame, bool *time) {
    sn_rows rows = csv->rows;
    sn_word first, second;
    double number;
    *frame = *time = false;
    if (!sn_rows_next_filled(&rows, '\t')) return SN_CSV_FAIL(csv, "no rows follow the header");
    sn_rows cells = rows;
    (void)sn_rows_cell(&cells, '\t', &first);
    (void)sn_rows_cell(&cells, '\t', &second);
    if (!sn_cell_number(first, true, &number)) {
        *frame = sn_word_is(first, "frame");
        *time = sn_word_is(*frame ? second : first, "time");
        csv->rows = rows;
        return SN_OK;
    }
    // one more may be a tab at the end of the line
    int more = -3 * nmarker;
    while (sn_rows_cell(&rows, '\t', &first)) more++;
    *frame = *time = more >= 2;
    return SN_OK;
}

static sn_status add_columns(sn_csv *csv, header *h, int nmarker, bool frame, bool time) {
    int cell = 0;
    if (frame) SN_TRY(sn_csv_add(csv, cell++, (sn_word){"Frame", 5}, ""));
    if (time) SN_TRY(sn_csv_add(csv, cell++, (sn_word){"Time", 4}, ""));
    for (int i = 0; i < nmarker; i++) {
        sn_word name;
        (void)sn_rows_cell(&h->names, '\t', &name);
        for (int c = 0; c < 3; c++)
            SN_TRY(sn_csv_add(csv, cell++, name, (const char[]){'.', "XYZ"[c], '\0'}));
    }
    return SN_OK;
}

sn_status sn_csv_read_qtm(sn_csv *csv) {
    header h = {.nframe = -1, .nmarker = -1};
    bool frame, time;
    csv->separator = '\t';
    csv->zeros = true;
    memcpy(csv->info.unit, "mm", 3);
    SN_TRY(read_keys(csv, &h));
    int nmarker = sn_rows_count(&h.names, '\t');
    if (nmarker == 0) return SN_CSV_FAIL(csv, "MARKER_NAMES names no marker");
    if (h.nmarker >= 0 && h.nmarker != nmarker)
        sn_note(csv->info.note, "NO_OF_MARKERS is %.0f, but %d are named", h.nmarker, nmarker);
    SN_TRY(find_columns(csv, nmarker, &frame, &time));
    size_t letters = 3 * ((size_t)(h.names.stop - h.names.start) + 3 * (size_t)nmarker) + 16;
    SN_TRY(sn_csv_place(csv, 3 * nmarker + frame + time, letters));
    csv->claimed = h.nframe;
    return add_columns(csv, &h, nmarker, frame, time);
}
