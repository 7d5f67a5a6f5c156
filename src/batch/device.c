// SPDX-License-Identifier: MIT
// Chains on a device. A job is cut into pieces that fit into its memory; three of them are under way at a
// time, each with a queue of its own, so that one is copied while others are solved.
#include "batch/device.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/threads.h"
#include "batch/program.h"
#include "batch/session.h"

#ifdef SINEW_KERNELS

enum { GROUP = 64, PARTS = 6 };

// What the floats of mixed precision are asked for: the doubles after them do the rest.
static const double float_gradient = 3e-4;
// A quick row ends where a step would win less than this share of the tolerance, of f, and what floats can tell.
static const double share_of_tolerance = 0.1, least_share = 1e-6;

enum { SLOTS = SN_SESSION_QUEUES };

typedef struct slot {
    sn_cl queue, goals, starts, poses, stats, next, list, list2, fixed;
    double *seen, *begin, *goal;  // here: stats, starts, and goals where they must be made ready
    bool *bad;                    // chains whose start is none
    size_t rows, chains;          // what there is room for
    int first, nchain;            // the piece under way; nchain 0: none
} slot;

struct sn_batch_device {
    sn_allocator allocator;
    sn_session s;
    sn_cl program[4], trips[2], quick, verify, put;  // of doubles, of floats
    int nprogram;
    slot slots[SLOTS];
    size_t threads, most_bytes;
};

static sn_cl build(sn_batch_device *d, const sn_batch *b, sn_batch_kernels kind, bool floats,
                   const char *name, char *why, size_t size) {
    sn_text text = sn_text_begin(&d->allocator);
    const double gradient = b->options.solver.gradient;
    sn_batch_program(&b->table, kind, floats, floats ? fmax(gradient, float_gradient) : gradient,
                     b->options.solver.max_iterations, &text);
    sn_cl program =
        sn_session_build(&d->s, &text, floats ? "-cl-single-precision-constant" : "", why, size);
    sn_text_end(&text);
    if (program == NULL) return NULL;
    d->program[d->nprogram++] = program;
    return sn_session_kernel(&d->s, program, name, why, size);
}

static bool build_all(sn_batch_device *d, const sn_batch *b, char *why, size_t size) {
    d->trips[0] = build(d, b, SN_BATCH_TRIPS, false, "sn_batch_chains", why, size);
    if (d->trips[0] == NULL) return false;
    if (b->options.precision != SN_PRECISION_MIXED) return true;
    if (sn_batch_is_quick(&b->table)) {
        d->quick = build(d, b, SN_BATCH_QUICK, true, "sn_batch_quick", why, size);
        if (d->quick != NULL)
            d->verify = build(d, b, SN_BATCH_QUICK, false, "sn_batch_verify", why, size);
        if (d->verify != NULL)
            d->put = sn_session_kernel(&d->s, d->program[0], "sn_batch_put", why, size);
        return d->put != NULL;
    }
    // rows on their own would not know what they are pulled to
    if (b->table.pulled) return true;
    d->trips[1] = build(d, b, SN_BATCH_TRIPS, true, "sn_batch_chains", why, size);
    return d->trips[1] != NULL;
}

sn_batch_device *sn_batch_device_create(const sn_batch *b, char *why, size_t size) {
    sn_batch_device *d = sn_acquire(&b->allocator, sizeof *d);
    if (d == NULL) {
        (void)snprintf(why, size, "out of memory");
        return NULL;
    }
    *d = (sn_batch_device){.allocator = b->allocator};
    if (!sn_session_open(&d->s, b->options.device, why, size) || !build_all(d, b, why, size)) {
        sn_batch_device_destroy(d);
        return NULL;
    }
    uint64_t block = 0;
    const sn_device_info *info = &d->s.info;
    (void)d->s.cl.clGetDeviceInfo(d->s.device, SN_CL_DEVICE_MOST_BLOCK, sizeof block, &block, NULL);
    d->most_bytes = (size_t)fmin((double)block, fmin(0.1 * (double)info->memory, 4e9));
    d->threads = b->options.device_threads > 0
                     ? (size_t)b->options.device_threads
                     : (size_t)(info->units > 0 ? info->units : 1) * (info->gpu ? 512 : GROUP);
    d->threads = (d->threads + GROUP - 1) / GROUP * GROUP;
    for (int i = 0; i < SLOTS; i++) d->slots[i].queue = d->s.queue[i];
    return d;
}

