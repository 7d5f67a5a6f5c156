// SPDX-License-Identifier: MIT
// The barrier's own gradient g and curvature h at a pose make a parabola h/2 (q - (x - g/h))^2, which is a rest
// task; f with it is solved, and again from there until nothing moves: Newton's method in the barrier, exact in
// f. A step goes at most nine tenths of the way to a limit.
#include "track/barrier.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "model/model.h"
#include "solvers/solver.h"
#include "tasks/problem.h"

enum { MOST_STEPS = 60 };

typedef struct worker {
    sn_problem *problem;
    sn_solver *solver;
    double *x, *next, *target, *weight;  // nq, nq, nq, nv
} worker;

typedef struct run {
    const sn_barrier_options *options;
    sn_track_goals goals;
    void *user;
    int nframe;
    double *q;
    atomic_int at, failed;
} run;

// Coordinate i of a joint, where it has limits on both sides and may move.
static bool is_limited(const sn_model *m, const sn_joint *j, int i) {
    int v = j->v0 + i;
    bool follows = m->ncoupling > 0 && m->follows[v];
    return j->ops->quaternion < 0 && m->gain[v] != 0 && !follows && isfinite(m->lower[v]) &&
           isfinite(m->upper[v]) && m->lower[v] < m->upper[v];
}

// The parabolas at w->x.
static void fit_parabolas(worker *w, double mu) {
    const sn_model *m = w->problem->model;
    memcpy(w->target, w->x, (size_t)m->nq * sizeof *w->target);
    for (int v = 0; v < m->nv; v++) w->weight[v] = 0;
    for (int k = 0; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        for (int i = 0; i < j->nv; i++) {
            if (!is_limited(m, j, i)) continue;
            double x = w->x[j->q0 + i], a = x - m->lower[j->v0 + i], b = m->upper[j->v0 + i] - x;
            double g = mu / b - mu / a, h = mu / (a * a) + mu / (b * b);
            w->weight[j->v0 + i] = h;
            w->target[j->q0 + i] = x - g / h;
        }
    }
}

// From x towards `next`, inside; how far any coordinate moved.
static double step(worker *w, double share) {
    const sn_model *m = w->problem->model;
    double most = 0;
    for (int k = 0; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        for (int i = 0; i < j->nv && j->ops->quaternion < 0; i++) {
            double *x = &w->x[j->q0 + i], to = w->next[j->q0 + i];
            if (is_limited(m, j, i)) {
                double l = m->lower[j->v0 + i], u = m->upper[j->v0 + i];
                to = fmin(fmax(to, l + share * (*x - l)), u - share * (u - *x));
            }
            most = fmax(most, fabs(to - *x));
            *x = to;
        }
        if (j->ops->quaternion >= 0)
            memcpy(w->x + j->q0, w->next + j->q0, (size_t)j->nq * sizeof *w->x);
    }
    sn_model_follow(m, w->x);
    return most;
}

// Strictly inside, by a hundredth of the range.
static void go_inside(worker *w) {
    const sn_model *m = w->problem->model;
    for (int k = 0; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        for (int i = 0; i < j->nv; i++) {
            if (!is_limited(m, j, i)) continue;
            double l = m->lower[j->v0 + i], u = m->upper[j->v0 + i], gap = 0.01 * (u - l);
            double *x = &w->x[j->q0 + i];
            *x = fmin(fmax(*x, l + gap), u - gap);
        }
    }
    sn_model_follow(m, w->x);
}

static sn_status visit(run *r, worker *w, int frame) {
    size_t nq = (size_t)w->problem->model->nq;
    double *q = r->q + (size_t)frame * nq;
    sn_report report;
    SN_TRY(r->goals(r->user, frame, w->problem));
    memcpy(w->x, q, nq * sizeof *q);
    go_inside(w);
    for (int n = 0; n < MOST_STEPS; n++) {
        fit_parabolas(w, r->options->mu);
        SN_TRY(sn_problem_set_rest(w->problem, r->options->rest, w->target));
        SN_TRY(sn_problem_set_rest_weights(w->problem, r->options->rest, w->weight));
        memcpy(w->next, w->x, nq * sizeof *q);
        SN_TRY(sn_solver_solve(w->solver, w->next, &report));
        if (step(w, 0.1) < 1e-6) break;
    }
    memcpy(q, w->x, nq * sizeof *q);
    return SN_OK;
}

typedef struct job {
    run *run;
    worker *worker;
} job;

static void run_job(void *argument) {
    job *j = argument;
    run *r = j->run;
    for (;;) {
        int frame = atomic_fetch_add(&r->at, 1);
        if (frame >= r->nframe || atomic_load(&r->failed) != SN_OK) return;
        if (sn_cancelled(r->options->cancel)) return;
        sn_status status = visit(r, j->worker, frame);
        if (status != SN_OK) atomic_store(&r->failed, (int)status);
    }
}

static sn_status open_worker(const sn_problem *problem, const sn_barrier_options *options,
                             const sn_allocator *allocator, worker *w) {
    size_t nq = (size_t)problem->model->nq, nv = (size_t)problem->model->nv;
    w->x = sn_acquire(allocator, (3 * nq + nv + 1) * sizeof *w->x);
    if (w->x == NULL) return SN_ERR_MEMORY;
    w->next = w->x + nq;
    w->target = w->next + nq;
    w->weight = w->target + nq;
    SN_TRY(sn_problem_copy(problem, NULL, 0, allocator, &w->problem, NULL));
    return sn_solver_create_plain(w->problem, &options->solver, allocator, &w->solver, NULL);
}

sn_status sn_track_barrier(const sn_problem *problem, const sn_barrier_options *options, int nframe,
                           sn_track_goals goals, void *user, const sn_allocator *allocator,
                           double *q) {
    int nworker = options->threads;
    run r = {.options = options, .goals = goals, .user = user, .nframe = nframe, .q = q};
    worker *w = sn_acquire(allocator, (size_t)nworker * sizeof *w);
    job *jobs = sn_acquire(allocator, (size_t)nworker * sizeof *jobs);
    sn_status status = w == NULL || jobs == NULL ? SN_ERR_MEMORY : SN_OK;
    for (int i = 0; w != NULL && i < nworker; i++) w[i] = (worker){0};
    for (int i = 0; status == SN_OK && i < nworker; i++) {
        status = open_worker(problem, options, allocator, &w[i]);
        jobs[i] = (job){&r, &w[i]};
    }
    if (status == SN_OK) {
        sn_threads_run(&options->pool, run_job, jobs, sizeof *jobs, nworker);
        status = (sn_status)atomic_load(&r.failed);
    }
    for (int i = 0; w != NULL && i < nworker; i++) {
        sn_solver_destroy(w[i].solver);
        sn_problem_destroy(w[i].problem);
        sn_release(allocator, w[i].x);
    }
    sn_release(allocator, jobs);
    sn_release(allocator, w);
    return status;
}
