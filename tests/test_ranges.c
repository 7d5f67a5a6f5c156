// SPDX-License-Identifier: MIT
// Ranges of an .osim file that a person leaves: arms that are lifted further than the model lifts them.
#include "sinew/files.h"
#include "support.h"
#include "take/fit.h"

#include <string.h>

static const double degrees = 57.29577951308232;

// A trunk on a base that moves in a plane, and two arms that hang from it; %s are the ranges of shoulders and elbows.
static const char reacher[] =
    "<OpenSimDocument Version='40000'><Model name='reacher'><BodySet><objects>"
    "<Body name='pelvis'/><Body name='torso'/><Body name='humerus_r'/><Body name='humerus_l'/>"
    "<Body name='radius_r'/><Body name='radius_l'/>"
    "</objects></BodySet><JointSet><objects>"
    "<CustomJoint name='root'><socket_parent_frame>/ground</socket_parent_frame>"
    "<socket_child_frame>/bodyset/pelvis</socket_child_frame>"
    "<coordinates><Coordinate name='x'/><Coordinate name='y'/><Coordinate name='turn'/>"
    "</coordinates><SpatialTransform>"
    "<TransformAxis name='rotation1'><coordinates>turn</coordinates><axis>0 0 "
    "1</axis></TransformAxis>"
    "<TransformAxis name='translation1'><coordinates>x</coordinates><axis>1 0 "
    "0</axis></TransformAxis>"
    "<TransformAxis name='translation2'><coordinates>y</coordinates><axis>0 1 "
    "0</axis></TransformAxis>"
    "</SpatialTransform></CustomJoint>"
    "<PinJoint name='back'><socket_parent_frame>/bodyset/pelvis</socket_parent_frame>"
    "<socket_child_frame>/bodyset/torso</socket_child_frame><coordinates>"
    "<Coordinate name='bow'><range>-1.57 1.57</range><clamped>true</clamped></Coordinate>"
    "</coordinates></PinJoint>"
    "<PinJoint name='shoulder_r'><socket_parent_frame>at_r</socket_parent_frame>"
    "<socket_child_frame>/bodyset/humerus_r</socket_child_frame><coordinates>"
    "<Coordinate name='lift_r'><range>%s</range><clamped>true</clamped></Coordinate></coordinates>"
    "<frames><PhysicalOffsetFrame name='at_r'><socket_parent>/bodyset/torso</socket_parent>"
    "<translation>0 0.5 0.2</translation></PhysicalOffsetFrame></frames></PinJoint>"
    "<PinJoint name='shoulder_l'><socket_parent_frame>at_l</socket_parent_frame>"
    "<socket_child_frame>/bodyset/humerus_l</socket_child_frame><coordinates>"
    "<Coordinate name='lift_l'><range>%s</range><clamped>true</clamped></Coordinate></coordinates>"
    "<frames><PhysicalOffsetFrame name='at_l'><socket_parent>/bodyset/torso</socket_parent>"
    "<translation>0 0.5 -0.2</translation></PhysicalOffsetFrame></frames></PinJoint>"
    "<PinJoint name='elbow_r'><socket_parent_frame>on_r</socket_parent_frame>"
    "<socket_child_frame>/bodyset/radius_r</socket_child_frame><coordinates>"
    "<Coordinate name='bend_r'><range>%s</range><clamped>true</clamped></Coordinate></coordinates>"
    "<frames><PhysicalOffsetFrame name='on_r'><socket_parent>/bodyset/humerus_r</socket_parent>"
    "<translation>0 -0.3 0</translation></PhysicalOffsetFrame></frames></PinJoint>"
    "<PinJoint name='elbow_l'><socket_parent_frame>on_l</socket_parent_frame>"
    "<socket_child_frame>/bodyset/radius_l</socket_child_frame><coordinates>"
    "<Coordinate name='bend_l'><range>%s</range><clamped>true</clamped></Coordinate></coordinates>"
    "<frames><PhysicalOffsetFrame name='on_l'><socket_parent>/bodyset/humerus_l</socket_parent>"
    "<translation>0 -0.3 0</translation></PhysicalOffsetFrame></frames></PinJoint>"
    "</objects></JointSet><MarkerSet><objects>%s</objects></MarkerSet></Model></OpenSimDocument>";

