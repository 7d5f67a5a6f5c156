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

#include "files/csv/csv.h"

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
    (void)sn_rows_cell(&axes, csv->separator, &cell);
    if (!sn_word_is(cell, "frame") && !sn_word_is(cell, "field #") && !sn_word_is(cell, "field"))
        return SN_CSV_FAIL(csv, "the row of axes must begin with Frame, not '%.*s'", SN_WORD(cell));
    return sn_csv_read_axes(csv, names);
}
