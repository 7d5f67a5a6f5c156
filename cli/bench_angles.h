// SPDX-License-Identifier: MIT
// Angles and joint centres of fits against what is known of them, as tables.
#pragma once

#include <stdbool.h>

/// @param data  the folder of the clips; what is not there is said
bool bench_angles(const char *data);
