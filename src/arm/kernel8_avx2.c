// SPDX-License-Identifier: MIT
// The step of an arm's scouts with the registers of AVX2.
#include "arm/kernels.h"

#include "base/avx2.h"

#ifdef HAVE_AVX2
#define LANES SN_ARM_SCOUTS
#define LANES_FLOAT
#include "arm/lanes.h"

#define FIRST                          s->first
#define LOWER(j)                       load(s->lower[j] + FIRST)
#define UPPER(j)                       load(s->upper[j] + FIRST)
#define KERNEL(name)                   sn_arm8_avx2_##name
#define KERNEL_OTHER(c, s, hold, pull) ((void)0)
typedef sn_arm_scouts sn_arm8_avx2_state;
#include "arm/kernel.h"

#include "base/avx2_end.h"
#else
void sn_arm8_avx2_iterate(const sn_arm_chain *c, sn_arm_scouts *s, bool hold, bool pull) {
    sn_arm8_iterate(c, s, hold, pull);
}
#endif
