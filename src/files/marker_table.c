// SPDX-License-Identifier: MIT
// The markers of a table, found by the names of their columns.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "files/cells.h"
#include "files/placeholders.h"
#include "math/round.h"
#include "motion/clock.h"
#include "motion/lost_rows.h"

enum { NAME = 512 };  // longer names of columns are no marker's

typedef struct reading {
    const sn_table *table;
    int (*column)[3];  // of each marker
    const char **label;
    char *pool;
    sn_recording_info info;
    void *block;
    int *frame;         // of each row: which frame it is, from 0; NULL: one after the other
    sn_lost_rows lost;  // with `frame`
    void *lost_block;
} reading;

// The length of the marker's name, when the column is its x; else 0.
static size_t stem_of_x(const char *name) {
    size_t n = strlen(name);
    if (n < 3 || n >= NAME || (name[n - 1] != 'X' && name[n - 1] != 'x')) return 0;
    n--;
    if (n > 2 && (name[n - 1] == 't' || name[n - 1] == 'T') && strchr("._:- ", name[n - 2]) != NULL)
        n--;
    return n > 1 && strchr("._:- ", name[n - 1]) != NULL ? n - 1 : 0;
}

// The columns that belong to the x of out[0]: they have the same name but for the last letter.
// Where several columns have this name, they must follow it.
static bool find_others(const sn_table *table, const char *name, int out[3]) {
    char other[NAME];
    size_t n = strlen(name);
    bool first = sn_table_find(table, name) == out[0];
    memcpy(other, name, n + 1);
    for (int c = 1; c < 3; c++) {
        other[n - 1] = (char)(name[n - 1] + c);
        const char *next = sn_table_column(table, out[0] + c);
        bool follows = next != NULL && strcmp(next, other) == 0;
        out[c] = follows ? out[0] + c : first ? sn_table_find(table, other) : -1;
        if (out[c] < 0) return false;
    }
    return true;
}

static void find_markers(reading *r) {
    const sn_table_info *info = sn_table_about(r->table);
    char *pool = r->pool;
    for (int i = 0; i < info->ncolumn; i++) {
        const char *name = sn_table_column(r->table, i);
        int column[3] = {i, 0, 0};
        size_t length = stem_of_x(name);
        if (length == 0 || !find_others(r->table, name, column)) continue;
        memcpy(r->column[r->info.nmarker], column, sizeof column);
        r->label[r->info.nmarker++] = memcpy(pool, name, length);
        pool[length] = '\0';
        pool += length + 1;
    }
}

static sn_status place(reading *r, const sn_allocator *allocator, sn_error *error) {
    const sn_table_info *info = sn_table_about(r->table);
    size_t count = (size_t)info->ncolumn, letters = 1;
    for (int i = 0; i < info->ncolumn; i++) letters += strlen(sn_table_column(r->table, i)) + 1;
    sn_layout layout = {0};
    for (int pass = 0; pass < 2; pass++) {
        r->column = sn_layout_take(&layout, count, sizeof *r->column);
        r->label = sn_layout_take(&layout, count, sizeof *r->label);
        r->pool = sn_layout_take(&layout, letters, 1);
        if (pass == 1) break;
        void *start = sn_layout_acquire(&layout, allocator, &r->block);
        if (start == NULL) return sn_fail_memory(error);
        layout = (sn_layout){.block = start};
    }
    return SN_OK;
}

// Whether the table numbers its rows one after the other.
static bool counts_on(const sn_table *table, int column) {
    for (int i = 1; i < sn_table_about(table)->nrow; i++)
        if (sn_table_row(table, i)[column] != sn_table_row(table, i - 1)[column] + 1) return false;
    return true;
}

// Where the times jump, and the frame numbers, if there are any, too: which frames are not there.
static sn_status find_lost(reading *r, const sn_allocator *allocator, sn_error *error) {
    const sn_table_info *info = sn_table_about(r->table);
    const size_t count = (size_t)info->nrow;
    sn_clock clock;
    sn_table_clock(r->table, &clock);
    if (clock.nother == 0 || clock.nback > 0 || clock.broken) return SN_OK;
    if (info->frame >= 0 && counts_on(r->table, info->frame)) return SN_OK;
    double *number = sn_acquire(allocator, count * (3 * sizeof *number + sizeof *r->frame));
    if (number == NULL) return sn_fail_memory(error);
    r->lost_block = number;
    double *time = number + count, *step = time + count;
    int *frame = (int *)(step + count);
    for (size_t i = 0; i < count; i++) {
        const double *row = sn_table_row(r->table, (int)i);
        time[i] = row[info->time];
        number[i] = info->frame >= 0 ? row[info->frame] : 0;
    }
    if (sn_lost_rows_find(time, info->frame >= 0 ? number : NULL, info->nrow, step, frame,
                          &r->lost))
        r->frame = frame;
    return SN_OK;
}

