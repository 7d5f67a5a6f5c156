// SPDX-License-Identifier: MIT
// A marker set from the inside.
#pragma once

#include "base/memory.h"
#include "sinew/take.h"

struct sn_marker_set {
    sn_allocator allocator;
    void *owner;
    char name[SN_MAX_LABEL + 1];
    int count;
    sn_marker_place *place;
};

/// Copy a name, cut to what fits.
void sn_copy_name(char *out, size_t size, const char *name);
