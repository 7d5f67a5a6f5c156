// SPDX-License-Identifier: MIT
// Text as rows of cells, each row with its line's number. Lines end with LF, CRLF or CR; the last
// one needs no end. Nothing is copied.
#pragma once

#include "files/lines.h"
#include "files/note.h"
#include "sinew/files.h"

/// The cells are parted by runs of blanks, not by single separators.
#define SN_BLANKS ' '

typedef struct sn_rows {
    const char *start, *stop;  ///< the line without its end
    const char *next, *end;    ///< the next line; the end of the text
    const char *cell;          ///< what is left of the line, NULL for nothing
    int line;                  ///< 1-based; 0 before the first
    bool quotes;               ///< cells may stand in double quotes
    bool broken;               ///< a quote in this line has no end, or something follows it
} sn_rows;

sn_rows sn_rows_begin(const char *text, size_t length, bool quotes);

/// Go to the next line; false at the end of the text.
bool sn_rows_next(sn_rows *rows);
/// The same for lines that hold more than blanks and `separator`.
bool sn_rows_next_filled(sn_rows *rows, char separator);
/// Whether the line has its end, and is not just where the text stops.
bool sn_rows_ended(const sn_rows *rows);

/// Take the next cell, without blanks or quotes around it; false, and an empty one, when there is
/// none. Doubled quotes inside quotes stay doubled.
bool sn_rows_cell(sn_rows *rows, char separator, sn_word *out);
/// Cells of the line up to the last that is not empty.
int sn_rows_count(const sn_rows *rows, char separator);

/// The word without blanks around it.
sn_word sn_word_trim(sn_word word);
/// Whether it is how a missing number is written: nothing, or "nan" in one of its spellings.
bool sn_word_missing(sn_word word);
/// A number as sn_word_number(), or NaN for a missing one.
/// @param comma  the decimal point is a comma
bool sn_cell_number(sn_word word, bool comma, double *out);

/// Whether the numbers of the rows that follow have decimal commas. Both commas and points are an
/// error.
/// @param to     cells to leave out are negative there; NULL for none
/// @param ncell  of a row are looked at
sn_status sn_rows_find_commas(sn_rows rows, char separator, const int *to, int ncell, bool *out,
                              sn_error *error);

/// A block of rows that all have the same number of cells.
typedef struct sn_grid {
    char separator;
    bool comma;     ///< decimal commas
    int ncolumn;    ///< of the file
    const int *to;  ///< ncolumn: the table's column, -1 to leave it out; NULL: the same
} sn_grid;

/// Count the rows that follow; one of the wrong length is an error. Empty cells after the last
/// column are let pass, and so are lines without any filled cell.
/// @param claimed  rows that the header states; with fewer a last line that was cut off is an error
///                 (sn_line_whole). -1 for nothing
sn_status sn_grid_measure(const sn_grid *grid, sn_rows rows, double claimed, int *nrow,
                          sn_error *error);
/// That error, when there is one.
sn_status sn_rows_check_end(double claimed, int nrow, bool ended, int line, sn_error *error);
/// Read them.
sn_status sn_grid_read(const sn_grid *grid, sn_rows rows, sn_table *table, sn_error *error);
