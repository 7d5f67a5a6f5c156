// SPDX-License-Identifier: MIT
// Chains on a device. A job is cut into pieces that fit into its memory; two of them are under way at a
// time, each with a queue of its own, so that one is copied while the other is solved.
#include "batch/device.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/threads.h"
#include "batch/program.h"

#ifdef SINEW_KERNELS

enum { ROOMS = 16, SLOTS = 2, GROUP = 64 };

// What the floats of mixed precision are asked for: the doubles after them do the rest.
static const double float_gradient = 3e-4;

typedef struct slot {
    sn_cl queue, goals, starts, poses, stats, next;
    double *seen, *begin, *goal;  // here: stats, starts, and goals where they must be made ready
    bool *bad;                    // chains whose start is none
    size_t rows, chains;          // what there is room for
    int first, nchain;            // the piece under way; nchain 0: none
} slot;

struct sn_batch_device {
    sn_allocator allocator;
    sn_opencl cl;
    sn_device_info info;
    sn_cl device, context, program[2], kernel[2];  // of doubles, of floats
    slot slots[SLOTS];
    size_t threads, most_bytes;
    struct {
        sn_cl memory;
        void *at;
    } room[ROOMS];
    int nroom;
};

static bool build(sn_batch_device *d, const sn_batch *b, bool floats, char *why, size_t size) {
    const sn_opencl *cl = &d->cl;
    int32_t error = 0;
    sn_text text = sn_text_begin(&d->allocator);
    const double gradient = b->options.solver.gradient;
    sn_batch_program(&b->table, floats, floats ? fmax(gradient, float_gradient) : gradient,
                     b->options.solver.max_iterations, &text);
    if (text.status != SN_OK) {
        sn_text_end(&text);
        (void)snprintf(why, size, "out of memory");
        return false;
    }
    const char *source = text.data;
    d->program[floats] =
        cl->clCreateProgramWithSource(d->context, 1, &source, &text.length, &error);
    sn_text_end(&text);
    if (d->program[floats] == NULL || error != 0) {
        (void)snprintf(why, size, "the device takes no program (%d)", (int)error);
        return false;
    }
    error = cl->clBuildProgram(d->program[floats], 1, &d->device,
                               floats ? "-cl-single-precision-constant" : "", NULL, NULL);
    if (error != 0) {
        char log[4096] = "";
        (void)cl->clGetProgramBuildInfo(d->program[floats], d->device, SN_CL_BUILD_LOG,
                                        sizeof log - 1, log, NULL);
        for (char *c = log; *c != '\0'; c++)
            if ((unsigned char)*c < ' ') *c = ' ';
        (void)snprintf(why, size, "the device's compiler failed (%d): %.1000s", (int)error, log);
        return false;
    }
    d->kernel[floats] = cl->clCreateKernel(d->program[floats], "sn_batch_chains", &error);
    if (d->kernel[floats] == NULL || error != 0) {
        (void)snprintf(why, size, "the device has no kernel of this program (%d)", (int)error);
        return false;
    }
    return true;
}

static bool open_device(sn_batch_device *d, const sn_batch *b, char *why, size_t size) {
    enum { MOST = 16 };
    sn_cl devices[MOST];
    sn_device_info infos[MOST];
    int32_t error = 0;
    const char *missing = sn_opencl_load(&d->cl);
    if (missing != NULL) {
        (void)snprintf(why, size, "%s", missing);
        return false;
    }
    int n = sn_opencl_devices(&d->cl, devices, infos, MOST), pick = -1;
    for (int i = 0; i < n && i < MOST && pick < 0; i++)
        if (infos[i].doubles && (infos[i].gpu || b->options.device == SN_DEVICE_OPENCL)) pick = i;
    if (pick < 0) {
        (void)snprintf(why, size, "%s",
                       n == 0                                ? "OpenCL knows no device"
                       : b->options.device == SN_DEVICE_AUTO ? "OpenCL knows no GPU with doubles"
                                                             : "no OpenCL device has doubles");
        return false;
    }
    d->device = devices[pick];
    d->info = infos[pick];
    d->context = d->cl.clCreateContext(NULL, 1, &d->device, NULL, NULL, &error);
    if (d->context == NULL || error != 0) {
        (void)snprintf(why, size, "the device gives no context (%d)", (int)error);
        return false;
    }
    for (int i = 0; i < SLOTS; i++) {
        d->slots[i].queue = d->cl.clCreateCommandQueue(d->context, d->device, 0, &error);
        if (d->slots[i].queue == NULL || error != 0) {
            (void)snprintf(why, size, "the device gives no queue (%d)", (int)error);
            return false;
        }
    }
    uint64_t block = 0;
    (void)d->cl.clGetDeviceInfo(d->device, SN_CL_DEVICE_MOST_BLOCK, sizeof block, &block, NULL);
    d->most_bytes = (size_t)fmin((double)block, fmin(0.1 * (double)d->info.memory, 4e9));
    d->threads = b->options.device_threads > 0 ? (size_t)b->options.device_threads
                                               : (size_t)(d->info.units > 0 ? d->info.units : 1) *
                                                     (d->info.gpu ? 256 : GROUP);
    d->threads = (d->threads + GROUP - 1) / GROUP * GROUP;
    return build(d, b, false, why, size) &&
           (b->options.precision != SN_PRECISION_MIXED || build(d, b, true, why, size));
}

