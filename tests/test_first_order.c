// SPDX-License-Identifier: MIT
// The methods that use gradients alone: bfgs, lbfgs, ncg, projected-gradient, jacobian-transpose,
// and ccd. What every solve keeps to, on random problems; known minima; agreement with lm.
#include "support.h"

static const sn_method methods[] = {SN_METHOD_BFGS,
                                    SN_METHOD_LBFGS,
                                    SN_METHOD_NCG,
                                    SN_METHOD_PROJECTED_GRADIENT,
                                    SN_METHOD_JACOBIAN_TRANSPOSE,
                                    SN_METHOD_CCD};
enum { METHODS = sizeof methods / sizeof methods[0] };

static void need_methods(void) {
    for (int i = 0; i < METHODS; i++)
        if (!sn_method_available(methods[i])) {
            print_message("skipped: %s is not in this build\n", sn_method_name(methods[i]));
            skip();
        }
}

static sn_solver_options options_of(sn_method method, int iterations) {
    sn_solver_options o = sn_solver_options_default();
    o.method = method;
    o.max_iterations = iterations;
    return o;
}

static sn_report solve(const sn_problem *problem, sn_solver_options o, double *q) {
    sn_solver *solver;
    sn_report report;
    assert_int_equal(sn_solver_create(problem, &o, NULL, &solver, NULL), SN_OK);
    assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
    sn_solver_destroy(solver);
    return report;
}

static double *pose_new(const sn_model *model) {
    double *q = calloc((size_t)sn_model_nq(model) + 1, sizeof *q);
    assert_non_null(q);
    return q;
}

static double value_at(const sn_problem *problem, const double *q) {
    sn_workspace *ws;
    double f;
    assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
    assert_int_equal(sn_workspace_eval(ws, q, 0, &f), SN_OK);
    sn_workspace_destroy(ws);
    return f;
}

// Limits hold exactly, and what is locked kept its bits. `start` is normalised and clamped.
static void check_pose(const sn_model *model, const double *start, const double *q) {
    const double *lower = sn_model_lower(model), *upper = sn_model_upper(model);
    const double *gain = sn_model_gain(model);
    for (int k = 0; k < sn_model_njoint(model); k++) {
        const sn_joint_desc *d = sn_model_joint(model, k);
        int q0 = sn_model_q_index(model, k), v0 = sn_model_v_index(model, k);
        int next =
            k + 1 < sn_model_njoint(model) ? sn_model_v_index(model, k + 1) : sn_model_nv(model);
        int quaternion = d->type == SN_JOINT_BALL ? 0 : d->type == SN_JOINT_FREE ? 3 : -1;
        int plain = quaternion >= 0 ? quaternion : next - v0;
        for (int i = 0; i < plain; i++) {
            assert_true(q[q0 + i] >= lower[v0 + i] && q[q0 + i] <= upper[v0 + i]);
            if (gain[v0 + i] == 0) assert_memory_equal(q + q0 + i, start + q0 + i, sizeof *q);
        }
        if (quaternion < 0) continue;
        const double *turn = gain + v0 + quaternion;
        if (turn[0] == 0 && turn[1] == 0 && turn[2] == 0)
            assert_memory_equal(q + q0 + quaternion, start + q0 + quaternion, 4 * sizeof *q);
    }
}

typedef struct watch {
    double f;
    int count;
} watch;

static void watch_trace(void *user, const sn_trace *trace) {
    watch *w = user;
    assert_int_equal(trace->iteration, w->count + 1);
    assert_true(isfinite(trace->f) && isfinite(trace->step) && isfinite(trace->damping));
    // but for steps in the last digits, f only falls
    assert_true(trace->f <= w->f + 1e-13 * fabs(w->f) || w->count == 0);
    w->f = trace->f;
    w->count++;
}

