// SPDX-License-Identifier: MIT
// Solvers: problems with known answers, and what must hold for every method on any problem.
#include "solvers/solver.h"
#include "support.h"

// Two unit links in the plane, hinges about z.
static sn_model *two_links(void) {
    sn_builder *b;
    sn_model *model;
    assert_int_equal(sn_builder_create("arm", NULL, &b, NULL), SN_OK);
    for (int i = 0; i < 2; i++) {
        sn_joint_desc d = sn_joint_default(SN_JOINT_HINGE);
        d.name = i == 0 ? "shoulder" : "elbow";
        d.parent = i - 1;
        d.position[0] = i;
        assert_int_equal(sn_builder_joint(b, &d), i);
    }
    assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
    sn_builder_destroy(b);
    return model;
}

static sn_problem *point_problem(const sn_model *model, int joint, double x, double y,
                                 double weight) {
    sn_task t = sn_task_default(SN_TASK_POINT);
    sn_problem *problem;
    t.joint = joint;
    t.local[0] = 1;
    t.goal[0] = x;
    t.goal[1] = y;
    t.weight = weight;
    assert_int_equal(sn_problem_create(model, &t, 1, NULL, &problem, NULL), SN_OK);
    return problem;
}

static sn_report solve(const sn_problem *problem, sn_method method, double *q) {
    sn_solver_options o = sn_solver_options_default();
    sn_solver *solver;
    sn_report report;
    o.method = method;
    assert_int_equal(sn_solver_create(problem, &o, NULL, &solver, NULL), SN_OK);
    assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
    sn_solver_destroy(solver);
    return report;
}

static const sn_method second_order[] = {SN_METHOD_HYBRID, SN_METHOD_NEWTON};

// 001's Appendix A: goals inside, on the edge of, and outside the workspace.
static void two_link_arm(void **unused) {
    (void)unused;
    sn_model *model = two_links();
    for (int m = 0; m < 2; m++) {
        sn_problem *inside = point_problem(model, 1, 0.7, 0.9, 1);
        double q[2] = {0.3, 0.4};
        sn_report r = solve(inside, second_order[m], q);
        assert_int_equal(r.stop, SN_STOP_GOAL);
        sn_problem_destroy(inside);

        sn_problem *edge = point_problem(model, 1, 2 * cos(0.5), 2 * sin(0.5), 1);
        q[0] = 0.1, q[1] = 0.8;
        r = solve(edge, second_order[m], q);
        assert_true(r.f < 1e-16);
        assert_near(q[0], 0.5, 1e-3);
        sn_problem_destroy(edge);

        // outside: stretched towards it, 1 short; and it stays there
        sn_problem *outside = point_problem(model, 1, 3 * cos(-2), 3 * sin(-2), 1);
        q[0] = 1, q[1] = 1;
        r = solve(outside, second_order[m], q);
        assert_int_equal(r.stop, SN_STOP_MINIMUM);
        assert_near(r.f, 0.5, 1e-12);
        assert_near(cos(q[0]), cos(-2), 1e-8);
        assert_near(cos(q[1]), 1, 1e-12);
        double again[2] = {q[0], q[1]};
        (void)solve(outside, second_order[m], again);
        assert_near(again[0], q[0], 1e-9);
        assert_near(again[1], q[1], 1e-9);
        sn_problem_destroy(outside);
    }
    sn_model_destroy(model);
}

// Started where the gradient vanishes: straight, the goal on the line. A saddle, to be left.
static void collinear_saddle(void **unused) {
    (void)unused;
    sn_model *model = two_links();
    static const double goals[] = {1, 0.3, -0.5, -1.5};
    for (int m = 0; m < 2; m++) {
        for (int i = 0; i < 4; i++) {
            sn_problem *problem = point_problem(model, 1, goals[i], 0, 1);
            double q[2] = {0, 0};
            sn_report r = solve(problem, second_order[m], q);
            if (r.stop != SN_STOP_GOAL)
                fail_msg("goal %g: %s, f %g", goals[i], sn_stop_text(r.stop), r.f);
            sn_problem_destroy(problem);
        }
    }
    // a first-order method sits there, and must say that it is no minimum
    sn_problem *problem = point_problem(model, 1, 1, 0, 1);
    double q[2] = {0, 0};
    sn_report r = solve(problem, SN_METHOD_LM, q);
    assert_int_equal(r.stop, SN_STOP_SADDLE);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
}

