// SPDX-License-Identifier: MIT
// Path-sparse algebra against plain dense algebra, over trees of every shape.
#include "support.h"

// A pattern and one symmetric matrix on it, also dense and in sweep order.
typedef struct sparse {
    sn_model *model;
    const sn_path *path;
    size_t n;
    double *rows, *dense;
} sparse;

static double *doubles(size_t n) {
    double *x = calloc(n + 1, sizeof *x);
    assert_non_null(x);
    return x;
}

static bool above(const sn_path *path, int j, int i) {
    for (; i >= 0; i = sn_path_parent(path, i))
        if (i == j) return true;
    return false;
}

// Random entries in the pattern, the diagonal made to dominate by `excess`; NaN in the padding.
static sparse sparse_new(uint64_t *state, sn_model *model, double excess) {
    const sn_path *path = sn_model_path(model);
    size_t n = (size_t)sn_path_count(path);
    sparse a = {model, path, n, doubles(sn_path_size(path)), doubles(n * n)};
    for (size_t i = 0; i < sn_path_size(path); i++) a.rows[i] = NAN;
    double *sum = doubles(n);
    for (int i = 0; i < (int)n; i++) {
        double *row = a.rows + sn_path_row(path, i);
        int length = sn_path_length(path, i);
        for (int k = length - 2, j = sn_path_parent(path, i); k >= 0;
             k--, j = sn_path_parent(path, j)) {
            row[k] = uniform(state, -1, 1);
            sum[i] += fabs(row[k]);
            sum[j] += fabs(row[k]);
        }
    }
    for (int i = 0; i < (int)n; i++)
        a.rows[sn_path_row(path, i) + (size_t)sn_path_length(path, i) - 1] = sum[i] + excess;
    free(sum);
    sn_path_to_dense(path, a.rows, NULL, a.dense);
    return a;
}

static void sparse_free(sparse *a) {
    free(a->rows);
    free(a->dense);
    sn_model_destroy(a->model);
}

static sn_model *build(int njoint, const int *parent, sn_joint_type (*type)(int)) {
    sn_builder *builder;
    sn_model *model;
    char name[16];
    assert_int_equal(sn_builder_create("shape", NULL, &builder, NULL), SN_OK);
    for (int i = 0; i < njoint; i++) {
        sn_joint_desc d = sn_joint_default(type(i));
        (void)snprintf(name, sizeof name, "j%d", i);
        d.name = name;
        d.parent = parent[i];
        (void)sn_builder_joint(builder, &d);
    }
    assert_int_equal(sn_builder_finish(builder, &model, NULL), SN_OK);
    sn_builder_destroy(builder);
    return model;
}

static sn_joint_type all_hinges(int i) { return i >= 0 ? SN_JOINT_HINGE : SN_JOINT_FIXED; }
static sn_joint_type all_fixed(int i) { return i >= 0 ? SN_JOINT_FIXED : SN_JOINT_HINGE; }
static sn_joint_type every_other(int i) { return i % 2 ? SN_JOINT_BALL : SN_JOINT_FIXED; }
static sn_joint_type fixed_root(int i) { return i == 0 ? SN_JOINT_FIXED : SN_JOINT_FREE; }

enum { SHAPES = 9 };

// Single, none, star, chain, binary tree, comb, joints without dofs in between or at the root.
static sn_model *shape(int which) {
    int parent[33];
    static const int count[SHAPES] = {1, 7, 33, 33, 31, 20, 21, 15, 12};
    for (int i = 0; i < count[which]; i++) {
        switch (which) {
        case 2:
            parent[i] = i == 0 ? -1 : 0;
            break;
        case 4:
        case 6:
            parent[i] = i == 0 ? -1 : (i - 1) / 2;
            break;
        case 5:
            parent[i] = i == 0 ? -1 : i == 1 ? 0 : i - 2;
            break;
        case 8:
            parent[i] = i == 0 ? -1 : 0;
            break;
        default:
            parent[i] = i - 1;
            break;
        }
    }
    return build(count[which], parent,
                 which == 1                 ? all_fixed
                 : which == 6 || which == 7 ? every_other
                 : which == 8               ? fixed_root
                                            : all_hinges);
}

static sn_model *next_model(uint64_t *state, int i) {
    if (i < SHAPES) return shape(i);
    return random_model(state, 1 + below(state, 25), below(state, 3) == 0 ? SN_JOINT_HINGE : -1);
}

static int rounds(void) { return SHAPES + cases(300); }

