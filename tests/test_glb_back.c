// SPDX-License-Identifier: MIT
// GLB files that sinew wrote come back to float precision.
#include "glb_files.h"

// --- written, then read ---------------------------------------------------------------------------

static void test_random(void **unused) {
    (void)unused;
    static const double rates[] = {120, 60, 59.94, 29.97, 100, 23.976, 250, 33.3333};
    static const char *const ups[] = {"y", "z", "x", "-z"};
    uint64_t state = 71;
    double worst = 0;
    for (int k = 0; k < cases(300); k++) {
        int njoint = 1 + below(&state, 12), type = k % 3 == 0 ? k / 3 % SN_JOINT_TYPE_COUNT : -1;
        sn_model *model =
            with_markers(&state, random_model(&state, njoint, type), below(&state, 4));
        sn_motion *motion = random_motion(&state, model, 2 + below(&state, 30), rates[k % 8]);
        sn_glb_scene scene = sn_glb_scene_default(model);
        scene.fitted = k % 2 == 0;
        (void)sn_glb_up(ups[k % 4], scene.rotation);
        if (k % 5 == 4) {
            scene.q = sn_motion_frame(motion, 0);
        } else {
            scene.motion = motion;
        }
        worst = fmax(worst, there_and_back(&scene));
        sn_motion_destroy(motion);
        sn_model_destroy(model);
    }
    printf("largest difference %.2g (chains of up to 12 joints of about 1 m)\n", worst);
    assert_true(worst < 1e-5);
}

static void test_humanoid(void **unused) {
    (void)unused;
    uint64_t state = 72;
    sn_model *model;
    assert_int_equal(sn_model_humanoid(NULL, &model, NULL), SN_OK);
    sn_motion *motion = random_motion(&state, model, 300, 120);
    sn_glb_scene scene = sn_glb_scene_default(model);
    scene.motion = motion;
    scene.fitted = true;
    double worst = there_and_back(&scene);
    printf("the figure, 300 frames: %.2g m\n", worst);
    assert_true(worst < 2e-6);
    sn_motion_destroy(motion);
    sn_model_destroy(model);
}

// The zero pose comes back, too: a figure stands with its arms out, whatever its first frame is.
static void test_rest_pose(void **unused) {
    (void)unused;
    uint64_t state = 73;
    sn_model *model;
    memory_sink sink;
    const double none[4] = {1, 0, 0, 0};
    assert_int_equal(sn_model_humanoid(NULL, &model, NULL), SN_OK);
    sn_motion *motion = random_motion(&state, model, 5, 120);
    sn_glb_scene scene = sn_glb_scene_default(model);
    scene.motion = motion;
    write_scene(&scene, &sink);
    sn_glb_content c = read_bytes(sink.bytes, sink.length);
    double qa[200], qb[400];
    assert_true(sn_model_nq(model) <= 200 && sn_model_nq(c.model) <= 400);
    sn_model_zero(model, qa);
    sn_model_zero(c.model, qb);
    assert_true(distance(model, qa, c.model, qb, none) < 1e-6);
    sn_glb_content_destroy(&c);
    free(sink.bytes);
    sn_motion_destroy(motion);
    sn_model_destroy(model);
}

static void test_recordings(void **unused) {
    (void)unused;
    uint64_t state = 74;
    for (int k = 0; k < cases(60); k++) {
        sn_model *model = with_markers(&state, random_model(&state, 3, -1), 2);
        sn_motion *motion = random_motion(&state, model, 2 + below(&state, 20), 100);
        const char *labels[] = {"A:LFHD", "B", "\xc3\xa9t\xc3\xa9 \"x\"", "still"};
        sn_recording_info info = {.nframe = 2 + below(&state, 30), .nmarker = 4, .rate = 100};
        sn_recording *recording = random_recording(&state, &info, labels, -1);
        for (int f = 0; f < info.nframe; f++) {
            double *x = sn_recording_edit(recording, f);
            if (f == 0)
                for (int m = 0; m < 3; m++)
                    x[3 * m] = x[3 * m + 1] = x[3 * m + 2] = m;  // seen once
            x[9] = 1, x[10] = 2, x[11] = 3;
        }
        sn_glb_scene scene = sn_glb_scene_default(model);
        scene.recording = recording;
        scene.fitted = true;
        if (k % 3 > 0) scene.motion = motion;
        memory_sink sink;
        write_scene(&scene, &sink);
        sn_glb_content c = read_bytes(sink.bytes, sink.length);
        assert_true(recording_distance(recording, c.recording) < 1e-6);
        const sn_recording_info *read = sn_recording_about(c.recording);
        assert_near(read->rate, 100, 1e-12);
        assert_true(read->metres_per_unit == 1 && strcmp(read->y_screen, "+Y") == 0);
        assert_int_equal(read->first_frame, 1);
        if (k % 3 == 0) assert_null(c.motion);
        if (k % 3 > 0 && c.motion != NULL)
            assert_int_equal(sn_motion_nframe(c.motion), sn_motion_nframe(motion));
        sn_glb_content_destroy(&c);
        free(sink.bytes);
        sn_recording_destroy(recording);
        sn_motion_destroy(motion);
        sn_model_destroy(model);
    }
}

// Half a turn about one axis is a rotation whose other numbers are 0, and stays one.
static void test_half_turns(void **unused) {
    (void)unused;
    for (int axis = 0; axis < 3; axis++) {
        sn_builder *b;
        sn_model *model;
        assert_int_equal(sn_builder_create("turned", NULL, &b, NULL), SN_OK);
        for (int i = 0; i < 3; i++) {
            sn_joint_desc d = sn_joint_default(SN_JOINT_BALL);
            d.name = (const char *const[]){"a", "b", "c"}[i];
            d.parent = i - 1;
            d.position[0] = 0.3, d.position[1] = 0.2, d.position[2] = 0.1;
            for (int k = 0; k < 4; k++) d.rotation[k] = k == 1 + axis;
            assert_int_equal(sn_builder_joint(b, &d), i);
        }
        assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
        sn_builder_destroy(b);
        sn_glb_scene scene = sn_glb_scene_default(model);
        assert_true(there_and_back(&scene) < 1e-6);
        sn_model_destroy(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),     cmocka_unit_test(test_humanoid),
        cmocka_unit_test(test_rest_pose),  cmocka_unit_test(test_recordings),
        cmocka_unit_test(test_half_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
