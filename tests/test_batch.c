// SPDX-License-Identifier: MIT
// Many problems at once: the same bits for any number of lanes and threads, the plain solver's results.
#include "batch/batch.h"
#include "batch_rows.h"
#include "support.h"

enum { ROWS = 21 };

static void solve_set(const row_set *s, const sn_batch_options *o, double *q, sn_batch_report *r) {
    sn_batch *batch;
    assert_int_equal(sn_batch_create(s->problem, o, NULL, &batch, NULL), SN_OK);
    assert_int_equal(sn_batch_solve(batch, s->n, s->goals, s->starts, q, r), SN_OK);
    assert_int_equal(sn_batch_count(batch).rows, s->n);
    sn_batch_destroy(batch);
}

static void same_bits(void **unused) {
    (void)unused;
    uint64_t state = 18;
    for (int c = 0, n = cases(40); c < n; c++) {
        row_set s = random_rows(&state, 2 + below(&state, 12), 1 + below(&state, 6), ROWS, false);
        size_t bytes = (size_t)(s.n * s.nq) * sizeof(double);
        double *q = malloc(bytes), *q1 = malloc(bytes);
        sn_batch_report r[ROWS], r1[ROWS];
        sn_batch_options o = sn_batch_options_default();
        o.lanes = 1;
        o.solver.max_iterations = 60;
        o.seeds = below(&state, 2);
        solve_set(&s, &o, q1, r1);
        for (o.lanes = 2; o.lanes <= 8; o.lanes *= 2) {
            o.threads = o.lanes == 4 ? 2 : 1;
            memset(r, 0, sizeof r);
            solve_set(&s, &o, q, r);
            if (memcmp(q, q1, bytes) != 0)
                fail_msg("case %d: %d lanes differ from one", c, o.lanes);
            for (int i = 0; i < s.n; i++) {
                assert_int_equal(r[i].stop, r1[i].stop);
                assert_int_equal(r[i].iterations, r1[i].iterations);
                assert_memory_equal(&r[i].f, &r1[i].f, sizeof r[i].f);
            }
        }
        free(q);
        free(q1);
        rows_free(&s);
    }
}

// The plain solver on the same rows. Of problems that a rest pose makes regular the poses agree to 1e-10;
// of all others f does, but for the odd row whose last digits lead into another valley.
static void like_plain(void **unused) {
    (void)unused;
    uint64_t state = 180;
    int rows = 0, apart = 0, regular = 0, plain = 0, far = 0, steps = 0;
    double worst = 0;
    for (int c = 0, n = cases(240); c < n; c++) {
        const bool rest = c % 2 == 0;
        row_set s = random_rows(&state, 2 + below(&state, 12), 1 + below(&state, 6), ROWS, rest);
        double *q = calloc((size_t)(s.n * s.nq), sizeof *q);
        double *at = calloc((size_t)s.nq + 1, sizeof *at);
        sn_batch_report r[ROWS];
        sn_batch *batch;
        assert_int_equal(sn_batch_create(s.problem, NULL, NULL, &batch, NULL), SN_OK);
        assert_int_equal(sn_batch_solve(batch, s.n, s.goals, s.starts, q, r), SN_OK);
        for (int i = 0; i < s.n && batch->fits; i++) {
            sn_batch_report one = {0};
            memcpy(at, s.starts + i * s.nq, (size_t)s.nq * sizeof *at);
            sn_batch_row_plain(&batch->worker[0], s.goals + i * s.ngoal, NULL, at, &one);
            const double most = fmax(fabs(one.f), fabs(r[i].f));
            const bool same = fabs(r[i].f - one.f) <= 1e-9 * most || most < 1e-18;
            rows++;
            plain += r[i].plain;
            apart += !same;
            steps += !r[i].plain && r[i].iterations != one.iterations;
            if (!rest || !same || r[i].stop != SN_STOP_MINIMUM) continue;
            double off = 0;
            for (int k = 0; k < s.nq; k++) off = fmax(off, fabs(at[k] - q[i * s.nq + k]));
            regular++;
            far += off > 1e-10;
            worst = fmax(worst, off);
        }
        sn_batch_destroy(batch);
        free(q);
        free(at);
        rows_free(&s);
    }
    printf("%d rows: %d with another f; %d regular ones, %d poses more than 1e-10 apart (worst "
           "%g); the "
           "plain solver helped %d, %d took another number of steps\n",
           rows, apart, regular, far, worst, plain, steps);
    assert_true(rows > 0 && regular > 0);
    assert_true(apart <= 1 + rows / 1000);
    assert_true(far <= 1 + regular / 1000);
    // a factor or solve that is wrong somewhere still ends in the minimum, but not in as many steps
    assert_true(steps <= 1 + rows / 20);
}

