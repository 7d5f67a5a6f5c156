// SPDX-License-Identifier: MIT
// Threads of a user and of the library's own: one model and one problem read by many give the same bits as from one,
// and a solve is cancelled from outside. ThreadSanitizer runs this.
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "support.h"

enum { THREADS = 16, POSES = 200, SOLVES = 20, MOST = 64 };

typedef struct shared {
    sn_model *model;
    sn_problem *problem;  // read only
    sn_task *tasks;       // of the problems that each thread makes for itself
    int ntask;
    double (*pose)[MOST];
    double (*goal)[3];  // SOLVES * ntask
} shared;

typedef struct job {
    const shared *from;
    uint64_t evaluations, solutions;  // hashes of all the bits
    bool good;
} job;

static uint64_t hash(uint64_t h, const void *data, size_t bytes) {
    const unsigned char *b = data;
    for (size_t i = 0; i < bytes; i++) h = (h ^ b[i]) * 0x100000001b3u;
    return h;
}

static uint64_t hash_doubles(uint64_t h, const double *x, size_t n) {
    return hash(h, x, n * sizeof *x);
}

static bool evaluate_all(const shared *s, uint64_t *out) {
    static const unsigned flags[] = {SN_EVAL_HESSIAN, SN_EVAL_GAUSS_NEWTON,
                                     SN_EVAL_HESSIAN | SN_EVAL_GENERAL, SN_EVAL_GRADIENT};
    size_t nv = (size_t)sn_model_nv(s->model);
    sn_workspace *ws;
    double *H = malloc(nv * nv * sizeof *H), g[MOST], x[MOST], f;
    if (H == NULL || sn_workspace_create(s->problem, true, NULL, &ws, NULL) != SN_OK) return false;
    bool good = true;
    for (int i = 0; i < POSES; i++) {
        unsigned what = flags[i % 4];
        good = good && sn_workspace_eval(ws, s->pose[i], what, &f) == SN_OK;
        sn_workspace_gradient(ws, g);
        *out = hash_doubles(hash_doubles(*out, &f, 1), g, nv);
        if (what != SN_EVAL_GRADIENT) {
            sn_workspace_hessian(ws, H);
            *out = hash_doubles(*out, H, nv * nv);
        }
        sn_workspace_multiply(ws, false, g, x);
        *out = hash_doubles(*out, x, nv);
        for (int k = 0; k < sn_problem_ntask(s->problem); k++) {
            double error = sn_workspace_task_error(ws, k);
            *out = hash_doubles(*out, &error, 1);
        }
        // what the model alone answers
        sn_model_difference(s->model, s->pose[0], s->pose[i], g);
        *out = hash_doubles(*out, g, nv);
        good = good && sn_model_find_joint(s->model, "head") >= 0;
    }
    sn_workspace_destroy(ws);
    free(H);
    return good;
}

static bool solve_all(const shared *s, uint64_t *out) {
    sn_problem *own;
    sn_solver *solver;
    size_t nq = (size_t)sn_model_nq(s->model);
    if (sn_problem_create(s->model, s->tasks, s->ntask, NULL, &own, NULL) != SN_OK) return false;
    if (sn_solver_create(own, NULL, NULL, &solver, NULL) != SN_OK) return false;
    bool good = true;
    for (int i = 0; i < SOLVES; i++) {
        double q[MOST];
        sn_report report;
        for (int k = 0; k < s->ntask; k++)
            good = good && sn_problem_set_goal(own, k, s->goal[i * s->ntask + k]) == SN_OK;
        memcpy(q, s->pose[i], sizeof q);
        good = good && sn_solver_solve(solver, q, &report) == SN_OK;
        *out = hash_doubles(*out, q, nq);
        *out = hash_doubles(hash_doubles(*out, &report.f, 1), &report.gradient, 1);
        *out = hash(*out, &report.iterations, sizeof report.iterations);
    }
    sn_solver_destroy(solver);
    sn_problem_destroy(own);
    return good;
}

static void *run(void *arg) {
    job *j = arg;
    j->evaluations = j->solutions = 0xcbf29ce484222325u;
    j->good = evaluate_all(j->from, &j->evaluations) && solve_all(j->from, &j->solutions);
    return NULL;
}

