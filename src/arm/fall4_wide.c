// SPDX-License-Identifier: MIT
// The steps of fall.h, four in the registers of AVX-512, which are twice as many as those of AVX2: where the machine has
// them.
#include "arm/falls.h"

#include "base/avx512.h"

#ifdef HAVE_AVX512
#define LANES SN_ARM_LANES
#define LANES_MASKS
#define LANES_HALF
#include "arm/lanes.h"

#define FIRST        s->first
#define KERNEL(name) sn_arm4_wide_##name
#include "arm/fall.h"

#include "base/avx512_end.h"
#else
void sn_arm4_wide_fall(const sn_arm_chain *c, sn_arm_falls *s) { (void)c, (void)s; }
#endif
