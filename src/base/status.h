// SPDX-License-Identifier: MIT
// Failing with a sentence, passing a failure on, and asserting our own rules.
#pragma once

#include "sinew/base.h"

#if defined(__MINGW32__)  // where printf alone means the system's, without %zu
#define SN_PRINTF(at, first) __attribute__((format(gnu_printf, at, first)))
#elif defined(__GNUC__)
#define SN_PRINTF(at, first) __attribute__((format(printf, at, first)))
#else
#define SN_PRINTF(at, first)
#endif

// Return the status of a call that failed.
#define SN_TRY(call)                                                                               \
    do {                                                                                           \
        sn_status status_ = (call);                                                                \
        if (status_ != SN_OK) return status_;                                                      \
    } while (0)

// Our own bug, never bad input. On in tests and fuzzing.
#ifdef SINEW_ASSERT
#include <stdlib.h>
#define SN_ASSERT(condition) ((condition) ? (void)0 : abort())
#else
#define SN_ASSERT(condition) ((void)0)
#endif

/// Fill `error` (may be NULL) and return `status`, so that a check is one line.
sn_status sn_fail(sn_error *error, sn_status status, int line, const char *format, ...)
    SN_PRINTF(4, 5);

/// sn_fail for an allocation that failed.
sn_status sn_fail_memory(sn_error *error);

/// sn_fail for a needed argument that is NULL.
sn_status sn_fail_missing(sn_error *error, const char *name);

/// sn_fail for an argument, or a field of one, that is out of range.
sn_status sn_fail_range(sn_error *error, const char *name);

/// sn_fail for a count that is more than memory can be addressed for.
sn_status sn_fail_size(sn_error *error, const char *name);

/// sn_fail for an option that is out of range; NULL when all are in theirs: SN_OK.
sn_status sn_fail_option(sn_error *error, const char *name);

// Return when a needed argument is NULL, naming it.
#define SN_NEED(pointer, error)                                                                    \
    do {                                                                                           \
        if ((pointer) == NULL) return sn_fail_missing(error, #pointer);                            \
    } while (0)

/// Has whoever started it had enough?
static inline bool sn_cancelled(sn_cancel cancel) {
    return cancel.asked != NULL && cancel.asked(cancel.user);
}
