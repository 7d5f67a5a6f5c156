// SPDX-License-Identifier: MIT
// URDF: against forward kinematics written out another way, over every robot of the data folder,
// over random robots, and over broken files.
#include "reader.h"

#include "sinew/files.h"

static const char arm[] =
    "<?xml version=\"1.0\"?>\n"
    "<robot name='arm' xmlns:xacro='http://ros.org/wiki/xacro'>\n"
    "  <joint name='wrist' type='continuous'>\n"
    "    <parent link='fore'/><child link='hand'/>\n"
    "    <origin xyz='0.3 0 0' rpy='0.1 0.2 0.3'/>\n"
    "  </joint>\n"
    "  <link name='hand'><visual><origin xyz='9 9 9'/></visual>"
    "<inertial><mass value='5'/><origin xyz='1 2 3'/></inertial></link>\n"
    "  <link name='base'/>\n"
    "  <joint name='elbow' type='revolute'>\n"
    "    <origin xyz='0 0 1'/><parent link='base'/><child link='fore'/>\n"
    "    <axis xyz='0 3 4'/><limit lower='-1' upper='2' effort='1' velocity='1'/>\n"
    "  </joint>\n"
    "  <link name='fore'/>\n"
    "  <joint name='slide' type='prismatic'>\n"
    "    <parent link='hand'/><child link='tip'/><axis xyz='0 0 2'/>\n"
    "    <limit lower='0' upper='0.1'/><mimic joint='wrist' multiplier='0.5' offset='0.25'/>\n"
    "  </joint>\n"
    "  <link name='tip'/>\n"
    "  <joint name='pad' type='fixed'>\n"
    "    <axis xyz='0 0 0'/><parent link='tip'/><child link='pad'/><origin xyz='0 0.1 0'/>\n"
    "  </joint>\n"
    "  <link name='pad'/>\n"
    "  <gazebo reference='hand'><joint name='x' type='odd'/></gazebo>\n"
    "  <transmission name='t'><joint name='elbow'><limit/></joint></transmission>\n"
    "</robot>\n";

static sn_model *read_urdf(const char *text, const sn_urdf_options *options) {
    sn_model *model;
    sn_error error = {0};
    if (sn_urdf_read(text, strlen(text), options, NULL, &model, NULL, &error) != SN_OK)
        fail_msg("line %d: %s", error.line, error.text);
    return model;
}

static void test_model(void **state) {
    (void)state;
    sn_model *m = read_urdf(arm, NULL);
    assert_string_equal(sn_model_name(m), "arm");
    assert_int_equal(sn_model_njoint(m), 5);
    assert_int_equal(sn_model_nmarker(m), 5);
    assert_int_equal(sn_model_nv(m), 3);
    assert_string_equal(sn_model_joint(m, 0)->name, "base");
    assert_int_equal(sn_model_joint(m, 0)->type, SN_JOINT_FIXED);
    assert_int_equal(sn_model_root(m), 0);
    assert_near(sn_model_joint(m, 0)->mass, 0, 0);
    assert_near(sn_model_joint(m, 1)->mass, 5, 0);
    assert_near(sn_model_joint(m, 1)->centre[1], 2, 0);
    const sn_joint_desc *wrist = sn_model_joint(m, 1), *elbow = sn_model_joint(m, 2);
    assert_string_equal(wrist->name, "wrist");
    assert_int_equal(wrist->parent, 2);
    assert_true(wrist->lower[0] == -INFINITY && wrist->upper[0] == INFINITY);
    assert_true(wrist->axis[0] == 1 && wrist->axis[1] == 0 && wrist->axis[2] == 0);
    assert_true(elbow->lower[0] == -1 && elbow->upper[0] == 2);
    assert_int_equal(elbow->parent, 0);
    assert_true(elbow->rotation[0] == 1 && elbow->position[2] == 1);
    assert_true(!sn_model_joint(m, 3)->locked[0] && !elbow->locked[0] && !wrist->locked[0]);
    const sn_marker_desc *hand = sn_model_marker(m, sn_model_find_marker(m, "hand"));
    assert_int_equal(hand->joint, 1);
    assert_true(hand->position[0] == 0 && hand->weight == 1);
    assert_int_equal(sn_model_marker(m, sn_model_find_marker(m, "base"))->joint, 0);
    sn_model_destroy(m);
}