static const struct {
    const char *name, *body;
    double at[3];
} markers[] = {
    {"R.ASIS", "pelvis", {0.1, 0.05, 0.12}},   {"L.ASIS", "pelvis", {0.1, 0.05, -0.12}},
    {"V.Sacral", "pelvis", {-0.1, 0.05, 0}},   {"C7", "torso", {-0.06, 0.55, 0}},
    {"R.Acromium", "torso", {0, 0.55, 0.2}},   {"L.Acromium", "torso", {0, 0.55, -0.2}},
    {"R.Elbow", "humerus_r", {0, -0.3, 0.04}}, {"L.Elbow", "humerus_l", {0, -0.3, -0.04}},
    {"R.Wrist", "radius_r", {0.02, -0.28, 0}}, {"L.Wrist", "radius_l", {0.02, -0.28, 0}},
};

enum { NMARKER = (int)(sizeof markers / sizeof markers[0]), FRAMES = 90, MOST = 8 };

static void read_reacher(const char *shoulder, const char *elbow, sn_document *out) {
    char text[8000], set[4000];
    size_t n = 0;
    sn_error error = {0};
    for (int i = 0; i < NMARKER; i++)
        n += (size_t)snprintf(set + n, sizeof set - n,
                              "<Marker name='%s'><socket_parent_frame>/bodyset/%s"
                              "</socket_parent_frame><location>%g %g %g</location></Marker>",
                              markers[i].name, markers[i].body, markers[i].at[0], markers[i].at[1],
                              markers[i].at[2]);
    (void)snprintf(text, sizeof text, reacher, shoulder, shoulder, elbow, elbow, set);
    if (sn_document_read(text, strlen(text), "reacher.osim", NULL, NULL, out, &error) != SN_OK)
        fail_msg("%s", error.text);
}

typedef struct reach {
    sn_document model;  // arms that are lifted to 1.57
    sn_motion *truth;
    sn_recording *recording;
    sn_take *take;
} reach;

// Arms that hang, then are lifted, elbows that bend with that, and 4 mm of noise in every marker.
static void make_bent(reach *r, double right, double left, double bend) {
    sn_document wide = {0};
    uint64_t random = 7;
    *r = (reach){0};
    read_reacher("-1.57 1.57", "0 1.57", &r->model);
    read_reacher("-3.2 3.2", "-3.2 3.2", &wide);
    assert_int_equal(sn_model_nq(wide.model), 8);
    assert_int_equal(sn_motion_create(FRAMES, 8, 1, 60, NULL, &r->truth, NULL), SN_OK);
    for (int f = 0; f < FRAMES; f++) {
        double *q = sn_motion_edit(r->truth, f), t = f / (FRAMES - 1.0);
        double up = fmin(fmax(3 * t - 1, 0), 1);
        static const char *const names[8] = {"x",      "y",      "turn",   "bow",
                                             "lift_r", "lift_l", "bend_r", "bend_l"};
        const double pose[8] = {t,          1,         0.1 * sin(5 * t), 0.2 * sin(9 * t),
                                right * up, left * up, bend * up,        bend * up};
        for (int k = 0; k < 8; k++) {
            int joint = sn_model_find_joint(wide.model, names[k]);
            assert_true(joint >= 0);
            q[sn_model_q_index(wide.model, joint)] = pose[k];
        }
    }
    assert_int_equal(sn_marker_paths(wide.model, r->truth, NULL, &r->recording, NULL), SN_OK);
    for (int f = 0; f < FRAMES; f++)
        for (int i = 0; i < 3 * NMARKER; i++)
            sn_recording_edit(r->recording, f)[i] += 0.008 * (sn_random(&random) - 0.5);
    sn_document_destroy(&wide);
}

static void make_reach(reach *r, double right, double left) { make_bent(r, right, left, 0.5); }

static void end_reach(reach *r) {
    sn_take_destroy(r->take);
    sn_recording_destroy(r->recording);
    sn_motion_destroy(r->truth);
    sn_document_destroy(&r->model);
}