static void check_random(sn_method method, uint64_t *state, int variant) {
    sn_model *model =
        random_model(state, 1 + below(state, 12), variant % 3 == 0 ? variant % 12 : -1);
    sn_problem *problem = random_problem(state, model, 1 + below(state, 6), -1);
    size_t bytes = (size_t)sn_model_nq(model) * sizeof(double);
    double *start = pose_new(model), *q = pose_new(model), *again = pose_new(model);
    sn_model_sample(model, state, start);
    memcpy(q, start, bytes);
    memcpy(again, start, bytes);
    (void)sn_model_clamp(model, start);
    double f = value_at(problem, start);

    watch w = {0};
    sn_solver_options o = options_of(method, 40);
    o.trace = watch_trace;
    o.trace_user = &w;
    if (variant % 2 == 0) o.step = 0;  // Buss's
    if (variant % 4 == 1) o.memory = 1;
    if (variant % 7 == 0) o.step = 1;  // too long: it diverges
    test_allocator allocator;
    test_allocator_begin(&allocator);
    sn_solver *solver;
    sn_report report, report2;
    assert_int_equal(sn_solver_create(problem, &o, &allocator.base, &solver, NULL), SN_OK);
    allocator.trap = true;
    assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
    w = (watch){0};
    assert_int_equal(sn_solver_solve(solver, again, &report2), SN_OK);
    allocator.trap = false;
    sn_solver_destroy(solver);
    assert_int_equal(allocator.live, 0);

    assert_memory_equal(q, again, bytes);
    assert_true(report.f == report2.f && report.stop == report2.stop);
    assert_int_equal(w.count, report2.iterations);
    assert_true(isfinite(report.f) && isfinite(report.gradient));
    if (report.f > f + 1e-14 * (1 + f))
        fail_msg("%s: %.17g is worse than the start's %.17g", sn_method_name(method), report.f, f);
    assert_near(value_at(problem, q), report.f, 1e-12);
    check_pose(model, start, q);

    free(start);
    free(q);
    free(again);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
}

static void invariants(void **unused) {
    (void)unused;
    need_methods();
    int count = cases(150);
    for (int m = 0; m < METHODS; m++) {
        uint64_t state = 41;
        for (int i = 0; i < count; i++) check_random(methods[m], &state, i);
    }
}

static sn_model *build(const sn_joint_desc *joints, int count) {
    sn_builder *builder;
    sn_model *model;
    sn_error error = {0};
    assert_int_equal(sn_builder_create("small", NULL, &builder, NULL), SN_OK);
    for (int i = 0; i < count; i++) assert_int_equal(sn_builder_joint(builder, &joints[i]), i);
    if (sn_builder_finish(builder, &model, &error) != SN_OK) fail_msg("%s", error.text);
    sn_builder_destroy(builder);
    return model;
}

static sn_problem *one_point(const sn_model *model, int joint, const double local[3],
                             const double goal[3]) {
    sn_task task = sn_task_default(SN_TASK_POINT);
    sn_problem *problem;
    task.joint = joint;
    memcpy(task.local, local, sizeof task.local);
    memcpy(task.goal, goal, sizeof task.goal);
    assert_int_equal(sn_problem_create(model, &task, 1, NULL, &problem, NULL), SN_OK);
    return problem;
}

// A point carried by three translations: f = |x - goal|^2 / 2, with and without a limit in between.
static void quadratic(void **unused) {
    (void)unused;
    need_methods();
    const double origin[3] = {0, 0, 0}, goal[3] = {0.3, -0.7, 1.2};
    for (int limited = 0; limited < 2; limited++) {
        sn_joint_desc d = sn_joint_default(SN_JOINT_TRANSLATION);
        d.name = "move";
        if (limited) d.upper[2] = 0.5;
        sn_model *model = build(&d, 1);
        sn_problem *problem = one_point(model, 0, origin, goal);
        for (int m = 0; m < METHODS; m++) {
            double q[3] = {0, 0, 0};
            sn_solver_options o = options_of(methods[m], 20000);
            // f stands still in its last digit long before the short step has come to 1e-9
            if (methods[m] == SN_METHOD_JACOBIAN_TRANSPOSE) o.gradient = 1e-6, o.goal = 1e-24;
            sn_report r = solve(problem, o, q);
            if (r.stop != (limited ? SN_STOP_MINIMUM : SN_STOP_GOAL))
                fail_msg("%s: %s", sn_method_name(methods[m]), sn_stop_text(r.stop));
            for (int i = 0; i < 3; i++) assert_near(q[i], limited && i == 2 ? 0.5 : goal[i], 1e-6);
            if (limited) assert_true(q[2] == 0.5 && r.active == 1);
            if (methods[m] != SN_METHOD_JACOBIAN_TRANSPOSE) assert_true(r.iterations <= 3);
            // every step was the best so far: nothing to go back to and look at again
            if (methods[m] == SN_METHOD_JACOBIAN_TRANSPOSE && !limited)
                assert_int_equal(r.gradients + r.hessians, r.iterations + 1);
        }
        sn_problem_destroy(problem);
        sn_model_destroy(model);
    }
}

