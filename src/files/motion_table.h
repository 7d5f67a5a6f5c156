// SPDX-License-Identifier: MIT
// What tables along a motion share.
#pragma once

#include "sinew/motion.h"

/// A table with a row for each frame and its time, or its number where no rate is known, in the first column.
/// @param info   unit and name; the rest is filled in
/// @param names  of the `ncolumn` columns behind the first; names[0] is set
sn_status sn_table_along(const sn_motion *motion, sn_table_info info, int ncolumn,
                         const char **names, const sn_allocator *allocator, sn_table **out,
                         sn_error *error);
