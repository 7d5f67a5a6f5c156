// SPDX-License-Identifier: MIT
// The joint-by-joint factorisation against the path-sparse one, on random trees of all joint types:
// solutions, dropped degrees of freedom, failed pivots and their directions.
#include "model/model.h"
#include "reference.h"
#include "support.h"
#include "sweeps/workspace.h"

typedef struct fixture {
    sn_model *model;
    sn_problem *problem;
    sn_workspace *ws;
    const sn_path *path;
    int nv;
    double *q, *x, *y, *rows, *diagonal;
    bool *keep;
} fixture;

static fixture fixture_new(uint64_t *state, int njoint, int type) {
    fixture t = {.model = random_model(state, njoint, type)};
    t.problem = random_problem(state, t.model, 1 + below(state, 6), -1);
    t.path = sn_model_path(t.model);
    t.nv = sn_model_nv(t.model);
    size_t nv = (size_t)t.nv;
    assert_int_equal(sn_workspace_create(t.problem, true, NULL, &t.ws, NULL), SN_OK);
    t.q = malloc((size_t)(sn_model_nq(t.model) + 1) * sizeof *t.q);
    t.x = malloc((nv + 1) * sizeof *t.x);
    t.y = malloc((nv + 1) * sizeof *t.y);
    t.diagonal = malloc((nv + 1) * sizeof *t.diagonal);
    t.keep = malloc((nv + 1) * sizeof *t.keep);
    t.rows = malloc((sn_path_size(t.path) + 1) * sizeof *t.rows);
    sn_model_sample(t.model, state, t.q);
    double f;
    assert_int_equal(sn_workspace_eval(t.ws, t.q, SN_EVAL_HESSIAN, &f), SN_OK);
    memcpy(t.rows, sn_workspace_rows(t.ws), sn_path_size(t.path) * sizeof *t.rows);
    return t;
}

static void fixture_free(fixture *t) {
    sn_workspace_destroy(t->ws);
    sn_problem_destroy(t->problem);
    sn_model_destroy(t->model);
    free(t->q);
    free(t->x);
    free(t->y);
    free(t->diagonal);
    free(t->keep);
    free(t->rows);
}

static double *diagonal_of(const fixture *t, int i) {
    return &t->rows[sn_path_row(t->path, i) + (size_t)sn_path_length(t->path, i) - 1];
}

// With enough damping to be positive definite, some degrees of freedom dropped.
static void same_solution(void **unused) {
    (void)unused;
    uint64_t state = 11;
    double worst = 0;
    int count = cases(2000);
    for (int n = 0; n < count; n++) {
        fixture t = fixture_new(&state, 1 + below(&state, 15), n % 4 == 0 ? n / 4 % 12 : -1);
        double size = 1;
        // diagonally dominant, whatever is off the diagonal
        for (size_t i = 0; i < sn_path_size(t.path); i++) size = fmax(size, fabs(t.rows[i]));
        for (int i = 0; i < t.nv; i++) {
            t.diagonal[i] = (2 + sn_random(&state)) * size * t.nv;
            t.keep[i] = below(&state, 5) > 0;
            *diagonal_of(&t, i) += t.diagonal[i];
            t.x[i] = t.y[i] = t.keep[i] ? uniform(&state, -1, 1) : 0;
        }
        sn_path_drop(t.path, t.keep, t.rows);
        assert_int_equal(sn_path_factor_ldl(t.path, 0, t.rows), -1);
        sn_path_solve_ldl(t.path, t.rows, t.x);
        assert_int_equal(sn_workspace_factor(t.ws, t.diagonal, t.keep, 0, NULL), -1);
        sn_workspace_solve(t.ws, t.y);
        worst = fmax(worst, reference_relative(t.y, t.x, t.nv, 0));
        fixture_free(&t);
    }
    print_message("%d trees, worst relative difference %.1e\n", count, worst);
    assert_true(worst < 1e-12);
}

// How far a point gives way, by one sweep and by three solves.
static void compliance(void **unused) {
    (void)unused;
    uint64_t state = 13;
    double worst = 0;
    int count = cases(1000);
    for (int n = 0; n < count; n++) {
        fixture t = fixture_new(&state, 1 + below(&state, 15), n % 4 == 0 ? n / 4 % 12 : -1);
        const size_t nv = (size_t)t.nv, njoint = (size_t)sn_model_njoint(t.model);
        double size = 1, *C = malloc(36 * njoint * sizeof *C),
               *J = malloc((3 * nv + 1) * sizeof *J);
        for (size_t i = 0; i < sn_path_size(t.path); i++) size = fmax(size, fabs(t.rows[i]));
        for (int i = 0; i < t.nv; i++) {
            t.diagonal[i] = (2 + sn_random(&state)) * size * t.nv;
            t.keep[i] = below(&state, 5) > 0;
        }
        assert_int_equal(sn_workspace_factor(t.ws, t.diagonal, t.keep, 0, NULL), -1);
        sn_workspace_compliance(t.ws, C);
        const int joint = below(&state, (int)njoint);
        const double local[3] = {uniform(&state, -1, 1), uniform(&state, -1, 1), 0.3};
        sn_jacobian_simple(t.ws, joint, local, J);
        const sn_mat3 A = sn_compliance_at(t.ws, C, joint, local);
        double most = 1e-300, off = 0;
        for (int c = 0; c < 3; c++) {
            for (int i = 0; i < t.nv; i++) t.x[i] = t.keep[i] ? J[3 * t.model->v_of[i] + c] : 0;
            sn_workspace_solve(t.ws, t.x);
            for (int r = 0; r < 3; r++) {
                double sum = 0;
                for (int i = 0; i < t.nv; i++) sum += J[3 * t.model->v_of[i] + r] * t.x[i];
                most = fmax(most, fabs(sum));
                off = fmax(off, fabs(sum - v3_at(A.c[c], r)));
            }
        }
        worst = fmax(worst, off / most);
        free(C);
        free(J);
        fixture_free(&t);
    }
    print_message("%d trees, worst relative difference %.1e\n", count, worst);
    assert_true(worst < 1e-10);
}

