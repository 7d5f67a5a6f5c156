// SPDX-License-Identifier: MIT
// The step of an arm in eight lanes of doubles, with the registers of AVX-512 (without fused operations, whose bits
// differ): for many goals, where the machine has them.
#include "arm/kernels.h"

#include "base/avx512.h"

#ifdef HAVE_AVX512
#define LANES SN_ARM_WIDE
#define LANES_MASKS
#define PULL false
#include "arm/lanes.h"

#define KERNEL(name)                   sn_arm_wide_##name
#define KERNEL_OTHER(c, s, hold, pull) ((void)0)
#include "arm/kernel.h"

#include "base/avx512_end.h"
bool sn_arm_has_wide(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
}
#else
void sn_arm_wide_iterate(const sn_arm_chain *c, sn_arm_wide_state *s, bool hold, bool pull) {
    (void)c, (void)s, (void)hold, (void)pull;
}
bool sn_arm_has_wide(void) { return false; }
#endif
