// SPDX-License-Identifier: MIT
// The step of an arm in one lane: plain doubles.
#include "arm/lanes1.h"

#define KERNEL(name) sn_arm1_##name
#define KERNEL_OTHER sn_arm1_any
typedef sn_arm_state1 sn_arm1_state;
#define KERNEL_END
#include "arm/kernel.h"
