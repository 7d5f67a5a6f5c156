// SPDX-License-Identifier: MIT
// Goals in, poses out: tables of text, as fast as they are solved.
#include <string.h>

#include "arm/arm.h"
#include "base/number.h"
#include "files/cells.h"
#include "files/out.h"

struct sn_arm_goals {
    sn_allocator allocator;
    int count;
    bool places;   ///< without rotations
    double *data;  ///< 7 each
};

static const char *const names[7] = {"x", "y", "z", "qw", "qx", "qy", "qz"};

static char separator_of(const sn_rows *rows) {
    static const char choices[3] = {';', '\t', ','};
    for (int i = 0; i < 3; i++)
        for (const char *p = rows->start; p < rows->stop; p++)
            if (*p == choices[i]) return choices[i];
    return SN_BLANKS;
}

// Which cell each of the seven stands in, -1 for one without. Names that say nothing: in their order.
static sn_status find_columns(sn_rows rows, char separator, int at[7], sn_error *error) {
    sn_word word;
    sn_rows first = rows;
    double number;
    int found = 0, turned = 0;
    for (int i = 0; i < 7; i++) at[i] = -1;
    for (int cell = 0; sn_rows_cell(&rows, separator, &word); cell++)
        for (int i = 0; i < 7; i++)
            if (at[i] < 0 && sn_word_is(word, names[i])) at[i] = cell, found++, turned += i >= 3;
    if (found == 7 || (found == 3 && turned == 0)) return SN_OK;
    // a first line of numbers is a goal that would be lost
    if (sn_rows_cell(&first, separator, &word) && sn_word_number(word, &number))
        return sn_fail(error, SN_ERR_PARSE, rows.line,
                       "the first line must name the columns: x,y,z,qw,qx,qy,qz");
    for (int i = 0; found > 0 && i < 7; i++)
        if (at[i] < 0)
            return sn_fail(error, SN_ERR_PARSE, rows.line,
                           "there is no column %s: a goal has x,y,z,qw,qx,qy,qz, or x,y,z alone",
                           names[i]);
    for (int i = 0; i < 7; i++) at[i] = i;
    return SN_OK;
}

static sn_status read_goal(sn_rows *rows, char separator, const int at[7], double *goal,
                           sn_error *error) {
    sn_word word;
    bool found[7] = {false};
    for (int i = 0; i < 7; i++) goal[i] = i == 3;
    for (int cell = 0; sn_rows_cell(rows, separator, &word); cell++)
        for (int i = 0; i < 7; i++) {
            if (at[i] != cell) continue;
            if (!sn_word_number(word, &goal[i]))
                return sn_fail(error, SN_ERR_PARSE, rows->line, "%s: \"%.*s\" is not a number",
                               names[i], (int)(word.length < 40 ? word.length : 40), word.text);
            found[i] = true;
        }
    for (int i = 0; i < 7; i++)
        if (at[i] >= 0 && !found[i])
            return sn_fail(error, SN_ERR_PARSE, rows->line, "%s is missing", names[i]);
    double n = goal[3] * goal[3] + goal[4] * goal[4] + goal[5] * goal[5] + goal[6] * goal[6];
    if (!(n > 1e-200) || !isfinite(n))
        return sn_fail(error, SN_ERR_VALUE, rows->line,
                       "the quaternion qw, qx, qy, qz is no rotation");
    return SN_OK;
}

sn_status sn_arm_goals_read(const char *text, size_t length, const sn_allocator *allocator,
                            sn_arm_goals **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    if (length > 0) SN_NEED(text, error);
    SN_NEED(out, error);
    sn_rows rows = sn_rows_begin(text != NULL ? text : "", length, false);
    int at[7];
    if (!sn_rows_next_filled(&rows, ','))
        return sn_fail(error, SN_ERR_PARSE, 0,
                       "there is nothing in it: a line of names (x,y,z,qw,qx,qy,qz), then goals");
    const char separator = separator_of(&rows);
    SN_TRY(find_columns(rows, separator, at, error));
    void *data = NULL;
    size_t capacity = 0, count = 0;
    sn_status status = SN_OK;
    while (status == SN_OK && sn_rows_next_filled(&rows, separator)) {
        if (count >= INT32_MAX / 8)
            status = sn_fail(error, SN_ERR_SIZE, rows.line, "too many goals");
        if (status == SN_OK) {
            status = sn_grow(allocator, &data, &capacity, 7 * (count + 1), sizeof(double));
            if (status != SN_OK) (void)sn_fail_memory(error);
        }
        if (status == SN_OK)
            status = read_goal(&rows, separator, at, (double *)data + 7 * count, error);
        count++;
    }
    sn_arm_goals *goals = status == SN_OK ? sn_acquire(allocator, sizeof *goals) : NULL;
    if (status == SN_OK && goals == NULL) status = sn_fail_memory(error);
    if (status != SN_OK) {
        sn_release(allocator, data);
        return status;
    }
    *goals = (sn_arm_goals){sn_allocator_of(allocator), (int)count, at[3] < 0, data};
    *out = goals;
    return SN_OK;
}

