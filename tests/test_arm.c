// SPDX-License-Identifier: MIT
// The arm solver, on arms of its own making and held against the sweeps.
#include <stdatomic.h>

#include "arms.h"

// Every reachable goal of the six arms is reached, inside the limits, as the sweeps see it; limits too.
static void reached(void **unused) {
    (void)unused;
    for (int a = 0; a < ARMS_COUNT; a += stride()) {
        sn_model *model = the_model(a);
        sn_arm *arm = the_arm(a);
        uint64_t state = 11 + (uint64_t)a;
        for (int k = 0; k < cases(100); k++) {
            double q[SN_ARM_MAX], goal[7], there[7], out[SN_ARM_MAX], seed[SN_ARM_MAX];
            random_q(arm, &state, q);
            random_q(arm, &state, seed);
            for (int j = 0; j < sn_arm_n(arm) && k % 2 == 1; j++)
                if (below(&state, 8) == 0 && sn_arm_lower(arm)[j] > -3.1)
                    q[j] = sn_arm_lower(arm)[j];
            tool_by_sweeps(model, arm, "tool", q, goal);
            sn_arm_tool(arm, q, there);
            assert_true(apart(goal, there) < 1e-7);
            sn_arm_report report;
            const double *given = k % 4 < 2 ? NULL : seed;
            assert_int_equal(sn_arm_solve(arm, goal, given, out, &report), SN_OK);
            assert_true(report.reached && report.why == SN_ARM_REACHED);
            assert_inside(arm, out);
            tool_by_sweeps(model, arm, "tool", out, there);
            assert_true(apart(goal, there) < 2.1e-6);
        }
    }
}

// One lane, four lanes, one thread, several, with the widest registers and with the least: the same bits, with seeds and
// without, in reach, out of it and a hair out of it.
static void same_bits(void **unused) {
    (void)unused;
    enum { COUNT = 120 };
    for (int a = 0; a < ARMS_COUNT; a += stride()) {
        sn_arm *arm = the_arm(a);
        static double goals[7 * COUNT], seeds[SN_ARM_MAX * COUNT], q[4][SN_ARM_MAX * COUNT];
        const size_t n = (size_t)sn_arm_n(arm);
        uint64_t state = 5;
        for (int k = 0; k < COUNT; k++) {
            double target[SN_ARM_MAX];
            random_q(arm, &state, target);
            random_q(arm, &state, seeds + n * (size_t)k);
            sn_arm_tool(arm, target, goals + 7 * k);
            if (k % 7 == 0) goals[7 * k] += 0.6;
            if (k % 7 != 1) continue;
            // 0.1 mm beyond where the one before ends
            assert_int_equal(sn_arm_solve(arm, goals + 7 * (k - 1), NULL, target, NULL), SN_OK);
            sn_arm_tool(arm, target, goals + 7 * k);
            goals[7 * k] += 1e-4;
        }
        for (int seeded = 0; seeded < 2; seeded++) {
            for (int way = 0; way < 4; way++) {
                arm->options.lanes = way % 2 == 0 ? 4 : 1;
                arm->options.threads = way < 2 ? 1 : 3;
                const double *from = seeded ? seeds : NULL;
                if (way < 3)
                    assert_int_equal(sn_arm_solve_many(arm, COUNT, goals, from, q[way], NULL),
                                     SN_OK);
                for (int k = 0; k < COUNT && way == 3; k++)
                    assert_int_equal(sn_arm_solve(arm, goals + 7 * k,
                                                  seeded ? seeds + n * (size_t)k : NULL,
                                                  q[way] + n * (size_t)k, NULL),
                                     SN_OK);
            }
            arm->options = sn_arm_options_default();
            for (int way = 1; way < 4; way++)
                assert_memory_equal(q[0], q[way], n * COUNT * sizeof **q);
            // without the registers of AVX-512, and without those of AVX2
            const bool wide = arm->wide, avx2 = arm->avx2;
            for (int less = 0; less < 2; less++) {
                arm->wide = false;
                arm->avx2 = avx2 && less == 0;
                assert_int_equal(
                    sn_arm_solve_many(arm, COUNT, goals, seeded ? seeds : NULL, q[1], NULL), SN_OK);
                assert_memory_equal(q[0], q[1], n * COUNT * sizeof **q);
            }
            arm->wide = wide;
            arm->avx2 = avx2;
        }
    }
}

