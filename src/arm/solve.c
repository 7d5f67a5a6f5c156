// SPDX-License-Identifier: MIT
// One goal, all its solutions, many goals.
#include <stdatomic.h>
#include <string.h>

#include "arm/arm.h"
#include "arm/device.h"
#include "base/status.h"
#include "base/threads.h"

static bool finite_all(const double *x, int n) {
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

sn_status sn_arm_solve(sn_arm *arm, const double goal[7], const double *seed, double *q,
                       sn_arm_report *report) {
    if (arm == NULL || goal == NULL || q == NULL) return SN_ERR_ARGUMENT;
    sn_arm_search s;
    sn_arm_report mine;
    if (seed != NULL && !finite_all(seed, arm->chain.n)) return SN_ERR_VALUE;
    if (!sn_arm_search_begin(&s, arm, goal)) return SN_ERR_VALUE;
    sn_arm_search_run(&s, seed, q, report != NULL ? report : &mine);
    return SN_OK;
}

// --- all -------------------------------------------------------------------------------------------

typedef struct gathering {
    sn_arm_collect base;
    sn_arm *arm;
    double apart;  ///< how far solutions differ in some joint
    int count;
} gathering;

static bool same(const sn_arm_chain *c, const double *a, const double *b, double apart) {
    const double whole = 6.283185307179586;
    for (int j = 0; j < c->n; j++) {
        double d = a[j] - b[j];
        if (c->turns[j]) d -= whole * floor(d / whole + 0.5);
        if (fabs(d) > apart * (c->length_of[j] ? c->unit : 1)) return false;
    }
    return true;
}

// Keep a solution that is a new one; where there is no room it takes that of the farthest.
static void gather(sn_arm_collect *self, const double *q) {
    gathering *g = (gathering *)(void *)self;
    const sn_arm_chain *c = &g->arm->chain;
    const size_t n = (size_t)c->n;
    double far = 0;
    for (int j = 0; j < c->n; j++) far += (q[j] - self->near[j]) * (q[j] - self->near[j]);
    for (int i = 0; i < g->count; i++)
        if (same(c, g->arm->found + n * (size_t)i, q, g->apart)) {
            // of solutions that count as one the nearest stays
            if (far < g->arm->far[i]) {
                memcpy(g->arm->found + n * (size_t)i, q, n * sizeof *q);
                g->arm->far[i] = far;
            }
            return;
        }
    int at = g->count;
    if (at < SN_ARM_SOLUTIONS) {
        g->count++;
    } else {
        at = 0;
        for (int i = 1; i < g->count; i++)
            if (g->arm->far[i] > g->arm->far[at]) at = i;
        if (!(far < g->arm->far[at])) return;
    }
    memcpy(g->arm->found + n * (size_t)at, q, n * sizeof *q);
    g->arm->far[at] = far;
}

static void middle(const sn_arm *arm, double *q) {
    for (int j = 0; j < arm->chain.n; j++) {
        double low = arm->chain.low[j], high = arm->chain.high[j];
        q[j] = low > -INFINITY && high < INFINITY ? 0.5 * (low + high) : fmin(fmax(0, low), high);
    }
}

sn_status sn_arm_solve_all(sn_arm *arm, const double goal[7], const double *seed, int most,
                           double *q, int *count) {
    if (count != NULL) *count = 0;
    if (arm == NULL || goal == NULL || q == NULL || count == NULL || most < 0)
        return SN_ERR_ARGUMENT;
    const size_t n = (size_t)arm->chain.n;
    sn_arm_search s;
    double near[SN_ARM_MAX], own[SN_ARM_MAX];
    if (seed != NULL && !finite_all(seed, arm->chain.n)) return SN_ERR_VALUE;
    if (!sn_arm_search_begin(&s, arm, goal)) return SN_ERR_VALUE;
    middle(arm, near);
    if (arm->rests) memcpy(near, arm->rest, n * sizeof *near);
    if (seed != NULL) memcpy(near, seed, n * sizeof *near);
    const int rows = sn_arm_chain_rows(&arm->chain);
    gathering g = {{near, gather}, arm, arm->chain.n > rows ? 0.2 : 1e-3, 0};
    sn_arm_report report;
    sn_arm_search_run(&s, near, own, &report);
    if (report.reached) gather(&g.base, own);
    int starts = arm->options.max_seeds < 400 ? arm->options.max_seeds : 400;
    if (report.reached) (void)sn_arm_search_lanes(&s, 0, starts, SN_ARM_LANE_STEPS, &g.base, own);
    // the nearest first; of equals the one that was found first
    for (int k = 0; k < g.count && k < most; k++) {
        int best = -1;
        for (int i = 0; i < g.count; i++)
            if (arm->far[i] >= 0 && (best < 0 || arm->far[i] < arm->far[best])) best = i;
        memcpy(q + n * (size_t)k, arm->found + n * (size_t)best, n * sizeof *q);
        arm->far[best] = -1;
        *count = k + 1;
    }
    return SN_OK;
}

// --- many ------------------------------------------------------------------------------------------

enum { CHUNK = 64, LARGE = 512 };

typedef struct shared {
    sn_arm *arm;
    int count, chunk;
    const double *goals, *seeds;
    double *q;
    sn_arm_report *reports;
    atomic_int next;
    atomic_bool stopped;
} shared;

typedef struct job {
    sn_arm_source base;
    shared *all;
    int first;
} job;

static bool asked_to_stop(shared *all) {
    const sn_cancel *cancel = &all->arm->options.cancel;
    if (cancel->asked == NULL) return false;
    if (!all->stopped && cancel->asked(cancel->user)) all->stopped = true;
    return all->stopped;
}

static void take(sn_arm_source *self, sn_arm_search *s, int i, bool found, const double *q) {
    job *own = (job *)(void *)self;
    shared *all = own->all;
    if (asked_to_stop(all)) return;
    const size_t n = (size_t)self->arm->chain.n, at = (size_t)own->first + (size_t)i;
    if (found) memcpy(all->q + n * at, q, n * sizeof *q);
    sn_arm_search_end(s, found, all->q + n * at, all->reports != NULL ? &all->reports[at] : NULL);
}

static void run_job(void *argument) {
    job *own = argument;
    shared *all = own->all;
    sn_arm *arm = all->arm;
    const size_t n = (size_t)arm->chain.n;
    sn_arm_search s[SN_ARM_WIDE];
    sn_arm_report mine;
    for (;;) {
        // the last chunk may begin beyond the count
        int chunk = atomic_fetch_add(&all->next, 1);
        const int size = all->chunk;
        if (chunk >= all->count / size + (all->count % size != 0) || asked_to_stop(all)) return;
        own->first = chunk * size;
        int here = all->count - own->first < size ? all->count - own->first : size;
        own->base = (sn_arm_source){arm, all->goals + 7 * (size_t)own->first, take};
        if (all->seeds == NULL && !arm->rests) {
            sn_arm_search_many(s, here, &own->base);
            continue;
        }
        for (int i = 0; i < here; i++) {
            size_t at = (size_t)own->first + (size_t)i;
            if (asked_to_stop(all)) return;
            (void)sn_arm_search_begin(s, arm, all->goals + 7 * at);
            sn_arm_search_run(s, all->seeds != NULL ? all->seeds + n * at : NULL, all->q + n * at,
                              all->reports != NULL ? &all->reports[at] : &mine);
        }
    }
}

// Does a device pay for so many? Where one was asked for, always.
static bool for_device(const sn_arm *arm, int count, const double *seeds) {
    enum { MANY = 16384 };
    if (arm->device == NULL || seeds != NULL || arm->rests || arm->options.max_seconds > 0)
        return false;
    return count >= (arm->options.device == SN_DEVICE_AUTO ? MANY : 1);
}

sn_status sn_arm_solve_many(sn_arm *arm, int count, const double *goals, const double *seeds,
                            double *q, sn_arm_report *reports) {
    if (arm == NULL || count < 0 || (count > 0 && (goals == NULL || q == NULL)))
        return SN_ERR_ARGUMENT;
    if (for_device(arm, count, seeds)) {
        char why[1200] = "";
        sn_status status;
        int done;
        if (sn_arm_device_run(arm, count, goals, q, reports, &done, &status, why, sizeof why))
            return status;
        // a device that failed is left, and this processor does what it did not
        arm->lost = arm->device;
        arm->device = NULL;
        sn_arm_set_note(arm, why);
        goals += 7 * (size_t)done;
        q += (size_t)arm->chain.n * (size_t)done;
        if (reports != NULL) reports += done;
        count -= done;
    }
    for (int i = 0; i < count; i++)
        if (!sn_arm_goal_good(goals + 7 * (size_t)i)) return SN_ERR_VALUE;
    for (int i = 0; seeds != NULL && i < count; i++)
        if (!finite_all(seeds + (size_t)arm->chain.n * (size_t)i, arm->chain.n))
            return SN_ERR_VALUE;
    shared all = {
        .arm = arm, .count = count, .goals = goals, .seeds = seeds, .q = q, .reports = reports};
    job jobs[SN_MAX_THREADS];
    const int threads = arm->options.threads;
    // lanes stand empty at the end of a chunk, threads at the end of all
    all.chunk = count / LARGE > 16 * threads ? LARGE : CHUNK;
    const int chunks = count / all.chunk + (count % all.chunk != 0);
    for (int i = 0; i < threads; i++) jobs[i] = (job){.all = &all};
    atomic_init(&all.next, 0);
    atomic_init(&all.stopped, false);
    if (count > 0)
        sn_threads_run(&arm->options.pool, run_job, jobs, sizeof jobs[0],
                       threads < chunks ? threads : chunks);
    return all.stopped ? SN_ERR_CANCELLED : SN_OK;
}
