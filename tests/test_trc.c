// SPDX-License-Identifier: MIT
// TRC: small files made here, every file of the data folder, broken files, writing and reading back.
#include "memory_sink.h"
#include "reader.h"

#include <locale.h>

#define KEYS                                                                                       \
    "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\t"       \
    "OrigNumFrames\n"
#define HEAD                                                                                       \
    "PathFileType\t4\t(X/Y/Z)\ta.trc\n" KEYS "100\t100\t2\t2\tmm\t100\t1\t2\n"                     \
    "Frame#\tTime\tL.Knee\t\t\tR Knee\t\t\n\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n\n"

static sn_recording *read_text(const char *text) {
    sn_recording *r;
    sn_error error = {0};
    if (sn_trc_read(text, strlen(text), NULL, &r, &error) != SN_OK)
        fail_msg("line %d: %s", error.line, error.text);
    return r;
}

static void usual(void **unused) {
    (void)unused;
    sn_recording *r =
        read_text(HEAD "7\t0\t1\t2\t3\t4\t5\t6.5e1\n8\t0.01\t\tNaN\tnan\t-1\t.5\t0\n");
    const sn_recording_info *info = sn_recording_about(r);
    assert_int_equal(info->nframe, 2);
    assert_int_equal(info->nmarker, 2);
    assert_int_equal(info->first_frame, 7);
    assert_true(info->rate == 100 && info->metres_per_unit == 0.001);
    assert_string_equal(info->unit, "mm");
    assert_string_equal(info->note, "");
    assert_string_equal(sn_recording_label(r, 0), "L.Knee");
    assert_string_equal(sn_recording_label(r, 1), "R Knee");
    assert_near(sn_recording_frame(r, 0)[5], 0.065, 1e-15);
    assert_false(sn_recording_present(r, 1, 0));
    assert_near(sn_recording_frame(r, 1)[4], 0.0005, 1e-15);
    sn_recording_destroy(r);
}

// A sample at the very origin is a gap; one that is beside it along any axis is none.
static void gaps_at_the_origin(void **unused) {
    (void)unused;
    static const char *const samples[] = {"0\t0\t0", "1\t0\t0", "0\t1\t0", "0\t0\t1"};
    for (int i = 0; i < 4; i++) {
        char text[800];
        (void)snprintf(text, sizeof text, HEAD "7\t0\t%s\t4\t5\t6\n8\t0.01\t1\t2\t3\t4\t5\t6\n",
                       samples[i]);
        sn_recording *r = read_text(text);
        assert_int_equal(sn_recording_present(r, 0, 0), i > 0);
        assert_true(sn_recording_present(r, 0, 1) && sn_recording_present(r, 1, 0));
        assert_string_equal(sn_recording_about(r)->note,
                            i == 0 ? "1 sample at 0 0 0 taken as missing" : "");
        sn_recording_destroy(r);
    }
}

// Other tab patterns, keys in another order, no empty line, CRLF, unnamed points, rows cut short.
static void varieties(void **unused) {
    (void)unused;
    sn_recording *r = read_text("\xef\xbb\xbfPathFileType 4\r\n"
                                "Units\tNumMarkers\tDataRate\tOther\t\r\nm\t  2\t50.0\t\t\r\n"
                                "Frame#\tTime\t\tA\t\tB\r\n\t\t\tX1\tY1\tZ1\tX2\tY2\tZ2\r\n"
                                "0\t1.0\t1\t2\t3\t4\t5\t6\t\t\r\n"
                                "1\t1.02\t1\t2\t3\t \t\t\t\r\n"
                                "\t\t\t\r\n"
                                "2\t1.04\t1\t2\t3\r\n"
                                "3\t1.06\t1\t2\t3\t4\t5\t6\t7\t8\t9\r\n"
                                "4\t1.08\r\n"
                                "5\t1.1\t1\t2\t3\t4\t5\t6");
    const sn_recording_info *info = sn_recording_about(r);
    assert_int_equal(info->nframe, 6);
    assert_int_equal(info->first_frame, 0);
    assert_int_equal(info->nother, 1);
    assert_true(info->rate == 50 && info->metres_per_unit == 1);
    assert_int_equal(sn_recording_missing(r, 0), 1);
    assert_int_equal(sn_recording_missing(r, 1), 3);
    assert_true(sn_recording_frame(r, 3)[5] == 6);
    assert_string_equal(info->note, "points without a name left out in 1 frame; 2 rows end early");
    sn_recording_destroy(r);
    // no keys but the number of markers: nothing is known of rate and unit but by the times
    r = read_text("PathFileType\nNumMarkers\n1\nFrame#\tTime\t#1\n\t\tx1\ty1\tz1\n"
                  "1\t0\t1\t2\t3\n2\t.5\t1\t2\t3\n");
    assert_true(sn_recording_about(r)->rate == 2);
    assert_string_equal(sn_recording_about(r)->unit, "");
    assert_string_equal(sn_recording_label(r, 0), "#1");
    assert_true(sn_recording_frame(r, 0)[2] == 3);
    sn_recording_destroy(r);
}

