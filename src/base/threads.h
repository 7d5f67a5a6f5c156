// SPDX-License-Identifier: MIT
// Work on several threads. The one place that knows whether there are any: built with SINEW_NO_THREADS
// (WebAssembly) everything runs on the calling thread.
#pragma once

#include <stddef.h>

#include "sinew/base.h"

enum { SN_MAX_THREADS = 256 };

/// Call work(job) for each of `count` jobs of `size` bytes, the first on the calling thread, and wait for
/// all. Jobs that no thread could be made for are not run: they must take their share from a common pile,
/// which the others then empty.
/// @param pool  the caller's own threads, where it has a `run`: then every job is run, the first anywhere
void sn_threads_run(const sn_threads *pool, void (*work)(void *job), void *jobs, size_t size,
                    int count);
