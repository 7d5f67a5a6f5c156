// SPDX-License-Identifier: MIT
// The steps of fall.h, eight side by side in the registers of AVX-512: where the machine has them.
#include "arm/falls.h"

#include "base/avx512.h"

#ifdef HAVE_AVX512
#define LANES SN_ARM_WIDE
#define LANES_MASKS
#include "arm/lanes.h"

#define KERNEL(name) sn_arm_wide_##name
#include "arm/fall.h"

#include "base/avx512_end.h"
#else
void sn_arm_wide_fall(const sn_arm_chain *c, sn_arm_falls *s) { (void)c, (void)s; }
#endif