// Numbers here that are copied at full speed where the device has room for that.
static double *take_numbers(sn_batch_device *d, size_t count) {
    const size_t bytes = (count + 1) * sizeof(double);
    double *at = d->s.info.gpu ? sn_session_room(&d->s, bytes) : NULL;
    return at != NULL ? at : sn_acquire(&d->allocator, bytes);
}

static void leave_numbers(sn_batch_device *d, double **at) {
    const int before = d->s.nroom;
    sn_session_leave(&d->s, *at);
    if (d->s.nroom == before) sn_release(&d->allocator, *at);
    *at = NULL;
}

static void release_slot(sn_batch_device *d, slot *s) {
    sn_cl *const all[] = {&s->goals, &s->starts, &s->poses, &s->stats,
                          &s->next,  &s->list,   &s->list2, &s->fixed};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) sn_session_release(&d->s, all[i]);
    leave_numbers(d, &s->seen);
    leave_numbers(d, &s->begin);
    leave_numbers(d, &s->goal);
    sn_release(&d->allocator, s->bad);
    s->bad = NULL;
    s->rows = s->chains = 0;
}

void sn_batch_device_destroy(sn_batch_device *d) {
    if (d == NULL) return;
    const sn_opencl *cl = &d->s.cl;
    for (int i = 0; i < SLOTS; i++) {
        if (d->slots[i].queue != NULL) (void)cl->clFinish(d->slots[i].queue);
        release_slot(d, &d->slots[i]);
    }
    const sn_cl kernels[] = {d->trips[0], d->trips[1], d->quick, d->verify, d->put};
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        if (kernels[i] != NULL) (void)cl->clReleaseKernel(kernels[i]);
    for (int i = 0; i < d->nprogram; i++) (void)cl->clReleaseProgram(d->program[i]);
    sn_session_close(&d->s);
    sn_allocator allocator = d->allocator;
    sn_release(&allocator, d);
}

const char *sn_batch_device_name(const sn_batch_device *d) { return d->s.info.name; }

void *sn_batch_device_room(sn_batch_device *d, size_t bytes) {
    return sn_session_room(&d->s, bytes);
}

// --- pieces --------------------------------------------------------------------------------------------

// Room for a piece; it stays for the next.
static int32_t make_room(sn_batch_device *d, const sn_batch *b, slot *s, size_t rows,
                         size_t chains) {
    const size_t nq = (size_t)b->table.nq, ngoal = (size_t)b->table.ngoal, one = sizeof(double);
    int32_t error = 0;
    if (rows <= s->rows && chains <= s->chains) return 0;
    release_slot(d, s);
    s->goals = sn_session_buffer(&d->s, rows * ngoal * one, &error);
    s->starts = sn_session_buffer(&d->s, chains * nq * one, &error);
    s->poses = sn_session_buffer(&d->s, rows * nq * one, &error);
    s->stats = sn_session_buffer(&d->s, rows * 4 * one, &error);
    s->next = sn_session_buffer(&d->s, SN_NEXT_SIZE * sizeof(int), &error);
    // of rows that are done again; none without a quick kernel
    const size_t again = d->quick != NULL ? rows : 0;
    s->list = sn_session_buffer(&d->s, again * sizeof(int), &error);
    s->list2 = sn_session_buffer(&d->s, again * sizeof(int), &error);
    s->fixed = sn_session_buffer(&d->s, again * nq * one, &error);
    s->seen = take_numbers(d, rows * 4);
    s->begin = take_numbers(d, chains * nq);
    s->goal = take_numbers(d, b->table.npart > 0 ? rows * ngoal : 0);
    s->bad = sn_acquire(&d->allocator, chains * sizeof *s->bad + 1);
    if (error == 0 && (s->seen == NULL || s->begin == NULL || s->goal == NULL || s->bad == NULL))
        error = -6;  // out of host memory
    if (error != 0) {
        release_slot(d, s);
        return error;
    }
    s->rows = rows;
    s->chains = chains;
    return 0;
}

// An argument of a kernel.
typedef struct kernel_argument {
    size_t size;
    const void *at;
} kernel_argument;