// true from the question with this number on
static bool ask(void *user) {
    atomic_int *left = user;
    return atomic_fetch_sub(left, 1) <= 0;
}

// Many goals stop when they are asked to, with seeds and without; until then they are as always.
static void stopped(void **unused) {
    (void)unused;
    enum { COUNT = 300 };
    sn_model *model = arms_model(2);
    for (int threads = sampled() ? 2 : 1; threads <= 2; threads++)
        for (int seeded = sampled() ? 1 : 0; seeded < 2; seeded++) {
            static double goals[7 * COUNT], seeds[6 * COUNT], q[2][6 * COUNT];
            atomic_int left = 1 << 30;
            sn_arm_options o = sn_arm_options_default();
            o.threads = threads;
            o.cancel = (sn_cancel){ask, &left};
            sn_arm *arm = arm_of(model, "tool", &o);
            uint64_t state = 9;
            for (int k = 0; k < COUNT; k++) {
                random_q(arm, &state, seeds + 6 * k);
                sn_arm_tool(arm, seeds + 6 * k, goals + 7 * k);
            }
            const double *given = seeded ? seeds : NULL;
            assert_int_equal(sn_arm_solve_many(arm, COUNT, goals, given, q[0], NULL), SN_OK);
            left = 40;
            memset(q[1], 0, sizeof q[1]);
            assert_int_equal(sn_arm_solve_many(arm, COUNT, goals, given, q[1], NULL),
                             SN_ERR_CANCELLED);
            int done = 0;
            for (int k = 0; k < COUNT; k++) {
                bool empty = true;
                for (int j = 0; j < 6; j++) empty = empty && q[1][6 * k + j] == 0;
                if (empty) continue;
                done++;
                assert_memory_equal(q[0] + 6 * k, q[1] + 6 * k, 6 * sizeof(double));
            }
            assert_true(done > 20 && done <= 40);
            // asked at once: nothing begins
            left = 0;
            assert_int_equal(sn_arm_solve_many(arm, COUNT, goals, given, q[1], NULL),
                             SN_ERR_CANCELLED);
            sn_arm_destroy(arm);
        }
    sn_model_destroy(model);
}

// A wrist with the six joints of a 6R arm has up to eight solutions: different, sorted, all of them there.
static void all_solutions(void **unused) {
    (void)unused;
    sn_arm *arm = the_arm(2);
    uint64_t state = 3;
    int most = 0;
    for (int k = 0; k < 40; k++) {
        double target[6], goal[7], seed[6], q[6 * 64], there[7], before = -1;
        int count;
        random_q(arm, &state, target);
        random_q(arm, &state, seed);
        sn_arm_tool(arm, target, goal);
        assert_int_equal(sn_arm_solve_all(arm, goal, seed, 64, q, &count), SN_OK);
        assert_true(count > 0 && count <= 16);
        bool own = false;
        for (int i = 0; i < count; i++) {
            double far = 0, off = 0;
            for (int j = 0; j < 6; j++) {
                far += (q[6 * i + j] - seed[j]) * (q[6 * i + j] - seed[j]);
                off = fmax(off, fabs(remainder(q[6 * i + j] - target[j], 2 * 3.141592653589793)));
            }
            own = own || off < 1e-4;
            assert_true(far >= before);
            before = far;
            sn_arm_tool(arm, q + 6 * i, there);
            assert_true(apart(goal, there) < 2.1e-6);
            for (int h = 0; h < i; h++) {
                double d = 0;
                for (int j = 0; j < 6; j++)
                    d = fmax(d,
                             fabs(remainder(q[6 * i + j] - q[6 * h + j], 2 * 3.141592653589793)));
                assert_true(d > 1e-3);
            }
        }
        assert_true(own);  // that the goal was made from
        if (count > most) most = count;
    }
    assert_int_equal(most, 8);
}

