// SPDX-License-Identifier: MIT
// Headers of two rows: the markers, each over its three axes, and, or not, a row of units.
//
//   ,,LFHD,,,C7,,                  or    Frame,Time,LFHD,,,C7,,
//   Frame,Time,X,Y,Z,X,Y,Z         or    ,,X,Y,Z,X,Y,Z
//   ,,mm,mm,mm,mm,mm,mm
//
// The columns of frame and time and those of the axes are taken; others are left out and noted.
#include "files/csv/csv.h"

// 0 1 2 for x y z, else -1.
static int axis_of(sn_word word) {
    if (word.length != 1) return -1;
    char c = word.text[0] >= 'a' ? (char)(word.text[0] - 'a' + 'A') : word.text[0];
    return c >= 'X' && c <= 'Z' ? c - 'X' : -1;
}

bool sn_csv_is_axes(const sn_rows *rows) {
    sn_rows axes = *rows;
    sn_word cell;
    int count = 0;
    if (!sn_rows_next(&axes)) return false;
    char separator = sn_csv_separator(&axes);
    while (sn_rows_cell(&axes, separator, &cell)) {
        int axis = axis_of(cell);
        if (axis >= 0 && axis != count % 3) return false;
        count += axis >= 0;
    }
    return count >= 3 && count % 3 == 0;
}

// The units of length under the axes, where this is a row of units.
static bool read_units(sn_csv *csv, sn_rows rows) {
    sn_word cell;
    double number;
    for (int i = 0; sn_rows_cell(&rows, csv->separator, &cell); i++) {
        if (cell.length == 0) continue;
        if (sn_cell_number(cell, true, &number)) return false;
        double seconds = csv->seconds;
        if (i < csv->ncell && csv->to[i] >= 0) (void)sn_csv_unit(csv, cell);
        if (i >= csv->ncell || csv->to[i] != csv->info.time) csv->seconds = seconds;
    }
    return true;
}

// What a column that is no axis is called, in either row; empty for one to leave out.
static sn_word role_of(sn_word above, sn_word below) {
    sn_word name = below.length > 0 ? below : above;
    if (sn_word_is(name, "frame") || sn_word_is(name, "frame#") || sn_word_is(name, "field #") ||
        sn_word_is(name, "field"))
        return (sn_word){"Frame", 5};
    if (name.length >= 4 && sn_word_is((sn_word){name.text, 4}, "time"))
        return (sn_word){"Time", 4};
    return (sn_word){"", 0};
}

static sn_status add_columns(sn_csv *csv, sn_rows names, sn_rows axes) {
    sn_word above, below, name = {"", 0};
    int nother = 0, last = 2;
    for (int i = 0; i < csv->ncell; i++) {
        (void)sn_rows_cell(&names, csv->separator, &above);
        (void)sn_rows_cell(&axes, csv->separator, &below);
        int axis = axis_of(below);
        if (above.length > 0) name = above;
        if (axis >= 0) {
            // x, y and z of a name in turn, each once
            if (name.length == 0 || axis != (last + 1) % 3)
                return SN_CSV_FAIL(csv, "column %d is not the x, y or z in turn of a named marker",
                                   i + 1);
            SN_TRY(sn_csv_add(csv, i, name, (const char[]){'.', "XYZ"[axis], '\0'}));
            last = axis;
            if (axis == 2) name = (sn_word){"", 0};
            continue;
        }
        sn_word role = role_of(above, below);
        if (role.length > 0)
            SN_TRY(sn_csv_add(csv, i, role, ""));
        else
            nother += !sn_word_is(below, "sub frame") && above.length + below.length > 0;
    }
    int taken = csv->info.ncolumn - (csv->info.frame >= 0) - (csv->info.time >= 0);
    if (taken == 0) return SN_CSV_FAIL(csv, "no column is a marker's x, y or z");
    if (nother > 0) sn_note(csv->info.note, "%d column%s left out", nother, SN_S(nother));
    return SN_OK;
}

sn_status sn_csv_read_axes(sn_csv *csv, sn_rows names) {
    sn_rows axes = csv->rows;
    csv->separator = sn_csv_separator(&axes);
    int ncell = sn_rows_count(&axes, csv->separator);
    // a name stands over three columns at most
    size_t letters = 3 * ((size_t)(names.stop - names.start) + (size_t)ncell) + 16;
    SN_TRY(sn_csv_place(csv, ncell, letters));
    SN_TRY(add_columns(csv, names, axes));
    sn_rows next = csv->rows;
    if (sn_rows_next_filled(&next, csv->separator) && read_units(csv, next)) csv->rows = next;
    if (csv->mixed) return SN_CSV_FAIL(csv, "lengths are in different units");
    return SN_OK;
}
