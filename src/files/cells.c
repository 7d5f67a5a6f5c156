// SPDX-License-Identifier: MIT
#include "files/cells.h"

#include <limits.h>
#include <math.h>
#include <string.h>

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }

sn_rows sn_rows_begin(const char *text, size_t length, bool quotes) {
    if (text == NULL) text = "", length = 0;
    // the mark that some editors put before UTF-8
    size_t skip = length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    return (sn_rows){.next = text + skip, .end = text + length, .quotes = quotes};
}

bool sn_rows_next(sn_rows *rows) {
    rows->cell = NULL;
    rows->broken = false;
    if (rows->next == rows->end) return false;
    if (rows->line < INT_MAX) rows->line++;
    const char *at = rows->next;
    rows->start = rows->cell = at;
    while (at < rows->end && *at != '\n' && *at != '\r') at++;
    rows->stop = at;
    if (at < rows->end) at += *at == '\r' && at + 1 < rows->end && at[1] == '\n' ? 2 : 1;
    rows->next = at;
    return true;
}

bool sn_rows_next_filled(sn_rows *rows, char separator) {
    while (sn_rows_next(rows))
        for (const char *c = rows->start; c < rows->stop; c++)
            if (!is_blank(*c) && *c != separator) return true;
    return false;
}

bool sn_rows_ended(const sn_rows *rows) { return rows->stop < rows->end; }

sn_word sn_word_trim(sn_word word) {
    while (word.length > 0 && is_blank(word.text[0])) word.text++, word.length--;
    while (word.length > 0 && is_blank(word.text[word.length - 1])) word.length--;
    return word;
}

// From the byte after an opening quote: the text inside, and `at` moved behind the closing one.
static sn_word quoted(sn_rows *rows, const char **at) {
    const char *start = *at, *c = start;
    while (c < rows->stop && (*c != '"' || (c + 1 < rows->stop && c[1] == '"')))
        c += *c == '"' ? 2 : 1;
    if (c >= rows->stop) {
        rows->broken = true;
        *at = rows->stop;
        return (sn_word){start, (size_t)(rows->stop - start)};
    }
    *at = c + 1;
    return (sn_word){start, (size_t)(c - start)};
}

bool sn_rows_cell(sn_rows *rows, char separator, sn_word *out) {
    *out = (sn_word){"", 0};
    const char *at = rows->cell;
    if (at == NULL) return false;
    while (at < rows->stop && is_blank(*at) && *at != separator) at++;
    if (separator == SN_BLANKS) {
        while (at < rows->stop && is_blank(*at)) at++;
        if (at == rows->stop) {
            rows->cell = NULL;
            return false;
        }
    }
    bool in_quotes = rows->quotes && at < rows->stop && *at == '"';
    if (in_quotes) {
        at++;
        *out = quoted(rows, &at);
    }
    const char *start = at;
    while (at < rows->stop && *at != separator && !(separator == SN_BLANKS && is_blank(*at))) at++;
    sn_word rest = sn_word_trim((sn_word){start, (size_t)(at - start)});
    if (!in_quotes) *out = rest;
    if (in_quotes && rest.length > 0) rows->broken = true;
    rows->cell = at < rows->stop ? at + 1 : NULL;
    return true;
}

int sn_rows_count(const sn_rows *rows, char separator) {
    sn_rows copy = *rows;
    sn_word cell;
    int count = 0;
    for (int i = 1; sn_rows_cell(&copy, separator, &cell); i++)
        if (cell.length > 0) count = i;
    return count;
}

bool sn_word_missing(sn_word word) {
    // those with # or brackets are how one C library prints it
    static const char *const spellings[] = {"",          "nan",     "-nan",    "+nan",
                                            "-nan(ind)", "1.#qnan", "-1.#ind", "null"};
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++)
        if (sn_word_is(word, spellings[i])) return true;
    return false;
}

