// SPDX-License-Identifier: MIT
// Writing C3D: every encoding read back, long files, many markers, what cannot be written, and the
// bytes that other programs look for.
#include "memory_sink.h"

#include "sinew/files.h"

static const char *const three[] = {"Ann:LFHD", "C7", "a marker with a longer name"};

static sn_recording *read_back(const memory_sink *sink) {
    sn_recording *r;
    sn_error error = {0};
    if (sn_c3d_read(sink->bytes, sink->length, NULL, &r, &error) != SN_OK)
        fail_msg("%s", error.text);
    return r;
}

static void write_to(memory_sink *sink, const sn_recording *r, const sn_c3d_options *options) {
    sn_error error = {0};
    memory_sink_begin(sink);
    if (sn_c3d_write(r, options, &sink->base, NULL, &error) != SN_OK) fail_msg("%s", error.text);
    assert_int_equal(sink->length % 512, 0);
}

static void round_trip(void **unused) {
    (void)unused;
    static const char *const units[] = {"mm", "m", "in"};
    uint64_t state = 5;
    double real = 0, whole = 0;
    for (int i = 0; i < cases(180); i++) {
        sn_recording_info info = {.nframe = 1 + below(&state, 40),
                                  .nmarker = 1 + below(&state, 3),
                                  .first_frame = 1 + below(&state, 3000),
                                  .rate = 120,
                                  .metres_per_unit = 1,
                                  .unit = "m",
                                  .x_screen = "+X",
                                  .y_screen = "+Z"};
        sn_recording *r = random_recording(&state, &info, three, -1);
        sn_c3d_options options = sn_c3d_options_default();
        options.unit = units[below(&state, 3)];
        options.processor = (sn_c3d_processor)(SN_C3D_INTEL + i % 3);
        options.integers = i / 3 % 2;
        memory_sink sink;
        write_to(&sink, r, &options);
        sn_recording *back = read_back(&sink);
        const sn_recording_info *got = sn_recording_about(back);
        assert_int_equal(got->first_frame, info.first_frame);
        assert_true(got->rate == 120 && got->nother == 0);
        assert_string_equal(got->unit, options.unit);
        assert_string_equal(got->x_screen, "+X");
        assert_string_equal(got->y_screen, "+Z");
        double *worst = options.integers ? &whole : &real;
        *worst = fmax(*worst, recording_distance(r, back));
        sn_recording_destroy(r);
        sn_recording_destroy(back);
        free(sink.bytes);
    }
    print_message("worst: floats %.1e m, whole numbers %.1e m\n", real, whole);
    // half a unit of the last of 24 bits below 4096 mm; half a step of 3 m in 32000
    assert_true(real < 1.2208e-7 && whole < 0.5 * 3.0 / 32000 * 1.001);
}

// Numbers that 24 bits hold come back as they were.
static void exact(void **unused) {
    (void)unused;
    uint64_t state = 1;
    sn_recording_info info = {.nframe = 50, .nmarker = 3, .first_frame = 1, .metres_per_unit = 1};
    sn_recording *r = random_recording(&state, &info, three, 12);
    sn_c3d_options options = sn_c3d_options_default();
    options.unit = "m";
    for (int processor = SN_C3D_INTEL; processor <= SN_C3D_MIPS; processor++) {
        options.processor = (sn_c3d_processor)processor;
        memory_sink sink;
        write_to(&sink, r, &options);
        sn_recording *back = read_back(&sink);
        assert_true(recording_distance(r, back) == 0);
        assert_true(sn_recording_about(back)->rate == 0);
        sn_recording_destroy(back);
        free(sink.bytes);
    }
    sn_recording_destroy(r);
    // in no known unit: the numbers and the word stay; a first frame below 1 becomes 1
    info = (sn_recording_info){.nframe = 2, .nmarker = 1, .first_frame = 0, .unit = "cubits"};
    r = random_recording(&state, &info, three, 12);
    memory_sink sink;
    write_to(&sink, r, NULL);
    sn_recording *back = read_back(&sink);
    assert_true(recording_distance(r, back) == 0);
    assert_string_equal(sn_recording_about(back)->unit, "cubits");
    assert_int_equal(sn_recording_about(back)->first_frame, 1);
    sn_recording_destroy(back);
    sn_recording_destroy(r);
    free(sink.bytes);
}

