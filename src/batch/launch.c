// SPDX-License-Identifier: MIT
#include "batch/launch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "batch/program.h"

#ifdef SINEW_KERNELS

// A quick row is given up after so many sweeps, so that a launch does not wait for a few of them; where no more than
// one of so many rows is left this processor does it without a launch.
enum { SWEEPS = 40, RARE = 1024 };

// What the floats of mixed precision are asked for: the doubles after them do the rest.
static const double float_gradient = 3e-4;
// A quick row ends where a step would win less than this share of the tolerance, of f, and what floats can tell.
static const double share_of_tolerance = 0.03, least_share = 1e-6;

static sn_cl build(sn_batch_device *d, const sn_batch *b, sn_batch_kernels kind, bool floats,
                   const char *name, char *why, size_t size) {
    sn_text text = sn_text_begin(&d->allocator);
    const double gradient = b->options.solver.gradient;
    sn_batch_program(&b->table, kind, floats, floats ? fmax(gradient, float_gradient) : gradient,
                     b->options.solver.max_iterations, &text);
    // so that all threads are there at once: of 168 registers no more than 384 of 512 fit
    const bool fewer =
        floats && kind == SN_BATCH_QUICK && strstr(d->s.info.vendor, "NVIDIA") != NULL;
    sn_cl program = sn_session_build(&d->s, &text,
                                     fewer ? "-cl-single-precision-constant -cl-nv-maxrregcount=128"
                                     : floats ? "-cl-single-precision-constant"
                                              : "",
                                     why, size);
    sn_text_end(&text);
    if (program == NULL) return NULL;
    d->program[d->nprogram++] = program;
    return sn_session_kernel(&d->s, program, name, why, size);
}

bool sn_batch_launch_build(sn_batch_device *d, const sn_batch *b, char *why, size_t size) {
    d->trips[0] = build(d, b, SN_BATCH_TRIPS, false, "sn_batch_chains", why, size);
    if (d->trips[0] == NULL) return false;
    if (b->options.precision != SN_PRECISION_MIXED) return true;
    if (sn_batch_is_quick(&b->table)) {
        d->quick[1] = build(d, b, SN_BATCH_QUICK, true, "sn_batch_quick", why, size);
        if (d->quick[1] != NULL)
            d->quick[0] = build(d, b, SN_BATCH_QUICK, false, "sn_batch_quick", why, size);
        if (d->quick[0] != NULL)
            d->verify = sn_session_kernel(&d->s, d->program[2], "sn_batch_verify", why, size);
        if (d->verify != NULL)
            d->put = sn_session_kernel(&d->s, d->program[0], "sn_batch_put", why, size);
        if (d->put != NULL)
            d->carry = sn_session_kernel(&d->s, d->program[0], "sn_batch_heads", why, size);
        return d->carry != NULL;
    }
    // rows on their own would not know what they are pulled to
    if (b->table.pulled) return true;
    d->trips[1] = build(d, b, SN_BATCH_TRIPS, true, "sn_batch_chains", why, size);
    return d->trips[1] != NULL;
}

// An argument of a kernel.
typedef struct kernel_argument {
    size_t size;
    const void *at;
} kernel_argument;

// @param wanted  threads, @param most  of them
// @param after   an event to wait for, or NULL, @param done  one to be had, or NULL
static int32_t launch_after(sn_batch_device *d, sn_batch_slot *s, sn_cl kernel,
                            const kernel_argument *arguments, int count, size_t wanted, size_t most,
                            sn_cl after, sn_cl *done) {
    const size_t group = SN_BATCH_GROUP, whole = (wanted + group - 1) / group * group;
    const size_t room = most < group ? group : most / group * group;
    const size_t all = whole < room ? whole : room;
    int32_t e = 0;
    for (int i = 0; i < count && e == 0; i++)
        e = d->s.cl.clSetKernelArg(kernel, (uint32_t)i, arguments[i].size, arguments[i].at);
    if (e == 0)
        e = d->s.cl.clEnqueueNDRangeKernel(s->queue, kernel, 1, NULL, &all, &group, after != NULL,
                                           after != NULL ? &after : NULL, done);
    return e;
}

