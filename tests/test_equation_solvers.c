// SPDX-License-Identifier: MIT
// The methods that solve an equation (pinv, qr, sdls) and newton-pcg: what every method promises on
// random problems, and arms and figures whose answers are known.
#include "figures.h"
#include "support.h"

static const sn_method methods[] = {SN_METHOD_PINV, SN_METHOD_QR, SN_METHOD_SDLS,
                                    SN_METHOD_NEWTON_PCG};
enum { METHODS = sizeof methods / sizeof methods[0] };

// Where the coordinates and velocities of a joint are; returns how many coordinates come before its
// quaternion, or all of them.
static int place_of(const sn_model *model, int j, int *q0, int *nq, int *v0) {
    bool last = j + 1 == sn_model_njoint(model);
    *q0 = sn_model_q_index(model, j);
    *v0 = sn_model_v_index(model, j);
    *nq = (last ? sn_model_nq(model) : sn_model_q_index(model, j + 1)) - *q0;
    int nv = (last ? sn_model_nv(model) : sn_model_v_index(model, j + 1)) - *v0;
    return *nq == nv ? nv : nv - 3;
}

// The bits of all coordinates whose velocity is locked, 0 elsewhere. Quaternions only as a whole:
// a rotation locked about one axis still turns about the others.
static void locked_bits(const sn_model *model, const double *q, double *out) {
    for (int j = 0; j < sn_model_njoint(model); j++) {
        int q0, nq, v0, plain = place_of(model, j, &q0, &nq, &v0);
        const double *gain = sn_model_gain(model) + v0;
        for (int i = 0; i < nq; i++) {
            bool locked = gain[i < plain ? i : plain] == 0;
            if (i >= plain) locked = locked && gain[plain + 1] == 0 && gain[plain + 2] == 0;
            out[q0 + i] = locked ? q[q0 + i] : 0;
        }
    }
}

// Where a solver starts from: quaternions of length 1, everything inside its limits.
static void start_of(const sn_model *model, const double *q, double *start) {
    memcpy(start, q, (size_t)sn_model_nq(model) * sizeof *q);
    sn_model_normalize(model, start);
    for (int j = 0; j < sn_model_njoint(model); j++) {
        int q0, nq, v0, plain = place_of(model, j, &q0, &nq, &v0);
        for (int i = 0; i < plain; i++) start[q0 + i] = q[q0 + i];
    }
    (void)sn_model_clamp(model, start);
}

static void inside_limits(const sn_model *model, const double *q) {
    int nq = sn_model_nq(model);
    double *copy = malloc((size_t)(nq + 1) * sizeof *copy);
    memcpy(copy, q, (size_t)nq * sizeof *copy);
    assert_int_equal(sn_model_clamp(model, copy), 0);
    free(copy);
}

// Solve from q; all that the public interface promises is checked.
static sn_report solve(const sn_problem *problem, const sn_solver_options *options, double *q) {
    const sn_model *model = sn_problem_model(problem);
    size_t bytes = (size_t)(sn_model_nq(model) + 1) * sizeof(double);
    double *start = calloc(1, bytes), *before = calloc(1, bytes), *after = calloc(1, bytes);
    double start_f, end_f;
    sn_report report;
    sn_solver *solver;
    test_allocator allocator;
    assert_true(start != NULL && before != NULL && after != NULL);
    test_allocator_begin(&allocator);
    assert_int_equal(sn_solver_create(problem, options, &allocator.base, &solver, NULL), SN_OK);
    start_of(model, q, start);
    sn_workspace *ws = sn_solver_workspace(solver);
    assert_int_equal(sn_workspace_eval(ws, start, 0, &start_f), SN_OK);
    locked_bits(model, start, before);

    allocator.trap = true;
    assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
    allocator.trap = false;

    assert_int_equal(sn_workspace_eval(ws, q, 0, &end_f), SN_OK);
    if (!(end_f <= start_f * (1 + 1e-12)))
        fail_msg("%s: f rose from %.17g to %.17g", sn_method_name(options->method), start_f, end_f);
    assert_true(fabs(report.f - end_f) <= 1e-9 * start_f + 1e-15);
    assert_true(isfinite(report.gradient) && report.iterations <= options->max_iterations + 1);
    inside_limits(model, q);
    locked_bits(model, q, after);
    assert_memory_equal(before, after, bytes);
    sn_solver_destroy(solver);
    assert_int_equal(allocator.live, 0);
    free(start);
    free(before);
    free(after);
    return report;
}

