// SPDX-License-Identifier: MIT
// Robust losses: what is taken and refused, how the methods fare, and what they are for - markers
// that were thrown away. Their derivatives are tested in test_derivatives.c.
#include "support.h"
#include "sweeps/residuals.h"
#include "tasks/problem.h"

enum { METHODS = SN_METHOD_COUNT };

// The humanoid at a random pose q, its markers' goals 2 mm off, three of them thrown 0.5 m away.
static sn_problem *thrown(sn_model *model, uint64_t *state, double *q, int bad[3]) {
    sn_problem *problem;
    sn_workspace *ws;
    assert_int_equal(sn_problem_create_markers(model, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
    sn_model_sample(model, state, q);
    for (int i = 7; i < sn_model_nq(model); i++) q[i] *= 0.3;
    assert_int_equal(sn_workspace_pose(ws, q), SN_OK);
    int n = sn_problem_ntask(problem), first = below(state, n);
    for (int k = 0; k < 3; k++) bad[k] = (first + 14 * k) % n;  // on different limbs
    assert_int_equal(n, 41);
    for (int i = 0; i < n; i++) {
        const sn_task *t = sn_problem_task(problem, i);
        sn_vec3 x = sn_workspace_point(ws, t->joint, t->local);
        double goal[3] = {x.x, x.y, x.z}, away[3], norm = 0;
        for (int c = 0; c < 3; c++) goal[c] += uniform(state, -0.002, 0.002);
        for (int c = 0; c < 3; c++) away[c] = uniform(state, -1, 1);
        for (int c = 0; c < 3; c++) norm += away[c] * away[c];
        bool away_with = i == bad[0] || i == bad[1] || i == bad[2];
        for (int c = 0; c < 3 && away_with; c++) goal[c] += 0.5 * away[c] / sqrt(norm);
        assert_int_equal(sn_problem_set_goal(problem, i, goal), SN_OK);
    }
    sn_workspace_destroy(ws);
    return problem;
}

static void set_all(sn_problem *problem, sn_loss loss, double scale) {
    for (int i = 0; i < sn_problem_ntask(problem); i++)
        assert_int_equal(sn_problem_set_loss(problem, i, loss, scale), SN_OK);
}

// The furthest that any joint's centre is from where it is at pose `truth`.
static double off(const sn_problem *problem, const double *q, const double *truth) {
    const sn_model *model = sn_problem_model(problem);
    sn_workspace *a, *b;
    double worst = 0;
    assert_int_equal(sn_workspace_create(problem, false, NULL, &a, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(problem, false, NULL, &b, NULL), SN_OK);
    assert_int_equal(sn_workspace_pose(a, q), SN_OK);
    assert_int_equal(sn_workspace_pose(b, truth), SN_OK);
    for (int j = 0; j < sn_model_njoint(model); j++) {
        sn_vec3 x = sn_workspace_frame(a, j).p, y = sn_workspace_frame(b, j).p;
        worst = fmax(worst, sqrt((x.x - y.x) * (x.x - y.x) + (x.y - y.y) * (x.y - y.y) +
                                 (x.z - y.z) * (x.z - y.z)));
    }
    sn_workspace_destroy(a);
    sn_workspace_destroy(b);
    return worst;
}

static sn_report solve(const sn_problem *problem, sn_method method, int iterations, double *q) {
    sn_solver_options options = sn_solver_options_default();
    sn_solver *solver;
    sn_report report;
    options.method = method;
    options.max_iterations = iterations;
    assert_int_equal(sn_solver_create(problem, &options, NULL, &solver, NULL), SN_OK);
    assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
    sn_solver_destroy(solver);
    return report;
}

static double median(double *x, int n) {
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && x[j] < x[j - 1]; j--) {
            double t = x[j];
            x[j] = x[j - 1];
            x[j - 1] = t;
        }
    return x[n / 2];
}

// Started nearby, as tracking does: with a loss the pose is the true one but for the noise.
static void thrown_markers(void **unused) {
    (void)unused;
    sn_model *model;
    assert_int_equal(sn_model_humanoid(NULL, &model, NULL), SN_OK);
    static const sn_method methods[] = {SN_METHOD_NEWTON, SN_METHOD_HYBRID, SN_METHOD_LM};
    uint64_t state = 31;
    enum { MOST = 400 };
    int count = cases(20) < 20 ? 20 : cases(20) < MOST ? cases(20) : MOST;
    double best[MOST], error[3][SN_LOSS_COUNT][MOST], iterations[3][SN_LOSS_COUNT] = {{0}};
    int minima = 0;
    for (int i = 0; i < count; i++) {
        double truth[64], start[64], q[64], step[64];
        int bad[3];
        sn_problem *problem = thrown(model, &state, truth, bad);
        for (int v = 0; v < sn_model_nv(model); v++) step[v] = uniform(&state, -0.03, 0.03);
        sn_model_integrate(model, truth, step, start);
        for (int m = 0; m < 3; m++) {
            for (int loss = 0; loss < SN_LOSS_COUNT; loss++) {
                set_all(problem, (sn_loss)loss, 0.02);
                memcpy(q, start, sizeof q);
                sn_report report = solve(problem, methods[m], 200, q);
                iterations[m][loss] += (double)report.iterations / count;
                error[m][loss][i] = off(problem, q, truth);
                minima += report.stop == SN_STOP_MINIMUM || m == 2;
            }
        }
        // the best there is: without the three
        set_all(problem, SN_LOSS_NONE, 0);
        for (int k = 0; k < 3; k++)
            assert_int_equal(sn_problem_set_missing(problem, bad[k], true), SN_OK);
        memcpy(q, start, sizeof q);
        (void)solve(problem, SN_METHOD_HYBRID, 200, q);
        best[i] = off(problem, q, truth);
        sn_problem_destroy(problem);
    }
    double known = median(best, count);
    print_message("furthest joint off by %.1f mm when the three are known\n", 1e3 * known);
    for (int m = 0; m < 3; m++) {
        double middle[SN_LOSS_COUNT], most = 0;
        for (int i = 0; i < count; i++) most = fmax(most, error[m][SN_LOSS_CAUCHY][i]);
        for (int loss = 0; loss < SN_LOSS_COUNT; loss++)
            middle[loss] = median(error[m][loss], count);
        print_message("%-7s: furthest joint off by %.0f mm without a loss, %.1f mm Huber, %.1f mm "
                      "Cauchy (worst of %d: %.1f); %.1f, %.1f, %.1f iterations\n",
                      sn_method_name(methods[m]), 1e3 * middle[0], 1e3 * middle[1], 1e3 * middle[2],
                      count, 1e3 * most, iterations[m][0], iterations[m][1], iterations[m][2]);
        assert_true(middle[SN_LOSS_NONE] > 0.08);
        assert_true(middle[SN_LOSS_CAUCHY] < 1.5 * known);
        assert_true(middle[SN_LOSS_HUBER] < 0.5 * middle[SN_LOSS_NONE]);
    }
    assert_int_equal(minima, 3 * SN_LOSS_COUNT * count);
    sn_model_destroy(model);
}

// From far away, every method: f ends below its start, and is what the report says.
static void every_method(void **unused) {
    (void)unused;
    sn_model *model;
    assert_int_equal(sn_model_humanoid(NULL, &model, NULL), SN_OK);
    uint64_t state = 32;
    for (int round = 0; round < cases(4); round++) {
        double truth[64], start[64], q[64], f0;
        int bad[3];
        sn_problem *problem = thrown(model, &state, truth, bad);
        set_all(problem, round % 2 ? SN_LOSS_HUBER : SN_LOSS_CAUCHY, 0.05);
        sn_model_sample(model, &state, start);
        sn_workspace *ws;
        assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
        assert_int_equal(sn_workspace_eval(ws, start, 0, &f0), SN_OK);
        for (int m = 0; m < METHODS; m++) {
            if (!sn_method_available((sn_method)m)) continue;
            memcpy(q, start, sizeof q);
            sn_report report = solve(problem, (sn_method)m, 30, q);
            double f;
            assert_int_equal(sn_workspace_eval(ws, q, 0, &f), SN_OK);
            assert_near(f, report.f, 1e-12);
            assert_true(f < f0);
        }
        sn_workspace_destroy(ws);
        sn_problem_destroy(problem);
    }
    sn_model_destroy(model);
}

// Coordinate descent and the stacked equations weigh the points as the loss does: they get as far
// as the default.
static void as_far(void **unused) {
    (void)unused;
    sn_model *model;
    assert_int_equal(sn_model_humanoid(NULL, &model, NULL), SN_OK);
    static const sn_method methods[] = {SN_METHOD_CCD, SN_METHOD_PINV, SN_METHOD_QR};
    uint64_t state = 36;
    for (int round = 0; round < 2; round++) {
        double truth[64], start[64], q[64], step[64];
        int bad[3];
        sn_problem *problem = thrown(model, &state, truth, bad);
        set_all(problem, round == 0 ? SN_LOSS_CAUCHY : SN_LOSS_HUBER, 0.05);
        for (int v = 0; v < sn_model_nv(model); v++) step[v] = uniform(&state, -0.03, 0.03);
        sn_model_integrate(model, truth, step, start);
        memcpy(q, start, sizeof q);
        double least = solve(problem, SN_METHOD_HYBRID, 200, q).f;
        for (int m = 0; m < 3; m++) {
            if (!sn_method_available(methods[m])) continue;
            memcpy(q, start, sizeof q);
            sn_report report = solve(problem, methods[m], 300, q);
            print_message("%s: f %.6f after %d iterations, hybrid's is %.6f\n",
                          sn_method_name(methods[m]), report.f, report.iterations, least);
            assert_true(report.f < 1.05 * least);
        }
        sn_problem_destroy(problem);
    }
    sn_model_destroy(model);
}

// The Gauss-Newton matrix is J^T J of the stacked residuals, whose J^T r is the gradient, and the
// sum of squares they stand for lies above f and touches it: f(q + u) <= f(q) + 1/2 (|r+|^2 - |r|^2)
// with the weights of q.
static void majorant(void **unused) {
    (void)unused;
    uint64_t state = 33;
    for (int round = 0; round < cases(200); round++) {
        sn_model *model = random_model(&state, 1 + below(&state, 6), -1);
        sn_problem *problem = random_problem(&state, model, 4, SN_TASK_POINT);
        sn_workspace *ws;
        for (int i = 0; i < 4; i++)
            if (!sn_problem_task(problem, i)->has_matrix)
                assert_int_equal(sn_problem_set_loss(problem, i, (sn_loss)(1 + below(&state, 2)),
                                                     uniform(&state, 0.05, 1)),
                                 SN_OK);
        size_t n = (size_t)sn_model_nv(model), rows = (size_t)sn_residual_count(problem);
        double *q = malloc((size_t)(sn_model_nq(model) + 1) * sizeof *q), f, top = 1e-3;
        double *r = malloc(rows * sizeof *r), *J = malloc((rows * n + 1) * sizeof *J);
        double *H = malloc((n * n + 1) * sizeof *H);
        const int *order = sn_model_sweep_order(model);
        sn_model_sample(model, &state, q);
        assert_int_equal(sn_workspace_create(problem, true, NULL, &ws, NULL), SN_OK);
        assert_int_equal(sn_workspace_eval(ws, q, SN_EVAL_GAUSS_NEWTON, &f), SN_OK);
        sn_residuals(ws, r, J);
        sn_workspace_hessian(ws, H);
        const double *g = sn_workspace_sweep_gradient(ws);
        for (size_t i = 0; i < n * n; i++) top = fmax(top, fabs(H[i]));
        for (size_t a = 0; a < n; a++) {
            double slope = 0;
            for (size_t k = 0; k < rows; k++) slope += J[rows * a + k] * r[k];
            assert_true(fabs(slope - g[a]) < 1e-12 * top);
            for (size_t b = 0; b < n; b++) {
                double sum = 0;
                for (size_t k = 0; k < rows; k++) sum += J[rows * a + k] * J[rows * b + k];
                assert_true(fabs(sum - H[(size_t)order[a] * n + (size_t)order[b]]) < 1e-12 * top);
            }
        }
        // the same points at another pose, weighted as at q
        double before[4], weight[4], above = f;
        for (int i = 0; i < 4; i++) {
            const sn_task *t = sn_problem_task(problem, i);
            const size_t row = 3 * (size_t)problem->parts[i].point;
            before[i] = sn_workspace_task_error(ws, i);
            weight[i] =
                t->has_matrix
                    ? 0
                    : (r[row] * r[row] + r[row + 1] * r[row + 1] + r[row + 2] * r[row + 2]) /
                          (before[i] * before[i]);
            if (t->has_matrix) (void)sn_problem_set_enabled(problem, i, false);
        }
        assert_int_equal(sn_workspace_eval(ws, q, 0, &above), SN_OK);
        sn_model_sample(model, &state, q);
        assert_int_equal(sn_workspace_eval(ws, q, 0, &f), SN_OK);
        for (int i = 0; i < 4; i++) {
            double now = sn_workspace_task_error(ws, i);
            above += 0.5 * weight[i] * (now * now - before[i] * before[i]);
        }
        assert_true(f <= above + 1e-12 * fmax(1, fabs(above)));
        free(q);
        free(r);
        free(J);
        free(H);
        sn_workspace_destroy(ws);
        sn_problem_destroy(problem);
        sn_model_destroy(model);
    }
}

static void refused(const sn_model *model, sn_task task, const char *part) {
    sn_problem *problem;
    sn_error error;
    assert_int_equal(sn_problem_create(model, &task, 1, NULL, &problem, &error), SN_ERR_TASK);
    assert_null(problem);
    if (strstr(error.text, part) == NULL) fail_msg("\"%s\" lacks \"%s\"", error.text, part);
}

static void json_refused(const sn_model *model, const char *keys, const char *part) {
    char text[400];
    sn_problem *problem;
    sn_error error;
    (void)snprintf(text, sizeof text, "{\"tasks\": [{\"joint\": \"j0\", \"goal\": [0,0,0],\n%s}]}",
                   keys);
    assert_int_equal(sn_problem_read_json(text, strlen(text), model, NULL, &problem, &error),
                     SN_ERR_TASK);
    if (strstr(error.text, part) == NULL) fail_msg("\"%s\" lacks \"%s\"", error.text, part);
}

static void taken_and_refused(void **unused) {
    (void)unused;
    uint64_t state = 34;
    sn_model *model = random_model(&state, 3, SN_JOINT_EULER);
    static const double scales[] = {0, -1, NAN, INFINITY, 1e51, 1e-51};
    sn_task task = sn_task_default(SN_TASK_POINT);
    task.loss = SN_LOSS_CAUCHY;
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        task.loss_scale = scales[i];
        refused(model, task, "loss_scale");
    }
    task.loss_scale = 0.1;
    task.loss = SN_LOSS_COUNT;
    refused(model, task, "unknown loss");
    task.loss = SN_LOSS_HUBER;
    task.has_matrix = true;
    task.matrix[0] = task.matrix[4] = task.matrix[8] = 1;
    static const sn_task_type without[] = {SN_TASK_FRAME2,  SN_TASK_POSE,  SN_TASK_RELATIVE_POSE,
                                           SN_TASK_REST,    SN_TASK_LIMIT, SN_TASK_POSTURE,
                                           SN_TASK_COUPLED, SN_TASK_OWN};
    for (size_t i = 0; i < sizeof without / sizeof without[0]; i++) {
        sn_task other = sn_task_default(without[i]);
        other.loss = SN_LOSS_HUBER;
        other.loss_scale = 1;
        refused(model, other, "has no loss");
    }
    json_refused(model, "\"type\": \"point\", \"loss\": \"tukey\"", "unknown loss \"tukey\"");
    json_refused(model, "\"type\": \"point\", \"loss\": \"huber\"", "loss_scale");
    json_refused(model, "\"type\": \"point\", \"loss\": 1", "loss");

    static const char text[] =
        "{\"tasks\": [{\"type\": \"point\", \"joint\": \"j1\", \"goal\": [3,0,0], \"loss\": "
        "\"cauchy\", \"loss_scale\": 0.25}, {\"type\": \"point\", \"joint\": \"j0\", "
        "\"goal\": [0,5,0], \"loss\": \"none\"}]}";
    sn_problem *problem, *copy;
    assert_int_equal(sn_problem_read_json(text, strlen(text), model, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_problem_task(problem, 0)->loss, SN_LOSS_CAUCHY);
    assert_true(sn_problem_task(problem, 0)->loss_scale == 0.25);
    assert_int_equal(sn_problem_task(problem, 1)->loss, SN_LOSS_NONE);
    assert_int_equal(sn_problem_set_loss(problem, 1, SN_LOSS_HUBER, 2), SN_OK);
    assert_int_equal(sn_problem_set_loss(problem, 1, SN_LOSS_CAUCHY, -2), SN_ERR_VALUE);
    assert_int_equal(sn_problem_set_loss(problem, 2, SN_LOSS_NONE, 1), SN_ERR_ARGUMENT);
    assert_int_equal(sn_problem_copy(problem, NULL, 0, NULL, &copy, NULL), SN_OK);
    assert_int_equal(sn_problem_task(copy, 1)->loss, SN_LOSS_HUBER);

    // f by hand, from both; then as if there had never been a loss
    double q[9] = {0}, f, g, plain = 0, expected = 0;
    sn_workspace *ws, *other;
    assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(copy, false, NULL, &other, NULL), SN_OK);
    assert_int_equal(sn_workspace_eval(ws, q, 0, &f), SN_OK);
    assert_int_equal(sn_workspace_eval(other, q, SN_EVAL_HESSIAN, &g), SN_OK);
    double d0 = sn_workspace_task_error(ws, 0), d1 = sn_workspace_task_error(ws, 1);
    assert_true(d1 > 2);
    expected = 0.5 * 0.0625 * log(1 + d0 * d0 / 0.0625) + 0.5 * (4 * d1 - 4);
    assert_near(f, expected, 1e-13);
    assert_near(g, expected, 1e-13);
    plain = 0.5 * (d0 * d0 + d1 * d1);
    assert_int_equal(problem->nloss, 2);
    set_all(problem, SN_LOSS_NONE, 0);
    assert_int_equal(problem->nloss, 0);  // and the plain sweep is used again
    assert_int_equal(sn_workspace_eval(ws, q, SN_EVAL_HESSIAN, &f), SN_OK);
    assert_near(f, plain, 1e-13);
    sn_workspace_destroy(ws);
    sn_workspace_destroy(other);
    sn_problem_destroy(copy);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
}

// Distances and scales as far apart as they may be give finite numbers.
static void far_and_small(void **unused) {
    (void)unused;
    uint64_t state = 35;
    sn_model *model = random_model(&state, 4, SN_JOINT_BALL);
    static const double sizes[] = {1e-50, 1e-20, 1, 1e20, 1e50};
    sn_task task = sn_task_default(SN_TASK_POINT);
    sn_problem *problem;
    sn_workspace *ws;
    double q[16], f, H[144];
    assert_int_equal(sn_model_nq(model), 16);
    task.joint = 3;
    assert_int_equal(sn_problem_create(model, &task, 1, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(problem, true, NULL, &ws, NULL), SN_OK);
    sn_model_sample(model, &state, q);
    for (int i = 0; i < 50; i++) {
        const double goal[3] = {sizes[i % 5], -sizes[i % 5], 0};
        assert_int_equal(sn_problem_set_goal(problem, 0, goal), SN_OK);
        assert_int_equal(sn_problem_set_loss(problem, 0, i < 25 ? SN_LOSS_HUBER : SN_LOSS_CAUCHY,
                                             sizes[i / 5 % 5]),
                         SN_OK);
        assert_int_equal(sn_workspace_eval(ws, q, SN_EVAL_HESSIAN, &f), SN_OK);
        assert_true(f >= 0);
        sn_workspace_hessian(ws, H);
        for (int k = 0; k < 144; k++) assert_true(isfinite(H[k]));
    }
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(taken_and_refused),
        cmocka_unit_test(far_and_small),
        cmocka_unit_test(majorant),
        cmocka_unit_test(every_method),
        cmocka_unit_test(as_far),
        cmocka_unit_test(thrown_markers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
