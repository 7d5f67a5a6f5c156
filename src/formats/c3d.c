// SPDX-License-Identifier: MIT
// Reading C3D: a header, a section of parameters, then frames of points and analog samples.
//
// The header and the parameters say many things twice. The header is believed: in files where the
// two differ it is the one that fits the data (number of frames, scale). Parameters step in where
// the header's 16 bits do not reach or it says nothing.
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/names.h"
#include "formats/c3d_section.h"
#include "sinew/formats.h"

enum {
    BLOCK = 512,
    LABEL = 256,        // bytes of a string's 255 characters
    SATURATED = 65535,  // the largest number in the header
    MAX_PARTS = 257     // of a list: that many times 255 strings for all points
};

typedef struct reading {
    sn_c3d_file file;
    const sn_allocator *allocator;
    sn_error *error;
    sn_recording_info info;
    size_t npoint, nanalog;   // of a frame, as stored
    double scale;             // of whole numbers; negative: floats, not scaled
    size_t data, frame_size;  // bytes
    int *point;               // nmarker: which point each marker is
    const char **label;       // npoint, later the nmarker that are kept
    char *pool;
    bool *other, *other_name;  // npoint: not a marker, by label and by name
    sn_names labels, names;    // points by label, and by label without subject
    void *block;
} reading;

#define FAIL(r, ...) sn_fail((r)->error, SN_ERR_PARSE, 0, __VA_ARGS__)

// Where the parameters and the data are, and whose bytes these are.
static sn_status read_places(reading *r) {
    sn_c3d_file *f = &r->file;
    if (f->length == 0) return FAIL(r, "byte 0: the file is empty");
    if (f->length < BLOCK)
        return FAIL(r, "byte %zu: the file ends inside the header of %d bytes", f->length, BLOCK);
    if (f->bytes[1] != 0x50)
        return FAIL(r, "byte 1: this is no C3D file: 0x50 expected, not 0x%02x", f->bytes[1]);
    if (f->bytes[0] < 2)
        return FAIL(r, "byte 0: the parameters cannot begin in block %d", f->bytes[0]);
    size_t section = ((size_t)f->bytes[0] - 1) * BLOCK;
    if (f->length < section + 4)
        return FAIL(r, "byte 0: the parameters begin at byte %zu, but the file has only %zu",
                    section, f->length);
    unsigned processor = f->bytes[section + 3];
    if (processor < SN_C3D_INTEL || processor > SN_C3D_MIPS)
        return FAIL(r, "byte %zu: unknown processor type %u (84, 85 and 86 are known)", section + 3,
                    processor);
    f->processor = (sn_c3d_processor)processor;
    f->section = section + 4;
    f->section_end = f->length;
    sn_c3d_param start;
    size_t block = sn_c3d_word(f, 16);
    if (block == 0) {
        SN_TRY(sn_c3d_find(f, "POINT", "DATA_START", &start, r->error));
        double number = sn_c3d_number(f, &start, 0, 0);
        block = number >= 0 && number <= SATURATED ? (size_t)number : 0;
    }
    if (block < 2) return FAIL(r, "byte 16: the data cannot begin in block %zu", block);
    r->data = (block - 1) * BLOCK;
    if (r->data >= f->length)
        return FAIL(r, "byte 16: the data begin at byte %zu, but the file has only %zu", r->data,
                    f->length);
    // parameters before the data end there at the latest
    if (r->data > section) f->section_end = r->data;
    return SN_OK;
}

static sn_status find_number(reading *r, const char *group, const char *name, double *out) {
    sn_c3d_param param;
    SN_TRY(sn_c3d_find(&r->file, group, name, &param, r->error));
    *out = sn_c3d_number(&r->file, &param, 0, -1);
    return SN_OK;
}

// A frame number of 32 bits, its low word first; -1 when there is none.
static sn_status find_field(reading *r, const char *name, double *out) {
    sn_c3d_param param;
    SN_TRY(sn_c3d_find(&r->file, "TRIAL", name, &param, r->error));
    *out = sn_c3d_number(&r->file, &param, 0, -1);
    if (param.type == 2) *out += 65536 * sn_c3d_number(&r->file, &param, 1, 0);
    return SN_OK;
}

// How many frames are claimed, and the number of the first.
static sn_status claimed_frames(reading *r, double *first, double *count) {
    double last = sn_c3d_word(&r->file, 8), start, end, longer, frames;
    *first = sn_c3d_word(&r->file, 6);
    *count = last - *first + 1;
    SN_TRY(find_field(r, "ACTUAL_START_FIELD", &start));
    SN_TRY(find_field(r, "ACTUAL_END_FIELD", &end));
    SN_TRY(find_number(r, "POINT", "LONG_FRAMES", &longer));
    SN_TRY(find_number(r, "POINT", "FRAMES", &frames));
    // the header's numbers are at their end, or went round
    bool wrapped = fmod(start, 65536) == *first && fmod(end, 65536) == last;
    if (start >= 0 && end >= start && (last == SATURATED || wrapped)) {
        *first = start;
        *count = end - start + 1;
    } else if (longer > SATURATED) {
        *count = longer;
    } else if (last == SATURATED || *count < 1) {
        if (frames > *count) *count = frames;
    }
    *count = floor(*count);
    if (!(*count >= 1)) return FAIL(r, "byte 6: the file has no frames");
    if (!(*count <= INT_MAX && *first <= INT_MAX))
        return FAIL(r, "byte 6: %.0f frames from %.0f on are too many", *count, *first);
    return SN_OK;
}

