// SPDX-License-Identifier: MIT
// ASF and AMC files that are wrong, cut short, or too much for the memory.
#include "asf_files.h"

static sn_status asf(const char *bytes, size_t length, const sn_allocator *allocator,
                     sn_error *error) {
    sn_skeleton *s;
    sn_status status = sn_asf_read(bytes, length, NULL, allocator, &s, error);
    if (status != SN_OK) assert_null(s);
    sn_skeleton_destroy(s);
    return status;
}

static sn_status amc(const char *bytes, size_t length, const sn_allocator *allocator,
                     sn_error *error) {
    sn_skeleton *s = read_asf(tiny_asf);
    sn_motion *m;
    sn_status status = sn_amc_read(bytes, length, s, allocator, &m, error);
    if (status != SN_OK) assert_null(m);
    sn_motion_destroy(m);
    sn_skeleton_destroy(s);
    return status;
}

static void broken_asf(void **unused) {
    (void)unused;
    static const edit list[] = {
        {"# a comment\n", "hello\n", 1, "\"hello\" before any section"},
        {"length 0.5", "length 0", 6, "unit of length must be between"},
        {"length 0.5", "length", 6, "needs 1 number"},
        {"length 0.5", "length 1 2", 6, "one word too many"},
        {"angle deg", "angle turns", 7, "must be deg or rad, not \"turns\""},
        {"order TX TY", "order TX TW", 11, "\"TW\" is none of tx"},
        {"order TX TY", "order TX TX", 11, "\"TX\" stands twice"},
        {"  axis XYZ", "  axis XXZ", 12, "an order such as XYZ, not \"XXZ\""},
        {"position 0 0 0", "position 0 0 1", 13, "must be 0 0 0"},
        {"orientation 0 0 0", "orientation 0 5 0", 14, "must be 0 0 0"},
        {"orientation", "direction", 14, ":root has no keyword \"direction\""},
        {"name hip", "name", 18, "name is missing"},
        {"name hip", "name hip joint", 18, "\"joint\" after the name is one word too many"},
        {"    name hip\n", "", 25, "has no name"},
        {"    direction 1 0 0\n", "", 25, "bone \"hip\" has no direction"},
        {"    length 2\n", "", 25, "bone \"hip\" has no length"},
        {"direction 1 0 0", "direction 0 0 0", 26, "direction is zero"},
        {"direction 1 0 0", "direction 1 0", 19, "direction needs 3 numbers, here are 2"},
        {"direction 1 0 0", "direction 1 0 0x", 19, "\"0x\" is not a number"},
        {"direction 1 0 0", "direction 1 0 nan", 19, "\"nan\" is not a number"},
        {"direction 1 0 0", "direction 1 0 1e999", 19, "\"1e999\" is not a number"},
        {"direction 1 0 0", "direction 1 0 1e60", 19, "\"1e60\" is beyond 1e50"},
        {"length 2", "length -2", 20, "must be 0 or above"},
        {"length 2", "length 2\nlength 2", 21, "\"length\" stands twice"},
        {"axis 0 0 20 XYZ", "axis 0 0 20 XY", 21, "axis needs an order"},
        {"axis 0 0 20 XYZ", "axis 0 20 XYZ", 21, "\"XYZ\" is not a number"},
        {"dof rx ry rz", "dof rx ry rx", 22, "\"rx\" stands twice"},
        {"dof rx ry rz", "dof rx ry tz", 22, "slide or stretch cannot be read"},
        {"dof rx ry rz", "dof rx ry l", 22, "slide or stretch cannot be read"},
        {"dof rx ry rz", "dof rx ry", 23, "2 degrees of freedom need 4 limits, here are 6"},
        {"dof rx ry rz", "dogs rx ry", 22, "a bone has no keyword \"dogs\""},
        {"(-inf 70.0)", "(-inf 70.0 1)", 25, "more limits than"},
        {"(-inf 70.0)", "(-inf x)", 25, "\"x\" is not a number"},
        {"(-inf 70.0)", "(-inf)", 23, "need 6 limits, here are 5"},
        {"  end\n", "", 26, "begins before the one before it has ended"},
        {"  end\n  begin\n    id 2", "  end\n    id 2", 27, "\"id\" where a bone should begin"},
        {"  end\n:hier", "\n:hier", 41, "bone \"toe\" has no end"},
        {"name knee", "name hip", 27, "another bone is named \"hip\""},
        {"name knee", "name root", 27, "another bone is named \"root\""},
        {"root hip\n", "root hop\n", 43, "there is no bone \"hop\""},
        {"hip knee\n", "hip knee hip\n", 44, "\"hip\" has a parent already"},
        {"hip knee\n", "hip root\n", 44, "the root cannot have a parent"},
        {"    knee toe\n", "", 35, "bone \"toe\" has no parent"},
        {"    root hip\n    hip knee", "    knee hip\n    hip knee", 16, "its own ancestor"},
        {"    knee toe\n  end\n", "    knee toe\n", 45, "ends inside :hierarchy"},
        {"    knee toe\n  end\n", "    knee toe\n:x\n", 46, ":hierarchy has no end"},
        {"    knee toe\n  end\n", "    knee toe\nend\n:hierarchy\n", 47, "second :hierarchy"},
        {"    knee toe\n  end\n", "    knee toe\nend\n:bonedata\nbegin\n", 48, "must come first"},
    };
    check_edits(asf, tiny_asf, list, sizeof list / sizeof list[0]);
    sn_skeleton *s;
    sn_error error = {0};
    assert_int_equal(sn_asf_read("", 0, NULL, NULL, &s, &error), SN_ERR_PARSE);
    assert_non_null(strstr(error.text, "no bones"));
}