// f and the trace's f never rise, whatever the walk does.
typedef struct watch {
    double f;
    int count;
    const char *method;
    int number;  // of the case
    double first;
} watch;

static void watch_trace(void *user, const sn_trace *trace) {
    watch *w = user;
    if (w->count == 0) w->first = trace->f;
    // but for what is only rounding: 1e-20 of f is 1e-10 of an error
    if (!(isfinite(trace->f) && trace->f <= w->f * (1 + 1e-12) + 1e-20 * w->first))
        fail_msg("%s, case %d: f rises from %.17g to %.17g at iteration %d", w->method, w->number,
                 w->f, trace->f, trace->iteration);
    assert_true(trace->iteration > w->count);  // leaving a saddle is an iteration of its own
    w->count = trace->iteration;
    w->f = trace->f;
}

// An angle whose range lacks a little of a whole turn goes round, too: where it ends in the gap it is put
// back to the edge, and f may rise once.
static bool has_gap(const sn_model *model) {
    const double turn = 6.28318530717958648;
    for (int i = 0; i < sn_model_nv(model); i++) {
        double range = sn_model_upper(model)[i] - sn_model_lower(model)[i];
        if (range >= turn - 0.011 && range < turn) return true;
    }
    return false;
}

static void promises(void **unused) {
    (void)unused;
    uint64_t state = 31;
    int count = cases(400), stops[METHODS][SN_STOP_COUNT] = {{0}};
    for (int n = 0; n < count; n++) {
        int type = n % 3 == 0 ? n / 3 % SN_JOINT_TYPE_COUNT : -1;
        sn_model *model = random_model(&state, 1 + below(&state, 10), type);
        sn_problem *problem = random_problem(&state, model, 1 + below(&state, 5), -1);
        double *q = malloc((size_t)(sn_model_nq(model) + 1) * sizeof *q);
        for (int k = 0; k < METHODS; k++) {
            if (!sn_method_available(methods[k])) continue;
            sn_solver_options o = sn_solver_options_default();
            watch w = {INFINITY, 0, sn_method_name(methods[k]), n, 0};
            o.method = methods[k];
            o.max_iterations = n % 10 == 0 ? below(&state, 3) : 100;
            o.bandwidth = below(&state, 25);
            o.nearest_psd = below(&state, 2) == 0;
            o.trace = n % 4 == 0 || has_gap(model) ? NULL : watch_trace;
            o.trace_user = &w;
            sn_model_sample(model, &state, q);
            stops[k][solve(problem, &o, q).stop]++;
        }
        free(q);
        sn_problem_destroy(problem);
        sn_model_destroy(model);
    }
    for (int k = 0; k < METHODS; k++) {
        print_message("%-10s", sn_method_name(methods[k]));
        for (int i = 0; i < SN_STOP_COUNT; i++)
            if (stops[k][i] > 0) print_message("  %d %s", stops[k][i], sn_stop_text((sn_stop)i));
        print_message("\n");
    }
    // newton-pcg ends at something stationary nearly always
    const int *pcg = stops[METHODS - 1];
    assert_true(pcg[SN_STOP_GOAL] + pcg[SN_STOP_MINIMUM] > count * 7 / 10);
}

