// SPDX-License-Identifier: MIT
// MJCF: what a model holds, what is refused and how, cut files, failing memory. Places are compared
// with an independent kinematics and with MuJoCo by tests/mjcf.py.
#include "math/vec3.h"
#include "reader.h"

#include "sinew/files.h"

static const char robot[] =
    "<mujoco model='robot'>\n"
    "  <compiler angle='radian'/>\n"
    "  <default><joint axis='0 1 0'/>\n"
    "    <default class='finger'><joint type='slide' range='0 0.04'/></default>\n"
    "  </default>\n"
    "  <worldbody>\n"
    "    <body name='base' childclass='finger'>\n"
    "      <inertial pos='0.1 0.2 0.3' mass='4' diaginertia='1 1 1'/>\n"
    "      <freejoint name='float'/>\n"
    "      <body name='arm' pos='0 0 1'>\n"
    "        <joint name='swing' class='main' range='-1 2' pos='0.5 0 0'/>\n"
    "        <joint name='roll' class='main' axis='1 0 0' pos='0 0 0.25'/>\n"
    "        <inertial pos='1 0 0' mass='2' diaginertia='1 1 1'/>\n"
    "        <site name='tool' pos='0 0 0.5' quat='0 1 0 0'/>\n"
    "        <site name='spot' pos='0 0 0.1'/><site pos='9 9 9'/>\n"
    "        <body name='left'><joint name='open'/></body>\n"
    "        <frame pos='0 1 0' axisangle='0 0 1 1.5707963267948966'>\n"
    "          <body name='right' pos='1 0 0'><joint limited='false'/></body>\n"
    "        </frame>\n"
    "        <body name='cover' pos='0 0 2'><geom size='1'/></body>\n"
    "      </body>\n"
    "    </body>\n"
    "  </worldbody>\n"
    "  <actuator><motor joint='swing'/></actuator>\n"
    "</mujoco>\n";

static sn_model *read_mjcf(const char *text, sn_mjcf_info *info) {
    sn_model *model;
    sn_error error = {0};
    if (sn_mjcf_read(text, strlen(text), NULL, &model, info, &error) != SN_OK)
        fail_msg("line %d: %s", error.line, error.text);
    return model;
}

static const sn_joint_desc *joint(const sn_model *m, const char *name) {
    int i = sn_model_find_joint(m, name);
    if (i < 0) fail_msg("there is no joint \"%s\"", name);
    return sn_model_joint(m, i);
}

static void test_model(void **state) {
    (void)state;
    sn_mjcf_info info;
    sn_model *m = read_mjcf(robot, &info);
    assert_string_equal(sn_model_name(m), "robot");
    assert_int_equal(info.nbody, 5);
    assert_int_equal(info.njoint, 5);
    assert_int_equal(info.nsite, 3);
    assert_int_equal(sn_model_nq(m), 7 + 1 + 1 + 1 + 1);
    // one body hangs on the world: its joint is the root, and a pose is qpos
    assert_int_equal(sn_model_root(m), sn_model_find_joint(m, "float"));
    assert_int_equal(sn_model_q_index(m, sn_model_find_joint(m, "open")), 9);
    // defaults: a class, the class around it, and what is stated
    assert_int_equal(joint(m, "swing")->type, SN_JOINT_HINGE);
    assert_near(joint(m, "swing")->axis[1], 1, 0);
    assert_near(joint(m, "swing")->lower[0], -1, 0);
    assert_near(joint(m, "swing")->upper[0], 2, 0);
    assert_true(joint(m, "roll")->upper[0] == INFINITY);
    assert_int_equal(joint(m, "open")->type, SN_JOINT_SLIDER);
    assert_near(joint(m, "open")->upper[0], 0.04, 0);
    assert_near(joint(m, "open")->axis[1], 1, 0);
    // a joint without a name has its body's; limited='false' wins over a range
    assert_true(joint(m, "right")->upper[0] == INFINITY);
    // frames: 1 along x, turned a quarter about z, moved by y; in the joint's frame, 0.25 above
    assert_near(joint(m, "right")->position[0], 0, 1e-15);
    assert_near(joint(m, "right")->position[1], 2, 1e-15);
    assert_near(joint(m, "right")->position[2], -0.25, 1e-15);
    // the body's mass is carried by its last joint, whose frame is at that joint's anchor
    assert_near(joint(m, "float")->mass, 4, 0);
    assert_near(joint(m, "float")->centre[2], 0.3, 0);
    assert_near(joint(m, "swing")->mass, 0, 0);
    assert_near(joint(m, "roll")->mass, 2, 0);
    assert_near(joint(m, "roll")->centre[0], 1, 0);
    assert_near(joint(m, "roll")->centre[2], -0.25, 0);
    // sites: markers; a turned one is a frame too
    assert_true(sn_model_find_marker(m, "spot") >= 0);
    assert_int_equal(joint(m, "tool")->type, SN_JOINT_FIXED);
    assert_int_equal(sn_model_find_joint(m, "spot"), -1);
    assert_int_equal(joint(m, "cover")->type, SN_JOINT_FIXED);
    assert_non_null(strstr(info.note, "3 bodies have no <inertial>"));
    assert_non_null(strstr(info.note, "not read: actuators"));
    sn_model_destroy(m);
}

