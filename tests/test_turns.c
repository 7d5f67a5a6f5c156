// SPDX-License-Identifier: MIT
// Angles that go round: an arm of six hinges with limits of a whole turn or more is solved as one without,
// and comes back inside them, on the turn nearest to the start.
#include "support.h"

static const double pi = 3.141592653589793;

// The measures of a common arm of 1.3 m reach: six hinges, its joints where its axes cross.
static sn_model *arm(double lower, double upper) {
    static const struct {
        double axis[3], position[3];
    } joints[6] = {{{0, 0, 1}, {0, 0, 0.1273}},      {{0, 1, 0}, {0, 0.220941, 0}},
                   {{0, 1, 0}, {0.612, -0.1719, 0}}, {{0, 1, 0}, {0.5723, 0, 0}},
                   {{0, 0, 1}, {0, 0.1149, 0}},      {{0, 1, 0}, {0, 0, -0.1157}}};
    sn_builder *builder;
    sn_model *model;
    assert_int_equal(sn_builder_create("arm", NULL, &builder, NULL), SN_OK);
    for (int i = 0; i < 6; i++) {
        sn_joint_desc d = sn_joint_default(SN_JOINT_HINGE);
        char name[8];
        (void)snprintf(name, sizeof name, "j%d", i + 1);
        d.name = name;
        d.parent = i - 1;
        memcpy(d.axis, joints[i].axis, sizeof d.axis);
        memcpy(d.position, joints[i].position, sizeof d.position);
        d.lower[0] = lower;
        d.upper[0] = upper;
        assert_int_equal(sn_builder_joint(builder, &d), i);
    }
    assert_int_equal(sn_builder_finish(builder, &model, NULL), SN_OK);
    sn_builder_destroy(builder);
    return model;
}

// Of `count` goals that the arm can reach, how many a first solve from a random start reaches.
static int solved(const sn_model *model, sn_method method, sn_turns turns, bool rest, int count) {
    uint64_t state = 3;
    double q[6], start[6], nowhere[6] = {0};
    sn_task tasks[2] = {sn_task_default(SN_TASK_POSE), sn_task_default(SN_TASK_REST)};
    sn_problem *problem;
    sn_solver *solver;
    sn_solver_options options = sn_solver_options_default();
    tasks[0].joint = 5;
    tasks[0].local[1] = 0.0922;
    tasks[1].q = nowhere;
    tasks[1].weight = 1e-7;
    options.method = method;
    options.turns = turns;
    assert_int_equal(sn_problem_create(model, tasks, rest ? 2 : 1, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_solver_create(problem, &options, NULL, &solver, NULL), SN_OK);
    int good = 0;
    const double lower = sn_model_lower(model)[0], upper = sn_model_upper(model)[0];
    for (int n = 0; n < count; n++) {
        for (int i = 0; i < 6; i++) {
            q[i] = uniform(&state, -pi, pi);
            start[i] = uniform(&state, fmax(lower, -2 * pi), fmin(upper, 2 * pi));
        }
        sn_workspace *ws = sn_solver_workspace(solver);
        assert_int_equal(sn_workspace_pose(ws, q), SN_OK);
        sn_frame at = sn_workspace_frame(ws, 5);
        sn_vec3 p = sn_workspace_point(ws, 5, tasks[0].local);
        const double goal[3] = {p.x, p.y, p.z};
        sn_quat r = sn_quat_from_mat3(at.R);
        const double turn[4] = {r.w, r.x, r.y, r.z};
        assert_int_equal(sn_problem_set_goal(problem, 0, goal), SN_OK);
        assert_int_equal(sn_problem_set_rotation(problem, 0, turn), SN_OK);
        sn_report report;
        double f, before;
        memcpy(q, start, sizeof q);
        assert_int_equal(sn_workspace_eval(ws, start, 0, &before), SN_OK);
        assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
        good += report.worst_error < 1e-6 || (rest && report.f < 1e-4);
        assert_true(report.f <= before);
        assert_int_equal(sn_workspace_eval(ws, q, 0, &f), SN_OK);
        assert_near(f, report.f, 1e-12);
        for (int i = 0; i < 6; i++) {
            assert_true(q[i] >= lower && q[i] <= upper);
            bool free = isinf(lower) && isinf(upper);
            if (free && turns == SN_TURNS_PRINCIPAL) assert_true(q[i] > -pi && q[i] <= pi);
            if (free && turns == SN_TURNS_NEAREST && !rest)
                assert_true(fabs(q[i] - start[i]) <= pi + 1e-12);
            // no other turn inside the limits is nearer to the start
            for (int k = -2; k <= 2 && !free; k++) {
                double other = q[i] + 2 * pi * k;
                if (other >= lower && other <= upper)
                    assert_true(fabs(q[i] - start[i]) <= fabs(other - start[i]) + 1e-9);
            }
        }
    }
    sn_solver_destroy(solver);
    sn_problem_destroy(problem);
    return good;
}

static void first_try(void **unused) {
    (void)unused;
    static const sn_method methods[] = {SN_METHOD_HYBRID, SN_METHOD_NEWTON, SN_METHOD_LM};
    static const double ranges[][2] = {{-INFINITY, INFINITY},
                                       {-3.141592653589793, 3.141592653589793},
                                       {-3.14, 3.14},
                                       {-6.2832, 6.2832}};
    int count = cases(100);
    for (int m = 0; m < 3; m++) {
        int free = 0;
        for (int i = 0; i < 4; i++) {
            sn_model *model = arm(ranges[i][0], ranges[i][1]);
            int good = solved(model, methods[m], SN_TURNS_NEAREST, false, count);
            print_message("%-8s limits %5.2f: %d of %d at the first try\n",
                          sn_method_name(methods[m]), ranges[i][1], good, count);
            if (i == 0) free = good;
            // other starts, so about as many
            assert_true(good >= free - 8 - count / 10);
            sn_model_destroy(model);
        }
        assert_true(free >= count * 7 / 10);
    }
}

static void principal(void **unused) {
    (void)unused;
    sn_model *model = arm(-INFINITY, INFINITY);
    assert_true(solved(model, SN_METHOD_HYBRID, SN_TURNS_PRINCIPAL, false, 50) > 30);
    sn_model_destroy(model);
}

// A faint rest pose, as tracking has one, counts the short way round inside limits.
static void with_rest(void **unused) {
    (void)unused;
    sn_model *model = arm(-pi, pi);
    int good = solved(model, SN_METHOD_HYBRID, SN_TURNS_NEAREST, true, 50);
    print_message("with a faint rest pose: %d of 50\n", good);
    assert_true(good > 30);
    sn_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_try),
        cmocka_unit_test(principal),
        cmocka_unit_test(with_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