// Line numbers with other line ends.
static void broken_lines(void **unused) {
    (void)unused;
    static const char *const ends[] = {"\r\n", "\r"};
    for (int i = 0; i < 2; i++) {
        char *wrong = replaced(tiny_asf, "length 2", "length -2"), *text = dressed(wrong, ends[i]);
        sn_skeleton *s;
        sn_error error = {0};
        assert_int_equal(sn_asf_read(text, strlen(text), NULL, NULL, &s, &error), SN_ERR_PARSE);
        assert_int_equal(error.line, 20);
        free(text);
        free(wrong);
    }
}

static void broken_amc(void **unused) {
    (void)unused;
    static const edit list[] = {
        {"7\n", "", 4, "\"root\" before the first frame's number"},
        {"root 1 2 3 10 20 30", "root 1 2 3 10 20", 5, "\"root\" needs 6 numbers, here are 5"},
        {"root 1 2 3 10 20 30", "root 1 2 3 10 20 30 4", 5, "\"4\" is one number too many"},
        {"root 1 2 3 10 20 30\n", "", 4, "frame 7 has no line for \"root\""},
        {"knee 5 -6e-002", "knee 5 -6e", 6, "\"-6e\" is not a number"},
        {"knee 5 -6e-002", "knee 5 inf", 6, "\"inf\" is not a number"},
        {"knee 5 -6e-002", "elbow 5", 6, "the skeleton has no bone \"elbow\""},
        {"knee 5 -6e-002", "Knee 5 5", 6, "the skeleton has no bone \"Knee\""},
        {"knee 5 -6e-002", "knee 5 5\nknee 5 5", 7, "a second line for \"knee\""},
        {"knee 5 -6e-002\n", "", 9, "\"knee\", which the frame before has not"},
        {"knee 6 -7\n", "", 8, "frame 8 has no line for \"knee\""},
        {"hip 2 3 4\n", "", 8, "frame 8 has no line for \"hip\""},
        {"8\n", "9\n", 8, "frame 9 follows frame 7"},
        {"8\n", "7\n", 8, "frame 7 follows frame 7"},
        {"8\n", "99999999999\n", 8, "the skeleton has no bone \"99999999999\""},
        {"8\n", ":DEGREES\n8\n", 8, "\":DEGREES\" between frames"},
        {":DEGREES", ":SAMPLES-PER-SECOND -1", 3, "no number of samples per second"},
    };
    sn_skeleton *s = read_asf(tiny_asf);
    sn_motion *m;
    sn_error error = {0};
    check_edits(amc, tiny_amc, list, sizeof list / sizeof list[0]);
    assert_int_equal(sn_amc_read("# nothing", 9, s, NULL, &m, &error), SN_ERR_PARSE);
    assert_non_null(strstr(error.text, "no frames"));
    sn_skeleton_destroy(s);
}

// Cut anywhere: an error, or, where a cut leaves a file that is whole, nothing invented.
static void truncation(void **unused) {
    (void)unused;
    size_t whole = strlen(tiny_asf);
    for (size_t n = 0; n < whole; n++) {
        char *copy = malloc(n + 1);  // exactly n bytes, for the sanitizer
        assert_non_null(copy);
        memcpy(copy, tiny_asf, n);
        sn_skeleton *s;
        sn_status status = sn_asf_read(copy, n, NULL, NULL, &s, NULL);
        // only the line end after the last "end" can be missed
        if ((status == SN_OK) != (n == whole - 1)) fail_msg("cut at %zu: status %d", n, status);
        sn_skeleton_destroy(s);
        free(copy);
    }
    sn_skeleton *s = read_asf(tiny_asf);
    size_t second = (size_t)(strstr(tiny_amc, "\n8\n") - tiny_amc) + 1;
    size_t last = (size_t)(strstr(tiny_amc, "hip 2") - tiny_amc);
    whole = strlen(tiny_amc);
    for (size_t n = 0; n < whole; n++) {
        char *copy = malloc(n + 1);
        assert_non_null(copy);
        memcpy(copy, tiny_amc, n);
        sn_motion *m;
        sn_status status = sn_amc_read(copy, n, s, NULL, &m, NULL);
        // a begun frame that is not complete is an error; a last number cut short cannot be seen
        if (n > second && n < last + 9) assert_int_equal(status, SN_ERR_PARSE);
        if (n >= last + 9) assert_int_equal(status, SN_OK);
        if (status == SN_OK) assert_int_equal(sn_motion_nframe(m), n > second ? 2 : 1);
        sn_motion_destroy(m);
        free(copy);
    }
    sn_skeleton_destroy(s);
}

static sn_status both(const char *bytes, size_t length, const sn_allocator *allocator,
                      sn_error *error) {
    sn_skeleton *s;
    sn_motion *m = NULL;
    sn_status status = sn_asf_read(bytes, length, NULL, allocator, &s, error);
    if (status == SN_OK) status = sn_amc_read(tiny_amc, strlen(tiny_amc), s, allocator, &m, error);
    if (status != SN_OK) assert_null(m);
    sn_motion_destroy(m);
    sn_skeleton_destroy(s);
    return status;
}

static void failing_memory(void **unused) {
    (void)unused;
    assert_true(check_memory(both, tiny_asf, strlen(tiny_asf)) > 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_asf),     cmocka_unit_test(broken_lines),
        cmocka_unit_test(broken_amc),     cmocka_unit_test(truncation),
        cmocka_unit_test(failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
