// SPDX-License-Identifier: MIT
// Four problems side by side, with the registers of AVX2 (without fused operations, whose bits differ): used
// where the machine has them, whatever the library was compiled for. The same once more for the pieces by themselves.
#include "batch_cores.h"

#ifdef BENCH_CORES
#include "base/avx2.h"
#include <immintrin.h>
#define LANES     4
#define TRIP_NAME bench_trip4
#define CORE_NAME bench_core4
#include "batch_core.h"

#include "base/avx2_end.h"
#else
typedef int bench_core4_is_empty;
#endif
