// SPDX-License-Identifier: MIT
// Chains on a device. A job is cut into pieces that fit into its memory; several of them are under way at a
// time, each with a queue of its own, so that some are copied and looked at while others are solved.
#include "batch/device.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/threads.h"
#include "batch/launch.h"

#ifdef SINEW_KERNELS

// A job is cut into so many parts; the first and the last are halves, as nothing hides what is copied for them.
enum { PARTS = 4 };

typedef sn_batch_slot slot;

sn_batch_device *sn_batch_device_create(const sn_batch *b, char *why, size_t size) {
    sn_batch_device *d = sn_acquire(&b->allocator, sizeof *d);
    if (d == NULL) {
        (void)snprintf(why, size, "out of memory");
        return NULL;
    }
    *d = (sn_batch_device){.allocator = b->allocator};
    if (!sn_session_open(&d->s, b->options.device, why, size) ||
        !sn_batch_launch_build(d, b, why, size)) {
        sn_batch_device_destroy(d);
        return NULL;
    }
    uint64_t block = 0;
    const sn_device_info *info = &d->s.info;
    (void)d->s.cl.clGetDeviceInfo(d->s.device, SN_CL_DEVICE_MOST_BLOCK, sizeof block, &block, NULL);
    d->most_bytes =
        (size_t)fmin((double)block, fmin(0.3 / SN_BATCH_SLOTS * (double)info->memory, 4e9));
    d->threads = b->options.device_threads > 0 ? (size_t)b->options.device_threads
                                               : (size_t)(info->units > 0 ? info->units : 1) *
                                                     (info->gpu ? 512 : SN_BATCH_GROUP);
    d->threads = (d->threads + SN_BATCH_GROUP - 1) / SN_BATCH_GROUP * SN_BATCH_GROUP;
    for (int i = 0; i < SN_BATCH_SLOTS; i++) d->slots[i].queue = d->s.queue[i];
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

static void forget_carried(sn_batch_device *d) {
    if (d->carried != NULL) (void)d->s.cl.clReleaseEvent(d->carried);
    d->carried = NULL;
}

void sn_batch_device_destroy(sn_batch_device *d) {
    if (d == NULL) return;
    const sn_opencl *cl = &d->s.cl;
    sn_session_drain(&d->s);
    for (int i = 0; i < SN_BATCH_SLOTS; i++) release_slot(d, &d->slots[i]);
    for (int i = 0; i < 2; i++) sn_session_release(&d->s, &d->heads[i]);
    forget_carried(d);
    const sn_cl kernels[] = {d->trips[0], d->trips[1], d->quick[0], d->quick[1],
                             d->verify,   d->put,      d->carry};
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
    const size_t again = d->quick[1] != NULL ? rows : 0;
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

// Room for the last poses of so many chains; what is under way keeps what it has.
static int32_t make_heads(sn_batch_device *d, const sn_batch *b, size_t chains) {
    int32_t error = 0;
    if (chains <= d->head_chains || !sn_batch_launch_cuts(d)) return 0;
    for (int i = 0; i < 2; i++) sn_session_release(&d->s, &d->heads[i]);
    for (int i = 0; i < 2; i++)
        d->heads[i] =
            sn_session_buffer(&d->s, 2 * chains * (size_t)b->table.nq * sizeof(double), &error);
    d->head_chains = error == 0 ? chains : 0;
    return error;
}

// What of a job a piece is.
typedef struct piece {
    int first, nchain;   // chains
    int frame, nframe;   // their frames
    const slot *before;  // where the frames before these are; NULL: nowhere
} piece;

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

// Make the starts of a piece ready and hand them over.
static int32_t write_starts(const sn_batch *b, const sn_batch_job *job, slot *s) {
    const size_t bytes = (size_t)s->nchain * (size_t)b->table.nq * sizeof(double);
    readying jobs[SN_MAX_THREADS];
    atomic_int next;
    atomic_init(&next, 0);
    const int threads = s->nchain < 2048 ? 1 : b->nworker;
    for (int i = 0; i < threads; i++) jobs[i] = (readying){b, job, s, s->first, s->nchain, &next};
    sn_threads_run(&b->options.pool, ready, jobs, sizeof jobs[0], threads);
    return b->device->s.cl.clEnqueueWriteBuffer(s->queue, s->starts, 0, 0, bytes, s->begin, 0, NULL,
                                                NULL);
}

// Numbers of each row of a piece to the device or from it: those of a chain lie together, here among its other frames.
static int32_t copy_rows(const sn_batch_device *d, const sn_batch_job *job, const slot *s,
                         sn_cl there, size_t count, const double *from, double *to) {
    const sn_opencl *cl = &d->s.cl;
    const size_t one = count * sizeof(double), zero[3] = {0, 0, 0};
    const size_t at = ((size_t)s->first * (size_t)job->nframe + (size_t)s->frame) * count;
    const size_t region[3] = {(size_t)s->nframe * one, (size_t)s->nchain, 1};
    const size_t pitch = (size_t)job->nframe * one, all = region[0] * region[1];
    if (s->nframe == job->nframe)
        return from != NULL
                   ? cl->clEnqueueWriteBuffer(s->queue, there, 0, 0, all, from + at, 0, NULL, NULL)
                   : cl->clEnqueueReadBuffer(s->queue, there, 0, 0, all, to + at, 0, NULL, NULL);
    return from != NULL
               ? cl->clEnqueueWriteBufferRect(s->queue, there, 0, zero, zero, region, region[0], 0,
                                              pitch, 0, from + at, 0, NULL, NULL)
               : cl->clEnqueueReadBufferRect(s->queue, there, 0, zero, zero, region, region[0], 0,
                                             pitch, 0, to + at, 0, NULL, NULL);
}

// Goals as the kernels want them: directions of length 1, and all of a task missing or none; what is no goal must not
// look like one. Problems that have such are never cut along their frames.
static int32_t write_ready_goals(const sn_batch *b, const sn_batch_job *job, slot *s) {
    const size_t ngoal = (size_t)b->table.ngoal, rows = (size_t)s->nchain * (size_t)s->nframe;
    const double *goals = job->goals + (size_t)s->first * (size_t)job->nframe * ngoal;
    for (size_t r = 0; r < rows; r++)
        if (!sn_batch_row_goals(b, goals + r * ngoal, s->goal + r * ngoal))
            s->goal[r * ngoal] = INFINITY;
    return b->device->s.cl.clEnqueueWriteBuffer(
        s->queue, s->goals, 0, 0, rows * ngoal * sizeof(double), s->goal, 0, NULL, NULL);
}

// Hand a piece over: the goals, the starts, the kernels, and the results back.
static int32_t begin_piece(sn_batch *b, const sn_batch_job *job, const piece *p, slot *s) {
    sn_batch_device *d = b->device;
    const sn_opencl *cl = &d->s.cl;
    const size_t rows = (size_t)p->nchain * (size_t)p->nframe;
    int32_t e = make_room(d, b, s, rows, (size_t)p->nchain);
    if (e == 0 && p->frame == 0) e = make_heads(d, b, (size_t)p->nchain);
    if (e != 0) return e;
    s->first = p->first, s->nchain = p->nchain, s->frame = p->frame, s->nframe = p->nframe;
    e = b->table.npart > 0
            ? write_ready_goals(b, job, s)
            : copy_rows(d, job, s, s->goals, (size_t)b->table.ngoal, job->goals, NULL);
    if (e == 0) e = cl->clFlush(s->queue);
    if (p->frame == 0) {
        if (e == 0) e = write_starts(b, job, s);
    } else {
        memcpy(s->bad, p->before->bad, (size_t)p->nchain * sizeof *s->bad);
    }
    if (e == 0) e = sn_batch_launch(b, s, p->nframe < job->nframe);
    if (e == 0) e = copy_rows(d, job, s, s->poses, (size_t)b->table.nq, NULL, job->poses);
    if (e == 0)
        e = cl->clEnqueueReadBuffer(s->queue, s->stats, 0, 0, rows * 4 * sizeof(double), s->seen, 0,
                                    NULL, NULL);
    if (e == 0) e = cl->clFlush(s->queue);
    if (e != 0) s->nchain = 0;
    return e;
}

// A row that the device did not settle, or whose angles go round: here.
static void settle_row(sn_batch_worker *w, const sn_batch_job *job, size_t row, const double *start,
                       const double *anchor, sn_batch_report *report, sn_batch_counts *counts) {
    const sn_batch *b = w->batch;
    double *q = job->poses + row * (size_t)b->table.nq;
    if (report->stop != SN_STOP_COUNT && sn_batch_row_turns(b, start, q)) return;
    if (sn_model_check_pose(b->model, q, NULL) != SN_OK)
        memcpy(q, start, (size_t)b->table.nq * sizeof *q);
    sn_batch_row_plain(w, job->goals + row * (size_t)b->table.ngoal, anchor, q, report);
    counts->plain++;
}

// A piece that the device is through with, shared by the threads, some chains at a time.
typedef struct settling {
    sn_batch_worker *worker;
    const sn_batch_job *job;
    const slot *slot;
    atomic_int *next;
} settling;

// What the device found, looked at row by row: what it could not settle, the plain solver does.
static void settle_chain(const settling *s, int i, sn_batch_counts *counts) {
    static const sn_stop stops[] = {[SN_END_GOAL] = SN_STOP_GOAL,
                                    [SN_END_MINIMUM] = SN_STOP_MINIMUM,
                                    [SN_END_STALLED] = SN_STOP_STALLED,
                                    [SN_END_ITERATIONS] = SN_STOP_ITERATIONS};
    const sn_batch_job *job = s->job;
    const sn_batch *b = s->worker->batch;
    const size_t nq = (size_t)b->table.nq, nframe = (size_t)s->slot->nframe;
    const size_t chain = (size_t)(s->slot->first + i);
    const size_t row0 = chain * (size_t)job->nframe + (size_t)s->slot->frame;
    counts->rows += (int64_t)nframe;
    if (s->slot->bad[i]) {
        for (size_t row = row0; row < row0 + nframe; row++) {
            memcpy(job->poses + row * nq, job->starts + chain * nq, nq * sizeof(double));
            if (job->reports != NULL)
                job->reports[row] =
                    (sn_batch_report){.stop = SN_STOP_BAD_START, .f = NAN, .gradient = NAN};
        }
        return;
    }
    counts->device += (int64_t)nframe;
    for (size_t f = 0; f < nframe; f++) {
        const double *stats = s->slot->seen + 4 * ((size_t)i * nframe + f);
        const size_t row = row0 + f;
        const bool ended = stats[0] >= 0 && stats[0] <= SN_END_ITERATIONS && isfinite(stats[1]);
        sn_batch_report report = {.stop = ended ? stops[(int)stats[0]] : SN_STOP_COUNT,
                                  .f = stats[1],
                                  .gradient = stats[2] < 0 ? NAN : stats[2],
                                  .iterations = (int)stats[3]};
        if (!ended || b->turning) {
            const bool begins = s->slot->frame + (int)f == 0;
            const double *start =
                begins ? s->slot->begin + (size_t)i * nq : job->poses + (row - 1) * nq;
            settle_row(s->worker, job, row, start, b->table.pulled && !begins ? start : NULL,
                       &report, counts);
        }
        counts->iterations += report.iterations;
        if (job->reports != NULL) job->reports[row] = report;
    }
}

static void settle(void *argument) {
    enum { CHUNK = 32 };
    const settling *s = argument;
    sn_batch_counts counts = {0};
    for (;;) {
        const int from = atomic_fetch_add(s->next, CHUNK);
        if (from >= s->slot->nchain) break;
        for (int i = from; i < s->slot->nchain && i < from + CHUNK; i++)
            settle_chain(s, i, &counts);
    }
    s->worker->counts = counts;
}

static void add_counts(sn_batch_counts *to, const sn_batch_counts *from, int sign) {
    to->rows += sign * from->rows;
    to->device += sign * from->device;
    to->plain += sign * from->plain;
    to->iterations += sign * from->iterations;
}

// @param counts  what was done is added to
static int32_t end_piece(sn_batch *b, const sn_batch_job *job, slot *s, sn_batch_counts *counts) {
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
    for (int i = 0; i < b->nworker; i++) add_counts(counts, &b->worker[i].counts, 1);
    s->nchain = 0;
    return 0;
}

// How many chains of so many frames a piece may have.
static int piece_chains(const sn_batch *b, const sn_batch_job *job, int nframe) {
    const size_t row = (size_t)(b->table.ngoal + b->table.nq + 4) * sizeof(double);
    const double chains = (double)b->device->most_bytes / ((double)row * nframe);
    return chains < 1 ? 1 : chains > job->nchain ? job->nchain : (int)chains;
}

// Of `count`, what the next part from `next` on has, of `part` each.
static int next_part(int count, int next, int part) {
    const int left = count - next, half = (part + 1) / 2;
    const int n = next == 0 || (left < part + half && left > half) ? half : part;
    return part >= count ? count : n < left ? n : left;
}

// Copies are hidden behind the work. Long chains are cut along their frames, so that all of them are at work all the
// time; others are dealt out, as many as fill the device.
static piece next_piece(const sn_batch *b, const sn_batch_job *job, const piece *last) {
    const sn_batch_device *d = b->device;
    piece p = {.first = last->first, .frame = last->frame + last->nframe, .before = last->before};
    const bool along = sn_batch_launch_cuts(d) && job->nframe >= 2 * PARTS;
    const int frames = along ? (job->nframe + PARTS - 1) / PARTS : job->nframe;
    if (p.frame >= job->nframe || last->nframe == 0) {
        p.first += last->nchain;
        p.frame = 0;
    }
    p.nframe = next_part(job->nframe, p.frame, frames);
    if (p.frame > 0) {
        p.nchain = last->nchain;
        return p;
    }
    const int left = job->nchain - p.first, whole = piece_chains(b, job, frames);
    const int part = (job->nchain + PARTS - 1) / PARTS, fill = (int)(d->threads / 2);
    if (along || whole <= fill || part <= fill) {
        const int most = along || fill > whole ? whole : fill;
        p.nchain = left < most ? left : most;
    } else {
        p.nchain = next_part(job->nchain, p.first, part < whole ? part : whole);
    }
    return p;
}

bool sn_batch_device_run(sn_batch *b, const sn_batch_job *job, int *done, char *why, size_t size) {
    sn_batch_device *d = b->device;
    int32_t e = 0;
    int begun = 0, ended = 0;
    piece next = next_piece(b, job, &(piece){0});
    sn_batch_counts partly = {0};  // of chains that are not at their end
    *done = 0;
    forget_carried(d);
    while (e == 0 && *done < job->nchain) {
        slot *s = &d->slots[begun % SN_BATCH_SLOTS];
        if (next.first < job->nchain && s->nchain == 0) {
            e = begin_piece(b, job, &next, s);
            next.before = s;
            next = next_piece(b, job, &next);
            begun++;
            continue;
        }
        s = &d->slots[ended++ % SN_BATCH_SLOTS];
        const int chains = s->frame + s->nframe >= job->nframe ? s->nchain : 0;
        e = end_piece(b, job, s, &partly);
        if (e == 0 && chains > 0) {
            *done += chains;
            add_counts(&b->counts, &partly, 1);
            partly = (sn_batch_counts){0};
        }
    }
    if (e == 0) return true;
    sn_session_drain(&d->s);
    for (int i = 0; i < SN_BATCH_SLOTS; i++) d->slots[i].nchain = 0;
    (void)snprintf(why, size, "%s failed (%d)", d->s.info.name, (int)e);
    return false;
}

bool sn_batch_device_begin(sn_batch *b, const sn_batch_job *job, int at) {
    slot *s = &b->device->slots[at];
    if (s->nchain > 0 || piece_chains(b, job, job->nframe) < job->nchain) return false;
    const piece whole = {.nchain = job->nchain, .nframe = job->nframe};
    return begin_piece(b, job, &whole, s) == 0;
}

bool sn_batch_device_end(sn_batch *b, const sn_batch_job *job, int at, char *why, size_t size) {
    slot *s = &b->device->slots[at];
    int32_t e = end_piece(b, job, s, &b->counts);
    s->nchain = 0;
    if (e == 0) return true;
    sn_session_drain(&b->device->s);
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
