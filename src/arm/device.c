// SPDX-License-Identifier: MIT
// Goals are handed over in pieces, three of them under way at a time. What the device did not reach is looked for
// here, as if it had never been there.
#include "arm/device.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/threads.h"
#include "batch/program.h"
#include "batch/session.h"

#ifdef SINEW_KERNELS

enum { GROUP = 64, SLOTS = 3, REACHED = 1 << 24, MOST_STARTS = 10, CHUNK = 4096 };

typedef struct slot {
    sn_cl queue, goals, found, errors, ends, next, list, list2;
    int *end;      // here
    float *error;  // likewise
    int first, count;
} slot;

struct sn_arm_device {
    sn_allocator allocator;
    sn_session s;
    sn_cl program, first, more, all, seeds, keys;
    slot slots[SLOTS];
    int piece;
    size_t threads;
};

// --- the program ---------------------------------------------------------------------------------------

static void add_number(sn_text *out, double x) {
    char number[40];
    // no limit is a number beyond all others; %e has a point in every locale of C
    if (isinf(x)) x = x > 0 ? 1.7e308 : -1.7e308;
    (void)snprintf(number, sizeof number, "%.17e,", x);
    for (char *c = number; c[1] != '\0'; c++)
        if (*c == ',') *c = '.';
    sn_text_add(out, number);
}

static void add_numbers(sn_text *out, const double *x, int count) {
    sn_text_add(out, "{");
    for (int i = 0; i < count; i++) add_number(out, x[i]);
    sn_text_add(out, "},\n");
}

static void add_flags(sn_text *out, const bool *x, int count) {
    sn_text_add(out, "{");
    for (int i = 0; i < count; i++) sn_text_add(out, x[i] ? "1," : "0,");
    sn_text_add(out, "},\n");
}

static void write_program(const sn_arm *arm, sn_text *out) {
    const sn_arm_chain *c = &arm->chain;
    const sn_arm_seeds *s = &arm->seeds;
    const int n = c->n;
    char line[600];
    (void)snprintf(line, sizeof line,
                   "#ifdef cl_khr_fp64\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#endif\n"
                   "#define SN_ARM_MAX %d\n#define CELL_RHO %d\n#define CELL_Z %d\n"
                   "#define CELL_AXIS %d\n#define CELL_ROUND %d\n#define CELLS %d\n"
                   "#define CELL_SEEDS %d\n#define POSTURES %d\n#define GROUPS %d\n"
                   "#define LEAN_SIZE %d\n#define LEAN_WIDTH %d\n#define MOST_LEAN %.9gf\n",
                   n, SN_ARM_CELL_RHO, SN_ARM_CELL_Z, SN_ARM_CELL_AXIS, SN_ARM_CELL_ROUND,
                   SN_ARM_CELLS, SN_ARM_CELL_SEEDS, SN_ARM_POSTURES, SN_ARM_NEAREST,
                   (int)(sizeof(sn_arm_lean) / sizeof(float)), SN_ARM_TABLE_MAX,
                   (double)sn_arm_most_lean);
    sn_text_add(out, line);
    sn_text_add(out, sn_batch_text_armhead);
    // the fields of chain in dialect.cl, in their order
    sn_text_add(out, "__constant const chain arm = {\n{");
    for (int i = 0; i < n; i++) add_numbers(out, c->t[i], 3);
    sn_text_add(out, "},\n");
    const double *const lists[] = {c->cosine, c->sine,  c->lower, c->upper, c->low,
                                   c->high,   c->shift, s->from,  s->span};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) add_numbers(out, lists[i], n);
    // where the tool is seen from behind the last turn, in units
    const sn_mat3 back = m3_transpose(&c->behind.R);
    const sn_vec3 tool = v3_neg(m3_mul(&back, c->behind.p));
    add_numbers(out, &c->before.R.c[0].x, 12);
    add_numbers(out, &c->behind.R.c[0].x, 12);
    add_numbers(out, &tool.x, 3);
    const double numbers[] = {c->unit,
                              c->length,
                              s->reach,
                              s->low,
                              s->high,
                              s->ratio,
                              sn_arm_key_share,
                              arm->turn_tol,
                              arm->place_tol,
                              arm->options.position_tol,
                              arm->options.rotation_tol};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) add_number(out, numbers[i]);
    add_flags(out, c->turns, n);
    add_flags(out, c->round, n);
    (void)snprintf(line, sizeof line, "%d, %d};\n", s->first, s->last);
    sn_text_add(out, line);
    sn_text_add(out, sn_batch_text_arm);
}

