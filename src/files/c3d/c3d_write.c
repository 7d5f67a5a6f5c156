// SPDX-License-Identifier: MIT
// Writing C3D: a header of one block, the parameters from block 2 on, then the frames.
//
// The parameters are put together in memory first: where the data begin stands before them.
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "files/c3d/c3d_section.h"
#include "files/markers.h"
#include "math/round.h"

enum {
    VERSION = 1,
    BLOCK = 512,
    MAX_WORD = 65535,
    MAX_BLOCKS = 255,  // of parameters
    MAX_STRINGS = 255  // of one parameter, and bytes of one string
};

enum { POINT = 1, ANALOG, FORCE_PLATFORM, TRIAL };  // groups

typedef struct writing {
    const sn_recording *recording;
    const sn_recording_info *info;
    sn_c3d_options options;
    sn_markers_unit unit;
    sn_error *error;
    double scale;      // in the file's unit, always positive
    int64_t first;     // number of the first frame
    uint8_t *section;  // NULL while measuring
    size_t used;       // bytes of it
    size_t distance;   // where the distance of the open record goes
} writing;

sn_c3d_options sn_c3d_options_default(void) {
    return (sn_c3d_options){.version = VERSION, .unit = "mm", .processor = SN_C3D_INTEL};
}

// Numbers in the processor's order.

static void put_word(const writing *w, uint8_t *to, unsigned value) {
    bool big = w->options.processor == SN_C3D_MIPS;
    to[big] = (uint8_t)(value & 255);
    to[!big] = (uint8_t)(value >> 8 & 255);
}

static void put_float(const writing *w, uint8_t *to, double value) {
    bool dec = w->options.processor == SN_C3D_DEC, intel = w->options.processor == SN_C3D_INTEL;
    float number = (float)(dec ? value * 4 : value);
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    put_word(w, to + (intel ? 2 : 0), bits >> 16);
    put_word(w, to + (intel ? 0 : 2), bits & 0xffff);
}

// Whether a float of the file can hold it.
static bool fits_float(const writing *w, double value) {
    return isfinite((float)(w->options.processor == SN_C3D_DEC ? value * 4 : value));
}

// Records of the parameter section.

static void add_byte(writing *w, int value) {
    if (w->section != NULL) w->section[w->used] = (uint8_t)(value & 255);
    w->used++;
}

static void add_word(writing *w, unsigned value) {
    if (w->section != NULL) put_word(w, w->section + w->used, value);
    w->used += 2;
}

static void begin_record(writing *w, const char *name, int group) {
    add_byte(w, (int)strlen(name));
    add_byte(w, group);
    for (const char *c = name; *c != '\0'; c++) add_byte(w, *c);
    w->distance = w->used;
    add_word(w, 0);
}

static void end_record(writing *w) {
    add_byte(w, 0);  // no description
    if (w->section != NULL)
        put_word(w, w->section + w->distance, (unsigned)(w->used - w->distance));
}

static void add_group(writing *w, const char *name, int group) {
    begin_record(w, name, -group);
    end_record(w);
}

static void add_words(writing *w, int group, const char *name, int count, const unsigned *words) {
    begin_record(w, name, group);
    add_byte(w, 2);
    add_byte(w, count > 1);
    if (count > 1) add_byte(w, count);
    for (int i = 0; i < count; i++) add_word(w, words[i]);
    end_record(w);
}

static void add_integer(writing *w, int group, const char *name, unsigned word) {
    add_words(w, group, name, 1, &word);
}

static void add_real(writing *w, int group, const char *name, double value) {
    begin_record(w, name, group);
    add_byte(w, 4);
    add_byte(w, 0);
    if (w->section != NULL) put_float(w, w->section + w->used, value);
    w->used += 4;
    end_record(w);
}

static void add_string(writing *w, int group, const char *name, const char *text) {
    begin_record(w, name, group);
    add_byte(w, -1);
    add_byte(w, 1);
    add_byte(w, (int)strlen(text));
    for (const char *c = text; *c != '\0'; c++) add_byte(w, *c);
    end_record(w);
}

