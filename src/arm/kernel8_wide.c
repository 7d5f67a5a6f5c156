// SPDX-License-Identifier: MIT
// The step of an arm's scouts, eight floats in the registers of AVX-512, which are twice as many as those of AVX2: where the
// machine has them.
#include "arm/kernels.h"

#include "base/avx512.h"

#ifdef HAVE_AVX512
#define LANES SN_ARM_SCOUTS
#define LANES_FLOAT
#define LANES_MASKS
#define LANES_HALF
#include "arm/lanes.h"

#define FIRST                          s->first
#define LOWER(j)                       load(s->lower[j] + FIRST)
#define UPPER(j)                       load(s->upper[j] + FIRST)
#define KERNEL(name)                   sn_arm8_wide_##name
#define KERNEL_OTHER(c, s, hold, pull) ((void)0)
typedef sn_arm_scouts sn_arm8_wide_state;
#include "arm/kernel.h"

#include "base/avx512_end.h"
#else
void sn_arm8_wide_iterate(const sn_arm_chain *c, sn_arm_scouts *s, bool hold, bool pull) {
    (void)c, (void)s, (void)hold, (void)pull;
}
#endif
