// SPDX-License-Identifier: MIT
// Reading CSV: a row of names, then rows of numbers.
//
// Before the names may stand empty lines and comments (#), of which "units=mm" and "inDegrees=no"
// are read. After them may stand a row of units. A name may end with a unit in brackets:
// "Time (s)", "LFHD.X [mm]". Cells are parted by the one of ; tab , that the row of names has most
// of. Where that is no comma, numbers may have decimal commas: all of them, then.
#include "files/csv/csv.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

sn_status sn_csv_place(sn_csv *csv, int ncell, size_t letters) {
    size_t count = (size_t)ncell;
    sn_layout layout = {0};
    for (int pass = 0; pass < 2; pass++) {
        csv->to = sn_layout_take(&layout, count, sizeof *csv->to);
        csv->name = sn_layout_take(&layout, count, sizeof *csv->name);
        csv->pool = sn_layout_take(&layout, letters, 1);
        if (pass == 1) break;
        void *start = sn_layout_acquire(&layout, csv->allocator, &csv->block);
        if (start == NULL) return sn_fail_memory(csv->error);
        layout = (sn_layout){.block = start};
    }
    csv->pool_end = csv->pool + letters;
    csv->ncell = ncell;
    for (int i = 0; i < ncell; i++) csv->to[i] = -1;
    return SN_OK;
}

// The role that a column's name gives it.
static void note_role(sn_csv *csv, const char *text, int column) {
    static const char *const times[] = {"time", "t", "seconds", "timestamp"};
    static const char *const frames[] = {"frame", "frame#", "frames", "frame number"};
    sn_word name = {text, strlen(text)};
    for (size_t i = 0; i < 4; i++) {
        if (csv->info.time < 0 && sn_word_is(name, times[i])) csv->info.time = column;
        if (csv->info.frame < 0 && sn_word_is(name, frames[i])) csv->info.frame = column;
    }
}

sn_status sn_csv_add(sn_csv *csv, int cell, sn_word name, const char *suffix) {
    char *start = csv->pool;
    int column = csv->info.ncolumn;
    size_t more = strlen(suffix);
    SN_ASSERT(csv->pool_end - csv->pool >= (ptrdiff_t)(name.length + more + 1));
    for (size_t i = 0; i < name.length; i++) {
        *csv->pool++ = name.text[i];
        if (name.text[i] == '"' && i + 1 < name.length && name.text[i + 1] == '"') i++;
    }
    memcpy(csv->pool, suffix, more + 1);
    csv->pool += more + 1;
    if (name.length == 0 || memchr(name.text, '\0', name.length) != NULL)
        return SN_CSV_FAIL(csv, "column %d has no name", cell + 1);
    csv->to[cell] = column;
    csv->name[column] = start;
    csv->info.ncolumn++;
    note_role(csv, start, column);
    return SN_OK;
}

