// SPDX-License-Identifier: MIT
// Passes over frames on several threads.
#include <pthread.h>
#include <string.h>

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
    pthread_t thread;
} job;

static void *run_job(void *argument) {
    const job *own = argument;
    shared *all = own->all;
    for (;;) {
        int chunk = atomic_fetch_add(&all->next, 1);
        if (chunk >= all->nchunk || atomic_load(&all->failed) != SN_OK) return NULL;
        int first = chunk * all->size;
        int end = all->nitem - first < all->size ? all->nitem : first + all->size;
        double *sums = all->s->sums + (size_t)SMOOTH_SUMS * (size_t)chunk;
        memset(sums, 0, SMOOTH_SUMS * sizeof *sums);
        sn_status status = all->pass(all->s, own->worker, first, end, sums);
        int none = SN_OK;
        if (status != SN_OK) atomic_compare_exchange_strong(&all->failed, &none, (int)status);
    }
}

size_t smooth_most_chunks(int nframe, int nv) {
    return (size_t)(nframe / SMOOTH_FRAMES + nv / SMOOTH_DOFS + 2);
}

sn_status smooth_for_all(sn_smoother *s, smooth_pass pass, int nitem, int size,
                         double sums[SMOOTH_SUMS]) {
    shared all = {.s = s, .pass = pass, .nitem = nitem, .size = size};
    job jobs[SMOOTH_MAX_THREADS];
    all.nchunk = nitem / size + (nitem % size != 0);
    atomic_init(&all.next, 0);
    atomic_init(&all.failed, SN_OK);
    int wanted = s->options.threads < all.nchunk ? s->options.threads : all.nchunk, started = 1;
    for (int i = 0; i < s->options.threads; i++) jobs[i] = (job){&all, &s->workers[i], 0};
    while (started < wanted &&
           pthread_create(&jobs[started].thread, NULL, run_job, &jobs[started]) == 0)
        started++;
    (void)run_job(&jobs[0]);
    for (int i = 1; i < started; i++) (void)pthread_join(jobs[i].thread, NULL);
    memset(sums, 0, SMOOTH_SUMS * sizeof *sums);
    for (int c = 0; c < all.nchunk; c++)
        for (int i = 0; i < SMOOTH_SUMS; i++) sums[i] += s->sums[SMOOTH_SUMS * (size_t)c + (size_t)i];
    return (sn_status)atomic_load(&all.failed);
}