static sn_status read_scale(reading *r) {
    double parameter;
    sn_c3d_param param;
    SN_TRY(sn_c3d_find(&r->file, "POINT", "SCALE", &param, r->error));
    parameter = sn_c3d_number(&r->file, &param, 0, 0);
    r->scale = sn_c3d_float(&r->file, 12);
    bool header = isfinite(r->scale) && r->scale != 0;
    bool both = header && isfinite(parameter) && parameter != 0;
    if (both && (r->scale < 0) != (parameter < 0))
        return FAIL(r,
                    "byte 12: the header says that points are %s (scale %g), POINT:SCALE that they "
                    "are %s (%g)",
                    r->scale < 0 ? "floats" : "whole numbers", r->scale,
                    parameter < 0 ? "floats" : "whole numbers", parameter);
    if (!header) r->scale = parameter;
    if (!isfinite(r->scale) || r->scale == 0) return FAIL(r, "byte 12: the file states no scale");
    return SN_OK;
}

// What a frame is made of, and whether all that are claimed are there.
static sn_status read_frames(reading *r) {
    double used, first, count;
    r->npoint = sn_c3d_word(&r->file, 2);
    r->nanalog = sn_c3d_word(&r->file, 4);
    SN_TRY(find_number(r, "POINT", "USED", &used));
    if (used >= 0 && used != (double)r->npoint)
        return FAIL(r, "byte 2: the header says %zu points, POINT:USED says %.0f", r->npoint, used);
    if (r->npoint == 0) return FAIL(r, "byte 2: the file has no points");
    SN_TRY(read_scale(r));
    SN_TRY(claimed_frames(r, &first, &count));
    r->frame_size = (4 * r->npoint + r->nanalog) * (r->scale < 0 ? 4 : 2);
    size_t held = (r->file.length - r->data) / r->frame_size;
    if (count > (double)held)
        return FAIL(r, "byte %zu: the file claims %.0f frames of %zu bytes each but holds only %zu",
                    r->file.length, count, r->frame_size, held);
    r->info.nframe = (int)count;
    r->info.first_frame = (int)first;
    return SN_OK;
}

static sn_status read_info(reading *r) {
    sn_c3d_param param;
    r->info.rate = sn_c3d_float(&r->file, 20);
    if (!isfinite(r->info.rate) || r->info.rate <= 0)
        SN_TRY(find_number(r, "POINT", "RATE", &r->info.rate));
    if (!isfinite(r->info.rate) || r->info.rate < 0) r->info.rate = 0;
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
    if (r->scale < 0) {
        for (size_t i = 0; i < 3; i++) x[i] = sn_c3d_float(f, at + 4 * i);
        residual = sn_c3d_float(f, at + 12);
    } else {
        for (size_t i = 0; i < 3; i++) {
            unsigned word = sn_c3d_word(f, at + 2 * i);
            x[i] = r->scale * (word < 32768 ? (double)word : (double)word - 65536);
        }
        residual = sn_c3d_word(f, at + 6) < 32768 ? 0 : -1;
    }
    bool zero = x[0] == 0 && x[1] == 0 && x[2] == 0;
    return !(residual < 0) && !zero && isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]);
}

static void read_data(const reading *r, sn_recording *recording) {
    double metres = r->info.metres_per_unit > 0 ? r->info.metres_per_unit : 1;
    size_t sample = r->scale < 0 ? 16 : 8;
    for (int frame = 0; frame < r->info.nframe; frame++) {
        double *row = sn_recording_edit(recording, frame), x[3];
        size_t at = r->data + (size_t)frame * r->frame_size;
        for (int i = 0; i < r->info.nmarker; i++, row += 3) {
            if (!read_sample(r, at + (size_t)r->point[i] * sample, x)) continue;
            for (int c = 0; c < 3; c++) row[c] = x[c] * metres;
        }
    }
}

static sn_status read_file(reading *r, sn_recording **out) {
    SN_TRY(read_places(r));
    SN_TRY(read_frames(r));
    SN_TRY(read_info(r));
    SN_TRY(read_markers(r));
    sn_status status = sn_recording_create(&r->info, r->label, r->allocator, out);
    if (status != SN_OK) return sn_fail(r->error, status, 0, "%s", sn_status_text(status));
    read_data(r, *out);
    return SN_OK;
}

sn_status sn_c3d_read(const void *bytes, size_t length, const sn_allocator *allocator,
                      sn_recording **out, sn_error *error) {
    *out = NULL;
    reading r = {
        .file = {.bytes = bytes, .length = length}, .allocator = allocator, .error = error};
    sn_status status = read_file(&r, out);
    sn_release(allocator, r.block);
    return status;
}
