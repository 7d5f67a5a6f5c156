// SPDX-License-Identifier: MIT
// A time budget, by a clock of our own: every look at it takes a millisecond, so that nothing depends
// on the machine. The solver looks once when it starts and once an iteration.
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "support.h"

static long looks;

// in place of the C library's: the clock on the wall is set forward by an hour at every look, which
// must not matter
int timespec_get(struct timespec *ts, int base) {
    static time_t hours;
    *ts = (struct timespec){.tv_sec = 3600 * ++hours};
    return base;
}

int clock_gettime(clockid_t clock, struct timespec *ts) {
    if (clock != CLOCK_MONOTONIC) return timespec_get(ts, TIME_UTC) == TIME_UTC ? 0 : -1;
    looks++;
    *ts = (struct timespec){.tv_sec = 1000 + looks / 1000, .tv_nsec = looks % 1000 * 1000000};
    return 0;
}

typedef struct watch {
    double least;  // f of the best iteration
} watch;

static void remember(void *user, const sn_trace *trace) {
    watch *w = user;
    w->least = fmin(w->least, trace->f);
}

// The built-in figure with its markers' goals thrown about: nothing converges in a few iterations.
static sn_problem *far_goals(const sn_model *model) {
    sn_problem *problem;
    uint64_t state = 11;
    assert_int_equal(sn_problem_create_markers(model, NULL, &problem, NULL), SN_OK);
    for (int i = 0; i < sn_problem_ntask(problem); i++) {
        double goal[3];
        for (int k = 0; k < 3; k++) goal[k] = uniform(&state, -1, 1);
        assert_int_equal(sn_problem_set_goal(problem, i, goal), SN_OK);
    }
    return problem;
}

static void budget(void **unused) {
    (void)unused;
    sn_model *model;
    int cut = 0;
    assert_int_equal(sn_model_humanoid(NULL, &model, NULL), SN_OK);
    sn_problem *problem = far_goals(model);
    for (int m = 0; m < SN_METHOD_COUNT; m++) {
        for (int cold = 0; cold < 2; cold++) {
            if (!sn_method_available((sn_method)m)) continue;
            sn_solver_options o = sn_solver_options_default();
            sn_solver *solver;
            sn_report report;
            double q[64], f0, f;
            watch w = {INFINITY};
            o.method = (sn_method)m;
            o.goal = o.gradient = 0;
            o.seconds = 0.0055;
            o.trace = remember;
            o.trace_user = &w;
            sn_model_zero(model, q);
            assert_int_equal(sn_solver_create(problem, &o, NULL, &solver, NULL), SN_OK);
            assert_int_equal(sn_workspace_eval(sn_solver_workspace(solver), q, 0, &f0), SN_OK);
            looks = 0;
            assert_int_equal(cold ? sn_solver_solve_cold(solver, q, &report)
                                  : sn_solver_solve(solver, q, &report),
                             SN_OK);
            // stopped at the first look past 5.5 ms, the one after five iterations, whatever the
            // method; one that walks looks once more when it is back at its best pose
            if (looks > 8 || (report.stop == SN_STOP_TIME && report.iterations != 5))
                fail_msg("%s: %ld looks, %d iterations", sn_method_name(o.method), looks,
                         report.iterations);
            cut += report.stop == SN_STOP_TIME;
            // the best pose so far
            assert_int_equal(sn_workspace_eval(sn_solver_workspace(solver), q, 0, &f), SN_OK);
            assert_near(report.f, f, 1e-12);
            assert_true(f <= f0);
            assert_true(f <= w.least * (1 + 1e-12));
            sn_solver_destroy(solver);
        }
    }
    print_message("%d of %d solves were cut by the clock\n", cut, 2 * SN_METHOD_COUNT);
    assert_true(cut >= SN_METHOD_COUNT);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
}

// Later too: while a cold solve looks for other valleys, the best one is there.
static void budget_of_a_search(void **unused) {
    (void)unused;
    sn_model *model;
    assert_int_equal(sn_model_humanoid(NULL, &model, NULL), SN_OK);
    sn_problem *problem = far_goals(model);
    double last = INFINITY;
    for (int budget_ms = 0; budget_ms < 1500; budget_ms += 100) {
        sn_solver_options o = sn_solver_options_default();
        sn_solver *solver;
        sn_report report;
        double q[64], f;
        o.seconds = 1e-3 * budget_ms + 5e-4;
        sn_model_zero(model, q);
        assert_int_equal(sn_solver_create(problem, &o, NULL, &solver, NULL), SN_OK);
        looks = 0;
        assert_int_equal(sn_solver_solve_cold(solver, q, &report), SN_OK);
        assert_true(looks <= budget_ms + 2);
        assert_int_equal(sn_workspace_eval(sn_solver_workspace(solver), q, 0, &f), SN_OK);
        assert_near(report.f, f, 1e-12);
        assert_true(f <= last);  // more time is never worse
        last = f;
        sn_solver_destroy(solver);
    }
    sn_problem_destroy(problem);
    sn_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(budget),
        cmocka_unit_test(budget_of_a_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