// --- its life ------------------------------------------------------------------------------------------

static sn_cl filled(sn_arm_device *d, const void *from, size_t bytes, int32_t *error) {
    sn_cl out = sn_session_buffer(&d->s, bytes, error);
    if (out != NULL && *error == 0)
        *error = d->s.cl.clEnqueueWriteBuffer(d->s.queue[0], out, 1, 0, bytes, from, 0, NULL, NULL);
    return out;
}

static int32_t make_room(sn_arm_device *d, const sn_arm *arm) {
    const size_t n = (size_t)d->piece, cells = SN_ARM_CELLS * SN_ARM_CELL_SEEDS;
    const sn_arm_seeds *s = &arm->seeds;
    const size_t seeds = cells * sizeof *s->seed, postures = SN_ARM_POSTURES * sizeof *s->posture;
    const size_t leans = cells * sizeof *s->lean;
    int32_t error = 0;
    char *all = sn_acquire(&d->allocator, seeds + postures + leans);
    if (all == NULL) return -6;  // out of host memory
    memcpy(all, s->seed, seeds);
    memcpy(all + seeds, s->posture, postures);
    memcpy(all + seeds + postures, s->lean, leans);
    d->seeds = filled(d, all, seeds + postures + leans, &error);
    sn_release(&d->allocator, all);
    d->keys = filled(d, s->key, SN_ARM_KEYS * sizeof *s->key, &error);
    for (int i = 0; i < SLOTS; i++) {
        slot *x = &d->slots[i];
        x->queue = d->s.queue[i];
        x->goals = sn_session_buffer(&d->s, n * 7 * sizeof(double), &error);
        x->found = sn_session_buffer(&d->s, n * (size_t)arm->chain.n * sizeof(double), &error);
        x->errors = sn_session_buffer(&d->s, n * 2 * sizeof(float), &error);
        x->ends = sn_session_buffer(&d->s, n * sizeof(int), &error);
        x->next = sn_session_buffer(&d->s, 4 * sizeof(int), &error);
        x->list = sn_session_buffer(&d->s, n * sizeof(int), &error);
        x->list2 = sn_session_buffer(&d->s, n * sizeof(int), &error);
        x->end = sn_session_room(&d->s, n * sizeof(int));
        x->error = sn_session_room(&d->s, n * 2 * sizeof(float));
        if (x->end == NULL || x->error == NULL) error = -6;
    }
    return error;
}

sn_arm_device *sn_arm_device_create(const sn_arm *arm, sn_device wanted, char *why, size_t size) {
    const sn_arm_chain *c = &arm->chain;
    if (!c->hinges || c->lead || !arm->seeds.table || !arm->seeds.plain) {
        (void)snprintf(why, size, "devices know arms of six or seven hinges alone");
        return NULL;
    }
    sn_arm_device *d = sn_acquire(&arm->allocator, sizeof *d);
    if (d == NULL) {
        (void)snprintf(why, size, "out of memory");
        return NULL;
    }
    *d = (sn_arm_device){.allocator = arm->allocator};
    bool good = sn_session_open(&d->s, wanted, why, size);
    if (good) {
        sn_text text = sn_text_begin(&d->allocator);
        write_program(arm, &text);
        d->program = sn_session_build(&d->s, &text, "", why, size);
        sn_text_end(&text);
        good = d->program != NULL;
        if (good) d->first = sn_session_kernel(&d->s, d->program, "sn_arm_first", why, size);
        if (good) d->more = sn_session_kernel(&d->s, d->program, "sn_arm_more", why, size);
        if (good) d->all = sn_session_kernel(&d->s, d->program, "sn_arm_all", why, size);
        good = good && d->first != NULL && d->more != NULL && d->all != NULL;
    }
    if (good) {
        const size_t units = d->s.info.units > 0 ? (size_t)d->s.info.units : 1;
        d->piece = d->s.info.gpu ? 1 << 20 : 1 << 14;
        d->threads = units * (d->s.info.gpu ? 256 : GROUP);
        const int32_t error = make_room(d, arm);
        good = error == 0;
        if (!good) (void)snprintf(why, size, "the device has no memory (%d)", (int)error);
    }
    if (good) return d;
    sn_arm_device_destroy(d);
    return NULL;
}