static void check_note(const char *text, double rate, const char *note) {
    sn_recording *r = read_text(text);
    assert_near(sn_recording_about(r)->rate, rate, 1e-12);
    assert_string_equal(sn_recording_about(r)->note, note);
    sn_recording_destroy(r);
}

#define ONE(n, rate)                                                                               \
    "PathFileType\nDataRate\tNumFrames\tNumMarkers\n" rate "\t" n "\t1\nFrame#\tTime\tA\n"         \
    "\t\tX1\tY1\tZ1\n"

static void decisions(void **unused) {
    (void)unused;
    // milliseconds are no contradiction
    check_note(ONE("3", "60") "1\t0\t1\t1\t1\n2\t0.017\t1\t1\t1\n3\t0.033\t1\t1\t1\n", 60, "");
    check_note(ONE("3", "250") "1\t0\t1\t1\t1\n2\t0.04\t1\t1\t1\n3\t0.08\t1\t1\t1\n", 25,
               "the header says 250 Hz, the times 25 Hz: the times are believed");
    check_note(ONE("900", "10") "1\t0\t1\t1\t1\n2\t0.1\t1\t1\t1\n", 10,
               "the header says 900 frames, 2 are there");
    check_note(ONE("3", "10") "1\t0\t1\t1\t1\n2\t0.1\t1\t1\t1\n4\t0.4\t1\t1\t1\n", 10,
               "the times do not go on in even steps; frames are not numbered one by one");
    check_note(ONE("2", "10") "1\t\t1\t1\t1\n2\t\t1\t1\t1\n", 10,
               "the times do not go on in even steps");
    check_note(ONE("4", "10") "7\t0\t1\t1\t1\n8\t.1\t1\t1\t1\n9\t.05\t1\t1\t1\n10\t.1\t1\t1\t1\n",
               10, "times do not go forward in 1 of 3 steps, first before frame 9");
    check_note(ONE("1", "10") "5\t7\t1\t1\t1\n", 10, "");
    // a last line without its end is whole when its last number has all its digits, or a tab behind it
    check_note(ONE("9", "10") "1\t0\t1\t1\t1.25\n2\t0.1\t1\t1\t12.50", 10,
               "the header says 9 frames, 2 are there");
    check_note(ONE("9", "10") "1\t0\t1\t1\t1\t\n2\t0.1\t1\t1\t1\t", 10,
               "the header says 9 frames, 2 are there");
    check_note(ONE("2", "10") "1\t0\t1\t1\t1.25\n2\t0.1\t1\t1\t1.2", 10, "");
    // else that number may be wrong
    static const char *const ends[] = {"1.2", "1", "1.", "-", "1.2e"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        char text[400];
        (void)snprintf(text, sizeof text, "%s%s", ONE("9", "10") "1\t0\t1\t1\t1.25\n2\t0.1\t1\t1\t",
                       ends[i]);
        check_note(text, 10,
                   "the header says 9 frames, 2 are there; the last number may be cut off: its "
                   "sample is taken as missing");
        sn_recording *r = read_text(text);
        assert_int_equal(sn_recording_missing(r, 0), 1);
        sn_recording_destroy(r);
    }
}

