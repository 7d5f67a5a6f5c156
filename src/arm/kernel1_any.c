// SPDX-License-Identifier: MIT
// The step of any chain in one lane.
#include "arm/lanes1.h"

#define KERNEL(name) sn_arm1_##name
#define KERNEL_ANY
typedef sn_arm_state1 sn_arm1_state;
#include "arm/kernel.h"
