// SPDX-License-Identifier: MIT
// Numbers that stand for a missing sample, in every file of markers: taken as missing where they cannot be places.
#include "memory_sink.h"
#include "reader.h"

#include "files/csv/csv.h"

enum { FRAMES = 20, MARKERS = 4 };

// Markers within two metres of zero, and along x up to `walk`; in `count` samples the same number three times.
static sn_recording *make(double value, int count, double other, int others, double walk) {
    static const char *const labels[] = {"A", "B", "C", "D"};
    const sn_recording_info info = {.nframe = FRAMES,
                                    .nmarker = MARKERS,
                                    .first_frame = 1,
                                    .rate = 100,
                                    .unit = "mm",
                                    .metres_per_unit = 0.001};
    sn_recording *r;
    uint64_t state = 3;
    assert_int_equal(sn_recording_create(&info, labels, NULL, &r, NULL), SN_OK);
    for (int i = 0; i < FRAMES * MARKERS; i++) {
        double *x = sn_recording_edit(r, i / MARKERS) + 3 * (i % MARKERS);
        for (int k = 0; k < 3; k++) x[k] = uniform(&state, -2, 2);
        x[0] += walk * i / (FRAMES * MARKERS);
        if (i % 7 == 3 && i / 7 < count) x[0] = x[1] = x[2] = value;
        if (i % 7 == 5 && i / 7 < others) x[0] = x[1] = x[2] = other;
    }
    return r;
}

static sn_recording *through(const sn_recording *r, int kind) {
    memory_sink sink;
    sn_recording *back;
    sn_error error = {0};
    memory_sink_begin(&sink);
    assert_int_equal(kind == 0   ? sn_trc_write(r, NULL, &sink.base, &error)
                     : kind == 1 ? sn_csv_write_recording(r, NULL, &sink.base, &error)
                                 : sn_c3d_write(r, NULL, &sink.base, NULL, &error),
                     SN_OK);
    if ((kind == 0   ? sn_trc_read(sink.bytes, sink.length, NULL, &back, &error)
         : kind == 1 ? sn_csv_read_recording(sink.bytes, sink.length, NULL, &back, &error)
                     : sn_c3d_read(sink.bytes, sink.length, NULL, &back, &error)) != SN_OK)
        fail_msg("line %d: %s", error.line, error.text);
    free(sink.bytes);
    return back;
}

static int missing(const sn_recording *r) {
    int n = 0;
    for (int m = 0; m < MARKERS; m++) n += sn_recording_missing(r, m);
    return n;
}

static void placeholders(void **unused) {
    (void)unused;
    static const struct {
        double value, other;  // metres
        int count, others;
        double walk;
        int missing;
        const char *note;
    } all[] = {
        {9.999, 0, 11, 0, 0, 11, "9999 9999 9999 stands in 11 samples: taken as missing"},
        {-9.999, 0, 3, 0, 0, 3, "-9999 -9999 -9999 stands in 3 samples: taken as missing"},
        {1000, 0, 8, 0, 0, 8, "1000000 1000000 1000000 stands in 8 samples: taken as missing"},
        // two of them; one who walks far along one axis
        {9.999, 999.999, 4, 5, 0, 9,
         "9999 9999 9999 stands in 4 samples: taken as missing; "
         "999999 999999 999999 stands in 5 samples: taken as missing"},
        {9.999, 0, 5, 0, 7, 5, "9999 9999 9999 stands in 5 samples: taken as missing"},
        // what may be a place: seldom, within reach, not beyond all others, an example's corner
        {9.999, 0, 2, 0, 0, 0, ""},
        {4.5, 0, 6, 0, 0, 0, ""},
        {9.999, 0, 6, 0, 14, 0, ""},
        {9.999, 999.999, 6, 2, 0, 0, ""},
        {1, 0, 11, 0, 0, 0, ""},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        for (int kind = 0; kind < 3; kind++) {
            sn_recording *r =
                make(all[i].value, all[i].count, all[i].other, all[i].others, all[i].walk);
            sn_recording *back = through(r, kind);
            if (missing(back) != all[i].missing)
                fail_msg("%g in %s: %d missing", all[i].value,
                         (const char *[]){"TRC", "CSV", "C3D"}[kind], missing(back));
            assert_string_equal(sn_recording_about(back)->note, all[i].note);
            sn_recording_destroy(back);
            sn_recording_destroy(r);
        }
}

// All samples alike are no placeholders: there is nothing that they are beyond.
static void nothing_else(void **unused) {
    (void)unused;
    sn_recording *r = make(50, 0, 0, 0, 0);
    for (int f = 0; f < FRAMES; f++)
        for (int k = 0; k < 3 * MARKERS; k++) sn_recording_edit(r, f)[k] = 50;
    sn_recording *back = through(r, 0);
    assert_int_equal(missing(back), 0);
    sn_recording_destroy(back);
    sn_recording_destroy(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(placeholders),
        cmocka_unit_test(nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