// A chain on the humanoid: the frames that the plain solver gives from the previous pose.
static void chains(void **unused) {
    (void)unused;
    enum { CHAINS = 11, FRAMES = 5 };
    row_set s = humanoid_rows(CHAINS, FRAMES, 1e-3);
    double *q = calloc((size_t)(s.n * s.nq), sizeof *q),
           *q2 = calloc((size_t)(s.n * s.nq), sizeof *q);
    sn_batch_report r[CHAINS * FRAMES], one;
    sn_batch_options o = sn_batch_options_default();
    sn_batch *batch;
    o.start = SN_BATCH_PREVIOUS;
    o.solver.gradient = 1e-8;
    assert_int_equal(sn_batch_create(s.problem, &o, NULL, &batch, NULL), SN_OK);
    assert_int_equal(sn_batch_track(batch, CHAINS, FRAMES, s.goals, s.starts, q, r), SN_OK);
    for (int i = 0; i < CHAINS * FRAMES; i++) {
        const double *start = i % FRAMES == 0 ? s.starts + i / FRAMES * s.nq : q + (i - 1) * s.nq;
        double at[128];
        memcpy(at, start, (size_t)s.nq * sizeof *at);
        one = (sn_batch_report){0};
        sn_batch_row_plain(&batch->worker[0], s.goals + i * s.ngoal, NULL, at, &one);
        assert_near(r[i].f / one.f, 1, 1e-9);
        assert_int_equal(r[i].stop, SN_STOP_MINIMUM);
    }
    // handed over in two parts, the same bits
    const int half = CHAINS / 2;
    assert_int_equal(sn_batch_submit(batch, half, FRAMES, s.goals, s.starts, q2, NULL), SN_OK);
    assert_int_equal(sn_batch_submit(batch, CHAINS - half, FRAMES,
                                     s.goals + half * FRAMES * s.ngoal, s.starts + half * s.nq,
                                     q2 + half * FRAMES * s.nq, NULL),
                     SN_OK);
    assert_int_equal(sn_batch_submit(batch, 1, 1, s.goals, s.starts, q2, NULL), SN_ERR_ARGUMENT);
    assert_int_equal(sn_batch_wait(batch), SN_OK);
    assert_int_equal(sn_batch_wait(batch), SN_OK);
    assert_int_equal(sn_batch_wait(batch), SN_ERR_ARGUMENT);
    assert_memory_equal(q, q2, (size_t)(s.n * s.nq) * sizeof *q);
    sn_batch_destroy(batch);
    free(q);
    free(q2);
    rows_free(&s);
}

