// SPDX-License-Identifier: MIT
#include "base/threads.h"

#ifdef SINEW_NO_THREADS

void sn_threads_run(void (*work)(void *job), void *jobs, size_t size, int count) {
    (void)size;
    (void)count;
    work(jobs);
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

void sn_threads_run(void (*work)(void *job), void *jobs, size_t size, int count) {
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
