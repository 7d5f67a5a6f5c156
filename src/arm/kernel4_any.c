// SPDX-License-Identifier: MIT
// The step of any chain in four lanes.
#define LANES SN_ARM_LANES
#include "arm/lanes.h"

#define KERNEL(name) sn_arm4_##name
#define KERNEL_ANY
typedef sn_arm_state4 sn_arm4_state;
#include "arm/kernel.h"
