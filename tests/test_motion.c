// SPDX-License-Identifier: MIT
// Recordings and motions as containers.
#include "support.h"

#include "sinew/motion.h"
#include "take/fit.h"

static const char *const labels[] = {"Ann:LFHD", "Ben:LFHD", "Ann:RFHD", "C7", "*3", "odd:"};

static sn_recording_info small_info(void) {
    return (sn_recording_info){.nframe = 4,
                               .nmarker = 6,
                               .first_frame = 17,
                               .rate = 120,
                               .metres_per_unit = 0.001,
                               .unit = "mm",
                               .x_screen = "+X",
                               .y_screen = "+Z"};
}

static void recording_values(void **unused) {
    (void)unused;
    sn_recording_info info = small_info();
    sn_recording *r;
    assert_int_equal(sn_recording_create(&info, labels, NULL, &r, NULL), SN_OK);
    assert_memory_equal(sn_recording_about(r), &info, sizeof info);
    // all missing, then one there, then half of one
    for (int i = 0; i < 6; i++) assert_int_equal(sn_recording_missing(r, i), 4);
    double *row = sn_recording_edit(r, 2);
    row[3] = 1, row[4] = 2, row[5] = 3;
    row[6] = 1;
    assert_true(sn_recording_present(r, 2, 1));
    assert_false(sn_recording_present(r, 2, 2));
    assert_int_equal(sn_recording_missing(r, 1), 3);
    assert_int_equal(sn_recording_missing(r, 2), 4);
    assert_true(sn_recording_frame(r, 2)[5] == 3);
    // out of range
    assert_null(sn_recording_frame(r, -1));
    assert_null(sn_recording_edit(r, 4));
    assert_null(sn_recording_label(r, 6));
    assert_false(sn_recording_present(r, 2, 6));
    sn_recording_destroy(r);
    sn_recording_destroy(NULL);
}

static void recording_names(void **unused) {
    (void)unused;
    sn_recording_info info = small_info();
    sn_recording *r;
    assert_int_equal(sn_recording_create(&info, labels, NULL, &r, NULL), SN_OK);
    assert_int_equal(sn_recording_find(r, "Ben:LFHD"), 1);
    assert_int_equal(sn_recording_find(r, "RFHD"), 2);
    assert_int_equal(sn_recording_find(r, "C7"), 3);
    assert_int_equal(sn_recording_find(r, "odd:"), 5);
    assert_int_equal(sn_recording_find(r, "LFHD"), -2);  // two subjects
    assert_int_equal(sn_recording_find(r, "none"), -1);
    assert_int_equal(sn_recording_find(r, ""), -1);
    assert_string_equal(sn_label_name("a:b:C"), "C");
    assert_string_equal(sn_label_name("C"), "C");
    assert_string_equal(sn_recording_label(r, 0), "Ann:LFHD");
    sn_recording_destroy(r);
}

// Labels that stand twice are made different; those that stand once stay.
static void same_labels(void **unused) {
    (void)unused;
    static const char *const given[] = {"A", "A", "A_2", "B", "A", ""}, *const made[] = {
                                                                            "A", "A_3", "A_2",
                                                                            "B", "A_4", ""};
    sn_recording_info info = small_info();
    sn_recording *r;
    assert_int_equal(sn_recording_create(&info, given, NULL, &r, NULL), SN_OK);
    assert_int_equal(sn_recording_about(r)->nrenamed, 2);
    for (int i = 0; i < 6; i++) {
        assert_string_equal(sn_recording_label(r, i), made[i]);
        assert_int_equal(sn_recording_find(r, made[i]), i);
    }
    sn_recording_destroy(r);
}

static void units(void **unused) {
    (void)unused;
    assert_true(sn_unit_metres("mm") == 0.001);
    assert_true(sn_unit_metres("CM") == 0.01);
    assert_true(sn_unit_metres("m") == 1);
    assert_true(sn_unit_metres("Inches") == 0.0254);
    assert_true(sn_unit_metres("") == 0);
    assert_true(sn_unit_metres("mmm") == 0);
}