// Rows that are not there, while numbers and times go on as if they were: frames without samples.
static void lost_rows(void **unused) {
    (void)unused;
    static const struct {
        const char *rows, *note;
        int nframe, seen;  // frames; a bit for each that has a sample
        double rate;
    } all[] = {
        {"1\t0\t1\t1\t1\n2\t.1\t1\t1\t1\n4\t.3\t1\t1\t1\n",
         "1 frame is not in the file (first 3): taken as missing", 4, 11, 10},
        {"7\t2\t1\t1\t1\n8\t2.1\t1\t1\t1\n9\t2.2\t1\t1\t1\n11\t2.4\t1\t1\t1\n14\t2.7\t1\t1\t1\n",
         "3 frames are not in the file (first 10): taken as missing", 8, 1 + 2 + 4 + 16 + 128, 10},
        // the first step is no usual one
        {"1\t0\t1\t1\t1\n5\t.4\t1\t1\t1\n6\t.5\t1\t1\t1\n7\t.6\t1\t1\t1\n",
         "3 frames are not in the file (first 2): taken as missing", 7, 1 + 16 + 32 + 64, 10},
        // milliseconds at 60 Hz
        {"1\t0\t1\t1\t1\n2\t.017\t1\t1\t1\n3\t.033\t1\t1\t1\n4\t.05\t1\t1\t1\n7\t.1\t1\t1\t1\n",
         "2 frames are not in the file (first 5): taken as missing", 7, 15 + 64, 60},
        // milliseconds at 120 Hz, and a gap that their steps of 8.4 would make one frame shorter
        {"1\t0\t1\t1\t1\n2\t.008\t1\t1\t1\n3\t.017\t1\t1\t1\n4\t.025\t1\t1\t1\n5\t."
         "033\t1\t1\t1\n6\t.042\t1\t1\t1\n"
         "58\t.475\t1\t1\t1\n",
         "51 frames are not in the file (first 7): taken as missing", 58, 63, 120},
        // numbers that go on one by one, and such as say something else than the times
        {"1\t0\t1\t1\t1\n2\t.1\t1\t1\t1\n3\t.3\t1\t1\t1\n", "the times do not go on in even steps",
         3, 7, 10},
        {"1\t0\t1\t1\t1\n2\t.1\t1\t1\t1\n5\t.3\t1\t1\t1\n",
         "the times do not go on in even steps; frames are not numbered one by one", 3, 7, 10},
        // half a step
        {"1\t0\t1\t1\t1\n2\t.1\t1\t1\t1\n3\t.2\t1\t1\t1\n5\t.35\t1\t1\t1\n",
         "the times do not go on in even steps; frames are not numbered one by one", 4, 15, 10},
        // so many that the file is something else
        {"1\t0\t1\t1\t1\n2\t.1\t1\t1\t1\n400\t39.9\t1\t1\t1\n",
         "the times do not go on in even steps; frames are not numbered one by one", 3, 7, 10},
        {"1\t0\t1\t1\t1\n2\t.1\t1\t1\t1\n1000000000\t1e8\t1\t1\t1\n",
         "the times do not go on in even steps; frames are not numbered one by one", 3, 7, 10},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        char text[600];
        (void)snprintf(text, sizeof text,
                       "PathFileType\nDataRate\tNumMarkers\n%g\t1\nFrame#\tTime\tA\n"
                       "\t\tX1\tY1\tZ1\n%s",
                       all[i].rate, all[i].rows);
        sn_recording *r = read_text(text);
        const sn_recording_info *info = sn_recording_about(r);
        assert_string_equal(info->note, all[i].note);
        assert_int_equal(info->nframe, all[i].nframe);
        assert_near(info->rate, all[i].rate, 1e-9);
        for (int f = 0; f < info->nframe; f++)
            assert_int_equal(sn_recording_present(r, f, 0),
                             f < 31 ? all[i].seen >> f & 1 : f == info->nframe - 1);
        sn_recording_destroy(r);
    }
}

static void refuse(const char *text, size_t length, int line, const char *message) {
    sn_recording *r;
    sn_error error = {0};
    sn_status status = sn_trc_read(text, length, NULL, &r, &error);
    check_refusal(status, r, &error, line, message);
    assert_int_equal(sn_trc_read(text, length, NULL, &r, NULL), status);
}