static void shared_begin(shared *s) {
    uint64_t state = 1;
    double rest[MOST];
    assert_int_equal(sn_model_humanoid(NULL, &s->model, NULL), SN_OK);
    assert_true(sn_model_nq(s->model) <= MOST);
    sn_model_sample(s->model, &state, rest);
    // all but coupled tasks and one's own
    sn_task all[SN_TASK_COUPLED];
    double *arrays[SN_TASK_COUPLED];
    for (int type = 0; type < SN_TASK_COUPLED; type++) {
        int joint = below(&state, sn_model_njoint(s->model));
        all[type] = random_task(&state, s->model, (sn_task_type)type, joint, &arrays[type]);
        if (type == SN_TASK_REST) {
            all[type].q = rest;
            all[type].q_weight = NULL;
        }
    }
    assert_int_equal(sn_problem_create(s->model, all, SN_TASK_COUPLED, NULL, &s->problem, NULL),
                     SN_OK);
    for (int type = 0; type < SN_TASK_COUPLED; type++) free(arrays[type]);

    s->ntask = sn_model_nmarker(s->model);
    s->tasks = malloc((size_t)s->ntask * sizeof *s->tasks);
    s->pose = calloc(POSES, sizeof *s->pose);
    s->goal = malloc((size_t)(SOLVES * s->ntask) * sizeof *s->goal);
    assert_true(s->tasks != NULL && s->pose != NULL && s->goal != NULL);
    for (int i = 0; i < POSES; i++) sn_model_sample(s->model, &state, s->pose[i]);
    for (int i = 0; i < s->ntask; i++) {
        const sn_marker_desc *marker = sn_model_marker(s->model, i);
        s->tasks[i] = sn_task_default(SN_TASK_POINT);
        s->tasks[i].joint = marker->joint;
        memcpy(s->tasks[i].local, marker->position, sizeof s->tasks[i].local);
    }
    // goals that some pose meets, a little off
    sn_workspace *ws;
    assert_int_equal(sn_workspace_create(s->problem, false, NULL, &ws, NULL), SN_OK);
    for (int i = 0; i < SOLVES; i++) {
        assert_int_equal(sn_workspace_pose(ws, s->pose[POSES - 1 - i]), SN_OK);
        for (int k = 0; k < s->ntask; k++) {
            sn_vec3 p = sn_workspace_point(ws, s->tasks[k].joint, s->tasks[k].local);
            double *goal = s->goal[i * s->ntask + k];
            goal[0] = p.x + uniform(&state, -0.01, 0.01);
            goal[1] = p.y + uniform(&state, -0.01, 0.01);
            goal[2] = p.z + uniform(&state, -0.01, 0.01);
        }
    }
    sn_workspace_destroy(ws);
}

static void shared_end(shared *s) {
    free(s->tasks);
    free(s->pose);
    free(s->goal);
    sn_problem_destroy(s->problem);
    sn_model_destroy(s->model);
}

