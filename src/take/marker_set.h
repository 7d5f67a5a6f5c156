// SPDX-License-Identifier: MIT
// A marker set from the inside.
#pragma once

#include "base/memory.h"
#include "take/fit.h"

struct sn_marker_set {
    sn_allocator allocator;
    void *owner;
    char name[SN_MAX_LABEL + 1];
    int count;
    sn_marker_place *place;
};

/// Copy a name, cut to what fits.
void sn_copy_name(char *out, size_t size, const char *name);

/// sn_marker_set_apply() with bodies that are stretched along their own axes.
/// @param limits   SN_LIMITS_AUTO: hard, but the root may be anywhere, however it is turned
/// @param left     nv: ends of ranges that do not hold; NULL: all hold
/// @param stretch  per joint: what its vectors to other joints are multiplied with; NULL for 1
sn_status sn_marker_set_stretch(const sn_marker_set *set, const sn_model *model,
                                sn_limit_use limits, const sn_left_range *left,
                                const sn_mat3 *stretch, const sn_allocator *allocator,
                                sn_model **out, sn_error *error);