#define REFUSE(text, line, message) refuse(text, sizeof(text) - 1, line, message)
#define FIRST                       "PathFileType\n" KEYS

static void broken_files(void **unused) {
    (void)unused;
    refuse("", 0, 0, "the file is empty");
    REFUSE("time\tx\n", 1, "this is no TRC file: PathFileType expected, not 'time'");
    REFUSE("PathFileType\n", 1, "the file ends before its line of keys");
    REFUSE(FIRST, 2, "the file ends before its line of values");
    REFUSE(FIRST "fast\t100\t2\t1\tmm\n", 3, "DataRate is 'fast'");
    REFUSE(FIRST "100\t100\t2\t1\tmillimetre_or_so\n", 3,
           "the unit 'millimetre_or_so' is too long");
    REFUSE(FIRST "100\t100\t2\t1\tmm\n", 3, "the file ends before its line of marker names");
    REFUSE(FIRST "100\t100\t2\t1\tmm\nX\tTime\tA\n", 4, "must begin with Frame#, not 'X'");
    REFUSE(FIRST "100\t100\t2\t1\tmm\nFrame#\tA\n", 4, "Time must follow Frame#, not 'A'");
    REFUSE(FIRST "100\t100\t2\t2\tmm\nFrame#\tTime\t\n", 4, "no marker is named");
    REFUSE(FIRST "100\t100\t2\t1\tmm\nFrame#\tTime\tA\0B\n", 4, "holds a NUL byte");
    REFUSE(FIRST "100\t100\t2\t1\tmm\nFrame#\tTime\tA\n", 4, "no frames follow");
    REFUSE(FIRST "100\t100\t2\t1\tmm\nFrame#\tTime\tA\tB\n\t\tX1\tY1\tZ1\n", 4,
           "2 markers are named here, but there are axes for 1 only");
    REFUSE(FIRST "100\t100\t2\t1\tmm\nFrame#\tTime\tA\n\t\tX1\tZ1\tY1\n", 5,
           "'Z1' where Y1 was expected");
    REFUSE(FIRST "100\t100\t2\t1\tmm\nFrame#\tTime\tA\n\t\tX1\tY1\n", 5,
           "2 axes: each marker needs three");
    REFUSE(HEAD, 6, "no frames follow");
    REFUSE(HEAD "1\t0\t1\t2\t3\t4\t5\n", 7, "this row has 7 cells, but 2 markers need 8");
    REFUSE(HEAD "1\t0\t1\t2\t3\t4\t5\t6\n2\t1\t1\t2\t3\t4\t5\t6\t7\n", 8,
           "this row has 9 cells, but 2 markers need 8");
    REFUSE(HEAD "1\n", 7, "this row has 1 cells");
    REFUSE(HEAD "1\t0\t1\t2\t3", 7, "the file ends inside this row: 5 cells, but 2 markers need 8");
    REFUSE(HEAD "1.5\t0\t1\t2\t3\t4\t5\t6\n", 7, "'1.5' is no frame number");
    REFUSE(HEAD "1\tx\t1\t2\t3\t4\t5\t6\n", 7, "'x' is no time");
    REFUSE(HEAD "1\t0.5\t1\t2\t3\t4\t5,5\t6\n", 7, "which of them is the decimal point");
    REFUSE(HEAD "1\t0\t1\t2\t3\t4\t5,5,5\t6\n", 7, "'5,5,5' of marker 'R Knee' is no number");
    REFUSE(HEAD "1\t0\t1\t2\t3\t4\t1e60\t6\n", 7, "'1e60' of marker 'R Knee' is no number, or one");
    REFUSE(HEAD "1\t0\t1\t2\t3\t4\tinf\t6\n", 7, "'inf'");
    REFUSE(HEAD "1\t0\t1\t\t3\t4\t5\t6\n", 7, "marker 'L.Knee' has only some of its three");
    // rows that end early must not make a large recording of a small file
    char text[4000] = FIRST "1\t1\t1\t100\tm\nFrame#\tTime";
    for (int i = 0; i < 100; i++) strcat(text, "\ta");
    strcat(text, "\n");
    for (int i = 0; i < 100; i++) strcat(text, "\tX\tY\tZ");
    strcat(text, "\n");
    for (int i = 0; i < 100; i++) strcat(text, "1\t0\n");
    refuse(text, strlen(text), 105, "nearly all rows end before the last of the 100 markers");
}