void sn_arm_device_destroy(sn_arm_device *d) {
    if (d == NULL) return;
    sn_session_drain(&d->s);
    for (int i = 0; i < SLOTS; i++) {
        slot *x = &d->slots[i];
        sn_cl *const all[] = {&x->goals, &x->found, &x->errors, &x->ends,
                              &x->next,  &x->list,  &x->list2};
        for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) sn_session_release(&d->s, all[k]);
    }
    sn_session_release(&d->s, &d->seeds);
    sn_session_release(&d->s, &d->keys);
    const sn_cl kernels[] = {d->first, d->more, d->all};
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        if (kernels[i] != NULL) (void)d->s.cl.clReleaseKernel(kernels[i]);
    if (d->program != NULL) (void)d->s.cl.clReleaseProgram(d->program);
    sn_session_close(&d->s);
    sn_allocator allocator = d->allocator;
    sn_release(&allocator, d);
}

const char *sn_arm_device_name(const sn_arm_device *d) { return d->s.info.name; }

void *sn_arm_device_room(sn_arm_device *d, size_t bytes) { return sn_session_room(&d->s, bytes); }

// --- goals ---------------------------------------------------------------------------------------------

typedef struct many {
    sn_arm *arm;
    const double *goals;
    double *q;
    sn_arm_report *reports;
    const slot *slot;
    atomic_int *next, *bad;
} many;

// A kernel with what all of them take, and its own.
static int32_t launch(const sn_arm_device *d, const slot *s, sn_cl kernel, const int *number,
                      const sn_cl *lists, int nlist, size_t threads) {
    const sn_cl common[] = {s->goals, s->found, s->errors, s->ends, d->seeds, d->keys};
    const uint32_t ncommon = sizeof common / sizeof common[0];
    const size_t group = GROUP, all = (threads + GROUP - 1) / GROUP * GROUP;
    int32_t e = 0;
    for (uint32_t i = 0; i < ncommon && e == 0; i++)
        e = d->s.cl.clSetKernelArg(kernel, i, sizeof(sn_cl), &common[i]);
    if (e == 0) e = d->s.cl.clSetKernelArg(kernel, ncommon, sizeof *number, number);
    for (uint32_t i = 0; i < (uint32_t)nlist && e == 0; i++)
        e = d->s.cl.clSetKernelArg(kernel, ncommon + 1 + i, sizeof(sn_cl), &lists[i]);
    if (e == 0)
        e = d->s.cl.clEnqueueNDRangeKernel(s->queue, kernel, 1, NULL, &all, &group, 0, NULL, NULL);
    return e;
}

static int32_t begin_piece(sn_arm_device *d, const sn_arm *arm, const double *goals, double *q,
                           int first, int count, bool told, slot *s) {
    static const int none[4] = {0};
    const sn_opencl *cl = &d->s.cl;
    const size_t n = (size_t)count, at = (size_t)first, joints = (size_t)arm->chain.n;
    const int most = arm->options.max_seeds < MOST_STARTS ? arm->options.max_seeds : MOST_STARTS;
    const sn_cl lists[] = {s->next, s->list, s->list2}, last[] = {s->next, s->list2};
    int32_t e = cl->clEnqueueWriteBuffer(s->queue, s->next, 0, 0, sizeof none, none, 0, NULL, NULL);
    if (e == 0)
        e = cl->clEnqueueWriteBuffer(s->queue, s->goals, 0, 0, n * 7 * sizeof(double),
                                     goals + 7 * at, 0, NULL, NULL);
    if (e == 0) e = launch(d, s, d->first, &count, lists, 2, n);
    if (e == 0) e = launch(d, s, d->more, &most, lists, 3, n < d->threads ? n : d->threads);
    if (e == 0 && arm->options.max_seeds > most)
        e = launch(d, s, d->all, &most, last, 2, d->threads);
    if (e == 0)
        e = cl->clEnqueueReadBuffer(s->queue, s->found, 0, 0, n * joints * sizeof(double),
                                    q + joints * at, 0, NULL, NULL);
    if (e == 0 && told)
        e = cl->clEnqueueReadBuffer(s->queue, s->errors, 0, 0, n * 2 * sizeof(float), s->error, 0,
                                    NULL, NULL);
    if (e == 0)
        e = cl->clEnqueueReadBuffer(s->queue, s->ends, 0, 0, n * sizeof(int), s->end, 0, NULL,
                                    NULL);
    if (e == 0) e = cl->clFlush(s->queue);
    if (e == 0) s->first = first, s->count = count;
    return e;
}