// Two links of length 1 in the plane; limits on the elbow when `limited`.
static sn_model *arm(bool limited) {
    sn_builder *b;
    sn_model *model;
    assert_int_equal(sn_builder_create("arm", NULL, &b, NULL), SN_OK);
    sn_joint_desc d = sn_joint_default(SN_JOINT_HINGE);
    d.name = "shoulder";
    assert_int_equal(sn_builder_joint(b, &d), 0);
    d.name = "elbow";
    d.parent = 0;
    d.position[0] = 1;
    if (limited) {
        d.lower[0] = 0;
        d.upper[0] = 0.5;
    }
    assert_int_equal(sn_builder_joint(b, &d), 1);
    assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
    sn_builder_destroy(b);
    return model;
}

static sn_report reach(const sn_model *model, sn_method method, double x, double y, double q[2]) {
    sn_problem *problem;
    sn_task t = sn_task_default(SN_TASK_POINT);
    t.joint = 1;
    t.local[0] = 1;
    t.goal[0] = x;
    t.goal[1] = y;
    assert_int_equal(sn_problem_create(model, &t, 1, NULL, &problem, NULL), SN_OK);
    sn_solver_options o = sn_solver_options_default();
    o.method = method;
    sn_report report = solve(problem, &o, q);
    sn_problem_destroy(problem);
    return report;
}

static void two_links(void **unused) {
    (void)unused;
    sn_model *model = arm(false), *limited = arm(true);
    for (int k = 0; k < METHODS; k++) {
        sn_method method = methods[k];
        if (!sn_method_available(method)) continue;
        bool newton = method == SN_METHOD_NEWTON_PCG;
        // inside, from a bent and from the singular straight pose
        double bent[2] = {0.3, 0.9}, straight[2] = {0, 0}, folded[2] = {0.1, 3.1};
        assert_true(reach(model, method, 0.5, 1.1, bent).f < 1e-16);
        assert_true(reach(model, method, 0.5, 1.1, straight).f < 1e-16);
        assert_true(reach(model, method, 0.5, 1.1, folded).f < 1e-16);
        // outside: the arm stretches out, f = (3 - 2)^2 / 2
        double out[2] = {0.4, 1};
        sn_report report = reach(model, method, 3, 0, out);
        print_message("%-10s outside: f - 1/2 = %.1e, elbow %.1e, %s\n", sn_method_name(method),
                      report.f - 0.5, out[1], sn_stop_text(report.stop));
        assert_true(report.f < 0.5 + (newton ? 1e-12 : 0.05));
        // straight, the goal on the line through it: no row of J sees it. Newton knows the saddle.
        double line[2] = {0, 0};
        report = reach(model, method, 1, 0, line);
        if (newton) {
            assert_true(report.f < 1e-16);
        } else {
            assert_int_equal(report.stop, SN_STOP_SADDLE);
            assert_true(line[0] == 0 && line[1] == 0);
        }
        // an elbow that may bend by half a radian at most
        double stiff[2] = {0, 0.1};
        report = reach(limited, method, 0.5, 1.1, stiff);
        assert_true(stiff[1] >= 0 && stiff[1] <= 0.5);
        if (newton) {
            double best = hypot(0.5, 1.1), length = 2 * cos(0.25);
            assert_near(report.f, 0.5 * (length - best) * (length - best), 1e-9);
            assert_true(stiff[1] == 0.5 && report.active == 1);
        }
    }
    sn_model_destroy(model);
    sn_model_destroy(limited);
}

// With as many equations as unknowns and nothing to cut, pinv and qr take the same steps.
static void same_steps(void **unused) {
    (void)unused;
    if (!sn_method_available(SN_METHOD_PINV)) skip();
    sn_model *model = arm(false);
    double p[2] = {0.3, 0.9}, r[2] = {0.3, 0.9};
    (void)reach(model, SN_METHOD_PINV, 0.2, 1.2, p);
    (void)reach(model, SN_METHOD_QR, 0.2, 1.2, r);
    assert_near(p[0], r[0], 1e-9);
    assert_near(p[1], r[1], 1e-9);
    sn_model_destroy(model);
}

