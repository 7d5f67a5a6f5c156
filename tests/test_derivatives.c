// SPDX-License-Identifier: MIT
// f, gradient and Hessian against the slow reference, over random trees that cover every joint type
// x task type; the general sweep against the fast one; H x against H.
#include "reference.h"
#include "support.h"
#include "sweeps/workspace.h"

static double worst_f, worst_g, worst_H;

typedef struct numbers {
    double f, *g, *H;
} numbers;

static numbers numbers_new(int nv) {
    size_t n = (size_t)nv;
    numbers x = {0, malloc((n + 1) * sizeof(double)), malloc((n * n + 1) * sizeof(double))};
    assert_true(x.g != NULL && x.H != NULL);
    return x;
}

static void numbers_free(numbers *x) {
    free(x->g);
    free(x->H);
}

static void evaluate(sn_workspace *ws, const double *q, unsigned what, numbers *out) {
    assert_int_equal(sn_workspace_eval(ws, q, what, &out->f), SN_OK);
    sn_workspace_gradient(ws, out->g);
    sn_workspace_hessian(ws, out->H);
}

static double largest(const double *x, int n) {
    double top = 0;
    for (int i = 0; i < n; i++) top = fmax(top, fabs(x[i]));
    return top;
}

// A thousandth of what the derivatives would be if nothing cancelled: weights, times levers of about 1.
// Where they all but vanish (a slider along a plane), what is left is rounding of the model's numbers.
static double usual_size(const sn_problem *problem, sn_workspace *ws, const double *q) {
    double sum = 0;
    bool tied = false;
    assert_int_equal(sn_workspace_pose(ws, q), SN_OK);
    for (int i = 0; i < sn_problem_ntask(problem); i++) {
        const sn_task *t = sn_problem_task(problem, i);
        double size = t->weight + t->rotation_weight;
        // a direction to what is near turns quickly
        if (t->type == SN_TASK_LOOK_AT || t->type == SN_TASK_DISTANCE) {
            const sn_vec3 x = sn_workspace_point(ws, t->joint, t->local);
            sn_vec3 y = {t->local2[0], t->local2[1], t->local2[2]};
            if (t->joint2 >= 0) y = sn_workspace_point(ws, t->joint2, t->local2);
            const double away = hypot(hypot(x.x - y.x, x.y - y.y), x.z - y.z);
            size *= fmax(1, t->type == SN_TASK_LOOK_AT ? 1 / (away * away) : 1 / away);
        }
        tied = tied || t->type >= SN_TASK_RELATIVE;
        sum += size;
    }
    // between two bodies, what moves both alike cancels: a hundredth
    return (tied ? 1e-2 : 1e-3) * (sum + rows_size(ws));
}

// The errors of one pose, relative to the largest entry.
static void compare(const sn_problem *problem, const double *q) {
    const sn_model *model = sn_problem_model(problem);
    int nv = sn_model_nv(model);
    sn_workspace *ws;
    assert_int_equal(sn_workspace_create(problem, true, NULL, &ws, NULL), SN_OK);
    numbers ours = numbers_new(nv), theirs = numbers_new(nv), other = numbers_new(nv);
    evaluate(ws, q, SN_EVAL_HESSIAN, &ours);
    reference_eval(problem, q, &theirs.f, theirs.g, theirs.H);
    double floor = usual_size(problem, ws, q), size = fmax(largest(theirs.H, nv * nv), 1e3 * floor);
    worst_f = fmax(worst_f, reference_relative(&ours.f, &theirs.f, 1, floor));
    worst_g = fmax(worst_g, reference_relative(ours.g, theirs.g, nv, 1e-3 * size));
    worst_H = fmax(worst_H, reference_relative(ours.H, theirs.H, nv * nv, floor));

    // both sweeps, f alone, the gradient alone
    evaluate(ws, q, SN_EVAL_HESSIAN | SN_EVAL_GENERAL, &other);
    assert_true(reference_relative(other.H, ours.H, nv * nv, floor) < 1e-12);
    assert_true(reference_relative(other.g, ours.g, nv, 1e-3 * size) < 1e-12);
    double f;
    assert_int_equal(sn_workspace_eval(ws, q, 0, &f), SN_OK);
    assert_near(f, theirs.f, 1e-12);
    assert_int_equal(sn_workspace_eval(ws, q, SN_EVAL_GRADIENT, &f), SN_OK);
    sn_workspace_gradient(ws, other.g);
    assert_true(reference_relative(other.g, ours.g, nv, 1e-3 * size) < 1e-12);

    // H x without H, exact and Gauss-Newton
    uint64_t state = (uint64_t)nv;
    double *x = malloc((size_t)(nv + 1) * sizeof *x), *y = malloc((size_t)(nv + 1) * sizeof *y);
    for (int i = 0; i < nv; i++) x[i] = uniform(&state, -1, 1);
    for (int gn = 0; gn < 2; gn++) {
        evaluate(ws, q, gn ? SN_EVAL_GAUSS_NEWTON : SN_EVAL_HESSIAN, &other);
        sn_workspace_multiply(ws, gn, x, y);
        for (int i = 0; i < nv; i++) {
            double sum = 0;
            for (int j = 0; j < nv; j++) sum += other.H[i + nv * j] * x[j];
            other.g[i] = sum;
        }
        assert_true(reference_relative(y, other.g, nv, 1e-3 * size) < 1e-11);
    }
    free(x);
    free(y);
    numbers_free(&ours);
    numbers_free(&theirs);
    numbers_free(&other);
    sn_workspace_destroy(ws);
}

