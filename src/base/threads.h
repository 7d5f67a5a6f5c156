// SPDX-License-Identifier: MIT
// Threads, or none: with SINEW_NO_THREADS (WebAssembly) none starts, and whoever asked for helpers does
// all the work alone. Results never depend on how many there are.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#ifdef SINEW_NO_THREADS
typedef char sn_thread;
static inline bool sn_thread_start(sn_thread *thread, void *(*run)(void *), void *argument) {
    *thread = 0;
    return (void)run, (void)argument, false;
}
static inline void sn_thread_join(sn_thread thread) { (void)thread; }
#else
#include <pthread.h>
typedef pthread_t sn_thread;
/// False when it could not be started.
static inline bool sn_thread_start(sn_thread *thread, void *(*run)(void *), void *argument) {
    return pthread_create(thread, NULL, run, argument) == 0;
}
static inline void sn_thread_join(sn_thread thread) { (void)pthread_join(thread, NULL); }
#endif