// Cut at every byte: an error with a sentence, or a file with fewer frames.
static void truncation(void **unused) {
    (void)unused;
    const char *text = HEAD "7\t0\t1\t2\t3\t4\t5\t6.5e1\n8\t0.01\t\tNaN\tnan\t-1\t.5\t0\n";
    for (size_t n = 0; n < strlen(text); n++) {
        char *copy = malloc(n > 0 ? n : 1);  // a block of its own, for the sanitizer
        assert_non_null(copy);
        memcpy(copy, text, n);
        sn_recording *r;
        sn_error error = {0};
        if (sn_trc_read(copy, n, NULL, &r, &error) != SN_OK)
            assert_true(r == NULL && error.text[0] != '\0');
        else
            assert_true(sn_recording_about(r)->nframe <= 2);
        sn_recording_destroy(r);
        free(copy);
    }
}

static sn_status trc(const char *bytes, size_t length, const sn_allocator *allocator,
                     sn_error *error) {
    sn_recording *r;
    sn_status status = sn_trc_read(bytes, length, allocator, &r, error);
    if (status != SN_OK) assert_null(r);
    sn_recording_destroy(r);
    return status;
}

static void failing_memory(void **unused) {
    (void)unused;
    const char *text = HEAD "7\t0\t1\t2\t3\t4\t5\t6\n";
    assert_int_equal(check_memory(trc, text, strlen(text)), 2);
    text = HEAD "7\t0\t1\t2\t3\t4\t5\t6\n8\t.01\t1\t2\t3\t4\t5\t6\n10\t.03\t1\t2\t3\t4\t5\t6\n";
    assert_int_equal(check_memory(trc, text, strlen(text)), 3);
}

static const char *const labels[] = {"Ann:LFHD", "C7 right", "*3"};

static void round_trip(void **unused) {
    (void)unused;
    static const char *const units[] = {"m", "mm", "cm", "in"};
    uint64_t state = 4;
    double worst[4] = {0};
    // a locale with decimal commas changes nothing, where there is one
    const char *locale = decimal_commas();
    print_message("locale: %s\n", locale == NULL ? "only C here" : locale);
    for (int i = 0; i < cases(200); i++) {
        sn_recording_info info = {.nframe = 1 + below(&state, 20),
                                  .nmarker = 1 + below(&state, 3),
                                  .first_frame = below(&state, 100),
                                  .rate = below(&state, 2) ? 120 : uniform(&state, 20, 500),
                                  .metres_per_unit = 0.001,
                                  .unit = "mm"};
        sn_recording *r = random_recording(&state, &info, labels, -1), *back;
        sn_markers_options options = sn_markers_options_default();
        int unit = below(&state, 4);
        options.unit = units[unit];
        memory_sink sink;
        memory_sink_begin(&sink);
        sn_error error = {0};
        assert_int_equal(sn_trc_write(r, &options, &sink.base, &error), SN_OK);
        if (sn_trc_read(sink.bytes, sink.length, NULL, &back, &error) != SN_OK)
            fail_msg("line %d: %s", error.line, error.text);
        const sn_recording_info *got = sn_recording_about(back);
        assert_string_equal(got->unit, units[unit]);
        assert_string_equal(got->note, "");
        assert_int_equal(got->first_frame, info.first_frame);
        assert_true(got->rate == info.rate);
        worst[unit] = fmax(worst[unit], recording_distance(r, back));
        sn_recording_destroy(r);
        sn_recording_destroy(back);
        free(sink.bytes);
    }
    (void)setlocale(LC_NUMERIC, "C");
    print_message("worst: m %.1e, mm %.1e, cm %.1e, in %.1e\n", worst[0], worst[1], worst[2],
                  worst[3]);
    assert_true(worst[0] == 0);
    for (int i = 1; i < 4; i++) assert_true(worst[i] < 1e-15);
}

