// SPDX-License-Identifier: MIT
// Chains of every kind: joints, followers, what is free or held; tables of goals; memory.
#include "arms.h"
#include "memory_sink.h"

// Chains of every kind: random models, held against the sweeps, from any base.
static void any_chain(void **unused) {
    (void)unused;
    static const sn_joint_type types[] = {SN_JOINT_HINGE, SN_JOINT_SLIDER,    SN_JOINT_SCREW,
                                          SN_JOINT_EULER, SN_JOINT_UNIVERSAL, SN_JOINT_PLANAR,
                                          SN_JOINT_FIXED, SN_JOINT_BALL};
    uint64_t state = 21;
    int solved = 0, tried = 0;
    for (int k = 0; k < cases(30); k++) {
        sn_builder *b;
        sn_model *model;
        assert_int_equal(sn_builder_create("chain", NULL, &b, NULL), SN_OK);
        int njoint = 2 + below(&state, 6);
        for (int i = 0; i < njoint; i++) {
            sn_joint_desc d = random_joint(&state, types[below(&state, 8)], i, i - 1);
            memset(d.locked, 0, sizeof d.locked);
            if (i == 0) d = random_joint(&state, SN_JOINT_HINGE, i, -1), d.locked[0] = false;
            (void)sn_builder_joint(b, &d);
        }
        assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
        sn_builder_destroy(b);
        char tip[16];
        (void)snprintf(tip, sizeof tip, "j%d", njoint - 1);
        sn_arm *arm = arm_of(model, tip, NULL);
        double q[SN_ARM_MAX], goal[7], there[7], out[SN_ARM_MAX];
        sn_arm_report report;
        random_q(arm, &state, q);
        tool_by_sweeps(model, arm, tip, q, goal);
        sn_arm_tool(arm, q, there);
        assert_true(apart(goal, there) < 1e-7);
        assert_int_equal(sn_arm_solve(arm, goal, NULL, out, &report), SN_OK);
        assert_inside(arm, out);
        tool_by_sweeps(model, arm, tip, out, there);
        tried++;
        solved += report.reached;
        if (report.reached) assert_true(apart(goal, there) < 2.1e-6);
        // the way back: the base seen from the tip
        sn_arm_options o = sn_arm_options_default();
        o.base = tip;
        sn_arm *back;
        double seen[7];
        if (sn_arm_create(model, "j0", &o, NULL, &back, NULL) == SN_OK) {
            double along[SN_ARM_MAX], pose[64];
            sn_arm_to_pose(arm, q, pose);
            sn_arm_from_pose(back, pose, along);
            sn_arm_tool(back, along, seen);
            double base[7];
            tool_by_sweeps(model, arm, "j0", q, base);
            // the base in the tip, behind the tip in the world, is the base in the world
            sn_mat3 R = sn_mat3_from_quat((sn_quat){goal[3], goal[4], goal[5], goal[6]});
            sn_vec3 p = v3_add(v3_from(goal), m3_mul(&R, v3_from(seen)));
            assert_true(v3_norm(v3_sub(p, v3_from(base))) < 1e-9);
            sn_arm_destroy(back);
        }
        sn_arm_destroy(arm);
        sn_model_destroy(model);
    }
    print_message("%d of %d random chains reached\n", solved, tried);
    assert_true(solved >= tried - tried / 20);
}

// A follower in the chain moves with its leader, and its limits hold.
static void mimic(void **unused) {
    (void)unused;
    static const char urdf[] =
        "<robot name='m'><link name='a'/><link name='b'/><link name='c'/><link name='d'/>"
        "<joint name='j1' type='revolute'><parent link='a'/><child link='b'/><axis xyz='0 0 1'/>"
        "<limit lower='-2' upper='2' velocity='1.5'/></joint>"
        "<joint name='j2' type='revolute'><parent link='b'/><child link='c'/><axis xyz='0 0 1'/>"
        "<origin xyz='1 0 0'/><limit lower='-1' upper='1'/><mimic joint='j1' multiplier='-0.5' "
        "offset='0.1'/></joint>"
        "<joint name='j3' type='prismatic'><parent link='c'/><child link='d'/><axis xyz='1 0 0'/>"
        "<limit lower='0' upper='1' velocity='2'/></joint></robot>";
    sn_model *model;
    assert_int_equal(sn_urdf_read(urdf, strlen(urdf), NULL, NULL, &model, NULL, NULL), SN_OK);
    sn_arm_options o = sn_arm_options_default();
    o.rotation = SN_ARM_ROTATION_NONE;
    sn_arm *arm = arm_of(model, "d", &o);
    assert_int_equal(sn_arm_n(arm), 2);
    assert_string_equal(sn_arm_name(arm, 1), "j3");
    assert_true(sn_arm_speed(arm)[0] == 1.5 && sn_arm_speed(arm)[1] == 2);
    uint64_t state = 4;
    for (int k = 0; k < 100; k++) {
        double q[2] = {uniform(&state, -1.8, 1.8), uniform(&state, 0, 1)}, goal[7], out[2],
               there[7];
        sn_arm_report report;
        sn_arm_tool(arm, q, goal);
        double angle = q[0] - 0.5 * q[0] + 0.1;
        assert_near(goal[0], cos(q[0]) + q[1] * cos(angle), 1e-12);
        assert_near(goal[1], sin(q[0]) + q[1] * sin(angle), 1e-12);
        assert_int_equal(sn_arm_solve(arm, goal, NULL, out, &report), SN_OK);
        assert_true(report.reached);
        assert_inside(arm, out);
        sn_arm_tool(arm, out, there);
        assert_near(there[0], goal[0], 2e-6);
        assert_near(there[1], goal[1], 2e-6);
    }
    sn_arm_destroy(arm);
    sn_model_destroy(model);
}

