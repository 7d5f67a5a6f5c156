// SPDX-License-Identifier: MIT
// Two problems side by side, in registers that every 64-bit machine and WebAssembly have.
#ifdef __GNUC__
#define LANES       2
#define TRIP_NAME   sn_batch_trip2
#define STRIDE_NAME sn_batch_stride2
#include "batch/lanes.h"
#else
typedef int sn_batch_trip2_is_empty;
#endif
