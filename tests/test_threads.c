// SPDX-License-Identifier: MIT
// One model and one problem read by many threads: the same bits as from one.
#include <pthread.h>

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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits_from_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