static void watch_step(void *user, const sn_trace *trace) {
    double *longest = user;
    *longest = fmax(*longest, trace->step);
}

// Almost straight, where the pseudo-inverse would turn hundreds of times: sdls turns an eighth at
// the most, and sees little reason to.
static void held_back(void **unused) {
    (void)unused;
    if (!sn_method_available(SN_METHOD_SDLS)) skip();
    sn_model *model = arm(false);
    sn_problem *problem;
    sn_task t = sn_task_default(SN_TASK_POINT);
    t.joint = 1;
    t.local[0] = 1;
    t.goal[0] = 1;
    assert_int_equal(sn_problem_create(model, &t, 1, NULL, &problem, NULL), SN_OK);
    double q[2] = {0, 1e-3}, longest = 0;
    sn_solver_options o = sn_solver_options_default();
    o.method = SN_METHOD_SDLS;
    o.max_iterations = 1;
    o.trace = watch_step;
    o.trace_user = &longest;
    (void)solve(problem, &o, q);
    assert_true(longest > 0 && longest < 0.1);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
}

static void watch_curvature(void *user, const sn_trace *trace) {
    *(int *)user += trace->indefinite;
}

// 41 noisy markers on the humanoid: a relative gradient of 1e-8, whatever the preconditioner. The
// exact Hessian is indefinite on the way, the nearest positive semidefinite matrix never.
static void humanoid(void **unused) {
    (void)unused;
    static const int bandwidths[] = {0, 5, 24};
    sn_model *model = bench_model(1, 41, true);
    int nq = sn_model_nq(model);
    double *q = malloc((size_t)nq * sizeof *q);
    for (int psd = 0; psd < 2; psd++) {
        for (int b = 0; b < 3; b++) {
            int iterations = 0, indefinite = 0, count = cases(10);
            for (int n = 0; n < count; n++) {
                sn_problem *problem = bench_problem(model, (uint64_t)(n + 1));
                uint64_t state = (uint64_t)(n + 1);
                sn_model_sample(model, &state, q);
                for (int i = 0; i < nq; i++) q[i] += uniform(&state, -0.2, 0.2);
                sn_solver_options o = sn_solver_options_default();
                o.method = SN_METHOD_NEWTON_PCG;
                o.bandwidth = bandwidths[b];
                o.nearest_psd = psd;
                o.gradient = 1e-8;
                o.trace = watch_curvature;
                o.trace_user = &indefinite;
                sn_report report = solve(problem, &o, q);
                if (report.stop != SN_STOP_MINIMUM || !(report.gradient <= 1e-8))
                    fail_msg("bandwidth %d, problem %d: %s, gradient %.1e", bandwidths[b], n,
                             sn_stop_text(report.stop), report.gradient);
                iterations += report.iterations;
                sn_problem_destroy(problem);
            }
            print_message("bandwidth %2d%s: %.1f iterations, %d met negative curvature\n",
                          bandwidths[b], psd ? ", nearest psd" : "", (double)iterations / count,
                          indefinite);
            // the option needs LAPACK, as pinv does
            bool nearest = psd && sn_method_available(SN_METHOD_PINV);
            assert_true(nearest ? indefinite == 0 : indefinite > 0);
        }
    }
    free(q);
    sn_model_destroy(model);
}

// The same figure by the others: markers of a pose nearby are met within the noise.
static void humanoid_equations(void **unused) {
    (void)unused;
    sn_model *model = bench_model(1, 41, true);
    int nq = sn_model_nq(model);
    double *q = malloc((size_t)nq * sizeof *q);
    for (int k = 0; k < METHODS; k++) {
        double worst = 0;
        if (!sn_method_available(methods[k])) continue;
        for (uint64_t n = 1; n <= 5; n++) {
            sn_problem *problem = bench_problem(model, n);
            uint64_t state = n;
            sn_model_sample(model, &state, q);
            for (int i = 0; i < nq; i++) q[i] += uniform(&state, -0.2, 0.2);
            sn_solver_options o = sn_solver_options_default();
            o.method = methods[k];
            worst = fmax(worst, solve(problem, &o, q).mean_error);
            sn_problem_destroy(problem);
        }
        print_message("%-10s mean marker error at most %.4f m\n", sn_method_name(methods[k]),
                      worst);
        assert_true(worst < 0.02);
    }
    free(q);
    sn_model_destroy(model);
}

