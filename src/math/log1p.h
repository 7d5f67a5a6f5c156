// SPDX-License-Identifier: MIT
// log(1 + x), the same bits on every platform: libm's differ in the last.
#pragma once

/// For x >= 0, within 2 ulp; infinity for infinity, NaN for NaN and for what is below 0.
double sn_log1p(double x);