// A goal out of reach: nothing nearby is nearer by the exact-Hessian solver, limits included.
static void nearest(void **unused) {
    (void)unused;
    double worst = 0;
    int better = 0;
    for (int a = 0; a < ARMS_COUNT; a += stride()) {
        sn_model *model = the_model(a);
        sn_arm *arm = the_arm(a);
        uint64_t state = 9;
        for (int k = 0; k < (sampled() ? 2 : 12); k++) {
            double q[SN_ARM_MAX], goal[7], out[SN_ARM_MAX], pose[SN_ARM_MAX];
            random_q(arm, &state, q);
            sn_arm_tool(arm, q, goal);
            for (int i = 0; i < 3; i++) goal[i] *= 2.5;
            sn_arm_report report;
            assert_int_equal(sn_arm_solve(arm, goal, NULL, out, &report), SN_OK);
            assert_inside(arm, out);
            if (report.reached) continue;
            assert_true(report.why != SN_ARM_REACHED);
            // f = |place|^2 + (unit / 2)^2 |turn|^2; the fetch's unit is 2 m
            sn_task task = sn_task_default(SN_TASK_POSE);
            task.joint = sn_model_find_joint(model, "tool");
            memcpy(task.goal, goal, sizeof task.goal);
            memcpy(task.rotation, goal + 3, sizeof task.rotation);
            const double radian = 0.25 * arm->chain.unit * arm->chain.unit;
            task.rotation_weight = radian;
            sn_problem *problem;
            sn_solver *solver;
            sn_report solved;
            sn_solver_options o = sn_solver_options_default();
            o.method = SN_METHOD_NEWTON;
            assert_int_equal(sn_problem_create(model, &task, 1, NULL, &problem, NULL), SN_OK);
            assert_int_equal(sn_solver_create(problem, &o, NULL, &solver, NULL), SN_OK);
            sn_arm_to_pose(arm, out, pose);
            assert_int_equal(sn_solver_solve(solver, pose, &solved), SN_OK);
            double f = 0.5 * (report.position_error * report.position_error +
                              radian * report.rotation_error * report.rotation_error);
            double gain = (f - solved.f) / f;
            worst = fmax(worst, gain);
            better += gain > 1e-6;
            sn_solver_destroy(solver);
            sn_problem_destroy(problem);
        }
    }
    print_message("the solver gets nearer by %.1e of f at most, %d times\n", worst, better);
    assert_true(worst < 1e-6);
}

static double distance(const double *a, const double *b, int n) {
    double sum = 0;
    for (int j = 0; j < n; j++) sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sqrt(sum);
}

// From close by a six-joint arm, which has nothing left to slide along, ends as soon as it is there.
static void near_soon(void **unused) {
    (void)unused;
    int met = 0, tried = 0, most = 0;
    for (int a = 0; a < ARMS_COUNT; a++) {
        sn_arm *arm = the_arm(a);
        uint64_t state = 55;
        for (int k = 0; sn_arm_n(arm) == 6 && k < 10; k++) {
            double q[SN_ARM_MAX], goal[7], start[SN_ARM_MAX], out[SN_ARM_MAX];
            sn_arm_search s = {0};
            random_q(arm, &state, q);
            sn_arm_tool(arm, q, goal);
            assert_true(sn_arm_search_begin(&s, arm, goal));
            for (int j = 0; j < 6; j++)
                start[j] = fmin(fmax(q[j] + uniform(&state, -0.01, 0.01), sn_arm_lower(arm)[j]),
                                sn_arm_upper(arm)[j]);
            tried++;
            if (!sn_arm_search_near(&s, start, start, 60, out)) continue;
            met++;
            most = s.iterations > most ? s.iterations : most;
        }
    }
    print_message("near: %d of %d met, in %d iterations at most\n", met, tried, most);
    assert_true(tried > 0 && met >= 0.8 * tried && most <= 20);
}