// Forty slides that all move one point, and a rest for each: a quadratic f inside limits, so that all that newton-pcg
// has to find is which limits hold.
typedef struct boxed {
    sn_model *model;
    sn_problem *problem;
    double q[40], weight[40];
} boxed;

static void boxed_begin(boxed *b, uint64_t *state) {
    sn_builder *builder;
    assert_int_equal(sn_builder_create("slides", NULL, &builder, NULL), SN_OK);
    for (int i = 0; i < 40; i++) {
        char name[8];
        sn_joint_desc d = sn_joint_default(SN_JOINT_SLIDER);
        (void)snprintf(name, sizeof name, "s%d", i);
        d.name = name;
        d.parent = i - 1;
        for (int c = 0; c < 3; c++) d.axis[c] = uniform(state, -1, 1);
        d.lower[0] = -uniform(state, 0, 0.05);
        d.upper[0] = uniform(state, 0, 0.05);
        (void)sn_builder_joint(builder, &d);
        b->q[i] = 0;
        b->weight[i] = pow(10, uniform(state, -4, 0));
    }
    assert_int_equal(sn_builder_finish(builder, &b->model, NULL), SN_OK);
    sn_builder_destroy(builder);
    sn_task tasks[2] = {sn_task_default(SN_TASK_POINT), sn_task_default(SN_TASK_REST)};
    tasks[0].joint = 39;
    for (int c = 0; c < 3; c++) tasks[0].goal[c] = uniform(state, -1, 1);
    tasks[1].q = b->q;
    tasks[1].q_weight = b->weight;
    assert_int_equal(sn_problem_create(b->model, tasks, 2, NULL, &b->problem, NULL), SN_OK);
}

static void boxed_steps(void **unused) {
    (void)unused;
    uint64_t state = 3;
    int most = 0, iterations = 0, rounds = 0;
    for (int n = 0; n < 50; n++) {
        boxed b;
        boxed_begin(&b, &state);
        for (int whole = 0; whole < 2; whole++) {
            sn_solver_options o = sn_solver_options_default();
            o.method = SN_METHOD_NEWTON_PCG;
            o.bandwidth = 0;
            o.max_iterations = whole ? 1000 : 1;
            double q[40] = {0};
            sn_solver *solver;
            sn_report report;
            assert_int_equal(sn_solver_create(b.problem, &o, NULL, &solver, NULL), SN_OK);
            assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
            if (whole) {
                assert_int_equal(report.stop, SN_STOP_MINIMUM);
                iterations += report.iterations;
                rounds += report.factorizations;
            } else if (report.factorizations > most) {
                most = report.factorizations;
            }
            sn_solver_destroy(solver);
        }
        sn_problem_destroy(b.problem);
        sn_model_destroy(b.model);
    }
    print_message("%d iterations, %d rounds, at most %d in the first\n", iterations, rounds, most);
    // Where all limits at once would spoil the step, those that are met first close alone; some problem then
    // needs every round that a step has, and none has more.
    assert_int_equal(most, 20);
    assert_true(iterations < 200);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(promises),    cmocka_unit_test(two_links),
        cmocka_unit_test(same_steps),  cmocka_unit_test(held_back),
        cmocka_unit_test(humanoid),    cmocka_unit_test(humanoid_equations),
        cmocka_unit_test(boxed_steps),
    };
    // newton-pcg needs nothing; without even that there is nothing to test
    if (!sn_method_available(SN_METHOD_NEWTON_PCG)) {
        print_message("skipped: no method of this file is in this build\n");
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