sn_batch_device *sn_batch_device_create(const sn_batch *b, char *why, size_t size) {
    sn_batch_device *d = sn_acquire(&b->allocator, sizeof *d);
    if (d == NULL) {
        (void)snprintf(why, size, "out of memory");
        return NULL;
    }
    *d = (sn_batch_device){.allocator = b->allocator};
    if (!open_device(d, b, why, size)) {
        sn_batch_device_destroy(d);
        return NULL;
    }
    return d;
}

static void release_slot(sn_batch_device *d, slot *s) {
    sn_cl *const all[] = {&s->goals, &s->starts, &s->poses, &s->stats, &s->next};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (*all[i] != NULL) (void)d->cl.clReleaseMemObject(*all[i]);
        *all[i] = NULL;
    }
    sn_release(&d->allocator, s->seen);
    sn_release(&d->allocator, s->begin);
    sn_release(&d->allocator, s->goal);
    sn_release(&d->allocator, s->bad);
    s->seen = s->begin = s->goal = NULL;
    s->bad = NULL;
    s->rows = s->chains = 0;
}

void sn_batch_device_destroy(sn_batch_device *d) {
    if (d == NULL) return;
    for (int i = 0; i < SLOTS; i++) {
        if (d->slots[i].queue != NULL) (void)d->cl.clFinish(d->slots[i].queue);
        release_slot(d, &d->slots[i]);
    }
    for (int i = 0; i < d->nroom; i++) {
        (void)d->cl.clEnqueueUnmapMemObject(d->slots[0].queue, d->room[i].memory, d->room[i].at, 0,
                                            NULL, NULL);
        (void)d->cl.clFinish(d->slots[0].queue);
        (void)d->cl.clReleaseMemObject(d->room[i].memory);
    }
    for (int i = 0; i < 2; i++) {
        if (d->kernel[i] != NULL) (void)d->cl.clReleaseKernel(d->kernel[i]);
        if (d->program[i] != NULL) (void)d->cl.clReleaseProgram(d->program[i]);
    }
    for (int i = 0; i < SLOTS; i++)
        if (d->slots[i].queue != NULL) (void)d->cl.clReleaseCommandQueue(d->slots[i].queue);
    if (d->context != NULL) (void)d->cl.clReleaseContext(d->context);
    sn_opencl_unload(&d->cl);
    sn_allocator allocator = d->allocator;
    sn_release(&allocator, d);
}

const char *sn_batch_device_name(const sn_batch_device *d) { return d->info.name; }

void *sn_batch_device_room(sn_batch_device *d, size_t bytes) {
    int32_t error = 0;
    if (d->nroom >= ROOMS) return NULL;
    sn_cl memory = d->cl.clCreateBuffer(d->context, SN_CL_MEM_READ_WRITE | SN_CL_MEM_ALLOC_HOST,
                                        bytes, NULL, &error);
    if (memory == NULL || error != 0) return NULL;
    void *at = d->cl.clEnqueueMapBuffer(d->slots[0].queue, memory, 1, SN_CL_MAP_BOTH, 0, bytes, 0,
                                        NULL, NULL, &error);
    if (at == NULL || error != 0) {
        (void)d->cl.clReleaseMemObject(memory);
        return NULL;
    }
    d->room[d->nroom].memory = memory;
    d->room[d->nroom++].at = at;
    return at;
}

// --- pieces --------------------------------------------------------------------------------------------

static sn_cl buffer(sn_batch_device *d, size_t numbers, int32_t *error) {
    int32_t code = 0;
    sn_cl out = d->cl.clCreateBuffer(d->context, SN_CL_MEM_READ_WRITE,
                                     (numbers + 1) * sizeof(double), NULL, &code);
    if (code != 0) *error = code;
    return code == 0 ? out : NULL;
}