// The same where even the Jacobian vanishes: a point at the far side of its circle from a plane. No
// minimum, though to first order no task sees the hinge.
static void far_side(void **unused) {
    (void)unused;
    sn_builder *b;
    sn_model *model;
    sn_problem *problem;
    sn_joint_desc root = sn_joint_default(SN_JOINT_FIXED), d = sn_joint_default(SN_JOINT_HINGE);
    root.name = "root";
    d.name = "wheel";
    d.parent = 0;
    d.position[0] = 5;  // far from the root, so that the rounding of its column counts
    assert_int_equal(sn_builder_create("wheel", NULL, &b, NULL), SN_OK);
    (void)sn_builder_joint(b, &root);
    (void)sn_builder_joint(b, &d);
    assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
    sn_builder_destroy(b);
    sn_task t = sn_task_default(SN_TASK_PLANE);
    t.joint = 1;
    t.local[0] = 1;
    t.goal[0] = 7;
    t.normal[0] = 1;
    t.normal[1] = t.normal[2] = 0;
    assert_int_equal(sn_problem_create(model, &t, 1, NULL, &problem, NULL), SN_OK);
    for (int m = 0; m < 2; m++) {
        double q = 3.141592653589793;
        sn_report r = solve(problem, second_order[m], &q);
        assert_int_equal(r.stop, SN_STOP_MINIMUM);
        assert_near(r.f, 0.5, 1e-12);
        assert_near(cos(q), 1, 1e-12);
        assert_true(fabs(q) < 10);  // and not many times round
    }
    double q = 3.141592653589793;
    assert_int_equal(solve(problem, SN_METHOD_LM, &q).stop, SN_STOP_SADDLE);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
}

// Two goals for one point: the weighted mean.
static void contradicting_goals(void **unused) {
    (void)unused;
    sn_builder *b;
    sn_model *model;
    sn_joint_desc d = sn_joint_default(SN_JOINT_FREE);
    d.name = "body";
    assert_int_equal(sn_builder_create("body", NULL, &b, NULL), SN_OK);
    (void)sn_builder_joint(b, &d);
    assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
    sn_builder_destroy(b);
    sn_task t[2] = {sn_task_default(SN_TASK_POINT), sn_task_default(SN_TASK_POINT)};
    t[0].goal[0] = 1;
    t[1].goal[0] = 4;
    t[1].weight = 3;
    sn_problem *problem;
    assert_int_equal(sn_problem_create(model, t, 2, NULL, &problem, NULL), SN_OK);
    double q[7] = {0, 1, 2, 1, 0, 0, 0};
    sn_report r = solve(problem, SN_METHOD_HYBRID, q);
    assert_int_equal(r.stop, SN_STOP_MINIMUM);
    assert_near(q[0], 3.25, 1e-8);
    assert_near(r.f, 0.5 * (2.25 * 2.25 + 3 * 0.75 * 0.75), 1e-12);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
}

// "Goal met" means the same whatever the unit of length and the weights: lengths times 1e-12 or 1e12,
// weights 1e-100 or 1e40, and the same pose comes out, met in as many iterations or so.
static void goal_in_any_unit(void **unused) {
    (void)unused;
    static const double lengths[] = {1, 1e-12, 1e12, 1, 1}, weights[] = {1, 1, 1, 1e-100, 1e40};
    for (int i = 0; i < 5; i++) {
        double L = lengths[i];
        sn_builder *b;
        sn_model *model;
        assert_int_equal(sn_builder_create("arm", NULL, &b, NULL), SN_OK);
        for (int k = 0; k < 2; k++) {
            sn_joint_desc d = sn_joint_default(SN_JOINT_HINGE);
            d.name = k == 0 ? "shoulder" : "elbow";
            d.parent = k - 1;
            d.position[0] = k * L;
            assert_int_equal(sn_builder_joint(b, &d), k);
        }
        assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
        sn_builder_destroy(b);
        sn_task t = sn_task_default(SN_TASK_POINT);
        sn_problem *problem;
        t.joint = 1;
        t.local[0] = L;
        t.goal[0] = 0.7 * L;
        t.goal[1] = 0.9 * L;
        t.weight = weights[i];
        assert_int_equal(sn_problem_create(model, &t, 1, NULL, &problem, NULL), SN_OK);
        for (int m = 0; m < SN_METHOD_COUNT; m++) {
            if (m != SN_METHOD_HYBRID && m != SN_METHOD_NEWTON && m != SN_METHOD_LM &&
                m != SN_METHOD_NEWTON_PCG)
                continue;
            double q[2] = {0.3, 0.4};
            sn_report r = solve(problem, (sn_method)m, q);
            if (r.stop != SN_STOP_GOAL || r.iterations < 2 || !(r.worst_error < 1e-11 * L))
                fail_msg("length %g, weight %g, %s: %s after %d, error %g", L, weights[i],
                         sn_method_name((sn_method)m), sn_stop_text(r.stop), r.iterations,
                         r.worst_error);
        }
        sn_problem_destroy(problem);
        sn_model_destroy(model);
    }
}

