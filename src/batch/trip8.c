// SPDX-License-Identifier: MIT
// Eight problems side by side, with the registers of AVX-512 (without fused operations, whose bits differ): used
// where the machine has them, whatever the library was compiled for.
#include "base/avx512.h"

#ifdef HAVE_AVX512
#include <immintrin.h>
#define LANES       8
#define TRIP_NAME   sn_batch_trip8
#define STRIDE_NAME sn_batch_stride8
#include "batch/lanes.h"
#else
typedef int sn_batch_trip8_is_empty;
#endif
#include "base/avx512_end.h"