bool sn_cell_number(sn_word word, bool comma, double *out) {
    *out = NAN;
    if (sn_word_missing(word)) return true;
    const char *at = comma ? memchr(word.text, ',', word.length) : NULL;
    if (at == NULL) return sn_word_number(word, out);
    char copy[64];
    if (!sn_word_copy(word, copy, sizeof copy)) return false;
    copy[at - word.text] = '.';
    return sn_word_number((sn_word){copy, word.length}, out);
}

sn_status sn_rows_find_commas(sn_rows rows, char separator, const int *to, int ncell, bool *out,
                              sn_error *error) {
    int with_point = 0, with_comma = 0;
    sn_word cell;
    *out = false;
    while (sn_rows_next_filled(&rows, separator)) {
        for (int i = 0; i < ncell && sn_rows_cell(&rows, separator, &cell); i++) {
            if ((to != NULL && to[i] < 0) || cell.length == 0) continue;
            if (memchr(cell.text, '.', cell.length) != NULL) with_point = rows.line;
            if (memchr(cell.text, ',', cell.length) != NULL) with_comma = rows.line;
            if (with_comma > 0 && with_point > 0)
                return sn_fail(error, SN_ERR_PARSE, rows.line,
                               "numbers have commas (line %d) and points (line %d): which of them "
                               "is the decimal point cannot be told",
                               with_comma, with_point);
        }
    }
    *out = with_comma > 0;
    return SN_OK;
}

sn_status sn_rows_check_end(double claimed, int nrow, bool ended, int line, sn_error *error) {
    if (nrow >= claimed || ended) return SN_OK;
    return sn_fail(
        error, SN_ERR_PARSE, line,
        "the file states %.0f rows and ends inside the line of number %d: it was cut off "
        "(end that line to read what is there)",
        claimed, nrow);
}

sn_status sn_grid_measure(const sn_grid *grid, sn_rows rows, double claimed, int *nrow,
                          sn_error *error) {
    bool ended = true;
    sn_word before = {"", 0};
    *nrow = 0;
    while (sn_rows_next_filled(&rows, grid->separator)) {
        int count = 0, filled = 0;
        sn_word cell;
        while (sn_rows_cell(&rows, grid->separator, &cell)) {
            count++;
            if (cell.length > 0) filled = count;
        }
        if (rows.broken)
            return sn_fail(error, SN_ERR_PARSE, rows.line, "a quoted cell has no end in its line");
        if (count < grid->ncolumn || filled > grid->ncolumn)
            return sn_fail(error, SN_ERR_PARSE, rows.line,
                           "this row has %d cells, but the table has %d columns",
                           count < grid->ncolumn ? count : filled, grid->ncolumn);
        if (*nrow == INT_MAX) return sn_fail(error, SN_ERR_SIZE, rows.line, "too many rows");
        ++*nrow;
        sn_word line = {rows.start, (size_t)(rows.stop - rows.start)};
        ended = sn_rows_ended(&rows) || sn_line_whole(line, before);
        before = line;
    }
    return sn_rows_check_end(claimed, *nrow, ended, rows.line, error);
}

sn_status sn_grid_read(const sn_grid *grid, sn_rows rows, sn_table *table, sn_error *error) {
    for (int i = 0; sn_rows_next_filled(&rows, grid->separator); i++) {
        double *row = sn_table_edit(table, i);
        for (int k = 0; k < grid->ncolumn; k++) {
            sn_word cell;
            (void)sn_rows_cell(&rows, grid->separator, &cell);
            int to = grid->to == NULL ? k : grid->to[k];
            if (to < 0 || sn_cell_number(cell, grid->comma, &row[to])) continue;
            return sn_fail(error, SN_ERR_PARSE, rows.line,
                           "'%.*s' in column %d (%s) is no number, or one that is too large",
                           SN_WORD(cell), k + 1, sn_table_column(table, to));
        }
    }
    return SN_OK;
}