static void test_world(void **state) {
    (void)state;
    // two bodies on the world, or a site there: it gets a joint; made names give way to the file's
    sn_model *m = read_mjcf("<mujoco><worldbody><body name='a'><joint name='b'/></body><body "
                            "name='b'/></worldbody></mujoco>",
                            NULL);
    assert_string_equal(sn_model_joint(m, sn_model_root(m))->name, "world");
    assert_int_equal(joint(m, "b")->type, SN_JOINT_HINGE);
    assert_int_equal(joint(m, "b_2")->type, SN_JOINT_FIXED);
    sn_model_destroy(m);
    m = read_mjcf(
        "<mujoco><worldbody><site name='s'/><body><freejoint/></body></worldbody></mujoco>", NULL);
    assert_string_equal(sn_model_joint(m, sn_model_root(m))->name, "world");
    assert_int_equal(joint(m, "body_1")->type, SN_JOINT_FREE);
    sn_model_destroy(m);
    // those that are made give way to each other, too: of a body that is welded on and a turned site on it
    m = read_mjcf("<mujoco><worldbody><body name='a'><freejoint/><body name='hand'>"
                  "<site name='hand' quat='0 1 0 0'/></body></body></worldbody></mujoco>",
                  NULL);
    assert_int_equal(joint(m, "hand")->type, SN_JOINT_FIXED);
    assert_int_equal(joint(m, "hand_2")->type, SN_JOINT_FIXED);
    sn_model_destroy(m);
}

static sn_status mjcf(const char *bytes, size_t length, const sn_allocator *allocator,
                      sn_error *error) {
    sn_model *model;
    sn_status status = sn_mjcf_read(bytes, length, allocator, &model, NULL, error);
    if (status != SN_OK) assert_null(model);
    sn_model_destroy(model);
    return status;
}

