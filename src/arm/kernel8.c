// SPDX-License-Identifier: MIT
// The step of an arm's scouts, eight floats in whatever registers the machine has.
#define LANES SN_ARM_SCOUTS
#define LANES_FLOAT
#include "arm/lanes.h"

#define FIRST                          s->first
#define LOWER(j)                       load(s->lower[j] + FIRST)
#define UPPER(j)                       load(s->upper[j] + FIRST)
#define KERNEL(name)                   sn_arm8_##name
#define KERNEL_OTHER(c, s, hold, pull) ((void)0)
typedef sn_arm_scouts sn_arm8_state;
#include "arm/kernel.h"
