// SPDX-License-Identifier: MIT
// The parts of a fit: matching labels, sizes, postures, what is measured of it.
#include "take/fit.h"
#include "takes.h"

// What has nothing to work on says so.
static void nothing_given(void **unused) {
    (void)unused;
    sn_motion *motion;
    sn_error error = {0};
    sn_fit_input input = {0};
    sn_fit_summary summary;
    sn_fit_frame frame;
    sn_fit_marker marker;
    assert_int_equal(sn_motion_create(1, 1, 1, 100, NULL, &motion, NULL), SN_OK);
    assert_int_equal(sn_fit_run(NULL, NULL, NULL, motion, &frame, &marker, &summary, &error),
                     SN_ERR_ARGUMENT);
    assert_true(error.text[0] != '\0');
    assert_int_equal(sn_fit_run(&input, NULL, NULL, NULL, &frame, &marker, &summary, NULL),
                     SN_ERR_ARGUMENT);
    assert_int_equal(sn_fit_run(&input, NULL, NULL, motion, &frame, &marker, &summary, NULL),
                     SN_ERR_ARGUMENT);
    sn_motion_destroy(motion);
}

static void matching(void **state) {
    example_take *t = *state;
    static const char *const labels[] = {"Ann:LFHD", "Ann:RFHD", "Bob:LFHD",
                                         "Bob:RFHD", "Bob:C7",   "T10"};
    sn_recording *two;
    sn_recording_info info = {.nframe = 1, .nmarker = 6};
    int column[41];
    assert_int_equal(sn_recording_create(&info, labels, NULL, &two, NULL), SN_OK);
    assert_int_equal(sn_fit_match(t->model, two, NULL, column), -1);
    assert_int_equal(sn_fit_match(t->model, two, "Ann", column), 2);
    assert_int_equal(column[sn_model_find_marker(t->model, "LFHD")], 0);
    // what only the other has is not hers
    assert_int_equal(column[sn_model_find_marker(t->model, "C7")], -1);
    assert_int_equal(sn_fit_match(t->model, two, "Bob", column), 3);
    assert_int_equal(column[sn_model_find_marker(t->model, "RFHD")], 3);
    assert_int_equal(sn_fit_match(t->model, two, "Bo", column), 0);
    sn_recording_destroy(two);
    assert_int_equal(sn_fit_match(t->model, t->recording, NULL, column), 41);
    assert_int_equal(sn_fit_match(t->model, t->recording, "figure", column), 41);
}

// The first joint may be a mirror image, too.
static void mirrored(void **unused) {
    (void)unused;
    sn_builder *b;
    sn_model *model;
    sn_joint_desc left = sn_joint_default(SN_JOINT_BALL), right = left;
    left.name = "left", right.name = "right", right.parent = 0;
    assert_int_equal(sn_builder_create("two", NULL, &b, NULL), SN_OK);
    (void)sn_builder_joint(b, &left), (void)sn_builder_joint(b, &right);
    assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
    sn_builder_destroy(b);
    assert_int_equal(sn_model_mirror_joint(model, 0), 1);
    assert_int_equal(sn_model_mirror_joint(model, 1), 0);
    sn_model_destroy(model);
}

// The figure's size by what two markers are apart; a sample of which one number is missing does not count.
static void measured_size(void **unused) {
    (void)unused;
    static const char text[] = "{\"joints\": [{\"name\": \"a\", \"type\": \"free\"}], \"markers\": "
                               "[{\"name\": \"p\", \"joint\": \"a\"}, "
                               "{\"name\": \"q\", \"joint\": \"a\", \"position\": [0, 1, 0]}]}";
    static const char *const labels[] = {"p", "q"};
    const sn_recording_info info = {.nframe = 30, .nmarker = 2, .rate = 100, .metres_per_unit = 1};
    const int column[2] = {0, 1};
    const sn_vec3 rest[2] = {{0, 0, 0}, {0, 1, 0}};
    sn_model *model;
    sn_recording *recording;
    double size;
    bool sure;
    assert_int_equal(sn_model_read_json(text, strlen(text), NULL, &model, NULL), SN_OK);
    assert_int_equal(sn_recording_create(&info, labels, NULL, &recording, NULL), SN_OK);
    for (int f = 0; f < 30; f++) {
        double *x = sn_recording_edit(recording, f);
        memset(x, 0, 6 * sizeof *x);
        x[4] = 1.25;
        if (f < 6) x[f] = NAN;
    }
    const sn_fit_input in = {.model = model,
                             .recording = recording,
                             .column = column,
                             .axes = sn_axis_map_identity(),
                             .count = 30};
    assert_int_equal(sn_fit_size(&in, rest, 1, NULL, &size, &sure), SN_OK);
    assert_near(size, 1.25, 1e-12);
    assert_true(sure);
    sn_recording_destroy(recording);
    sn_model_destroy(model);
}