// Followers of every form: by a curve, of several, of followers, with offsets; some of them off the chain.
static sn_model *following(void) {
    static const double square[3] = {0.1, 0.5, 0.3}, both[3] = {0.4, -0.6, 0.05};
    static const double line[2] = {-0.7, 0.2}, sine[4] = {0.3, 1.5, 0.1, 0.05};
    sn_builder *b;
    sn_model *model;
    assert_int_equal(sn_builder_create("followers", NULL, &b, NULL), SN_OK);
    for (int i = 0; i < 9; i++) {
        sn_joint_desc d = sn_joint_default(i == 3 || i == 5 ? SN_JOINT_SLIDER
                                           : i == 8         ? SN_JOINT_FIXED
                                                            : SN_JOINT_HINGE);
        char name[8];
        (void)snprintf(name, sizeof name, "j%d", i);
        d.name = name;
        d.parent = i - 1;
        d.position[0] = i > 0 ? 0.3 : 0, d.position[2] = 0.05 * i;
        d.axis[0] = i % 3 == 1, d.axis[1] = i % 3 == 2, d.axis[2] = i % 3 == 0;
        d.lower[0] = i == 5 ? -0.3 : -2, d.upper[0] = i == 5 ? 0.4 : 2;
        (void)sn_builder_joint(b, &d);
    }
    // 1 by a parabola of 0; 3 by a sine of 1; 5 of 0 and 4; 6 in proportion to 5
    const sn_coupling_desc rows[4] = {
        {{1, 0}, 1, {{0, 0}}, {.type = SN_FUNCTION_POLYNOMIAL, .scale = 1, .ny = 3, .y = square}},
        {{3, 0}, 1, {{1, 0}}, {.type = SN_FUNCTION_SINE, .scale = 1, .ny = 4, .y = sine}},
        {{5, 0}, 2, {{0, 0}, {4, 0}}, {.type = SN_FUNCTION_LINEAR, .scale = 1, .ny = 3, .y = both}},
        {{6, 0}, 1, {{5, 0}}, {.type = SN_FUNCTION_LINEAR, .scale = 2, .ny = 2, .y = line}}};
    for (int i = 0; i < 4; i++) (void)sn_builder_couple(b, &rows[i]);
    sn_error error = {0};
    if (sn_builder_finish(b, &model, &error) != SN_OK) fail_msg("%s", error.text);
    sn_builder_destroy(b);
    return model;
}

static void followers(void **unused) {
    (void)unused;
    sn_model *model = following();
    sn_arm_options o = sn_arm_options_default();
    o.rotation = SN_ARM_ROTATION_NONE;
    sn_arm *arm = arm_of(model, "j8", &o);
    assert_int_equal(sn_arm_n(arm), 4);  // 0, 2, 4, 7
    uint64_t state = 6;
    int solved = 0, tried = 0;
    double worst = 0, pose[16];
    for (int k = 0; k < 200; k++) {
        double q[SN_ARM_MAX], goal[7], there[7], out[SN_ARM_MAX];
        sn_arm_report report;
        random_q(arm, &state, q);
        tool_by_sweeps(model, arm, "j8", q, goal);
        sn_arm_tool(arm, q, there);
        assert_true(apart(goal, there) < 1e-7);
        sn_arm_to_pose(arm, q, pose);
        if (k % 4 == 3) goal[0] += 3;  // the nearest pose then
        const bool inside = pose[5] >= -0.3 && pose[5] <= 0.4;
        assert_int_equal(sn_arm_solve(arm, goal, k % 2 ? q : NULL, out, &report), SN_OK);
        assert_inside(arm, out);
        sn_arm_to_pose(arm, out, pose);
        assert_true(pose[5] >= -0.3 && pose[5] <= 0.4);  // limits of a follower of two
        if (report.reached) {
            tool_by_sweeps(model, arm, "j8", out, there);
            for (int i = 0; i < 3; i++) assert_near(there[i], goal[i], 2.1e-6);
        }
        if (k % 4 == 3 || !inside) continue;
        tried++;
        solved += report.reached;
    }
    check_gradient(arm, &state, &worst);
    print_message("%d of %d goals with followers reached; gradient off by %.1e\n", solved, tried,
                  worst);
    assert_int_equal(solved, tried);
    assert_true(worst < 1e-9);
    sn_arm_destroy(arm);
    sn_model_destroy(model);
}

