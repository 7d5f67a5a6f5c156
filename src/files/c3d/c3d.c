// SPDX-License-Identifier: MIT
// Reading C3D: a header, a section of parameters, then frames of points and analog samples.
//
// How much there is, and which of header and parameters to believe: c3d_extent.c.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/names.h"
#include "files/c3d/c3d_extent.h"
#include "files/note.h"
#include "files/placeholders.h"
#include "sinew/files.h"

enum {
    LABEL = 256,     // bytes of a string's 255 characters
    MAX_PARTS = 257  // of a list: that many times 255 strings for all points
};

typedef struct reading {
    sn_c3d_file file;
    const sn_allocator *allocator;
    sn_error *error;
    sn_recording_info info;
    sn_c3d_extent extent;
    size_t npoint;       // of a frame
    int *point;          // nmarker: which point each marker is
    const char **label;  // npoint, later the nmarker that are kept
    char *pool;
    bool *other, *other_name;  // npoint: not a marker, by label and by name
    sn_names labels, names;    // points by label, and by label without subject
    void *block;
} reading;

#define FAIL(r, ...) sn_fail((r)->error, SN_ERR_PARSE, 0, __VA_ARGS__)

// The header's, where the two differ.
static sn_status read_rate(reading *r) {
    double header = sn_c3d_float(&r->file, 20), parameter;
    SN_TRY(sn_c3d_find_number(&r->file, "POINT", "RATE", &parameter, r->error));
    bool first = isfinite(header) && header > 0, second = isfinite(parameter) && parameter > 0;
    bool absurd = second && !(header >= 0.01 && header <= 1e6);
    if (first && second && fabs(header / parameter - 1) > 1e-3)
        sn_note(r->info.note, "the header states %g frames/s, POINT:RATE %g: %s is believed",
                header, parameter, absurd ? "the latter" : "the header");
    r->info.rate = first && !absurd ? header : second ? parameter : 0;
    return SN_OK;
}

// What is there but not read: a kind of samples for each analog channel, and events.
static sn_status count_others(reading *r) {
    double channels, events;
    bool header = sn_c3d_word(&r->file, 298) == 12345;
    SN_TRY(sn_c3d_find_number(&r->file, "ANALOG", "USED", &channels, r->error));
    SN_TRY(sn_c3d_find_number(&r->file, "EVENT", "USED", &events, r->error));
    if (r->extent.nanalog > 0) r->info.nanalog = channels >= 1 ? (int)fmin(channels, 65535) : 1;
    r->info.nevent = events >= 1 ? (int)fmin(events, 65535) : 0;
    if (header && r->info.nevent == 0) r->info.nevent = (int)sn_c3d_word(&r->file, 300);
    return SN_OK;
}

static sn_status read_info(reading *r) {
    sn_c3d_param param;
    SN_TRY(read_rate(r));
    SN_TRY(count_others(r));
    SN_TRY(sn_c3d_find(&r->file, "POINT", "UNITS", &param, r->error));
    sn_c3d_string(&param, 0, r->info.unit, sizeof r->info.unit);
    r->info.metres_per_unit = sn_unit_metres(r->info.unit);
    SN_TRY(sn_c3d_find(&r->file, "POINT", "X_SCREEN", &param, r->error));
    sn_c3d_string(&param, 0, r->info.x_screen, sizeof r->info.x_screen);
    SN_TRY(sn_c3d_find(&r->file, "POINT", "Y_SCREEN", &param, r->error));
    sn_c3d_string(&param, 0, r->info.y_screen, sizeof r->info.y_screen);
    return SN_OK;
}

// The part-th piece of a list that goes on in NAME2, NAME3, ...: one parameter holds 255 strings.
static sn_status find_part(reading *r, const char *name, int part, sn_c3d_param *out) {
    char full[32];
    if (part == 1) return sn_c3d_find(&r->file, "POINT", name, out, r->error);
    (void)snprintf(full, sizeof full, "%s%d", name, part);
    return sn_c3d_find(&r->file, "POINT", full, out, r->error);
}

// All labels into the pool, one per point; points without get "*0", "*1", ... With pool NULL it
// only measures.
static sn_status read_labels(reading *r, size_t *letters) {
    size_t at = 0, point = 0;
    sn_c3d_param param = {.data = NULL};
    for (int part = 1; part <= MAX_PARTS && point < r->npoint; part++) {
        SN_TRY(find_part(r, "LABELS", part, &param));
        size_t count = sn_c3d_strings(&param);
        if (count == 0) break;
        for (size_t i = 0; i < count && point < r->npoint; i++, point++) {
            char label[LABEL];
            sn_c3d_string(&param, i, label, sizeof label);
            if (label[0] == '\0') (void)snprintf(label, sizeof label, "*%zu", point);
            size_t length = strlen(label) + 1;
            if (r->pool != NULL) r->label[point] = memcpy(r->pool + at, label, length);
            at += length;
        }
    }
    for (; point < r->npoint; point++) {
        char label[24];
        size_t length = (size_t)snprintf(label, sizeof label, "*%zu", point) + 1;
        if (r->pool != NULL) r->label[point] = memcpy(r->pool + at, label, length);
        at += length;
    }
    *letters = at;
    return SN_OK;
}

static const char *label_of(const void *owner, int i) { return ((const reading *)owner)->label[i]; }

static const char *name_of(const void *owner, int i) { return sn_label_name(label_of(owner, i)); }

