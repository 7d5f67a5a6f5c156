// SPDX-License-Identifier: MIT
// Many problems at once: the same bits for any number of lanes, the plain solver's poses.
#include "batch/kernels.h"
#include "sinew/batch.h"
#include "support.h"

// The numbers of a problem's own goals as a row.
static void row_of(const sn_batch *batch, const sn_problem *p, double *row) {
    for (int i = 0; i < sn_problem_ntask(p); i++) {
        const sn_task *t = sn_problem_task(p, i);
        int at = sn_batch_goal_at(batch, i), n = 0;
        if (at < 0) continue;
        double *x = row + at;
        if (t->type == SN_TASK_DISTANCE) {
            x[n++] = t->distance;
        } else if (t->type == SN_TASK_LOOK_AT) {
            for (int k = 0; k < 3; k++) x[n++] = t->local2[k];
        } else if (t->type != SN_TASK_ORIENTATION && t->type != SN_TASK_RELATIVE_ORIENTATION) {
            for (int k = 0; k < 3; k++) x[n++] = t->goal[k];
        }
        if (t->type == SN_TASK_ORIENTATION || t->type == SN_TASK_RELATIVE_ORIENTATION ||
            t->type == SN_TASK_POSE || t->type == SN_TASK_RELATIVE_POSE)
            for (int k = 0; k < 4; k++) x[n++] = t->rotation[k];
        if (t->type == SN_TASK_FRAME2)
            for (int k = 0; k < 6; k++) x[n++] = k < 3 ? t->i[k] : t->j[k - 3];
    }
}

typedef struct set {
    sn_model *model;
    sn_problem *problem;
    int n, nq, ngoal;
    double *goals, *starts;
} set;

// A random problem and rows around its goals, some of them missing.
static set random_set(uint64_t *state, int njoint, int ntask, int n) {
    set s = {.n = n};
    s.model = random_model(state, njoint, -1);
    s.problem = random_problem(state, s.model, ntask, -1);
    s.nq = sn_model_nq(s.model);
    sn_batch *batch;
    assert_int_equal(sn_batch_create(s.problem, NULL, NULL, &batch, NULL), SN_OK);
    s.ngoal = sn_batch_ngoal(batch);
    s.goals = calloc((size_t)(n * s.ngoal + 1), sizeof *s.goals);
    s.starts = calloc((size_t)(n * s.nq + 1), sizeof *s.starts);
    for (int i = 0; i < n; i++) {
        double *row = s.goals + i * s.ngoal;
        row_of(batch, s.problem, row);
        for (int k = 0; k < s.ngoal; k++) row[k] += uniform(state, -0.1, 0.1);
        if (below(state, 8) == 0) row[below(state, s.ngoal)] = NAN;
        sn_model_zero(s.model, s.starts + i * s.nq);
        for (int k = 0; k < s.nq; k++) s.starts[i * s.nq + k] += uniform(state, -0.3, 0.3);
    }
    sn_batch_destroy(batch);
    return s;
}

static void free_set(set *s) {
    free(s->goals);
    free(s->starts);
    sn_problem_destroy(s->problem);
    sn_model_destroy(s->model);
}

static void solve_set(const set *s, const sn_batch_options *o, double *q, sn_batch_report *r) {
    sn_batch *batch;
    assert_int_equal(sn_batch_create(s->problem, o, NULL, &batch, NULL), SN_OK);
    assert_int_equal(sn_batch_solve(batch, s->n, s->goals, s->starts, q, r), SN_OK);
    sn_batch_destroy(batch);
}

static void same_bits(void **unused) {
    (void)unused;
    uint64_t state = 18;
    for (int c = 0, n = cases(40); c < n; c++) {
        set s = random_set(&state, 2 + below(&state, 12), 1 + below(&state, 6), 21);
        size_t bytes = (size_t)(s.n * s.nq) * sizeof(double);
        double *q = malloc(bytes), *q1 = malloc(bytes);
        sn_batch_report r[21], r1[21];
        sn_batch_options o = sn_batch_options_default();
        o.lanes = 1;
        o.solver.max_iterations = 60;
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
        free_set(&s);
    }
}