// Two links of length 1 in the plane: a reachable goal, then one out of reach at distance 3, where
// the arm is straight and f = 1/2.
static void two_links(void **unused) {
    (void)unused;
    need_methods();
    sn_joint_desc d[2] = {sn_joint_default(SN_JOINT_HINGE), sn_joint_default(SN_JOINT_HINGE)};
    d[0].name = "shoulder";
    d[1].name = "elbow";
    d[1].parent = 0;
    d[1].position[0] = 1;
    for (int i = 0; i < 2; i++) memcpy(d[i].axis, (double[3]){0, 0, 1}, sizeof d[i].axis);
    sn_model *model = build(d, 2);
    const double tip[3] = {1, 0, 0}, goals[2][3] = {{0.5, 1.1, 0}, {1.8, 2.4, 0}};
    for (int g = 0; g < 2; g++) {
        sn_problem *problem = one_point(model, 1, tip, goals[g]);
        for (int m = 0; m < METHODS; m++) {
            bool slow = methods[m] == SN_METHOD_JACOBIAN_TRANSPOSE;
            for (int buss = 0; buss <= slow; buss++) {
                double q[2] = {0.4, 0.6};
                sn_solver_options o = options_of(methods[m], 20000);
                o.gradient = 1e-7;
                if (buss) o.step = 0;
                sn_report r = solve(problem, o, q);
                print_message("%-18s goal %d: f %.3g gradient %.1g after %d, %s\n",
                              sn_method_name(methods[m]), g, r.f, r.gradient, r.iterations,
                              sn_stop_text(r.stop));
                assert_true(r.f <= (g == 0 ? 1e-9 : 0.5 + 1e-9));
                // Buss's step need not converge at a residual that stays
                if (g == 1 && !buss) assert_true(r.gradient <= 1e-6);
            }
        }
        sn_problem_destroy(problem);
    }
    sn_model_destroy(model);
}

// A hinge whose best angle lies outside its limits: the nearer end on the circle, exactly.
static void hinge_limits(void **unused) {
    (void)unused;
    need_methods();
    const double tip[3] = {1, 0, 0}, pi = 3.14159265358979323846;
    for (int n = 0; n < 24; n++) {
        double angle = (n - 12) * pi / 12 + 0.05, goal[3] = {2 * cos(angle), 2 * sin(angle), 0.3};
        sn_joint_desc d = sn_joint_default(SN_JOINT_HINGE);
        d.name = "hinge";
        memcpy(d.axis, (double[3]){0, 0, 1}, sizeof d.axis);
        d.lower[0] = -0.5;
        d.upper[0] = 1.25;
        sn_model *model = build(&d, 1);
        sn_problem *problem = one_point(model, 0, tip, goal);
        double q = 0.3, best = angle >= -0.5 && angle <= 1.25 ? angle : 0;
        if (best == 0)
            best = fabs(remainder(angle + 0.5, 2 * pi)) < fabs(remainder(angle - 1.25, 2 * pi))
                       ? -0.5
                       : 1.25;
        sn_report r = solve(problem, options_of(SN_METHOD_CCD, 1), &q);
        assert_int_equal(r.iterations, 1);
        if (best == -0.5 || best == 1.25) {
            assert_true(q == best);
        } else {
            assert_near(q, best, 1e-14);
        }
        // the others go downhill from 0.3, here to the same end
        for (int m = 0; m < METHODS && fabs(angle - 0.3) < 2; m++) {
            q = 0.3;
            (void)solve(problem, options_of(methods[m], 5000), &q);
            assert_near(q, best, methods[m] == SN_METHOD_JACOBIAN_TRANSPOSE ? 1e-5 : 1e-7);
        }
        sn_problem_destroy(problem);
        sn_model_destroy(model);
    }
}