// A goal that the device did not reach.
static void solve_here(const many *m, size_t at) {
    sn_arm_search search;
    sn_arm_report mine;
    if (!sn_arm_search_begin(&search, m->arm, m->goals + 7 * at)) {
        atomic_store(m->bad, 1);
        return;
    }
    sn_arm_search_run(&search, NULL, m->q + (size_t)m->arm->chain.n * at,
                      m->reports != NULL ? &m->reports[at] : &mine);
}

// What the device did not reach, and reports.
static void settle(void *argument) {
    const many *m = argument;
    const slot *s = m->slot;
    for (;;) {
        const int from = atomic_fetch_add(m->next, CHUNK);
        if (from >= s->count) return;
        for (int i = from; i < s->count && i < from + CHUNK; i++) {
            const size_t at = (size_t)s->first + (size_t)i;
            const int end = s->end[i];
            if (end >= REACHED && m->reports == NULL) continue;
            if (end >= REACHED) {
                m->reports[at] = (sn_arm_report){.reached = true,
                                                 .position_error = (double)s->error[2 * i],
                                                 .rotation_error = (double)s->error[2 * i + 1],
                                                 .seeds = end & 0xFFF,
                                                 .iterations = end >> 12 & 0xFFF,
                                                 .joint = -1};
                continue;
            }
            solve_here(m, at);
        }
    }
}

static void share_out(const many *m, const slot *s, int threads) {
    many jobs[SN_MAX_THREADS];
    atomic_int next;
    atomic_init(&next, 0);
    for (int i = 0; i < threads; i++) {
        jobs[i] = *m;
        jobs[i].slot = s;
        jobs[i].next = &next;
    }
    sn_threads_run(&m->arm->options.pool, settle, jobs, sizeof jobs[0], threads);
}

static int32_t end_piece(many *m, slot *s) {
    sn_arm *arm = m->arm;
    int32_t e = arm->device->s.cl.clFinish(s->queue);
    if (e != 0) return e;
    share_out(m, s, s->count < 2 * CHUNK ? 1 : arm->options.threads);
    s->count = 0;
    return 0;
}

bool sn_arm_device_run(sn_arm *arm, int count, const double *goals, double *q,
                       sn_arm_report *reports, int *done, sn_status *status, char *why,
                       size_t size) {
    sn_arm_device *d = arm->device;
    atomic_int bad;
    atomic_init(&bad, 0);
    many m = {arm, goals, q, reports, NULL, NULL, &bad};
    int next = 0;
    int32_t e = 0;
    *done = 0;
    *status = SN_OK;
    for (int turn = 0; e == 0 && *done < count; turn++) {
        slot *s = &d->slots[turn % SLOTS];
        if (s->count > 0) {
            const int solved = s->count;
            e = end_piece(&m, s);
            if (e == 0) *done += solved;
        }
        if (e == 0 && next < count && *status == SN_OK) {
            if (sn_cancelled(arm->options.cancel)) {
                *status = SN_ERR_CANCELLED;
                count = next;  // what is under way is still taken
                continue;
            }
            const int n = d->piece < count - next ? d->piece : count - next;
            e = begin_piece(d, arm, goals, q, next, n, reports != NULL, s);
            next += n;
        }
    }
    for (int i = 0; i < SLOTS; i++) d->slots[i].count = 0;
    if (e != 0) {
        sn_session_drain(&d->s);
        (void)snprintf(why, size, "%s failed (%d)", d->s.info.name, (int)e);
        return false;
    }
    if (atomic_load(&bad) != 0) *status = SN_ERR_VALUE;
    return true;
}

#else

sn_arm_device *sn_arm_device_create(const sn_arm *arm, sn_device wanted, char *why, size_t size) {
    (void)arm, (void)wanted;
    (void)snprintf(why, size, "this build has no kernels for devices");
    return NULL;
}
void sn_arm_device_destroy(sn_arm_device *d) { (void)d; }
const char *sn_arm_device_name(const sn_arm_device *d) { return d != NULL ? "device" : ""; }
bool sn_arm_device_run(sn_arm *arm, int count, const double *goals, double *q,
                       sn_arm_report *reports, int *done, sn_status *status, char *why,
                       size_t size) {
    (void)arm, (void)count, (void)goals, (void)q, (void)reports, (void)why, (void)size;
    *done = 0;
    *status = SN_OK;
    return false;
}
void *sn_arm_device_room(sn_arm_device *d, size_t bytes) {
    (void)d, (void)bytes;
    return NULL;
}

#endif