static int32_t launch(sn_batch_device *d, sn_batch_slot *s, sn_cl kernel,
                      const kernel_argument *arguments, int count, size_t wanted, size_t most) {
    return launch_after(d, s, kernel, arguments, count, wanted, most, NULL, NULL);
}

#define COUNT(list) ((int)(sizeof(list) / sizeof(list)[0]))

// Counters before a piece: its queue is idle, and nothing is waited for.
static int32_t reset(sn_batch_device *d, sn_batch_slot *s) {
    static const int none[SN_NEXT_SIZE] = {0};
    return d->s.cl.clEnqueueWriteBuffer(s->queue, s->next, 0, 0, sizeof none, none, 0, NULL, NULL);
}

// The chains of a piece.
static int32_t launch_trips(const sn_batch *b, sn_batch_slot *s, bool floats, sn_cl starts,
                            int nchain, int nframe, int extrapolate, int frames, int rare) {
    const int most = 8 * b->options.solver.max_iterations + 40;
    sn_batch_device *d = b->device;
    // without lists no heads are looked at
    const sn_cl heads = frames > 0 ? d->heads[0] : s->poses;
    const kernel_argument a[] = {{sizeof(sn_cl), &s->goals},
                                 {sizeof(sn_cl), &starts},
                                 {sizeof(sn_cl), &s->poses},
                                 {sizeof(sn_cl), &s->stats},
                                 {sizeof nchain, &nchain},
                                 {sizeof nframe, &nframe},
                                 {sizeof extrapolate, &extrapolate},
                                 {sizeof(sn_cl), &s->next},
                                 {sizeof most, &most},
                                 {sizeof frames, &frames},
                                 {sizeof(sn_cl), &s->list2},
                                 {sizeof(sn_cl), &s->fixed},
                                 {sizeof rare, &rare},
                                 {sizeof s->frame, &s->frame},
                                 {sizeof heads, &heads}};
    return launch(d, s, d->trips[floats], a, COUNT(a), (size_t)nchain, d->threads);
}

// The chains of a piece in floats, or the rows of the list in doubles.
static int32_t launch_quick(const sn_batch *b, sn_batch_slot *s, int listed) {
    sn_batch_device *d = b->device;
    const int twice = 2 * b->options.solver.max_iterations;
    const int sweeps = twice < SWEEPS ? twice : SWEEPS;
    const int extrapolate = b->options.start == SN_BATCH_EXTRAPOLATED;
    const double share = listed ? 0 : share_of_tolerance * b->options.solver.gradient;
    const double least = fmax(share, least_share);
    const float least_float = (float)least;
    const kernel_argument a[] = {{sizeof(sn_cl), &s->goals},
                                 {sizeof(sn_cl), &s->starts},
                                 {sizeof(sn_cl), &s->poses},
                                 {sizeof(sn_cl), &s->stats},
                                 {sizeof s->nchain, &s->nchain},
                                 {sizeof s->nframe, &s->nframe},
                                 {sizeof extrapolate, &extrapolate},
                                 {sizeof(sn_cl), &s->next},
                                 {sizeof sweeps, &sweeps},
                                 {listed ? sizeof least : sizeof least_float,
                                  listed ? (const void *)&least : (const void *)&least_float},
                                 {sizeof listed, &listed},
                                 {sizeof(sn_cl), &s->list},
                                 {sizeof(sn_cl), &s->fixed},
                                 {sizeof s->frame, &s->frame},
                                 {sizeof(sn_cl), &d->heads[0]}};
    // the frames before these must be there
    return launch_after(d, s, d->quick[!listed], a, COUNT(a), (size_t)s->nchain, d->threads,
                        listed ? NULL : d->carried, NULL);
}