// Free axes, held joints, a tool, a rest posture.
static void freedom(void **unused) {
    (void)unused;
    sn_model *model = the_model(0);
    uint64_t state = 8;
    for (int k = 0; k < 30; k++) {
        static const char *const held[] = {"joint3"};
        double pose[8] = {0, 0, 0.3, -1, 0, 1, 0, 0}, q[7], out[7], goal[7], there[7];
        sn_arm_options o = sn_arm_options_default();
        o.tool_position[2] = 0.1;
        o.tool_position[0] = 0.05;
        o.pose = pose;
        if (k % 3 == 0) o.rotation = SN_ARM_ROTATION_AXIS;
        if (k % 3 == 1) o.rotation = SN_ARM_ROTATION_NONE, o.free_position[1] = true;
        if (k % 3 == 2) o.held = held, o.nheld = 1, o.rotation = SN_ARM_ROTATION_AXIS;
        sn_arm *arm = arm_of(model, "tool", &o);
        assert_int_equal(sn_arm_n(arm), k % 3 == 2 ? 6 : 7);
        random_q(arm, &state, q);
        sn_arm_tool(arm, q, goal);
        // spin the goal about the tool's z: it must not matter
        double half = uniform(&state, -1.5, 1.5);
        sn_quat r = sn_quat_mul((sn_quat){goal[3], goal[4], goal[5], goal[6]},
                                (sn_quat){cos(half), 0, 0, sin(half)});
        if (k % 3 != 1) goal[3] = r.w, goal[4] = r.x, goal[5] = r.y, goal[6] = r.z;
        sn_arm_report report;
        assert_int_equal(sn_arm_solve(arm, goal, NULL, out, &report), SN_OK);
        assert_true(report.reached);
        assert_inside(arm, out);
        sn_arm_tool(arm, out, there);
        sn_mat3 R = sn_mat3_from_quat((sn_quat){goal[3], goal[4], goal[5], goal[6]});
        sn_mat3 S = sn_mat3_from_quat((sn_quat){there[3], there[4], there[5], there[6]});
        sn_vec3 way = v3_sub(v3_from(goal), v3_from(there));
        if (k % 3 == 1) {
            way = v3_sub(way, v3_scale(v3_dot(way, R.c[1]), R.c[1]));
        } else {
            assert_true(v3_norm(v3_sub(R.c[2], S.c[2])) < 2e-6);
        }
        assert_true(v3_norm(way) < 2e-6);
        sn_arm_destroy(arm);
    }
    // with a rest posture the null space leans to it: nearer than from nowhere
    double rest[8] = {0.5, 0.2, 0.4, -1.5, 0.3, 1.8, 0.2, 0}, sum[2] = {0, 0};
    sn_arm_options o = sn_arm_options_default();
    sn_arm *plain = the_arm(0);
    o.rest = rest;
    sn_arm *leans = arm_of(model, "tool", &o);
    for (int k = 0; k < 100; k++) {
        double q[7], goal[7], out[7];
        random_q(plain, &state, q);
        sn_arm_tool(plain, q, goal);
        for (int w = 0; w < 2; w++) {
            sn_arm_report report;
            assert_int_equal(sn_arm_solve(w ? leans : plain, goal, NULL, out, &report), SN_OK);
            assert_true(report.reached);
            for (int j = 0; j < 7; j++) sum[w] += (out[j] - rest[j]) * (out[j] - rest[j]);
        }
    }
    print_message("squared distance from the rest posture: %.1f without, %.1f with it\n",
                  sum[0] / 100, sum[1] / 100);
    assert_true(sum[1] < 0.8 * sum[0]);
    sn_arm_destroy(leans);
}