// Stretched away from a goal out of reach nothing pulls sideways, but f bends down: it turns round.
static void saddle(void **unused) {
    (void)unused;
    sn_builder *b;
    sn_model *model;
    assert_int_equal(sn_builder_create("stretched", NULL, &b, NULL), SN_OK);
    for (int i = 0; i < 4; i++) {
        sn_joint_desc d = sn_joint_default(i < 3 ? SN_JOINT_HINGE : SN_JOINT_FIXED);
        char name[8];
        (void)snprintf(name, sizeof name, "j%d", i);
        d.name = name;
        d.parent = i - 1;
        d.position[0] = i > 0;
        if (i < 3) d.axis[0] = d.axis[1] = 0, d.axis[2] = 1;
        if (i < 3) d.lower[0] = -4, d.upper[0] = 4;
        (void)sn_builder_joint(b, &d);
    }
    assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
    sn_builder_destroy(b);
    sn_arm_options o = sn_arm_options_default();
    o.rotation = SN_ARM_ROTATION_NONE;
    sn_arm *arm = arm_of(model, "j3", &o);
    const double goal[7] = {-10, 0, 0, 1}, away[SN_ARM_MAX] = {0};
    double inner[SN_ARM_MAX], q[SN_ARM_MAX], tool[7];
    sn_arm_search s = {0};
    assert_true(sn_arm_search_begin(&s, arm, goal));
    sn_arm_tool(arm, away, tool);
    assert_near(tool[0], 3, 1e-12);
    sn_arm_chain_inward(&arm->chain, away, inner);
    sn_arm_search_nearest(&s, inner, SN_ARM_NEAREST_STEPS, q);
    assert_inside(arm, q);
    sn_arm_tool(arm, q, tool);
    assert_near(tool[0], -3, 1e-9);
    assert_near(tool[1], 0, 1e-5);
    sn_arm_destroy(arm);
    sn_model_destroy(model);
}

// From a start close by the solution is the nearest there is; from afar nine times of ten at least.
static void near_start(void **unused) {
    (void)unused;
    for (int a = 0; a < ARMS_COUNT; a += stride()) {
        sn_arm *arm = the_arm(a);
        const int n = sn_arm_n(arm);
        uint64_t state = 12;
        int good[2] = {0, 0}, count = cases(40);
        for (int k = 0; k < 2 * count; k++) {
            double q[SN_ARM_MAX], start[SN_ARM_MAX], goal[7], out[SN_ARM_MAX], all[SN_ARM_MAX * 64];
            int found;
            random_q(arm, &state, q);
            random_q(arm, &state, start);
            for (int j = 0; j < n && k % 2 == 0; j++)
                start[j] = fmin(fmax(q[j] + uniform(&state, -0.15, 0.15), sn_arm_lower(arm)[j]),
                                sn_arm_upper(arm)[j]);
            sn_arm_tool(arm, q, goal);
            sn_arm_report report;
            assert_int_equal(sn_arm_solve(arm, goal, start, out, &report), SN_OK);
            assert_true(report.reached);
            assert_near(report.distance, distance(out, start, n), 1e-12);
            double least = fmin(report.distance, distance(q, start, n));
            assert_int_equal(sn_arm_solve_all(arm, goal, start, 64, all, &found), SN_OK);
            assert_true(found > 0);
            for (int i = 0; i < found; i++) least = fmin(least, distance(all + n * i, start, n));
            good[k % 2] += report.distance <= 1.1 * least + 1e-3;
        }
        print_message("%s: nearest from close by %d of %d, from afar %d\n", arms_name(a), good[0],
                      count, good[1]);
        assert_true(good[0] >= count - count / 20 && good[1] >= count - count / 10);
    }
}

