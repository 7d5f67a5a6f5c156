// SPDX-License-Identifier: MIT
// Arms that everybody knows, from their published dimensions.
#pragma once

#include "sinew/sinew.h"

enum { ARMS_COUNT = 6 };

/// "panda", "iiwa14", "ur5", "ur10", "kinova", "fetch"; NULL when out of range.
const char *arms_name(int arm);

/// The arm as a model, its tool the joint "tool"; NULL when memory is out.
sn_model *arms_model(int arm);
