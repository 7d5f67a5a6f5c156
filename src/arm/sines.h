// SPDX-License-Identifier: MIT
// Sine and cosine for the kernels, over doubles or vectors of them: as sn_sincos(), less the last bit
// or two, since angles here are a few turns at most. The second bit of the quadrant becomes the sign by
// -(bit) & INT64_MIN, since signed numbers cannot be shifted into theirs.
#pragma once

#include "math/sine_series.h"

#define SN_ARM_SINE_COSINE(REAL, INTS, as_ints, as_real, angle, sine, cosine)                      \
    const REAL t_ = (angle)*0x1.45f306dc9c883p-1 + 0x1.8p52, n_ = t_ - 0x1.8p52;                   \
    const REAL y_ = ((angle)-n_ * 0x1.921fb54400000p+0) - n_ * 0x1.0b4611a626331p-34;              \
    const REAL z_ = y_ * y_;                                                                       \
    const REAL s_ = SN_SINE_SERIES(z_);                                                            \
    const REAL c_ = SN_COSINE_SERIES(z_);                                                          \
    const REAL sin_y_ = y_ + z_ * y_ * s_, cos_y_ = 1.0 - 0.5 * z_ + z_ * z_ * c_;                 \
    const INTS quadrant_ = as_ints(t_), swap_ = -(quadrant_ & 1);                                  \
    const INTS si_ = as_ints(sin_y_), co_ = as_ints(cos_y_);                                       \
    (sine) = as_real(((co_ & swap_) | (si_ & ~swap_)) ^ (-(quadrant_ & 2) & INT64_MIN));           \
    (cosine) = as_real(((si_ & swap_) | (co_ & ~swap_)) ^ (-((quadrant_ + 1) & 2) & INT64_MIN));
