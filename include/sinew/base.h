// SPDX-License-Identifier: MIT
// Status codes, errors with a place, the allocator, the version.
//
// Misuse of any function is safe. NULL where something is needed, an index out of range, options that
// do not come from their default function: a function with a status returns SN_ERR_ARGUMENT and hands
// out nothing; any other gives NULL, 0, false or (for an index) -1, or does nothing. Functions that
// end an object accept NULL. Arrays must have the room that is stated; that cannot be checked.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SN_VERSION_MAJOR 0
#define SN_VERSION_MINOR 1
#define SN_VERSION_PATCH 0

#if defined(_WIN32)
#define SN_API __declspec(dllexport)
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
    sn_status status;
    int line;        ///< 1-based line in a text file, 0 when there is none
    char text[256];  ///< one sentence that names the joint, task or key; always terminated
} sn_error;

/// Where memory comes from. NULL in place of an allocator means malloc and free.
/// Both functions may be called from whichever thread calls sinew with this allocator.
typedef struct sn_allocator {
    void *(*acquire)(void *user, size_t bytes);  ///< aligned as malloc's; NULL when there is none
    void (*release)(void *user, void *block);    ///< never called with NULL
    void *user;
} sn_allocator;

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
    bool (*asked)(void *user);
    void *user;
} sn_cancel;

#ifdef __cplusplus
}
#endif
