// SPDX-License-Identifier: MIT
// The angle of a point, the same bits on every platform: libm's differ in the last.
#pragma once

/// As atan2() of C, within 1.5 ulp, signs of zeros and infinities included.
double sn_atan2(double y, double x);