static void fit_reach(reach *r, sn_limit_use limits, sn_calibrate_use calibrate) {
    sn_take_options o = sn_take_options_default();
    o.coordinates = r->model.coordinates;
    o.up = 1;  // a trunk with arms stands on nothing
    o.limits = limits;
    o.calibrate = calibrate;
    sn_take_destroy(r->take);
    assert_int_equal(sn_take_create(r->model.model, r->recording, &o, NULL, &r->take, NULL), SN_OK);
    assert_int_equal(sn_take_prepare(r->take), SN_OK);
    assert_int_equal(sn_take_finish(r->take), SN_OK);
}

// The largest root-mean-square of an angle, degrees; all of them behind the two translations.
static double worst_angle(const reach *r) {
    double worst = 0;
    for (int k = 2; k < 8; k++) {
        double sum = 0;
        for (int f = 0; f < FRAMES; f++) {
            double d =
                sn_motion_frame(sn_take_motion(r->take), f)[k] - sn_motion_frame(r->truth, f)[k];
            sum += d * d / FRAMES;
        }
        worst = fmax(worst, sqrt(sum) * degrees);
    }
    return worst;
}

static int count_left(const sn_take *t, const char *name) {
    int n = 0;
    for (int i = 0; i < sn_take_nfinding(t); i++) {
        const sn_finding *f = sn_take_finding(t, i);
        if (f->code != SN_FINDING_RANGE_LEFT) continue;
        n += name == NULL || strcmp(sn_model_joint(sn_take_model(t), f->joint)->name, name) == 0;
    }
    return n;
}

static void arms_go_beyond(void **unused) {
    (void)unused;
    reach r;
    make_reach(&r, 2.6, 2.4);
    fit_reach(&r, SN_LIMITS_AUTO, SN_CALIBRATE_AUTO);
    print_message("worst angle %.2f degrees\n", worst_angle(&r));
    assert_true(worst_angle(&r) < 2);
    assert_int_equal(count_left(r.take, NULL), 2);
    assert_int_equal(count_left(r.take, "lift_r"), 1);
    assert_int_equal(count_left(r.take, "lift_l"), 1);
    assert_int_equal(sn_take_verdict(r.take), SN_VERDICT_LOOK);
    for (int i = 0; i < sn_take_nfinding(r.take); i++) {
        const sn_finding *f = sn_take_finding(r.take, i);
        char text[2400];
        if (f->code != SN_FINDING_RANGE_LEFT) continue;
        assert_true(fabs(f->number[0] + 90) < 0.1 && fabs(f->number[1] - 90) < 0.1);
        assert_true(f->number[2] > 135 && f->number[2] < 155);
        (void)sn_take_sentence(r.take, i, SN_VOICE_PLAIN, text, sizeof text);
        assert_non_null(strstr(text, "it was let go"));
    }
    end_reach(&r);
}

// The shape, too: with the ranges held, bodies and places follow a trunk that leans back.
static void a_shape_is_not_bent(void **unused) {
    (void)unused;
    reach r;
    for (int limits = 0; limits < 2; limits++) {
        make_reach(&r, 2.6, 2.4);
        fit_reach(&r, limits == 0 ? SN_LIMITS_AUTO : SN_LIMITS_OFF, SN_CALIBRATE_SCALE);
        const sn_take_summary *about = sn_take_about(r.take);
        print_message("worst angle %.2f degrees, bones %.3f to %.3f\n", worst_angle(&r),
                      about->shortest, about->longest);
        assert_true(worst_angle(&r) < 3);
        assert_true(about->shortest > 0.97 && about->longest < 1.03);
        // who asks for no limits is not told of them
        assert_int_equal(count_left(r.take, NULL), limits == 0 ? 2 : 0);
        end_reach(&r);
    }
}

// One arm shows that the range is too narrow, and the other one's is alike: it is let go, but nothing is told of it.
static void one_side_speaks_for_both(void **unused) {
    (void)unused;
    reach r;
    make_reach(&r, 2.6, 1.7);
    fit_reach(&r, SN_LIMITS_AUTO, SN_CALIBRATE_AUTO);
    assert_true(worst_angle(&r) < 2);
    assert_int_equal(count_left(r.take, NULL), 2);
    end_reach(&r);
    make_reach(&r, 2.6, 0.5);
    fit_reach(&r, SN_LIMITS_AUTO, SN_CALIBRATE_AUTO);
    assert_true(worst_angle(&r) < 2);
    assert_int_equal(count_left(r.take, NULL), 1);
    end_reach(&r);
}

