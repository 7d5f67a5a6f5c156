// SPDX-License-Identifier: MIT
// Memory that runs out at every place it can, nothing allocated after creation, and bad arguments.
#include "support.h"

static const char model_text[] =
    "{\"name\": \"m\", \"joints\": [{\"name\": \"a\", \"type\": \"free\"},"
    "{\"name\": \"b\", \"parent\": \"a\", \"type\": \"euler\", \"order\": \"ZYX\"},"
    "{\"name\": \"c\", \"parent\": \"b\", \"type\": \"hinge\", \"axis\": [1,0,0], \"limits\": "
    "[[0,1]]}, {\"name\": \"d\", \"parent\": \"c\", \"type\": \"function\", \"coordinates\": "
    "[\"x\", \"y\"], \"moves\": [{\"slide\": [1,0,0], \"function\": \"spline\", \"of\": [\"x\"], "
    "\"x\": [0,1,2,3], \"y\": [0,1,0,1]}, {\"turn\": [0,1,1], \"function\": \"linear\", \"of\": "
    "[\"x\", \"y\"], \"y\": [1,2,3]}]}],"
    "\"markers\": [{\"name\": \"x\", \"joint\": \"c\"}, {\"name\": \"y\", \"joint\": \"b\"}]}";

static const char tasks_text[] =
    "{\"tasks\": [{\"type\": \"point\", \"joint\": \"c\", \"goal\": [1,2,3]},"
    "{\"type\": \"rest\", \"q\": [0,0,0,1,0,0,0,0,0,0,0,0,0]}, {\"type\": \"limit\"},"
    "{\"type\": \"pose\", \"joint\": \"b\", \"goal\": [1,0,0], \"rotation\": [1,1,0,0]}]}";

static sn_model *model;
static sn_problem *problem;

static int begin(void **unused) {
    (void)unused;
    sn_status status = sn_model_read_json(model_text, strlen(model_text), NULL, &model, NULL);
    if (status != SN_OK) return -1;
    status = sn_problem_read_json(tasks_text, strlen(tasks_text), model, NULL, &problem, NULL);
    return status == SN_OK ? 0 : -1;
}

static int end(void **unused) {
    (void)unused;
    sn_problem_destroy(problem);
    sn_model_destroy(model);
    return 0;
}

// A call that makes something with an allocator and destroys what it got. *made tells whether out
// was left non-NULL.
typedef sn_status (*maker)(const sn_allocator *allocator, bool *made, sn_error *error);

static void every_fault(const char *what, maker make) {
    for (int forever = 0; forever < 2; forever++) {
        long n = 0;
        for (;; n++) {
            test_allocator allocator;
            sn_error error = {0};
            bool made = true;
            test_allocator_begin(&allocator);
            allocator.fail_at = n;
            allocator.fail_after = forever;
            sn_status status = make(&allocator.base, &made, &error);
            if (allocator.live != 0)
                fail_msg("%s leaks %ld when %ld fails", what, allocator.live, n);
            if (status == SN_OK) {
                assert_true(made);
                // success only when the call that was to fail never came
                if (allocator.calls > n) fail_msg("%s lost the failure of call %ld", what, n);
                break;
            }
            if (status != SN_ERR_MEMORY) fail_msg("%s: status %d at %ld", what, (int)status, n);
            if (made) fail_msg("%s: out is not NULL when %ld fails", what, n);
            if (error.status != SN_OK) assert_int_equal(error.status, SN_ERR_MEMORY);
        }
        if (forever) print_message("%s: %ld allocations\n", what, n);
        assert_true(n > 0);
    }
}

static sn_status make_builder(const sn_allocator *allocator, bool *made, sn_error *error) {
    sn_builder *builder;
    sn_status status =
        sn_builder_create("a name that is longer than eight", allocator, &builder, NULL);
    (void)error;
    *made = builder != NULL;
    sn_builder_destroy(builder);
    return status;
}

// Many joints and markers, so that every array grows a few times.
static sn_status make_model(const sn_allocator *allocator, bool *made, sn_error *error) {
    sn_builder *builder;
    sn_model *m = NULL;
    *made = false;
    sn_status status = sn_builder_create("m", allocator, &builder, NULL);
    if (status != SN_OK) return status;
    bool failed = false;
    for (int i = 0; i < 20; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "n%d", i);
        sn_joint_desc joint = sn_joint_default(SN_JOINT_BALL);
        joint.name = name;
        joint.parent = i - 1;
        sn_marker_desc marker = {name, i, {0, 0, 0}, 1};
        int j = sn_builder_joint(builder, &joint), k = sn_builder_marker(builder, &marker);
        // a builder that has failed stays failed
        if (failed) assert_true(j == -1 && k == -1);
        failed = failed || j < 0 || k < 0;
    }
    status = sn_builder_finish(builder, &m, error);
    if (failed) assert_int_equal(status, SN_ERR_MEMORY);
    if (status != SN_OK) assert_int_equal(error->status, status);
    *made = m != NULL;
    sn_model_destroy(m);
    sn_builder_destroy(builder);
    return status;
}

