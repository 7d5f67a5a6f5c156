// SPDX-License-Identifier: MIT
// The arm solver, on arms of its own making and held against the sweeps.
#include <stdatomic.h>

#include "arm/arm.h"
#include "arms_models.h"
#include "math/rotation.h"
#include "math/vec3.h"
#include "memory_sink.h"
#include "support.h"

static sn_arm *arm_of(const sn_model *model, const char *tip, const sn_arm_options *options) {
    sn_arm *arm;
    sn_error error = {0};
    if (sn_arm_create(model, tip, options, NULL, &arm, &error) != SN_OK) fail_msg("%s", error.text);
    return arm;
}

// Under sanitizers a seven-joint arm and a six-joint one are enough.
static int stride(void) { return sampled() ? 3 : 1; }

// The six arms, made once: their tables take a tenth of a second each.
static sn_model *models[ARMS_COUNT];
static sn_arm *arms[ARMS_COUNT];

static int make_arms(void **unused) {
    (void)unused;
    for (int a = 0; a < ARMS_COUNT; a++) {
        models[a] = arms_model(a);
        arms[a] = arm_of(models[a], "tool", NULL);
    }
    return 0;
}

static int end_arms(void **unused) {
    (void)unused;
    for (int a = 0; a < ARMS_COUNT; a++) {
        sn_arm_destroy(arms[a]);
        sn_model_destroy(models[a]);
    }
    return 0;
}

static void random_q(const sn_arm *arm, uint64_t *state, double *q) {
    for (int j = 0; j < sn_arm_n(arm); j++)
        q[j] = uniform(state, fmax(sn_arm_lower(arm)[j], -3.1), fmin(sn_arm_upper(arm)[j], 3.1));
}