// What was read from millimetres is written with the same digits.
static void same_text(void **unused) {
    (void)unused;
    sn_recording_info info = {.nframe = 1, .nmarker = 1, .rate = 60, .metres_per_unit = 1};
    sn_recording *r;
    assert_int_equal(sn_recording_create(&info, labels, NULL, &r, NULL), SN_OK);
    double *x = sn_recording_edit(r, 0);
    x[0] = 617.24762 * 0.001, x[1] = -0.00031 * 0.001, x[2] = 0;
    memory_sink sink;
    memory_sink_begin(&sink);
    assert_int_equal(sn_trc_write(r, NULL, &sink.base, NULL), SN_OK);
    assert_non_null(strstr(sink.bytes, "\n0\t0\t617.24762\t-0.00031\t0\n"));
    free(sink.bytes);
    sn_recording_destroy(r);
}

static void refused_writing(void **unused) {
    (void)unused;
    sn_recording_info info = {.nframe = 2, .nmarker = 2, .rate = 60, .metres_per_unit = 1};
    const char *bad[][2] = {{"a", "b\tc"}, {"a", " "}, {"a", "b\n"}};
    sn_recording *r;
    sn_error error = {0};
    memory_sink sink;
    memory_sink_begin(&sink);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(sn_recording_create(&info, bad[i], NULL, &r, NULL), SN_OK);
        assert_int_equal(sn_trc_write(r, NULL, &sink.base, &error), SN_ERR_VALUE);
        assert_non_null(strstr(error.text, "marker 2"));
        sn_recording_destroy(r);
    }
    assert_int_equal(sn_recording_create(&info, labels, NULL, &r, NULL), SN_OK);
    sn_markers_options options = {.unit = "mm"};
    assert_int_equal(sn_trc_write(r, &options, &sink.base, &error), SN_ERR_ARGUMENT);
    options = sn_markers_options_default(), options.unit = "furlong";
    assert_int_equal(sn_trc_write(r, &options, &sink.base, &error), SN_ERR_ARGUMENT);
    assert_string_equal(error.text, "'furlong' is no unit of length");
    options = sn_markers_options_default(), options.rate = -1;
    assert_int_equal(sn_trc_write(r, &options, &sink.base, &error), SN_ERR_ARGUMENT);
    assert_int_equal(sink.length, 0);
    // a sink that fails at any byte
    memory_sink whole;
    memory_sink_begin(&whole);
    assert_int_equal(sn_trc_write(r, NULL, &whole.base, NULL), SN_OK);
    for (size_t room = 0; room < whole.length; room += 7) {
        memory_sink_begin(&sink);
        sink.room = room;
        assert_int_equal(sn_trc_write(r, NULL, &sink.base, &error), SN_ERR_FILE);
        free(sink.bytes);
    }
    free(whole.bytes);
    sn_recording_destroy(r);
    info.rate = 0;
    assert_int_equal(sn_recording_create(&info, labels, NULL, &r, NULL), SN_OK);
    assert_int_equal(sn_trc_write(r, NULL, &sink.base, &error), SN_ERR_VALUE);
    assert_non_null(strstr(error.text, "no frame rate"));
    sn_recording_destroy(r);
    info.nframe = 0;
    assert_int_equal(sn_recording_create(&info, labels, NULL, &r, NULL), SN_OK);
    assert_int_equal(sn_trc_write(r, NULL, &sink.base, &error), SN_ERR_VALUE);
    sn_recording_destroy(r);
}

typedef struct known {
    const char *name;
    int nframe, first, nmarker, nother, missing;
    double rate;
    const char *unit, *note;
} known;