void sn_arm_goals_destroy(sn_arm_goals *goals) {
    if (goals == NULL) return;
    const sn_allocator allocator = goals->allocator;
    sn_release(&allocator, goals->data);
    sn_release(&allocator, goals);
}

int sn_arm_goals_count(const sn_arm_goals *goals) { return goals != NULL ? goals->count : 0; }
bool sn_arm_goals_places(const sn_arm_goals *goals) { return goals != NULL && goals->places; }
const double *sn_arm_goals_data(const sn_arm_goals *goals) {
    return goals != NULL ? goals->data : NULL;
}

// A number below 9 in size with fifteen digits behind the point. The integer d and 1e15 are exact, so that
// d / 1e15 is what reads back: where that would be outside the limits, the digit beside it.
static int print_fixed(double x, double low, double high, char *out) {
    const double most = 1e15;
    double d = floor(x * most + 0.5);
    while (d / most > high) d -= 1;
    while (d / most < low) d += 1;
    int n = 0;
    if (d < 0) out[n++] = '-';
    uint64_t v = (uint64_t)fabs(d), whole = v / 1000000000000000u, part = v % 1000000000000000u;
    out[n++] = (char)('0' + (int)whole);
    if (part == 0) return n;
    out[n++] = '.';
    for (int i = 14; i >= 0; i--, part /= 10) out[n + i] = (char)('0' + (int)(part % 10));
    n += 15;
    while (out[n - 1] == '0') n--;
    return n;
}

static void put(sn_out *out, double x, double low, double high) {
    char text[SN_NUMBER_TEXT];
    // wider limits than a step of the last digit, or the step may find nothing inside them
    bool room = high - low > 1e-12;
    if (fabs(x) < 8.9 && room)
        sn_out_bytes(out, text, (size_t)print_fixed(x, low, high, text));
    else
        sn_out_number(out, x);
}

// Names may hold what parts cells.
static void put_name(sn_out *out, const char *name) {
    if (strpbrk(name, ",\"\n\r") == NULL) {
        sn_out_text(out, name);
        return;
    }
    sn_out_text(out, "\"");
    for (; *name != '\0'; name++)
        sn_out_bytes(out, *name == '"' ? "\"\"" : name, *name == '"' ? 2 : 1);
    sn_out_text(out, "\"");
}

sn_status sn_arm_write_csv(const sn_arm *arm, int count, const double *q,
                           const sn_arm_report *reports, const sn_sink *sink, sn_error *error) {
    SN_NEED(arm, error);
    SN_NEED(sink, error);
    if (count < 0) return sn_fail_range(error, "count");
    if (count > 0) SN_NEED(q, error);
    if (sink->write == NULL) return sn_fail_missing(error, "sink->write");
    sn_out out;
    const int n = arm->chain.n;
    sn_out_begin(&out, sink);
    if (reports != NULL) sn_out_text(&out, "reached,position_error,rotation_error");
    for (int j = 0; j < n; j++) {
        if (reports != NULL || j > 0) sn_out_text(&out, ",");
        put_name(&out, arm->name[j]);
    }
    sn_out_text(&out, "\n");
    for (int i = 0; i < count && !out.failed; i++) {
        if (reports != NULL) {
            sn_out_text(&out, reports[i].reached ? "1," : "0,");
            put(&out, reports[i].position_error, 0, INFINITY);
            sn_out_text(&out, ",");
            put(&out, reports[i].rotation_error, 0, INFINITY);
        }
        for (int j = 0; j < n; j++) {
            if (reports != NULL || j > 0) sn_out_text(&out, ",");
            put(&out, q[(size_t)n * (size_t)i + (size_t)j], arm->chain.low[j], arm->chain.high[j]);
        }
        sn_out_text(&out, "\n");
    }
    return sn_out_end(&out, error);
}
