// SPDX-License-Identifier: MIT
// The stacked residuals and their Jacobian, on random trees of every joint type x task type: r . r
// is 2 f, J^T r the gradient, and J the derivative of r.
#include "support.h"
#include "sweeps/residuals.h"

typedef struct worst {
    double f, g, J;
} worst;

static double largest(const double *x, size_t n) {
    double top = 0;
    for (size_t i = 0; i < n; i++) top = fmax(top, fabs(x[i]));
    return top;
}

// psi jumps where the rotation is half a turn, and a soft limit bends at the limit: there the two
// sides of a difference do not belong together.
static bool smooth(const double *ahead, const double *behind, int rows, double h) {
    for (int i = 0; i < rows; i++) {
        if (fabs(ahead[i] - behind[i]) > 200 * h) return false;
        if ((ahead[i] == 0) != (behind[i] == 0)) return false;
    }
    return true;
}

// J by central differences of fourth order, one degree of freedom at a time.
static void check_jacobian(sn_workspace *ws, const sn_model *model, const double *q, int rows,
                           const double *J, double size, worst *w) {
    const int *order = sn_model_sweep_order(model);
    const double *gain = sn_model_gain(model), h = 3e-4;
    int nv = sn_model_nv(model);
    size_t m = (size_t)rows + 1;
    double *moved = malloc((size_t)(sn_model_nq(model) + 1) * sizeof *moved), f;
    double *delta = calloc((size_t)nv + 1, sizeof *delta), *r = malloc(4 * m * sizeof *r);
    assert_true(moved != NULL && delta != NULL && r != NULL);
    for (int i = 0; i < nv; i++) {
        static const double places[4] = {-2, -1, 1, 2};
        for (int k = 0; k < 4; k++) {
            delta[order[i]] = places[k] * h * gain[order[i]];
            sn_model_integrate(model, q, delta, moved);
            assert_int_equal(sn_workspace_eval(ws, moved, 0, &f), SN_OK);
            sn_residuals(ws, r + (size_t)k * m, NULL);
        }
        delta[order[i]] = 0;
        if (!smooth(r, r + 3 * m, rows, h)) continue;
        for (size_t k = 0; k < (size_t)rows; k++) {
            double slope = (8 * (r[2 * m + k] - r[m + k]) - (r[3 * m + k] - r[k])) / (12 * h);
            w->J = fmax(w->J, fabs(slope - J[(size_t)rows * (size_t)i + k]) / size);
        }
    }
    free(moved);
    free(delta);
    free(r);
}

static void check(const sn_problem *problem, const double *q, worst *w) {
    const sn_model *model = sn_problem_model(problem);
    int nv = sn_model_nv(model), rows = sn_residual_count(problem);
    sn_workspace *ws;
    assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
    size_t n = (size_t)nv, m = (size_t)rows;
    double *r = malloc((m + 1) * sizeof *r), *J = malloc((m * n + 1) * sizeof *J), f, square = 0;
    assert_true(r != NULL && J != NULL);
    assert_int_equal(sn_workspace_eval(ws, q, SN_EVAL_GRADIENT, &f), SN_OK);
    sn_residuals(ws, r, J);
    for (size_t k = 0; k < m; k++) square += r[k] * r[k];
    w->f = fmax(w->f, fabs(0.5 * square - f) / fmax(f, 1e-3));
    const double *g = sn_workspace_sweep_gradient(ws);
    double size = fmax(1, largest(J, m * n)), push = size * fmax(1, sqrt(square));
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t k = 0; k < m; k++) sum += J[m * i + k] * r[k];
        w->g = fmax(w->g, fabs(sum - g[i]) / push);
    }
    // r alone is the same r
    double *again = malloc((m + 1) * sizeof *again);
    sn_residuals(ws, again, NULL);
    assert_memory_equal(r, again, m * sizeof *r);
    check_jacobian(ws, model, q, rows, J, size, w);
    free(again);
    free(r);
    free(J);
    sn_workspace_destroy(ws);
}