static void test_floating_base(void **state) {
    (void)state;
    sn_urdf_options options = sn_urdf_options_default();
    options.floating_base = true;
    sn_model *m = read_urdf(arm, &options);
    assert_int_equal(sn_model_joint(m, 0)->type, SN_JOINT_FREE);
    assert_int_equal(sn_model_nv(m), 9);
    sn_model_destroy(m);
    options.version = 99;
    assert_int_equal(sn_urdf_read(arm, sizeof arm - 1, &options, NULL, &m, NULL, NULL),
                     SN_ERR_ARGUMENT);
    assert_null(m);
}

static void test_root_name(void **state) {
    (void)state;
    sn_model *m = read_urdf("<robot><link name='a'/><link name='b'/><joint name='a' type='fixed'>"
                            "<parent link='a'/><child link='b'/></joint></robot>",
                            NULL);
    assert_string_equal(sn_model_name(m), "");
    assert_string_equal(sn_model_joint(m, 0)->name, "a_root");
    assert_string_equal(sn_model_joint(m, 1)->name, "a");
    sn_model_destroy(m);
}

static void test_mimics(void **state) {
    (void)state;
    sn_model *m = read_urdf(arm, NULL);
    assert_int_equal(sn_model_ncoupling(m), 1);
    const sn_coupling_desc *slide = sn_model_coupling(m, 0);
    assert_int_equal(slide->follower.joint, 3);
    assert_int_equal(slide->nleader, 1);
    assert_int_equal(slide->leader[0].joint, 1);
    assert_true(slide->function.y[0] == 0.5 && slide->function.y[1] == 0.25);
    assert_null(sn_model_coupling(m, 1));
    assert_null(sn_model_coupling(m, -1));
    double q[3] = {0.5, 7, 99};  // wrist, elbow, slide
    sn_model_follow(m, q);
    assert_true(q[0] == 0.5 && q[1] == 7 && q[2] == 0.5);
    // the slide's 0 to 0.1 leave the wrist -0.5 to -0.3
    (void)sn_model_clamp(m, q);
    assert_true(q[0] >= -0.5 && q[0] <= -0.3 && q[2] >= 0 && q[2] <= 0.1);
    assert_near(q[0], -0.3, 1e-15);
    sn_model_destroy(m);
}

// A chain of mimics, the last follower first in the file: each still comes after its source.
static void test_mimic_chain(void **state) {
    (void)state;
    enum { N = 40 };
    static char text[N * 240 + 100];
    size_t n = (size_t)sprintf(text, "<robot name='r'><link name='l0'/>");
    for (int i = N; i >= 1; i--) {
        n += (size_t)sprintf(text + n,
                             "<link name='l%d'/><joint name='j%d' type='continuous'><parent "
                             "link='l%d'/><child link='l%d'/>",
                             i, i, i - 1, i);
        if (i > 1)
            n += (size_t)sprintf(text + n, "<mimic joint='j%d' multiplier='%d' offset='1'/>", i - 1,
                                 i % 2 == 0 ? 1 : -1);
        n += (size_t)sprintf(text + n, "</joint>");
    }
    (void)sprintf(text + n, "</robot>");
    sn_model *m = read_urdf(text, NULL);
    assert_int_equal(sn_model_ncoupling(m), N - 1);
    double q[N] = {0};
    q[sn_model_q_index(m, sn_model_find_joint(m, "j1"))] = 3;
    sn_model_follow(m, q);
    double expected = 3;
    for (int i = 2; i <= N; i++) {
        char name[16];
        (void)sprintf(name, "j%d", i);
        expected = (i % 2 == 0 ? 1 : -1) * expected + 1;
        assert_true(q[sn_model_q_index(m, sn_model_find_joint(m, name))] == expected);
    }
    sn_model_destroy(m);
}