bool sn_csv_unit(sn_csv *csv, sn_word unit) {
    static const char *const others[] = {"s",      "sec", "second", "seconds", "frame",
                                         "frames", "#",   "deg",    "degree",  "degrees"};
    char text[16];
    if (sn_word_is(unit, "ms")) {
        csv->seconds = 0.001;
        return true;
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (sn_word_is(unit, others[i])) return true;
    if (!sn_word_copy(unit, text, sizeof text) || sn_unit_metres(text) == 0) return false;
    if (csv->info.unit[0] == '\0') memcpy(csv->info.unit, text, strlen(text) + 1);
    if (sn_unit_metres(text) != sn_unit_metres(csv->info.unit)) csv->mixed = true;
    return true;
}

static sn_word without_brackets(sn_word word) {
    char last = word.length > 1 ? word.text[word.length - 1] : '\0';
    bool round = last == ')' && word.text[0] == '(', square = last == ']' && word.text[0] == '[';
    if (!round && !square) return word;
    return sn_word_trim((sn_word){word.text + 1, word.length - 2});
}

// A unit at the end of a name, taken off it; again while there is one.
static sn_word take_unit(sn_csv *csv, sn_word name) {
    for (size_t at = name.length; at > 1; at--) {
        char last = name.text[name.length - 1];
        if ((last != ')' || name.text[at - 1] != '(') && (last != ']' || name.text[at - 1] != '['))
            continue;
        sn_word unit = {name.text + at, name.length - 1 - at};
        if (!sn_csv_unit(csv, sn_word_trim(unit))) break;
        name = sn_word_trim((sn_word){name.text, at - 1});
        at = name.length + 1;
    }
    return name;
}

char sn_csv_separator(const sn_rows *rows) {
    static const char choices[3] = {';', '\t', ','};
    int count[3] = {0}, best = 2;
    bool in_quotes = false;
    for (const char *c = rows->start; c < rows->stop; c++) {
        if (*c == '"') in_quotes = !in_quotes;
        for (int i = 0; i < 3 && !in_quotes; i++) count[i] += *c == choices[i];
    }
    for (int i = 1; i >= 0; i--)
        if (count[i] > 0 && count[i] >= count[best]) best = i;
    return choices[best];
}

// "# key=value" or "# key: value"
static void read_comment(sn_csv *csv) {
    sn_word line = {csv->rows.start, (size_t)(csv->rows.stop - csv->rows.start)};
    line = sn_word_trim(line);
    size_t at = 1;
    while (at < line.length && line.text[at] != '=' && line.text[at] != ':') at++;
    if (at >= line.length) return;
    sn_word key = sn_word_trim((sn_word){line.text + 1, at - 1});
    sn_word value = sn_word_trim((sn_word){line.text + at + 1, line.length - at - 1});
    if (sn_word_is(key, "units") || sn_word_is(key, "unit")) (void)sn_csv_unit(csv, value);
    if (sn_word_is(key, "indegrees")) csv->info.in_degrees = !sn_word_is(value, "no");
}

// A row of units: not one number, nothing that is no unit.
static bool read_units_row(sn_csv *csv, sn_rows *rows) {
    sn_csv copy = *csv;
    sn_rows cells = *rows;
    sn_word cell;
    for (int i = 0; sn_rows_cell(&cells, csv->separator, &cell); i++) {
        double seconds = copy.seconds;
        if (cell.length > 0 && !sn_csv_unit(&copy, without_brackets(cell))) return false;
        if (i >= csv->ncell || csv->to[i] != csv->info.time) copy.seconds = seconds;
    }
    csv->info = copy.info;
    csv->seconds = copy.seconds;
    csv->mixed = copy.mixed;
    return true;
}

static sn_status read_names(sn_csv *csv) {
    csv->separator = sn_csv_separator(&csv->rows);
    int count = sn_rows_count(&csv->rows, csv->separator), numbers = 0;
    size_t letters = (size_t)(csv->rows.stop - csv->rows.start);
    SN_TRY(sn_csv_place(csv, count, letters + (size_t)count + 1));
    for (int i = 0; i < count; i++) {
        sn_word cell;
        double number;
        (void)sn_rows_cell(&csv->rows, csv->separator, &cell);
        double seconds = csv->seconds;
        sn_word name = take_unit(csv, cell);
        numbers += sn_cell_number(name, true, &number) && name.length > 0;
        SN_TRY(sn_csv_add(csv, i, name, ""));
        if (csv->to[i] != csv->info.time) csv->seconds = seconds;
    }
    if (csv->rows.broken) return SN_CSV_FAIL(csv, "a quoted cell has no end in its line");
    if (numbers == count)
        return SN_CSV_FAIL(csv, "the first row must name the columns, but holds only numbers");
    sn_rows next = csv->rows;
    if (sn_rows_next_filled(&next, csv->separator) && read_units_row(csv, &next)) csv->rows = next;
    if (csv->mixed) return SN_CSV_FAIL(csv, "lengths are in different units");
    return SN_OK;
}

static sn_status read_header(sn_csv *csv) {
    do {
        if (!sn_rows_next_filled(&csv->rows, ','))
            return SN_CSV_FAIL(csv, "the file holds no table");
        sn_word line = {csv->rows.start, (size_t)(csv->rows.stop - csv->rows.start)};
        if (sn_word_trim(line).text[0] != '#') break;
        read_comment(csv);
    } while (true);
    if (sn_csv_is_motive(&csv->rows)) return sn_csv_read_motive(csv);
    if (sn_csv_is_vicon(&csv->rows)) return sn_csv_read_vicon(csv);
    if (sn_csv_is_qtm(&csv->rows)) return sn_csv_read_qtm(csv);
    if (!sn_csv_is_axes(&csv->rows)) return read_names(csv);
    sn_rows names = csv->rows;
    (void)sn_rows_next(&csv->rows);
    return sn_csv_read_axes(csv, names);
}

// Markers at 0 0 0, whose columns stand side by side, become missing.
static void drop_zeros(const sn_csv *csv, sn_table *table) {
    int first = (csv->info.time >= 0) + (csv->info.frame >= 0);
    for (int i = 0; i < csv->info.nrow; i++) {
        double *row = sn_table_edit(table, i);
        for (int k = first; k + 2 < csv->info.ncolumn; k += 3)
            if (row[k] == 0 && row[k + 1] == 0 && row[k + 2] == 0)
                row[k] = row[k + 1] = row[k + 2] = NAN;
    }
}

static sn_status read_file(sn_csv *csv, sn_table **out) {
    SN_TRY(read_header(csv));
    sn_grid grid = {.separator = csv->separator, .ncolumn = csv->ncell, .to = csv->to};
    SN_TRY(sn_grid_measure(&grid, csv->rows, csv->claimed, &csv->info.nrow, csv->error));
    if (csv->info.nrow == 0) return SN_CSV_FAIL(csv, "no rows follow the names of the columns");
    if (csv->claimed >= 0 && csv->claimed != csv->info.nrow)
        sn_note(csv->info.note, "the header says %.0f rows, %d %s there", csv->claimed,
                csv->info.nrow, csv->info.nrow == 1 ? "is" : "are");
    if (csv->separator != ',')
        SN_TRY(sn_rows_find_commas(csv->rows, csv->separator, csv->to, csv->ncell, &csv->comma,
                                   csv->error));
    if (csv->comma) sn_note(csv->info.note, "numbers have decimal commas");
    grid.comma = csv->comma;
    sn_status status = sn_table_create(&csv->info, csv->name, csv->allocator, out, NULL);
    if (status != SN_OK) return sn_fail(csv->error, status, 0, "%s", sn_status_text(status));
    SN_TRY(sn_grid_read(&grid, csv->rows, *out, csv->error));
    if (csv->zeros) drop_zeros(csv, *out);
    for (int i = 0; csv->info.time >= 0 && i < csv->info.nrow; i++)
        sn_table_edit(*out, i)[csv->info.time] *= csv->seconds;
    return SN_OK;
}

sn_status sn_csv_read_table(const char *text, size_t length, const sn_allocator *allocator,
                            sn_table **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    if (length > 0) SN_NEED(text, error);
    SN_NEED(out, error);
    if (text == NULL) text = "";
    sn_csv csv = {.allocator = allocator,
                  .error = error,
                  .rows = sn_rows_begin(text, length, true),
                  .info = sn_table_info_default(),
                  .claimed = -1,
                  .seconds = 1};
    sn_status status = read_file(&csv, out);
    sn_release(allocator, csv.block);
    if (status != SN_OK) {
        sn_table_destroy(*out);
        *out = NULL;
    }
    return status;
}

sn_status sn_csv_read_recording(const char *text, size_t length, const sn_allocator *allocator,
                                sn_recording **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    if (length > 0) SN_NEED(text, error);
    SN_NEED(out, error);
    if (text == NULL) text = "";
    sn_table *table;
    SN_TRY(sn_csv_read_table(text, length, allocator, &table, error));
    sn_status status = sn_recording_from_table(table, NULL, allocator, out, error);
    sn_table_destroy(table);
    return status;
}
