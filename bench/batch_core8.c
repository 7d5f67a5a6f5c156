// SPDX-License-Identifier: MIT
// Eight problems side by side, with the registers of AVX-512 (without fused operations, whose bits differ): used
// where the machine has them, whatever the library was compiled for. The same once more for the pieces by themselves.
#include "batch_cores.h"

#ifdef BENCH_CORES
#include "base/avx512.h"
#include <immintrin.h>
#define LANES     8
#define TRIP_NAME bench_trip8
#define CORE_NAME bench_core8
#include "batch_core.h"

#include "base/avx512_end.h"
#else
typedef int bench_core8_is_empty;
#endif