static sn_status make_read_model(const sn_allocator *allocator, bool *made, sn_error *error) {
    sn_model *m;
    sn_status status = sn_model_read_json(model_text, strlen(model_text), allocator, &m, error);
    if (status != SN_OK) assert_int_equal(error->status, status);
    *made = m != NULL;
    sn_model_destroy(m);
    return status;
}

static sn_status make_text(const sn_allocator *allocator, bool *made, sn_error *error) {
    char *text;
    sn_status status = sn_model_text(model, allocator, &text);
    (void)error;
    *made = text != NULL;
    sn_release(allocator, text);
    return status;
}

static sn_status make_humanoid(const sn_allocator *allocator, bool *made, sn_error *error) {
    sn_model *m;
    sn_status status = sn_model_humanoid(allocator, &m, NULL);
    (void)error;
    *made = m != NULL;
    sn_model_destroy(m);
    return status;
}

static sn_status make_problem(const sn_allocator *allocator, bool *made, sn_error *error) {
    sn_problem *p;
    sn_task tasks[2] = {sn_task_default(SN_TASK_POINT), sn_task_default(SN_TASK_FRAME2)};
    sn_status status = sn_problem_create(model, tasks, 2, allocator, &p, error);
    if (status != SN_OK) assert_int_equal(error->status, status);
    *made = p != NULL;
    sn_problem_destroy(p);
    return status;
}

static sn_status make_markers(const sn_allocator *allocator, bool *made, sn_error *error) {
    sn_problem *p;
    sn_status status = sn_problem_create_markers(model, allocator, &p, error);
    if (status != SN_OK) assert_int_equal(error->status, status);
    *made = p != NULL;
    sn_problem_destroy(p);
    return status;
}

static sn_status make_read_problem(const sn_allocator *allocator, bool *made, sn_error *error) {
    sn_problem *p;
    sn_status status =
        sn_problem_read_json(tasks_text, strlen(tasks_text), model, allocator, &p, error);
    if (status != SN_OK) assert_int_equal(error->status, status);
    *made = p != NULL;
    sn_problem_destroy(p);
    return status;
}

static sn_status make_workspace(const sn_allocator *allocator, bool *made, sn_error *error) {
    sn_workspace *ws;
    sn_status status = sn_workspace_create(problem, true, allocator, &ws, NULL);
    (void)error;
    *made = ws != NULL;
    sn_workspace_destroy(ws);
    return status;
}

static sn_status make_solver(const sn_allocator *allocator, bool *made, sn_error *error) {
    sn_solver *solver;
    sn_status status = sn_solver_create(problem, NULL, allocator, &solver, NULL);
    (void)error;
    *made = solver != NULL;
    sn_solver_destroy(solver);
    return status;
}

static sn_status make_servo(const sn_allocator *allocator, bool *made, sn_error *error) {
    sn_servo *servo;
    sn_status status = sn_servo_create(problem, NULL, allocator, &servo, error);
    *made = servo != NULL;
    sn_servo_destroy(servo);
    return status;
}

static void all_faults(void **unused) {
    (void)unused;
    every_fault("sn_builder_create", make_builder);
    every_fault("sn_builder_finish", make_model);
    every_fault("sn_model_read_json", make_read_model);
    every_fault("sn_model_write_json", make_text);
    every_fault("sn_model_humanoid", make_humanoid);
    every_fault("sn_problem_create", make_problem);
    every_fault("sn_problem_create_markers", make_markers);
    every_fault("sn_problem_read_json", make_read_problem);
    every_fault("sn_workspace_create", make_workspace);
    every_fault("sn_solver_create", make_solver);
    every_fault("sn_servo_create", make_servo);
}

// What is wrong with the input is told without leaking either.
static void errors_do_not_leak(void **unused) {
    (void)unused;
    char text[sizeof model_text > sizeof tasks_text ? sizeof model_text : sizeof tasks_text];
    for (int which = 0; which < 2; which++) {
        const char *from = which ? tasks_text : model_text;
        for (size_t n = 0; n < strlen(from); n++) {
            test_allocator allocator;
            sn_model *m = NULL;
            sn_problem *p = NULL;
            test_allocator_begin(&allocator);
            memcpy(text, from, strlen(from) + 1);
            text[n] = '#';
            if (which) {
                (void)sn_problem_read_json(text, strlen(text), model, &allocator.base, &p, NULL);
            } else {
                (void)sn_model_read_json(text, strlen(text), &allocator.base, &m, NULL);
            }
            sn_model_destroy(m);
            sn_problem_destroy(p);
            assert_int_equal(allocator.live, 0);
        }
    }
}

