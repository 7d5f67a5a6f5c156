// SPDX-License-Identifier: MIT
// sinew fit with orientations of sensors instead of markers: OpenSense's inverse kinematics.
#pragma once

#include "fit_take.h"

/// Whether the setup, or the input, is about orientations.
bool is_imu_take(const fit_settings *settings);

/// Fit, write, and say how it went. Returns the exit code.
int fit_imu(const fit_settings *settings, const sn_take_options *plan);