static void long_files(void **unused) {
    (void)unused;
    static const int cases_of[][2] = {{65534, 1}, {65535, 1},  {65536, 1},  {70000, 1},
                                      {70000, 5}, {10, 65530}, {10, 70000}, {70000, 100000}};
    for (size_t i = 0; i < sizeof cases_of / sizeof cases_of[0]; i++) {
        sn_recording_info info = {.nframe = cases_of[i][0],
                                  .nmarker = 1,
                                  .first_frame = cases_of[i][1],
                                  .rate = 240,
                                  .metres_per_unit = 1};
        sn_recording *r;
        assert_int_equal(sn_recording_create(&info, three, NULL, &r, NULL), SN_OK);
        for (int f = 0; f < info.nframe; f++)
            sn_recording_edit(r, f)[0] = f % 1000 + 1, sn_recording_edit(r, f)[1] = 1,
                                 sn_recording_edit(r, f)[2] = 0;
        sn_c3d_options options = sn_c3d_options_default();
        options.unit = "m";
        memory_sink sink;
        write_to(&sink, r, &options);
        sn_recording *back = read_back(&sink);
        assert_int_equal(sn_recording_about(back)->first_frame, info.first_frame);
        assert_true(recording_distance(r, back) == 0);
        sn_recording_destroy(back);
        sn_recording_destroy(r);
        free(sink.bytes);
    }
}

static void many_markers(void **unused) {
    (void)unused;
    enum { COUNT = 2000 };
    static char text[COUNT][12];
    const char *labels[COUNT];
    for (int i = 0; i < COUNT; i++) {
        (void)snprintf(text[i], sizeof text[i], "p%d", i);
        labels[i] = text[i];
    }
    uint64_t state = 3;
    static const int counts[] = {254, 255, 256, 510, 511, 2000};
    for (int i = 0; i < 6; i++) {
        sn_recording_info info = {
            .nframe = 2, .nmarker = counts[i], .first_frame = 1, .metres_per_unit = 1};
        sn_recording *r = random_recording(&state, &info, labels, 10);
        sn_c3d_options options = sn_c3d_options_default();
        options.unit = "m";
        options.processor = SN_C3D_MIPS;
        memory_sink sink;
        write_to(&sink, r, &options);
        sn_recording *back = read_back(&sink);
        assert_true(recording_distance(r, back) == 0);
        sn_recording_destroy(back);
        sn_recording_destroy(r);
        free(sink.bytes);
    }
}

// A record of the parameter section by hand: where its name, or 0 when it is not there.
static size_t find_record(const memory_sink *sink, const char *name, int group) {
    const uint8_t *bytes = (const uint8_t *)sink->bytes;
    for (size_t at = 516;;) {
        size_t n = bytes[at];
        if (n == 0) return 0;
        if (n == strlen(name) && (int8_t)bytes[at + 1] == group &&
            memcmp(bytes + at + 2, name, n) == 0)
            return at + 2 + n + 2;
        at += 2 + n;
        at += (size_t)(bytes[at] | bytes[at + 1] << 8);
    }
}

static unsigned word_at(const memory_sink *sink, size_t at) {
    const uint8_t *bytes = (const uint8_t *)sink->bytes + at;
    return (unsigned)(bytes[0] | bytes[1] << 8);
}