// Mark what the file lists as something else than markers, on the first point of each label; where
// a list leaves the subject out, on the first of each name, for all subjects.
static sn_status mark_others(reading *r) {
    static const char *const lists[] = {"ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS"};
    for (size_t list = 0; list < sizeof lists / sizeof lists[0]; list++) {
        sn_c3d_param param;
        for (int part = 1; part <= MAX_PARTS; part++) {
            SN_TRY(find_part(r, lists[list], part, &param));
            size_t count = sn_c3d_strings(&param);
            if (count == 0) break;
            for (size_t i = 0; i < count; i++) {
                char label[LABEL];
                sn_c3d_string(&param, i, label, sizeof label);
                int whole = sn_names_find(&r->labels, label, label_of, r);
                int name = sn_names_find(&r->names, label, name_of, r);
                if (whole >= 0) r->other[whole] = true;
                if (whole < 0 && name >= 0) r->other_name[name] = true;
            }
        }
    }
    return SN_OK;
}

// Which points are markers.
static sn_status choose_markers(reading *r) {
    int npoint = (int)r->npoint, nmarker = 0;
    for (int i = 0; i < npoint; i++) {
        (void)sn_names_add(&r->labels, i, label_of, r);
        (void)sn_names_add(&r->names, i, name_of, r);
    }
    SN_TRY(mark_others(r));
    // first decide, then move: looking a label up needs all of them in place
    for (int i = 0; i < npoint; i++) {
        bool other = r->other[sn_names_find(&r->labels, label_of(r, i), label_of, r)] ||
                     r->other_name[sn_names_find(&r->names, name_of(r, i), name_of, r)];
        r->point[i] = other ? -1 : i;
    }
    for (int i = 0; i < npoint; i++) {
        if (r->point[i] < 0) continue;
        r->point[nmarker] = i;
        r->label[nmarker++] = r->label[i];
    }
    r->info.nmarker = nmarker;
    r->info.nother = npoint - nmarker;
    if (nmarker == 0) return FAIL(r, "byte 2: none of the %zu points is a marker", r->npoint);
    return SN_OK;
}

static sn_status read_markers(reading *r) {
    size_t letters;
    SN_TRY(read_labels(r, &letters));
    sn_layout layout = {0};
    for (int pass = 0; pass < 2; pass++) {
        r->point = sn_layout_take(&layout, r->npoint, sizeof *r->point);
        r->label = sn_layout_take(&layout, r->npoint, sizeof *r->label);
        r->other = sn_layout_take(&layout, r->npoint, sizeof *r->other);
        r->other_name = sn_layout_take(&layout, r->npoint, sizeof *r->other_name);
        r->pool = sn_layout_take(&layout, letters, 1);
        sn_names_layout(&r->labels, r->npoint, &layout);
        sn_names_layout(&r->names, r->npoint, &layout);
        if (pass == 1) break;
        void *start = sn_layout_acquire(&layout, r->allocator, &r->block);
        if (start == NULL) return sn_fail_memory(r->error);
        layout = (sn_layout){.block = start};
    }
    SN_TRY(read_labels(r, &letters));
    return choose_markers(r);
}

// One sample in the file's unit; false when it is missing.
static bool read_sample(const reading *r, size_t at, double x[3]) {
    const sn_c3d_file *f = &r->file;
    double residual;
    if (r->extent.scale < 0) {
        for (size_t i = 0; i < 3; i++) x[i] = sn_c3d_float(f, at + 4 * i);
        residual = sn_c3d_float(f, at + 12);
    } else {
        for (size_t i = 0; i < 3; i++) {
            unsigned word = sn_c3d_word(f, at + 2 * i);
            x[i] = r->extent.scale * (word < 32768 ? (double)word : (double)word - 65536);
        }
        residual = sn_c3d_word(f, at + 6) < 32768 ? 0 : -1;
    }
    bool zero = x[0] == 0 && x[1] == 0 && x[2] == 0;
    return !(residual < 0) && !zero && isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]);
}

static void read_data(const reading *r, sn_recording *recording) {
    double metres = r->info.metres_per_unit > 0 ? r->info.metres_per_unit : 1;
    size_t sample = r->extent.scale < 0 ? 16 : 8;
    for (int frame = 0; frame < r->info.nframe; frame++) {
        double *row = sn_recording_edit(recording, frame), x[3];
        size_t at = r->extent.data + (size_t)frame * r->extent.frame_size;
        for (int i = 0; i < r->info.nmarker; i++, row += 3) {
            if (!read_sample(r, at + (size_t)r->point[i] * sample, x)) continue;
            for (int c = 0; c < 3; c++) row[c] = x[c] * metres;
        }
    }
}

static sn_status read_file(reading *r, sn_recording **out) {
    SN_TRY(sn_c3d_measure(&r->file, &r->extent, r->info.note, r->error));
    r->npoint = r->extent.npoint;
    r->info.nframe = r->extent.nframe;
    r->info.first_frame = r->extent.first;
    SN_TRY(read_info(r));
    SN_TRY(read_markers(r));
    sn_status status = sn_recording_create(&r->info, r->label, r->allocator, out, NULL);
    if (status != SN_OK) return sn_fail(r->error, status, 0, "%s", sn_status_text(status));
    read_data(r, *out);
    sn_drop_placeholders(*out);
    return SN_OK;
}

sn_status sn_c3d_read(const void *bytes, size_t length, const sn_allocator *allocator,
                      sn_recording **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    if (length > 0) SN_NEED(bytes, error);
    SN_NEED(out, error);
    if (bytes == NULL) bytes = "";
    reading r = {
        .file = {.bytes = bytes, .length = length}, .allocator = allocator, .error = error};
    sn_status status = read_file(&r, out);
    sn_release(allocator, r.block);
    return status;
}
