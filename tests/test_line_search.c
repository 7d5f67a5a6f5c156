// SPDX-License-Identifier: MIT
// The searches along a line, on functions whose answer is known: a slide whose end is drawn to a place is a
// parabola.
#include "solvers/line_search.h"
#include "support.h"

typedef struct line {
    sn_model *model;
    sn_problem *problem;
    sn_solver *solver;
} line;

// f(q) = 1/2 (q - x)^2 + 1/2 y^2
static void line_begin(line *l, double x, double y) {
    sn_builder *builder;
    sn_report report;
    const double q = 0;
    assert_int_equal(sn_builder_create("slide", NULL, &builder, NULL), SN_OK);
    sn_joint_desc d = sn_joint_default(SN_JOINT_SLIDER);
    d.name = "slide";
    d.axis[0] = 1, d.axis[1] = d.axis[2] = 0;
    (void)sn_builder_joint(builder, &d);
    assert_int_equal(sn_builder_finish(builder, &l->model, NULL), SN_OK);
    sn_builder_destroy(builder);
    sn_task task = sn_task_default(SN_TASK_POINT);
    task.goal[0] = x, task.goal[1] = y;
    assert_int_equal(sn_problem_create(l->model, &task, 1, NULL, &l->problem, NULL), SN_OK);
    sn_solver_options o = sn_solver_options_default();
    o.method = SN_METHOD_BFGS;
    assert_int_equal(sn_solver_create(l->problem, &o, NULL, &l->solver, NULL), SN_OK);
    assert_int_equal(sn_solver_begin(l->solver, &q, &report), SN_OK);
    (void)sn_solver_finished(l->solver);  // finds what may move
}

static void line_end(line *l) {
    sn_solver_destroy(l->solver);
    sn_problem_destroy(l->problem);
    sn_model_destroy(l->model);
}

// From far too short a first step the search goes on where the slopes point to, which for a parabola is the minimum:
// the second time at once, though the first time that was too far to go.
static void far_away(void **unused) {
    (void)unused;
    line l;
    sn_found found;
    const double u = 1, g = -20;
    line_begin(&l, 20, 0);
    assert_near(l.solver->f, 200, 1e-12);
    assert_near(l.solver->ws->g[0], g, 1e-12);
    int before = l.solver->report.gradients;
    assert_true(sn_line_search_wolfe(l.solver, &u, &g, 0.01, 1, 1e9, &found));
    assert_near(found.t, 20, 1e-10);
    assert_near(found.f, 0, 1e-10);
    assert_int_equal(l.solver->report.gradients - before, 3);
    line_end(&l);
}

// A first step that is too long: the minimum of the parabola is found in one more.
static void too_long(void **unused) {
    (void)unused;
    line l;
    sn_found found;
    const double u = 1, g = -1;
    line_begin(&l, 1, 3);
    assert_true(sn_line_search_wolfe(l.solver, &u, &g, 0.01, 2.7, 1e9, &found));
    assert_near(found.t, 1, 1e-10);
    line_end(&l);
}

// Where f is so large that few of its digits tell, the slopes do.
static void blind(void **unused) {
    (void)unused;
    line l;
    sn_found found;
    const double u = 1, g = -1e-4;
    line_begin(&l, 1e-4, 1000);
    int before = l.solver->report.gradients;
    assert_true(sn_line_search_wolfe(l.solver, &u, &g, 0.01, 3.1e-4, 1e9, &found));
    assert_near(found.t, 1e-4, 1e-8 * 1e-4);
    assert_int_equal(l.solver->report.gradients - before, 2);
    line_end(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(far_away),
        cmocka_unit_test(too_long),
        cmocka_unit_test(blind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