// Tables of goals: every kind of mistake is named with its line; what is written reads back inside the limits.
static void tables(void **unused) {
    (void)unused;
    static const struct {
        const char *text, *says;
        int line;
    } wrong[] = {{"", "nothing in it", 0},
                 {"0,0,0,1,0,0,0\n", "name the columns", 1},
                 {"x,y,z,qw,qx,qy,qz\n1,2,3\n", "qw is missing", 2},
                 {"x,y,z,qw,qx,qy\n1,2,3,1,0,0\n", "there is no column qz", 1},
                 {"px,py,pz,qw,qx,qy,qz\n1,2,3,1,0,0,0\n", "there is no column x", 1},
                 {"x,y,z\n1,2\n", "z is missing", 2},
                 {"x,y,z,qw,qx,qy,qz\n1,2,3,1,0,0,0\n1,2,a,1,0,0,0\n", "\"a\" is not", 3},
                 {"x,y,z,qw,qx,qy,qz\n\n1,2,3,0,0,0,0\n", "no rotation", 3}};
    sn_error error;
    sn_arm_goals *goals;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_not_equal(
            sn_arm_goals_read(wrong[i].text, strlen(wrong[i].text), NULL, &goals, &error), SN_OK);
        assert_null(goals);
        assert_non_null(strstr(error.text, wrong[i].says));
        assert_int_equal(error.line, wrong[i].line);
    }
    static const char text[] =
        "id;qw;qx;qy;qz;x;y;z\r\n7;0;1;0;0;0.4;0.1;0.5\r\n8;0;1;0;0;0.5;0;2\r\n";
    assert_int_equal(sn_arm_goals_read(text, sizeof text - 1, NULL, &goals, NULL), SN_OK);
    assert_int_equal(sn_arm_goals_count(goals), 2);
    const double want[7] = {0.4, 0.1, 0.5, 0, 1, 0, 0};
    assert_memory_equal(sn_arm_goals_data(goals), want, sizeof want);
    assert_false(sn_arm_goals_places(goals));
    sn_arm_goals_destroy(goals);
    // places alone; and names that say nothing, by their order
    assert_int_equal(sn_arm_goals_read("z,y,x\n3,2,1\n", 12, NULL, &goals, NULL), SN_OK);
    const double place[7] = {1, 2, 3, 1, 0, 0, 0};
    assert_true(sn_arm_goals_places(goals));
    assert_memory_equal(sn_arm_goals_data(goals), place, sizeof place);
    sn_arm_goals_destroy(goals);
    static const char plain[] = "a,b,c,d,e,f,g\n1,2,3,1,0,0,0\n";
    assert_int_equal(sn_arm_goals_read(plain, sizeof plain - 1, NULL, &goals, NULL), SN_OK);
    assert_false(sn_arm_goals_places(goals));
    assert_memory_equal(sn_arm_goals_data(goals), place, sizeof place);
    sn_arm_goals_destroy(goals);
}

// Creation fails at every allocation without a leak, and solving takes none.
static void memory(void **unused) {
    (void)unused;
    sn_model *model = arms_model(2);
    for (long at = 0;; at++) {
        test_allocator a;
        sn_arm *arm;
        sn_error error = {0};
        test_allocator_begin(&a);
        a.fail_at = at;
        sn_status status = sn_arm_create(model, "tool", NULL, &a.base, &arm, &error);
        if (status == SN_OK) {
            double goal[7], q[6 * 8], zero[6] = {0, -1, 1, 0, 1, 0};
            int count;
            a.trap = true;
            sn_arm_tool(arm, zero, goal);
            assert_int_equal(sn_arm_solve(arm, goal, zero, q, NULL), SN_OK);
            assert_int_equal(sn_arm_solve_all(arm, goal, zero, 8, q, &count), SN_OK);
            goal[0] += 9;
            assert_int_equal(sn_arm_solve(arm, goal, NULL, q, NULL), SN_OK);
            a.trap = false;
            sn_arm_destroy(arm);
        } else {
            assert_int_equal(status, SN_ERR_MEMORY);
            assert_int_equal(error.status, SN_ERR_MEMORY);
            assert_null(arm);
        }
        assert_int_equal(a.live, 0);
        if (status == SN_OK) break;
    }
    static const char text[] = "x,y,z,qw,qx,qy,qz\n1,2,3,1,0,0,0\n";
    for (long at = 0;; at++) {
        test_allocator a;
        sn_arm_goals *goals;
        test_allocator_begin(&a);
        a.fail_at = at;
        sn_status status = sn_arm_goals_read(text, sizeof text - 1, &a.base, &goals, NULL);
        assert_true(status == SN_OK || (status == SN_ERR_MEMORY && goals == NULL));
        sn_arm_goals_destroy(goals);
        assert_int_equal(a.live, 0);
        if (status == SN_OK) break;
    }
    sn_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_chain), cmocka_unit_test(mimic),
                                       cmocka_unit_test(followers), cmocka_unit_test(freedom),
                                       cmocka_unit_test(tables),    cmocka_unit_test(memory)};
    return cmocka_run_group_tests(tests, NULL, end_arms);
}
