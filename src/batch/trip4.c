// SPDX-License-Identifier: MIT
// Four problems side by side, with the registers of AVX2 (without fused operations, whose bits differ): used
// where the machine has them, whatever the library was compiled for.
#include "base/avx2.h"

#ifdef HAVE_AVX2
#include <immintrin.h>
#define LANES       4
#define TRIP_NAME   sn_batch_trip4
#define STRIDE_NAME sn_batch_stride4
#include "batch/lanes.h"
#else
typedef int sn_batch_trip4_is_empty;
#endif
#include "base/avx2_end.h"
