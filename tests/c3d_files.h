// SPDX-License-Identifier: MIT
// What the tests of C3D share.
#pragma once

#include "support.h"

#include "sinew/files.h"

enum { BLOCK = 512, INTEL = 84, DEC = 85, MIPS = 86 };

// A file being made. All numbers go through put_word and put_float in its processor's order.
typedef struct maker {
    uint8_t *bytes;
    size_t length, at;   // at: where the next parameter goes
    size_t last_offset;  // the distance word of the last record
    int processor;
    bool real;
    int npoint, nframe, parameters, data;  // blocks from 1
} maker;

static void put_word(maker *m, size_t at, unsigned value) {
    m->bytes[at + (m->processor == MIPS)] = (uint8_t)(value & 255);
    m->bytes[at + (m->processor != MIPS)] = (uint8_t)(value >> 8 & 255);
}

static void put_float(maker *m, size_t at, float value) {
    if (m->processor == DEC) value *= 4;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_word(m, at + (m->processor == INTEL ? 2 : 0), bits >> 16);
    put_word(m, at + (m->processor == INTEL ? 0 : 2), bits & 0xffff);
}

static void put_name(maker *m, const char *name, int id, bool locked) {
    int n = (int)strlen(name);
    m->bytes[m->at++] = (uint8_t)(locked ? -n : n);
    m->bytes[m->at++] = (uint8_t)id;
    memcpy(m->bytes + m->at, name, (size_t)n);
    m->last_offset = m->at + (size_t)n;
    m->at = m->last_offset + 2;
}

static void put_end(maker *m) {
    m->bytes[m->at++] = 0;  // no description
    put_word(m, m->last_offset, (unsigned)(m->at - m->last_offset));
}

static void put_group(maker *m, const char *name, int id) {
    put_name(m, name, -id, false);
    put_end(m);
}

static void put_numbers(maker *m, const char *name, int id, int type, int count, const double *x) {
    put_name(m, name, id, true);
    m->bytes[m->at++] = (uint8_t)type;
    m->bytes[m->at++] = count > 1;
    if (count > 1) m->bytes[m->at++] = (uint8_t)count;
    for (int i = 0; i < count; i++, m->at += (size_t)type) {
        if (type == 2)
            put_word(m, m->at, (unsigned)x[i]);
        else
            put_float(m, m->at, (float)x[i]);
    }
    put_end(m);
}

static void put_number(maker *m, const char *name, int id, int type, double x) {
    put_numbers(m, name, id, type, 1, &x);
}

// Strings of one width, padded with blanks.
static void put_strings(maker *m, const char *name, int id, int width, int count,
                        const char *const *strings) {
    put_name(m, name, id, false);
    m->bytes[m->at++] = 0xff;
    m->bytes[m->at++] = 2;
    m->bytes[m->at++] = (uint8_t)width;
    m->bytes[m->at++] = (uint8_t)count;
    for (int i = 0; i < count; i++, m->at += (size_t)width) {
        memset(m->bytes + m->at, ' ', (size_t)width);
        memcpy(m->bytes + m->at, strings[i], strlen(strings[i]));
    }
    put_end(m);
}

// Coordinate c of point p in frame f, a multiple of the scale 0.25 of whole numbers.
static double value(int f, int p, int c) {
    return 0.25 * (((f * 31 + p * 7 + c * 3) % 2001) - 1000) + 0.25;
}

static size_t sample_at(const maker *m, int f, int p) {
    return (size_t)(m->data - 1) * BLOCK + (size_t)(f * m->npoint + p) * (m->real ? 16 : 8);
}

static void put_sample(maker *m, int f, int p, const double x[3], int residual) {
    size_t at = sample_at(m, f, p);
    for (size_t c = 0; c < 3; c++) {
        if (m->real)
            put_float(m, at + 4 * c, (float)x[c]);
        else
            put_word(m, at + 2 * c, (unsigned)(int)(x[c] * 4) & 0xffff);
    }
    if (m->real)
        put_float(m, at + 12, (float)residual);
    else
        put_word(m, at + 6, (unsigned)residual & 0xffff);
}

static maker make(int processor, bool real, int npoint, int nframe, int parameters, int data) {
    maker m = {.processor = processor,
               .real = real,
               .npoint = npoint,
               .nframe = nframe,
               .parameters = parameters,
               .data = data};
    size_t size = (size_t)npoint * (size_t)nframe * (real ? 16 : 8);
    size_t last = (size_t)(parameters > data ? parameters + 7 : data - 1) * BLOCK;
    m.length = parameters > data ? last : last + (size + BLOCK - 1) / BLOCK * BLOCK;
    m.bytes = calloc(m.length, 1);
    assert_non_null(m.bytes);
    m.bytes[0] = (uint8_t)parameters;
    m.bytes[1] = 0x50;
    size_t section = (size_t)(parameters - 1) * BLOCK;
    m.bytes[section + 2] = 1;  // less than there is, as real files say
    m.bytes[section + 3] = (uint8_t)processor;
    m.at = section + 4;
    put_word(&m, 2, (unsigned)npoint);
    put_word(&m, 6, 5);
    put_word(&m, 8, (unsigned)(nframe + 4) & 0xffff);
    put_float(&m, 12, real ? -0.25f : 0.25f);
    put_word(&m, 16, (unsigned)data);
    put_float(&m, 20, 100);
    for (int f = 0; f < nframe; f++)
        for (int p = 0; p < npoint; p++) {
            const double x[3] = {value(f, p, 0), value(f, p, 1), value(f, p, 2)};
            put_sample(&m, f, p, x, 3);
        }
    return m;
}

static const char *const three[] = {"Ann:LFHD", "Ann:RFHD", "C7"};
static const char *const millimetres[] = {"mm"};

// A usual small file: three points, four frames.
static maker small_file(int processor, bool real) {
    maker m = make(processor, real, 3, 4, 2, 4);
    put_group(&m, "POINT", 1);
    put_number(&m, "USED", 1, 2, 3);
    put_number(&m, "SCALE", 1, 4, real ? -0.25 : 0.25);
    put_strings(&m, "LABELS", 1, 10, 3, three);
    put_strings(&m, "UNITS", 1, 4, 1, millimetres);
    put_strings(&m, "X_SCREEN", 1, 2, 1, (const char *const[]){"+Y"});
    put_strings(&m, "Y_SCREEN", 1, 2, 1, (const char *const[]){"+Z"});
    return m;
}

static sn_recording *read_bytes(const void *bytes, size_t length) {
    sn_recording *r;
    sn_error error = {0};
    if (sn_c3d_read(bytes, length, NULL, &r, &error) != SN_OK) fail_msg("%s", error.text);
    return r;
}

static sn_recording *read_made(maker *m) {
    sn_recording *r = read_bytes(m->bytes, m->length);
    free(m->bytes);
    return r;
}

static void check_note(maker *m, int nframe, int nmarker, double rate, const char *note) {
    sn_recording *r = read_made(m);
    const sn_recording_info *info = sn_recording_about(r);
    assert_string_equal(info->note, note);
    assert_int_equal(info->nframe, nframe);
    assert_int_equal(info->nmarker, nmarker);
    assert_true(info->rate == rate);
    for (int p = 0; p < nmarker; p++)
        assert_near(sn_recording_frame(r, nframe - 1)[3 * p] /
                        (info->metres_per_unit > 0 ? info->metres_per_unit : 1),
                    value(nframe - 1, p, 0), 1e-12);
    sn_recording_destroy(r);
}