// Cholesky of a dense matrix, column-major, lower triangle; false when it is not positive definite.
static bool dense_cholesky(size_t n, double *A) {
    for (size_t j = 0; j < n; j++) {
        double d = A[j + n * j];
        for (size_t k = 0; k < j; k++) d -= A[j + n * k] * A[j + n * k];
        if (!(d > 0)) return false;
        A[j + n * j] = sqrt(d);
        for (size_t i = j + 1; i < n; i++) {
            double s = A[i + n * j];
            for (size_t k = 0; k < j; k++) s -= A[i + n * k] * A[j + n * k];
            A[i + n * j] = s / A[j + n * j];
        }
    }
    return true;
}

static void dense_solve(size_t n, const double *L, double *x) {
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++) x[i] -= L[i + n * k] * x[k];
        x[i] /= L[i + n * i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++) x[i] -= L[k + n * i] * x[k];
        x[i] /= L[i + n * i];
    }
}

static double dense_form(size_t n, const double *A, const double *x, const double *y) {
    double sum = 0;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) sum += x[i] * A[i + n * j] * y[j];
    return sum;
}

static void patterns(void **unused) {
    (void)unused;
    uint64_t state = 1;
    for (int round = 0; round < rounds(); round++) {
        sparse a = sparse_new(&state, next_model(&state, round), 1);
        const int *order = sn_model_sweep_order(a.model);
        assert_int_equal(a.n, sn_model_nv(a.model));
        size_t entries = 0;
        bool *seen = calloc(a.n + 1, sizeof *seen);
        assert_non_null(seen);
        for (int i = 0; i < (int)a.n; i++) {
            int parent = sn_path_parent(a.path, i), length = sn_path_length(a.path, i);
            assert_true(parent < i);
            assert_int_equal(length, parent < 0 ? 1 : sn_path_length(a.path, parent) + 1);
            entries += (size_t)length;
            assert_true(order[i] >= 0 && order[i] < (int)a.n && !seen[order[i]]);
            seen[order[i]] = true;
            // nothing outside the paths
            for (int j = 0; j < i; j++)
                if (!above(a.path, j, i)) assert_true(a.dense[(size_t)i + a.n * (size_t)j] == 0);
        }
        free(seen);
        assert_int_equal(sn_path_entries(a.path), entries);
        assert_true(sn_path_size(a.path) >= entries && sn_path_size(a.path) <= entries + a.n);
        sparse_free(&a);
    }
}

static void known_patterns(void **unused) {
    (void)unused;
    // single, none, star, chain of 33, binary tree of 31 (depths 1 2 2 3 3 3 3 ...)
    static const size_t entries[] = {1, 0, 65, 33 * 34 / 2, 1 + 2 * 2 + 4 * 3 + 8 * 4 + 16 * 5};
    static const int rows[] = {1, 0, 33, 33, 31};
    for (int i = 0; i < 5; i++) {
        sn_model *m = shape(i);
        assert_int_equal(sn_path_count(sn_model_path(m)), rows[i]);
        assert_int_equal(sn_path_entries(sn_model_path(m)), entries[i]);
        sn_model_destroy(m);
    }
}

static void to_dense_and_multiply(void **unused) {
    (void)unused;
    uint64_t state = 2;
    for (int round = 0; round < rounds(); round++) {
        sparse a = sparse_new(&state, next_model(&state, round), 1);
        double *x = doubles(a.n), *y = doubles(a.n), *filed = doubles(a.n * a.n);
        const int *order = sn_model_sweep_order(a.model);
        sn_path_to_dense(a.path, a.rows, order, filed);
        for (size_t i = 0; i < a.n; i++) {
            x[i] = uniform(&state, -1, 1);
            y[i] = NAN;
        }
        sn_path_multiply(a.path, a.rows, x, y);
        for (size_t i = 0; i < a.n; i++) {
            double sum = 0;
            for (size_t j = 0; j < a.n; j++) {
                sum += a.dense[i + a.n * j] * x[j];
                assert_true(a.dense[i + a.n * j] == a.dense[j + a.n * i]);
                assert_true(filed[(size_t)order[i] + a.n * (size_t)order[j]] ==
                            a.dense[i + a.n * j]);
            }
            assert_near(y[i], sum, 1e-13);
            // the rows as the header describes them
            int at = (int)i;
            for (int k = sn_path_length(a.path, (int)i) - 1; k >= 0; k--) {
                assert_true(a.rows[sn_path_row(a.path, (int)i) + (size_t)k] ==
                            a.dense[i + a.n * (size_t)at]);
                at = sn_path_parent(a.path, at);
            }
        }
        free(x);
        free(y);
        free(filed);
        sparse_free(&a);
    }
}

static double worst;

