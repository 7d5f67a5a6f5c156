// SPDX-License-Identifier: MIT
// One problem at a time, and which trips and strides there are.
#define LANES       1
#define TRIP_NAME   sn_batch_trip1
#define STRIDE_NAME sn_batch_stride1
#include "batch/lanes.h"

#if defined(__GNUC__) && defined(__x86_64__)
#define HAVE_WIDE
#endif

int sn_batch_most_lanes(void) {
#ifdef HAVE_WIDE
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
        return 8;
    if (__builtin_cpu_supports("avx2")) return 4;
#endif
#ifdef __GNUC__
    return 2;
#else
    return 1;
#endif
}

sn_batch_trip sn_batch_trip_of(int lanes) {
#ifdef HAVE_WIDE
    if (lanes == 8) return sn_batch_trip8;
    if (lanes == 4) return sn_batch_trip4;
#endif
#ifdef __GNUC__
    if (lanes == 2) return sn_batch_trip2;
#endif
    (void)lanes;
    return sn_batch_trip1;
}

sn_batch_trip sn_batch_stride_of(int lanes) {
#ifdef HAVE_WIDE
    if (lanes == 8) return sn_batch_stride8;
    if (lanes == 4) return sn_batch_stride4;
#endif
#ifdef __GNUC__
    if (lanes == 2) return sn_batch_stride2;
#endif
    (void)lanes;
    return sn_batch_stride1;
}
