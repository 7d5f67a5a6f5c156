// SPDX-License-Identifier: MIT
// Eight problems side by side, with the registers of AVX-512 (without fused operations, whose bits differ): used
// where the machine has them, whatever the library was compiled for.
#if defined(__GNUC__) && defined(__x86_64__)
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512vl,avx512bw"))),        \
                             apply_to = function)
#else
#pragma GCC target("avx512f,avx512dq,avx512vl,avx512bw")
#endif
#include <immintrin.h>
#define LANES       8
#define TRIP_NAME   sn_batch_trip8
#define STRIDE_NAME sn_batch_stride8
#include "batch/lanes.h"
#ifdef __clang__
#pragma clang attribute pop
#endif
#else
typedef int sn_batch_trip8_is_empty;
#endif