static void test_refused(void **state) {
    (void)state;
    static const edit list[] = {
        {"<mujoco model", "<sdf model", 1, "the outermost element is <sdf>, not <mujoco>"},
        {"angle='radian'", "angle='grad'", 2, "is neither degree nor radian"},
        {"angle='radian'", "eulerseq='xyw'", 2, "is not three of x y z X Y Z"},
        {"angle='radian'", "coordinate='global'", 2, "save the model with local coordinates"},
        {"class='finger'><joint", "><joint", 4, "a <default> inside another needs class"},
        {"class='finger'", "class='main'", 4, "another class of defaults is named \"main\" too"},
        {"childclass='finger'", "childclass='thumb'", 7, "there is no class of defaults \"thumb\""},
        {"type='slide'", "type='screw'", 4,
         "the type \"screw\" is none of free, ball, slide, hinge"},
        {"pos='0.5 0 0'", "pos='0.5 0'", 11, "<joint>: pos needs 3 numbers, here are 2"},
        {"pos='0.5 0 0'", "pos='0.5 0 x'", 11, "<joint>: pos: \"x\" is not a number"},
        {"range='-1 2'", "range='2 -1'", 11, "it is limited, but its range is 2 to -1"},
        {"range='-1 2'", "limited='maybe'", 11, "is none of true, false, auto"},
        {"axis='1 0 0'", "axis='0 0 0'", 12, "its axis is 0 0 0"},
        {"name='roll'", "name='swing'", 12, "another joint is named \"swing\" too"},
        {"quat='0 1 0 0'", "quat='0 0 0 0'", 14, "quat states no rotation"},
        {"quat='0 1 0 0'", "xyaxes='1 0 0 2 0 0'", 14, "xyaxes states no rotation"},
        {"quat='0 1 0 0'", "quat='1 0 0 0' euler='0 0 0'", 14, "states its rotation twice"},
        {"mass='4'", "", 8, "<inertial> has no mass"},
        {"mass='4'", "mass='-4'", 8, "a mass below 0"},
        {"<joint name='open'/>", "<freejoint/>", 16,
         "a free joint must be in a body that hangs on"},
        {"<freejoint name='float'/>", "<freejoint/><joint name='x'/>", 9,
         "a body with a free joint cannot have another joint"},
        {"<joint name='open'/>", "<include file='x.xml'/>", 16,
         "stands in another file, \"x.xml\""},
        {"<joint name='open'/>", "<replicate count='4'/>", 16,
         "let MuJoCo save the compiled model"},
        {"<actuator>", "<equality><weld/></equality><actuator>", 24,
         "<weld> does not say what it holds"},
        {"<worldbody>", "<worldbody><freejoint/>", 6, "the world cannot have a joint"},
        {"<joint name='open'/>", "<joint name='open'/><site fromto='0 0 0 0 1'/>", 16,
         "<site>: fromto needs 6 numbers, here are 5"},
        {"<worldbody>", "<worldbody/><x>", 23, "</worldbody> where <x> of line 6 should end"},
    };
    check_edits(mjcf, robot, list, sizeof list / sizeof list[0]);
    sn_model *model;
    sn_error error = {0};
    assert_int_not_equal(sn_mjcf_read("<mujoco/>", 9, NULL, &model, NULL, &error), SN_OK);
    assert_non_null(strstr(error.text, "no <body>"));
}

static void test_document(void **state) {
    (void)state;
    sn_document d;
    assert_int_equal(sn_document_read(robot, sizeof robot - 1, "robot.xml", NULL, NULL, &d, NULL),
                     SN_OK);
    assert_int_equal(d.format, SN_FORMAT_MJCF);
    assert_int_equal(sn_model_nq(d.model), 11);
    // through the native file and back: masses and centres too
    char *json;
    sn_model *again;
    assert_int_equal(sn_model_text(d.model, NULL, &json), SN_OK);
    assert_int_equal(sn_model_read_json(json, strlen(json), NULL, &again, NULL), SN_OK);
    for (int i = 0; i < sn_model_njoint(again); i++) {
        const sn_joint_desc *a = sn_model_joint(d.model, i), *b = sn_model_joint(again, i);
        assert_memory_equal(&a->mass, &b->mass, sizeof a->mass);
        assert_memory_equal(a->centre, b->centre, sizeof a->centre);
        assert_memory_equal(a->position, b->position, sizeof a->position);
    }
    sn_model_destroy(again);
    sn_release(NULL, json);
    sn_document_destroy(&d);
}

// A chain of hinges x0 ... x5, each with a reference of its own, and what is given besides.
static char *chain_of(const char *rest) {
    static char text[4000];
    int n = snprintf(text, sizeof text, "<mujoco><compiler angle='radian'/><worldbody>");
    for (int i = 0; i < 6; i++)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "<body name='b%d'><joint name='x%d' ref='%g'/>", i, i, 0.1 * i);
    for (int i = 0; i < 6; i++) n += snprintf(text + n, sizeof text - (size_t)n, "</body>");
    (void)snprintf(text + n, sizeof text - (size_t)n, "</worldbody>%s</mujoco>", rest);
    return text;
}

