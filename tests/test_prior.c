// SPDX-License-Identifier: MIT
// What a body does and does not do: halves of a pelvis hold, a back bows.
#include "takes.h"

#include "sinew/take.h"

// A figure whose left thigh hangs on a joint of its own, `out` beside that.
static sn_model *with_hip_bone(double out) {
    char text[2048];
    (void)snprintf(
        text, sizeof text,
        "{\"joints\": [{\"name\": \"root\", \"type\": \"free\"},"
        "{\"name\": \"LHipJoint\", \"parent\": \"root\", \"type\": \"euler\", \"order\": \"ZYX\"},"
        "{\"name\": \"LeftUpLeg\", \"parent\": \"LHipJoint\", \"type\": \"euler\", \"order\": "
        "\"ZYX\", "
        "\"position\": [%g, 0, 0]},"
        "{\"name\": \"LeftLeg\", \"parent\": \"LeftUpLeg\", \"type\": \"hinge\", \"axis\": [1, 0, "
        "0], \"position\": [0, -0.4, 0]},"
        "{\"name\": \"RightUpLeg\", \"parent\": \"root\", \"type\": \"euler\", \"order\": \"ZYX\", "
        "\"position\": [-0.1, 0, 0]},"
        "{\"name\": \"RightLeg\", \"parent\": \"RightUpLeg\", \"type\": \"hinge\", \"axis\": [1, "
        "0, 0], \"position\": [0, -0.4, 0]},"
        "{\"name\": \"LeftArm\", \"parent\": \"root\", \"type\": \"ball\", \"position\": [0.2, "
        "0.5, 0]},"
        "{\"name\": \"LeftForeArm\", \"parent\": \"LeftArm\", \"type\": \"hinge\", \"axis\": [0, "
        "1, 0], \"position\": [0.3, 0, 0]},"
        "{\"name\": \"RightArm\", \"parent\": \"root\", \"type\": \"ball\", \"position\": [-0.2, "
        "0.5, 0]},"
        "{\"name\": \"RightForeArm\", \"parent\": \"RightArm\", \"type\": \"hinge\", \"axis\": "
        "[0, 1, 0], \"position\": [-0.3, 0, 0]}]}",
        out);
    sn_model *model = NULL;
    sn_error error = {0};
    if (sn_model_read_json(text, strlen(text), NULL, &model, &error) != SN_OK)
        fail_msg("%s", error.text);
    return model;
}

// Joints in one place are a hip that turns; one that carries a bone to the thigh is the pelvis, and holds.
static void pelvis_holds(void **unused) {
    (void)unused;
    double weight[2], spread[2], upper[2];
    for (int bone = 0; bone < 2; bone++) {
        sn_model *model = with_hip_bone(bone ? 0.1 : 0);
        sn_fit_prior p;
        assert_int_equal(sn_fit_find_prior(model, NULL, NULL, &p), SN_OK);
        int v = sn_model_v_index(model, sn_model_find_joint(model, "LHipJoint")),
            thigh = sn_model_v_index(model, sn_model_find_joint(model, "LeftUpLeg"));
        weight[bone] = p.weight[v], spread[bone] = p.spread[v], upper[bone] = p.upper[v];
        // thighs are anywhere in both
        assert_true(isinf(p.upper[thigh]) && p.spread[thigh] > 5);
        sn_release(NULL, p.q);
        sn_model_destroy(model);
    }
    assert_true(weight[1] > 500 * weight[0] && weight[0] > 0);
    assert_true(spread[1] < 0.05 && spread[0] > 0.2);
    assert_true(upper[1] < 0.2 && isinf(upper[0]));
}

