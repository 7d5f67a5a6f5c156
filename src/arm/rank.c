// SPDX-License-Identifier: MIT
// The ranking of rank.h with the registers that every machine of the kind has.
#include "arm/seeds.h"

#define KERNEL(name) sn_arm_plain_##name
#include "arm/rank.h"