// A tenth of a microsecond is no time: the answer comes all the same, inside the limits, and says so.
static void no_time(void **unused) {
    (void)unused;
    sn_arm *arm = the_arm(0);
    double goal[7] = {0.9, 0, 0.2, 0, 1, 0, 0}, q[SN_ARM_MAX];
    sn_arm_report report;
    arm->options.max_seconds = 1e-7;
    assert_int_equal(sn_arm_solve(arm, goal, NULL, q, &report), SN_OK);
    arm->options = sn_arm_options_default();
    assert_inside(arm, q);
    assert_true(!report.reached && report.why == SN_ARM_TIME && report.seeds < 20);
}

// Half a turn away, where the sine of the angle says nothing, is not there.
static void half_turn(void **unused) {
    (void)unused;
    for (int a = 0; a < ARMS_COUNT; a += stride()) {
        sn_arm *arm = the_arm(a);
        double q[SN_ARM_MAX], out[SN_ARM_MAX], goal[7], there[7];
        for (int j = 0; j < sn_arm_n(arm); j++)
            q[j] = fmin(fmax(0.4, sn_arm_lower(arm)[j]), sn_arm_upper(arm)[j]);
        sn_arm_tool(arm, q, goal);
        for (int axis = 0; axis < 3; axis++) {
            sn_quat spin = {0, axis == 0, axis == 1, axis == 2};
            sn_quat r = sn_quat_mul((sn_quat){goal[3], goal[4], goal[5], goal[6]}, spin);
            const double turned[7] = {goal[0], goal[1], goal[2], r.w, r.x, r.y, r.z};
            sn_arm_report report;
            assert_int_equal(sn_arm_solve(arm, turned, q, out, &report), SN_OK);
            sn_arm_tool(arm, out, there);
            assert_true(report.reached == (apart(turned, there) < 2.1e-6));
        }
    }
}

// Where reach ends, of each arm: the nearest pose to goals far off; from there on by a hair, 0.01 to 5 mm.
static bool hair_beyond(sn_arm *arm, uint64_t *state, double goal[7]) {
    double q[SN_ARM_MAX], far[7], size = 0, way = 0;
    sn_arm_report report;
    random_q(arm, state, q);
    sn_arm_tool(arm, q, far);
    for (int i = 0; i < 3; i++) size += far[i] * far[i];
    const double more = 1 + uniform(state, 0, 2) + 0.5 / sqrt(size);
    for (int i = 0; i < 3; i++) far[i] *= more;
    assert_int_equal(sn_arm_solve(arm, far, NULL, q, &report), SN_OK);
    if (report.reached) return false;
    sn_arm_tool(arm, q, goal);
    const double hair = 1e-5 * pow(500, uniform(state, 0, 1));
    for (int i = 0; i < 3; i++) way += (far[i] - goal[i]) * (far[i] - goal[i]);
    for (int i = 0; i < 3; i++) goal[i] += hair / sqrt(way) * (far[i] - goal[i]);
    return true;
}

static double left_at(const sn_arm *arm, const sn_arm_report *r) {
    const double place = r->position_error / arm->chain.unit;
    return place * place + 0.25 * r->rotation_error * r->rotation_error;
}

// A goal a hair beyond the reach is told from one that is hard to reach in few steps, the bits the same
// with all registers, the pose as near as other starts get.
static void hair(void **unused) {
    (void)unused;
    for (int a = 0; a < ARMS_COUNT; a += stride()) {
        sn_arm *arm = the_arm(a);
        uint64_t state = 31;
        int beyond = 0, nearest_of = 0, most = 0;
        for (int k = 0; k < cases(40); k++) {
            double goal[7], q[SN_ARM_MAX], other[SN_ARM_MAX], inner[SN_ARM_MAX];
            sn_arm_report report, plain;
            if (!hair_beyond(arm, &state, goal)) continue;
            assert_int_equal(sn_arm_solve(arm, goal, NULL, q, &report), SN_OK);
            assert_inside(arm, q);
            const bool avx2 = arm->avx2, wide = arm->wide;
            for (int less = 0; less < 2; less++) {
                arm->wide = false;
                arm->avx2 = avx2 && less == 0;
                assert_int_equal(sn_arm_solve(arm, goal, NULL, other, &plain), SN_OK);
                assert_memory_equal(q, other, (size_t)sn_arm_n(arm) * sizeof *q);
            }
            arm->avx2 = avx2, arm->wide = wide;
            if (report.reached) continue;
            beyond++;
            most = report.iterations > most ? report.iterations : most;
            double least = left_at(arm, &report);
            const double own = least;
            for (int i = 0; i < 8; i++) {
                sn_arm_search s;
                assert_true(sn_arm_search_begin(&s, arm, goal));
                random_q(arm, &state, other);
                sn_arm_chain_inward(&arm->chain, other, inner);
                sn_arm_search_nearest(&s, inner, SN_ARM_NEAREST_STEPS, other);
                sn_arm_search_report(&s, NULL, other, false, &plain);
                least = fmin(least, left_at(arm, &plain));
            }
            nearest_of += own <= 1.02 * least;
        }
        print_message("%s: %d a hair beyond, %d steps at most, %d not bettered\n", arms_name(a),
                      beyond, most, nearest_of);
        assert_true(beyond > 0 && most <= 200 && 20 * nearest_of >= 19 * beyond);
    }
}

