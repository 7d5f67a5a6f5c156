// SPDX-License-Identifier: MIT
// Status codes, errors with a place, the allocator, the version.
//
// Misuse of any function is safe. NULL where something is needed, an index out of range, options that
// do not come from their default function: a function with a status returns SN_ERR_ARGUMENT and hands
// out nothing; any other gives NULL, 0, false or (for an index) -1, or does nothing. Functions that
// end an object accept NULL. Arrays must have the room that is stated; that cannot be checked.
//
// How functions are called. sn_X_create() and whatever else makes an object: inputs, options, allocator,
// out, error; readers: bytes, length, what the file belongs to, options, allocator, out, error; writers:
// object, options, sink, allocator, error. sn_X_destroy() frees, sn_X_y(x) asks, sn_X_set_y(x, ...)
// changes. Structs of options begin with a version: start from their default function, so that a program
// compiled against other headers is refused rather than misread.
//
// There is no ABI promise before 1.0: a program and the shared library it uses must agree in the first two
// numbers of the version, which are in the library's soname.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The version of these headers.
#define SN_VERSION_MAJOR 0
// Its second number.
#define SN_VERSION_MINOR 1
// Its third number.
#define SN_VERSION_PATCH 0

// On Windows a program that links the static library defines SINEW_STATIC; the build of the shared one
// defines SINEW_BUILD. CMake's target sinew::sinew does both by itself.
#if defined(SINEW_STATIC)
#define SN_API
#elif defined(_WIN32) && defined(SINEW_BUILD)
#define SN_API __declspec(dllexport)
#elif defined(_WIN32)
#define SN_API __declspec(dllimport)
#elif defined(__GNUC__)
#define SN_API __attribute__((visibility("default")))
#else
#define SN_API
#endif

// Every status and its text, in one list. How a solve ended is not a status: see sn_stop.
#define SN_STATUS_LIST(ENTRY)                                                                      \
    ENTRY(SN_OK, "ok")                                                                             \
    ENTRY(SN_ERR_MEMORY, "out of memory")                                                          \
    ENTRY(SN_ERR_ARGUMENT, "an argument is missing or out of range")                               \
    ENTRY(SN_ERR_SIZE, "too large")                                                                \
    ENTRY(SN_ERR_PARSE, "the text is not well formed")                                             \
    ENTRY(SN_ERR_MODEL, "the model is not valid")                                                  \
    ENTRY(SN_ERR_TASK, "a task is not valid")                                                      \
    ENTRY(SN_ERR_VALUE, "a number is not finite or not in its range")                              \
    ENTRY(SN_ERR_FILE, "the file cannot be read or written")                                       \
    ENTRY(SN_ERR_CANCELLED, "cancelled")                                                           \
    ENTRY(SN_ERR_UNSUPPORTED, "this method does not know what couples branches: use hybrid")

/// How a call went.
typedef enum sn_status {
#define SN_STATUS_ENTRY(code, text) code,
    SN_STATUS_LIST(SN_STATUS_ENTRY)
#undef SN_STATUS_ENTRY
        SN_STATUS_COUNT
} sn_status;

/// The text of a status; never NULL, also for a value that is no status.
SN_API const char *sn_status_text(sn_status status);

/// What is wrong and where. Owned by the caller; any function that takes one accepts NULL.
typedef struct sn_error {
    sn_status status;  ///< SN_OK is never set here: look at it after a failure
    int line;          ///< 1-based line in a text file, 0 when there is none
    char text[256];    ///< one sentence that names the joint, task or key; always terminated
} sn_error;

/// Where memory comes from. NULL in place of an allocator means malloc and free.
/// Both functions may be called from whichever thread calls sinew with this allocator.
typedef struct sn_allocator {
    void *(*acquire)(void *user, size_t bytes);  ///< aligned as malloc's; NULL when there is none
    void (*release)(void *user, void *block);    ///< never called with NULL
    void *user;
} sn_allocator;

/// Threads of the caller's own, in place of those that sinew would start for a run. Zeroed: sinew's own.
typedef struct sn_threads {
    /// Call job(job_user, i) once for each i from 0 to njob - 1, in any order and on any threads, several
    /// at a time or one after the other, and return when all calls have. NULL: sinew's own threads.
    void (*run)(void *user, int njob, void (*job)(void *job_user, int i), void *job_user);
    void *user;  ///< for run
} sn_threads;

/// Where a writer's bytes go, piece by piece. A writer that could not finish has still sent what came
/// before, so write beside the wanted file and rename when the writer says SN_OK.
typedef struct sn_sink {
    bool (*write)(void *user, const void *bytes, size_t count);  ///< false ends with SN_ERR_FILE
    void *user;
} sn_sink;

/// The version of the library that is linked, as "major.minor.patch".
SN_API const char *sn_version(void);

/// Asked now and then by everything that takes long, from any of its threads: true to stop soon, with
/// the best so far. All zero: never. What the function reads must be safe to read there (an atomic flag).
typedef struct sn_cancel {
    bool (*asked)(void *user);  ///< true: stop; NULL: nobody asks
    void *user;
} sn_cancel;

#ifdef __cplusplus
}
#endif
