// SPDX-License-Identifier: MIT
// C3D: files made here in every encoding, every file of the data folder, golden marker positions,
// broken and cut files.
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

static void check_values(const sn_recording *r, double unit) {
    const sn_recording_info *info = sn_recording_about(r);
    for (int f = 0; f < info->nframe; f++)
        for (int p = 0; p < info->nmarker; p++)
            for (int c = 0; c < 3; c++)
                assert_near(sn_recording_frame(r, f)[3 * p + c], value(f, p, c) * unit, 1e-15);
}

static void encodings(void **unused) {
    (void)unused;
    for (int processor = INTEL; processor <= MIPS; processor++)
        for (int real = 0; real < 2; real++) {
            maker m = small_file(processor, real);
            sn_recording *r = read_made(&m);
            const sn_recording_info *info = sn_recording_about(r);
            assert_int_equal(info->nframe, 4);
            assert_int_equal(info->nmarker, 3);
            assert_int_equal(info->nother, 0);
            assert_int_equal(info->first_frame, 5);
            assert_true(info->rate == 100 && info->metres_per_unit == 0.001);
            assert_string_equal(info->unit, "mm");
            assert_string_equal(info->x_screen, "+Y");
            assert_string_equal(info->y_screen, "+Z");
            for (int i = 0; i < 3; i++) assert_string_equal(sn_recording_label(r, i), three[i]);
            check_values(r, 0.001);
            sn_recording_destroy(r);
        }
}

// Lengths in no known unit stay as they are; so do they without any parameters at all.
static void unknown_units(void **unused) {
    (void)unused;
    maker m = make(INTEL, true, 3, 4, 2, 4);
    put_group(&m, "POINT", 1);
    put_strings(&m, "UNITS", 1, 6, 1, (const char *const[]){"cubits"});
    sn_recording *r = read_made(&m);
    assert_true(sn_recording_about(r)->metres_per_unit == 0);
    assert_string_equal(sn_recording_about(r)->unit, "cubits");
    assert_string_equal(sn_recording_label(r, 2), "*2");
    check_values(r, 1);
    sn_recording_destroy(r);
    m = make(DEC, false, 3, 4, 2, 3);
    r = read_made(&m);
    assert_string_equal(sn_recording_about(r)->unit, "");
    check_values(r, 1);
    sn_recording_destroy(r);
}

static void missing_samples(void **unused) {
    (void)unused;
    static const double zero[3] = {0, 0, 0}, some[3] = {1, 2, 3}, axis[3] = {0, 0, 7};
    static const double nan[3] = {1, NAN, 3};
    for (int real = 0; real < 2; real++) {
        maker m = small_file(real ? DEC : MIPS, real);
        put_sample(&m, 0, 0, some, -1);
        put_sample(&m, 1, 0, zero, 0);
        put_sample(&m, 2, 0, axis, 0);  // two zeros are a place
        if (real) put_sample(&m, 3, 1, nan, 0);
        sn_recording *r = read_made(&m);
        assert_int_equal(sn_recording_missing(r, 0), 2);
        assert_int_equal(sn_recording_missing(r, 1), real);
        assert_int_equal(sn_recording_missing(r, 2), 0);
        for (int c = 3; real && c < 6; c++) assert_true(isnan(sn_recording_frame(r, 3)[c]));
        assert_true(isnan(sn_recording_frame(r, 0)[0]) && isnan(sn_recording_frame(r, 1)[2]));
        assert_near(sn_recording_frame(r, 2)[2], 0.007, 1e-15);
        sn_recording_destroy(r);
    }
}