static void random_trees(void **unused) {
    (void)unused;
    uint64_t state = 21;
    int count = cases(1500);
    worst w = {0}, knots = {0};
    for (int i = 0; i < count; i++) {
        int joint = i % SN_JOINT_TYPE_COUNT, task = i / SN_JOINT_TYPE_COUNT % SN_TASK_AVOID;
        sn_model *model = random_model(&state, 1 + below(&state, 9), i % 5 == 0 ? -1 : joint);
        sn_problem *problem =
            random_problem(&state, model, 1 + below(&state, 4), i % 7 == 0 ? -1 : task);
        // a loss's weight counts as constant in J: not so in differences
        for (int k = 0; k < sn_problem_ntask(problem); k++)
            (void)sn_problem_set_loss(problem, k, SN_LOSS_NONE, 1);
        double *q = malloc((size_t)(sn_model_nq(model) + 1) * sizeof *q);
        sn_model_sample(model, &state, q);
        // a difference across a knot of a spline, whose third derivative jumps, is good to h^2
        bool driven = false;
        for (int j = 0; j < sn_model_njoint(model); j++)
            driven = driven || sn_model_joint(model, j)->type == SN_JOINT_FUNCTION;
        check(problem, q, driven ? &knots : &w);
        // outside the limits, for the limit task
        for (int k = 0; k < sn_model_nq(model); k++) q[k] *= 1.7;
        sn_model_normalize(model, q);
        check(problem, q, driven ? &knots : &w);
        free(q);
        sn_problem_destroy(problem);
        sn_model_destroy(model);
    }
    for (int i = 0; i < count / 5; i++) {
        sn_model *model = random_model(&state, 2 + below(&state, 8), i % SN_JOINT_FUNCTION);
        sn_problem *problem = random_problem(&state, model, 1 + below(&state, 3), SN_TASK_RELATIVE);
        double *q = malloc((size_t)(sn_model_nq(model) + 1) * sizeof *q);
        sn_model_sample(model, &state, q);
        check(problem, q, &w);
        free(q);
        sn_problem_destroy(problem);
        sn_model_destroy(model);
    }
    print_message("%d trees: worst relative error f %.1e, J^T r %.1e, J %.1e\n", count, w.f, w.g,
                  w.J);
    assert_true(w.f < 1e-12);
    assert_true(w.g < 1e-12);
    assert_true(w.J < 1e-9);
    print_message("with function joints: f %.1e, J^T r %.1e, J %.1e\n", knots.f, knots.g, knots.J);
    assert_true(knots.f < 1e-11);
    assert_true(knots.g < 1e-12);
    assert_true(knots.J < 1e-6);
}

// What is off, missing or without weight gives zeros, and the rows stay where they are.
static void rows_that_rest(void **unused) {
    (void)unused;
    uint64_t state = 22;
    sn_model *model = random_model(&state, 6, -1);
    sn_problem *problem = random_problem(&state, model, 12, -1);
    int rows = sn_residual_count(problem);
    sn_workspace *ws;
    double f, q[64], *r = malloc((size_t)(rows + 1) * sizeof *r);
    assert_true(sn_model_nq(model) <= 64 && r != NULL);
    sn_model_sample(model, &state, q);
    assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
    for (int i = 0; i < sn_problem_ntask(problem); i++) {
        if (i % 2) {
            assert_int_equal(sn_problem_set_enabled(problem, i, false), SN_OK);
        } else {
            assert_int_equal(sn_problem_set_weight(problem, i, 0), SN_OK);
        }
        assert_int_equal(sn_residual_count(problem), rows);
        assert_int_equal(sn_workspace_eval(ws, q, 0, &f), SN_OK);
        sn_residuals(ws, r, NULL);
        double square = 0;
        for (int k = 0; k < rows; k++) square += r[k] * r[k];
        assert_near(0.5 * square, f, 1e-12);
    }
    // frame2 and pose have a rotational weight of their own: switch those off too
    for (int i = 0; i < sn_problem_ntask(problem); i++)
        assert_int_equal(sn_problem_set_enabled(problem, i, false), SN_OK);
    assert_int_equal(sn_workspace_eval(ws, q, 0, &f), SN_OK);
    sn_residuals(ws, r, NULL);
    for (int k = 0; k < rows; k++) assert_true(r[k] == 0);
    free(r);
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_trees),
        cmocka_unit_test(rows_that_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
