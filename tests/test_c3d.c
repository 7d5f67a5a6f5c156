// SPDX-License-Identifier: MIT
// C3D: files made here in every encoding, every file of the data folder, golden marker positions.
#include "c3d_files.h"

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
    // a whole label is that point alone, the first one too; every list counts, and where it goes on
    m = make(INTEL, true, 7, 2, 2, 3);
    put_group(&m, "POINT", 1);
    put_strings(&m, "LABELS", 1, 6, 7,
                (const char *const[]){"A:Knee", "B:Knee", "F", "M", "P", "S", "F2"});
    put_strings(&m, "ANGLES", 1, 6, 1, (const char *const[]){"A:Knee"});
    put_strings(&m, "FORCES", 1, 6, 1, (const char *const[]){"F"});
    put_strings(&m, "FORCES2", 1, 6, 1, (const char *const[]){"F2"});
    put_strings(&m, "MOMENTS", 1, 6, 1, (const char *const[]){"M"});
    put_strings(&m, "POWERS", 1, 6, 1, (const char *const[]){"P"});
    put_strings(&m, "SCALARS", 1, 6, 1, (const char *const[]){"S"});
    r = read_made(&m);
    assert_int_equal(sn_recording_about(r)->nmarker, 1);
    assert_int_equal(sn_recording_about(r)->nother, 6);
    assert_string_equal(sn_recording_label(r, 0), "B:Knee");
    assert_near(sn_recording_frame(r, 1)[0], value(1, 1, 0), 1e-15);
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
        cmocka_unit_test(data_files),     cmocka_unit_test(same_data),
        cmocka_unit_test(golden_markers), cmocka_unit_test(header_scale),
        cmocka_unit_test(wrapped_counts), cmocka_unit_test(left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