// Equalities of fixed tendons hold at any pose, as they are stated.
static void test_tendons(void **state) {
    (void)state;
#define TENDONS                                                                                    \
    "<tendon><fixed name='s'><joint joint='x0' coef='2'/><joint joint='x1' coef='-0.5'/></fixed>"  \
    "<fixed name='t'><joint joint='x2' coef='0.7'/><joint joint='x3' coef='1.5'/>"                 \
    "<joint joint='x4' coef='-1'/></fixed>"                                                        \
    "<fixed name='mixed'><joint joint='x0' coef='1'/><joint joint='x2' coef='1'/></fixed>"         \
    "<spatial name='rope'/></tendon>"
    static const struct {
        const char *equality;
        double poly[5];
        bool second;
    } good[] = {
        {"<tendon tendon1='s' tendon2='t' polycoef='0.3 0.5'/>", {0.3, 0.5}, true},
        {"<tendon tendon1='s' tendon2='t' polycoef='0.1 0.5 -0.2 0.05 0.03'/>",
         {0.1, 0.5, -0.2, 0.05, 0.03},
         true},
        {"<tendon tendon1='s' tendon2='t'/>", {0, 1}, true},
        {"<tendon tendon1='s' polycoef='0.4 9 9'/>", {0.4}, false},
        // one of the joints follows already: the other has to
        {"<tendon tendon1='s' tendon2='t' polycoef='0 1 1'/><joint joint1='x0' joint2='x5'/>",
         {0, 1, 1},
         true},
    };
    uint64_t random = 3;
    double worst = 0;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        char rest[1500];
        sn_mjcf_info info;
        (void)snprintf(rest, sizeof rest, "<equality>%s</equality>" TENDONS, good[i].equality);
        sn_model *m = read_mjcf(chain_of(rest), &info);
        assert_non_null(strstr(info.note, "not read: tendons"));  // the others
        assert_true(sn_model_ncoupling(m) == 1 + (i == 4));
        for (int n = 0; n < 50; n++) {
            double q[6], x[6];
            sn_model_sample(m, &random, q);
            for (int k = 0; k < 6; k++) x[k] = q[k] - 0.1 * k;
            double s = 2 * x[0] - 0.5 * x[1], t = 0.7 * x[2] + 1.5 * x[3] - x[4], p = 0;
            for (int k = 4; k >= 0; k--) p = p * (good[i].second ? t : 0) + good[i].poly[k];
            worst = fmax(worst, fabs(s - p) / (1 + fabs(p)));
        }
        sn_model_destroy(m);
    }
    print_message("equalities of tendons hold within %.1e\n", worst);
    assert_true(worst < 1e-14);
    static const struct {
        const char *equality, *says;
    } noted[] = {
        {"<tendon tendon1='rope'/>", "1 equality of tendons through sites left out"},
        // every joint of the first is among those that the polynomial sees
        {"<tendon tendon1='mixed' tendon2='mixed' polycoef='0 0 1'/>",
         "no joint of them can follow"},
    };
    for (size_t i = 0; i < 2; i++) {
        char rest[1500];
        sn_mjcf_info info;
        (void)snprintf(rest, sizeof rest, "<equality>%s</equality>" TENDONS, noted[i].equality);
        sn_model *m = read_mjcf(chain_of(rest), &info);
        if (strstr(info.note, noted[i].says) == NULL) fail_msg("%s", info.note);
        assert_int_equal(sn_model_ncoupling(m), 0);
        sn_model_destroy(m);
    }
    static const char *const wrong[] = {
        "<equality><tendon tendon1='none'/></equality>", "<equality><tendon/></equality>",
        "<tendon><fixed name='s'><joint joint='x0'/></fixed></tendon>",
        ("<equality><tendon tendon1='s'/></equality><tendon><fixed name='s'><joint joint='y' "
         "coef='1'/></fixed></tendon>")};
    for (size_t i = 0; i < 4; i++) {
        sn_model *m;
        const char *text = chain_of(wrong[i]);
        assert_int_equal(sn_mjcf_read(text, strlen(text), NULL, &m, NULL, NULL), SN_ERR_PARSE);
    }
}