static void bad_arguments(void **unused) {
    (void)unused;
    sn_recording_info info = small_info();
    const char *missing[6] = {"a", "b", NULL, "d", "e", "f"};
    sn_recording *r;
    sn_motion *m;
    assert_int_equal(sn_recording_create(&info, missing, NULL, &r, NULL), SN_ERR_ARGUMENT);
    assert_null(r);
    info.nframe = -1;
    assert_int_equal(sn_recording_create(&info, labels, NULL, &r, NULL), SN_ERR_ARGUMENT);
    info = small_info();
    memset(info.unit, 'x', sizeof info.unit);
    assert_int_equal(sn_recording_create(&info, labels, NULL, &r, NULL), SN_ERR_ARGUMENT);
    // more than there is: refused by the allocator, not by arithmetic that went round
    info = small_info();
    info.nframe = 2147483647;
    test_allocator a;
    test_allocator_begin(&a);
    a.fail_at = 0;
    assert_int_equal(sn_recording_create(&info, labels, &a.base, &r, NULL), SN_ERR_MEMORY);
    assert_int_equal(sn_motion_create(-1, 3, 0, 0, NULL, &m, NULL), SN_ERR_ARGUMENT);
    assert_int_equal(sn_motion_create(2147483647, 2147483647, 0, 0, NULL, &m, NULL), SN_ERR_SIZE);
    assert_null(m);
}

static void motion_values(void **unused) {
    (void)unused;
    test_allocator a;
    test_allocator_begin(&a);
    sn_motion *m;
    assert_int_equal(sn_motion_create(3, 5, 40, 60, &a.base, &m, NULL), SN_OK);
    assert_int_equal(a.calls, 1);
    assert_int_equal(sn_motion_nframe(m), 3);
    assert_int_equal(sn_motion_nq(m), 5);
    assert_int_equal(sn_motion_first_frame(m), 40);
    assert_true(sn_motion_rate(m) == 60);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 5; k++) {
            assert_true(sn_motion_frame(m, i)[k] == 0);
            sn_motion_edit(m, i)[k] = 10 * i + k;
        }
    assert_true(sn_motion_frame(m, 1)[4] == 14);
    assert_null(sn_motion_frame(m, 3));
    assert_null(sn_motion_edit(m, -1));
    sn_motion_destroy(m);
    sn_motion_destroy(NULL);
    assert_int_equal(a.live, 0);
    // nothing in it is allowed
    assert_int_equal(sn_motion_create(0, 0, 0, -1, NULL, &m, NULL), SN_OK);
    assert_true(sn_motion_rate(m) == 0);
    sn_motion_destroy(m);
}

// A joint that turns by a t^2 / 2, beside a slider that does not count: the mean acceleration is a, at any rate.
static void acceleration(void **unused) {
    (void)unused;
    sn_builder *b;
    sn_model *model;
    sn_joint_desc hinge = sn_joint_default(SN_JOINT_HINGE),
                  slider = sn_joint_default(SN_JOINT_SLIDER);
    hinge.name = "hinge", slider.name = "slider", slider.parent = 0;
    assert_int_equal(sn_builder_create("two", NULL, &b, NULL), SN_OK);
    (void)sn_builder_joint(b, &hinge);
    (void)sn_builder_joint(b, &slider);
    assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
    sn_builder_destroy(b);
    for (double rate = 1; rate < 1000; rate *= 7) {
        sn_motion *motion;
        double out;
        assert_int_equal(sn_motion_create(9, 2, 1, rate, NULL, &motion, NULL), SN_OK);
        for (int f = 0; f < 9; f++) {
            double t = f / rate;
            sn_motion_edit(motion, f)[0] = 0.25 * t * t / 2;
            sn_motion_edit(motion, f)[1] = 100 * t * t;
        }
        assert_int_equal(sn_fit_acceleration(model, motion, NULL, &out), SN_OK);
        assert_near(out, 0.25, 1e-9);
        sn_motion_destroy(motion);
    }
    sn_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recording_values), cmocka_unit_test(recording_names),
        cmocka_unit_test(same_labels),      cmocka_unit_test(units),
        cmocka_unit_test(bad_arguments),    cmocka_unit_test(motion_values),
        cmocka_unit_test(acceleration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