// The section after the data, its group after its parameters, names in small letters, the last
// record without a distance.
static void odd_sections(void **unused) {
    (void)unused;
    maker m = make(MIPS, false, 3, 4, 9, 2);
    put_strings(&m, "Labels", 7, 8, 3, three);
    put_group(&m, "OTHER", 2);
    put_number(&m, "USED", 2, 2, 99);  // another group's
    put_group(&m, "point", 7);
    put_strings(&m, "units", 7, 4, 1, millimetres);
    put_word(&m, m.last_offset, 0);
    // beyond the last: not to be met
    put_strings(&m, "X_SCREEN", 7, 2, 1, (const char *const[]){"+X"});
    sn_recording *r = read_made(&m);
    assert_string_equal(sn_recording_label(r, 0), "Ann:LFHD");
    assert_string_equal(sn_recording_about(r)->unit, "mm");
    assert_string_equal(sn_recording_about(r)->x_screen, "");
    check_values(r, 0.001);
    sn_recording_destroy(r);
    // a list that leads into the data, which look like one more record
    m = make(INTEL, false, 3, 4, 2, 3);
    put_group(&m, "POINT", 1);
    put_strings(&m, "UNITS", 1, 4, 1, millimetres);
    put_word(&m, m.last_offset, (unsigned)(sample_at(&m, 0, 0) - m.last_offset));
    m.at = sample_at(&m, 0, 0);
    put_strings(&m, "X_SCREEN", 1, 2, 1, (const char *const[]){"+X"});
    r = read_made(&m);
    assert_string_equal(sn_recording_about(r)->unit, "mm");
    assert_string_equal(sn_recording_about(r)->x_screen, "");
    sn_recording_destroy(r);
    // the header says nothing: parameters step in
    m = make(INTEL, true, 3, 4, 2, 3);
    put_group(&m, "POINT", 1);
    put_number(&m, "DATA_START", 1, 2, 3);
    put_number(&m, "SCALE", 1, 4, -1);
    put_number(&m, "RATE", 1, 4, 50);
    put_number(&m, "FRAMES", 1, 4, 4);
    put_word(&m, 16, 0);
    put_float(&m, 12, 0);
    put_float(&m, 20, 0);
    put_word(&m, 8, 0);
    r = read_made(&m);
    assert_int_equal(sn_recording_about(r)->nframe, 4);
    assert_true(sn_recording_about(r)->rate == 50);
    check_values(r, 1);
    sn_recording_destroy(r);
}

// More labels than one parameter holds, and points that are no markers.
static void many_labels(void **unused) {
    (void)unused;
    static char text[300][8];
    const char *labels[300];
    for (int i = 0; i < 300; i++) {
        (void)snprintf(text[i], sizeof text[i], "p%d", i);
        labels[i] = text[i];
    }
    maker m = make(INTEL, false, 302, 2, 2, 12);
    put_group(&m, "POINT", 1);
    put_strings(&m, "LABELS", 1, 8, 255, labels);
    put_strings(&m, "LABELS2", 1, 5, 45, labels + 255);
    put_strings(&m, "ANGLES", 1, 6, 2, (const char *const[]){"p7", "none"});
    put_strings(&m, "POWERS2", 1, 6, 1, (const char *const[]){"p8"});  // no POWERS: not a list
    put_strings(&m, "SCALARS", 1, 6, 1, (const char *const[]){"p299"});
    sn_recording *r = read_made(&m);
    assert_int_equal(sn_recording_about(r)->nmarker, 300);
    assert_int_equal(sn_recording_about(r)->nother, 2);
    assert_string_equal(sn_recording_label(r, 6), "p6");
    assert_string_equal(sn_recording_label(r, 7), "p8");
    assert_string_equal(sn_recording_label(r, 297), "p298");
    assert_string_equal(sn_recording_label(r, 298), "*300");
    assert_near(sn_recording_frame(r, 1)[3 * 298], value(1, 300, 0), 1e-15);
    assert_int_equal(sn_recording_find(r, "p299"), -1);
    sn_recording_destroy(r);
    // lists without the subject count for every subject
    m = make(INTEL, true, 4, 2, 2, 3);
    put_group(&m, "POINT", 1);
    put_strings(&m, "LABELS", 1, 9, 4, (const char *const[]){"A:Knee", "B:Knee", "A:C7", "Hip"});
    put_strings(&m, "ANGLES", 1, 9, 2, (const char *const[]){"Knee", "Hip"});
    r = read_made(&m);
    assert_int_equal(sn_recording_about(r)->nmarker, 1);
    assert_string_equal(sn_recording_label(r, 0), "A:C7");
    assert_near(sn_recording_frame(r, 1)[0], value(1, 2, 0), 1e-15);
    sn_recording_destroy(r);
}

