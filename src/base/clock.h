// SPDX-License-Identifier: MIT
// Time that passes: never set back or forward, as the clock on the wall is.
#pragma once

/// Seconds since some moment.
double sn_seconds(void);
