// SPDX-License-Identifier: MIT
// The step of an arm in four lanes, with the registers of AVX2: used where the machine has them.
#include "arm/kernels.h"

#include "base/avx2.h"

#ifdef HAVE_AVX2
#define LANES SN_ARM_LANES
#include "arm/lanes.h"

#define KERNEL(name) sn_arm4_avx2_##name
#define KERNEL_OTHER sn_arm4_any
typedef sn_arm_state4 sn_arm4_avx2_state;
#include "arm/kernel.h"

#include "base/avx2_end.h"
bool sn_arm_avx2(void) { return __builtin_cpu_supports("avx2"); }
#else
void sn_arm4_avx2_iterate(const sn_arm_chain *c, sn_arm_state4 *s, bool hold, bool pull) {
    sn_arm4_iterate(c, s, hold, pull);
}
bool sn_arm_avx2(void) { return false; }
#endif
