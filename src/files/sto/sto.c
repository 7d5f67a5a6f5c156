// SPDX-License-Identifier: MIT
// MOT and STO: a header of lines up to `endheader`, then a row of column names and the numbers.
//
// The first line is the name. A line `key=value` or `key value` states something; what is not known
// is let pass, as are lines of plain text: OpenSim writes explanations there, and SIMM's header may
// follow with keys of its own. Cells are parted by tabs, or by blanks where the row of names has no
// tab. Since version 3 a cell may be a vector "x,y,z" (DataType=Vec3) or a quaternion "w,x,y,z" (Quaternion): its
// parts become columns, NAME.x and so on, or NAME.q0 to NAME.q3.
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "files/cells.h"
#include "files/out.h"
#include "motion/clock.h"

typedef struct reading {
    const sn_allocator *allocator;
    sn_error *error;
    sn_rows rows;  // at the row of names, once the header is read
    sn_table_info info;
    char separator;
    int nrow, ncolumn;  // as the header claims, -1 for nothing
    int parts;          // numbers in a cell after the time: 1, 3 for vectors, 4 for quaternions
    int nname;          // columns of the file
    bool versioned, stated;
    const char **name;
    void *block;
} reading;

#define FAIL(r, ...) sn_fail((r)->error, SN_ERR_PARSE, (r)->rows.line, __VA_ARGS__)

static sn_status read_count(reading *r, sn_word value, int *out) {
    if (sn_word_integer(value, out) && *out >= 0) return SN_OK;
    return FAIL(r, "'%.*s' is no number of rows or columns", SN_WORD(value));
}

static sn_status read_degrees(reading *r, sn_word value) {
    r->info.in_degrees = sn_word_is(value, "yes");
    r->stated = true;
    if (r->info.in_degrees || sn_word_is(value, "no")) return SN_OK;
    return FAIL(r, "inDegrees is '%.*s', but must be yes or no", SN_WORD(value));
}

static sn_status read_key(reading *r, sn_word key, sn_word value) {
    if (sn_word_is(key, "nrows") || sn_word_is(key, "datarows"))
        return read_count(r, value, &r->nrow);
    if (sn_word_is(key, "ncolumns") || sn_word_is(key, "datacolumns"))
        return read_count(r, value, &r->ncolumn);
    if (sn_word_is(key, "indegrees")) return read_degrees(r, value);
    if (sn_word_is(key, "version")) r->versioned = true;
    // one word: "Units are S.I. units" is another line
    if ((sn_word_is(key, "units") || sn_word_is(key, "unit")) &&
        memchr(value.text, ' ', value.length) == NULL &&
        !sn_word_copy(value, r->info.unit, sizeof r->info.unit))
        return FAIL(r, "the unit '%.*s' is too long", SN_WORD(value));
    if (sn_word_is(key, "datatype")) {
        if (sn_word_is(value, "vec3")) r->parts = 3;
        if (sn_word_is(value, "quaternion")) r->parts = 4;
        if (r->parts == 1 && !sn_word_is(value, "double"))
            return FAIL(r,
                        "cells of type '%.*s' are not understood, only double, Vec3 and Quaternion",
                        SN_WORD(value));
    }
    return SN_OK;
}

static bool contains(sn_word line, const char *text) {
    size_t length = strlen(text);
    for (size_t i = 0; i + length <= line.length; i++)
        if (memcmp(line.text + i, text, length) == 0) return true;
    return false;
}

// The line cut at '=' or, without one, at the first blank.
static void split(sn_word line, sn_word *key, sn_word *value) {
    size_t at = 0;
    const char *equals = memchr(line.text, '=', line.length);
    if (equals != NULL)
        at = (size_t)(equals - line.text);
    else
        while (at < line.length && line.text[at] != ' ' && line.text[at] != '\t') at++;
    *key = sn_word_trim((sn_word){line.text, at});
    size_t rest = at < line.length ? at + 1 : at;
    *value = sn_word_trim((sn_word){line.text + rest, line.length - rest});
}

static sn_status read_header(reading *r) {
    for (bool first = true; sn_rows_next(&r->rows); first = false) {
        sn_word line = {r->rows.start, (size_t)(r->rows.stop - r->rows.start)}, key, value;
        line = sn_word_trim(line);
        if (sn_word_is(line, "endheader")) return SN_OK;
        split(line, &key, &value);
        bool named = sn_word_is(key, "name");
        bool title = first && !named && memchr(line.text, '=', line.length) == NULL;
        if ((title || named) && r->info.name[0] == '\0')
            if (!sn_word_copy(named ? value : line, r->info.name, sizeof r->info.name))
                return FAIL(r, "the name is longer than 255 bytes, or holds a NUL byte");
        if (title || named) continue;
        SN_TRY(read_key(r, key, value));
        if (contains(line, "Units are S.I.") && r->info.unit[0] == '\0')
            memcpy(r->info.unit, "m", 2);
    }
    return FAIL(r, "this is no MOT or STO file: it has no line 'endheader'");
}