// Rows that bring their local points with them are those of a problem that has them.
static void locals(void **unused) {
    (void)unused;
    row_set s = humanoid_rows(3, 1, 1e-3);
    const int n = sn_problem_ntask(s.problem);
    double *rows = calloc((size_t)(3 * 6 * n), sizeof *rows);
    double *q = calloc((size_t)(3 * s.nq), sizeof *q), *q2 = calloc((size_t)(3 * s.nq), sizeof *q);
    sn_batch_options o = sn_batch_options_default();
    sn_batch *batch;
    assert_int_equal(sn_batch_create(s.problem, &o, NULL, &batch, NULL), SN_OK);
    assert_int_equal(sn_batch_solve(batch, 3, s.goals, s.starts, q, NULL), SN_OK);
    sn_batch_destroy(batch);
    for (int i = 0; i < 3 * n; i++) {
        memcpy(rows + 6 * i, s.goals + 3 * i, 3 * sizeof *rows);
        memcpy(rows + 6 * i + 3, sn_problem_task(s.problem, i % n)->local, 3 * sizeof *rows);
    }
    const double nowhere[3] = {9, 9, 9};
    for (int i = 0; i < n; i++) (void)sn_problem_set_local(s.problem, i, nowhere);
    o.locals = true;
    assert_int_equal(sn_batch_create(s.problem, &o, NULL, &batch, NULL), SN_OK);
    assert_int_equal(sn_batch_ngoal(batch), 6 * n);
    assert_int_equal(sn_batch_solve(batch, 3, rows, s.starts, q2, NULL), SN_OK);
    assert_memory_equal(q, q2, (size_t)(3 * s.nq) * sizeof *q);
    sn_batch_destroy(batch);
    free(rows);
    free(q);
    free(q2);
    rows_free(&s);
}

// Bad rows end where they are and leave their neighbours alone.
static void bad_rows(void **unused) {
    (void)unused;
    row_set s = humanoid_rows(9, 1, 1e-3);
    double *q = calloc((size_t)(9 * s.nq), sizeof *q),
           *good = calloc((size_t)(9 * s.nq), sizeof *q);
    sn_batch_report r[9];
    sn_batch *batch;
    assert_int_equal(sn_batch_create(s.problem, NULL, NULL, &batch, NULL), SN_OK);
    assert_int_equal(sn_batch_solve(batch, 9, s.goals, s.starts, good, r), SN_OK);
    s.goals[2 * s.ngoal + 5] = INFINITY;
    s.starts[4 * s.nq + 1] = NAN;
    s.starts[6 * s.nq + 9] += 1e7;  // turns that the lanes' sine is not made for
    assert_int_equal(sn_batch_solve(batch, 9, s.goals, s.starts, q, r), SN_OK);
    assert_int_equal(r[2].stop, SN_STOP_BAD_GOALS);
    assert_int_equal(r[4].stop, SN_STOP_BAD_START);
    assert_memory_equal(q + 2 * s.nq, s.starts + 2 * s.nq, (size_t)s.nq * sizeof *q);
    for (int i = 0; i < 9; i++)
        if (i != 2 && i != 4 && i != 6)
            assert_memory_equal(q + i * s.nq, good + i * s.nq, (size_t)s.nq * sizeof *q);
    assert_int_equal(sn_batch_solve(batch, 0, NULL, NULL, NULL, NULL), SN_OK);
    sn_batch_destroy(batch);
    free(q);
    free(good);
    rows_free(&s);
}

// What couples branches is the plain solver's, and the report says so.
static void falls_back(void **unused) {
    (void)unused;
    row_set s = humanoid_rows(4, 1, 1e-3);
    sn_task tie = sn_task_default(SN_TASK_RELATIVE);
    tie.joint = 5;
    tie.joint2 = 9;
    sn_problem *tied;
    assert_int_equal(sn_problem_copy(s.problem, &tie, 1, NULL, &tied, NULL), SN_OK);
    sn_batch *batch;
    assert_int_equal(sn_batch_create(tied, NULL, NULL, &batch, NULL), SN_OK);
    assert_int_equal(sn_batch_lanes(batch), 1);
    assert_non_null(strstr(sn_batch_note(batch), "several bodies"));
    assert_int_equal(sn_batch_ngoal(batch), s.ngoal + 3);
    double *rows = calloc((size_t)(4 * (s.ngoal + 3)), sizeof *rows);
    double *q = calloc((size_t)(4 * s.nq), sizeof *q), *at = calloc((size_t)s.nq, sizeof *at);
    sn_batch_report r[4];
    for (int i = 0; i < 4; i++)
        memcpy(rows + i * (s.ngoal + 3), s.goals + i * s.ngoal, (size_t)s.ngoal * sizeof *rows);
    assert_int_equal(sn_batch_solve(batch, 4, rows, s.starts, q, r), SN_OK);
    assert_int_equal(sn_batch_count(batch).plain, 4);
    sn_solver *solver;
    sn_report report;
    assert_int_equal(sn_solver_create(tied, NULL, NULL, &solver, NULL), SN_OK);
    for (int i = 0; i < 4; i++) {
        for (int t = 0; t < sn_problem_ntask(tied); t++)
            (void)sn_problem_set_goal(tied, t,
                                      rows + i * (s.ngoal + 3) + sn_batch_goal_at(batch, t));
        memcpy(at, s.starts + i * s.nq, (size_t)s.nq * sizeof *at);
        assert_int_equal(sn_solver_solve(solver, at, &report), SN_OK);
        assert_true(r[i].plain);
        assert_memory_equal(at, q + i * s.nq, (size_t)s.nq * sizeof *at);
    }
    sn_solver_destroy(solver);
    sn_batch_destroy(batch);
    sn_problem_destroy(tied);
    free(rows);
    free(q);
    free(at);
    rows_free(&s);
}

