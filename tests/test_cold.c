// SPDX-License-Identifier: MIT
// Cold solves: the best rotation of points, coordinates that turn a joint as wanted, and the right
// fold of a figure from the zero pose.
#include "math/align.h"
#include "model/joint_fit.h"
#include "sinew/batch.h"
#include "solvers/solver.h"
#include "support.h"

static sn_vec3 any_vector(uint64_t *state) {
    sn_vec3 v;
    v.x = uniform(state, -1, 1);
    v.y = uniform(state, -1, 1);
    v.z = uniform(state, -1, 1);
    return v;
}

static sn_mat3 any_matrix(uint64_t *state) {
    sn_mat3 M;
    for (int c = 0; c < 3; c++) M.c[c] = any_vector(state);
    return M;
}

static double agreement(const sn_mat3 *M, const sn_mat3 *R) {
    return v3_dot(M->c[0], R->c[0]) + v3_dot(M->c[1], R->c[1]) + v3_dot(M->c[2], R->c[2]);
}

// No rotation does better, and where points are turned ones of others, it is that turn.
static void best_rotation(void **unused) {
    (void)unused;
    uint64_t state = 21;
    for (int n = 0; n < cases(300); n++) {
        sn_mat3 M = any_matrix(&state), R = sn_best_rotation(&M);
        for (int c = 0; c < 3; c++)
            for (int e = 0; e < 3; e++) assert_near(v3_dot(R.c[c], R.c[e]), c == e, 1e-13);
        assert_near(v3_dot(v3_cross(R.c[0], R.c[1]), R.c[2]), 1, 1e-13);
        double best = agreement(&M, &R);
        for (int i = 0; i < 50; i++) {
            sn_vec3 near = v3_scale(i % 2 == 0 ? 3 : 0.01, any_vector(&state));
            sn_mat3 turn = sn_mat3_from_quat(sn_quat_exp(near)), other = m3_mulm(&turn, &R);
            assert_true(agreement(&M, &other) <= best + 1e-12);
        }
        sn_mat3 turn = sn_mat3_from_quat(sn_quat_exp(v3_scale(3, any_vector(&state))));
        sn_mat3 sum = m3_zero();
        for (int i = 0; i < 3; i++) {
            sn_vec3 x = any_vector(&state), y = m3_mul(&turn, x);
            for (int c = 0; c < 3; c++)
                sum.c[c] = v3_add(sum.c[c], v3_scale(c == 0 ? x.x : c == 1 ? x.y : x.z, y));
        }
        sn_mat3 found = sn_best_rotation(&sum);
        // three points may lie nearly on a line through the origin
        assert_true(agreement(&sum, &found) >= agreement(&sum, &turn) - 1e-12);
    }
}

// Coordinates inside the limits, locked joints left alone, and no sampled pose of the joint better.
static void joint_fit(void **unused) {
    (void)unused;
    static const sn_joint_type types[] = {SN_JOINT_HINGE, SN_JOINT_UNIVERSAL, SN_JOINT_EULER,
                                          SN_JOINT_BALL,  SN_JOINT_EXPMAP,    SN_JOINT_FREE};
    uint64_t state = 22;
    int beaten = 0, count = 0;
    for (int n = 0; n < cases(600); n++) {
        sn_builder *b;
        sn_model *model;
        sn_joint_desc d = random_joint(&state, types[n % 6], 0, -1);
        bool limited = false, locked = false;
        assert_int_equal(sn_builder_create("one", NULL, &b, NULL), SN_OK);
        (void)sn_builder_joint(b, &d);
        assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
        sn_builder_destroy(b);
        const sn_joint *j = &model->joint[0];
        for (int i = 0; i < j->nv; i++) {
            limited = limited || isfinite(model->lower[i]) || isfinite(model->upper[i]);
            locked = locked || model->gain[i] == 0;
        }
        double q[7], before[7], other[7];
        sn_model_sample(model, &state, q);
        memcpy(before, q, sizeof q);
        sn_mat3 M = any_matrix(&state);
        bool fitted = sn_joint_fit(model, j, &M, q);
        assert_true(fitted == !locked);
        assert_int_equal(sn_model_clamp(model, q), 0);
        if (!fitted) assert_memory_equal(q, before, (size_t)j->nq * sizeof *q);
        sn_mat3 R = sn_joint_rotation(j, q);
        double best = agreement(&M, &R);
        // clamped Euler angles and rotation vectors need not be the best inside the limits
        bool exact = fitted && (!limited || j->type == SN_JOINT_HINGE) && j->nv != 2;
        bool worse = false;
        for (int i = 0; i < 60 && fitted; i++) {
            sn_model_sample(model, &state, other);
            sn_mat3 S = sn_joint_rotation(j, other);
            if (exact) assert_true(agreement(&M, &S) <= best + 1e-9);
            worse = worse || agreement(&M, &S) > best + 1e-9;
        }
        if (fitted && !limited && j->type == SN_JOINT_UNIVERSAL) {
            count++;
            beaten += worse;
        }
        sn_model_destroy(model);
    }
    print_message("universal joints: %d of %d fits beaten by one of 60 samples\n", beaten, count);
    assert_true(beaten <= 0.15 * count);
}