static sn_status urdf(const char *bytes, size_t length, const sn_allocator *allocator,
                      sn_error *error) {
    sn_model *model;
    sn_status status = sn_urdf_read(bytes, length, NULL, allocator, &model, NULL, error);
    if (status != SN_OK) assert_null(model);
    sn_model_destroy(model);
    return status;
}

static void test_refused(void **state) {
    (void)state;
    static const edit list[] = {
        {"<robot name", "<sdf name", 2, "the outermost element is <sdf>, not <robot>: is this a"},
        {"<link name='base'/>", "<xacro:leg side='left'/>", 8,
         "<xacro:leg> is a macro that is not expanded: run xacro on the file first"},
        {"0.3 0 0'", "${l} 0 0'", 5, "is not expanded: run xacro on the file first"},
        {"0.3 0 0'", "0.3 0'", 5, "joint \"wrist\": xyz needs 3 numbers, here are 2"},
        {"0.3 0 0'", "0.3 0 0 0'", 5, "joint \"wrist\": xyz needs 3 numbers, here are 4"},
        {"0.3 0 0'", "0.3 nan 0'", 5, "joint \"wrist\": xyz: \"nan\" is not a number"},
        {"0 3 4", "0 0 0", 9, "joint \"elbow\": its axis is 0 0 0"},
        {"lower='-1'", "lower='3'", 11,
         "joint \"elbow\": its lower limit is above its upper limit"},
        {"<limit lower='-1' upper='2' effort='1' velocity='1'/>", "", 9,
         "joint \"elbow\" has no <limit>, which a revolute joint needs: one without an end is "
         "continuous"},
        {"<limit lower='0' upper='0.1'/>", "", 14, "joint \"slide\" has no <limit>"},
        {"type='continuous'", "type='hinge'", 3, "joint \"wrist\": the type \"hinge\" is none of"},
        {"type='continuous'", "", 3, "joint \"wrist\" has no type=\"...\""},
        {"<joint name='wrist'", "<joint", 3, "a joint has no name=\"...\""},
        {"<parent link='fore'/>", "", 3, "joint \"wrist\" has no <parent>"},
        {"<child link='hand'/>", "", 3, "joint \"wrist\" has no <child>"},
        {"<parent link='fore'/>", "<parent link='fore'/><parent link='fore'/>", 4,
         "joint \"wrist\": <parent> stands twice"},
        {"<parent link='fore'/>", "<parent link='leg'/>", 3,
         "joint \"wrist\": there is no link \"leg\""},
        {"<link name='fore'/>", "<link name='base'/>", 13, "another link is named \"base\" too"},
        {"<joint name='wrist'", "<joint name='pad'", 19, "another joint is named \"pad\" too"},
        {"<child link='hand'/>", "<child link='fore'/>", 9,
         "link \"fore\" is the child of joint \"wrist\" and of joint \"elbow\""},
        {"<link name='base'/>", "<link name='base'/><link name='lost'/>", 8,
         "no joint holds link \"lost\", but \"base\" is the root already"},
        {"</gazebo>", "", 25, "</robot> where <gazebo> of line 23 should end"},
    };
    check_edits(urdf, arm, list, sizeof list / sizeof list[0]);
}

static void assert_refused(const char *text, const char *says) {
    sn_model *model;
    sn_error error = {0};
    assert_int_not_equal(sn_urdf_read(text, strlen(text), NULL, NULL, &model, NULL, &error), SN_OK);
    assert_null(model);
    if (strstr(error.text, says) == NULL) fail_msg("\"%s\" does not say \"%s\"", error.text, says);
}