static int32_t launch(sn_batch_device *d, slot *s, sn_cl kernel, const kernel_argument *arguments,
                      int count, size_t wanted, size_t most) {
    const size_t group = GROUP, whole = (wanted + GROUP - 1) / GROUP * GROUP;
    const size_t all = whole < most ? whole : most;
    int32_t e = 0;
    for (int i = 0; i < count && e == 0; i++)
        e = d->s.cl.clSetKernelArg(kernel, (uint32_t)i, arguments[i].size, arguments[i].at);
    if (e == 0)
        e = d->s.cl.clEnqueueNDRangeKernel(s->queue, kernel, 1, NULL, &all, &group, 0, NULL, NULL);
    return e;
}

// Counters before a piece: its queue is idle, and nothing is waited for.
static int32_t reset(sn_batch_device *d, slot *s) {
    static const int none[SN_NEXT_SIZE] = {0};
    return d->s.cl.clEnqueueWriteBuffer(s->queue, s->next, 0, 0, sizeof none, none, 0, NULL, NULL);
}

// Chains of frames, or (frames > 0) the rows of the list on their own, of chains of so many frames.
static int32_t launch_trips(sn_batch_device *d, slot *s, bool floats, sn_cl starts, int nchain,
                            int nframe, int extrapolate, int most, int frames) {
    const kernel_argument a[] = {
        {sizeof(sn_cl), &s->goals},         {sizeof(sn_cl), &starts},   {sizeof(sn_cl), &s->poses},
        {sizeof(sn_cl), &s->stats},         {sizeof nchain, &nchain},   {sizeof nframe, &nframe},
        {sizeof extrapolate, &extrapolate}, {sizeof(sn_cl), &s->next},  {sizeof most, &most},
        {sizeof frames, &frames},           {sizeof(sn_cl), &s->list2}, {sizeof(sn_cl), &s->fixed}};
    return launch(d, s, d->trips[floats], a, (int)(sizeof a / sizeof a[0]), (size_t)nchain,
                  d->threads);
}

static int32_t launch_quick(sn_batch *b, slot *s, int nchain, int nframe, int extrapolate,
                            double share, int listed) {
    const int sweeps = 2 * b->options.solver.max_iterations;
    const float least = (float)fmax(share, least_share);
    const kernel_argument a[] = {{sizeof(sn_cl), &s->goals},         {sizeof(sn_cl), &s->starts},
                                 {sizeof(sn_cl), &s->poses},         {sizeof(sn_cl), &s->stats},
                                 {sizeof nchain, &nchain},           {sizeof nframe, &nframe},
                                 {sizeof extrapolate, &extrapolate}, {sizeof(sn_cl), &s->next},
                                 {sizeof sweeps, &sweeps},           {sizeof least, &least},
                                 {sizeof listed, &listed},           {sizeof(sn_cl), &s->list},
                                 {sizeof(sn_cl), &s->fixed}};
    return launch(b->device, s, b->device->quick, a, (int)(sizeof a / sizeof a[0]), (size_t)nchain,
                  b->device->threads);
}

// All rows, or (rows 0) those of the list.
static int32_t launch_verify(sn_batch *b, slot *s, int rows, int nframe) {
    const double tolerance = b->options.solver.gradient, goal = b->table.option[1];
    const int by_whole = goal < 0;
    const double aim = by_whole ? b->table.option[2] : goal;
    const kernel_argument v[] = {{sizeof(sn_cl), &s->goals},
                                 {sizeof(sn_cl), &s->poses},
                                 {sizeof(sn_cl), &s->stats},
                                 {sizeof rows, &rows},
                                 {sizeof nframe, &nframe},
                                 {sizeof tolerance, &tolerance},
                                 {sizeof aim, &aim},
                                 {sizeof by_whole, &by_whole},
                                 {sizeof(sn_cl), &s->next},
                                 {sizeof(sn_cl), &s->list},
                                 {sizeof(sn_cl), rows > 0 ? &s->list : &s->list2}};
    const size_t most = 4 * b->device->threads;
    return launch(b->device, s, b->device->verify, v, (int)(sizeof v / sizeof v[0]),
                  rows > 0 ? (size_t)rows : most, most);
}

