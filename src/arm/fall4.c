// SPDX-License-Identifier: MIT
// The steps of fall.h with the registers that every machine of the kind has.
#include "arm/fall4.h"

#define LANES SN_ARM_LANES
#include "arm/lanes.h"

#define KERNEL(name) sn_arm4_##name
#include "arm/fall.h"