// A coordinate that follows another is put in place when its row is done, as long as no task sees it.
static void followers(void **unused) {
    (void)unused;
    enum { COUNT = 20 };
    uint64_t state = 7;
    for (int seen = 0; seen < 2; seen++) {
        sn_builder *b;
        sn_model *model;
        assert_int_equal(sn_builder_create("leg", NULL, &b, NULL), SN_OK);
        for (int i = 0; i < 4; i++) {
            // hip, knee, foot; the patella is the knee's brother
            sn_joint_desc d = random_joint(&state, SN_JOINT_HINGE, i, i == 3 ? 0 : i - 1);
            memset(d.locked, 0, sizeof d.locked);
            d.lower[0] = -2, d.upper[0] = 2;
            assert_true(sn_builder_joint(b, &d) >= 0);
        }
        const double line[] = {0.5, 0.1};
        sn_coupling_desc c = {.follower = {3, 0}, .nleader = 1, .leader = {{1, 0}}};
        c.function = (sn_function){.type = SN_FUNCTION_LINEAR, .scale = 1, .ny = 2, .y = line};
        (void)sn_builder_couple(b, &c);
        assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
        sn_builder_destroy(b);
        sn_task task[2] = {sn_task_default(SN_TASK_POINT), sn_task_default(SN_TASK_POINT)};
        task[0].joint = 2;
        task[1].joint = seen ? 3 : 1;
        task[0].local[0] = task[1].local[1] = 0.3;
        sn_problem *problem;
        sn_batch *batch;
        assert_int_equal(sn_problem_create(model, task, 2, NULL, &problem, NULL), SN_OK);
        assert_int_equal(sn_batch_create(problem, NULL, NULL, &batch, NULL), SN_OK);
        double goals[COUNT][6], starts[COUNT][4], q[COUNT][4];
        sn_batch_report r[COUNT];
        for (int i = 0; i < COUNT; i++) {
            for (int k = 0; k < 6; k++) goals[i][k] = uniform(&state, -0.5, 0.5);
            for (int k = 0; k < 4; k++) starts[i][k] = uniform(&state, -1, 1);
        }
        assert_int_equal(sn_batch_solve(batch, COUNT, goals[0], starts[0], q[0], r), SN_OK);
        assert_true(batch->fits == (seen == 0));
        if (seen > 0) assert_non_null(strstr(sn_batch_note(batch), "follow"));
        for (int i = 0; i < COUNT; i++) {
            sn_batch_report one = {0};
            sn_batch_row_plain(&batch->worker[0], goals[i], NULL, starts[i], &one);
            assert_true(r[i].plain == (seen > 0));
            assert_near(q[i][3], 0.5 * q[i][1] + 0.1, 1e-15);
            assert_true(q[i][1] >= -2 && q[i][1] <= 2);
            assert_near(r[i].f / one.f, 1, 1e-9);
        }
        sn_batch_destroy(batch);
        sn_problem_destroy(problem);
        sn_model_destroy(model);
    }
}

static bool always(void *user) {
    (void)user;
    return true;
}