static void like_plain(void **unused) {
    (void)unused;
    uint64_t state = 180;
    int rows = 0, plain = 0, close = 0, same_f = 0, better = 0, worse = 0, its[2] = {0};
    for (int c = 0, n = cases(60); c < n; c++) {
        set s = random_set(&state, 2 + below(&state, 12), 1 + below(&state, 6), 17);
        double *q = calloc((size_t)(s.n * s.nq), sizeof *q), *at = calloc((size_t)s.nq, sizeof *at);
        sn_batch_report r[17];
        sn_batch *batch;
        sn_solver *solver;
        assert_int_equal(sn_batch_create(s.problem, NULL, NULL, &batch, NULL), SN_OK);
        assert_int_equal(sn_batch_solve(batch, s.n, s.goals, s.starts, q, r), SN_OK);
        (void)sn_solver_create(s.problem, NULL, NULL, &solver, NULL);
        for (int i = 0; i < s.n; i++) {
            const double *row = s.goals + i * s.ngoal;
            double apart = 0;
            sn_report report;
            sn_batch_options o = sn_batch_options_default();
            (void)o;
            // the plain solver on the same row
            for (int t = 0; t < sn_problem_ntask(s.problem); t++) {
                int a = sn_batch_goal_at(batch, t);
                const sn_task *task = sn_problem_task(s.problem, t);
                if (a < 0) continue;
                bool missing = false;
                int next = t + 1;
                while (next < sn_problem_ntask(s.problem) && sn_batch_goal_at(batch, next) < 0)
                    next++;
                int end =
                    next < sn_problem_ntask(s.problem) ? sn_batch_goal_at(batch, next) : s.ngoal;
                for (int k = a; k < end; k++) missing = missing || isnan(row[k]);
                (void)sn_problem_set_missing(s.problem, t, missing);
                if (missing || task->type == SN_TASK_FRAME2) continue;
                if (task->type == SN_TASK_ORIENTATION) {
                    (void)sn_problem_set_rotation(s.problem, t, row + a);
                } else {
                    (void)sn_problem_set_goal(s.problem, t, row + a);
                    if (task->type == SN_TASK_POSE)
                        (void)sn_problem_set_rotation(s.problem, t, row + a + 3);
                }
            }
            memcpy(at, s.starts + i * s.nq, (size_t)s.nq * sizeof *at);
            if (sn_solver_solve(solver, at, &report) != SN_OK) continue;
            bool frame2 = false;
            for (int t = 0; t < sn_problem_ntask(s.problem); t++)
                frame2 = frame2 || sn_problem_task(s.problem, t)->type == SN_TASK_FRAME2;
            if (frame2) continue;
            for (int k = 0; k < s.nq; k++) apart = fmax(apart, fabs(at[k] - q[i * s.nq + k]));
            rows++;
            plain += r[i].plain;
            close += apart < 1e-10;
            its[0] += r[i].iterations, its[1] += report.iterations;
            double off = (r[i].f - report.f) / fmax(fmax(report.f, r[i].f), 1e-20);
            if (fabs(off) < 1e-9 || fmax(report.f, r[i].f) < 1e-18)
                same_f++;
            else if (off < 0)
                better++;
            else
                worse++;
            if (getenv("SHOW") && !(fabs(off) < 1e-9 || fmax(report.f, r[i].f) < 1e-18))
                printf("case %d row %d: f %.12g plain %.12g apart %g it %d %d stop %d %d%s\n", c, i,
                       r[i].f, report.f, apart, r[i].iterations, report.iterations, r[i].stop,
                       report.stop, r[i].plain ? " plain" : "");
        }
        if (getenv("SHOW")) printf("case %d: %s\n", c, sn_batch_note(batch));
        sn_solver_destroy(solver);
        sn_batch_destroy(batch);
        free(q);
        free(at);
        free_set(&s);
    }
    printf("%d rows, %d with the plain solver's help, %d poses within 1e-10; f the same %d, lower "
           "%d, higher %d; iterations %d, plain %d\n",
           rows, plain, close, same_f, better, worse, its[0], its[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits), cmocka_unit_test(like_plain)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