static sn_status place_names(reading *r) {
    size_t letters = (size_t)(r->rows.stop - r->rows.start) + 1, parts = (size_t)r->parts;
    size_t count = (size_t)r->nname * parts;
    char *pool = NULL;
    sn_layout layout = {0};
    for (int pass = 0; pass < 2; pass++) {
        r->name = sn_layout_take(&layout, count, sizeof *r->name);
        pool = sn_layout_take(&layout, letters + 3 * (size_t)r->nname, parts);
        if (pass == 1) break;
        void *start = sn_layout_acquire(&layout, r->allocator, &r->block);
        if (start == NULL) return sn_fail_memory(r->error);
        layout = (sn_layout){.block = start};
    }
    int n = 0;
    for (int i = 0; i < r->nname; i++) {
        sn_word cell;
        (void)sn_rows_cell(&r->rows, r->separator, &cell);
        if (cell.length == 0 || memchr(cell.text, '\0', cell.length) != NULL)
            return FAIL(r, "column %d has no name", i + 1);
        for (int part = 0; part < (i == 0 ? 1 : r->parts); part++) {
            r->name[n++] = memcpy(pool, cell.text, cell.length);
            pool += cell.length;
            if (i > 0 && r->parts > 1) *pool++ = '.';
            if (i > 0 && r->parts == 3) *pool++ = "xyz"[part];
            if (i > 0 && r->parts == 4) *pool++ = 'q', *pool++ = "0123"[part];
            *pool++ = '\0';
        }
    }
    r->info.ncolumn = n;
    return SN_OK;
}

static sn_status read_names(reading *r) {
    if (!sn_rows_next_filled(&r->rows, '\t')) return FAIL(r, "no column names follow the header");
    size_t length = (size_t)(r->rows.stop - r->rows.start);
    r->separator = memchr(r->rows.start, '\t', length) != NULL ? '\t' : SN_BLANKS;
    r->nname = sn_rows_count(&r->rows, r->separator);
    // every row is held against the names
    if (r->ncolumn >= 0 && r->ncolumn != r->nname)
        sn_note(r->info.note, "the header says %d column%s, %d %s named", r->ncolumn,
                SN_S(r->ncolumn), r->nname, r->nname == 1 ? "is" : "are");
    sn_rows copy = r->rows;
    sn_word time;
    (void)sn_rows_cell(&copy, r->separator, &time);
    if (!sn_word_is(time, "time"))
        return FAIL(r, "the first column must be the time, not '%.*s'", SN_WORD(time));
    r->info.time = 0;
    return place_names(r);
}

// A cell "x,y,z", or a missing one.
static bool read_vector(sn_word cell, int count, double *out) {
    for (int c = 0; c < count; c++) out[c] = NAN;
    if (sn_word_missing(cell)) return true;
    sn_rows parts = sn_rows_begin(cell.text, cell.length, false);
    sn_word part;
    (void)sn_rows_next(&parts);
    for (int c = 0; c < count; c++)
        if (!sn_rows_cell(&parts, ',', &part) || !sn_cell_number(part, false, &out[c]))
            return false;
    return parts.cell == NULL;
}

static sn_status read_vectors(reading *r, sn_table *table) {
    for (int i = 0; sn_rows_next_filled(&r->rows, r->separator); i++) {
        double *row = sn_table_edit(table, i);
        for (int k = 0; k < r->nname; k++) {
            sn_word cell;
            (void)sn_rows_cell(&r->rows, r->separator, &cell);
            bool good = k == 0
                            ? sn_cell_number(cell, false, row)
                            : read_vector(cell, r->parts, row + (ptrdiff_t)r->parts * (k - 1) + 1);
            if (!good)
                return FAIL(r, "'%.*s' in column %d is no %s", SN_WORD(cell), k + 1,
                            k == 0          ? "time"
                            : r->parts == 3 ? "vector of three numbers"
                                            : "quaternion");
        }
    }
    return SN_OK;
}

static sn_status check_times(reading *r, const sn_table *table) {
    sn_clock clock = {0};
    for (int i = 0; i < r->info.nrow; i++) {
        (void)sn_rows_next_filled(&r->rows, r->separator);
        double time = sn_table_row(table, i)[0];
        if (isnan(time)) return FAIL(r, "this row has no time");
        if (i > 0 && !(time > clock.last))
            return FAIL(r, "the time %g is not after the one before, %g", time, clock.last);
        sn_clock_add(&clock, time);
    }
    return SN_OK;
}

