// SPDX-License-Identifier: MIT
// Smoothing a take in windows.
//
// What a pose is does not matter to frames a second away: the penalty on acceleration reaches as far as tau and
// a little, further only where next to nothing is seen. So a take is cut into windows that overlap, each smoothed
// by itself, with memory for one window a thread; where two overlap the one passes over into the other. Windows depend
// on the frames alone: threads do not change a bit.
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/threads.h"
#include "sweeps/workspace.h"
#include "take/fit.h"
#include "track/smooth.h"

// Frames to each side of a window, as a multiple of tau's and at least; of a window, as a multiple of that.
static const double margin_taus = 24;
enum { MARGIN = 16, TIMES = 12 };

typedef struct plan {
    const sn_fit_input *input;
    const sn_fit_options *options;
    const sn_problem *problem;
    sn_track_goals goals;
    sn_allocator allocator;
    size_t nq;
    int count, margin, core, nwindow;
    const double *from;  // count x nq
    double *to;          // count x nq
    double *seam;        // nwindow x 2 margin x nq: what a window makes of its first frames
    atomic_int next, failed;
} plan;

typedef struct job {
    plan *all;
    sn_smoother *smoother;
    double *q;  // a window
    sn_fit_input input;
    int first;  // frame of the window
} job;

// What no sample shows is drawn to where it was led through its gap (lanes_bridge.c) in place of the figure at rest: a
// bent hand does not go straight while its marker is hidden. A setup's own rest poses stay.
static void set_rest(const job *j, int frame, sn_problem *problem) {
    const plan *p = j->all;
    const sn_model *m = problem->model;
    if (j->input.hidden == NULL || j->input.plan != NULL || problem->nrest == 0) return;
    const unsigned char *mark = j->input.hidden + (size_t)frame * (size_t)m->nv;
    const double *led = p->from + (size_t)frame * p->nq, *home = p->problem->rest[0].q;
    for (int k = 0; k < m->njoint; k++) {
        const sn_joint *n = &m->joint[k];
        for (int i = 0; n->ops->quaternion < 0 && i < n->nv; i++)
            problem->rest[0].q[n->q0 + i] = (mark[n->v0 + i] ? led : home)[n->q0 + i];
    }
}

static sn_status window_goals(void *user, int frame, sn_problem *problem) {
    job *j = user;
    set_rest(j, j->first + frame, problem);
    return j->all->goals(&j->input, j->first + frame, problem);
}

static int window_length(const plan *p) {
    // the last takes what is left
    int n = 2 * p->core + 2 * p->margin;
    return n < p->count ? n : p->count;
}

static sn_status smooth_window(job *j, int i) {
    plan *p = j->all;
    int a = i * p->core, b = i + 1 < p->nwindow ? a + p->core : p->count;
    int low = a - p->margin > 0 ? a - p->margin : 0;
    int high = b + p->margin < p->count ? b + p->margin : p->count;
    size_t bytes = p->nq * sizeof(double);
    sn_smooth_report report;
    j->first = low;
    memcpy(j->q, p->from + (size_t)low * p->nq, (size_t)(high - low) * bytes);
    SN_TRY(sn_smoother_run(j->smoother, high - low, window_goals, j, j->q, &report));
    // the first of its frames go beside what the window before makes of them
    int own = i > 0 ? a + p->margin : 0;
    if (own > high) own = high;
    if (i > 0)
        memcpy(p->seam + (size_t)i * 2 * (size_t)p->margin * p->nq, j->q,
               (size_t)(own - low) * bytes);
    memcpy(p->to + (size_t)own * p->nq, j->q + (size_t)(own - low) * p->nq,
           (size_t)(high - own) * bytes);
    return SN_OK;
}

static void run_job(void *argument) {
    job *j = argument;
    plan *p = j->all;
    for (;;) {
        int i = atomic_fetch_add(&p->next, 1), none = SN_OK;
        if (i >= p->nwindow || atomic_load(&p->failed) != SN_OK) return;
        sn_status status =
            sn_cancelled(p->options->cancel) ? SN_ERR_CANCELLED : smooth_window(j, i);
        if (status != SN_OK) atomic_compare_exchange_strong(&p->failed, &none, (int)status);
    }
}