// x against the dense solution, and the residual of H x = b.
static void check_solution(const sparse *a, const double *x, const double *exact, const double *b) {
    double top = 0;
    for (size_t i = 0; i < a->n; i++) top = fmax(top, fabs(exact[i]));
    for (size_t i = 0; i < a->n; i++) {
        double residual = b[i];
        for (size_t j = 0; j < a->n; j++) residual -= a->dense[i + a->n * j] * x[j];
        worst = fmax(worst, fabs(residual));
        assert_true(fabs(x[i] - exact[i]) <= 1e-12 * top);
    }
}

static void factor_and_solve(void **unused) {
    (void)unused;
    uint64_t state = 3;
    worst = 0;
    for (int round = 0; round < rounds(); round++) {
        sparse a = sparse_new(&state, next_model(&state, round), 0.1);
        size_t bytes = (sn_path_size(a.path) + 1) * sizeof(double);
        double *factor = malloc(bytes), *L = doubles(a.n * a.n);
        double *b = doubles(a.n), *x = doubles(a.n), *exact = doubles(a.n);
        assert_non_null(factor);
        memcpy(L, a.dense, a.n * a.n * sizeof *L);
        assert_true(dense_cholesky(a.n, L));
        for (size_t i = 0; i < a.n; i++) exact[i] = b[i] = uniform(&state, -1, 1);
        dense_solve(a.n, L, exact);

        memcpy(factor, a.rows, sn_path_size(a.path) * sizeof *factor);
        assert_int_equal(sn_path_factor_ldl(a.path, 0, factor), -1);
        memcpy(x, b, a.n * sizeof *x);
        sn_path_solve_ldl(a.path, factor, x);
        check_solution(&a, x, exact, b);

        memcpy(factor, a.rows, sn_path_size(a.path) * sizeof *factor);
        assert_int_equal(sn_path_factor_ltl(a.path, 0, factor), -1);
        memcpy(x, b, a.n * sizeof *x);
        sn_path_solve_ltl(a.path, factor, x);
        check_solution(&a, x, exact, b);
        free(factor);
        free(L);
        free(b);
        free(x);
        free(exact);
        sparse_free(&a);
    }
    print_message("%d trees: worst residual %.1e\n", rounds(), worst);
    assert_true(worst < 1e-12);
}

// L^T L and L^T D L multiplied out give H back.
static void factors_multiply_back(void **unused) {
    (void)unused;
    uint64_t state = 4;
    for (int round = 0; round < rounds(); round++) {
        sparse a = sparse_new(&state, next_model(&state, round), 0.1);
        size_t n = a.n;
        for (int ltl = 0; ltl < 2; ltl++) {
            double *factor = doubles(sn_path_size(a.path)), *F = doubles(n * n);
            memcpy(factor, a.rows, sn_path_size(a.path) * sizeof *factor);
            assert_int_equal((ltl ? sn_path_factor_ltl : sn_path_factor_ldl)(a.path, 0, factor),
                             -1);
            sn_path_to_dense(a.path, factor, NULL, F);
            for (size_t i = 0; i < n; i++) {
                for (size_t j = 0; j <= i; j++) {
                    double sum = 0;
                    // rows k at and below both: L_ki d_k L_kj
                    for (size_t k = i; k < n; k++) {
                        double d = ltl ? 1 : F[k + n * k];
                        double ki = k == i && !ltl ? 1 : F[k + n * i];
                        double kj = k == j && !ltl ? 1 : F[k + n * j];
                        sum += ki * d * kj;
                    }
                    assert_near(sum, a.dense[i + n * j], 1e-12);
                }
            }
            free(factor);
            free(F);
        }
        sparse_free(&a);
    }
}

static void dropping(void **unused) {
    (void)unused;
    uint64_t state = 5;
    for (int round = 0; round < rounds(); round++) {
        sparse a = sparse_new(&state, next_model(&state, round), 1);
        bool *keep = calloc(a.n + 1, sizeof *keep);
        double *rows = doubles(sn_path_size(a.path)), *dense = doubles(a.n * a.n);
        assert_non_null(keep);
        for (size_t i = 0; i < a.n; i++) keep[i] = below(&state, 3) > 0;
        memcpy(rows, a.rows, sn_path_size(a.path) * sizeof *rows);
        sn_path_drop(a.path, keep, rows);
        sn_path_to_dense(a.path, rows, NULL, dense);
        for (size_t i = 0; i < a.n; i++) {
            for (size_t j = 0; j < a.n; j++) {
                double expected = keep[i] && keep[j] ? a.dense[i + a.n * j] : i == j;
                assert_true(dense[i + a.n * j] == expected);
            }
        }
        free(keep);
        free(rows);
        free(dense);
        sparse_free(&a);
    }
}