static void random_trees(void **unused) {
    (void)unused;
    uint64_t state = 1;
    int count = cases(1500);
    double *q = NULL;
    worst_f = worst_g = worst_H = 0;
    for (int i = 0; i < count; i++) {
        // every joint type x task type comes round in turn; the rest of the tree is random
        int joint = i % SN_JOINT_TYPE_COUNT, task = i / SN_JOINT_TYPE_COUNT % SN_TASK_AVOID;
        sn_model *model = random_model(&state, 1 + below(&state, 9), i % 5 == 0 ? -1 : joint);
        sn_problem *problem =
            random_problem(&state, model, 1 + below(&state, 4), i % 7 == 0 ? -2 : task);
        q = realloc(q, (size_t)(sn_model_nq(model) + 1) * sizeof *q);
        assert_non_null(q);
        sn_model_sample(model, &state, q);
        compare(problem, q);
        sn_problem_destroy(problem);
        sn_model_destroy(model);
    }
    free(q);
    print_message("%d trees: worst relative error f %.1e, gradient %.1e, Hessian %.1e\n", count,
                  worst_f, worst_g, worst_H);
    assert_true(worst_f < 1e-12);
    assert_true(worst_g < 1e-12);
    assert_true(worst_H < 1e-12);
}

// Points with losses on every joint type, among points without: near ones and far ones.
static void robust_points(void **unused) {
    (void)unused;
    uint64_t state = 11;
    int count = cases(1000), lost = 0;
    double *q = NULL;
    worst_f = worst_g = worst_H = 0;
    for (int i = 0; i < count; i++) {
        sn_model *model =
            random_model(&state, 1 + below(&state, 9), i % 5 == 0 ? -1 : i % SN_JOINT_TYPE_COUNT);
        // with other tasks the general sweep is taken, with points alone the fast one
        sn_problem *problem =
            random_problem(&state, model, 2 + below(&state, 4), i % 3 == 0 ? -1 : SN_TASK_POINT);
        for (int t = 0; t < sn_problem_ntask(problem); t++) {
            const sn_task *task = sn_problem_task(problem, t);
            sn_loss loss = (sn_loss)below(&state, SN_LOSS_COUNT);
            double scale = uniform(&state, 0.05, 3);
            if (task->type != SN_TASK_POINT || task->has_matrix) {
                assert_int_equal(sn_problem_set_loss(problem, t, loss, scale), SN_ERR_ARGUMENT);
                continue;
            }
            assert_int_equal(sn_problem_set_loss(problem, t, loss, scale), SN_OK);
            lost += loss != SN_LOSS_NONE;
        }
        q = realloc(q, (size_t)(sn_model_nq(model) + 1) * sizeof *q);
        assert_non_null(q);
        sn_model_sample(model, &state, q);
        compare(problem, q);
        sn_problem_destroy(problem);
        sn_model_destroy(model);
    }
    free(q);
    print_message("%d trees, %d losses: worst relative error f %.1e, gradient %.1e, Hessian %.1e\n",
                  count, lost, worst_f, worst_g, worst_H);
    assert_true(lost > count / 2);
    assert_true(worst_f < 1e-12);
    assert_true(worst_g < 1e-12);
    assert_true(worst_H < 1e-12);
}

