// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L  // clock_gettime
#include "base/clock.h"

#include <time.h>

double sn_seconds(void) {
    struct timespec t = {0};
#ifdef CLOCK_MONOTONIC
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
#else
    (void)timespec_get(&t, TIME_UTC);
#endif
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
