// SPDX-License-Identifier: MIT
#pragma once

#include "sinew_web.h"

/// Solve problems first ... first + count - 1 and put their poses one after the other. How many
/// numbers that are, -1 when something failed.
int WEB(problems_poses)(int first, int count, double *out, int room);

/// Set up the problem that is timed.
void WEB(problems_prepare)(void);
/// Solve it so many times from the same start. The sum of f, so that nothing is left out.
double WEB(problems_batch)(int solves);
