// SPDX-License-Identifier: MIT
// Many takes from a list, one after the other; the list may be shared between machines.
#pragma once

#include "fit_take.h"

typedef struct many_settings {
    const char *manifest, *out, *formats, *shard;
    bool resume;
} many_settings;

/// Fit all takes of the list that belong to this shard. Returns the exit code: 1 when a take failed.
int fit_many(const many_settings *many, const fit_settings *settings,
             const sn_take_options *options);
