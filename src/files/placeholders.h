// SPDX-License-Identifier: MIT
// Numbers that stand for a missing sample.
#pragma once

#include "sinew/motion.h"

/// Make samples missing that are none: 9999 9999 9999, -1e6 -1e6 -1e6 and their like, the same number three times, in a few
/// samples at least, and far beyond all others. Noted.
void sn_drop_placeholders(sn_recording *recording);