#define FIXED(name, parent, child)                                                                 \
    "<joint name='" name "' type='fixed'><parent link='" parent "'/><child link='" child           \
    "'/></joint>"

static void test_not_a_tree(void **state) {
    (void)state;
    assert_refused("<robot name='r'/>", "the robot has no links");
    assert_refused("<robot><link name='a'/><link name='b'/>" FIXED("x", "a", "b")
                       FIXED("y", "b", "a") "</robot>",
                   "hangs on itself through joint");
    assert_refused("<robot><link name='a'/>" FIXED("x", "a", "a") "</robot>",
                   "link \"a\" hangs on itself through joint \"x\"");
    assert_refused("<robot><link name='r'/><link name='a'/><link name='b'/>" FIXED("x", "a", "b")
                       FIXED("y", "b", "a") "</robot>",
                   "the parents form a cycle");
}

// A mimic that cannot be followed is noted, and its joint moves by itself.
static void test_lost_mimics(void **state) {
    (void)state;
    static const struct {
        const char *to, *says;
    } lost[] = {
        {"joint='ankle' mult",
         "joint \"slide\" mimics \"ankle\", but there is no such joint: it moves freely"},
        {"joint='pad' mult",
         "joint \"slide\" mimics \"pad\", but not both have one coordinate: it moves freely"},
        {"joint='slide' mult",
         "joint \"slide\" mimics \"slide\", and so itself in the end: it moves freely"},
    };
    for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++) {
        char *text = replaced(arm, "joint='wrist' mult", lost[i].to);
        sn_document d;
        sn_error error = {0};
        if (sn_document_read(text, strlen(text), "x.urdf", NULL, NULL, &d, &error) != SN_OK)
            fail_msg("%s: %s", lost[i].to, error.text);
        assert_string_equal(d.note, lost[i].says);
        assert_int_equal(sn_model_ncoupling(d.model), 0);
        sn_document_destroy(&d);
        free(text);
    }
    // a ring of three, and one that follows it: one goes first, the others follow
#define MIMIC(name, parent, child, source)                                                         \
    "<joint name='" name "' type='continuous'><parent link='" parent "'/><child link='" child      \
    "'/><mimic joint='" source "'/></joint>"
    static const char ring[] =
        "<robot><link name='a'/><link name='b'/><link name='c'/><link "
        "name='d'/><link name='e'/>" MIMIC("w", "a", "b", "x") MIMIC("x", "b", "c", "y")
            MIMIC("y", "c", "d", "z") MIMIC("z", "d", "e", "x") "</robot>";
    sn_document d;
    sn_error error = {0};
    assert_int_equal(sn_document_read(ring, strlen(ring), "x.urdf", NULL, NULL, &d, &error), SN_OK);
    assert_string_equal(d.note,
                        "joint \"x\" mimics \"y\", and so itself in the end: it moves freely");
    assert_int_equal(sn_model_ncoupling(d.model), 3);
    double q[4] = {0, 0.5, 0, 0};
    sn_model_follow(d.model, q);
    for (int i = 0; i < 4; i++) assert_true(q[i] == 0.5);
    sn_document_destroy(&d);
}

// Forward kinematics another way: 4 x 4 matrices, libm, roll, pitch and yaw as one closed form.
typedef struct mat4 {
    double a[4][4];
} mat4;

static mat4 multiply(mat4 A, mat4 B) {
    mat4 C = {{{0}}};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 4; k++) C.a[i][j] += A.a[i][k] * B.a[k][j];
    return C;
}

static mat4 origin_matrix(const double xyz[3], const double rpy[3]) {
    double cr = cos(rpy[0]), sr = sin(rpy[0]), cp = cos(rpy[1]), sp = sin(rpy[1]);
    double cy = cos(rpy[2]), sy = sin(rpy[2]);
    return (mat4){{{cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr, xyz[0]},
                   {sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr, xyz[1]},
                   {-sp, cp * sr, cp * cr, xyz[2]},
                   {0, 0, 0, 1}}};
}