static int32_t launch_put(sn_batch *b, slot *s, int which, sn_cl list) {
    const kernel_argument p[] = {{sizeof(sn_cl), &s->poses},
                                 {sizeof(sn_cl), &s->next},
                                 {sizeof which, &which},
                                 {sizeof(sn_cl), &list},
                                 {sizeof(sn_cl), &s->fixed}};
    return launch(b->device, s, b->device->put, p, (int)(sizeof p / sizeof p[0]),
                  b->device->threads, b->device->threads);
}

// Quick chains in floats, all of their rows looked at in doubles; what did not pass once more to the end of what
// floats can tell, and looked at again; trips for what is left.
static int32_t launch_all(sn_batch *b, slot *s, int nchain, int nframe, int extrapolate) {
    sn_batch_device *d = b->device;
    const int rows = nchain * nframe, most = 8 * b->options.solver.max_iterations + 40;
    const double share = share_of_tolerance * b->options.solver.gradient;
    int32_t e = launch_quick(b, s, nchain, nframe, extrapolate, share, 0);
    if (e == 0) e = launch_verify(b, s, rows, nframe);
    if (e == 0) e = launch_quick(b, s, nchain, nframe, 0, 0, 1);
    if (e == 0) e = launch_put(b, s, SN_NEXT_COUNT, s->list);
    if (e == 0) e = launch_verify(b, s, 0, nframe);
    if (e == 0) e = launch_trips(d, s, false, s->poses, rows, 1, 0, most, nframe);
    if (e == 0) e = launch_put(b, s, SN_NEXT_COUNT2, s->list2);
    return e;
}

// Starts made ready by the threads.
typedef struct readying {
    const sn_batch *b;
    const sn_batch_job *job;
    slot *s;
    int first, nchain;
    atomic_int *next;
} readying;

static void ready(void *argument) {
    enum { CHUNK = 256 };
    const readying *r = argument;
    const size_t nq = (size_t)r->b->table.nq;
    for (;;) {
        const int from = atomic_fetch_add(r->next, CHUNK);
        if (from >= r->nchain) return;
        for (int i = from; i < r->nchain && i < from + CHUNK; i++) {
            double *q = r->s->begin + (size_t)i * nq;
            const double *start = r->job->starts != NULL
                                      ? r->job->starts + ((size_t)r->first + (size_t)i) * nq
                                      : NULL;
            r->s->bad[i] = !sn_batch_row_start(r->b, start, q);
            if (r->s->bad[i]) (void)sn_batch_row_start(r->b, NULL, q);
        }
    }
}

// Hand a piece over: the goals, the starts, the kernels, and the results back.
static int32_t begin_piece(sn_batch *b, const sn_batch_job *job, int first, int nchain, slot *s) {
    sn_batch_device *d = b->device;
    const sn_opencl *cl = &d->s.cl;
    const size_t nq = (size_t)b->table.nq, ngoal = (size_t)b->table.ngoal;
    const size_t rows = (size_t)nchain * (size_t)job->nframe;
    const size_t from = (size_t)first * (size_t)job->nframe;
    const int most = 8 * b->options.solver.max_iterations + 40;
    const int extrapolate = b->options.start == SN_BATCH_EXTRAPOLATED;
    int32_t e = make_room(d, b, s, rows, (size_t)nchain);
    if (e != 0) return e;
    const double *goals = job->goals + from * ngoal;
    if (b->table.npart > 0) {
        // directions of length 1, and all of a task missing or none; what is no goal must not look like one
        for (size_t r = 0; r < rows; r++)
            if (!sn_batch_row_goals(b, goals + r * ngoal, s->goal + r * ngoal))
                s->goal[r * ngoal] = INFINITY;
        goals = s->goal;
    }
    e = cl->clEnqueueWriteBuffer(s->queue, s->goals, 0, 0, rows * ngoal * sizeof(double), goals, 0,
                                 NULL, NULL);
    if (e == 0) e = reset(d, s);
    if (e == 0) e = cl->clFlush(s->queue);
    readying jobs[SN_MAX_THREADS];
    atomic_int next;
    atomic_init(&next, 0);
    const int threads = nchain < 2048 ? 1 : b->nworker;
    for (int i = 0; i < threads; i++) jobs[i] = (readying){b, job, s, first, nchain, &next};
    sn_threads_run(&b->options.pool, ready, jobs, sizeof jobs[0], threads);
    if (e == 0)
        e = cl->clEnqueueWriteBuffer(s->queue, s->starts, 0, 0,
                                     (size_t)nchain * nq * sizeof(double), s->begin, 0, NULL, NULL);
    if (e == 0 && d->quick != NULL) {
        e = launch_all(b, s, nchain, job->nframe, extrapolate);
    } else if (e == 0) {
        const bool mixed = d->trips[1] != NULL;
        e = launch_trips(d, s, mixed, s->starts, nchain, job->nframe, extrapolate, most, 0);
        // the floats' poses are starts of rows on their own
        if (e == 0 && mixed) e = reset(d, s);
        if (e == 0 && mixed) e = launch_trips(d, s, false, s->poses, (int)rows, 1, 0, most, 0);
    }
    if (e == 0)
        e = cl->clEnqueueReadBuffer(s->queue, s->poses, 0, 0, rows * nq * sizeof(double),
                                    job->poses + from * nq, 0, NULL, NULL);
    if (e == 0)
        e = cl->clEnqueueReadBuffer(s->queue, s->stats, 0, 0, rows * 4 * sizeof(double), s->seen, 0,
                                    NULL, NULL);
    if (e == 0) e = cl->clFlush(s->queue);
    if (e == 0) s->first = first, s->nchain = nchain;
    return e;
}