// All rows, or (rows 0) those of the list.
static int32_t launch_verify(const sn_batch *b, sn_batch_slot *s, int rows) {
    sn_batch_device *d = b->device;
    const double tolerance = b->options.solver.gradient, goal = b->table.option[1];
    const int by_whole = goal < 0;
    const double aim = by_whole ? b->table.option[2] : goal;
    const kernel_argument v[] = {{sizeof(sn_cl), &s->goals},
                                 {sizeof(sn_cl), &s->poses},
                                 {sizeof(sn_cl), &s->stats},
                                 {sizeof rows, &rows},
                                 {sizeof s->nframe, &s->nframe},
                                 {sizeof tolerance, &tolerance},
                                 {sizeof aim, &aim},
                                 {sizeof by_whole, &by_whole},
                                 {sizeof(sn_cl), &s->next},
                                 {sizeof(sn_cl), &s->list},
                                 {sizeof(sn_cl), rows > 0 ? &s->list : &s->list2},
                                 {sizeof s->frame, &s->frame},
                                 {sizeof(sn_cl), &d->heads[0]}};
    const size_t most = 4 * d->threads;
    return launch(d, s, d->verify, v, COUNT(v), rows > 0 ? (size_t)rows : most, most);
}

static int32_t launch_put(sn_batch_device *d, sn_batch_slot *s, int which, sn_cl list, int rare) {
    const kernel_argument p[] = {{sizeof(sn_cl), &s->poses}, {sizeof(sn_cl), &s->next},
                                 {sizeof which, &which},     {sizeof(sn_cl), &list},
                                 {sizeof(sn_cl), &s->fixed}, {sizeof rare, &rare}};
    return launch(d, s, d->put, p, COUNT(p), d->threads, d->threads);
}

// The last poses for the next piece, which waits for them.
static int32_t launch_carry(sn_batch_device *d, sn_batch_slot *s) {
    const kernel_argument h[] = {{sizeof(sn_cl), &s->poses},
                                 {sizeof(sn_cl), &d->heads[0]},
                                 {sizeof(sn_cl), &d->heads[1]},
                                 {sizeof s->nchain, &s->nchain},
                                 {sizeof s->nframe, &s->nframe}};
    sn_cl done = NULL;
    const int32_t e =
        launch_after(d, s, d->carry, h, COUNT(h), 2 * (size_t)s->nchain, d->threads, NULL, &done);
    if (e != 0) return e;
    if (d->carried != NULL) (void)d->s.cl.clReleaseEvent(d->carried);
    d->carried = done;
    sn_cl written = d->heads[1];
    d->heads[1] = d->heads[0];
    d->heads[0] = written;
    return 0;
}

// Quick chains in floats, all of their rows looked at in doubles; what did not pass goes on in doubles and is looked at
// again; trips for what is left, or this processor where that is next to nothing.
static int32_t launch_all(const sn_batch *b, sn_batch_slot *s, bool cut) {
    sn_batch_device *d = b->device;
    const int rows = s->nchain * s->nframe, rare = d->s.info.gpu ? rows / RARE : 0;
    int32_t e = launch_quick(b, s, 0);
    if (e == 0) e = launch_verify(b, s, rows);
    if (e == 0) e = launch_quick(b, s, 1);
    if (e == 0) e = launch_put(d, s, SN_NEXT_COUNT, s->list, 0);
    if (e == 0) e = launch_verify(b, s, 0);
    if (e == 0) e = launch_trips(b, s, false, s->poses, rows, 1, 0, s->nframe, rare);
    if (e == 0) e = launch_put(d, s, SN_NEXT_COUNT2, s->list2, rare);
    if (e == 0 && cut) e = launch_carry(d, s);
    return e;
}

int32_t sn_batch_launch(const sn_batch *b, sn_batch_slot *s, bool cut) {
    sn_batch_device *d = b->device;
    const int extrapolate = b->options.start == SN_BATCH_EXTRAPOLATED;
    const bool mixed = d->trips[1] != NULL;
    int32_t e = reset(d, s);
    if (e != 0) return e;
    if (d->quick[1] != NULL) return launch_all(b, s, cut);
    e = launch_trips(b, s, mixed, s->starts, s->nchain, s->nframe, extrapolate, 0, 0);
    // the floats' poses are starts of rows on their own
    if (e == 0 && mixed) e = reset(d, s);
    if (e == 0 && mixed) e = launch_trips(b, s, false, s->poses, s->nchain * s->nframe, 1, 0, 0, 0);
    return e;
}

#endif