static void cancels(void **unused) {
    (void)unused;
    row_set s = humanoid_rows(20, 1, 1e-3);
    sn_batch_options o = sn_batch_options_default();
    double *q = calloc((size_t)(20 * s.nq), sizeof *q);
    sn_batch_report r[20];
    sn_batch *batch;
    o.solver.cancel = (sn_cancel){.asked = always};
    assert_int_equal(sn_batch_create(s.problem, &o, NULL, &batch, NULL), SN_OK);
    assert_int_equal(sn_batch_solve(batch, 20, s.goals, s.starts, q, r), SN_OK);
    for (int i = 0; i < 20; i++) assert_int_equal(r[i].stop, SN_STOP_CANCELLED);
    sn_batch_destroy(batch);
    free(q);
    rows_free(&s);
}

// Fail every allocation of a creation in turn; a solve allocates nothing.
static void memory(void **unused) {
    (void)unused;
    row_set s = humanoid_rows(3, 1, 1e-3);
    double *q = calloc((size_t)(3 * s.nq), sizeof *q);
    test_allocator a;
    sn_batch *batch = NULL;
    sn_batch_options o = sn_batch_options_default();
    o.device = SN_DEVICE_CPU;
    o.threads = 2;
    for (int n = 0; batch == NULL; n++) {
        test_allocator_begin(&a);
        a.fail_at = n;
        sn_status status = sn_batch_create(s.problem, &o, &a.base, &batch, NULL);
        assert_int_equal(status, batch != NULL ? SN_OK : SN_ERR_MEMORY);
        if (batch == NULL) assert_int_equal(a.live, 0);
    }
    a.trap = true;
    assert_int_equal(sn_batch_solve(batch, 3, s.goals, s.starts, q, NULL), SN_OK);
    a.trap = false;
    sn_batch_destroy(batch);
    assert_int_equal(a.live, 0);
    free(q);
    rows_free(&s);
}

// Frames that are pulled to the pose before them: as the plain solver has them from the same start.
static void pulled(void **unused) {
    (void)unused;
    enum { CHAINS = 3, FRAMES = 4 };
    row_set s = humanoid_rows(CHAINS, FRAMES, 2e-3);
    const size_t nq = (size_t)s.nq;
    double *q = calloc((size_t)s.n * nq, sizeof *q), *free_q = calloc((size_t)s.n * nq, sizeof *q),
           *at = calloc(nq, sizeof *at);
    sn_batch_report r[CHAINS * FRAMES];
    sn_batch_options o = sn_batch_options_default();
    sn_batch *batch;
    o.device = SN_DEVICE_CPU;
    o.start = SN_BATCH_PREVIOUS;
    assert_int_equal(sn_batch_create(s.problem, &o, NULL, &batch, NULL), SN_OK);
    assert_int_equal(sn_batch_track(batch, CHAINS, FRAMES, s.goals, s.starts, free_q, r), SN_OK);
    sn_batch_destroy(batch);
    o.rest = 1e-3;
    assert_int_equal(sn_batch_create(s.problem, &o, NULL, &batch, NULL), SN_OK);
    assert_int_equal(sn_batch_track(batch, CHAINS, FRAMES, s.goals, s.starts, q, r), SN_OK);
    double worst = 0, moved = 0;
    for (int i = 0; i < s.n; i++) {
        const bool first = i % FRAMES == 0;
        const double *before =
            first ? s.starts + (size_t)(i / FRAMES) * nq : q + (size_t)(i - 1) * nq;
        sn_batch_report one = {0};
        memcpy(at, before, nq * sizeof *at);
        sn_batch_row_plain(&batch->worker[0], s.goals + i * s.ngoal, first ? NULL : before, at,
                           &one);
        assert_true(fabs(one.f - r[i].f) <= 1e-9 * one.f);
        for (size_t k = 0; k < nq; k++) {
            worst = fmax(worst, fabs(at[k] - q[(size_t)i * nq + k]));
            moved = fmax(moved, fabs(free_q[(size_t)i * nq + k] - q[(size_t)i * nq + k]));
        }
    }
    print_message("poses within %g of the plain solver's, %g from those that nothing pulls\n",
                  worst, moved);
    assert_true(worst < 1e-6 && moved > 1e-4);
    sn_batch_destroy(batch);
    free(q);
    free(free_q);
    free(at);
    rows_free(&s);
}