// Markers of a nearby pose, a centimetre off: the minimum that hybrid finds.
static void humanoid(void **unused) {
    (void)unused;
    need_methods();
    sn_model *model;
    sn_problem *problem;
    sn_workspace *ws;
    assert_int_equal(sn_model_humanoid(NULL, &model, NULL), SN_OK);
    assert_int_equal(sn_problem_create_markers(model, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
    int nv = sn_model_nv(model);
    double *truth = pose_new(model), *start = pose_new(model), *q = pose_new(model),
           delta[64] = {0};
    uint64_t state = 5;
    assert_true(nv <= 64);
    sn_model_zero(model, start);
    for (int i = 0; i < nv; i++) delta[i] = uniform(&state, -0.2, 0.2);
    sn_model_integrate(model, start, delta, truth);
    (void)sn_model_clamp(model, truth);
    assert_int_equal(sn_workspace_pose(ws, truth), SN_OK);
    for (int i = 0; i < sn_problem_ntask(problem); i++) {
        const sn_marker_desc *marker = sn_model_marker(model, i);
        sn_vec3 p = sn_workspace_point(ws, marker->joint, marker->position);
        const double goal[3] = {p.x + uniform(&state, -0.01, 0.01),
                                p.y + uniform(&state, -0.01, 0.01),
                                p.z + uniform(&state, -0.01, 0.01)};
        assert_int_equal(sn_problem_set_goal(problem, i, goal), SN_OK);
    }
    double first = value_at(problem, start);
    memcpy(q, start, (size_t)sn_model_nq(model) * sizeof *q);
    double least = solve(problem, options_of(SN_METHOD_HYBRID, 500), q).f;
    for (int m = 0; m < METHODS; m++) {
        // one direction of a figure is hardly seen by its markers: too long a way for plain
        // gradients
        bool jt = methods[m] == SN_METHOD_JACOBIAN_TRANSPOSE;
        bool slow = m >= 3;
        memcpy(q, start, (size_t)sn_model_nq(model) * sizeof *q);
        sn_solver_options o = options_of(methods[m], slow ? 2000 : 5000);
        o.gradient = 1e-6;
        if (jt) o.step = 0.02;
        sn_report r = solve(problem, o, q);
        print_message(
            "%-18s f %.3g to %.3g + %.1g, gradient %.1g, %d iterations, %d + %d evaluations, %s\n",
            sn_method_name(methods[m]), first, least, r.f - least, r.gradient, r.iterations,
            r.functions, r.gradients, sn_stop_text(r.stop));
        if (!slow) assert_true(r.gradient <= 1e-6);
        assert_true(r.f <= least * (slow ? 2 : 1 + 1e-6));
    }
    free(truth);
    free(start);
    free(q);
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
}

// A ball that may turn about some axes only can still reach any rotation by turning them in turn,
// as one parks a car sideways: where it ends depends on the way. No method's answer is the answer.
static bool is_parked(const sn_model *model) {
    const double *gain = sn_model_gain(model);
    for (int k = 0; k < sn_model_njoint(model); k++) {
        const sn_joint_desc *d = sn_model_joint(model, k);
        if (d->type != SN_JOINT_BALL && d->type != SN_JOINT_FREE) continue;
        const double *turn = gain + sn_model_v_index(model, k) + (d->type == SN_JOINT_FREE ? 3 : 0);
        int locked = (turn[0] == 0) + (turn[1] == 0) + (turn[2] == 0);
        if (locked == 1) return true;
    }
    return false;
}

// Random problems with a rest pose, so that the minimum is a point, from a start near it: the same
// minimum as lm finds.
static void same_as_lm(void **unused) {
    (void)unused;
    need_methods();
    int count = cases(200), same[METHODS] = {0}, settled[METHODS] = {0};
    double worst[METHODS] = {0};
    uint64_t state = 17;
    for (int n = 0; n < count; n++) {
        sn_model *model = random_model(&state, 2 + below(&state, 10), -1);
        if (is_parked(model)) {
            sn_model_destroy(model);
            n--;
            continue;
        }
        double *start = pose_new(model), *q = pose_new(model), *rest;
        size_t bytes = (size_t)sn_model_nq(model) * sizeof *q;
        sn_model_sample(model, &state, start);
        sn_task tasks[6];
        for (int i = 0; i < 5; i++) {
            double *none;
            tasks[i] = random_task(&state, model, SN_TASK_POINT,
                                   below(&state, sn_model_njoint(model)), &none);
            tasks[i].has_matrix = false;
        }
        tasks[5] = random_task(&state, model, SN_TASK_REST, 0, &rest);
        tasks[5].q = start;
        tasks[5].q_weight = NULL;
        tasks[5].weight = 1;
        sn_problem *problem;
        assert_int_equal(sn_problem_create(model, tasks, 6, NULL, &problem, NULL), SN_OK);
        free(rest);
        memcpy(q, start, bytes);
        double f = solve(problem, options_of(SN_METHOD_LM, 500), q).f;
        for (int m = 0; m < METHODS; m++) {
            memcpy(q, start, bytes);
            sn_report r = solve(problem, options_of(methods[m], 2000), q);
            double off = fabs(r.f - f) / (f + 1e-12);
            same[m] += off < 1e-9;
            settled[m] += r.gradient <= 1e-6 || r.stop == SN_STOP_GOAL;
            if (off < 1e-3) worst[m] = fmax(worst[m], off);
        }
        free(start);
        free(q);
        sn_problem_destroy(problem);
        sn_model_destroy(model);
    }
    for (int m = 0; m < METHODS; m++)
        print_message("%-18s same minimum as lm in %d of %d, worst of them %.1e; settled %d\n",
                      sn_method_name(methods[m]), same[m], count, worst[m], settled[m]);
    for (int m = 0; m < METHODS; m++) {
        if (methods[m] == SN_METHOD_JACOBIAN_TRANSPOSE) continue;
        bool plain = methods[m] == SN_METHOD_PROJECTED_GRADIENT;
        assert_true(settled[m] >= count * (plain ? 90 : 99) / 100 - 1);
        assert_true(same[m] >= count * 85 / 100 - 3);  // few cases scatter
    }
}

// 002's test with every constant it allows; a bad one is refused.
static void armijo_constants(void **unused) {
    (void)unused;
    need_methods();
    uint64_t state = 23;
    for (int n = 0; n < cases(50); n++) {
        sn_model *model = random_model(&state, 4, -1);
        sn_problem *problem = random_problem(&state, model, 3, SN_TASK_POINT);
        double *q = pose_new(model);
        sn_model_sample(model, &state, q);
        sn_solver_options o = options_of(SN_METHOD_PROJECTED_GRADIENT, 100);
        o.beta = uniform(&state, 0.05, 0.95);
        o.alpha = o.beta * uniform(&state, 1e-6, 0.9);
        sn_report r = solve(problem, o, q);
        assert_true(isfinite(r.f));
        o.beta = 1;
        sn_solver *solver;
        assert_int_equal(sn_solver_create(problem, &o, NULL, &solver, NULL), SN_ERR_ARGUMENT);
        free(q);
        sn_problem_destroy(problem);
        sn_model_destroy(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(invariants),       cmocka_unit_test(quadratic),
        cmocka_unit_test(two_links),        cmocka_unit_test(hinge_limits),
        cmocka_unit_test(humanoid),         cmocka_unit_test(same_as_lm),
        cmocka_unit_test(armijo_constants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