// A start that is no pose is called so.
static void bad_start(void **unused) {
    (void)unused;
    sn_model *model = two_links();
    sn_problem *problem = point_problem(model, 1, 0.7, 0.9, 1);
    sn_solver *solver;
    sn_report report;
    double q[2] = {0.3, NAN};
    assert_int_equal(sn_solver_create(problem, NULL, NULL, &solver, NULL), SN_OK);
    assert_int_equal(sn_solver_solve(solver, q, &report), SN_ERR_VALUE);
    assert_int_equal(report.stop, SN_STOP_BAD_START);
    assert_string_equal(sn_stop_text(report.stop), "bad numbers in the start pose");
    assert_int_equal(sn_solver_solve_cold(solver, q, &report), SN_ERR_VALUE);
    assert_int_equal(report.stop, SN_STOP_BAD_START);
    sn_solver_destroy(solver);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
}

static void bad_goals(void **unused) {
    (void)unused;
    sn_model *model = two_links();
    sn_task t = sn_task_default(SN_TASK_POINT);
    sn_problem *problem;
    sn_error error;
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        t.goal[1] = bad[i];
        assert_int_equal(sn_problem_create(model, &t, 1, NULL, &problem, &error), SN_ERR_TASK);
        assert_non_null(strstr(error.text, "task 0 (point on \"shoulder\")"));
    }
    sn_model_destroy(model);
}

typedef struct watch {
    int count;
    double gradient[400];
} watch;

static void remember(void *user, const sn_trace *trace) {
    watch *w = user;
    if (w->count < 400) w->gradient[w->count++] = trace->gradient;
}