// Expmap and swing at 0, near pi, at pi, past pi, near 2 pi; Euler at gimbal lock.
static void awkward_places(void **unused) {
    (void)unused;
    static const double angles[] = {0,      1e-12, 1e-8, 1e-4, 1e-2,      0.5,
                                    0.999,  1.001, 3.0,  3.14, 3.1415926, 3.141592653589793,
                                    3.1416, 4,     6.2,  6.6,  9};
    static const sn_joint_type types[] = {SN_JOINT_EXPMAP, SN_JOINT_SWING_TWIST, SN_JOINT_EULER};
    uint64_t state = 5;
    worst_f = worst_g = worst_H = 0;
    for (int t = 0; t < 3; t++) {
        for (size_t a = 0; a < sizeof angles / sizeof angles[0]; a++) {
            for (int round = 0; round < 6; round++) {
                sn_model *model = random_model(&state, 3, (int)types[t]);
                sn_problem *problem = random_problem(&state, model, 4, -1);
                double q[9];
                for (int j = 0; j < 3; j++) {
                    double u[3], n = 0;
                    int count = types[t] == SN_JOINT_SWING_TWIST ? 2 : 3;
                    for (int i = 0; i < 3; i++) u[i] = uniform(&state, -1, 1);
                    for (int i = 0; i < count; i++) n += u[i] * u[i];
                    for (int i = 0; i < 3; i++) q[3 * j + i] = angles[a] * u[i] / sqrt(n);
                    if (types[t] == SN_JOINT_EULER) q[3 * j + 1] = 1.5707963267948966 * round;
                }
                compare(problem, q);
                sn_problem_destroy(problem);
                sn_model_destroy(model);
            }
        }
    }
    print_message("worst relative error f %.1e, gradient %.1e, Hessian %.1e\n", worst_f, worst_g,
                  worst_H);
    assert_true(worst_f < 1e-12);
    assert_true(worst_g < 1e-12);
    assert_true(worst_H < 1e-12);
}

// A figure a thousand kilometres away has the same derivatives to as many digits as its goals have.
static void far_away(void **unused) {
    (void)unused;
    sn_model *model;
    assert_int_equal(sn_model_humanoid(NULL, &model, NULL), SN_OK);
    int nv = sn_model_nv(model);
    numbers here = numbers_new(nv), there = numbers_new(nv);
    const double shift = 1048576;  // a power of two: the goals move exactly
    for (int away = 0; away < 2; away++) {
        sn_problem *problem;
        sn_workspace *ws;
        uint64_t state = 3;
        double q[64];
        assert_int_equal(sn_problem_create_markers(model, NULL, &problem, NULL), SN_OK);
        for (int i = 0; i < sn_problem_ntask(problem); i++) {
            double goal[3];
            for (int c = 0; c < 3; c++) goal[c] = round(uniform(&state, -1, 1) * 0x1p20) * 0x1p-20;
            goal[0] += away * shift;
            assert_int_equal(sn_problem_set_goal(problem, i, goal), SN_OK);
        }
        sn_model_sample(model, &state, q);
        q[0] = round(q[0] * 0x1p20) * 0x1p-20 + away * shift;
        assert_int_equal(sn_workspace_create(problem, true, NULL, &ws, NULL), SN_OK);
        evaluate(ws, q, SN_EVAL_HESSIAN, away ? &there : &here);
        sn_workspace_destroy(ws);
        sn_problem_destroy(problem);
    }
    assert_near(here.f, there.f, 1e-13);
    assert_true(reference_relative(there.g, here.g, nv, 0) < 1e-13);
    assert_true(reference_relative(there.H, here.H, nv * nv, 0) < 1e-13);
    numbers_free(&here);
    numbers_free(&there);
    sn_model_destroy(model);
}

int main(void) {
    random_kinks = true;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_trees),
        cmocka_unit_test(robust_points),
        cmocka_unit_test(awkward_places),
        cmocka_unit_test(far_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