// Room for a piece; it stays for the next.
static int32_t make_room(sn_batch_device *d, const sn_batch *b, slot *s, size_t rows,
                         size_t chains) {
    const size_t nq = (size_t)b->table.nq, ngoal = (size_t)b->table.ngoal;
    int32_t error = 0;
    if (rows <= s->rows && chains <= s->chains) return 0;
    release_slot(d, s);
    s->goals = buffer(d, rows * ngoal, &error);
    s->starts = buffer(d, chains * nq, &error);
    s->poses = buffer(d, rows * nq, &error);
    s->stats = buffer(d, rows * 4, &error);
    s->next = buffer(d, 1, &error);
    s->seen = sn_acquire(&d->allocator, (rows * 4 + 1) * sizeof(double));
    s->begin = sn_acquire(&d->allocator, (chains * nq + 1) * sizeof(double));
    s->goal =
        sn_acquire(&d->allocator, (b->table.npart > 0 ? rows * ngoal + 1 : 1) * sizeof(double));
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

static int32_t launch(sn_batch_device *d, slot *s, bool floats, sn_cl starts, int nchain,
                      int nframe, int extrapolate, int most) {
    const sn_opencl *cl = &d->cl;
    const int none = 0;
    sn_cl k = d->kernel[floats];
    int32_t e =
        cl->clEnqueueWriteBuffer(s->queue, s->next, 1, 0, sizeof none, &none, 0, NULL, NULL);
    if (e == 0) e = cl->clSetKernelArg(k, 0, sizeof(sn_cl), &s->goals);
    if (e == 0) e = cl->clSetKernelArg(k, 1, sizeof(sn_cl), &starts);
    if (e == 0) e = cl->clSetKernelArg(k, 2, sizeof(sn_cl), &s->poses);
    if (e == 0) e = cl->clSetKernelArg(k, 3, sizeof(sn_cl), &s->stats);
    if (e == 0) e = cl->clSetKernelArg(k, 4, sizeof nchain, &nchain);
    if (e == 0) e = cl->clSetKernelArg(k, 5, sizeof nframe, &nframe);
    if (e == 0) e = cl->clSetKernelArg(k, 6, sizeof extrapolate, &extrapolate);
    if (e == 0) e = cl->clSetKernelArg(k, 7, sizeof(sn_cl), &s->next);
    if (e == 0) e = cl->clSetKernelArg(k, 8, sizeof most, &most);
    const size_t group = GROUP, wanted = ((size_t)nchain + GROUP - 1) / GROUP * GROUP;
    const size_t all = wanted < d->threads ? wanted : d->threads;
    if (e == 0) e = cl->clEnqueueNDRangeKernel(s->queue, k, 1, NULL, &all, &group, 0, NULL, NULL);
    return e;
}

// Hand a piece over: the goals, the starts, the kernels, and the results back.
static int32_t begin_piece(sn_batch *b, const sn_batch_job *job, int first, int nchain, slot *s) {
    sn_batch_device *d = b->device;
    const sn_opencl *cl = &d->cl;
    const size_t nq = (size_t)b->table.nq, ngoal = (size_t)b->table.ngoal;
    const size_t rows = (size_t)nchain * (size_t)job->nframe;
    const size_t from = (size_t)first * (size_t)job->nframe;
    const bool mixed = b->options.precision == SN_PRECISION_MIXED;
    const int most = 8 * b->options.solver.max_iterations + 40;
    int32_t e = make_room(d, b, s, rows, (size_t)nchain);
    if (e != 0) return e;
    for (int i = 0; i < nchain; i++) {
        double *q = s->begin + (size_t)i * nq;
        const double *start =
            job->starts != NULL ? job->starts + ((size_t)first + (size_t)i) * nq : NULL;
        s->bad[i] = !sn_batch_row_start(b, start, q);
        if (s->bad[i]) (void)sn_batch_row_start(b, NULL, q);
    }
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
    if (e == 0)
        e = cl->clEnqueueWriteBuffer(s->queue, s->starts, 0, 0,
                                     (size_t)nchain * nq * sizeof(double), s->begin, 0, NULL, NULL);
    const int extrapolate = b->options.start == SN_BATCH_EXTRAPOLATED;
    if (e == 0) e = launch(d, s, mixed, s->starts, nchain, job->nframe, extrapolate, most);
    // the floats' poses are starts of rows on their own
    if (e == 0 && mixed) e = launch(d, s, false, s->poses, (int)rows, 1, 0, most);
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
                       const double *start) {
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
        sn_batch_row_plain(w, job->goals + row * (size_t)b->table.ngoal, q, &report);
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
                settle_row(s->worker, job, row, s->slot->seen + 4 * ((size_t)i * nframe + f),
                           start);
            }
        }
    }
}

static int32_t end_piece(sn_batch *b, const sn_batch_job *job, slot *s) {
    const double begin = sn_seconds();
    int32_t e = b->device->cl.clFinish(s->queue);
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
    int next = 0, count = piece_chains(b, job), turn = 0;
    // both slots at work also where all would fit into one
    if (count == job->nchain && count >= (int)(8 * d->threads)) count = (count + 1) / 2;
    *done = 0;
    while (e == 0 && *done < job->nchain) {
        slot *s = &d->slots[turn % SLOTS];
        if (s->nchain > 0) {
            e = end_piece(b, job, s);
            if (e == 0) *done += count < job->nchain - *done ? count : job->nchain - *done;
        }
        if (e == 0 && next < job->nchain) {
            const int n = count < job->nchain - next ? count : job->nchain - next;
            e = begin_piece(b, job, next, n, s);
            next += n;
        }
        turn++;
    }
    if (e == 0) return true;
    for (int i = 0; i < SLOTS; i++) d->slots[i].nchain = 0;
    (void)snprintf(why, size, "%s failed (%d)", d->info.name, (int)e);
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
    (void)snprintf(why, size, "%s failed (%d)", b->device->info.name, (int)e);
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
