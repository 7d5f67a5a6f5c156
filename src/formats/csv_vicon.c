// SPDX-License-Identifier: MIT
// The ASCII files of Vicon's Nexus: sections one after the other, parted by empty lines.
//
//   Trajectories                                 or Devices, Joints, Segments, Model Outputs, ...
//   100                                          frames per second; older ones: 100,Hz
//   ,,Ann:LFHD,,,Ann:RFHD,,                      the subject and the marker over its x
//   Frame,Sub Frame,X,Y,Z,X,Y,Z                  older ones: Field #,X,Y,Z,...
//   ,,mm,mm,mm,mm,mm,mm                          missing in older ones
//   1,0,512.1,...                                empty cells where a marker was not seen
//
// The trajectories are taken; what other sections there are is noted.
#include <string.h>

#include "formats/csv.h"

static const char *const sections[] = {"trajectories",  "devices",      "joints",     "segments",
                                       "model outputs", "events",       "analog",     "analog ev",
                                       "forces",        "force plates", "forceplates"};
enum { NSECTION = sizeof sections / sizeof sections[0] };

// Which section begins with this line, its name alone in it; -1 for none.
static int section_of(const sn_rows *rows) {
    static const char separators[] = ",;\t";
    for (int i = 0; separators[i] != '\0'; i++) {
        sn_rows copy = *rows;
        sn_word name;
        if (sn_rows_count(rows, separators[i]) != 1) continue;
        (void)sn_rows_cell(&copy, separators[i], &name);
        for (int k = 0; k < NSECTION; k++)
            if (sn_word_is(name, sections[k])) return k;
    }
    return -1;
}

static bool begins_with_number(const sn_rows *rows) {
    sn_rows copy = *rows;
    sn_word cell;
    double number;
    (void)sn_rows_cell(&copy, sn_csv_separator(rows), &cell);
    return cell.length > 0 && sn_cell_number(cell, true, &number);
}

// A column may be named like a section; but then all lines that follow begin with a number.
bool sn_csv_is_vicon(const sn_rows *rows) {
    sn_rows next = *rows;
    return section_of(rows) >= 0 && sn_rows_next(&next) && begins_with_number(&next) &&
           sn_rows_next(&next) && !begins_with_number(&next);
}

static bool is_empty(const sn_rows *rows) {
    for (const char *c = rows->start; c < rows->stop; c++)
        if (strchr(" \t,;\"", *c) == NULL || *c == '\0') return false;
    return true;
}

// Go to the line of the trajectories, and note what else there is.
static sn_status find_section(sn_csv *csv) {
    sn_rows rows = csv->rows, found = {0};
    char others[200] = "";
    bool begins = true;  // a section may begin in this line
    do {
        int section = begins ? section_of(&rows) : -1;
        begins = is_empty(&rows);
        if (section == 0 && found.start == NULL) found = rows;
        if (section <= 0 || strlen(others) + strlen(sections[section]) + 3 > sizeof others)
            continue;
        if (others[0] != '\0') strcat(others, ", ");
        strcat(others, sections[section]);
    } while (sn_rows_next(&rows));
    if (found.start == NULL)
        return SN_CSV_FAIL(csv, "a file of Vicon without its section Trajectories; it has: %s",
                           others);
    if (others[0] != '\0') sn_note(csv->info.note, "other sections left out: %s", others);
    csv->rows = found;
    return SN_OK;
}

// The text ends where the section does.
static void cut_section(sn_csv *csv) {
    sn_rows rows = csv->rows;
    while (sn_rows_next(&rows))
        if (is_empty(&rows) || section_of(&rows) >= 0) {
            csv->rows.end = rows.start;
            return;
        }
}

static sn_status next_line(sn_csv *csv, const char *what) {
    if (sn_rows_next_filled(&csv->rows, ',')) return SN_OK;
    return SN_CSV_FAIL(csv, "the section Trajectories ends before the line of %s", what);
}

