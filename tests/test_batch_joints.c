// SPDX-License-Identifier: MIT
// Every type of joint in lanes: goals that a pose meets are met by the lanes themselves, as the sweeps see it.
#include "batch/batch.h"
#include "support.h"

enum { ROWS = 16, POINTS = 3 };

// One joint of a type, and a ball on it that carries the points.
static sn_model *two_joints(uint64_t *state, sn_joint_type type) {
    sn_builder *b;
    sn_model *model;
    assert_int_equal(sn_builder_create("two", NULL, &b, NULL), SN_OK);
    for (int i = 0; i < 2; i++) {
        sn_joint_desc d = random_joint(state, i == 0 ? type : SN_JOINT_BALL, i, i - 1);
        memset(d.locked, 0, sizeof d.locked);
        (void)sn_builder_joint(b, &d);
    }
    assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
    sn_builder_destroy(b);
    return model;
}

static void lanes_by_type(void **unused) {
    (void)unused;
    uint64_t state = 5;
    for (int type = 0; type < SN_JOINT_TYPE_COUNT; type++) {
        int met = 0, helped = 0, wrong = 0, plain = 0;
        for (int n = 0; n < 3; n++) {
            sn_model *model = two_joints(&state, (sn_joint_type)type);
            sn_task task[POINTS];
            for (int k = 0; k < POINTS; k++) {
                task[k] = sn_task_default(SN_TASK_POINT);
                task[k].joint = 1;
                for (int c = 0; c < 3; c++)
                    task[k].local[c] = 0.3 * (c == k) + uniform(&state, 0, 0.1);
            }
            sn_problem *problem;
            sn_workspace *ws;
            sn_batch *batch;
            assert_int_equal(sn_problem_create(model, task, POINTS, NULL, &problem, NULL), SN_OK);
            assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
            sn_batch_options o = sn_batch_options_default();
            o.device = SN_DEVICE_CPU;
            assert_int_equal(sn_batch_create(problem, &o, NULL, &batch, NULL), SN_OK);
            double q[ROWS][16], poses[ROWS * 16], goals[ROWS][3 * POINTS];
            sn_batch_report r[ROWS];
            const int nq = sn_model_nq(model);
            assert_true(nq <= 16);
            assert_int_equal(sn_batch_ngoal(batch), 3 * POINTS);
            for (int i = 0; i < ROWS; i++) {
                sn_model_sample(model, &state, q[i]);
                assert_int_equal(sn_workspace_pose(ws, q[i]), SN_OK);
                for (int k = 0; k < POINTS; k++) {
                    sn_vec3 p = sn_workspace_point(ws, 1, task[k].local);
                    goals[i][3 * k] = p.x, goals[i][3 * k + 1] = p.y, goals[i][3 * k + 2] = p.z;
                }
            }
            assert_int_equal(sn_batch_solve(batch, ROWS, goals[0], NULL, poses, r), SN_OK);
            for (int i = 0; i < ROWS; i++) {
                double f;
                for (int k = 0; k < POINTS; k++)
                    assert_int_equal(sn_problem_set_goal(problem, k, goals[i] + 3 * k), SN_OK);
                assert_int_equal(sn_workspace_eval(ws, poses + i * nq, 0, &f), SN_OK);
                met += f < 1e-16;
                helped += r[i].plain;
                wrong += !(fabs(f - r[i].f) <= 1e-9 * f + 1e-18);
                sn_batch_report one = {0};
                sn_model_zero(model, q[i]);
                sn_batch_row_plain(&batch->worker[0], goals[i], NULL, q[i], &one);
                plain += one.f < 1e-16;
            }
            sn_batch_destroy(batch);
            sn_workspace_destroy(ws);
            sn_problem_destroy(problem);
            sn_model_destroy(model);
        }
        print_message("%-12s %d of %d met, %d by the plain solver alone, %d with its help, %d with "
                      "another f\n",
                      sn_joint_type_name((sn_joint_type)type), met, 3 * ROWS, plain, helped, wrong);
        // functions have valleys of their own
        assert_true(met >= 3 * ROWS * (type == SN_JOINT_FUNCTION ? 1 : 3) / 4);
        assert_true(met >= plain - 2);
        assert_true(helped <= 2);
        assert_int_equal(wrong, 0);
    }
}

// A slide along straight pieces, which random functions are not, as their kinks are: between the knots and beyond both ends.
static void polylines(void **unused) {
    (void)unused;
    static const char text[] =
        "{\"joints\": [{\"name\": \"cam\", \"type\": \"function\", \"coordinates\": [\"a\"], "
        "\"moves\": [{\"slide\": [0, 1, 0], \"function\": \"polyline\", \"of\": [\"a\"], "
        "\"scale\": 0.5, \"x\": [-1, 0, 2], \"y\": [-2, 0.5, 1]}, "
        "{\"slide\": [1, 0, 0], \"function\": \"linear\", \"of\": [\"a\"], \"y\": [1, 0]}]}]}";
    static const double a[8] = {-1.7, -1.2, -0.8, -0.4, 0.3, 1.6, 2.4, 3.1};
    sn_model *model;
    sn_problem *problem;
    sn_batch *batch;
    sn_error error = {0};
    sn_task task = sn_task_default(SN_TASK_POINT);
    double goals[8][3], starts[8], q[8];
    sn_batch_report r[8];
    if (sn_model_read_json(text, strlen(text), NULL, &model, &error) != SN_OK)
        fail_msg("%s", error.text);
    task.joint = 0;
    assert_int_equal(sn_problem_create(model, &task, 1, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_batch_create(problem, NULL, NULL, &batch, NULL), SN_OK);
    for (int i = 0; i < 8; i++) {
        const double y = a[i] < 0 ? 0.5 + 2.5 * a[i] : 0.5 + 0.25 * a[i];
        goals[i][0] = a[i], goals[i][1] = 0.5 * y, goals[i][2] = 0;
        starts[i] = a[i] + (a[i] < 0 ? -0.1 : 0.1);
    }
    assert_int_equal(sn_batch_solve(batch, 8, goals[0], starts, q, r), SN_OK);
    for (int i = 0; i < 8; i++) {
        assert_false(r[i].plain);
        assert_true(r[i].f < 1e-16);
        assert_near(q[i], a[i], 1e-7);
    }
    sn_batch_destroy(batch);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lanes_by_type),
                                       cmocka_unit_test(polylines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