// A list of a string per marker, 255 at a time: NAME, NAME2, NAME3, ...
static void add_list(writing *w, const char *name, bool labels) {
    for (int start = 0, part = 1; start < w->info->nmarker; start += MAX_STRINGS, part++) {
        char full[32];
        int count = w->info->nmarker - start;
        if (count > MAX_STRINGS) count = MAX_STRINGS;
        (void)snprintf(full, sizeof full, part == 1 ? "%s" : "%s%d", name, part);
        size_t width = 1;
        for (int i = 0; i < count && labels; i++) {
            size_t length = strlen(sn_recording_label(w->recording, start + i));
            if (length > width) width = length;
        }
        begin_record(w, full, POINT);
        add_byte(w, -1);
        add_byte(w, 2);
        add_byte(w, (int)width);
        add_byte(w, count);
        for (int i = 0; i < count; i++) {
            const char *text = labels ? sn_recording_label(w->recording, start + i) : "";
            size_t length = strlen(text);
            for (size_t k = 0; k < width; k++) add_byte(w, k < length ? text[k] : ' ');
        }
        end_record(w);
    }
}

static size_t section_blocks(const writing *w) { return (w->used + BLOCK - 1) / BLOCK; }

// All parameters. Runs twice: measuring, then in place.
static void add_parameters(writing *w, unsigned data_start, size_t blocks) {
    const sn_recording_info *info = w->info;
    int64_t last = w->first + info->nframe - 1;
    w->used = 0;
    add_byte(w, 1);
    add_byte(w, 0x50);
    add_byte(w, (int)blocks);
    add_byte(w, (int)w->options.processor);
    add_group(w, "POINT", POINT);
    add_integer(w, POINT, "USED", (unsigned)info->nmarker);
    add_integer(w, POINT, "FRAMES", info->nframe < MAX_WORD ? (unsigned)info->nframe : MAX_WORD);
    if (info->nframe > MAX_WORD) add_real(w, POINT, "LONG_FRAMES", info->nframe);
    add_integer(w, POINT, "DATA_START", data_start);
    add_real(w, POINT, "SCALE", w->options.integers ? w->scale : -w->scale);
    add_real(w, POINT, "RATE", info->rate);
    add_string(w, POINT, "UNITS", w->unit.name);
    add_list(w, "LABELS", true);
    add_list(w, "DESCRIPTIONS", false);
    if (info->x_screen[0] != '\0') add_string(w, POINT, "X_SCREEN", info->x_screen);
    if (info->y_screen[0] != '\0') add_string(w, POINT, "Y_SCREEN", info->y_screen);
    // many programs look for these two even when there is nothing in them
    add_group(w, "ANALOG", ANALOG);
    add_integer(w, ANALOG, "USED", 0);
    add_real(w, ANALOG, "GEN_SCALE", 1);
    add_real(w, ANALOG, "RATE", info->rate);
    add_group(w, "FORCE_PLATFORM", FORCE_PLATFORM);
    add_integer(w, FORCE_PLATFORM, "USED", 0);
    // frame numbers of 32 bits, the low word first
    add_group(w, "TRIAL", TRIAL);
    const unsigned start[2] = {(unsigned)(w->first & MAX_WORD), (unsigned)(w->first >> 16)};
    const unsigned end[2] = {(unsigned)(last & MAX_WORD), (unsigned)(last >> 16)};
    add_words(w, TRIAL, "ACTUAL_START_FIELD", 2, start);
    add_words(w, TRIAL, "ACTUAL_END_FIELD", 2, end);
    add_byte(w, 0);
}

static void write_header(const writing *w, unsigned data_start, sn_out *o) {
    uint8_t block[BLOCK] = {2, 0x50};
    int64_t last = w->first + w->info->nframe - 1;
    put_word(w, block + 2, (unsigned)w->info->nmarker);
    put_word(w, block + 6, w->first < MAX_WORD ? (unsigned)w->first : MAX_WORD);
    put_word(w, block + 8, last < MAX_WORD ? (unsigned)last : MAX_WORD);
    put_float(w, block + 12, w->options.integers ? w->scale : -w->scale);
    put_word(w, block + 16, data_start);
    put_float(w, block + 20, w->info->rate);
    put_word(w, block + 298, 12345);  // events would have labels of four letters; there are none
    sn_out_bytes(o, block, sizeof block);
}

// The step of whole numbers: the largest coordinate becomes 32000. Also checks that all can be
// written.
static sn_status find_scale(writing *w) {
    double most = 0;
    for (int f = 0; f < w->info->nframe; f++) {
        const double *x = sn_recording_frame(w->recording, f);
        for (int i = 0; i < w->info->nmarker; i++) {
            if (!sn_recording_present(w->recording, f, i)) continue;
            for (int c = 3 * i; c < 3 * i + 3; c++) most = fmax(most, fabs(x[c] / w->unit.metres));
            if (!fits_float(w, most))
                return sn_fail(w->error, SN_ERR_VALUE, 0,
                               "marker '%.60s' of frame %d lies too far away for a C3D file",
                               sn_recording_label(w->recording, i), f + 1);
        }
    }
    // as the file will hold it, so that rounding is to its very steps; and never rounded to zero
    float scale = (float)(most / 32000);
    w->scale = scale > 1e-30f ? (double)scale : 1;
    return SN_OK;
}