// Poses of a Panda whose goals few starts lead to: all but stretched, or folded into corners of the limits.
static void hard(void **unused) {
    (void)unused;
    static const double poses[][7] = {
        {2.756519, 1.736400, 0.179963, -2.871421, -2.755010, 3.751948, 2.020684},
        {0.180400, 1.572343, -1.138491, -2.743245, 2.791838, 3.601088, 2.415120},
        {-2.880214, 1.724242, -2.536610, -2.886096, 2.356892, 3.684704, 2.746951},
        {1.212616, -1.748903, -0.039162, -0.490821, -0.052977, 3.194489, 2.440210},
        {-0.305579, -1.460064, -2.455851, -2.929504, -1.869943, 3.583313, 2.135305},
        {-2.466413, 1.719120, 0.835076, -3.024660, 2.548731, 2.954261, 2.564070},
        {-0.014354, 1.748335, -0.019290, -2.771647, 2.639120, 3.653506, 2.786771},
        {-0.155043, 1.545935, 2.867775, -0.443745, -0.029696, 2.999404, 0.287990},
        {1.148449, 1.380680, -0.275339, -3.061100, -2.688237, 3.648907, 2.699480},
        {-2.262681, 1.623410, -2.374144, -3.024335, 2.719588, 3.727965, 2.527170},
        {-0.463758, 1.749169, 0.729149, -3.063288, 2.816153, 2.901910, 1.972365},
        {1.903859, -1.623879, -0.062409, -0.452325, 0.107058, 2.880453, -1.163407},
        {0.147266, -1.732535, 2.578019, -3.003054, 2.332214, 3.643439, -2.816957},
        {-0.242347, -1.632086, -2.675063, -2.855861, -2.026359, 3.712841, 1.903772},
        {-2.017070, 1.755745, -0.082040, -2.788595, 2.756743, 3.587555, 2.010919},
        {-2.649931, 1.760168, -0.177245, -2.930558, 2.760871, 3.739267, -0.829010}};
    int lost = 0;
    for (size_t k = 0; k < sizeof poses / sizeof poses[0]; k++) {
        double goal[7], q[SN_ARM_MAX];
        sn_arm_report report;
        sn_arm_tool(the_arm(0), poses[k], goal);
        assert_int_equal(sn_arm_solve(the_arm(0), goal, NULL, q, &report), SN_OK);
        assert_inside(the_arm(0), q);
        lost += !report.reached;
    }
    assert_int_equal(lost, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reached),       cmocka_unit_test(same_bits), cmocka_unit_test(half_turn),
        cmocka_unit_test(all_solutions), cmocka_unit_test(nearest),   cmocka_unit_test(near_start),
        cmocka_unit_test(no_time),       cmocka_unit_test(stopped),   cmocka_unit_test(saddle),
        cmocka_unit_test(near_soon),     cmocka_unit_test(hair),      cmocka_unit_test(hard)};
    return cmocka_run_group_tests(tests, NULL, end_arms);
}