// More frames than the header's 16 bits can say: three ways to say so.
static void long_files(void **unused) {
    (void)unused;
    const int nframe = 70000;
    for (int way = 0; way < 5; way++) {
        maker m = make(way % 2 ? MIPS : INTEL, false, 1, nframe, 2, 3);
        put_group(&m, "POINT", 1);
        put_group(&m, "TRIAL", 2);
        put_number(&m, "FRAMES", 1, 2, 65535);
        put_word(&m, 8, 65535);
        if (way == 0) put_number(&m, "LONG_FRAMES", 1, 4, nframe);
        if (way == 1 || way == 2) {
            put_numbers(&m, "ACTUAL_START_FIELD", 2, 2, 2, (const double[]){5, 0});
            put_numbers(&m, "ACTUAL_END_FIELD", 2, 2, 2, (const double[]){70004 - 65536, 1});
        }
        if (way == 4) {  // and a first frame beyond them
            put_numbers(&m, "ACTUAL_START_FIELD", 2, 2, 2, (const double[]){5, 1});
            put_numbers(&m, "ACTUAL_END_FIELD", 2, 2, 2, (const double[]){70004 - 65536, 2});
            put_word(&m, 8, 70004 - 65536);
        }
        if (way == 2) put_word(&m, 8, 70004 - 65536);  // went round
        if (way == 3) {
            m.at = 2 * BLOCK - BLOCK + 4;  // FRAMES as a float
            put_group(&m, "POINT", 1);
            put_number(&m, "FRAMES", 1, 4, nframe);
            m.bytes[m.at] = 0;
        }
        sn_recording *r = read_made(&m);
        assert_int_equal(sn_recording_about(r)->nframe, nframe);
        assert_int_equal(sn_recording_about(r)->first_frame, way == 4 ? 65541 : 5);
        assert_near(sn_recording_frame(r, nframe - 1)[0], value(nframe - 1, 0, 0), 1e-15);
        sn_recording_destroy(r);
    }
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

// More frames than are stated, and nothing but the room that they take says so.
static void wrapped_counts(void **unused) {
    (void)unused;
    maker m = make(INTEL, false, 1, 70000, 2, 3);
    check_note(&m, 70000, 1, 100,
               "4464 frames are stated, but 70000 are there: the count went round at 65536");
    m = make(MIPS, false, 1, 2 * 65536 + 7, 2, 3);
    put_group(&m, "POINT", 1);
    put_number(&m, "FRAMES", 1, 2, 7);
    check_note(&m, 2 * 65536 + 7, 1, 100,
               "7 frames are stated, but 131079 are there: the count went round at 65536");
    m = make(INTEL, false, 1, 65536, 2, 3);  // a count of 0
    check_note(&m, 65536, 1, 100,
               "0 frames are stated, but 65536 are there: the count went round at 65536");
    m = make(INTEL, false, 1, 10000, 2, 3);  // the last number alone
    put_word(&m, 6, 60000), put_word(&m, 8, 69999 - 65536);
    check_note(&m, 10000, 1, 100,
               "0 frames are stated, but 10000 are there: the count went round at 65536");
    m = make(INTEL, false, 1, 70000, 2, 3);
    put_word(&m, 8, 65535);
    check_note(&m, 70000, 1, 100,
               "65531 frames are stated, the most that can be, and 70000 are there");
    m = make(INTEL, false, 1, 70000, 2, 3);  // no multiple of 65536
    put_word(&m, 8, 304);
    check_note(&m, 300, 1, 100, "300 frames are stated and read, but there is room for 70016");
}

// What the header and the parameters disagree about.
static void contradictions(void **unused) {
    (void)unused;
    maker m = small_file(INTEL, true);
    put_number(&m, "RATE", 1, 4, 120);
    check_note(&m, 4, 3, 100,
               "the header states 100 frames/s, POINT:RATE 120: the header is believed");
    m = small_file(INTEL, true);
    put_number(&m, "RATE", 1, 4, 100.01);
    put_number(&m, "FRAMES", 1, 2, 4);
    check_note(&m, 4, 3, 100, "");
    m = small_file(INTEL, true);
    put_number(&m, "FRAMES", 1, 2, 5);
    check_note(&m, 4, 3, 100, "the header states 4 frames, POINT:FRAMES 5: the header is believed");
    m = make(INTEL, true, 3, 400, 2, 3);
    put_group(&m, "POINT", 1);
    put_number(&m, "FRAMES", 1, 2, 400);
    put_word(&m, 8, 300);
    check_note(&m, 400, 3, 100,
               "the header states 296 frames, POINT:FRAMES 400: the latter fit the data");
    m = make(INTEL, true, 3, 400, 2, 3);
    put_group(&m, "POINT", 1);
    put_number(&m, "USED", 1, 2, 3);
    put_word(&m, 2, 4);
    check_note(&m, 400, 3, 100, "the header says 4 points, POINT:USED 3: the latter fits the data");
    m = make(INTEL, true, 3, 400, 2, 3);
    put_group(&m, "POINT", 1);
    put_number(&m, "USED", 1, 2, 2);
    check_note(&m, 400, 3, 100, "the header says 3 points, POINT:USED 2: the header fits the data");
}

// Fields of the header that are plainly wrong.
static void wrong_headers(void **unused) {
    (void)unused;
    maker m = small_file(INTEL, true);
    put_number(&m, "RATE", 1, 4, 120);
    put_float(&m, 20, 1e9f);
    check_note(&m, 4, 3, 120,
               "the header states 1e+09 frames/s, POINT:RATE 120: the latter is believed");
    // two points of four words and a third that is the analog samples of two channels, twice
    m = make(INTEL, true, 3, 400, 2, 3);
    put_group(&m, "POINT", 1);
    put_group(&m, "ANALOG", 2);
    put_number(&m, "USED", 2, 2, 2);
    put_word(&m, 2, 2), put_word(&m, 4, 0), put_word(&m, 18, 2);
    check_note(&m, 400, 2, 100,
               "the header says 0 analog samples in a frame, ANALOG:USED 4: the latter fits the "
               "data");
}

// Analog data and events are counted, not read.
static void left_out(void **unused) {
    (void)unused;
    maker m = make(INTEL, true, 3, 4, 2, 3);
    put_group(&m, "POINT", 1);
    put_group(&m, "ANALOG", 2);
    put_group(&m, "EVENT", 3);
    put_number(&m, "USED", 2, 2, 2);
    put_number(&m, "USED", 3, 2, 5);
    put_word(&m, 4, 8);
    put_word(&m, 8, 5);
    sn_recording *r = read_made(&m);
    assert_int_equal(sn_recording_about(r)->nanalog, 2);
    assert_int_equal(sn_recording_about(r)->nevent, 5);
    sn_recording_destroy(r);
    m = small_file(INTEL, true);
    put_word(&m, 298, 12345), put_word(&m, 300, 3);
    r = read_made(&m);
    assert_int_equal(sn_recording_about(r)->nanalog, 0);
    assert_int_equal(sn_recording_about(r)->nevent, 3);
    sn_recording_destroy(r);
}

static void refuse(const maker *m, const char *message) {
    sn_recording *r;
    sn_error error = {0};
    sn_status status = sn_c3d_read(m->bytes, m->length, NULL, &r, &error);
    if (status != SN_ERR_PARSE) fail_msg("\"%s\": status %d", message, status);
    assert_null(r);
    assert_int_equal(error.status, status);
    if (strstr(error.text, message) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", message, error.text);
    assert_int_equal(sn_c3d_read(m->bytes, m->length, NULL, &r, NULL), status);
    free(m->bytes);
}

static void broken_files(void **unused) {
    (void)unused;
    maker m = small_file(INTEL, true);
    m.bytes[1] = 0x51;
    refuse(&m, "byte 1: this is no C3D file");
    m = small_file(INTEL, true), m.bytes[0] = 1;
    refuse(&m, "byte 0: the parameters cannot begin in block 1");
    m = small_file(INTEL, true), m.bytes[0] = 200;
    refuse(&m, "byte 0: the parameters begin at byte 101888, but the file has only");
    m = small_file(INTEL, true), m.bytes[BLOCK + 3] = 83;
    refuse(&m, "byte 515: unknown processor type 83");
    m = small_file(INTEL, true), put_word(&m, 16, 0);
    refuse(&m, "byte 16: the data cannot begin in block 0");
    m = small_file(INTEL, true), put_word(&m, 16, 900);
    refuse(&m, "byte 16: the data begin at byte 460288, but the file has only");
    m = small_file(INTEL, true), put_word(&m, 2, 4);
    refuse(&m, "byte 2: the header says 4 points, POINT:USED says 3");
    m = make(INTEL, true, 0, 4, 2, 3), m.length++, m.bytes = realloc(m.bytes, m.length);
    refuse(&m, "byte 2: the file has no points");
    m = small_file(INTEL, true), put_word(&m, 8, 3);
    refuse(&m, "byte 6: the file has no frames");
    m = small_file(INTEL, true), put_word(&m, 8, 5 + 899);
    refuse(&m, "the file claims 900 frames of 48 bytes each but holds only 10");
    m = small_file(INTEL, true), put_float(&m, 12, 0.25f);
    refuse(&m, "byte 12: the header says that points are whole numbers");
    m = make(INTEL, true, 3, 4, 2, 3), put_float(&m, 12, NAN);
    refuse(&m, "byte 12: the file states no scale");
    m = make(INTEL, true, 1, 2, 2, 3);
    put_group(&m, "POINT", 1);
    put_strings(&m, "LABELS", 1, 4, 1, (const char *const[]){"Knee"});
    put_strings(&m, "ANGLES", 1, 4, 1, (const char *const[]){"Knee"});
    refuse(&m, "none of the 1 points is a marker");
    // labels that run into the data, and of no known type
    m = small_file(INTEL, true);
    put_strings(&m, "ANGLES", 1, 4, 1, (const char *const[]){"Knee"});
    m.bytes[m.at - 1 - 4 - 2] = 255, m.bytes[m.at - 1 - 4 - 1] = 255;
    refuse(&m, "parameter POINT:ANGLES is damaged");
    m = small_file(INTEL, true);
    put_number(&m, "RATE", 1, 2, 3), put_float(&m, 20, 0);
    m.bytes[m.at - 1 - 2 - 2] = 3;
    refuse(&m, "parameter POINT:RATE is damaged");
    // sixteen dimensions of sixteen: 2^64 items, which go round to none
    m = small_file(INTEL, true);
    put_name(&m, "ANGLES", 1, false);
    m.bytes[m.at++] = 0xff;
    for (int i = 0; i < 17; i++) m.bytes[m.at++] = 16;
    put_end(&m);
    refuse(&m, "parameter POINT:ANGLES is damaged");
    // frames beyond what a count can hold
    m = small_file(INTEL, true), put_word(&m, 8, 65535);
    put_number(&m, "LONG_FRAMES", 1, 4, 3e9);
    refuse(&m, "too many");
    sn_recording *r;
    sn_error error = {0};
    assert_int_equal(sn_c3d_read(NULL, 0, NULL, &r, &error), SN_ERR_PARSE);
    assert_non_null(strstr(error.text, "empty"));
    assert_int_equal(sn_c3d_read("abc", 3, NULL, &r, &error), SN_ERR_PARSE);
    assert_non_null(strstr(error.text, "byte 3: the file ends inside the header"));
}

// Cut anywhere before the last sample: an error. After it only padding is lost.
static void truncation(void **unused) {
    (void)unused;
    for (int real = 0; real < 2; real++) {
        maker m = small_file(real ? DEC : INTEL, real);
        size_t needed = sample_at(&m, 3, 2) + (real ? 16 : 8);
        for (size_t n = 0; n <= m.length; n++) {
            uint8_t *copy = malloc(n + 1);  // a block of its own, for the sanitizer
            assert_non_null(copy);
            memcpy(copy, m.bytes, n);
            copy = realloc(copy, n > 0 ? n : 1);
            sn_recording *r;
            sn_error error = {0};
            sn_status status = sn_c3d_read(copy, n, NULL, &r, &error);
            assert_int_equal(status, n < needed ? SN_ERR_PARSE : SN_OK);
            if (status == SN_OK) assert_int_equal(sn_recording_about(r)->nframe, 4);
            if (status != SN_OK) assert_non_null(strstr(error.text, "byte "));
            sn_recording_destroy(r);
            free(copy);
        }
        free(m.bytes);
    }
}

static void failing_memory(void **unused) {
    (void)unused;
    maker m = small_file(INTEL, true);
    for (int once = 0; once < 2; once++) {
        long n = 0;
        for (bool done = false; !done; n++) {
            test_allocator a;
            test_allocator_begin(&a);
            a.fail_at = n;
            a.fail_after = !once;
            sn_recording *r;
            sn_error error = {0};
            sn_status status = sn_c3d_read(m.bytes, m.length, &a.base, &r, &error);
            done = status == SN_OK;
            if (!done) {
                assert_int_equal(status, SN_ERR_MEMORY);
                assert_int_equal(error.status, SN_ERR_MEMORY);
                assert_null(r);
            }
            sn_recording_destroy(r);
            assert_int_equal(a.live, 0);
        }
        assert_int_equal(n - 1, 2);
    }
    free(m.bytes);
}

// Random damage: an answer or an error, and never more memory than the file is worth.
static void damage(void **unused) {
    (void)unused;
    uint64_t state = 9;
    maker m = small_file(MIPS, false);
    uint8_t *copy = malloc(m.length);
    assert_non_null(copy);
    int read = 0, count = cases(20000);
    for (int i = 0; i < count; i++) {
        memcpy(copy, m.bytes, m.length);
        for (int k = below(&state, 5); k >= 0; k--)
            copy[below(&state, (int)sample_at(&m, 0, 0))] = (uint8_t)below(&state, 256);
        sn_recording *r;
        sn_error error = {0};
        sn_status status = sn_c3d_read(copy, m.length, NULL, &r, &error);
        assert_true(status == SN_OK || (r == NULL && error.text[0] != '\0'));
        if (status == SN_OK) {
            const sn_recording_info *info = sn_recording_about(r);
            assert_true((size_t)info->nframe * (size_t)info->nmarker * 8 <= m.length);
            read++;
        }
        sn_recording_destroy(r);
    }
    print_message("%d of %d damaged files could still be read\n", read, count);
    free(copy);
    free(m.bytes);
}

typedef struct known {
    const char *name;
    int npoint, nother, first, nframe;
    double rate;
    int missing;  // of the markers: residual below 0 or at 0 0 0
    const char *x_screen;
} known;

static const known files[] = {
    {"c3d/Dance.c3d", 40, 0, 1, 499, 65.0533, 0, "+Y"},
    {"c3d/Eb015pi.c3d", 26, 0, 1, 450, 50, 226, "+Y"},
    {"c3d/Eb015pr.c3d", 26, 0, 1, 450, 50, 226, "+Y"},
    {"c3d/Eb015si.c3d", 26, 0, 1, 450, 50, 226, "+Y"},
    {"c3d/Eb015sr.c3d", 26, 0, 1, 450, 50, 226, "+Y"},
    {"c3d/Eb015vi.c3d", 26, 0, 1, 450, 50, 226, "+Y"},
    {"c3d/Eb015vr.c3d", 26, 0, 1, 450, 50, 226, "+Y"},
    {"c3d/MACsample.c3d", 33, 0, 1, 180, 60, 3565, "+Y"},
    {"c3d/PiG_Calibration-FlatFoot-One.c3d", 138, 26, 140, 1, 100, 0, "+X"},
    {"c3d/TESTAPI.c3d", 26, 0, 1, 450, 50, 226, "+Y"},
    {"c3d/TESTBPI.c3d", 26, 0, 1, 450, 50, 226, "+Y"},
    {"c3d/TESTCPI.c3d", 26, 0, 1, 450, 50, 226, "+Y"},
    {"c3d/TESTDPI.c3d", 26, 0, 1, 450, 50, 226, "+Y"},
    {"c3d/bad_parameter_section.c3d", 45, 0, 1, 332, 120, 6044, "+Y"},
    {"c3d/manufacture_test_codamotion.c3d", 24, 0, 1, 512, 200, 85, ""},
    {"c3d/manufacture_test_motion_analysis_corporation.c3d", 49, 0, 1, 151, 60, 1208, "+Y"},
    {"c3d/parameterOverflow.c3d", 142, 36, 1, 101, 100, 10706, "+X"},
    {"c3d/sub_labels.c3d", 114, 28, 1, 333, 60, 16711, "+X"},
    {"c3d/type-4a.c3d", 25, 0, 1, 360, 60, 6270, "+Y"},
    {"cmu/02_01.c3d", 41, 0, 50, 343, 120, 0, "+X"},
    {"cmu/85_02.c3d", 41, 0, 1, 810, 120, 0, ""},
    {"hdm05/HDM_dg_01-03_01_120.c3d", 44, 0, 1, 3498, 120, 0, ""},
    {"hdm05/HDM_dg_03-05_02_120.c3d", 44, 0, 1, 3866, 120, 0, ""},
    {"hdm05/HDM_dg_06-03_03_120.c3d", 44, 0, 2925, 202, 120, 0, ""},
    {"hdm05/HDM_mm_01-02_03_120.c3d", 44, 0, 1, 3990, 120, 0, ""},
    {"trc/walking5.c3d", 40, 0, 1, 1103, 250, 20082, "+X"},
};

static sn_recording *data_recording(const char *name) {
    const char *path = data_path(name);
    if (path == NULL) skip();
    size_t length;
    char *bytes = slurp(path, &length);
    sn_recording *r;
    sn_error error = {0};
    if (sn_c3d_read(bytes, length, NULL, &r, &error) != SN_OK) fail_msg("%s: %s", name, error.text);
    free(bytes);
    return r;
}

static int all_missing(const sn_recording *r) {
    int count = 0;
    for (int i = 0; i < sn_recording_about(r)->nmarker; i++) count += sn_recording_missing(r, i);
    return count;
}

static void data_files(void **unused) {
    (void)unused;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        const known *k = &files[i];
        sn_recording *r = data_recording(k->name);
        const sn_recording_info *info = sn_recording_about(r);
        int missing = all_missing(r);
        print_message("%-52s %4d frames from %4d, %3d markers, %2d other, %5.1f Hz, %s, up %-2s, "
                      "missing %d of %d\n",
                      k->name, info->nframe, info->first_frame, info->nmarker, info->nother,
                      info->rate, info->unit, info->y_screen, missing,
                      info->nframe * info->nmarker);
        assert_int_equal(info->nmarker + info->nother, k->npoint);
        assert_int_equal(info->nother, k->nother);
        assert_int_equal(info->nframe, k->nframe);
        assert_int_equal(info->first_frame, k->first);
        assert_near(info->rate, k->rate, 1e-6);
        assert_int_equal(missing, k->missing);
        assert_string_equal(info->unit, "mm");
        assert_string_equal(info->x_screen, k->x_screen);
        // whatever is there lies within a large room, in metres
        for (int f = 0; f < info->nframe; f++)
            for (int p = 0; p < 3 * info->nmarker; p++)
                assert_false(fabs(sn_recording_frame(r, f)[p]) > 20);
        sn_recording_destroy(r);
    }
    const char *path = data_path("c3d/Empty.c3d");
    if (path == NULL) skip();
    size_t length;
    char *bytes = slurp(path, &length);
    sn_recording *r;
    sn_error error;
    assert_int_equal(sn_c3d_read(bytes, length, NULL, &r, &error), SN_ERR_PARSE);
    print_message("%-52s refused: %s\n", "c3d/Empty.c3d", error.text);
    free(bytes);
}

// Header and POINT:SCALE differ by 2.6 in this one; only the header's makes a person.
static void header_scale(void **unused) {
    (void)unused;
    sn_recording *r = data_recording("c3d/MACsample.c3d");
    double height = sn_recording_frame(r, 60)[3 * sn_recording_find(r, "RSHO") + 2];
    print_message("shoulder at %.3f m\n", height);
    assert_true(height > 1.3 && height < 1.6);
    sn_recording_destroy(r);
}

// One recording in six encodings and four layouts: the same to the step of the whole numbers.
static void same_data(void **unused) {
    (void)unused;
    static const char *const names[] = {"c3d/Eb015pr.c3d", "c3d/Eb015sr.c3d", "c3d/Eb015vr.c3d",
                                        "c3d/Eb015pi.c3d", "c3d/Eb015si.c3d", "c3d/Eb015vi.c3d",
                                        "c3d/TESTAPI.c3d", "c3d/TESTBPI.c3d", "c3d/TESTCPI.c3d",
                                        "c3d/TESTDPI.c3d"};
    sn_recording *first = data_recording(names[0]), *whole = data_recording(names[3]);
    for (int i = 0; i < 10; i++) {
        sn_recording *r = data_recording(names[i]);
        double real = 0, integer = 0;
        for (int f = 0; f < 450; f++)
            for (int p = 0; p < 26; p++) {
                assert_true(sn_recording_present(r, f, p) == sn_recording_present(first, f, p));
                assert_string_equal(sn_recording_label(r, p), sn_recording_label(first, p));
                for (int c = 3 * p; sn_recording_present(r, f, p) && c < 3 * p + 3; c++) {
                    double x = sn_recording_frame(r, f)[c];
                    real = fmax(real, fabs(x - sn_recording_frame(first, f)[c]));
                    integer = fmax(integer, fabs(x - sn_recording_frame(whole, f)[c]));
                }
            }
        print_message("%s: to floats %.1e mm, to whole numbers %.1e mm\n", names[i], 1000 * real,
                      1000 * integer);
        assert_true(real < 0.0834e-3 && integer < 0.0834e-3);
        assert_true(i < 3 ? real == 0 : integer == 0);
        sn_recording_destroy(r);
    }
    sn_recording_destroy(whole);
    sn_recording_destroy(first);
}

// The golden targets are the C3D's (y, z, x) times a float's 0.1.
static void golden_markers(void **unused) {
    (void)unused;
    sn_recording *r = data_recording("hdm05/HDM_dg_03-05_02_120.c3d");
    const char *path = data_path("golden/markers_frame.csv");
    if (path == NULL) skip();
    size_t length;
    char *text = slurp(path, &length);
    double worst = 0;
    int count = 0;
    for (char *line = strchr(text, '\n') + 1; line != NULL && *line != '\0'; count++) {
        int frame, id;
        char name[32];
        double o[3], t[3];
        assert_int_equal(sscanf(line, "%d,%d,%31[^,],%lf,%lf,%lf,%lf,%lf,%lf", &frame, &id, name,
                                &o[0], &o[1], &o[2], &t[0], &t[1], &t[2]),
                         9);
        int marker = sn_recording_find(r, name);
        assert_int_equal(marker, id + 2);  // after *0 *1 *2
        const double *x = sn_recording_frame(r, frame - 1) + 3 * marker;
        for (int c = 0; c < 3; c++)
            worst = fmax(worst, fabs(x[(c + 1) % 3] * 1000 * 0.10000000149011612 - t[c]));
        line = strchr(line, '\n');
        if (line != NULL) line++;
    }
    print_message("%d golden marker positions: worst %.1e cm\n", count, worst);
    assert_int_equal(count, 14 * 41);
    assert_true(worst < 1e-12);
    free(text);
    sn_recording_destroy(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encodings),      cmocka_unit_test(unknown_units),
        cmocka_unit_test(odd_sections),   cmocka_unit_test(missing_samples),
        cmocka_unit_test(many_labels),    cmocka_unit_test(long_files),
        cmocka_unit_test(broken_files),   cmocka_unit_test(truncation),
        cmocka_unit_test(damage),         cmocka_unit_test(failing_memory),
        cmocka_unit_test(data_files),     cmocka_unit_test(same_data),
        cmocka_unit_test(golden_markers), cmocka_unit_test(header_scale),
        cmocka_unit_test(wrapped_counts), cmocka_unit_test(contradictions),
        cmocka_unit_test(left_out),       cmocka_unit_test(wrong_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