// From one window to the next.
static void blend(plan *p, const sn_model *model, double *delta, double *room) {
    for (int i = 1; i < p->nwindow; i++) {
        int low = i * p->core - p->margin, high = i * p->core + p->margin;
        if (high > p->count) high = p->count;
        for (int f = low; f < high; f++) {
            double t = (f - low + 0.5) / (2 * p->margin), *q = p->to + (size_t)f * p->nq;
            const double *next =
                p->seam + ((size_t)i * 2 * (size_t)p->margin + (size_t)(f - low)) * p->nq;
            // as slowly at both ends as in the middle of a window
            t = t * t * (3 - 2 * t);
            sn_model_difference(model, q, next, delta);
            for (int v = 0; v < sn_model_nv(model); v++) delta[v] *= t;
            sn_model_integrate(model, q, delta, room);
            memcpy(q, room, p->nq * sizeof *q);
        }
    }
}

static sn_status create_job(plan *p, job *j) {
    sn_smooth_options s = sn_smooth_options_default();
    s.tau = p->options->smooth;
    s.rate = sn_recording_about(p->input->recording)->rate;
    s.tolerance = 0.3;
    s.max_iterations = 4;
    s.cancel = p->options->cancel;
    *j = (job){.all = p, .input = *p->input};
    j->q = sn_acquire(&p->allocator, (size_t)window_length(p) * p->nq * sizeof *j->q);
    if (j->q == NULL) return SN_ERR_MEMORY;
    SN_TRY(sn_smoother_create(p->problem, &s, &p->allocator, &j->smoother, NULL));
    return sn_smoother_hasten(j->smoother, p->count, window_goals, j, p->from);
}

static sn_status run(plan *p, double *delta, sn_motion *motion) {
    job jobs[SN_MAX_THREADS];
    int n = p->options->track.threads < p->nwindow ? p->options->track.threads : p->nwindow;
    sn_status status = SN_OK;
    for (int i = 0; i < n; i++) jobs[i] = (job){0};
    for (int i = 0; i < n && status == SN_OK; i++) status = create_job(p, &jobs[i]);
    if (status == SN_OK) {
        sn_threads_run(&p->options->track.pool, run_job, jobs, sizeof jobs[0], n);
        status = (sn_status)atomic_load(&p->failed);
    }
    // what was cancelled is left as it was
    if (status == SN_OK) {
        blend(p, p->input->model, delta, delta + sn_model_nv(p->input->model));
        memcpy(sn_motion_edit(motion, 0), p->to, (size_t)p->count * p->nq * sizeof *p->to);
    }
    for (int i = 0; i < n; i++) {
        sn_smoother_destroy(jobs[i].smoother);
        if (jobs[i].q != NULL) sn_release(&p->allocator, jobs[i].q);
    }
    return status == SN_ERR_CANCELLED ? SN_OK : status;
}

sn_status sn_fit_smooth(const sn_fit_input *input, const sn_fit_options *options,
                        const sn_problem *problem, sn_track_goals goals,
                        const sn_allocator *allocator, sn_motion *motion) {
    double taus = options->smooth * sn_recording_about(input->recording)->rate;
    plan p = {.input = input,
              .options = options,
              .problem = problem,
              .goals = goals,
              .allocator = sn_allocator_of(allocator),
              .nq = (size_t)sn_model_nq(input->model),
              .count = input->count,
              .margin = MARGIN + (int)(margin_taus * taus),
              .from = sn_motion_frame(motion, 0)};
    p.core = TIMES * p.margin;
    p.nwindow = p.count / p.core;
    if (p.nwindow < 1) p.nwindow = 1;
    atomic_init(&p.next, 0);
    atomic_init(&p.failed, SN_OK);
    if (p.nwindow == 1) p.core = p.count;
    size_t nv = (size_t)sn_model_nv(input->model);
    p.to = sn_acquire(allocator, (size_t)p.count * p.nq * sizeof *p.to);
    p.seam =
        sn_acquire(allocator, (size_t)p.nwindow * 2 * (size_t)p.margin * p.nq * sizeof *p.seam + 1);
    double *delta = sn_acquire(allocator, (nv + p.nq + 1) * sizeof *delta);
    sn_status status =
        p.to == NULL || p.seam == NULL || delta == NULL ? SN_ERR_MEMORY : run(&p, delta, motion);
    sn_release(allocator, delta);
    sn_release(allocator, p.seam);
    sn_release(allocator, p.to);
    return status;
}