// Rodrigues, or a step along the axis.
static mat4 joint_matrix(bool slides, const double axis[3], double q) {
    double n = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    double x = axis[0] / n, y = axis[1] / n, z = axis[2] / n;
    if (slides) return (mat4){{{1, 0, 0, q * x}, {0, 1, 0, q * y}, {0, 0, 1, q * z}, {0, 0, 0, 1}}};
    double c = cos(q), s = sin(q), d = 1 - c;
    return (mat4){{{c + x * x * d, x * y * d - z * s, x * z * d + y * s, 0},
                   {y * x * d + z * s, c + y * y * d, y * z * d - x * s, 0},
                   {z * x * d - y * s, z * y * d + x * s, c + z * z * d, 0},
                   {0, 0, 0, 1}}};
}

enum { MAX_LINKS = 14 };

static void random_robot(uint64_t *state, int n, char *text, int parent[], mat4 origin[],
                         double axis[][3], int kind[]) {
    static const char *const kinds[] = {"revolute", "continuous", "prismatic", "fixed"};
    size_t at = (size_t)sprintf(text, "<robot name=\"random\">");
    bool links_first = below(state, 2) == 0;
    for (int i = 0; i < n && links_first; i++)
        at += (size_t)sprintf(text + at, "<link name='l%d'/>", i);
    for (int i = n - 1; i > 0; i--) {
        double xyz[3], rpy[3];
        for (int k = 0; k < 3; k++) {
            xyz[k] = uniform(state, -1, 1);
            rpy[k] = uniform(state, -4, 4);
            axis[i][k] = uniform(state, -2, 2);
        }
        bool turned = below(state, 3) > 0, has_axis = below(state, 3) > 0;
        for (int k = 0; k < 3 && !turned; k++) rpy[k] = 0;
        for (int k = 0; k < 3 && !has_axis; k++) axis[i][k] = k == 0;
        parent[i] = below(state, i);
        kind[i] = below(state, 4);
        origin[i] = origin_matrix(xyz, rpy);
        at += (size_t)sprintf(
            text + at,
            "<joint type='%s' name='j%d'><parent link='l%d'/><origin xyz='%.17g %.17g %.17g'",
            kinds[kind[i]], i, parent[i], xyz[0], xyz[1], xyz[2]);
        if (turned)
            at +=
                (size_t)sprintf(text + at, " rpy=' %.17g\t%.17g\n%.17g '", rpy[0], rpy[1], rpy[2]);
        at += (size_t)sprintf(text + at, "/><child link='l%d'/><limit lower='-1' upper='1'/>", i);
        if (has_axis)
            at += (size_t)sprintf(text + at, "<axis xyz='%.17g %.17g %.17g'/>", axis[i][0],
                                  axis[i][1], axis[i][2]);
        at += (size_t)sprintf(text + at, "</joint>");
    }
    for (int i = 0; i < n && !links_first; i++)
        at += (size_t)sprintf(text + at, "<link name='l%d'/>", i);
    (void)sprintf(text + at, "</robot>");
}