// A frame that begins far worse than those before it in its chain is solved as `newton` solves it, and only that one.
static void jumps(void **unused) {
    (void)unused;
    enum { CHAINS = 9, FRAMES = 12, JUMP = 7 };
    row_set s = humanoid_rows(CHAINS, FRAMES, 1e-4);
    const size_t nq = (size_t)s.nq, bytes = (size_t)s.n * nq * sizeof(double);
    double *q = malloc(bytes), *q1 = malloc(bytes), *none = malloc(bytes), *far = malloc(bytes);
    sn_batch_report r[CHAINS * FRAMES], one;
    sn_batch_options o = sn_batch_options_default();
    sn_batch *batch, *newton;
    // from there on the figure of another chain
    for (int c = 0; c < CHAINS; c += 2)
        for (int f = JUMP; f < FRAMES; f++)
            for (int k = 0; k < s.ngoal; k++)
                s.goals[(c * FRAMES + f) * s.ngoal + k] =
                    s.goals[((c + 1) % CHAINS * FRAMES + f) * s.ngoal + k];
    o.device = SN_DEVICE_CPU;
    o.start = SN_BATCH_PREVIOUS;
    o.solver.method = SN_METHOD_NEWTON;
    assert_int_equal(sn_batch_create(s.problem, &o, NULL, &newton, NULL), SN_OK);
    o.solver.method = SN_METHOD_HYBRID;
    assert_int_equal(sn_batch_create(s.problem, &o, NULL, &batch, NULL), SN_OK);
    assert_int_equal(sn_batch_track(batch, CHAINS, FRAMES, s.goals, s.starts, none, NULL), SN_OK);
    sn_batch_destroy(batch);
    const double jump[] = {1e12, 30, 30};
    const int lanes[] = {0, 0, 1};
    double *to[] = {far, q, q1};
    for (int i = 0; i < 3; i++) {
        o.jump = jump[i];
        o.lanes = lanes[i];
        assert_int_equal(sn_batch_create(s.problem, &o, NULL, &batch, NULL), SN_OK);
        assert_int_equal(sn_batch_track(batch, CHAINS, FRAMES, s.goals, s.starts, to[i], r), SN_OK);
        sn_batch_destroy(batch);
    }
    assert_memory_equal(far, none, bytes);
    assert_memory_equal(q, q1, bytes);
    int others = 0;
    for (int c = 0; c < CHAINS; c++) {
        const size_t row = (size_t)(c * FRAMES + JUMP);
        assert_memory_equal(q + row / FRAMES * FRAMES * nq, none + row / FRAMES * FRAMES * nq,
                            JUMP * nq * sizeof *q);
        if (c % 2 != 0) {
            assert_memory_equal(q + row * nq, none + row * nq, (FRAMES - JUMP) * nq * sizeof *q);
            continue;
        }
        assert_int_equal(sn_batch_solve(newton, 1, s.goals + row * (size_t)s.ngoal,
                                        q + (row - 1) * nq, q1, &one),
                         SN_OK);
        assert_memory_equal(q1, q + row * nq, nq * sizeof *q);
        assert_int_equal(one.iterations, r[row].iterations);
        others += memcmp(q1, none + row * nq, nq * sizeof *q) != 0;
    }
    assert_true(others > 0);
    sn_batch_destroy(newton);
    o.jump = -1;
    assert_int_equal(sn_batch_create(s.problem, &o, NULL, &batch, NULL), SN_ERR_ARGUMENT);
    free(q), free(q1), free(none), free(far);
    rows_free(&s);
}

int main(void) {
    only_asked();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits), cmocka_unit_test(like_plain), cmocka_unit_test(chains),
        cmocka_unit_test(locals),    cmocka_unit_test(bad_rows),   cmocka_unit_test(falls_back),
        cmocka_unit_test(followers), cmocka_unit_test(cancels),    cmocka_unit_test(memory),
        cmocka_unit_test(pulled),    cmocka_unit_test(jumps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
