// SPDX-License-Identifier: MIT
// Steps of shape and poses, and the threads that go over the frames for them.
//
// The shape's step comes from equations without poses (estimate_normal.c). Then each pose follows it,
//
//   dq = -A^-1 (g + B dx),   B dx = sum over markers w J^T (dp/dx) dx,
//
// which takes no B that was kept.
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/threads.h"
#include "linalg/dense.h"
#include "math/vec3.h"
#include "take/estimate.h"

// --- threads -------------------------------------------------------------------------------------

typedef struct shared {
    sn_estimate *e;
    sn_estimate_pass pass;
    int count;
    atomic_int next, failed;
} shared;

typedef struct job {
    shared *all;
    sn_estimate_worker *worker;
} job;

static void run_job(void *argument) {
    const job *own = argument;
    shared *all = own->all;
    for (;;) {
        int i = atomic_fetch_add(&all->next, 1), none = SN_OK;
        if (i >= all->count || atomic_load(&all->failed) != SN_OK) return;
        // who asked to stop does not wait for every frame
        bool stop = sn_cancelled(all->e->o.asked.cancel);
        sn_status status = stop ? SN_ERR_CANCELLED : all->pass(all->e, own->worker, i);
        if (status != SN_OK) atomic_compare_exchange_strong(&all->failed, &none, (int)status);
    }
}

static sn_status open_places(sn_estimate *e, const double *x, int count, sn_error *error) {
    SN_TRY(sn_estimate_model(e, x, false, &e->built, error));
    for (int i = 0; i < count; i++)
        if (sn_fit_place_open(&e->workers[i].at, e->built, e->allocator) != SN_OK)
            return sn_fail_memory(error);
    return SN_OK;
}

static void close_places(sn_estimate *e) {
    for (int i = 0; i < e->nworker; i++) {
        sn_fit_place_close(&e->workers[i].at, e->allocator);
        e->workers[i].at = (sn_fit_place){0};
    }
    sn_model_destroy(e->built);
    e->built = NULL;
}

sn_status sn_estimate_run(sn_estimate *e, const double *x, sn_estimate_pass pass, int count,
                          sn_error *error) {
    shared all = {.e = e, .pass = pass, .count = count};
    job jobs[SN_MAX_THREADS];
    int n = e->nworker < count ? e->nworker : count;
    if (count < 1) return SN_OK;
    atomic_init(&all.next, 0);
    atomic_init(&all.failed, SN_OK);
    for (int i = 0; i < n; i++) jobs[i] = (job){&all, &e->workers[i]};
    sn_status status = open_places(e, x, n, error);
    if (status == SN_OK) {
        sn_threads_run(&e->o.asked.pool, run_job, jobs, sizeof jobs[0], n);
        status = (sn_status)atomic_load(&all.failed);
        if (status != SN_OK) (void)sn_fail(error, status, 0, "%s", sn_status_text(status));
    }
    close_places(e);
    return status;
}

// --- steps ---------------------------------------------------------------------------------------

// How a pose follows the step of the shape, into poses_try.
static sn_status follow_shape(sn_estimate *e, sn_estimate_worker *w, int k) {
    size_t nv = e->nv;
    const double *q = e->poses + (size_t)k * e->nq;
    double *U = e->U + (size_t)k * (nv * (nv + 1) / 2), *y = w->y, goal[3];
    SN_TRY(sn_workspace_pose(w->at.workspace, q));
    memcpy(y, e->gq + (size_t)k * nv, nv * sizeof *y);
    for (int i = 0; i < e->nmarker; i++) {
        if (!sn_estimate_goal(e, k, i, goal)) continue;
        const sn_marker_desc *m = sn_model_marker(e->built, i);
        sn_vec3 F = v3_scale(sn_estimate_weight(e, k, i), sn_estimate_shape_move(e, w, i, e->step));
        sn_jacobian_simple(w->at.workspace, m->joint, m->position, w->J);
        for (size_t a = 0; a < nv; a++) y[a] += v3_dot(F, v3_from(w->J + 3 * (nv - 1 - a)));
    }
    for (size_t a = 0; a < nv; a++) {
        const double *row = sn_estimate_row(U, nv, a);
        y[a] /= row[a];
        for (size_t b = a + 1; b < nv; b++) y[b] -= y[a] * row[b];
    }
    for (size_t a = nv; a-- > 0;) {
        const double *row = sn_estimate_row(U, nv, a);
        double sum = y[a];
        for (size_t b = a + 1; b < nv; b++) sum -= row[b] * y[b];
        y[a] = sum / row[a];
    }
    for (size_t a = 0; a < nv; a++) w->delta[nv - 1 - a] = fmin(fmax(-y[a], -0.7), 0.7);
    sn_model_integrate(e->model, q, w->delta, e->poses_try + (size_t)k * e->nq);
    return SN_OK;
}

// The step of the shape, then of the poses; *good: false when the system cannot be solved.
static sn_status take_step(sn_estimate *e, double lambda, bool *good, sn_error *error) {
    size_t n = e->n;
    memcpy(e->factored, e->S, n * n * sizeof *e->S);
    for (size_t i = 0; i < n; i++) {
        e->factored[i * n + i] += lambda * e->S[i * n + i];
        e->step[i] = -e->g[i];
    }
    *good = sn_cholesky_upper(e->factored, (int)n);
    if (!*good) return SN_OK;
    sn_cholesky_upper_forward(e->factored, (int)n, e->step);
    sn_cholesky_upper_backward(e->factored, (int)n, e->step);
    for (size_t i = 0; i < n; i++) {
        // a body neither vanishes nor becomes a giant in one step
        if (i >= 3 * (size_t)e->nmarker) e->step[i] = fmin(fmax(e->step[i], -0.3), 0.3);
        e->x_try[i] = e->x[i] + e->step[i];
    }
    return sn_estimate_run(e, e->x, follow_shape, e->nframe, error);
}

sn_status sn_estimate_improve(sn_estimate *e, int iterations, double tolerance, sn_error *error) {
    double energy, lambda = 1e-3;
    SN_TRY(sn_estimate_energy(e, e->x, e->poses, &energy, error));
    for (int i = 0, failed = 0; i < iterations && failed < 8; i++) {
        double next = INFINITY;
        bool good;
        if (sn_cancelled(e->o.asked.cancel)) return SN_OK;
        SN_TRY(sn_estimate_normal(e, lambda, error));
        SN_TRY(take_step(e, lambda, &good, error));
        if (good) SN_TRY(sn_estimate_settle(e, &next, error));
        e->iterations++;
        if (!(next < energy)) {
            lambda = fmax(10 * lambda, 1e-6);
            failed++;
            continue;
        }
        // what has just been too little is so still, and a step that was cut says nothing of how far it is
        bool cut = failed > 0;
        if (!cut) lambda = lambda > 1e-8 ? lambda / 10 : 0;
        failed = 0;
        double *t = e->x;
        e->x = e->x_try, e->x_try = t;
        t = e->poses, e->poses = e->poses_try, e->poses_try = t;
        bool done = !cut && energy - next < tolerance * energy;
        energy = next;
        if (done) break;
    }
    return SN_OK;
}