static double highest(const sn_take *t, const char *joint) {
    const int k = sn_model_q_index(sn_take_model(t), sn_model_find_joint(sn_take_model(t), joint));
    double most = -INFINITY;
    for (int f = 0; f < FRAMES; f++) most = fmax(most, sn_motion_frame(sn_take_motion(t), f)[k]);
    return most;
}

// --limits hard holds them and says what that does.
static void ranges_are_held(void **unused) {
    (void)unused;
    reach r;
    make_reach(&r, 2.6, 2.4);
    for (int calibrate = 0; calibrate < 2; calibrate++) {
        fit_reach(&r, SN_LIMITS_HARD, calibrate ? SN_CALIBRATE_SCALE : SN_CALIBRATE_NONE);
        assert_int_equal(count_left(r.take, NULL), 2);
        assert_int_equal(sn_take_verdict(r.take), SN_VERDICT_LOOK);
        assert_true(highest(r.take, "lift_r") <= 1.57 && highest(r.take, "lift_l") <= 1.57);
        if (calibrate) assert_true(sn_take_about(r.take)->longest < 1.03);
    }
    end_reach(&r);
}

// Arms that come to the end of their ranges, or a little further, leave them as they are.
static void an_end_is_no_leaving(void **unused) {
    (void)unused;
    for (int far = 0; far < 2; far++) {
        reach r;
        make_reach(&r, far ? 1.75 : 1.56, far ? 1.75 : 1.56);
        for (int calibrate = 0; calibrate < 2; calibrate++) {
            fit_reach(&r, SN_LIMITS_AUTO, calibrate ? SN_CALIBRATE_SCALE : SN_CALIBRATE_NONE);
            assert_int_equal(count_left(r.take, NULL), 0);
            assert_true(highest(r.take, "lift_r") <= 1.57);
        }
        end_reach(&r);
    }
}

// An elbow bends further than its model has it, but no elbow bends back.
static void elbows_bend_one_way(void **unused) {
    (void)unused;
    reach r;
    make_bent(&r, 1.2, 1.2, 2.4);
    fit_reach(&r, SN_LIMITS_AUTO, SN_CALIBRATE_AUTO);
    assert_int_equal(count_left(r.take, NULL), 2);
    assert_int_equal(count_left(r.take, "bend_r"), 1);
    assert_true(worst_angle(&r) < 2 && highest(r.take, "bend_r") > 2.3);
    end_reach(&r);
    make_bent(&r, 1.2, 1.2, -0.8);
    fit_reach(&r, SN_LIMITS_AUTO, SN_CALIBRATE_AUTO);
    assert_int_equal(count_left(r.take, NULL), 0);
    end_reach(&r);
}

static void memory_may_run_out(void **unused) {
    (void)unused;
    reach r;
    make_reach(&r, 2.6, 2.4);
    for (int forever = 0; forever < 2; forever++) {
        for (int n = 0;; n += 1 + n / 40) {
            test_allocator a;
            sn_take *take = NULL;
            sn_take_options o = sn_take_options_default();
            o.coordinates = r.model.coordinates;
            o.up = 1;
            o.first_frame = 40, o.last_frame = 70;
            test_allocator_begin(&a);
            a.fail_at = n;
            a.fail_after = forever;
            sn_status status = sn_take_create(r.model.model, r.recording, &o, &a.base, &take, NULL);
            if (status == SN_OK) status = sn_take_prepare(take);
            if (status == SN_OK) status = sn_take_finish(take);
            bool done = status == SN_OK;
            if (done) assert_int_equal(count_left(take, NULL), 2);
            if (!done) assert_int_equal(status, SN_ERR_MEMORY);
            sn_take_destroy(take);
            assert_int_equal(a.live, 0);
            if (done) break;
        }
    }
    end_reach(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arms_go_beyond),           cmocka_unit_test(a_shape_is_not_bent),
        cmocka_unit_test(one_side_speaks_for_both), cmocka_unit_test(ranges_are_held),
        cmocka_unit_test(an_end_is_no_leaving),     cmocka_unit_test(elbows_bend_one_way),
        cmocka_unit_test(memory_may_run_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