// Near a minimum with a residual the exact method squares the gradient, Gauss-Newton does not.
static void quadratic_tail(void **unused) {
    (void)unused;
    sn_model *model;
    sn_problem *problem;
    sn_workspace *ws;
    uint64_t state = 5;
    assert_int_equal(sn_model_humanoid(NULL, &model, NULL), SN_OK);
    assert_int_equal(sn_problem_create_markers(model, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
    double q[64];
    sn_model_zero(model, q);
    for (int i = 7; i < sn_model_nq(model); i++) q[i] = uniform(&state, -0.02, 0.02);
    assert_int_equal(sn_workspace_pose(ws, q), SN_OK);
    for (int i = 0; i < sn_problem_ntask(problem); i++) {
        const sn_task *t = sn_problem_task(problem, i);
        sn_vec3 x = sn_workspace_point(ws, t->joint, t->local);
        double goal[3] = {x.x, x.y, x.z};
        for (int c = 0; c < 3; c++) goal[c] += uniform(&state, -0.05, 0.05);
        assert_int_equal(sn_problem_set_goal(problem, i, goal), SN_OK);
    }
    for (int i = 7; i < sn_model_nq(model); i++) q[i] += uniform(&state, -0.1, 0.1);
    watch w = {0};
    sn_solver_options o = sn_solver_options_default();
    sn_solver *solver;
    sn_report report;
    o.goal = 0;
    o.gradient = 1e-11;
    o.trace = remember;
    o.trace_user = &w;
    assert_int_equal(sn_solver_create(problem, &o, NULL, &solver, NULL), SN_OK);
    assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
    assert_int_equal(report.stop, SN_STOP_MINIMUM);
    double last = report.gradient, before = w.gradient[w.count - 1],
           third = w.gradient[w.count - 2];
    print_message("the last three gradients: %.1e %.1e %.1e\n", third, before, last);
    assert_true(before < 0.1 * third);
    // the order of convergence, whatever its constant; the damping, which falls with the gradient, is in that
    assert_true(last < 1e-13 || log(last / before) < 1.7 * log(before / third));
    sn_solver_destroy(solver);
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
}

static bool at_once(void *unused) {
    (void)unused;
    return true;
}

// Time, cancelling, iteration limit: true reasons, and the best pose is there.
static void cut_short(void **unused) {
    (void)unused;
    sn_model *model = two_links();
    sn_problem *problem = point_problem(model, 1, 0.7, 0.9, 1);
    for (int i = 0; i < 3; i++) {
        sn_solver_options o = sn_solver_options_default();
        sn_solver *solver;
        sn_report report;
        double q[2] = {0.3, 0.4}, f;
        if (i == 0) o.max_iterations = 1;
        if (i == 1) o.cancel = (sn_cancel){at_once, NULL};
        if (i == 2) o.seconds = 1e-12;
        assert_int_equal(sn_solver_create(problem, &o, NULL, &solver, NULL), SN_OK);
        assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
        static const sn_stop expected[] = {SN_STOP_ITERATIONS, SN_STOP_CANCELLED, SN_STOP_TIME};
        assert_int_equal(report.stop, expected[i]);
        assert_int_equal(report.iterations, i == 0);
        assert_int_equal(sn_workspace_eval(sn_solver_workspace(solver), q, 0, &f), SN_OK);
        assert_true(f == report.f);
        sn_solver_destroy(solver);
    }
    sn_problem_destroy(problem);
    sn_model_destroy(model);
}

static bool inside(const sn_model *model, const double *q) {
    double *copy = malloc((size_t)(sn_model_nq(model) + 1) * sizeof *copy);
    memcpy(copy, q, (size_t)sn_model_nq(model) * sizeof *copy);
    bool good = sn_model_clamp(model, copy) == 0;
    free(copy);
    return good;
}

// The reason to stop, looked at again in another workspace at the pose: the relative projected gradient
// (by the solver's scales, the largest of the poses it met) and the definiteness of the exact Hessian of
// what may move.
typedef struct second_look {
    double gradient;
    bool definite;    // with a millionth added to the diagonal, and what the gradient leaves open
    bool indefinite;  // also with a ten-thousandth of that
} second_look;

static second_look look_again(sn_workspace *ws, const sn_solver *solver, const double *q) {
    const sn_model *model = ws->model;
    int nv = sn_model_nv(model);
    const double *scale = solver->scale;
    double f, top = 0, left = 0, *d = malloc((size_t)(nv + 1) * sizeof *d);
    double *seen = malloc((size_t)(nv + 1) * sizeof *seen);
    bool *keep = malloc((size_t)(nv + 1));
    second_look look = {0};
    assert_int_equal(sn_workspace_eval(ws, q, SN_EVAL_GAUSS_NEWTON, &f), SN_OK);
    sn_workspace_fields_diagonal(ws, seen);
    assert_int_equal(sn_workspace_eval(ws, q, SN_EVAL_HESSIAN, &f), SN_OK);
    sn_workspace_fields_diagonal(ws, d);
    for (int i = 0; i < nv; i++) top = fmax(top, scale[i]);
    for (int k = 0; k < model->njoint; k++) {
        const sn_joint *j = &model->joint[k];
        for (int a = 0; a < j->nv; a++) {
            int i = j->slot + a, v = j->v0 + a;
            bool plain = j->ops->quaternion < 0 || a < j->ops->quaternion;
            double x = plain ? q[j->q0 + a] : 0, g = ws->g[i];
            bool held =
                plain && ((x <= model->lower[v] && g > 0) || (x >= model->upper[v] && g < 0));
            // what no task sees has rounding for a gradient, and does not move
            bool blind = seen[i] <= solver->noise && g * g <= 1e-13 * solver->noise * f;
            keep[i] = !held && model->gain[v] != 0 && (!blind || fabs(d[i]) > 1e-9 * (1 + top));
            if (keep[i] && !blind)
                look.gradient = fmax(look.gradient, fabs(g) / sqrt(2 * scale[i] * f));
            // along a curve of equal poses H has the curve's bend times g
            if (keep[i]) left = fmax(left, 4 * fabs(g));
        }
    }
    for (int way = 0; way < 2; way++) {
        double share = way == 0 ? 1e-6 : 1e-10;
        double flat = way == 0 ? left + 1e-14 : 1e-14;
        for (int i = 0; i < nv; i++) d[i] = share * fmax(scale[i], 1e-3 * top) + flat;
        bool good = sn_workspace_factor(ws, d, keep, 0, NULL) < 0;
        if (way == 0) look.definite = good;
        if (way == 1) look.indefinite = !good;
    }
    free(d);
    free(seen);
    free(keep);
    return look;
}

// What a case has in common for all methods.
typedef struct random_case {
    int number;
    sn_model *model;
    sn_problem *problem;
    sn_workspace *ws;
    size_t nq;
    double *start, *q, *twice;
    double f0;  // at the start
} random_case;

static random_case make_case(uint64_t *state, int number) {
    random_case c = {.number = number, .model = random_model(state, 1 + below(state, 6), -1)};
    c.problem = random_problem(state, c.model, 1 + below(state, 3), -1);
    c.nq = (size_t)sn_model_nq(c.model);
    c.start = malloc((c.nq + 1) * sizeof *c.start);
    c.q = malloc((c.nq + 1) * sizeof *c.q);
    c.twice = malloc((c.nq + 1) * sizeof *c.twice);
    sn_model_sample(c.model, state, c.start);
    (void)sn_model_clamp(c.model, c.start);
    assert_int_equal(sn_workspace_create(c.problem, false, NULL, &c.ws, NULL), SN_OK);
    assert_int_equal(sn_workspace_eval(c.ws, c.start, 0, &c.f0), SN_OK);
    return c;
}

static void free_case(random_case *c) {
    sn_workspace_destroy(c->ws);
    free(c->start);
    free(c->q);
    free(c->twice);
    sn_problem_destroy(c->problem);
    sn_model_destroy(c->model);
}

// A locked degree of freedom has not moved; a ball of which one is locked is not holonomic.
static void assert_locked(const random_case *c) {
    for (int j = 0; j < sn_model_njoint(c->model); j++) {
        const sn_joint_desc *d = sn_model_joint(c->model, j);
        int at = sn_model_q_index(c->model, j), v = sn_model_v_index(c->model, j);
        bool plain = d->type != SN_JOINT_BALL && d->type != SN_JOINT_FREE &&
                     d->type != SN_JOINT_EXPMAP && d->type != SN_JOINT_SWING_TWIST;
        int end = j + 1 < sn_model_njoint(c->model) ? sn_model_v_index(c->model, j + 1)
                                                    : sn_model_nv(c->model);
        for (int i = 0; plain && i < end - v; i++)
            if (d->locked[i]) assert_true(c->q[at + i] == c->start[at + i]);
    }
}

static void assert_true_report(const random_case *c, const sn_solver *solver, bool cold,
                               const sn_report *report, double f1) {
    const sn_solver_options *o = &solver->options;
    const char *name = sn_method_name(o->method);
    // quaternions are normalised first, which may move the last bits of f
    if (!(f1 <= c->f0 * (1 + 1e-12) + 1e-300))
        fail_msg("case %d, %s: f rose from %.17g to %.17g", c->number, name, c->f0, f1);
    // the same f by another order of sums: equal but for rounding of the residuals
    if (!(fabs(report->f - f1) <= 1e-12 * f1 + 1e-14 * sqrt(f1) + 1e-28))
        fail_msg("case %d, %s: f is %.17g, reported %.17g", c->number, name, f1, report->f);
    if (!cold) assert_true(report->iterations <= o->max_iterations + 1);
    if (report->stop == SN_STOP_GOAL) assert_true(f1 <= solver->goal);
    if (report->stop == SN_STOP_ITERATIONS) assert_true(report->iterations >= o->max_iterations);
    if (report->stop != SN_STOP_MINIMUM && report->stop != SN_STOP_SADDLE) return;
    assert_true(report->gradient <= o->gradient);
    // where the residual is all rounding there is nothing to see; and the scales that a cold solve
    // leaves are those of its last run, which need not be the one that was kept
    if (f1 < 1e-18 || cold) return;
    second_look look = look_again(c->ws, solver, c->q);
    if (!(look.gradient <= 1.01 * o->gradient))
        fail_msg("case %d, %s: %s, but the gradient is %.3g", c->number, name,
                 sn_stop_text(report->stop), look.gradient);
    if (report->stop == SN_STOP_MINIMUM && !look.definite)
        fail_msg("case %d, %s: no minimum, f %.3g", c->number, name, f1);
    if (report->stop == SN_STOP_SADDLE && !look.indefinite)
        fail_msg("case %d, %s: no saddle, f %.3g", c->number, name, f1);
}

static sn_stop check_case(random_case *c, sn_method method, bool cold) {
    test_allocator allocator;
    test_allocator_begin(&allocator);
    sn_solver_options o = sn_solver_options_default();
    sn_solver *solver;
    sn_report report, second;
    sn_status (*run)(sn_solver *, double *, sn_report *) =
        cold ? sn_solver_solve_cold : sn_solver_solve;
    double f1;
    o.method = method;
    o.max_iterations = 40;
    assert_int_equal(sn_solver_create(c->problem, &o, &allocator.base, &solver, NULL), SN_OK);
    allocator.trap = true;
    memcpy(c->q, c->start, c->nq * sizeof *c->q);
    memcpy(c->twice, c->start, c->nq * sizeof *c->q);
    assert_int_equal(run(solver, c->q, &report), SN_OK);
    assert_int_equal(run(solver, c->twice, &second), SN_OK);
    allocator.trap = false;
    assert_memory_equal(c->q, c->twice, c->nq * sizeof *c->q);
    assert_int_equal(sn_model_check_pose(c->model, c->q, NULL), SN_OK);
    assert_true(inside(c->model, c->q));
    assert_int_equal(sn_workspace_eval(c->ws, c->q, 0, &f1), SN_OK);
    assert_true_report(c, solver, cold, &report, f1);
    assert_locked(c);
    sn_solver_destroy(solver);
    assert_int_equal(allocator.live, 0);
    return report.stop;
}

// Every method, any small problem: never worse than the start, inside the limits, locked coordinates
// unmoved, finite, the report true, the same bits twice, no allocation. A thousand times as many cases
// (tools/soak.sh) are a million problems.
static void invariants(void **unused) {
    (void)unused;
    uint64_t state = 77;
    int count = cases(1000), first = first_case(), solved[SN_METHOD_COUNT] = {0};
    long solves = 0;
    for (int n = 0; n < count; n++) {
        random_case c = make_case(&state, n);
        for (int m = n < first ? SN_METHOD_COUNT : 0; m < SN_METHOD_COUNT; m++) {
            if (!sn_method_available((sn_method)m)) continue;
            sn_stop stop = check_case(&c, (sn_method)m, false);
            solved[m] += stop == SN_STOP_GOAL || stop == SN_STOP_MINIMUM;
            solves++;
            // cold solves are long: one method a case
            if (m != n % SN_METHOD_COUNT) continue;
            (void)check_case(&c, (sn_method)m, true);
            solves++;
        }
        free_case(&c);
    }
    print_message("%d problems, %ld different solves\n", count - first, solves);
    for (int m = 0; m < SN_METHOD_COUNT; m++)
        if (sn_method_available((sn_method)m))
            print_message("  %-20s %5.1f %% at a goal or minimum after 40 iterations\n",
                          sn_method_name((sn_method)m), 100.0 * solved[m] / (count - first));
}

// Three links and two goals for one point, between which it comes to rest: poses along a curve are
// equally good, and where the gradient is not quite 0 the Hessian along it is the curve's bend times the
// gradient, below 0 as often as above. That is a minimum, not a saddle.
static void curve_of_minima(void **unused) {
    (void)unused;
    sn_builder *b;
    sn_model *model;
    sn_problem *problem;
    uint64_t state = 21;
    assert_int_equal(sn_builder_create("arm", NULL, &b, NULL), SN_OK);
    for (int i = 0; i < 3; i++) {
        sn_joint_desc d = sn_joint_default(SN_JOINT_HINGE);
        d.name = i == 0 ? "a" : i == 1 ? "b" : "c";
        d.parent = i - 1;
        d.position[0] = i;
        assert_int_equal(sn_builder_joint(b, &d), i);
    }
    assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
    sn_builder_destroy(b);
    sn_task t[2] = {sn_task_default(SN_TASK_POINT), sn_task_default(SN_TASK_POINT)};
    for (int i = 0; i < 2; i++) {
        t[i].joint = 2;
        t[i].local[0] = 1;
        t[i].goal[0] = 1;
        t[i].goal[1] = i == 0 ? 0.2 : 1.8;
    }
    assert_int_equal(sn_problem_create(model, t, 2, NULL, &problem, NULL), SN_OK);
    sn_solver_options o = sn_solver_options_default();
    sn_solver *solver;
    o.method = SN_METHOD_LM;
    o.gradient = 1e-2;
    assert_int_equal(sn_solver_create(problem, &o, NULL, &solver, NULL), SN_OK);
    int open = 0;
    for (int n = 0; n < 300; n++) {
        sn_report report;
        double q[3];
        for (int i = 0; i < 3; i++) q[i] = uniform(&state, -3, 3);
        assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
        if (report.stop == SN_STOP_SADDLE && report.f < 0.65)
            fail_msg("start %d: %s, f %g, gradient %g", n, sn_stop_text(report.stop), report.f,
                     report.gradient);
        open += report.stop == SN_STOP_MINIMUM && report.gradient > 1e-4;
    }
    assert_true(open > 50);
    sn_solver_destroy(solver);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
}

// A joint that no task sees, a point on its own origin, stays where it is.
static void unseen_joint(void **unused) {
    (void)unused;
    uint64_t state = 4;
    for (int n = 0; n < 50; n++) {
        sn_builder *b;
        sn_model *model;
        assert_int_equal(sn_builder_create("own", NULL, &b, NULL), SN_OK);
        sn_joint_desc fixed = random_joint(&state, SN_JOINT_FIXED, 0, -1);
        (void)sn_builder_joint(b, &fixed);
        sn_joint_desc ball = random_joint(&state, SN_JOINT_BALL, 1, 0);
        for (int i = 0; i < 3; i++) ball.locked[i] = false;
        (void)sn_builder_joint(b, &ball);
        assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
        sn_builder_destroy(b);
        sn_task t = sn_task_default(SN_TASK_POINT);
        t.joint = 1;
        for (int i = 0; i < 3; i++) t.goal[i] = uniform(&state, -1, 1);
        sn_problem *problem;
        assert_int_equal(sn_problem_create(model, &t, 1, NULL, &problem, NULL), SN_OK);
        for (int m = 0; m < 2; m++) {
            double q[4] = {1, 0, 0, 0};
            sn_report r = solve(problem, second_order[m], q);
            assert_int_equal(r.stop, SN_STOP_MINIMUM);
            assert_int_equal(r.iterations, 0);
            assert_true(q[0] == 1 && q[1] == 0 && q[2] == 0 && q[3] == 0);
        }
        sn_problem_destroy(problem);
        sn_model_destroy(model);
    }
}

// Looking at f elsewhere must not disturb the derivatives that are held.
static void looking_elsewhere(void **unused) {
    (void)unused;
    uint64_t state = 9;
    for (int n = 0; n < 100; n++) {
        sn_model *model = random_model(&state, 6, -1);
        sn_problem *problem = random_problem(&state, model, 4, -1);
        sn_workspace *ws;
        int nv = sn_model_nv(model);
        double *q = malloc((size_t)(sn_model_nq(model) + 1) * sizeof *q), f;
        double *damping = malloc((size_t)(nv + 1) * sizeof *damping);
        double *x = malloc((size_t)(nv + 1) * sizeof *x), *y = malloc((size_t)(nv + 1) * sizeof *y);
        assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
        sn_model_sample(model, &state, q);
        assert_int_equal(sn_workspace_eval(ws, q, SN_EVAL_GAUSS_NEWTON, &f), SN_OK);
        for (int look = 0; look < 2; look++) {
            double *to = look == 0 ? x : y;
            for (int i = 0; i < nv; i++) {
                damping[i] = 10;
                to[i] = i + 1;
            }
            assert_int_equal(sn_workspace_factor(ws, damping, NULL, 0, NULL), -1);
            sn_workspace_solve(ws, to);
            sn_model_sample(model, &state, q);
            assert_int_equal(sn_workspace_eval(ws, q, 0, &f), SN_OK);
        }
        assert_memory_equal(x, y, (size_t)nv * sizeof *x);
        free(q);
        free(damping);
        free(x);
        free(y);
        sn_workspace_destroy(ws);
        sn_problem_destroy(problem);
        sn_model_destroy(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_link_arm),    cmocka_unit_test(collinear_saddle),
        cmocka_unit_test(far_side),        cmocka_unit_test(contradicting_goals),
        cmocka_unit_test(bad_goals),       cmocka_unit_test(goal_in_any_unit),
        cmocka_unit_test(bad_start),       cmocka_unit_test(quadratic_tail),
        cmocka_unit_test(cut_short),       cmocka_unit_test(unseen_joint),
        cmocka_unit_test(curve_of_minima), cmocka_unit_test(looking_elsewhere),
        cmocka_unit_test(invariants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
