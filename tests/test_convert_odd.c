// SPDX-License-Identifier: MIT
// sinew convert and info with files that are odd: labels that stand twice, outputs that are inputs,
// units that are not known.
#define _POSIX_C_SOURCE 200809L
#include "program.h"

static const char twice[] =
    "PathFileType\t4\t(X/Y/Z)\ta.trc\nDataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\t"
    "OrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n50\t50\t2\t3\tmm\t50\t1\t2\n"
    "Frame#\tTime\tA\t\t\tA\t\t\tA_2\t\t\n\t\tX1\tY1\tZ1\tX2\tY2\tZ2\tX3\tY3\tZ3\n\n"
    "1\t0\t1\t2\t3\t4\t5\t6\t7\t8\t9\n2\t0.02\t1\t2\t3\t\t\t\t7\t8\t9\n";

// Every format holds the three markers under names of their own.
static void same_labels(void **unused) {
    (void)unused;
    static const char *const outputs[] = {"b.c3d", "b.trc", "b.csv", "b.sto"};
    static const char *const labels[] = {"A", "A_3", "A_2"};
    const char *from = program_file("a.trc", twice);
    program_expect(0, "1 marker has a label that another has before", "info %s", from);
    for (int i = 0; i < 4; i++) {
        const char *to = program_path(outputs[i]);
        program_expect(0, "1 label that stands twice: made different by _2, _3, ...",
                       "convert %s -o %s", from, to);
        sn_document d = program_read(to, NULL);
        assert_non_null(d.recording);
        assert_int_equal(sn_recording_get_info(d.recording)->nmarker, 3);
        assert_int_equal(sn_recording_get_info(d.recording)->nrenamed, 0);
        for (int m = 0; m < 3; m++) {
            int found = sn_recording_find(d.recording, labels[m]);
            assert_true(found >= 0);
            assert_near(sn_recording_frame(d.recording, 0)[3 * found], 0.001 + 0.003 * m, 1e-9);
        }
        sn_document_free(&d);
    }
}

// An input is not replaced, whatever name it comes under.
static void outputs_that_are_inputs(void **unused) {
    (void)unused;
    const char *from = program_file("in.trc", twice), *other = program_path("other.trc");
    size_t length;
    assert_int_equal(symlink(from, other), 0);
    program_expect(3, "this is an input, which would be overwritten", "convert %s -o %s", from,
                   from);
    program_expect(3, "give another name, or --force", "convert %s -o %s/../%s", from,
                   program_folder, from + strlen("/tmp/"));
    program_expect(3, "this is an input", "convert %s -o %s -o %s", from, program_path("new.c3d"),
                   other);
    assert_true(access(program_path("new.c3d"), F_OK) != 0);  // nothing was written
    char *text = slurp(from, &length);
    assert_string_equal(text, twice);
    free(text);
    program_expect(0, "wrote", "convert %s -o %s --force --units m", from, from);
    text = slurp(from, &length);
    assert_true(strcmp(text, twice) != 0);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_labels),
        cmocka_unit_test(outputs_that_are_inputs),
    };
    if (!program_begin("convert-odd")) return 1;
    return program_end(cmocka_run_group_tests(tests, NULL, NULL));
}
