// SPDX-License-Identifier: MIT
// The steps of fall.h with the registers that every machine of the kind has.
#include "arm/falls.h"

#define LANES SN_ARM_LANES
#include "arm/lanes.h"

#define FIRST        s->first
#define KERNEL(name) sn_arm4_##name
#include "arm/fall.h"
