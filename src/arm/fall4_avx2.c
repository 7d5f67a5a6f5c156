// SPDX-License-Identifier: MIT
// The steps of fall.h with the registers of AVX2, as kernel4_avx2.c.
#include "arm/falls.h"

#include "base/avx2.h"

#ifdef HAVE_AVX2
#define LANES SN_ARM_LANES
#include "arm/lanes.h"

#define FIRST        s->first
#define KERNEL(name) sn_arm4_avx2_##name
#include "arm/fall.h"

#include "base/avx2_end.h"
#else
void sn_arm4_avx2_fall(const sn_arm_chain *c, sn_arm_falls *s) { sn_arm4_fall(c, s); }
#endif
