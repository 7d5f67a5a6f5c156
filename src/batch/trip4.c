// SPDX-License-Identifier: MIT
// Four problems side by side, with the registers of AVX2 (without fused operations, whose bits differ): used
// where the machine has them, whatever the library was compiled for.
#if defined(__GNUC__) && defined(__x86_64__)
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC target("avx2")
#endif
#include <immintrin.h>
#define LANES       4
#define TRIP_NAME   sn_batch_trip4
#define STRIDE_NAME sn_batch_stride4
#include "batch/lanes.h"
#ifdef __clang__
#pragma clang attribute pop
#endif
#else
typedef int sn_batch_trip4_is_empty;
#endif
