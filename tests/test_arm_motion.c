// SPDX-License-Identifier: MIT
// Arms that move: servo ticks, straight paths, manipulability.
#include "arms.h"

// Ticks keep every limit, leave singular poses, arrive, and notice a goal that flees.
static void servo(void **unused) {
    (void)unused;
    for (int a = 0; a < ARMS_COUNT; a += stride()) {
        sn_arm *arm = the_arm(a);
        const int n = sn_arm_n(arm);
        uint64_t state = 31;
        int arrived = 0, tries = sampled() ? 2 : 6;
        for (int k = 0; k < tries; k++) {
            double q[SN_ARM_MAX] = {0}, target[SN_ARM_MAX], goal[7], speed[SN_ARM_MAX],
                   up[SN_ARM_MAX];
            // from the stretched pose, which is singular
            for (int j = 0; j < n; j++) {
                q[j] = fmin(fmax(k % 2 == 0 ? 0 : uniform(&state, -1, 1), sn_arm_lower(arm)[j]),
                            sn_arm_upper(arm)[j]);
                target[j] = fmin(fmax(q[j] + uniform(&state, -0.3, 0.3), sn_arm_lower(arm)[j]),
                                 sn_arm_upper(arm)[j]);
                speed[j] = 1, up[j] = 5;
            }
            sn_arm_tool(arm, target, goal);
            sn_arm_tick tick = {0.001, speed, up};
            sn_arm_motion motion = {.error = 0};
            sn_arm_tick_report report = {0};
            double was[SN_ARM_MAX] = {0};
            for (int t = 0; t < 6000 && !report.reached; t++) {
                double before[SN_ARM_MAX];
                memcpy(before, q, sizeof before);
                assert_int_equal(sn_arm_step(arm, goal, &tick, &motion, q, &report), SN_OK);
                assert_inside(arm, q);
                for (int j = 0; j < n; j++) {
                    double v = (q[j] - before[j]) / 0.001;
                    assert_true(fabs(v) <= fmin(1, sn_arm_speed(arm)[j]) * (1 + 1e-9));
                    assert_true(fabs(v - was[j]) <= 5 * 0.001 * (1 + 1e-6));
                    was[j] = v;
                }
            }
            arrived += report.reached;
            assert_true(report.why == SN_ARM_REACHED && !report.runs_away);
        }
        print_message("%s: %d of %d arrived\n", arms_name(a), arrived, tries);
        assert_int_equal(arrived, tries);
        // a goal that moves away faster than the arm
        double q[SN_ARM_MAX], goal[7];
        for (int j = 0; j < n; j++)
            q[j] = fmin(fmax(0.3, sn_arm_lower(arm)[j]), sn_arm_upper(arm)[j]);
        sn_arm_tool(arm, q, goal);
        sn_arm_tick tick = {0.001, NULL, NULL};
        sn_arm_motion motion = {.error = 0};
        sn_arm_tick_report report = {0};
        for (int t = 0; t < 50 && !report.runs_away; t++) {
            goal[0] += 0.1;
            assert_int_equal(sn_arm_step(arm, goal, &tick, &motion, q, &report), SN_OK);
        }
        assert_true(report.runs_away);
        // one that stands still out of reach: the nearest pose, with why, and nobody runs away
        double nearest[SN_ARM_MAX];
        sn_arm_report solved;
        goal[0] += 3;
        for (int t = 0; t < 8000; t++)
            assert_int_equal(sn_arm_step(arm, goal, &tick, &motion, q, &report), SN_OK);
        assert_true(!report.reached && !report.runs_away && report.why != SN_ARM_REACHED);
        for (int j = 0; j < n; j++) assert_true(fabs(motion.velocity[j]) < 1e-3);
        assert_int_equal(sn_arm_solve(arm, goal, NULL, nearest, &solved), SN_OK);
        assert_true(report.position_error < 1.1 * solved.position_error + 1e-3);
    }
}

// Paths: straight, without jumps; one that leads out of reach says where it ends.
static void paths(void **unused) {
    (void)unused;
    sn_arm *arm = the_arm(0);
    static double q[7 * 2000];
    double goals[21] = {0.4, -0.2, 0.4, 0,   1,   0,   0, 0.4, 0.2, 0.4, 0,
                        1,   0,    0,   0.5, 0.2, 0.3, 0, 1,   0,   0};
    sn_arm_path_report r;
    assert_int_equal(sn_arm_path(arm, 3, goals, NULL, 0.005, 2000, q, &r), SN_OK);
    assert_true(r.complete && r.count > 100 && r.jump < 0.1);
    for (int k = 0; k < r.count; k++) {
        double tool[7];
        sn_arm_tool(arm, q + 7 * k, tool);
        assert_inside(arm, q + 7 * k);
        // on the first or second line
        bool first = fabs(tool[0] - 0.4) < 2e-6 && fabs(tool[2] - 0.4) < 2e-6;
        bool second = fabs(tool[1] - 0.2) < 2e-6 && fabs((tool[0] - 0.4) + (tool[2] - 0.4)) < 4e-6;
        assert_true(first || second);
    }
    goals[14] = 3;
    assert_int_equal(sn_arm_path(arm, 3, goals, NULL, 0.005, 2000, q, &r), SN_OK);
    assert_true(!r.complete && r.waypoint == 2 && r.fraction > 0.05 && r.fraction < 0.5);
}

static void manipulability(void **unused) {
    (void)unused;
    double worst = 0;
    uint64_t state = 2;
    for (int a = 0; a < ARMS_COUNT; a += stride()) check_gradient(the_arm(a), &state, &worst);
    for (int kind = 0; kind < 4; kind++) {
        static const char *const held[] = {"joint1", "joint3", "joint5"};
        sn_arm_options o = sn_arm_options_default();
        o.tool_position[0] = 0.1;
        if (kind == 0) o.rotation = SN_ARM_ROTATION_AXIS, o.axis[1] = 0.7;
        if (kind == 1) o.rotation = SN_ARM_ROTATION_NONE, o.free_position[1] = true;
        if (kind == 2) o.free_position[2] = true;
        if (kind == 3) o.held = held, o.nheld = 3;  // fewer joints than rows
        sn_arm *arm = arm_of(the_model(5), "tool", &o);
        check_gradient(arm, &state, &worst);
        sn_arm_destroy(arm);
    }
    print_message("the gradient is off by %.1e at most\n", worst);
    assert_true(worst < 1e-9);
    // the UR5 stretched out is singular
    const double q[6] = {0, -1, 0, 0, 1, 0};
    double g[6];
    assert_true(sn_arm_manipulability(the_arm(2), q, g) < 1e-6);
    for (int j = 0; j < 6; j++) assert_true(isfinite(g[j]));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(servo), cmocka_unit_test(paths),
                                       cmocka_unit_test(manipulability)};
    return cmocka_run_group_tests(tests, NULL, end_arms);
}