// The tool by the sweeps, which share nothing with the arm.
static void tool_by_sweeps(const sn_model *model, const sn_arm *arm, const char *tip,
                           const double *q, double tool[7]) {
    sn_problem *problem;
    sn_workspace *ws;
    double *pose = malloc(((size_t)sn_model_nq(model) + 1) * sizeof *pose);
    assert_int_equal(sn_problem_create(model, NULL, 0, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
    sn_arm_to_pose(arm, q, pose);
    assert_int_equal(sn_workspace_pose(ws, pose), SN_OK);
    sn_frame f = sn_workspace_frame(ws, sn_model_find_joint(model, tip));
    sn_quat r = sn_quat_from_mat3(f.R);
    const double out[7] = {f.p.x, f.p.y, f.p.z, r.w, r.x, r.y, r.z};
    memcpy(tool, out, sizeof out);
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    free(pose);
}

static double apart(const double a[7], const double b[7]) {
    double place = 0, dot = 0;
    for (int i = 0; i < 3; i++) place += (a[i] - b[i]) * (a[i] - b[i]);
    for (int i = 3; i < 7; i++) dot += a[i] * b[i];
    return fmax(sqrt(place), 2 * sqrt(fmax(0, 2 - 2 * fabs(dot))));
}

static void assert_inside(const sn_arm *arm, const double *q) {
    for (int j = 0; j < sn_arm_n(arm); j++)
        if (!(q[j] >= sn_arm_lower(arm)[j] && q[j] <= sn_arm_upper(arm)[j]))
            fail_msg("%s = %.17g is outside [%.17g, %.17g]", sn_arm_name(arm, j), q[j],
                     sn_arm_lower(arm)[j], sn_arm_upper(arm)[j]);
}

// Every reachable goal of the six arms is reached, inside the limits, as the sweeps see it; limits too.
static void reached(void **unused) {
    (void)unused;
    for (int a = 0; a < ARMS_COUNT; a += stride()) {
        sn_model *model = models[a];
        sn_arm *arm = arms[a];
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

// One lane, four lanes, one thread, several: the same bits, with seeds and without, in reach and out of it.
static void same_bits(void **unused) {
    (void)unused;
    enum { COUNT = 120 };
    for (int a = 0; a < ARMS_COUNT; a += stride()) {
        sn_arm *arm = arms[a];
        static double goals[7 * COUNT], seeds[SN_ARM_MAX * COUNT], q[4][SN_ARM_MAX * COUNT];
        const size_t n = (size_t)sn_arm_n(arm);
        uint64_t state = 5;
        for (int k = 0; k < COUNT; k++) {
            double target[SN_ARM_MAX];
            random_q(arm, &state, target);
            random_q(arm, &state, seeds + n * (size_t)k);
            sn_arm_tool(arm, target, goals + 7 * k);
            if (k % 7 == 0) goals[7 * k] += 0.6;
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
        }
        // without the registers of AVX2 too
        const bool avx2 = arm->avx2;
        arm->avx2 = false;
        assert_int_equal(sn_arm_solve_many(arm, COUNT, goals, seeds, q[1], NULL), SN_OK);
        arm->avx2 = avx2;
        assert_memory_equal(q[0], q[1], n * COUNT * sizeof **q);
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
    for (int threads = 1; threads <= 2; threads++)
        for (int seeded = 0; seeded < 2; seeded++) {
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
    sn_arm *arm = arms[2];
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
        sn_model *model = models[a];
        sn_arm *arm = arms[a];
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

// From close by a six-joint arm, which has nothing left to slide along, ends as soon as it is there.
static void near_soon(void **unused) {
    (void)unused;
    int met = 0, tried = 0, most = 0;
    for (int a = 0; a < ARMS_COUNT; a++) {
        sn_arm *arm = arms[a];
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
    sn_arm_search_nearest(&s, inner, q);
    assert_inside(arm, q);
    sn_arm_tool(arm, q, tool);
    assert_near(tool[0], -3, 1e-9);
    assert_near(tool[1], 0, 1e-5);
    sn_arm_destroy(arm);
    sn_model_destroy(model);
}

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

// The gradient against differences of sixth order.
static void check_gradient(const sn_arm *arm, uint64_t *state, double *worst) {
    static const double weight[3] = {0.75, -0.15, 1.0 / 60};
    for (int k = 0; k < 20; k++) {
        double q[SN_ARM_MAX], g[SN_ARM_MAX];
        const double h = 2e-3;
        random_q(arm, state, q);
        if (sn_arm_manipulability(arm, q, g) < 1e-3) continue;
        for (int j = 0; j < sn_arm_n(arm); j++) {
            double x = q[j], slope = 0;
            for (int i = 0; i < 3; i++) {
                q[j] = x + (i + 1) * h;
                slope += weight[i] * sn_arm_manipulability(arm, q, NULL) / h;
                q[j] = x - (i + 1) * h;
                slope -= weight[i] * sn_arm_manipulability(arm, q, NULL) / h;
            }
            q[j] = x;
            *worst = fmax(*worst, fabs(slope - g[j]) / fmax(1, fabs(g[j])));
        }
    }
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

static double distance(const double *a, const double *b, int n) {
    double sum = 0;
    for (int j = 0; j < n; j++) sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sqrt(sum);
}

// From a start close by the solution is the nearest there is; from afar most often.
static void near_start(void **unused) {
    (void)unused;
    for (int a = 0; a < ARMS_COUNT; a += stride()) {
        sn_arm *arm = arms[a];
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
        assert_true(good[0] >= count - count / 20 && good[1] >= count / 2);
    }
}

// A tenth of a microsecond is no time: the answer comes all the same, inside the limits, and says so.
static void no_time(void **unused) {
    (void)unused;
    sn_arm *arm = arms[0];
    double goal[7] = {0.9, 0, 0.2, 0, 1, 0, 0}, q[SN_ARM_MAX];
    sn_arm_report report;
    arm->options.max_seconds = 1e-7;
    assert_int_equal(sn_arm_solve(arm, goal, NULL, q, &report), SN_OK);
    arm->options = sn_arm_options_default();
    assert_inside(arm, q);
    assert_true(!report.reached && report.why == SN_ARM_TIME && report.seeds < 20);
}

// Free axes, held joints, a tool, a rest posture.
static void freedom(void **unused) {
    (void)unused;
    sn_model *model = models[0];
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
    sn_arm *plain = arms[0];
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

// Ticks keep every limit, leave singular poses, arrive, and notice a goal that flees.
static void servo(void **unused) {
    (void)unused;
    for (int a = 0; a < ARMS_COUNT; a += stride()) {
        sn_arm *arm = arms[a];
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
    sn_arm *arm = arms[0];
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
    for (int a = 0; a < ARMS_COUNT; a += stride()) check_gradient(arms[a], &state, &worst);
    for (int kind = 0; kind < 4; kind++) {
        static const char *const held[] = {"joint1", "joint3", "joint5"};
        sn_arm_options o = sn_arm_options_default();
        o.tool_position[0] = 0.1;
        if (kind == 0) o.rotation = SN_ARM_ROTATION_AXIS, o.axis[1] = 0.7;
        if (kind == 1) o.rotation = SN_ARM_ROTATION_NONE, o.free_position[1] = true;
        if (kind == 2) o.free_position[2] = true;
        if (kind == 3) o.held = held, o.nheld = 3;  // fewer joints than rows
        sn_arm *arm = arm_of(models[5], "tool", &o);
        check_gradient(arm, &state, &worst);
        sn_arm_destroy(arm);
    }
    print_message("the gradient is off by %.1e at most\n", worst);
    assert_true(worst < 1e-9);
    // the UR5 stretched out is singular
    const double q[6] = {0, -1, 0, 0, 1, 0};
    double g[6];
    assert_true(sn_arm_manipulability(arms[2], q, g) < 1e-6);
    for (int j = 0; j < 6; j++) assert_true(isfinite(g[j]));
}

// Tables of goals: every kind of mistake is named with its line; what is written reads back inside the limits.
static void tables(void **unused) {
    (void)unused;
    static const struct {
        const char *text, *says;
        int line;
    } wrong[] = {{"", "nothing in it", 0},
                 {"0,0,0,1,0,0,0\n", "name the columns", 1},
                 {"x,y,z,qw,qx,qy,qz\n1,2,3\n", "4 of the seven", 2},
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

// Half a turn away, where the sine of the angle says nothing, is not there.
static void half_turn(void **unused) {
    (void)unused;
    for (int a = 0; a < ARMS_COUNT; a += stride()) {
        sn_arm *arm = arms[a];
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reached),    cmocka_unit_test(same_bits),
        cmocka_unit_test(half_turn),  cmocka_unit_test(all_solutions),
        cmocka_unit_test(nearest),    cmocka_unit_test(any_chain),
        cmocka_unit_test(mimic),      cmocka_unit_test(followers),
        cmocka_unit_test(near_start), cmocka_unit_test(no_time),
        cmocka_unit_test(freedom),    cmocka_unit_test(servo),
        cmocka_unit_test(paths),      cmocka_unit_test(manipulability),
        cmocka_unit_test(tables),     cmocka_unit_test(memory),
        cmocka_unit_test(stopped),    cmocka_unit_test(saddle),
        cmocka_unit_test(near_soon)};
    return cmocka_run_group_tests(tests, make_arms, end_arms);
}