// What the device found, looked at row by row: what it could not settle, the plain solver does.
static void settle_row(sn_batch_worker *w, const sn_batch_job *job, size_t row, const double *stats,
                       const double *start, const double *anchor) {
    static const sn_stop stops[] = {[SN_END_GOAL] = SN_STOP_GOAL,
                                    [SN_END_MINIMUM] = SN_STOP_MINIMUM,
                                    [SN_END_STALLED] = SN_STOP_STALLED,
                                    [SN_END_ITERATIONS] = SN_STOP_ITERATIONS};
    const sn_batch *b = w->batch;
    const int how = stats[0] >= 0 && stats[0] <= SN_END_ODD ? (int)stats[0] : SN_END_ODD;
    double *q = job->poses + row * (size_t)b->table.nq;
    sn_batch_report report = {
        .f = stats[1], .gradient = stats[2] < 0 ? NAN : stats[2], .iterations = (int)stats[3]};
    bool odd = how == SN_END_SADDLE || how == SN_END_ODD || !isfinite(report.f);
    if (!odd) report.stop = stops[how];
    if (b->turning && !odd && !sn_batch_row_turns(b, start, q)) odd = true;
    if (odd) {
        if (sn_model_check_pose(b->model, q, NULL) != SN_OK)
            memcpy(q, start, (size_t)b->table.nq * sizeof *q);
        sn_batch_row_plain(w, job->goals + row * (size_t)b->table.ngoal, anchor, q, &report);
    }
    w->counts.rows++;
    w->counts.device++;
    w->counts.plain += odd;
    w->counts.iterations += report.iterations;
    if (job->reports != NULL) job->reports[row] = report;
}

// A piece that the device is through with, shared by the threads chain by chain.
typedef struct settling {
    sn_batch_worker *worker;
    const sn_batch_job *job;
    const slot *slot;
    atomic_int *next;
} settling;

static void settle(void *argument) {
    const settling *s = argument;
    const sn_batch_job *job = s->job;
    const size_t nq = (size_t)s->worker->batch->table.nq, nframe = (size_t)job->nframe;
    for (;;) {
        const int i = atomic_fetch_add(s->next, 1);
        if (i >= s->slot->nchain) return;
        const size_t chain = (size_t)(s->slot->first + i);
        for (size_t f = 0; f < nframe; f++) {
            const size_t row = chain * nframe + f;
            const double *start =
                f == 0 ? s->slot->begin + (size_t)i * nq : job->poses + (row - 1) * nq;
            if (s->slot->bad[i]) {
                memcpy(job->poses + row * nq, job->starts + chain * nq, nq * sizeof(double));
                if (job->reports != NULL)
                    job->reports[row] =
                        (sn_batch_report){.stop = SN_STOP_BAD_START, .f = NAN, .gradient = NAN};
                s->worker->counts.rows++;
            } else {
                settle_row(s->worker, job, row, s->slot->seen + 4 * ((size_t)i * nframe + f), start,
                           s->worker->batch->table.pulled && f > 0 ? start : NULL);
            }
        }
    }
}

