// SPDX-License-Identifier: MIT
// The columns of a CSV file, from whichever header it has.
#pragma once

#include "files/cells.h"

/// A CSV file being read.
typedef struct sn_csv {
    const sn_allocator *allocator;
    sn_error *error;
    sn_rows rows;  ///< at the last line of the header, once that is read
    sn_table_info info;
    char separator;
    bool comma;         ///< decimal commas
    bool mixed;         ///< lengths are in several units
    bool zeros;         ///< a marker at 0 0 0 is missing
    double claimed;     ///< rows that the header states, -1 for nothing
    double seconds;     ///< in one unit of the time column
    int ncell;          ///< columns of the file
    int *to;            ///< ncell: the table's column, -1 for one that is left out
    const char **name;  ///< ncell, of which ncolumn are used
    char *pool, *pool_end;
    void *block;
} sn_csv;

#define SN_CSV_FAIL(csv, ...) sn_fail((csv)->error, SN_ERR_PARSE, (csv)->rows.line, __VA_ARGS__)

/// Room for the names of `ncell` columns with `letters` bytes in all.
sn_status sn_csv_place(sn_csv *csv, int ncell, size_t letters);

/// The next column of the table: `name`, of which doubled quotes are made single, and `suffix`.
sn_status sn_csv_add(sn_csv *csv, int cell, sn_word name, const char *suffix);

/// Take note of a unit, "mm" or "s"; false when it is neither.
bool sn_csv_unit(sn_csv *csv, sn_word unit);

/// The separator that the line has most of, outside quotes.
char sn_csv_separator(const sn_rows *rows);

/// Whether the line is the first of a file that Motive wrote.
bool sn_csv_is_motive(const sn_rows *rows);
/// Read the header of such a file, of which `rows` is at the first line.
sn_status sn_csv_read_motive(sn_csv *csv);

/// Whether this line names markers and the next one their axes.
bool sn_csv_is_axes(const sn_rows *rows);
/// Read such a header, of which `names` is at the first line and csv->rows at the second.
sn_status sn_csv_read_axes(sn_csv *csv, sn_rows names);

/// Whether one of the sections of a file of Vicon's Nexus begins here.
bool sn_csv_is_vicon(const sn_rows *rows);
sn_status sn_csv_read_vicon(sn_csv *csv);

/// The same for Qualisys' QTM.
bool sn_csv_is_qtm(const sn_rows *rows);
sn_status sn_csv_read_qtm(sn_csv *csv);

/// sn_csv_read_table(), then sn_recording_from_table() with the unit that the file states.
sn_status sn_csv_read_recording(const char *text, size_t length, const sn_allocator *allocator,
                                sn_recording **out, sn_error *error);
