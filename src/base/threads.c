// SPDX-License-Identifier: MIT
#include "base/threads.h"

typedef struct pooled {
    void (*work)(void *job);
    char *jobs;
    size_t size;
} pooled;

static void run_pooled(void *user, int i) {
    const pooled *p = user;
    p->work(p->jobs + (size_t)i * p->size);
}

// False: there are none.
static bool run_on(const sn_threads *pool, void (*work)(void *job), void *jobs, size_t size,
                   int count) {
    if (pool->run == NULL || count < 2) return false;
    pooled p = {work, jobs, size};
    pool->run(pool->user, count, run_pooled, &p);
    return true;
}

#ifdef SINEW_NO_THREADS

void sn_threads_run(const sn_threads *pool, void (*work)(void *job), void *jobs, size_t size,
                    int count) {
    if (!run_on(pool, work, jobs, size, count)) work(jobs);
}

#else
#include <pthread.h>

typedef struct start {
    void (*work)(void *job);
    void *job;
} start;

static void *run(void *argument) {
    const start *s = argument;
    s->work(s->job);
    return NULL;
}

void sn_threads_run(const sn_threads *pool, void (*work)(void *job), void *jobs, size_t size,
                    int count) {
    if (run_on(pool, work, jobs, size, count)) return;
    pthread_t threads[SN_MAX_THREADS];
    start starts[SN_MAX_THREADS];
    int started = 1;
    for (; started < count && started < SN_MAX_THREADS; started++) {
        starts[started] = (start){work, (char *)jobs + (size_t)started * size};
        if (pthread_create(&threads[started], NULL, run, &starts[started]) != 0) break;
    }
    work(jobs);
    for (int i = 1; i < started; i++) (void)pthread_join(threads[i], NULL);
}
#endif
