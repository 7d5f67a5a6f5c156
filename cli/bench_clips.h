// SPDX-License-Identifier: MIT
#pragma once

#include <stdbool.h>

/// A table of joint centres against the motions that come with the clips of a data folder.
bool bench_clips(const char *data);