// All calls of the second phase, with an allocator that allows none.
static void trapped_workspace(const sn_problem *p, uint64_t *state) {
    const sn_model *m = sn_problem_model(p);
    size_t nv = (size_t)sn_model_nv(m) + 1, nj = (size_t)sn_model_njoint(m);
    test_allocator allocator;
    sn_workspace *ws;
    test_allocator_begin(&allocator);
    assert_int_equal(sn_workspace_create(p, true, &allocator.base, &ws, NULL), SN_OK);
    double *q = malloc(((size_t)sn_model_nq(m) + 1) * sizeof *q), f;
    double *out = malloc((nv * nv + 36 * nj + 6 * nv) * sizeof *out), *x = calloc(nv, sizeof *x);
    assert_true(q != NULL && out != NULL && x != NULL);
    allocator.trap = true;
    sn_model_sample(m, state, q);
    for (unsigned what = 0; what < 16; what++) {
        assert_int_equal(sn_workspace_eval(ws, q, what, &f), SN_OK);
        if (what == 0) continue;
        sn_workspace_gradient(ws, out);
        if (what & (SN_EVAL_HESSIAN | SN_EVAL_GAUSS_NEWTON)) {
            sn_workspace_hessian(ws, out);
            assert_non_null(sn_workspace_rows(ws));
        }
    }
    const double local[3] = {1, 2, 3};
    sn_workspace_multiply(ws, false, x, out);
    sn_workspace_multiply(ws, true, x, out);
    assert_int_equal(sn_workspace_pose(ws, q), SN_OK);
    for (int joint = -1; joint <= (int)nj; joint++) {
        sn_jacobian_simple(ws, joint, local, out);
        sn_jacobian_generic(ws, joint, out);
        for (int frame = 0; frame < 3; frame++) {
            for (unsigned rows = 0; rows < 4; rows++) {
                sn_jacobian_adjusted(ws, joint, (sn_jacobian_frame)frame, local, rows, out);
                sn_jacobian_dot(ws, joint, (sn_jacobian_frame)frame, local, rows, x, out);
            }
        }
        (void)sn_workspace_frame(ws, joint);
        (void)sn_workspace_point(ws, joint, local);
    }
    for (int i = -1; i <= sn_problem_ntask(p); i++) (void)sn_workspace_task_error(ws, i);
    allocator.trap = false;
    sn_workspace_destroy(ws);
    assert_int_equal(allocator.live, 0);
    free(q);
    free(out);
    free(x);
}

static void workspaces_do_not_allocate(void **unused) {
    (void)unused;
    uint64_t state = 1;
    trapped_workspace(problem, &state);
    for (int i = 0; i < cases(100); i++) {
        sn_model *m = random_model(&state, 1 + below(&state, 8), -1);
        sn_problem *p = random_problem(&state, m, 1 + below(&state, 4), -1);
        trapped_workspace(p, &state);
        sn_problem_destroy(p);
        sn_model_destroy(m);
    }
}

static void count_traces(void *user, const sn_trace *trace) {
    *(int *)user += trace->iteration > 0;
}

static void solvers_do_not_allocate(void **unused) {
    (void)unused;
    uint64_t state = 2;
    for (int i = 0; i < cases(100); i++) {
        sn_model *m = random_model(&state, 1 + below(&state, 8), -1);
        sn_problem *p = random_problem(&state, m, 1 + below(&state, 4), -1);
        double *q = malloc(((size_t)sn_model_nq(m) + 1) * sizeof *q);
        assert_non_null(q);
        sn_model_sample(m, &state, q);
        test_allocator allocator;
        sn_solver *solver;
        sn_report report;
        int traces = 0;
        sn_solver_options options = sn_solver_options_default();
        options.trace = count_traces;
        options.trace_user = &traces;
        test_allocator_begin(&allocator);
        assert_int_equal(sn_solver_create(p, &options, &allocator.base, &solver, NULL), SN_OK);
        allocator.trap = true;
        assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
        assert_true(isfinite(report.f) && traces <= report.iterations);
        assert_non_null(sn_solver_workspace(solver));
        allocator.trap = false;
        sn_solver_destroy(solver);
        assert_int_equal(allocator.live, 0);
        free(q);
        sn_problem_destroy(p);
        sn_model_destroy(m);
    }
}