// The units of length under the axes, where this is a row of units.
static bool read_units(sn_csv *csv, sn_rows rows) {
    sn_word cell;
    double number;
    (void)sn_rows_cell(&rows, csv->separator, &cell);
    if (cell.length > 0 && sn_cell_number(cell, true, &number)) return false;
    for (int i = 1; sn_rows_cell(&rows, csv->separator, &cell); i++)
        if (i < csv->ncell && csv->to[i] >= 0 && cell.length > 0) (void)sn_csv_unit(csv, cell);
    return true;
}

// A column for each X, Y and Z that stands under a name.
static sn_status add_columns(sn_csv *csv, sn_rows names, sn_rows axes) {
    sn_word cell, name = {"", 0};
    int nother = 0, last = 2;
    for (int i = 0; i < csv->ncell; i++) {
        sn_word axis;
        if (!sn_rows_cell(&names, csv->separator, &cell)) cell = (sn_word){"", 0};
        (void)sn_rows_cell(&axes, csv->separator, &axis);
        if (cell.length > 0) name = cell;
        if (i == 0) {
            SN_TRY(sn_csv_add(csv, i, (sn_word){"Frame", 5}, ""));
            continue;
        }
        int which = -1;
        for (int c = 0; c < 3; c++)
            if (sn_word_is(axis, (const char[]){"xyz"[c], '\0'})) which = c;
        // x, y and z of a name in turn, each once
        if (which >= 0 && (name.length == 0 || which != (last + 1) % 3))
            return SN_CSV_FAIL(csv, "column %d is not the x, y or z in turn of a named marker",
                               i + 1);
        if (which >= 0) last = which;
        if (which >= 0)
            SN_TRY(sn_csv_add(csv, i, name, (const char[]){'.', "XYZ"[which], '\0'}));
        else if (!sn_word_is(axis, "sub frame"))
            nother++;
        if (which == 2) name = (sn_word){"", 0};
    }
    if (nother > 0) sn_note(csv->info.note, "%d column%s left out", nother, SN_S(nother));
    return SN_OK;
}

sn_status sn_csv_read_vicon(sn_csv *csv) {
    sn_word cell;
    SN_TRY(find_section(csv));
    cut_section(csv);
    SN_TRY(next_line(csv, "the frame rate"));
    sn_rows rate = csv->rows;
    (void)sn_rows_cell(&rate, sn_csv_separator(&rate), &cell);
    if (!sn_cell_number(cell, true, &csv->info.rate) || !(csv->info.rate > 0))
        return SN_CSV_FAIL(csv, "'%.*s' is no frame rate", SN_WORD(cell));
    SN_TRY(next_line(csv, "marker names"));
    sn_rows names = csv->rows;
    SN_TRY(next_line(csv, "axes (Frame,Sub Frame,X,Y,Z,...)"));
    sn_rows axes = csv->rows;
    csv->separator = sn_csv_separator(&axes);
    (void)sn_rows_cell(&csv->rows, csv->separator, &cell);
    if (!sn_word_is(cell, "frame") && !sn_word_is(cell, "field #") && !sn_word_is(cell, "field"))
        return SN_CSV_FAIL(csv, "the row of axes must begin with Frame, not '%.*s'", SN_WORD(cell));
    int ncell = sn_rows_count(&axes, csv->separator);
    // a name stands over three columns at most
    size_t letters = 3 * ((size_t)(names.stop - names.start) + (size_t)ncell) + 8;
    SN_TRY(sn_csv_place(csv, ncell, letters));
    SN_TRY(add_columns(csv, names, axes));
    if (csv->info.ncolumn == 1) return SN_CSV_FAIL(csv, "no column is a marker's x, y or z");
    sn_rows next = csv->rows;
    if (sn_rows_next_filled(&next, csv->separator) && read_units(csv, next)) csv->rows = next;
    if (csv->mixed) return SN_CSV_FAIL(csv, "lengths are in different units");
    return SN_OK;
}
