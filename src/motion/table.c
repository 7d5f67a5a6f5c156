// SPDX-License-Identifier: MIT
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/names.h"
#include "motion/clock.h"
#include "sinew/files.h"

struct sn_table {
    sn_allocator allocator;
    void *owner;
    sn_table_info info;
    double *cell;  ///< nrow x ncolumn
    char **name;   ///< ncolumn
    sn_names names;
};

sn_table_info sn_table_info_default(void) {
    return (sn_table_info){.time = -1, .frame = -1, .in_degrees = true};
}

// A text that may not be terminated within its array.
static bool terminated(const char *text, size_t size) { return memchr(text, '\0', size) != NULL; }

static sn_status check_info(const sn_table_info *info, const char *const *names, sn_error *error) {
    // a row must not overflow where size_t has 32 bits; rows together are checked later
    if (info->ncolumn > 0 && (size_t)info->ncolumn > SIZE_MAX / 64)
        return sn_fail_size(error, "info->ncolumn");
    if (!(info->rate >= 0 && isfinite(info->rate))) return sn_fail_range(error, "info->rate");
    if (info->nrow < 0) return sn_fail_range(error, "info->nrow");
    if (info->ncolumn < 0) return sn_fail_range(error, "info->ncolumn");
    if (info->time < -1 || info->time >= info->ncolumn) return sn_fail_range(error, "info->time");
    if (info->frame < -1 || info->frame >= info->ncolumn)
        return sn_fail_range(error, "info->frame");
    if (!terminated(info->unit, sizeof info->unit)) return sn_fail_range(error, "info->unit");
    if (!terminated(info->name, sizeof info->name)) return sn_fail_range(error, "info->name");
    if (!terminated(info->note, sizeof info->note)) return sn_fail_range(error, "info->note");
    for (int i = 0; i < info->ncolumn; i++)
        if (names == NULL || names[i] == NULL) return sn_fail_missing(error, "names");
    return SN_OK;
}

static sn_table *layout_table(sn_table *t, size_t letters, char **pool, sn_layout *layout) {
    size_t ncolumn = (size_t)t->info.ncolumn, row = ncolumn * sizeof *t->cell;
    sn_table *self = sn_layout_take(layout, 1, sizeof *self);
    t->name = sn_layout_take(layout, ncolumn, sizeof *t->name);
    *pool = sn_layout_take(layout, letters, 1);
    t->cell = sn_layout_take(layout, (size_t)t->info.nrow, row > 0 ? row : 1);
    sn_names_layout(&t->names, ncolumn, layout);
    return self;
}

static const char *name_of(const void *owner, int i) { return ((const sn_table *)owner)->name[i]; }

sn_status sn_table_create(const sn_table_info *info, const char *const *names,
                          const sn_allocator *allocator, sn_table **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    SN_NEED(info, error);
    SN_NEED(out, error);
    SN_TRY(check_info(info, names, error));
    sn_table t = {.allocator = sn_allocator_of(allocator), .info = *info};
    size_t letters = 0;
    for (int i = 0; i < info->ncolumn; i++) letters += strlen(names[i]) + 1;

    char *pool;
    sn_layout layout = {0};
    (void)layout_table(&t, letters, &pool, &layout);
    if (layout.overflow) return sn_fail_size(error, "info->nrow times info->ncolumn");
    void *block = sn_layout_acquire(&layout, allocator, &t.owner);
    if (block == NULL) return sn_fail_memory(error);
    layout = (sn_layout){.block = block};
    sn_table *self = layout_table(&t, letters, &pool, &layout);

    for (int i = 0; i < info->ncolumn; i++) {
        size_t length = strlen(names[i]) + 1;
        t.name[i] = memcpy(pool, names[i], length);
        pool += length;
    }
    for (int i = 0; i < info->ncolumn; i++) (void)sn_names_add(&t.names, i, name_of, &t);
    size_t count = (size_t)info->nrow * (size_t)info->ncolumn;
    for (size_t i = 0; i < count; i++) t.cell[i] = NAN;
    *self = t;
    *out = self;
    return SN_OK;
}

void sn_table_destroy(sn_table *table) {
    if (table == NULL) return;
    sn_allocator allocator = table->allocator;
    sn_release(&allocator, table->owner);
}

const sn_table_info *sn_table_about(const sn_table *table) {
    return table != NULL ? &table->info : NULL;
}

double *sn_table_edit(sn_table *table, int row) {
    if (table == NULL) return NULL;
    if (row < 0 || row >= table->info.nrow) return NULL;
    return table->cell + (size_t)row * (size_t)table->info.ncolumn;
}

const double *sn_table_row(const sn_table *table, int row) {
    if (table == NULL) return NULL;
    if (row < 0 || row >= table->info.nrow) return NULL;
    return table->cell + (size_t)row * (size_t)table->info.ncolumn;
}

const char *sn_table_column(const sn_table *table, int column) {
    if (table == NULL) return NULL;
    if (column < 0 || column >= table->info.ncolumn) return NULL;
    return table->name[column];
}

int sn_table_find(const sn_table *table, const char *name) {
    if (table == NULL || name == NULL) return -1;
    return sn_names_find(&table->names, name, name_of, table);
}

double sn_table_at(const sn_table *table, int column, double time) {
    if (table == NULL || table->info.time < 0 || table->info.nrow < 1 || column < 0 ||
        column >= table->info.ncolumn || isnan(time))
        return NAN;
    int low = 0, high = table->info.nrow - 1, clock = table->info.time;
    while (high - low > 1) {
        int mid = low + (high - low) / 2;
        if (sn_table_row(table, mid)[clock] <= time)
            low = mid;
        else
            high = mid;
    }
    const double *a = sn_table_row(table, low), *b = sn_table_row(table, high);
    double step = b[clock] - a[clock];
    double share = step > 0 ? fmin(fmax((time - a[clock]) / step, 0), 1) : 0;
    // each end exactly as it stands, also beside a cell that is not there
    if (share == 0 || share == 1) return share == 0 ? a[column] : b[column];
    return a[column] + share * (b[column] - a[column]);
}

void sn_table_clock(const sn_table *table, sn_clock *out) {
    *out = (sn_clock){0};
    for (int i = 0; table->info.time >= 0 && i < table->info.nrow; i++)
        sn_clock_add(out, sn_table_row(table, i)[table->info.time]);
}

double sn_table_rate(const sn_table *table) {
    if (table == NULL) return 0;
    double stated = table->info.rate;
    if (table->info.time < 0) return stated;
    sn_clock clock;
    sn_table_clock(table, &clock);
    double rate = sn_clock_rate(&clock);
    // what is stated has more digits than rounded times, but may be of another file
    return rate == 0 || fabs(stated / rate - 1) < 0.02 ? stated : rate;
}