static void same_bits_from_all(void **unused) {
    (void)unused;
    shared s;
    job alone, many[THREADS];
    pthread_t threads[THREADS];
    shared_begin(&s);
    alone = (job){.from = &s};
    (void)run(&alone);
    assert_true(alone.good);
    print_message("evaluations %016llx, solutions %016llx\n", (unsigned long long)alone.evaluations,
                  (unsigned long long)alone.solutions);
    for (int i = 0; i < THREADS; i++) {
        many[i] = (job){.from = &s};
        assert_int_equal(pthread_create(&threads[i], NULL, run, &many[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_true(many[i].good);
        assert_true(many[i].evaluations == alone.evaluations);
        assert_true(many[i].solutions == alone.solutions);
    }
    shared_end(&s);
}

// --- the library's own -------------------------------------------------------------------------------------

static sn_status set_goals(void *user, int frame, sn_problem *problem) {
    const shared *s = user;
    sn_status status = SN_OK;
    for (int k = 0; k < s->ntask && status == SN_OK; k++)
        status = sn_problem_set_goal(problem, k, s->goal[frame * s->ntask + k]);
    return status;
}

static sn_problem *points_of(const shared *s) {
    sn_problem *out;
    assert_int_equal(sn_problem_create(s->model, s->tasks, s->ntask, NULL, &out, NULL), SN_OK);
    return out;
}

// Tracked, smoothed and solved as a batch with so many threads; a hash of all poses.
static uint64_t by_threads(shared *s, int threads) {
    enum { CHUNK = 4 };
    const size_t nq = (size_t)sn_model_nq(s->model), n = SOLVES * nq;
    sn_problem *problem = points_of(s);
    double *q = malloc(n * sizeof *q);
    uint64_t out = 0xcbf29ce484222325u;
    assert_non_null(q);

    sn_tracker *tracker;
    sn_track_options t = sn_track_options_default();
    t.threads = threads;
    t.chunk = CHUNK;
    t.restarts = 0;
    assert_int_equal(sn_tracker_create(problem, &t, NULL, &tracker, NULL), SN_OK);
    assert_int_equal(sn_tracker_run(tracker, SOLVES, set_goals, s, s->pose[0], q, NULL), SN_OK);
    sn_tracker_destroy(tracker);
    out = hash_doubles(out, q, n);

    sn_smoother *smoother;
    sn_smooth_report report;
    sn_smooth_options o = sn_smooth_options_default();
    o.threads = threads;
    o.tau = 0.01;
    o.rate = 100;
    o.max_iterations = 2;
    assert_int_equal(sn_smoother_create(problem, &o, NULL, &smoother, NULL), SN_OK);
    assert_int_equal(sn_smoother_run(smoother, SOLVES, set_goals, s, q, &report), SN_OK);
    sn_smoother_destroy(smoother);
    out = hash_doubles(out, q, n);

    sn_batch *batch;
    sn_batch_options b = sn_batch_options_default();
    b.device = SN_DEVICE_CPU;
    b.threads = threads;
    assert_int_equal(sn_batch_create(problem, &b, NULL, &batch, NULL), SN_OK);
    assert_int_equal(sn_batch_ngoal(batch), 3 * s->ntask);
    assert_int_equal(sn_batch_solve(batch, SOLVES, s->goal[0], NULL, q, NULL), SN_OK);
    sn_batch_destroy(batch);
    out = hash_doubles(out, q, n);
    free(q);
    sn_problem_destroy(problem);
    return out;
}

static void own_threads(void **unused) {
    (void)unused;
    shared s;
    shared_begin(&s);
    assert_true(by_threads(&s, 4) == by_threads(&s, 1));
    shared_end(&s);
}

// --- cancelled -----------------------------------------------------------------------------------------------

enum { FEW = 3 };

typedef struct cancelled {
    atomic_bool now;
    atomic_int asked;
    sn_solver *solver;
    double q[MOST];
    sn_report report;
} cancelled;

// Goes on for a few iterations, then waits for the word, so that no solve ends before it.
static bool ask(void *user) {
    cancelled *c = user;
    if (atomic_fetch_add(&c->asked, 1) < FEW) return false;
    while (!atomic_load(&c->now)) (void)sched_yield();
    return true;
}

static void *solve(void *arg) {
    cancelled *c = arg;
    (void)sn_solver_solve(c->solver, c->q, &c->report);
    return NULL;
}

// A solve ends when another thread says so, with a pose better than its start.
static void cancelled_from_outside(void **unused) {
    (void)unused;
    shared s;
    cancelled c = {.solver = NULL};
    pthread_t thread;
    shared_begin(&s);
    sn_problem *problem = points_of(&s);
    assert_int_equal(set_goals(&s, 0, problem), SN_OK);
    sn_solver_options o = sn_solver_options_default();
    o.gradient = o.goal = 0;
    o.cancel = (sn_cancel){.asked = ask, .user = &c};
    assert_int_equal(sn_solver_create(problem, &o, NULL, &c.solver, NULL), SN_OK);
    memcpy(c.q, s.pose[1], sizeof c.q);
    double before;
    sn_workspace *ws;
    assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
    assert_int_equal(sn_workspace_eval(ws, c.q, 0, &before), SN_OK);
    sn_workspace_destroy(ws);
    assert_int_equal(pthread_create(&thread, NULL, solve, &c), 0);
    while (atomic_load(&c.asked) <= FEW) (void)sched_yield();
    atomic_store(&c.now, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(c.report.stop, SN_STOP_CANCELLED);
    assert_int_equal(c.report.iterations, FEW);
    assert_true(c.report.f < before);
    sn_solver_destroy(c.solver);
    sn_problem_destroy(problem);
    shared_end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits_from_all),
                                       cmocka_unit_test(own_threads),
                                       cmocka_unit_test(cancelled_from_outside)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