// An elbow that is free all ways bends one way, and is mostly turned little about its bone and to the side: turned half
// about it, it would bend backwards.
static void free_elbow(void **unused) {
    (void)unused;
    sn_model *model = NULL;
    sn_fit_prior p;
    sn_error error;
    static const char text[] = "{\"joints\": [{\"name\": \"root\", \"type\": \"free\"},"
                               "{\"name\": \"LeftUpLeg\", \"parent\": \"root\", \"type\": "
                               "\"ball\", \"position\": [0.1, 0, 0]},"
                               "{\"name\": \"LeftLeg\", \"parent\": \"LeftUpLeg\", \"type\": "
                               "\"hinge\", \"axis\": [1, 0, 0], "
                               "\"position\": [0, -0.4, 0]},"
                               "{\"name\": \"RightUpLeg\", \"parent\": \"root\", \"type\": "
                               "\"ball\", \"position\": [-0.1, 0, 0]},"
                               "{\"name\": \"RightLeg\", \"parent\": \"RightUpLeg\", \"type\": "
                               "\"hinge\", \"axis\": [1, 0, 0], "
                               "\"position\": [0, -0.4, 0]},"
                               "{\"name\": \"LeftArm\", \"parent\": \"root\", \"type\": \"ball\", "
                               "\"position\": [0.2, 0.5, 0]},"
                               "{\"name\": \"LeftForeArm\", \"parent\": \"LeftArm\", \"type\": "
                               "\"euler\", \"order\": \"XYZ\", "
                               "\"position\": [0.3, 0, 0]},"
                               "{\"name\": \"LeftHand\", \"parent\": \"LeftForeArm\", \"type\": "
                               "\"ball\", \"position\": [0.25, 0, 0]},"
                               "{\"name\": \"RightArm\", \"parent\": \"root\", \"type\": \"ball\", "
                               "\"position\": [-0.2, 0.5, 0]},"
                               "{\"name\": \"RightForeArm\", \"parent\": \"RightArm\", \"type\": "
                               "\"hinge\", \"axis\": [0, 1, 0], "
                               "\"position\": [-0.3, 0, 0]}]}";
    if (sn_model_read_json(text, strlen(text), NULL, &model, &error) != SN_OK)
        fail_msg("%s", error.text);
    assert_int_equal(sn_fit_find_prior(model, NULL, NULL, &p), SN_OK);
    const int v = sn_model_v_index(model, sn_model_find_joint(model, "LeftForeArm"));
    assert_true(p.spread[v] > 0.5 && p.spread[v] < 1.5);          // about x, its bone
    assert_true(p.spread[v + 1] > 5);                             // it bends about y
    assert_true(p.spread[v + 2] > 0.2 && p.spread[v + 2] < 0.8);  // aside
    assert_true(isfinite(p.upper[v + 1]) && isinf(p.upper[v]) && isinf(p.upper[v + 2]));
    sn_release(NULL, p.q);
    sn_model_destroy(model);
}

// A back bends forwards by far, wherever that is in a skeleton's numbers, and aside by little. It is upright at rest.
// Which pulls of a calibration let go, and which postures last.
static void let_go_and_lasting(void **unused) {
    (void)unused;
    static const struct {
        const char *joint;
        bool goes;
        int lasts;
    } parts[] = {{"left_wrist", true, 0},  {"right_wrist", true, 0}, {"spine_mid", false, 1},
                 {"chest", false, 1},      {"neck_low", false, 2},   {"head", false, 2},
                 {"left_thigh", false, 0}, {"right_toes", false, 0}};
    sn_model *humanoid;
    sn_fit_prior p;
    assert_int_equal(sn_model_humanoid(NULL, &humanoid, NULL), SN_OK);
    assert_int_equal(sn_fit_find_prior(humanoid, NULL, NULL, &p), SN_OK);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        int joint = sn_model_find_joint(humanoid, parts[i].joint);
        assert_true(joint >= 0 && sn_model_joint_nv(humanoid, joint) > 0);
        int v = sn_model_v_index(humanoid, joint);
        assert_true(p.far[v] == (parts[i].goes ? 0.2 : 0));
        assert_true(p.lasts[v] == parts[i].lasts);
    }
    sn_release(NULL, p.q);
    sn_model_destroy(humanoid);
}

// A neck's lower joints nod further than they bend aside or turn; the last one does not.
static void neck_nods(void **unused) {
    (void)unused;
    static const char *const joints[] = {"neck_low", "head"};
    sn_model *humanoid;
    sn_fit_prior p;
    assert_int_equal(sn_model_humanoid(NULL, &humanoid, NULL), SN_OK);
    assert_int_equal(sn_fit_find_prior(humanoid, NULL, NULL, &p), SN_OK);
    for (int k = 0; k < 2; k++) {
        int joint = sn_model_find_joint(humanoid, joints[k]), v = sn_model_v_index(humanoid, joint);
        const sn_joint_desc *d = sn_model_joint(humanoid, joint);
        assert_int_equal(sn_model_joint_nv(humanoid, joint), 3);
        for (int i = 0; i < 3; i++) {
            // it looks along z: x is across
            double most = k == 0 && d->order[i] != 'X' ? 25 : 50;
            assert_near(p.upper[v + i], most / 57.29578, 1e-6);
            assert_near(p.lower[v + i], -most / 57.29578, 1e-6);
        }
    }
    sn_release(NULL, p.q);
    sn_model_destroy(humanoid);
}