// The pivot of row k by dense algebra: H_kk less what the rows of its subtree take out.
static double dense_pivot(const sparse *a, int k, const double *dense) {
    size_t n = a->n, count = 0;
    size_t *below_k = calloc(n + 1, sizeof *below_k);
    assert_non_null(below_k);
    for (int i = k + 1; i < (int)n; i++)
        if (above(a->path, k, i)) below_k[count++] = (size_t)i;
    double *B = doubles(count * count), *c = doubles(count), *x = doubles(count);
    for (size_t i = 0; i < count; i++) {
        c[i] = x[i] = dense[below_k[i] + n * (size_t)k];
        for (size_t j = 0; j < count; j++) B[i + count * j] = dense[below_k[i] + n * below_k[j]];
    }
    assert_true(dense_cholesky(count, B));
    dense_solve(count, B, x);
    double d = dense[(size_t)k + n * (size_t)k];
    for (size_t i = 0; i < count; i++) d -= c[i] * x[i];
    free(below_k);
    free(B);
    free(c);
    free(x);
    return d;
}

// After a failure at k: the pivot, the direction, and what the header says of both.
static void check_failure(const sparse *a, const double *dense, const double *factor, int k) {
    size_t n = a->n;
    double *z = doubles(n), scale = 0;
    double pivot = factor[sn_path_row(a->path, k) + (size_t)sn_path_length(a->path, k) - 1];
    for (size_t i = 0; i < n; i++) z[i] = NAN;
    // what is missing is left alone
    sn_path_curvature(NULL, factor, k, z);
    sn_path_curvature(a->path, NULL, k, z);
    sn_path_curvature(a->path, factor, k, NULL);
    for (size_t i = 0; i < n; i++) assert_true(isnan(z[i]));
    sn_path_curvature(a->path, factor, k, z);
    assert_true(z[k] == 1);
    for (int i = 0; i < (int)n; i++)
        if (!above(a->path, k, i)) assert_true(z[i] == 0);
    double form = dense_form(n, dense, z, z), d = dense_pivot(a, k, dense);
    for (size_t i = 0; i < n; i++) scale = fmax(scale, fabs(z[i] * z[i] * dense[i + n * i]));
    if (!(fabs(form - pivot) <= 1e-10 * fabs(pivot) + 1e-14 * scale))
        fail_msg("z^T H z is %.17g, the pivot %.17g", form, pivot);
    if (!(fabs(d - pivot) <= 1e-10 * fabs(pivot) + 1e-14 * scale))
        fail_msg("the pivot should be %.17g, is %.17g", d, pivot);
    free(z);
}

static void failed_pivots(void **unused) {
    (void)unused;
    uint64_t state = 6;
    int failures = 0;
    for (int round = 0; round < rounds(); round++) {
        sparse a = sparse_new(&state, next_model(&state, round), 0.1);
        if (a.n == 0) {
            sparse_free(&a);
            continue;
        }
        // pull one diagonal entry down, sometimes two
        for (int times = 1 + below(&state, 2); times > 0; times--) {
            int i = below(&state, (int)a.n);
            double *entry = a.rows + sn_path_row(a.path, i) + sn_path_length(a.path, i) - 1;
            *entry = -fabs(*entry) * uniform(&state, 0.1, 2);
        }
        sn_path_to_dense(a.path, a.rows, NULL, a.dense);
        double *factor = doubles(sn_path_size(a.path)), *again = doubles(sn_path_size(a.path));
        memcpy(factor, a.rows, sn_path_size(a.path) * sizeof *factor);
        memcpy(again, a.rows, sn_path_size(a.path) * sizeof *factor);
        int k = sn_path_factor_ldl(a.path, 0, factor);
        assert_true(k >= 0 && k < (int)a.n);
        // the first from the leaves: dense pivots of all rows behind it are positive
        for (int i = k + 1; i < (int)a.n; i++) assert_true(dense_pivot(&a, i, a.dense) > 0);
        assert_true(dense_pivot(&a, k, a.dense) <= 0);
        check_failure(&a, a.dense, factor, k);
        assert_int_equal(sn_path_factor_ltl(a.path, 0, again), k);
        size_t at = sn_path_row(a.path, k) + (size_t)sn_path_length(a.path, k) - 1;
        assert_true(again[at] == factor[at]);
        failures++;
        free(factor);
        free(again);
        sparse_free(&a);
    }
    assert_true(failures > 10);
}