// Of times with lost rows; what is stated has more digits than rounded times, but may be of another file.
static double rate_of(const reading *r) {
    const double stated = sn_table_about(r->table)->rate;
    if (r->frame == NULL) return sn_table_rate(r->table);
    return fabs(stated / r->lost.rate - 1) < 0.02 ? stated : r->lost.rate;
}

// What a person should know of times and frame numbers.
static void tell_rows(reading *r) {
    const sn_table_info *info = sn_table_about(r->table);
    char times[120];
    sn_clock clock;
    if (r->frame != NULL) {
        sn_lost_rows_note(r->info.note, r->info.nframe - info->nrow,
                          r->info.first_frame + r->lost.first);
        return;
    }
    sn_table_clock(r->table, &clock);
    sn_clock_words(&clock, r->info.first_frame, times, sizeof times);
    if (info->nrow > 1 && times[0] != '\0') sn_note(r->info.note, "%s", times);
    if (info->frame >= 0 && !counts_on(r->table, info->frame))
        sn_note(r->info.note, "frames are not numbered one by one");
}

static sn_status describe(reading *r, const char *unit, sn_error *error) {
    const sn_table_info *info = sn_table_about(r->table);
    size_t length = strlen(unit);
    if (length >= sizeof r->info.unit)
        return sn_fail(error, SN_ERR_ARGUMENT, 0, "'%.60s' is no unit of length", unit);
    memcpy(r->info.unit, unit, length + 1);
    memcpy(r->info.note, info->note, sizeof r->info.note);
    r->info.metres_per_unit = sn_unit_metres(unit);
    r->info.nframe = r->frame != NULL ? r->lost.total : info->nrow;
    r->info.rate = rate_of(r);
    double first = 1;
    if (info->frame >= 0 && info->nrow > 0)
        first = sn_table_row(r->table, 0)[info->frame];
    else if (info->time >= 0 && info->nrow > 0 && r->info.rate > 0)
        first = sn_round(sn_table_row(r->table, 0)[info->time] * r->info.rate) + 1;
    r->info.first_frame = fabs(first) < 1e9 ? (int)first : 1;
    if (info->time >= 0 && info->nrow > 0)
        r->info.time_offset = sn_clock_offset(r->info.first_frame,
                                              sn_table_row(r->table, 0)[info->time], r->info.rate);
    int other = info->ncolumn - 3 * r->info.nmarker - (info->time >= 0) - (info->frame >= 0);
    // a motion has some columns that look like a marker's: pelvis_tx, pelvis_ty, pelvis_tz
    if (other > 3 * r->info.nmarker || r->info.nmarker == 0)
        return sn_fail(
            error, SN_ERR_VALUE, 0,
            "this is no table of markers: only %d of its %d columns come in threes named "
            "like LFHD.X, LFHD.Y, LFHD.Z",
            3 * r->info.nmarker, info->ncolumn);
    tell_rows(r);
    if (other > 0)
        sn_note(r->info.note, "%d column%s no marker's left out", other,
                other == 1 ? " that is" : "s that are");
    return SN_OK;
}

static void fill(const reading *r, sn_recording *recording) {
    double metres = r->info.metres_per_unit > 0 ? r->info.metres_per_unit : 1;
    for (int f = 0; f < sn_table_about(r->table)->nrow; f++) {
        const double *row = sn_table_row(r->table, f);
        double *x = sn_recording_edit(recording, r->frame != NULL ? r->frame[f] : f);
        for (int i = 0; i < r->info.nmarker; i++, x += 3) {
            const int *column = r->column[i];
            // one coordinate alone is no place
            if (!isfinite(row[column[0]] + row[column[1]] + row[column[2]])) continue;
            for (int c = 0; c < 3; c++) x[c] = row[column[c]] * metres;
        }
    }
    sn_drop_placeholders(recording);
}

sn_status sn_recording_from_table(const sn_table *table, const char *unit,
                                  const sn_allocator *allocator, sn_recording **out,
                                  sn_error *error) {
    if (out != NULL) *out = NULL;
    SN_NEED(table, error);
    SN_NEED(out, error);
    reading r = {.table = table};
    SN_TRY(place(&r, allocator, error));
    find_markers(&r);
    sn_status status = find_lost(&r, allocator, error);
    if (status == SN_OK)
        status = describe(&r, unit != NULL ? unit : sn_table_about(table)->unit, error);
    if (status == SN_OK) {
        status = sn_recording_create(&r.info, r.label, allocator, out, error);
        if (status == SN_OK)
            fill(&r, *out);
        else
            (void)sn_fail(error, status, 0, "%s", sn_status_text(status));
    }
    sn_release(allocator, r.lost_block);
    sn_release(allocator, r.block);
    return status;
}