// What the format asks for, byte by byte.
static void layout(void **unused) {
    (void)unused;
    sn_recording_info info = {
        .nframe = 2, .nmarker = 3, .first_frame = 7, .rate = 50, .metres_per_unit = 1};
    sn_recording *r;
    assert_int_equal(sn_recording_create(&info, three, NULL, &r, NULL), SN_OK);
    double *x = sn_recording_edit(r, 0);
    x[0] = 1, x[1] = 2, x[2] = -32;
    memory_sink sink;
    write_to(&sink, r, NULL);
    const uint8_t *bytes = (const uint8_t *)sink.bytes;
    assert_true(bytes[0] == 2 && bytes[1] == 0x50);
    assert_int_equal(word_at(&sink, 2), 3);  // points
    assert_int_equal(word_at(&sink, 4), 0);  // analog
    assert_int_equal(word_at(&sink, 6), 7);  // first frame
    assert_int_equal(word_at(&sink, 8), 8);  // last
    assert_int_equal(word_at(&sink, 298), 12345);
    float scale, rate, sample[4], missing[4];
    memcpy(&scale, bytes + 12, 4);
    memcpy(&rate, bytes + 20, 4);
    assert_true(scale == -1 && rate == 50);  // 32 m are 32000 mm
    assert_int_equal(bytes[515], 84);
    size_t data = ((size_t)word_at(&sink, 16) - 1) * 512;
    assert_int_equal(word_at(&sink, 16), 2 + bytes[514]);
    assert_int_equal(sink.length, data + 512);
    memcpy(sample, bytes + data, 16);
    memcpy(missing, bytes + data + 16, 16);
    assert_true(sample[0] == 1000 && sample[1] == 2000 && sample[2] == -32000 && sample[3] == 0);
    assert_true(missing[0] == 0 && missing[1] == 0 && missing[2] == 0 && missing[3] == -1);
    assert_true(find_record(&sink, "POINT", -1) && find_record(&sink, "ANALOG", -2));
    assert_true(find_record(&sink, "FORCE_PLATFORM", -3) && find_record(&sink, "TRIAL", -4));
    static const char *const names[] = {"USED",   "SCALE",  "RATE",         "DATA_START",
                                        "FRAMES", "LABELS", "DESCRIPTIONS", "UNITS"};
    for (int i = 0; i < 8; i++) assert_true(find_record(&sink, names[i], 1));
    assert_false(find_record(&sink, "X_SCREEN", 1));
    assert_false(find_record(&sink, "LONG_FRAMES", 1));
    size_t used = find_record(&sink, "USED", 1);
    assert_true(bytes[used] == 2 && bytes[used + 1] == 0 && word_at(&sink, used + 2) == 3);
    assert_int_equal(word_at(&sink, find_record(&sink, "USED", 2) + 2), 0);
    sn_recording_destroy(r);
    free(sink.bytes);
}

