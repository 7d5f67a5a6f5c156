// SPDX-License-Identifier: MIT
// Writing CSV: commas, decimal points, empty cells for what is missing.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "files/cells.h"
#include "files/markers.h"
#include "motion/clock.h"

// A name, in quotes where it needs them.
static void write_name(sn_out *o, const char *name, const char *suffix) {
    // blanks at the ends would be lost, a # at the start would make a comment, Motive's first words its
    // header, and a byte order mark is none in a name
    size_t length = strlen(name);
    bool quotes = strpbrk(name, ",;\"\t#") != NULL || length == 0 || name[0] == ' ' ||
                  strncmp(name, "\xEF\xBB\xBF", 3) == 0 ||
                  sn_word_is((sn_word){name, length}, "format version") ||
                  (suffix[0] == '\0' && name[length - 1] == ' ');
    if (quotes) sn_out_text(o, "\"");
    for (const char *c = name; *c != '\0'; c++) {
        if (*c == '"') sn_out_text(o, "\"");
        sn_out_bytes(o, c, 1);
    }
    sn_out_text(o, suffix);
    if (quotes) sn_out_text(o, "\"");
}

static sn_status check_name(const char *name, sn_error *error) {
    if (name[strspn(name, " \t\v\f")] != '\0' && strpbrk(name, "\r\n") == NULL) return SN_OK;
    return sn_fail(error, SN_ERR_VALUE, 0,
                   "CSV takes no empty names, and none with a line end, such as '%.60s'", name);
}

sn_status sn_csv_write_table(const sn_table *table, const sn_sink *sink, sn_error *error) {
    SN_NEED(table, error);
    SN_NEED(sink, error);
    SN_NEED(sink->write, error);
    const sn_table_info *info = sn_table_about(table);
    if (info->nrow == 0 || info->ncolumn == 0)
        return sn_fail(error, SN_ERR_VALUE, 0, "the table is empty");
    for (int i = 0; i < info->ncolumn; i++) SN_TRY(check_name(sn_table_column(table, i), error));
    sn_out o;
    sn_out_begin(&o, sink);
    if (sn_unit_metres(info->unit) > 0) {
        sn_out_text(&o, "# units=");
        sn_out_text(&o, info->unit);
        sn_out_text(&o, "\n");
    }
    if (!info->in_degrees) sn_out_text(&o, "# inDegrees=no\n");
    for (int i = 0; i < info->ncolumn; i++) {
        if (i > 0) sn_out_text(&o, ",");
        write_name(&o, sn_table_column(table, i), "");
    }
    sn_out_text(&o, "\n");
    for (int row = 0; row < info->nrow; row++) {
        const double *x = sn_table_row(table, row);
        bool empty = true;
        for (int i = 0; i < info->ncolumn; i++) {
            if (i > 0) sn_out_text(&o, ",");
            // a row of empty cells would read as an empty line
            empty = empty && !isfinite(x[i]);
            if (isfinite(x[i]))
                sn_out_number(&o, x[i]);
            else if (empty && i == info->ncolumn - 1)
                sn_out_text(&o, "nan");
        }
        sn_out_text(&o, "\n");
    }
    return sn_out_end(&o, error);
}

static void write_header(sn_out *o, const sn_recording *recording, const char *unit, bool time) {
    sn_out_text(o, time ? "Frame,Time (s)" : "Frame");
    for (int i = 0; i < sn_recording_about(recording)->nmarker; i++) {
        for (int c = 0; c < 3; c++) {
            char suffix[32];
            if (sn_unit_metres(unit) > 0)
                (void)snprintf(suffix, sizeof suffix, ".%c (%s)", "XYZ"[c], unit);
            else
                (void)snprintf(suffix, sizeof suffix, ".%c", "XYZ"[c]);
            sn_out_text(o, ",");
            write_name(o, sn_recording_label(recording, i), suffix);
        }
    }
    sn_out_text(o, "\n");
}

sn_status sn_csv_write_recording(const sn_recording *recording, const sn_markers_options *options,
                                 const sn_sink *sink, sn_error *error) {
    SN_NEED(recording, error);
    SN_NEED(sink, error);
    SN_NEED(sink->write, error);
    const sn_recording_info *info = sn_recording_about(recording);
    sn_markers_options chosen;
    sn_markers_unit unit;
    SN_TRY(sn_markers_options_of(options, &chosen, error));
    SN_TRY(sn_markers_begin(recording, chosen.unit, &unit, error));
    for (int i = 0; i < info->nmarker; i++)
        SN_TRY(check_name(sn_recording_label(recording, i), error));
    double rate = chosen.rate > 0 ? chosen.rate : info->rate;
    sn_out o;
    sn_out_begin(&o, sink);
    write_header(&o, recording, unit.name, rate > 0);
    for (int frame = 0; frame < info->nframe; frame++) {
        sn_out_format(&o, "%lld", (long long)info->first_frame + frame);
        if (rate > 0) {
            sn_out_text(&o, ",");
            sn_out_number(&o, info->time_offset + sn_clock_time(info->first_frame, frame, rate));
        }
        sn_markers_row(&o, recording, frame, &unit, ",");
    }
    return sn_out_end(&o, error);
}