// A ball's range is of the whole turn.
static void test_ball_range(void **state) {
    (void)state;
#define BALL(range)                                                                                \
    "<mujoco><worldbody><body name='a'><joint name='j' type='ball' range='" range                  \
    "'/></body></worldbody></mujoco>"
    sn_mjcf_info info;
    sn_model *m = read_mjcf(BALL("0 90"), &info);
    assert_string_equal(info.note, "1 body has no <inertial>: their mass counts as 0");
    assert_near(sn_model_joint(m, 0)->turn, 1.5707963267948966, 1e-15);
    double q[4] = {0, 0, 0, 1};
    assert_int_equal(sn_model_clamp(m, q), 1);
    assert_near(fabs(q[0]), sqrt(0.5), 1e-15);
    assert_near(fabs(q[3]), sqrt(0.5), 1e-15);
    sn_model_destroy(m);
    assert_int_equal(sn_mjcf_read(BALL("-10 90"), strlen(BALL("-10 90")), NULL, &m, NULL, NULL),
                     SN_ERR_PARSE);
}

static void test_truncation(void **state) {
    (void)state;
    for (size_t n = 0; n + 2 < sizeof robot; n++) {
        char *copy = malloc(n + (n == 0));
        assert_non_null(copy);
        memcpy(copy, robot, n);
        sn_model *model;
        if (sn_mjcf_read(copy, n, NULL, &model, NULL, NULL) == SN_OK)
            fail_msg("%zu bytes were taken for a whole file", n);
        assert_null(model);
        free(copy);
    }
}

static void test_memory(void **state) {
    (void)state;
    assert_true(check_memory(mjcf, robot, sizeof robot - 1) > 1);
}

// Rotations of any length mean what they mean with length 1.
static void test_lengths(void **state) {
    (void)state;
    static const char *const same[][2] = {
        {"quat='0.5 -0.5 0.5 0.5'", "quat='3 -3 3 3'"},
        {"quat='0.6 0 0.8 0'", "quat='0.06 0 0.08 0'"},
        {"axisangle='0 0.6 0.8 0.5'", "axisangle='0 3 4 0.5'"},
        {"xyaxes='0 1 0 0 0 1'", "xyaxes='0 5 0 0 1 2'"},
        {"zaxis='0 0.6 0.8'", "zaxis='0 30 40'"},
    };
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        double x[2][3];
        for (int k = 0; k < 2; k++) {
            char text[500];
            (void)snprintf(
                text, sizeof text,
                "<mujoco><compiler angle='radian'/><worldbody><body name='a' %s>"
                "<joint name='j'/><site name='s' pos='1 2 3'/></body></worldbody></mujoco>",
                same[i][k]);
            sn_model *m = read_mjcf(text, NULL);
            double q[1] = {0};
            sn_frame frame;
            sn_problem *p;
            sn_workspace *ws;
            assert_int_equal(sn_problem_create(m, NULL, 0, NULL, &p, NULL), SN_OK);
            assert_int_equal(sn_workspace_create(p, false, NULL, &ws, NULL), SN_OK);
            assert_int_equal(sn_workspace_pose(ws, q), SN_OK);
            frame = sn_workspace_frame(ws, sn_model_find_joint(m, "j"));
            sn_vec3 at = v3_add(frame.p, m3_mul(&frame.R, v3(1, 2, 3)));
            x[k][0] = at.x, x[k][1] = at.y, x[k][2] = at.z;
            sn_workspace_destroy(ws);
            sn_problem_destroy(p);
            sn_model_destroy(m);
        }
        for (int c = 0; c < 3; c++) assert_near(x[0][c], x[1][c], 1e-14);
        assert_true(fabs(x[0][0] - 1) + fabs(x[0][1] - 2) > 0.1);  // it turns
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model),      cmocka_unit_test(test_world),
        cmocka_unit_test(test_lengths),    cmocka_unit_test(test_refused),
        cmocka_unit_test(test_document),   cmocka_unit_test(test_tendons),
        cmocka_unit_test(test_ball_range), cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