static const known files[] = {
    {"trc/UpperLimbStatic.trc", 146, 1, 34, 2, 0, 100, "mm",
     "points without a name left out in 10 frames"},
    {"trc/dataWithBlanksForMissingMarkers.trc", 464, 1, 40, 0, 15005, 250, "mm", ""},
    {"trc/dataWithEformat.trc", 5, 1, 14, 0, 0, 119.88012, "m", ""},
    {"trc/exampleFormat.trc", 5, 1, 3, 0, 2, 100, "m", ""},
    {"trc/gait10dof18musc_walk_CRLF_line_ending.trc", 10, 1, 41, 0, 0, 60, "mm", ""},
    {"trc/std_walking5_markers.trc", 112, 1, 40, 0, 2077, 25, "mm",
     "the header says 250 Hz, the times 25 Hz: the times are believed; "
     "1 of 111 time steps differ, first before frame 112 (0.008 s for 0.04)"},
    {"trc/walk_free_01.trc", 73, 185, 41, 0, 0, 60, "mm",
     "the header says 900 frames, 73 are there"},
    {"opensim/subject01_synthetic_marker_data.trc", 73, 1, 31, 0, 0, 60, "m", ""},
};

static sn_recording *data_recording(const char *name, bool c3d) {
    const char *path = data_path(name);
    if (path == NULL) skip();
    size_t length;
    char *bytes = slurp(path, &length);
    sn_recording *r;
    sn_error error = {0};
    sn_status status = (c3d ? sn_c3d_read((const void *)bytes, length, NULL, &r, &error)
                            : sn_trc_read(bytes, length, NULL, &r, &error));
    if (status != SN_OK) fail_msg("%s: line %d: %s", name, error.line, error.text);
    free(bytes);
    return r;
}

static void data_files(void **unused) {
    (void)unused;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        const known *k = &files[i];
        sn_recording *r = data_recording(k->name, false);
        const sn_recording_info *info = sn_recording_about(r);
        int missing = 0;
        for (int m = 0; m < info->nmarker; m++) missing += sn_recording_missing(r, m);
        print_message("%s: %d frames, %d markers, %g Hz%s%s\n", k->name, info->nframe,
                      info->nmarker, info->rate, info->note[0] ? "; note: " : "", info->note);
        assert_int_equal(info->nframe, k->nframe);
        assert_int_equal(info->first_frame, k->first);
        assert_int_equal(info->nmarker, k->nmarker);
        assert_int_equal(info->nother, k->nother);
        assert_int_equal(missing, k->missing);
        assert_near(info->rate, k->rate, 1e-12);
        assert_string_equal(info->unit, k->unit);
        assert_string_equal(info->note, k->note);
        for (int f = 0; f < info->nframe; f++)
            for (int c = 0; c < 3 * info->nmarker; c++)
                assert_false(fabs(sn_recording_frame(r, f)[c]) > 20);
        sn_recording_destroy(r);
    }
}

// Every 10th frame of the C3D file, and its last; numbers with five digits.
static void same_as_c3d(void **unused) {
    (void)unused;
    sn_recording *trc = data_recording("trc/std_walking5_markers.trc", false);
    sn_recording *c3d = data_recording("trc/walking5.c3d", true);
    double worst = 0;
    int count = 0;
    for (int f = 0; f < 112; f++) {
        int other = f < 111 ? 10 * f : 1102;
        for (int i = 0; i < 40; i++) {
            int marker = sn_recording_find(c3d, sn_recording_label(trc, i));
            assert_true(marker >= 0);
            assert_int_equal(sn_recording_present(trc, f, i),
                             sn_recording_present(c3d, other, marker));
            if (!sn_recording_present(trc, f, i)) continue;
            for (int c = 0; c < 3; c++, count++) {
                double x = sn_recording_frame(trc, f)[3 * i + c];
                double y = sn_recording_frame(c3d, other)[3 * marker + c];
                worst = fmax(worst, fabs(x - y) / fmax(fabs(y), 1e-3));
            }
        }
    }
    print_message("%d coordinates: worst %.1e relative\n", count, worst);
    assert_true(count > 7000 && worst < 5.001e-5);
    sn_recording_destroy(trc);
    sn_recording_destroy(c3d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usual),
        cmocka_unit_test(varieties),
        cmocka_unit_test(gaps_at_the_origin),
        cmocka_unit_test(decisions),
        cmocka_unit_test(lost_rows),
        cmocka_unit_test(broken_files),
        cmocka_unit_test(truncation),
        cmocka_unit_test(failing_memory),
        cmocka_unit_test(round_trip),
        cmocka_unit_test(same_text),
        cmocka_unit_test(refused_writing),
        cmocka_unit_test(data_files),
        cmocka_unit_test(same_as_c3d),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