static void test_kinematics(void **state_) {
    (void)state_;
    uint64_t state = 11;
    static char text[MAX_LINKS * 600];
    for (int round = 0; round < cases(400); round++) {
        int n = 1 + below(&state, MAX_LINKS), parent[MAX_LINKS], kind[MAX_LINKS];
        mat4 origin[MAX_LINKS], world[MAX_LINKS] = {{{{0}}}};
        double axis[MAX_LINKS][3], q[MAX_LINKS + 1] = {0};
        random_robot(&state, n, text, parent, origin, axis, kind);
        sn_model *m = read_urdf(text, NULL);
        sn_problem *problem;
        sn_workspace *ws;
        assert_int_equal(sn_problem_create(m, NULL, 0, NULL, &problem, NULL), SN_OK);
        assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
        sn_model_sample(m, &state, q);
        assert_int_equal(sn_workspace_pose(ws, q), SN_OK);
        for (int k = 0; k < 4; k++) world[0].a[k][k] = 1;
        for (int i = 0; i < n; i++) {
            char name[16];
            (void)sprintf(name, "l%d", i);
            const sn_marker_desc *link = sn_model_marker(m, sn_model_find_marker(m, name));
            assert_non_null(link);
            if (i > 0) {
                (void)sprintf(name, "j%d", i);
                int joint = sn_model_find_joint(m, name);
                assert_int_equal(link->joint, joint);
                world[i] = multiply(world[parent[i]], origin[i]);
                if (kind[i] < 3)
                    world[i] = multiply(world[i], joint_matrix(kind[i] == 2, axis[i],
                                                               q[sn_model_q_index(m, joint)]));
            }
            sn_frame F = sn_workspace_frame(ws, link->joint);
            const double p[3] = {F.p.x, F.p.y, F.p.z};
            for (int k = 0; k < 3; k++) {
                const double column[3] = {F.R.c[k].x, F.R.c[k].y, F.R.c[k].z};
                assert_near(world[i].a[k][3], p[k], 1e-13);
                for (int row = 0; row < 3; row++)
                    assert_near(world[i].a[row][k], column[row], 1e-13);
            }
        }
        sn_workspace_destroy(ws);
        sn_problem_destroy(problem);
        sn_model_destroy(m);
    }
}

// The counts of the data folder's list.
static void test_data(void **state) {
    (void)state;
    static const struct {
        const char *file, *name, *root;
        int nlink, hinges, sliders, fixed, mimics;
    } robots[] = {
        {"allegro_right_hand", "allegro_hand_right", "palm_link", 21, 16, 0, 4, 0},
        {"atlas_minimal_contact", "atlas", "pelvis", 60, 30, 0, 29, 0},
        {"double_pendulum_continuous", "2dof_planar", "base_link", 3, 2, 0, 0, 0},
        {"g1_29dof_rev_1_0", "g1_29dof_rev_1_0", "pelvis", 39, 29, 0, 9, 0},
        {"iiwa14_no_collision", "iiwa14", "base", 11, 7, 0, 3, 0},
        {"panda", "panda", "panda_link0", 13, 7, 2, 3, 1},
        {"romeo", "romeo", "base_link", 82, 55, 0, 26, 22},
        {"simple_humanoid", "simple_humanoid", "base_link", 31, 29, 0, 1, 0},
        {"ur5_robot", "ur5", "world", 11, 6, 0, 4, 0},
    };
    for (size_t i = 0; i < sizeof robots / sizeof robots[0]; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "urdf/%s.urdf", robots[i].file);
        const char *path = data_path(name);
        if (path == NULL) skip();
        size_t length;
        char *text = slurp(path, &length);
        sn_model *m = read_urdf(text, NULL);
        int count[SN_JOINT_TYPE_COUNT] = {0};
        for (int j = 1; j < sn_model_njoint(m); j++) count[sn_model_joint(m, j)->type]++;
        assert_string_equal(sn_model_name(m), robots[i].name);
        assert_string_equal(sn_model_joint(m, 0)->name, robots[i].root);
        assert_int_equal(sn_model_nmarker(m), robots[i].nlink);
        assert_int_equal(sn_model_njoint(m), robots[i].nlink);
        assert_int_equal(count[SN_JOINT_HINGE], robots[i].hinges);
        assert_int_equal(count[SN_JOINT_SLIDER], robots[i].sliders);
        assert_int_equal(count[SN_JOINT_FIXED], robots[i].fixed);
        assert_int_equal(sn_model_ncoupling(m), robots[i].mimics);
        sn_model_destroy(m);
        free(text);
    }
}

