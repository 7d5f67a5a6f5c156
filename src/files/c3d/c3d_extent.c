// SPDX-License-Identifier: MIT
// How much a C3D file holds. The header and the parameters say most of it twice, in 16 bits each.
//
// Where the two differ, what fits the data is taken: frames fill the data section but for less than
// a block. Else the header is believed. A count of frames that went round at 65536 is told by the
// same rule: with a multiple of 65536 added it fills the section.
#include "files/c3d/c3d_extent.h"

#include <limits.h>
#include <math.h>

#include "files/note.h"

enum {
    BLOCK = 512,
    SATURATED = 65535  // the largest number in the header
};

typedef struct reading {
    sn_c3d_file *file;
    sn_c3d_extent *out;
    size_t room;  // bytes of the data section
    char *note;
    sn_error *error;
} reading;

#define FAIL(r, ...) sn_fail((r)->error, SN_ERR_PARSE, 0, __VA_ARGS__)

sn_status sn_c3d_find_number(const sn_c3d_file *file, const char *group, const char *name,
                             double *out, sn_error *error) {
    sn_c3d_param param;
    SN_TRY(sn_c3d_find(file, group, name, &param, error));
    *out = sn_c3d_number(file, &param, 0, -1);
    return SN_OK;
}

// Where the parameters and the data are, and whose bytes these are.
static sn_status read_places(reading *r) {
    sn_c3d_file *f = r->file;
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
    double block = sn_c3d_word(f, 16);
    if (block == 0) SN_TRY(sn_c3d_find_number(f, "POINT", "DATA_START", &block, r->error));
    if (!(block >= 2 && block <= SATURATED))
        return FAIL(r, "byte 16: the data cannot begin in block %.0f", fmax(block, 0));
    size_t data = ((size_t)block - 1) * BLOCK;
    r->out->data = data;
    if (data >= f->length)
        return FAIL(r, "byte 16: the data begin at byte %zu, but the file has only %zu", data,
                    f->length);
    // whichever comes first ends where the other begins
    if (data > section) f->section_end = data;
    r->room = (section > data ? section : f->length) - data;
    return SN_OK;
}

static sn_status read_scale(reading *r) {
    double parameter, scale = sn_c3d_float(r->file, 12);
    sn_c3d_param param;
    SN_TRY(sn_c3d_find(r->file, "POINT", "SCALE", &param, r->error));
    parameter = sn_c3d_number(r->file, &param, 0, 0);
    bool header = isfinite(scale) && scale != 0;
    bool both = header && isfinite(parameter) && parameter != 0;
    if (both && (scale < 0) != (parameter < 0))
        return FAIL(r,
                    "byte 12: the header says that points are %s (scale %g), POINT:SCALE that they "
                    "are %s (%g)",
                    scale < 0 ? "floats" : "whole numbers", scale,
                    parameter < 0 ? "floats" : "whole numbers", parameter);
    if (!header) scale = parameter;
    if (!isfinite(scale) || scale == 0) return FAIL(r, "byte 12: the file states no scale");
    r->out->scale = scale;
    return SN_OK;
}

static size_t size_of(const reading *r, double npoint) {
    return (4 * (size_t)npoint + r->out->nanalog) * (r->out->scale < 0 ? 4 : 2);
}

// Whether so many frames fill the data section, but for the rest of a block.
static bool fills(const reading *r, double count, size_t size) {
    double left = (double)r->room - count * (double)size;
    return count >= 1 && left >= 0 && left < BLOCK;
}

// A frame number of 32 bits, its low word first; -1 when there is none.
static sn_status find_field(reading *r, const char *name, double *out) {
    sn_c3d_param param;
    SN_TRY(sn_c3d_find(r->file, "TRIAL", name, &param, r->error));
    *out = sn_c3d_number(r->file, &param, 0, -1);
    if (param.type == 2) *out += 65536 * sn_c3d_number(r->file, &param, 1, 0);
    return SN_OK;
}

// How many frames are claimed, and the number of the first. `sure`: by something that has more
// than 16 bits.
static sn_status claimed_frames(reading *r, double *first, double *count, bool *sure) {
    double last = sn_c3d_word(r->file, 8), start, end, longer, frames;
    *first = sn_c3d_word(r->file, 6);
    *count = last - *first + 1;
    SN_TRY(find_field(r, "ACTUAL_START_FIELD", &start));
    SN_TRY(find_field(r, "ACTUAL_END_FIELD", &end));
    SN_TRY(sn_c3d_find_number(r->file, "POINT", "LONG_FRAMES", &longer, r->error));
    SN_TRY(sn_c3d_find_number(r->file, "POINT", "FRAMES", &frames, r->error));
    // the header's numbers are at their end, or went round
    bool wrapped = fmod(start, 65536) == *first && fmod(end, 65536) == last;
    *sure = true;
    if (start >= 0 && end >= start && (last == SATURATED || wrapped)) {
        *first = start;
        *count = end - start + 1;
    } else if (longer > SATURATED) {
        *count = longer;
    } else if ((last == SATURATED || *count < 1) && frames >= 1 && frames > *count) {
        *count = frames;
        *sure = frames > SATURATED;
    } else {
        *sure = false;
        size_t size = size_of(r, (double)r->out->npoint);
        // a length of 65535 stands for all that are longer
        if (frames >= 1 && frames < SATURATED && frames != *count) {
            bool other = fills(r, frames, size) && !fills(r, *count, size);
            sn_note(r->note, "the header states %.0f frames, POINT:FRAMES %.0f: %s", *count, frames,
                    other ? "the latter fit the data" : "the header is believed");
            if (other) *count = frames;
        }
    }
    *count = floor(*count);
    return SN_OK;
}