static void write_sample(const writing *w, const double *x, bool present, sn_out *o) {
    uint8_t bytes[16] = {0};
    bool integers = w->options.integers;
    for (int c = 0; c < 3 && present; c++) {
        double value = x[c] / w->unit.metres;
        if (integers)
            put_word(w, bytes + 2 * c, (unsigned)(int)sn_round(value / w->scale) & MAX_WORD);
        else
            put_float(w, bytes + 4 * c, value);
    }
    if (!present && integers) put_word(w, bytes + 6, MAX_WORD);
    if (!present && !integers) put_float(w, bytes + 12, -1);
    sn_out_bytes(o, bytes, integers ? 8 : 16);
}

static void write_data(const writing *w, sn_out *o) {
    for (int f = 0; f < w->info->nframe; f++) {
        const double *x = sn_recording_frame(w->recording, f);
        for (int i = 0; i < w->info->nmarker; i++)
            write_sample(w, x + 3 * (size_t)i, sn_recording_present(w->recording, f, i), o);
    }
    // whole blocks
    static const uint8_t zero[BLOCK] = {0};
    size_t sample = w->options.integers ? 8 : 16;
    size_t past = (size_t)w->info->nframe % BLOCK * ((size_t)w->info->nmarker % BLOCK) * sample;
    sn_out_bytes(o, zero, (BLOCK - past % BLOCK) % BLOCK);
}

static sn_status check(const writing *w) {
    const sn_c3d_options *options = &w->options;
    if (options->version != VERSION || options->unit == NULL ||
        (options->processor != SN_C3D_INTEL && options->processor != SN_C3D_DEC &&
         options->processor != SN_C3D_MIPS))
        return sn_fail(w->error, SN_ERR_ARGUMENT, 0,
                       "the options do not come from sn_c3d_options_default()");
    if (w->info->nmarker > MAX_WORD)
        return sn_fail(w->error, SN_ERR_SIZE, 0, "a C3D file holds at most 65535 points, not %d",
                       w->info->nmarker);
    if (!fits_float(w, w->info->rate))
        return sn_fail(w->error, SN_ERR_VALUE, 0, "a frame rate cannot be %g", w->info->rate);
    for (int i = 0; i < w->info->nmarker; i++)
        if (strlen(sn_recording_label(w->recording, i)) > MAX_STRINGS)
            return sn_fail(w->error, SN_ERR_SIZE, 0,
                           "the name of marker %d is longer than the 255 bytes of a C3D file",
                           i + 1);
    return SN_OK;
}

sn_status sn_c3d_write(const sn_recording *recording, const sn_c3d_options *options,
                       const sn_sink *sink, const sn_allocator *allocator, sn_error *error) {
    SN_NEED(recording, error);
    SN_NEED(sink, error);
    SN_NEED(sink->write, error);
    writing w = {.recording = recording,
                 .info = sn_recording_about(recording),
                 .options = options != NULL ? *options : sn_c3d_options_default(),
                 .error = error};
    SN_TRY(check(&w));
    SN_TRY(sn_markers_begin(recording, w.options.unit, &w.unit, error));
    SN_TRY(find_scale(&w));
    w.first = w.info->first_frame > 1 ? w.info->first_frame : 1;
    add_parameters(&w, 0, 0);
    size_t blocks = section_blocks(&w);
    if (blocks > MAX_BLOCKS)
        return sn_fail(error, SN_ERR_SIZE, 0,
                       "the names of %d markers take more room than a C3D file has for them",
                       w.info->nmarker);
    w.section = sn_acquire(allocator, blocks * BLOCK);
    if (w.section == NULL) return sn_fail_memory(error);
    memset(w.section, 0, blocks * BLOCK);
    unsigned data_start = (unsigned)blocks + 2;
    add_parameters(&w, data_start, blocks);

    sn_out o;
    sn_out_begin(&o, sink);
    write_header(&w, data_start, &o);
    sn_out_bytes(&o, w.section, blocks * BLOCK);
    sn_release(allocator, w.section);
    write_data(&w, &o);
    return sn_out_end(&o, error);
}