// The figure in a random pose, anywhere, turned anyhow, its markers known with 2 mm of noise: from
// the zero pose. The truth's own valley is the least known.
static void right_fold(void **unused) {
    (void)unused;
    sn_model *model;
    sn_problem *problem;
    sn_solver *solver;
    uint64_t state = 23;
    int count = cases(40), plain = 0, cold = 0;
    assert_int_equal(sn_model_humanoid(NULL, &model, NULL), SN_OK);
    assert_int_equal(sn_problem_create_markers(model, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_solver_create(problem, NULL, NULL, &solver, NULL), SN_OK);
    for (int n = 0; n < count; n++) {
        double truth[64], q[64];
        sn_report report;
        sn_model_sample(model, &state, truth);
        for (int i = 7; i < sn_model_nq(model); i++) truth[i] *= 0.5;
        (void)sn_model_clamp(model, truth);
        assert_int_equal(sn_workspace_pose(sn_solver_workspace(solver), truth), SN_OK);
        for (int i = 0; i < sn_problem_ntask(problem); i++) {
            const sn_task *t = sn_problem_task(problem, i);
            sn_vec3 x = sn_workspace_point(sn_solver_workspace(solver), t->joint, t->local);
            double goal[3] = {x.x + uniform(&state, -0.002, 0.002),
                              x.y + uniform(&state, -0.002, 0.002),
                              x.z + uniform(&state, -0.002, 0.002)};
            assert_int_equal(sn_problem_set_goal(problem, i, goal), SN_OK);
        }
        assert_int_equal(sn_solver_solve(solver, truth, &report), SN_OK);
        double least = report.f;
        sn_model_zero(model, q);
        assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
        plain += report.f <= least * (1 + 1e-4);
        sn_model_zero(model, q);
        assert_int_equal(sn_solver_solve_cold(solver, q, &report), SN_OK);
        cold += report.f <= least * (1 + 1e-4);
        assert_true(report.stop == SN_STOP_MINIMUM || report.stop == SN_STOP_STALLED);
    }
    print_message("at the least f: %d of %d cold, %d by a plain solve\n", cold, count, plain);
    assert_true(cold >= 0.95 * count);
    sn_solver_destroy(solver);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
}

// A rigid body far away and turned over is there before the first iteration.
static void rigid_body(void **unused) {
    (void)unused;
    sn_builder *b;
    sn_model *model;
    sn_problem *problem;
    sn_solver *solver;
    uint64_t state = 24;
    assert_int_equal(sn_builder_create("body", NULL, &b, NULL), SN_OK);
    sn_joint_desc d = random_joint(&state, SN_JOINT_FREE, 0, -1);
    for (int i = 0; i < 6; i++) {
        d.locked[i] = false;
        d.lower[i] = -INFINITY;
        d.upper[i] = INFINITY;
    }
    (void)sn_builder_joint(b, &d);
    assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
    sn_builder_destroy(b);
    sn_task t[4];
    for (int i = 0; i < 4; i++) {
        t[i] = sn_task_default(SN_TASK_POINT);
        for (int k = 0; k < 3; k++) t[i].local[k] = uniform(&state, -1, 1);
    }
    assert_int_equal(sn_problem_create(model, t, 4, NULL, &problem, NULL), SN_OK);
    sn_solver_options o = sn_solver_options_default();
    o.goal = 1e-20;
    assert_int_equal(sn_solver_create(problem, &o, NULL, &solver, NULL), SN_OK);
    for (int n = 0; n < 100; n++) {
        double truth[7], q[7];
        sn_report report;
        sn_model_sample(model, &state, truth);
        for (int i = 0; i < 3; i++) truth[i] *= 100;
        assert_int_equal(sn_workspace_pose(sn_solver_workspace(solver), truth), SN_OK);
        for (int i = 0; i < 4; i++) {
            sn_vec3 x = sn_workspace_point(sn_solver_workspace(solver), 0, t[i].local);
            double goal[3] = {x.x, x.y, x.z};
            assert_int_equal(sn_problem_set_goal(problem, i, goal), SN_OK);
        }
        sn_model_zero(model, q);
        assert_int_equal(sn_solver_solve_cold(solver, q, &report), SN_OK);
        assert_int_equal(report.stop, SN_STOP_GOAL);
        assert_true(report.iterations <= 1);
    }
    sn_solver_destroy(solver);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
}

// What is asked of lanes: from one beginning to the next, how many runs were started and in how many lanes.
static struct {
    sn_cold_lanes own;
    int started, lanes, whole, runs;
    bool used[64];
} spied;

static void end_of_turn(void) {
    // all lanes are at work where there is enough to do, also when it has begun again
    if (spied.started >= 2 * spied.own.width) {
        assert_int_equal(spied.lanes, spied.own.width);
        spied.whole++;
    }
    spied.started = spied.lanes = 0;
    memset(spied.used, 0, sizeof spied.used);
}

static void spy_aim(sn_cold_lanes *self, double rival) {
    end_of_turn();
    spied.own.aim(self, rival);
}

static void spy_start(sn_cold_lanes *self, int lane, const double *q) {
    spied.started++;
    spied.runs++;
    spied.lanes += !spied.used[lane];
    spied.used[lane] = true;
    spied.own.start(self, lane, q);
}

// A solver with lanes ends where one without ends, and its solves allocate nothing; also where its problem has changed
// since it was made.
static void own_lanes(void **unused) {
    (void)unused;
    uint64_t state = 31;
    sn_model *model;
    sn_problem *markers, *problem;
    sn_workspace *ws;
    sn_solver *plain, *lanes, *other;
    test_allocator allocator;
    test_allocator_begin(&allocator);
    assert_int_equal(sn_model_humanoid(NULL, &model, NULL), SN_OK);
    assert_int_equal(sn_problem_create_markers(model, NULL, &markers, NULL), SN_OK);
    const size_t nq = (size_t)sn_model_nq(model);
    double *start = malloc(3 * nq * sizeof *start), *a = start + nq, *b = a + nq;
    // what markers leave open is held
    sn_task rest = sn_task_default(SN_TASK_REST);
    sn_model_zero(model, start);
    rest.q = start;
    rest.weight = 1e-3;
    assert_int_equal(sn_problem_copy(markers, &rest, 1, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
    sn_solver_options o = sn_solver_options_default();
    assert_true(o.lanes);
    // what comes back later has its room
    assert_int_equal(sn_problem_set_enabled(problem, sn_problem_ntask(markers), false), SN_OK);
    assert_int_equal(sn_solver_create(problem, &o, &allocator.base, &lanes, NULL), SN_OK);
    o.lanes = false;
    assert_int_equal(sn_solver_create(problem, &o, NULL, &plain, NULL), SN_OK);
    o.lanes = true;
    assert_int_equal(sn_problem_set_enabled(problem, sn_problem_ntask(markers), true), SN_OK);
    assert_true(lanes->cold.lanes != NULL && plain->cold.lanes == NULL);
    memset(&spied, 0, sizeof spied);
    spied.own = *lanes->cold.lanes;
    lanes->cold.lanes->aim = spy_aim;
    lanes->cold.lanes->start = spy_start;
    int searched = 0, lower = 0;
    const int count = sampled() ? 7 : 14;
    for (int n = 0; n < count; n++) {
        sn_report x, y, once;
        sn_model_zero(model, a);
        for (size_t i = 7; i < nq; i++) a[i] += uniform(&state, -0.8, 0.8);
        (void)sn_model_clamp(model, a);
        assert_int_equal(sn_workspace_pose(ws, a), SN_OK);
        for (int i = 0; i < sn_problem_ntask(markers); i++) {
            const sn_task *t = sn_problem_task(problem, i);
            const sn_vec3 p = sn_workspace_point(ws, t->joint, t->local);
            const double goal[3] = {p.x + uniform(&state, -0.01, 0.01), p.y, p.z};
            assert_int_equal(sn_problem_set_goal(problem, i, goal), SN_OK);
        }
        assert_int_equal(sn_problem_set_missing(problem, n, true), SN_OK);
        // in the last ones the problem is another
        if (n + 2 == count) {
            assert_int_equal(sn_problem_set_weight(problem, 5, 2), SN_OK);
            assert_int_equal(sn_problem_set_loss(problem, 6, SN_LOSS_HUBER, 0.1), SN_OK);
            assert_int_equal(sn_problem_set_enabled(problem, 7, false), SN_OK);
            assert_int_equal(sn_problem_set_limits(problem, 9, 0, -0.1, 0.2), SN_OK);
        }
        const int before = spied.runs;
        sn_model_zero(model, start);
        for (size_t i = 7; i < nq; i++) start[i] += uniform(&state, -2, 2);
        (void)sn_model_clamp(model, start);
        memcpy(a, start, nq * sizeof *a);
        assert_int_equal(sn_solver_solve(plain, a, &once), SN_OK);
        memcpy(a, start, nq * sizeof *a);
        memcpy(b, start, nq * sizeof *b);
        assert_int_equal(sn_solver_solve_cold(plain, a, &x), SN_OK);
        allocator.trap = true;
        assert_int_equal(sn_solver_solve_cold(lanes, b, &y), SN_OK);
        allocator.trap = false;
        end_of_turn();
        searched += x.f < 0.99 * once.f;
        assert_true(y.f <= x.f * (1 + 1e-9));
        assert_true(spied.runs > before || x.f <= 1e-20);
        if (y.f < x.f * (1 - 1e-9)) {
            lower++;
            continue;
        }
        for (size_t i = 0; i < nq; i++) assert_near(a[i], b[i], 1e-6);
    }
    print_message("%d of %d found another valley, %d a lower one in lanes\n", searched, count,
                  lower);
    assert_true(lower <= 1 && (searched > 2 || sampled()));
    print_message("all %d lanes at work in %d turns\n", spied.own.width, spied.whole);
    assert_true(spied.whole > 0);
    // there are none for such
    o.method = SN_METHOD_LBFGS;
    assert_int_equal(sn_solver_create(problem, &o, NULL, &other, NULL), SN_OK);
    assert_null(other->cold.lanes);
    sn_solver_destroy(other);
    sn_solver_destroy(lanes);
    sn_solver_destroy(plain);
    assert_int_equal(allocator.live, 0);
    // memory that is out
    o.method = SN_METHOD_HYBRID;
    int failed = 0;
    for (sn_status status = SN_ERR_MEMORY; status != SN_OK; failed++) {
        test_allocator_begin(&allocator);
        allocator.fail_at = failed;
        status = sn_solver_create(problem, &o, &allocator.base, &other, NULL);
        assert_true(status == SN_OK || (status == SN_ERR_MEMORY && other == NULL));
        sn_solver_destroy(other);
        assert_int_equal(allocator.live, 0);
    }
    assert_true(failed > 2);
    free(start);
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    sn_problem_destroy(markers);
    sn_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(best_rotation), cmocka_unit_test(joint_fit), cmocka_unit_test(right_fold),
        cmocka_unit_test(rigid_body),    cmocka_unit_test(own_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