static sn_status read_file(reading *r, sn_table **out) {
    SN_TRY(read_header(r));
    SN_TRY(read_names(r));
    const sn_grid grid = {.separator = r->separator, .ncolumn = r->nname};
    SN_TRY(sn_grid_measure(&grid, r->rows, r->nrow, &r->info.nrow, r->error));
    if (r->nrow > 0 && r->info.nrow == 0)
        return FAIL(r, "the header says %d rows, but none follow", r->nrow);
    // without a version it is SIMM's format, which knows only degrees
    if (!r->stated) r->info.in_degrees = !r->versioned;
    if (r->nrow >= 0 && r->nrow != r->info.nrow)
        sn_note(r->info.note, "the header says %d row%s, %d %s there", r->nrow, SN_S(r->nrow),
                r->info.nrow, r->info.nrow == 1 ? "is" : "are");
    sn_status status = sn_table_create(&r->info, r->name, r->allocator, out, NULL);
    if (status != SN_OK) return sn_fail(r->error, status, 0, "%s", sn_status_text(status));
    sn_rows start = r->rows;
    if (r->parts > 1)
        SN_TRY(read_vectors(r, *out));
    else
        SN_TRY(sn_grid_read(&grid, r->rows, *out, r->error));
    r->rows = start;
    return check_times(r, *out);
}

sn_status sn_sto_read(const char *text, size_t length, const sn_allocator *allocator,
                      sn_table **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    if (length > 0) SN_NEED(text, error);
    SN_NEED(out, error);
    if (text == NULL) text = "";
    reading r = {.allocator = allocator,
                 .error = error,
                 .rows = sn_rows_begin(text, length, false),
                 .info = sn_table_info_default(),
                 .nrow = -1,
                 .ncolumn = -1,
                 .parts = 1};
    sn_status status = read_file(&r, out);
    sn_release(allocator, r.block);
    if (status != SN_OK) {
        sn_table_destroy(*out);
        *out = NULL;
    }
    return status;
}

// A name must stay one cell, and be there.
static sn_status check_names(const sn_table *table, int ncolumn, sn_error *error) {
    for (int i = 0; i < ncolumn; i++) {
        const char *name = sn_table_column(table, i);
        if (name[strspn(name, " \t\v\f")] != '\0' && strpbrk(name, "\t\r\n") == NULL) continue;
        return sn_fail(error, SN_ERR_VALUE, 0,
                       "column %d is named '%.60s': MOT and STO take no empty names, and none with "
                       "a tab or a line end",
                       i + 1, name);
    }
    return SN_OK;
}

static void write_cell(sn_out *o, double value) {
    if (isfinite(value))
        sn_out_number(o, value);
    else
        sn_out_text(o, "nan");
}

sn_status sn_sto_write(const sn_table *table, const sn_sink *sink, sn_error *error) {
    SN_NEED(table, error);
    SN_NEED(sink, error);
    SN_NEED(sink->write, error);
    const sn_table_info *info = sn_table_about(table);
    if (info->time < 0)
        return sn_fail(error, SN_ERR_VALUE, 0,
                       "the table has no time column, which MOT and STO need");
    SN_TRY(check_names(table, info->ncolumn, error));
    sn_out o;
    sn_out_begin(&o, sink);
    // the name's own line must not read as something else
    sn_word name = {info->name, strlen(info->name)};
    bool plain = name.length > 0 && strpbrk(info->name, "=\r\n") == NULL &&
                 strncmp(info->name, "name", 4) != 0 &&
                 !sn_word_is(sn_word_trim(name), "endheader");
    sn_out_text(&o, plain ? info->name : "table");
    sn_out_format(&o, "\nversion=1\nnRows=%d\nnColumns=%d\n", info->nrow, info->ncolumn);
    sn_out_text(&o, info->in_degrees ? "inDegrees=yes\n" : "inDegrees=no\n");
    if (strcmp(info->unit, "m") == 0) {
        sn_out_text(&o, "Units are S.I. units (meters)\n");
    } else if (sn_unit_metres(info->unit) > 0) {
        sn_out_text(&o, "Units=");
        sn_out_text(&o, info->unit);
        sn_out_text(&o, "\n");
    }
    sn_out_text(&o, "endheader\ntime");
    for (int i = 0; i < info->ncolumn; i++) {
        if (i == info->time) continue;
        sn_out_text(&o, "\t");
        sn_out_text(&o, sn_table_column(table, i));
    }
    sn_out_text(&o, "\n");
    for (int row = 0; row < info->nrow; row++) {
        const double *x = sn_table_row(table, row);
        write_cell(&o, x[info->time]);
        for (int i = 0; i < info->ncolumn; i++) {
            if (i == info->time) continue;
            sn_out_text(&o, "\t");
            write_cell(&o, x[i]);
        }
        sn_out_text(&o, "\n");
    }
    return sn_out_end(&o, error);
}

sn_status sn_mot_write(const sn_model *model, const sn_motion *motion, const sn_sink *sink,
                       const sn_allocator *allocator, sn_error *error) {
    SN_NEED(model, error);
    SN_NEED(motion, error);
    SN_NEED(sink, error);
    SN_NEED(sink->write, error);
    if (!(sn_motion_rate(motion) > 0))
        return sn_fail(error, SN_ERR_VALUE, 0,
                       "the motion has no frame rate, which the times of MOT need");
    sn_table *table;
    SN_TRY(sn_table_from_motion(model, motion, allocator, &table, error));
    sn_status status = sn_sto_write(table, sink, error);
    sn_table_destroy(table);
    return status;
}
