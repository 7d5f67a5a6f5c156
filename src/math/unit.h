// SPDX-License-Identifier: MIT
#pragma once

#include <stdbool.h>

/// out = x / |x| for n numbers, without overflow; false when x is zero or not finite.
bool sn_unit(const double *x, int n, double *out);