// What holds the joints of a skeleton as BVH files have them: three angles each.
static void posture(void **unused) {
    (void)unused;
    static const struct {
        const char *name;
        int parent;
        double position[3], wanted[3];  // weights about z, y, x
    } bones[] = {{"Hips", -1, {0, 0, 0}, {0}},
                 {"Spine", 0, {0, 0.1, 0}, {300, 300, 300}},
                 {"LeftShoulder", 1, {0.05, 0.4, 0}, {300, 300, 300}},
                 {"LeftArm", 2, {0.1, 0, 0}, {1, 1, 1}},
                 {"LeftForeArm", 3, {0.3, 0, 0}, {1, 1, 30}},
                 {"LeftHand", 4, {0.25, 0, 0}, {50, 50, 50}},
                 {"RightArm", 1, {-0.1, 0.4, 0}, {1, 1, 1}},
                 {"RightForeArm", 6, {-0.3, 0, 0}, {1, 1, 30}},
                 {"RightHand", 7, {-0.25, 0, 0}, {50, 50, 50}},
                 {"LeftUpLeg", 0, {0.1, 0, 0}, {1, 1, 1}},
                 {"LeftLeg", 9, {0, -0.4, 0}, {100, 100, 1}},
                 {"LeftFoot", 10, {0, -0.4, 0}, {30, 30, 30}},
                 {"LeftToeBase", 11, {0, -0.1, 0.1}, {100, 100, 100}},
                 {"RightUpLeg", 0, {-0.1, 0, 0}, {1, 1, 1}},
                 {"RightLeg", 13, {0, -0.4, 0}, {100, 100, 1}}};
    enum { BONES = sizeof bones / sizeof bones[0] };
    for (int human = 0; human < 2; human++) {
        sn_builder *b;
        sn_model *model;
        double q[7 + 3 * BONES], weight[6 + 3 * BONES];
        assert_int_equal(sn_builder_create("bvh", NULL, &b, NULL), SN_OK);
        for (int i = 0; i < BONES; i++) {
            sn_joint_desc d = sn_joint_default(i == 0 ? SN_JOINT_FREE : SN_JOINT_EULER);
            char name[32];
            (void)snprintf(name, sizeof name, "%s%s", human ? "" : "x", bones[i].name);
            d.name = name;
            d.parent = bones[i].parent;
            memcpy(d.position, bones[i].position, sizeof d.position);
            (void)snprintf(d.order, sizeof d.order, "ZYX");
            (void)sn_builder_joint(b, &d);
        }
        assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
        sn_builder_destroy(b);
        sn_fit_posture(model, q, weight);
        for (int i = 0; i < 6; i++) assert_true(weight[i] == 0);
        for (int i = 1; i < BONES; i++)
            for (int k = 0; k < 3; k++)
                assert_near(weight[6 + 3 * (i - 1) + k], human ? bones[i].wanted[k] : 1, 1e-12);
        sn_model_destroy(model);
    }
}

static void measured(void **state) {
    example_take *t = *state;
    int column[41], n = 200;
    sn_axis_map axes;
    assert_true(sn_axis_map_parse("yzx", &axes));
    axes.scale = 0.5;
    sn_axis_map back;
    assert_true(sn_axis_map_parse("zxy", &back));
    back.scale = 2;
    sn_recording_info info = *sn_recording_about(t->recording);
    sn_recording *turned = recording_turned(t->recording, &back, &info);
    assert_int_equal(sn_fit_match(t->subject, turned, NULL, column), 41);
    column[7] = -1;
    sn_fit_input in = {
        .model = t->subject, .recording = turned, .column = column, .axes = axes, .count = n};
    sn_fit_frame *frames = malloc((size_t)n * sizeof *frames);
    sn_fit_marker markers[41];
    sn_fit_summary s;
    sn_motion *part;
    assert_non_null(frames);
    int nq = sn_model_nq(t->model);
    assert_int_equal(sn_motion_create(n, nq, 1, 120, NULL, &part, NULL), SN_OK);
    for (int f = 0; f < n; f++)
        memcpy(sn_motion_edit(part, f), sn_motion_frame(t->truth, f), (size_t)nq * sizeof(double));
    assert_int_equal(sn_fit_measure(&in, part, NULL, frames, markers, &s), SN_OK);
    double rms = plain_rms(t->subject, part, turned, column, &axes, 0, 1), square = 0, worst = 0,
           mean = 0;
    assert_near(1e3 * s.rms, 1e3 * rms, 1e-9);
    assert_near(1e3 * s.rms, 1e3 * 0.002 * sqrt(3), 0.02);
    long seen = 0;
    for (int i = 0; i < 41; i++) {
        seen += markers[i].seen;
        square += markers[i].seen * markers[i].rms * markers[i].rms;
        mean += markers[i].seen * markers[i].mean;
        worst = fmax(worst, markers[i].worst);
        assert_true(markers[i].worst >= markers[i].rms && markers[i].rms >= markers[i].mean);
    }
    assert_true(markers[7].seen == 0 && markers[7].worst_frame == -1);
    assert_true(seen == s.samples && s.samples + s.missing == 40L * n && s.missing > 0);
    assert_near(1e6 * square / (double)seen, 1e6 * s.rms * s.rms, 1e-9);
    assert_near(1e3 * mean / (double)seen, 1e3 * s.mean, 1e-9);
    assert_near(1e3 * worst, 1e3 * s.worst, 1e-6);
    assert_near(1e3 * (double)frames[s.worst_frame].worst, 1e3 * s.worst, 1e-6);
    assert_near(1e3 * markers[s.worst_marker].worst, 1e3 * s.worst, 1e-6);
    square = 0;
    for (int f = 0; f < n; f++)
        square += frames[f].markers * (double)frames[f].rms * (double)frames[f].rms;
    assert_near(1e6 * square / (double)seen, 1e6 * s.rms * s.rms, 1e-5);
    sn_motion_destroy(part);
    free(frames);
    sn_recording_destroy(turned);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_given), cmocka_unit_test(matching), cmocka_unit_test(mirrored),
        cmocka_unit_test(measured_size), cmocka_unit_test(posture),  cmocka_unit_test(measured)};
    return cmocka_run_group_tests(tests, example_begin, example_end);
}
