// SPDX-License-Identifier: MIT
// The step of an arm in four lanes, with the registers that every machine of the kind has.
#define LANES SN_ARM_LANES
#include "arm/lanes.h"

#define KERNEL(name) sn_arm4_##name
#define KERNEL_OTHER sn_arm4_any
typedef sn_arm_state4 sn_arm4_state;
#include "arm/kernel.h"