// Romeo closes its hands: goals for all finger tips from a pose of its own are reached from the open
// hand, every finger joint following exactly and inside its limits.
static void test_fingers(void **state) {
    (void)state;
    const char *path = data_path("urdf/romeo.urdf");
    if (path == NULL) skip();
    size_t length;
    char *text = slurp(path, &length);
    sn_model *m = read_urdf(text, NULL);
    int nq = sn_model_nq(m);
    double *q = malloc((size_t)nq * sizeof *q), *goal = malloc((size_t)nq * sizeof *q);
    double *exact = malloc((size_t)nq * sizeof *q);
    sn_problem *problem;
    sn_solver *solver;
    sn_report report;
    assert_int_equal(sn_problem_create_markers(m, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_solver_create(problem, NULL, NULL, &solver, NULL), SN_OK);
    sn_workspace *ws = sn_solver_workspace(solver);
    uint64_t seed = 5;
    int reached = 0, rounds = 8;
    double worst = 0;
    for (int n = 0; n < rounds; n++) {
        sn_model_zero(m, q);
        (void)sn_model_clamp(m, q);
        sn_model_sample(m, &seed, goal);
        for (int i = 0; i < nq; i++) goal[i] = q[i] + 0.5 * (goal[i] - q[i]);
        (void)sn_model_clamp(m, goal);
        assert_int_equal(sn_workspace_pose(ws, goal), SN_OK);
        for (int i = 0; i < sn_model_nmarker(m); i++) {
            const sn_marker_desc *marker = sn_model_marker(m, i);
            sn_vec3 p = sn_workspace_point(ws, marker->joint, marker->position);
            const double at[3] = {p.x, p.y, p.z};
            assert_int_equal(sn_problem_set_goal(problem, i, at), SN_OK);
        }
        assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
        memcpy(exact, q, (size_t)nq * sizeof *q);
        sn_model_follow(m, exact);
        assert_memory_equal(exact, q, (size_t)nq * sizeof *q);
        for (int j = 1; j < sn_model_njoint(m); j++) {
            const sn_joint_desc *d = sn_model_joint(m, j);
            if (d->type != SN_JOINT_HINGE) continue;
            double x = q[sn_model_q_index(m, j)];
            assert_true(x >= d->lower[0] && x <= d->upper[0]);
        }
        reached += report.worst_error < 1e-9;
        worst = fmax(worst, report.worst_error);
    }
    print_message("romeo: %d of %d poses reached, worst error %.1e m\n", reached, rounds, worst);
    assert_true(reached >= rounds - 1);
    sn_solver_destroy(solver);
    sn_problem_destroy(problem);
    sn_model_destroy(m);
    free(q);
    free(goal);
    free(exact);
    free(text);
}

// Cut anywhere, a file is refused; the copies are exact, so that a read behind the cut is seen.
static void test_truncation(void **state) {
    (void)state;
    for (size_t n = 0; n + 2 < sizeof arm; n++) {
        char *copy = malloc(n + (n == 0));
        assert_non_null(copy);
        memcpy(copy, arm, n);
        sn_model *model;
        sn_error error = {0};
        if (sn_urdf_read(copy, n, NULL, NULL, &model, NULL, &error) == SN_OK)
            fail_msg("%zu bytes were taken for a whole file", n);
        assert_null(model);
        free(copy);
    }
}

static void test_memory(void **state) {
    (void)state;
    assert_true(check_memory(urdf, arm, sizeof arm - 1) > 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model),       cmocka_unit_test(test_floating_base),
        cmocka_unit_test(test_root_name),   cmocka_unit_test(test_mimics),
        cmocka_unit_test(test_mimic_chain), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_lost_mimics), cmocka_unit_test(test_not_a_tree),
        cmocka_unit_test(test_fingers),     cmocka_unit_test(test_kinematics),
        cmocka_unit_test(test_data),        cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