static void bad_arguments(void **unused) {
    (void)unused;
    const int odd[] = {-1, -1000, 4, 1000, INT32_MAX, INT32_MIN};
    sn_workspace *ws;
    const double local[3] = {1, 2, 3};
    double q[16], J[256], f;
    assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        int k = odd[i];
        assert_null(sn_model_joint(model, k));
        assert_null(sn_model_marker(model, k));
        assert_int_equal(sn_model_q_index(model, k), -1);
        assert_int_equal(sn_model_v_index(model, k), -1);
        assert_int_equal(sn_model_parent(model, k), -1);
        if (k > 0 && k < INT32_MAX) assert_int_equal(sn_model_next_leaf(model, k), -1);
        sn_frame frame = sn_workspace_frame(ws, k);
        assert_true(frame.R.c[0].x == 1 && frame.p.x == 0);
        assert_true(sn_workspace_point(ws, k, local).x == 0);
        sn_jacobian_simple(ws, k, local, J);
        sn_jacobian_generic(ws, k, J);
        sn_jacobian_adjusted(ws, k, SN_JACOBIAN_BODY, NULL, SN_ROWS_BOTH, J);
        sn_jacobian_dot(ws, k, SN_JACOBIAN_WORLD, NULL, SN_ROWS_BOTH, q, J);
        for (int c = 0; c < 60; c++) assert_true(J[c] == 0);
        if (k == 3) continue;  // there are four tasks
        assert_null(sn_problem_task(problem, k));
        assert_false(sn_problem_task_active(problem, k));
        assert_true(sn_workspace_task_error(ws, k) == 0);
    }
    // poses that are none
    sn_model_zero(model, q);
    for (int i = 0; i < 11; i++) {
        double was = q[i];
        q[i] = NAN;
        assert_int_equal(sn_workspace_eval(ws, q, SN_EVAL_GRADIENT, &f), SN_ERR_VALUE);
        assert_int_equal(sn_workspace_pose(ws, q), SN_ERR_VALUE);
        q[i] = was;
    }
    sn_workspace_destroy(ws);
    sn_workspace_destroy(NULL);
    sn_solver_destroy(NULL);
    sn_release(NULL, NULL);
}

// The last integer there is has no successor.
static void leaf_out_of_range(void **unused) {
    (void)unused;
    assert_int_equal(sn_model_next_leaf(model, INT32_MIN), 3);
    assert_int_equal(sn_model_next_leaf(model, INT32_MAX), -1);
}

static void solver_arguments(void **unused) {
    (void)unused;
    sn_solver *solver = (sn_solver *)&model;
    sn_solver_options options = sn_solver_options_default();
    sn_report report;
    double q[16];
    options.version += 1;
    assert_int_equal(sn_solver_create(problem, &options, NULL, &solver, NULL), SN_ERR_ARGUMENT);
    assert_null(solver);
    options.version = 0;
    assert_int_equal(sn_solver_create(problem, &options, NULL, &solver, NULL), SN_ERR_ARGUMENT);
    assert_int_equal(sn_solver_create(problem, NULL, NULL, &solver, NULL), SN_OK);
    sn_model_zero(model, q);
    q[7] = INFINITY;
    double before[16];
    memcpy(before, q, sizeof q);
    assert_int_equal(sn_solver_solve(solver, q, &report), SN_ERR_VALUE);
    assert_memory_equal(q, before, 11 * sizeof *q);
    sn_solver_destroy(solver);
    // no iterations, and a model that cannot move
    options = sn_solver_options_default();
    options.max_iterations = 0;
    assert_int_equal(sn_solver_create(problem, &options, NULL, &solver, NULL), SN_OK);
    sn_model_zero(model, q);
    assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
    assert_int_equal(report.iterations, 0);
    assert_int_equal(report.stop, SN_STOP_ITERATIONS);
    sn_solver_destroy(solver);
}

static void nothing_to_move(void **unused) {
    (void)unused;
    const char *text = "{\"joints\": [{\"name\": \"a\", \"type\": \"fixed\"}]}";
    sn_model *m;
    sn_problem *p;
    sn_solver *solver;
    sn_report report;
    sn_task task = sn_task_default(SN_TASK_POINT);
    double q[1] = {0};
    task.goal[0] = 2;
    assert_int_equal(sn_model_read_json(text, strlen(text), NULL, &m, NULL), SN_OK);
    assert_int_equal(sn_problem_create(m, &task, 1, NULL, &p, NULL), SN_OK);
    assert_int_equal(sn_solver_create(p, NULL, NULL, &solver, NULL), SN_OK);
    assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
    assert_true(report.f == 2);
    assert_int_equal(report.stop, SN_STOP_MINIMUM);
    sn_solver_destroy(solver);
    sn_problem_destroy(p);
    sn_model_destroy(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_faults),
        cmocka_unit_test(errors_do_not_leak),
        cmocka_unit_test(workspaces_do_not_allocate),
        cmocka_unit_test(solvers_do_not_allocate),
        cmocka_unit_test(bad_arguments),
        cmocka_unit_test(solver_arguments),
        cmocka_unit_test(nothing_to_move),
        cmocka_unit_test(leaf_out_of_range),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