// Frames up to the end of the data, without those that are padding of the last block.
static double all_frames(const reading *r) {
    size_t size = r->out->frame_size, count = r->room / size;
    const uint8_t *data = r->file->bytes + r->out->data;
    for (; count > 0 && r->room - (count - 1) * size < BLOCK; count--)
        for (size_t i = (count - 1) * size; i < count * size; i++)
            if (data[i] != 0) return (double)count;
    return (double)count;
}

// A count that went round at 65536, or stands at its end.
static void unwrap(reading *r, double *count) {
    size_t size = r->out->frame_size;
    if (fills(r, *count, size)) return;
    if (sn_c3d_word(r->file, 8) == SATURATED && all_frames(r) > *count) {
        double stated = *count;
        *count = all_frames(r);
        sn_note(r->note, "%.0f frames are stated, the most that can be, and %.0f are there", stated,
                *count);
        return;
    }
    double held = floor((double)r->room / (double)size), low = fmod(*count, 65536);
    if (low < 0) low += 65536;
    double all = low + 65536 * floor((held - low) / 65536);
    if (!(all > *count) || !fills(r, all, size)) return;
    sn_note(r->note, "%.0f frames are stated, but %.0f are there: the count went round at 65536",
            fmax(*count, 0), all);
    *count = all;
}

static sn_status read_frames(reading *r) {
    sn_c3d_extent *e = r->out;
    double first, count;
    bool sure;
    SN_TRY(claimed_frames(r, &first, &count, &sure));
    if (!sure) unwrap(r, &count);
    if (!(count >= 1)) return FAIL(r, "byte 6: the file has no frames");
    if (!(count <= INT_MAX && first <= INT_MAX))
        return FAIL(r, "byte 6: %.0f frames from %.0f on are too many", count, first);
    size_t held = r->room / e->frame_size;
    if (count > (double)held)
        return FAIL(
            r,
            "byte %zu: the file claims %.0f frames of %zu bytes each but holds only %zu: it "
            "was cut off, or its header is wrong",
            r->file->length, count, e->frame_size, held);
    if (r->room - (size_t)count * e->frame_size >= BLOCK && (double)held > count)
        sn_note(r->note, "%.0f frames are stated and read, but there is room for %zu", count, held);
    e->nframe = (int)count;
    e->first = (int)first;
    return SN_OK;
}

// How many analog samples a frame has: the header's number, unless only the parameter's fits.
static sn_status read_analog(reading *r) {
    sn_c3d_extent *e = r->out;
    double used, count = (double)sn_c3d_word(r->file, 8) - sn_c3d_word(r->file, 6) + 1;
    SN_TRY(sn_c3d_find_number(r->file, "ANALOG", "USED", &used, r->error));
    if (fills(r, count, size_of(r, (double)e->npoint)) || !(used >= 0 && used <= SATURATED))
        return SN_OK;
    size_t header = e->nanalog;
    e->nanalog = (size_t)used * sn_c3d_word(r->file, 18);
    if (e->nanalog == header || !fills(r, count, size_of(r, (double)e->npoint))) {
        e->nanalog = header;
        return SN_OK;
    }
    sn_note(r->note,
            "the header says %zu analog samples in a frame, ANALOG:USED %zu: the latter "
            "fits the data",
            header, e->nanalog);
    return SN_OK;
}

// How many points: the header's number, unless only the parameter's fits the data.
static sn_status read_points(reading *r) {
    sn_c3d_extent *e = r->out;
    double used, count = (double)sn_c3d_word(r->file, 8) - sn_c3d_word(r->file, 6) + 1;
    e->npoint = sn_c3d_word(r->file, 2);
    e->nanalog = sn_c3d_word(r->file, 4);
    SN_TRY(sn_c3d_find_number(r->file, "POINT", "USED", &used, r->error));
    SN_TRY(read_scale(r));
    if (used >= 0 && used != (double)e->npoint) {
        bool header = e->npoint > 0 && fills(r, count, size_of(r, (double)e->npoint));
        bool other = used >= 1 && used <= SATURATED && fills(r, count, size_of(r, used));
        if (header == other)
            return FAIL(r, "byte 2: the header says %zu points, POINT:USED says %.0f", e->npoint,
                        used);
        sn_note(r->note, "the header says %zu points, POINT:USED %.0f: %s fits the data", e->npoint,
                used, header ? "the header" : "the latter");
        if (other) e->npoint = (size_t)used;
    }
    if (e->npoint == 0) return FAIL(r, "byte 2: the file has no points");
    SN_TRY(read_analog(r));
    e->frame_size = size_of(r, (double)e->npoint);
    return SN_OK;
}

sn_status sn_c3d_measure(sn_c3d_file *file, sn_c3d_extent *out, char note[], sn_error *error) {
    reading r = {.file = file, .out = out, .note = note, .error = error};
    SN_TRY(read_places(&r));
    SN_TRY(read_points(&r));
    return read_frames(&r);
}
