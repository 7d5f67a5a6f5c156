// SPDX-License-Identifier: MIT
// The header of CSV files that OptiTrack's Motive writes.
//
//   Format Version,1.23,Take Name,walk,...,Length Units,Meters,...
//   (an empty line)
//   ,Type,Marker,Marker,Marker,Bone,...
//   ,Name,LFHD,LFHD,LFHD,Hip,...
//   ,ID,...                                     and, or not, other such rows
//   ,,Position,Position,Position,Rotation,...
//   Frame,Time (Seconds),X,Y,Z,X,...
//
// Older ones leave the words Type, Name and ID out: the rows stand in this order. Of the columns the
// positions of type Marker are taken; where there are none, those of every type that ends with
// "Marker" (of rigid bodies, of bones).
#include <string.h>

#include "files/csv/csv.h"

typedef struct header {
    sn_rows type, name, kind, axis;  // at their lines
} header;

bool sn_csv_is_motive(const sn_rows *rows) {
    sn_rows copy = *rows;
    sn_word cell;
    // in quotes it is the name of a column
    const bool quoted = copy.cell != NULL && copy.cell < copy.stop && *copy.cell == '"';
    (void)sn_rows_cell(&copy, ',', &cell);
    return !quoted && sn_word_is(cell, "format version");
}

// Keys and values in turn.
static sn_status read_facts(sn_csv *csv) {
    sn_word key, value;
    while (sn_rows_cell(&csv->rows, ',', &key)) {
        (void)sn_rows_cell(&csv->rows, ',', &value);
        if (sn_word_is(key, "take name") &&
            !sn_word_copy(value, csv->info.name, sizeof csv->info.name))
            return SN_CSV_FAIL(csv, "the name of the take is longer than 255 bytes");
        double rate;
        if (sn_word_is(key, "export frame rate") && sn_word_number(value, &rate) && rate > 0)
            csv->info.rate = rate;
        if (sn_word_is(key, "length units") && !sn_csv_unit(csv, value))
            return SN_CSV_FAIL(csv, "'%.*s' is no unit of length", SN_WORD(value));
    }
    return SN_OK;
}

static sn_status find_rows(sn_csv *csv, header *h) {
    int count = 0;
    while (sn_rows_next_filled(&csv->rows, ',')) {
        sn_rows row = csv->rows;
        sn_word first, second;
        (void)sn_rows_cell(&row, ',', &first);
        (void)sn_rows_cell(&row, ',', &second);
        if (sn_word_is(first, "frame")) {
            h->axis = row;
            if (count >= 3) return SN_OK;
            return SN_CSV_FAIL(csv, "rows of types, names and kinds must stand before this one");
        }
        if (first.length > 0) break;
        if (count == 0 || sn_word_is(second, "type")) h->type = row;
        if (count == 1 || sn_word_is(second, "name")) h->name = row;
        h->kind = row;  // the last of them
        count++;
    }
    return SN_CSV_FAIL(csv, "the header of Motive must end with a row that begins with Frame");
}

static bool ends_with_marker(sn_word type) {
    return type.length >= 6 && sn_word_is((sn_word){type.text + type.length - 6, 6}, "marker");
}

// Add the columns that are positions of markers; of type "Marker" only, or of all such types.
static sn_status add_columns(sn_csv *csv, header h, bool strict, int *nother) {
    sn_word type, name, kind, axis;
    *nother = 0;
    for (int i = 2; i < csv->ncell; i++) {
        (void)sn_rows_cell(&h.type, ',', &type);
        (void)sn_rows_cell(&h.name, ',', &name);
        (void)sn_rows_cell(&h.kind, ',', &kind);
        (void)sn_rows_cell(&h.axis, ',', &axis);
        bool marker = strict ? sn_word_is(type, "marker") : ends_with_marker(type);
        bool taken = false;
        for (int c = 0; c < 3 && marker && sn_word_is(kind, "position"); c++) {
            const char small[2] = {"xyz"[c], '\0'}, suffix[3] = {'.', "XYZ"[c], '\0'};
            if (!sn_word_is(axis, small)) continue;
            SN_TRY(sn_csv_add(csv, i, name, suffix));
            taken = true;
        }
        *nother += !taken;
    }
    return SN_OK;
}

sn_status sn_csv_read_motive(sn_csv *csv) {
    header h = {.type = csv->rows};
    int nother;
    csv->separator = ',';
    SN_TRY(read_facts(csv));
    SN_TRY(find_rows(csv, &h));
    int ncell = sn_rows_count(&csv->rows, ',');
    if (ncell < 2) return SN_CSV_FAIL(csv, "the frame and the time are needed");
    size_t letters = (size_t)(h.name.stop - h.name.start) + 3 * (size_t)ncell + 16;
    SN_TRY(sn_csv_place(csv, ncell, letters));
    SN_TRY(sn_csv_add(csv, 0, (sn_word){"Frame", 5}, ""));
    SN_TRY(sn_csv_add(csv, 1, (sn_word){"Time", 4}, ""));
    SN_TRY(add_columns(csv, h, true, &nother));
    if (csv->info.ncolumn == 2) SN_TRY(add_columns(csv, h, false, &nother));
    if (csv->info.ncolumn == 2)
        return SN_CSV_FAIL(csv, "none of the %d columns is a marker's position", nother);
    if (nother > 0)
        sn_note(csv->info.note, "%d column%s no marker's position left out", nother,
                nother == 1 ? " that is" : "s that are");
    return SN_OK;
}