static void refuse(const sn_recording *r, const sn_c3d_options *options, sn_status status,
                   const char *message) {
    memory_sink sink;
    memory_sink_begin(&sink);
    sn_error error = {0};
    assert_int_equal(sn_c3d_write(r, options, &sink.base, NULL, &error), status);
    assert_int_equal(sn_c3d_write(r, options, &sink.base, NULL, NULL), status);
    if (strstr(error.text, message) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", message, error.text);
    assert_int_equal(sink.length, 0);
}

static void refused(void **unused) {
    (void)unused;
    sn_recording_info info = {.nframe = 1, .nmarker = 2, .metres_per_unit = 1};
    sn_recording *r;
    sn_c3d_options options = {.unit = "mm"};
    assert_int_equal(sn_recording_create(&info, three, NULL, &r, NULL), SN_OK);
    refuse(r, &options, SN_ERR_ARGUMENT, "sn_c3d_options_default");
    options = sn_c3d_options_default(), options.unit = "miles";
    refuse(r, &options, SN_ERR_ARGUMENT, "'miles' is no unit of length");
    options = sn_c3d_options_default(), options.processor = (sn_c3d_processor)1;
    refuse(r, &options, SN_ERR_ARGUMENT, "sn_c3d_options_default");
    for (int c = 3; c < 6; c++) sn_recording_edit(r, 0)[c] = 3e37;
    refuse(r, NULL, SN_ERR_VALUE, "marker 'C7' of frame 1 lies too far away");
    // every byte, and every allocation
    for (int c = 3; c < 6; c++) sn_recording_edit(r, 0)[c] = 3;
    memory_sink whole;
    write_to(&whole, r, NULL);
    for (size_t room = 0; room < whole.length; room += 100) {
        memory_sink sink;
        memory_sink_begin(&sink);
        sink.room = room;
        assert_int_equal(sn_c3d_write(r, NULL, &sink.base, NULL, NULL), SN_ERR_FILE);
        free(sink.bytes);
    }
    free(whole.bytes);
    test_allocator a;
    test_allocator_begin(&a);
    a.fail_at = 0;
    memory_sink sink;
    memory_sink_begin(&sink);
    assert_int_equal(sn_c3d_write(r, NULL, &sink.base, &a.base, NULL), SN_ERR_MEMORY);
    a.fail_at = -1;
    assert_int_equal(sn_c3d_write(r, NULL, &sink.base, &a.base, NULL), SN_OK);
    assert_int_equal(a.live, 0);
    free(sink.bytes);
    sn_recording_destroy(r);

    static char longer[300];
    memset(longer, 'a', sizeof longer - 1);
    const char **names = malloc(70000 * sizeof *names);
    assert_non_null(names);
    for (int i = 0; i < 70000; i++) names[i] = longer;
    assert_int_equal(sn_recording_create(&info, names, NULL, &r, NULL), SN_OK);
    refuse(r, NULL, SN_ERR_SIZE, "the name of marker 1 is longer than the 255 bytes");
    sn_recording_destroy(r);
    info.nmarker = 70000;
    assert_int_equal(sn_recording_create(&info, names, NULL, &r, NULL), SN_OK);
    refuse(r, NULL, SN_ERR_SIZE, "at most 65535 points, not 70000");
    sn_recording_destroy(r);
    for (int i = 0; i < 70000; i++) names[i] = longer + 100;
    info.nmarker = 1000;
    assert_int_equal(sn_recording_create(&info, names, NULL, &r, NULL), SN_OK);
    refuse(r, NULL, SN_ERR_SIZE, "the names of 1000 markers take more room");
    sn_recording_destroy(r);
    info.nframe = 0;
    assert_int_equal(sn_recording_create(&info, names, NULL, &r, NULL), SN_OK);
    refuse(r, NULL, SN_ERR_VALUE, "no frames to write");
    sn_recording_destroy(r);
    free(names);
}

// Real recordings, through each encoding.
static void data_files(void **unused) {
    (void)unused;
    static const char *const names[] = {"trc/walking5.c3d", "c3d/Eb015pr.c3d", "cmu/02_01.c3d",
                                        "hdm05/HDM_dg_06-03_03_120.c3d", "c3d/sub_labels.c3d"};
    for (int i = 0; i < 5; i++) {
        const char *path = data_path(names[i]);
        if (path == NULL) skip();
        memory_sink file = {.bytes = NULL};
        file.bytes = slurp(path, &file.length);
        sn_recording *r = read_back(&file);
        free(file.bytes);
        double worst[2] = {0};
        for (int k = 0; k < 6; k++) {
            sn_c3d_options options = sn_c3d_options_default();
            options.processor = (sn_c3d_processor)(SN_C3D_INTEL + k % 3);
            options.integers = k >= 3;
            memory_sink sink;
            write_to(&sink, r, &options);
            sn_recording *back = read_back(&sink);
            worst[k >= 3] = fmax(worst[k >= 3], recording_distance(r, back));
            sn_recording_destroy(back);
            free(sink.bytes);
        }
        print_message("%s: floats %.1e m, whole numbers %.1e m\n", names[i], worst[0], worst[1]);
        // the last has whole numbers times a scale, which floats round once more
        assert_true(worst[0] <= (i == 4 ? 1.3e-7 : 0) && worst[1] < 1e-4);
        sn_recording_destroy(r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),   cmocka_unit_test(exact),  cmocka_unit_test(long_files),
        cmocka_unit_test(many_markers), cmocka_unit_test(layout), cmocka_unit_test(refused),
        cmocka_unit_test(data_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