// Indefinite Hessians: the same row fails with the same pivot, and z^T H z is that pivot.
static void same_failure(void **unused) {
    (void)unused;
    uint64_t state = 12;
    int failures = 0, count = cases(2000);
    for (int n = 0; n < count; n++) {
        fixture t = fixture_new(&state, 1 + below(&state, 12), -1);
        double *H = malloc(((size_t)t.nv * (size_t)t.nv + 1) * sizeof *H), pivot = 0, size = 0;
        sn_path_to_dense(t.path, t.rows, NULL, H);
        for (int i = 0; i < t.nv * t.nv; i++) size = fmax(size, fabs(H[i]));
        // pivots within rounding of 0 could fail in one and pass in the other: keep away from it
        double tolerance = 1e-9 * size;
        int sparse = sn_path_factor_ldl(t.path, tolerance, t.rows);
        int joints = sn_workspace_factor(t.ws, NULL, NULL, tolerance, &pivot);
        if (sparse >= 0 && fabs(*diagonal_of(&t, sparse)) > 1e-6 * size) {
            failures++;
            assert_int_equal(joints, sparse);
            assert_true(fabs(pivot - *diagonal_of(&t, sparse)) < 1e-6 * size);
            sn_workspace_curvature(t.ws, joints, t.x);
            sn_path_curvature(t.path, t.rows, sparse, t.y);
            assert_true(t.x[joints] == 1);
            double square = 0, length = 0;
            for (int i = 0; i < t.nv; i++) {
                length += t.x[i] * t.x[i];
                for (int j = 0; j < t.nv; j++) square += t.x[i] * H[i + t.nv * j] * t.x[j];
            }
            assert_true(fabs(square - pivot) < 1e-9 * size * length);
            assert_true(reference_relative(t.x, t.y, t.nv, 1) < 1e-6);
        }
        free(H);
        fixture_free(&t);
    }
    print_message("%d of %d had a failed pivot\n", failures, count);
    assert_true(failures > count / 4);
}

// A chain of 5,000 hinges: its H would have 12.5 million entries, the step needs none of them.
static void long_chain(void **unused) {
    (void)unused;
    enum { COUNT = 5000 };
    sn_builder *b;
    sn_model *model;
    sn_problem *problem;
    sn_workspace *ws;
    assert_int_equal(sn_builder_create("chain", NULL, &b, NULL), SN_OK);
    for (int i = 0; i < COUNT; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "h%d", i);
        sn_joint_desc d = sn_joint_default(SN_JOINT_HINGE);
        d.name = name;
        d.parent = i - 1;
        d.position[0] = 1.0 / COUNT;
        d.axis[i % 3] = 2;
        assert_int_equal(sn_builder_joint(b, &d), i);
    }
    assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
    sn_builder_destroy(b);
    sn_task task = sn_task_default(SN_TASK_POINT);
    task.joint = COUNT - 1;
    task.goal[1] = 0.3;
    assert_int_equal(sn_problem_create(model, &task, 1, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
    double *q = calloc(COUNT, sizeof *q), *damping = malloc(COUNT * sizeof *damping);
    double *x = malloc(COUNT * sizeof *x), *back = malloc(COUNT * sizeof *back), f;
    for (int i = 0; i < COUNT; i++) {
        q[i] = 0.001 * sin(i);
        damping[i] = 3000;
    }
    assert_int_equal(sn_workspace_eval(ws, q, SN_EVAL_HESSIAN, &f), SN_OK);
    memcpy(x, sn_workspace_sweep_gradient(ws), COUNT * sizeof *x);
    assert_int_equal(sn_workspace_factor(ws, damping, NULL, 0, NULL), -1);
    sn_workspace_solve(ws, x);
    // (H + damping) x must give the gradient back; order is the same in a chain
    sn_workspace_multiply(ws, false, x, back);
    for (int i = 0; i < COUNT; i++) back[i] += damping[i] * x[i];
    assert_true(reference_relative(back, sn_workspace_sweep_gradient(ws), COUNT, 0) < 1e-10);
    free(q);
    free(damping);
    free(x);
    free(back);
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_solution),
        cmocka_unit_test(compliance),
        cmocka_unit_test(same_failure),
        cmocka_unit_test(long_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