static int32_t end_piece(sn_batch *b, const sn_batch_job *job, slot *s) {
    const double begin = sn_seconds();
    int32_t e = b->device->s.cl.clFinish(s->queue);
    b->counts.waited += sn_seconds() - begin;
    if (e != 0) return e;
    settling jobs[SN_MAX_THREADS];
    atomic_int next;
    atomic_init(&next, 0);
    for (int i = 0; i < b->nworker; i++) {
        jobs[i] = (settling){&b->worker[i], job, s, &next};
        b->worker[i].counts = (sn_batch_counts){0};
    }
    sn_threads_run(&b->options.pool, settle, jobs, sizeof jobs[0], b->nworker);
    for (int i = 0; i < b->nworker; i++) {
        const sn_batch_counts *c = &b->worker[i].counts;
        b->counts.rows += c->rows;
        b->counts.device += c->device;
        b->counts.plain += c->plain;
        b->counts.iterations += c->iterations;
    }
    s->nchain = 0;
    return 0;
}

static int piece_chains(const sn_batch *b, const sn_batch_job *job) {
    const size_t row = (size_t)(b->table.ngoal + b->table.nq + 4) * sizeof(double);
    const double chains = (double)b->device->most_bytes / ((double)row * job->nframe);
    return chains < 1 ? 1 : chains > job->nchain ? job->nchain : (int)chains;
}

bool sn_batch_device_run(sn_batch *b, const sn_batch_job *job, int *done, char *why, size_t size) {
    sn_batch_device *d = b->device;
    int32_t e = 0;
    int next = 0, turn = 0;
    // copies hidden behind the work, in pieces that still fill the device
    const int part = (job->nchain + PARTS - 1) / PARTS, whole = piece_chains(b, job);
    const int most = whole > part && part >= (int)(d->threads / 2) ? part : whole;
    *done = 0;
    while (e == 0 && *done < job->nchain) {
        slot *s = &d->slots[turn % SLOTS];
        if (s->nchain > 0) {
            const int n = s->nchain;
            e = end_piece(b, job, s);
            if (e == 0) *done += n;
        }
        if (e == 0 && next < job->nchain) {
            const int left = job->nchain - next;
            const int n = left < most ? left : most;
            e = begin_piece(b, job, next, n, s);
            next += n;
        }
        turn++;
    }
    if (e == 0) return true;
    for (int i = 0; i < SLOTS; i++) d->slots[i].nchain = 0;
    (void)snprintf(why, size, "%s failed (%d)", d->s.info.name, (int)e);
    return false;
}

bool sn_batch_device_begin(sn_batch *b, const sn_batch_job *job, int at) {
    slot *s = &b->device->slots[at];
    if (s->nchain > 0 || piece_chains(b, job) < job->nchain) return false;
    return begin_piece(b, job, 0, job->nchain, s) == 0;
}

bool sn_batch_device_end(sn_batch *b, const sn_batch_job *job, int at, char *why, size_t size) {
    slot *s = &b->device->slots[at];
    int32_t e = end_piece(b, job, s);
    s->nchain = 0;
    if (e == 0) return true;
    (void)snprintf(why, size, "%s failed (%d)", b->device->s.info.name, (int)e);
    return false;
}

#else

sn_batch_device *sn_batch_device_create(const sn_batch *b, char *why, size_t size) {
    (void)b;
    (void)snprintf(why, size, "this build has no kernels for devices");
    return NULL;
}
void sn_batch_device_destroy(sn_batch_device *d) { (void)d; }
const char *sn_batch_device_name(const sn_batch_device *d) { return d != NULL ? "device" : ""; }
bool sn_batch_device_run(sn_batch *b, const sn_batch_job *job, int *done, char *why, size_t size) {
    (void)b, (void)job, (void)why, (void)size;
    *done = 0;
    return false;
}
bool sn_batch_device_begin(sn_batch *b, const sn_batch_job *job, int slot) {
    (void)b, (void)job, (void)slot;
    return false;
}
bool sn_batch_device_end(sn_batch *b, const sn_batch_job *job, int slot, char *why, size_t size) {
    (void)b, (void)job, (void)slot, (void)why, (void)size;
    return false;
}
void *sn_batch_device_room(sn_batch_device *d, size_t bytes) {
    (void)d, (void)bytes;
    return NULL;
}

#endif