static void tolerance(void **unused) {
    (void)unused;
    uint64_t state = 7;
    sparse a = sparse_new(&state, shape(3), 0.5);
    double *factor = doubles(sn_path_size(a.path));
    // the last row of a chain is its first pivot, and it is the entry itself
    double last = a.dense[a.n * a.n - 1];
    for (int over = 0; over < 2; over++) {
        memcpy(factor, a.rows, sn_path_size(a.path) * sizeof *factor);
        int k = sn_path_factor_ldl(a.path, over ? last : nextafter(last, 0), factor);
        assert_true(over ? k == (int)a.n - 1 : k != (int)a.n - 1);
    }
    // a pivot that is not a number fails too
    memcpy(factor, a.rows, sn_path_size(a.path) * sizeof *factor);
    factor[sn_path_row(a.path, 20) + (size_t)sn_path_length(a.path, 20) - 1] = NAN;
    assert_int_equal(sn_path_factor_ldl(a.path, 0, factor), 20);
    free(factor);
    sparse_free(&a);
}

// Exact Hessians of the figure at random poses with far goals: indefinite.
static void indefinite_figure(void **unused) {
    (void)unused;
    sparse a = {0};
    sn_problem *problem;
    sn_workspace *ws;
    uint64_t state = 8;
    int failures = 0;
    assert_int_equal(sn_model_humanoid(NULL, &a.model, NULL), SN_OK);
    assert_int_equal(sn_problem_create_markers(a.model, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(problem, true, NULL, &ws, NULL), SN_OK);
    a.path = sn_model_path(a.model);
    a.n = (size_t)sn_path_count(a.path);
    a.dense = doubles(a.n * a.n);
    double *factor = doubles(sn_path_size(a.path));
    for (int round = 0; round < cases(200); round++) {
        double q[64], f;
        for (int i = 0; i < sn_problem_ntask(problem); i++) {
            double goal[3];
            for (int c = 0; c < 3; c++) goal[c] = uniform(&state, -2, 2);
            assert_int_equal(sn_problem_set_goal(problem, i, goal), SN_OK);
        }
        sn_model_sample(a.model, &state, q);
        assert_int_equal(sn_workspace_eval(ws, q, SN_EVAL_HESSIAN, &f), SN_OK);
        memcpy(factor, sn_workspace_rows(ws), sn_path_size(a.path) * sizeof *factor);
        sn_path_to_dense(a.path, factor, NULL, a.dense);
        int k = sn_path_factor_ldl(a.path, 0, factor);
        if (k < 0) continue;
        failures++;
        check_failure(&a, a.dense, factor, k);
    }
    print_message("%d indefinite Hessians\n", failures);
    assert_true(failures > 0);
    free(factor);
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    sparse_free(&a);
}

// Hessians of random problems, made definite, through the workspace's own rows.
static void rows_of_problems(void **unused) {
    (void)unused;
    uint64_t state = 9;
    for (int round = 0; round < cases(200); round++) {
        sn_model *model = random_model(&state, 1 + below(&state, 12), -1);
        sn_problem *problem = random_problem(&state, model, 3, -1);
        const sn_path *path = sn_model_path(model);
        size_t n = (size_t)sn_path_count(path);
        double *q = doubles((size_t)sn_model_nq(model)), *H = doubles(n * n), *F = doubles(n * n),
               f;
        sn_workspace *ws;
        assert_int_equal(sn_workspace_create(problem, true, NULL, &ws, NULL), SN_OK);
        sn_model_sample(model, &state, q);
        assert_int_equal(sn_workspace_eval(ws, q, SN_EVAL_HESSIAN, &f), SN_OK);
        sn_workspace_hessian(ws, H);
        sn_path_to_dense(path, sn_workspace_rows(ws), sn_model_sweep_order(model), F);
        assert_memory_equal(H, F, n * n * sizeof *H);
        double *g = doubles(n);
        sn_workspace_gradient(ws, g);
        for (size_t i = 0; i < n; i++)
            assert_true(g[sn_model_sweep_order(model)[i]] == sn_workspace_sweep_gradient(ws)[i]);
        free(g);
        free(q);
        free(H);
        free(F);
        sn_workspace_destroy(ws);
        sn_problem_destroy(problem);
        sn_model_destroy(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns),
        cmocka_unit_test(known_patterns),
        cmocka_unit_test(to_dense_and_multiply),
        cmocka_unit_test(factor_and_solve),
        cmocka_unit_test(factors_multiply_back),
        cmocka_unit_test(dropping),
        cmocka_unit_test(failed_pivots),
        cmocka_unit_test(tolerance),
        cmocka_unit_test(indefinite_figure),
        cmocka_unit_test(rows_of_problems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