static void back_bows(void **unused) {
    (void)unused;
    static const char *const orders[] = {"ZYX", "XYZ"};
    for (int i = 0; i < 4; i++) {
        // facing -z, the same turn forwards has the other sign
        double side = i < 2 ? 1 : -1, lean = 0.2;
        char text[2048];
        (void)snprintf(
            text, sizeof text,
            "{\"joints\": [{\"name\": \"root\", \"type\": \"free\"},"
            "{\"name\": \"LeftUpLeg\", \"parent\": \"root\", \"type\": \"ball\", "
            "\"position\": [%g, 0, 0]},"
            "{\"name\": \"LeftLeg\", \"parent\": \"LeftUpLeg\", \"type\": \"ball\", "
            "\"position\": [0, -0.4, 0]},"
            "{\"name\": \"RightUpLeg\", \"parent\": \"root\", \"type\": \"ball\", "
            "\"position\": [%g, 0, 0]},"
            "{\"name\": \"RightLeg\", \"parent\": \"RightUpLeg\", \"type\": \"ball\", "
            "\"position\": [0, -0.4, 0]},"
            "{\"name\": \"Spine\", \"parent\": \"root\", \"type\": \"euler\", \"order\": \"%s\"},"
            "{\"name\": \"Chest\", \"parent\": \"Spine\", \"type\": \"ball\", "
            "\"position\": [0, %.6f, %.6f]},"
            "{\"name\": \"LeftArm\", \"parent\": \"Chest\", \"type\": \"ball\", "
            "\"position\": [%g, 0.2, 0]},"
            "{\"name\": \"LeftForeArm\", \"parent\": \"LeftArm\", \"type\": \"ball\", "
            "\"position\": [%g, 0, 0]},"
            "{\"name\": \"RightArm\", \"parent\": \"Chest\", \"type\": \"ball\", "
            "\"position\": [%g, 0.2, 0]},"
            "{\"name\": \"RightForeArm\", \"parent\": \"RightArm\", \"type\": \"ball\", "
            "\"position\": [%g, 0, 0]}]}",
            0.1 * side, -0.1 * side, orders[i % 2], 0.3 * cos(lean), -0.3 * sin(lean) * side,
            0.2 * side, 0.3 * side, -0.2 * side, -0.3 * side);
        sn_model *model = NULL;
        sn_error error = {0};
        sn_fit_prior p;
        if (sn_model_read_json(text, strlen(text), NULL, &model, &error) != SN_OK)
            fail_msg("%s", error.text);
        assert_int_equal(sn_fit_find_prior(model, NULL, NULL, &p), SN_OK);
        int spine = sn_model_find_joint(model, "Spine"), v = sn_model_v_index(model, spine),
            x = i % 2 == 0 ? 2 : 0,
            chest = sn_model_v_index(model, sn_model_find_joint(model, "Chest"));
        double forwards = side > 0 ? p.upper[v + x] : -p.lower[v + x],
               backwards = side > 0 ? -p.lower[v + x] : p.upper[v + x],
               rest = side * p.q[sn_model_q_index(model, spine) + x];
        assert_near(rest, lean, 1e-4);
        assert_near(forwards, lean + 80 / 57.29578, 1e-4);
        assert_near(backwards, 40 / 57.29578 - lean, 1e-4);
        assert_near(p.upper[v + 1], 40 / 57.29578, 1e-4);
        assert_near(p.upper[v + 2 - x], 40 / 57.29578, 1e-4);
        // a ball knows no direction
        assert_near(p.upper[chest], 80 / 57.29578, 1e-4);
        sn_release(NULL, p.q);
        sn_model_destroy(model);
    }
}

// CMU's figures as BVH have such joints, which turn in none of their motions. They turned by 100 degrees.
static void clips(void **unused) {
    (void)unused;
    static const char *const all[][2] = {{"cmu/02_01.bvh", "cmu/02_01.c3d"},
                                         {"cmu/85_02.bvh", "cmu/85_02.c3d"}};
    for (int i = 0; i < (cases(10) < 10 ? 1 : 2); i++) {
        sn_document skeleton = read_clip(all[i][0]), take = read_clip(all[i][1]);
        if (skeleton.model == NULL || take.recording == NULL) skip();
        sn_take_options o = sn_take_options_default();
        sn_take *t;
        sn_error error = {0};
        o.model_up = 1;
        if (sn_take_create(skeleton.model, take.recording, &o, NULL, &t, &error) != SN_OK)
            fail_msg("%s", error.text);
        assert_int_equal(sn_take_prepare(t), SN_OK);
        assert_int_equal(sn_take_finish(t), SN_OK);
        const sn_model *m = sn_take_model(t);
        const sn_motion *motion = sn_take_motion(t);
        double most = 0;
        for (int side = 0; side < 2; side++) {
            int j = sn_model_find_joint(m, side == 0 ? "LHipJoint" : "RHipJoint");
            assert_true(j >= 0);
            for (int f = 0; f < sn_motion_nframe(motion); f++)
                for (int k = 0; k < sn_model_joint_nv(m, j); k++)
                    most = fmax(most, fabs(sn_motion_frame(motion, f)[sn_model_q_index(m, j) + k]) *
                                          57.3);
        }
        print_message("%s: halves of the pelvis turn by %.1f degrees at most\n", all[i][1], most);
        assert_true(most < 8);
        sn_take_destroy(t);
        sn_document_destroy(&skeleton);
        sn_document_destroy(&take);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pelvis_holds),       cmocka_unit_test(free_elbow),
        cmocka_unit_test(let_go_and_lasting), cmocka_unit_test(neck_nods),
        cmocka_unit_test(back_bows),          cmocka_unit_test(clips)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
