// SPDX-License-Identifier: MIT
// Passes over a take on several threads.
#include <stdatomic.h>
#include <string.h>

#include "base/threads.h"
#include "track/smooth.h"

typedef struct shared {
    sn_smoother *s;
    smooth_pass pass;
    int nitem, size, nchunk;
    atomic_int next, failed;
} shared;

typedef struct job {
    shared *all;
    smooth_worker *worker;
} job;

static void run_job(void *argument) {
    const job *own = argument;
    shared *all = own->all;
    for (;;) {
        int chunk = atomic_fetch_add(&all->next, 1);
        if (chunk >= all->nchunk || atomic_load(&all->failed) != SN_OK) return;
        int first = chunk * all->size;
        int end = all->nitem - first < all->size ? all->nitem : first + all->size;
        double *sums = all->s->sums + (size_t)SMOOTH_SUMS * (size_t)chunk;
        memset(sums, 0, SMOOTH_SUMS * sizeof *sums);
        sn_status status = all->pass(all->s, own->worker, first, end, sums);
        int none = SN_OK;
        if (status != SN_OK) atomic_compare_exchange_strong(&all->failed, &none, (int)status);
    }
}

static sn_status for_all(sn_smoother *s, smooth_pass pass, int nitem, int size, double *sums) {
    shared all = {.s = s, .pass = pass, .nitem = nitem, .size = size};
    job jobs[SN_MAX_THREADS];
    all.nchunk = nitem / size + (nitem % size != 0);
    atomic_init(&all.next, 0);
    atomic_init(&all.failed, SN_OK);
    int wanted = s->options.threads < all.nchunk ? s->options.threads : all.nchunk;
    for (int i = 0; i < s->options.threads; i++)
        jobs[i] = (job){.all = &all, .worker = &s->workers[i]};
    sn_threads_run(&s->options.pool, run_job, jobs, sizeof jobs[0], wanted);
    for (int c = 0; c < all.nchunk && sums != NULL; c++)
        for (int i = 0; i < SMOOTH_SUMS; i++) sums[i] += s->sums[SMOOTH_SUMS * c + i];
    return (sn_status)atomic_load(&all.failed);
}

size_t sn_smooth_chunks(const sn_smoother *s, int nframe) {
    size_t frames = (size_t)nframe / SMOOTH_FRAMES + 1, dofs = (size_t)s->options.threads + 1;
    return frames > dofs ? frames : dofs;
}

sn_status sn_smooth_frames(sn_smoother *s, smooth_pass pass, double sums[SMOOTH_SUMS]) {
    memset(sums, 0, SMOOTH_SUMS * sizeof *sums);
    return for_all(s, pass, s->nframe, SMOOTH_FRAMES, sums);
}

sn_status sn_smooth_dofs(sn_smoother *s, smooth_pass pass) {
    // whole cache lines of a frame
    int share = s->nv / s->options.threads + 1, size = (share + 7) / 8 * 8;
    return for_all(s, pass, s->nv, size, NULL);
}
