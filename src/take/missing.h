// SPDX-License-Identifier: MIT
// The chest's bone, which some files have lost.
#pragma once

#include "math/vec3.h"
#include "sinew/model.h"

/// Which joint lacks its bone, and the one that it gets.
typedef struct sn_missing {
    int chest;      ///< -1: nothing is missing
    int next[3];    ///< the joints at its end: towards the left arm, the right arm and the head
    sn_vec3 bone;   ///< in the chest's frame; as long as the bone below it
    double length;  ///< of `bone`, metres
    double trunk;   ///< hips to neck over hip to ankle, as the figure is; 0: it lacks some of them
} sn_missing;

/// Does a human figure's chest have no length? `trunk` is found for every figure whose parts have known names.
sn_status sn_missing_find(const sn_model *model, const sn_allocator *allocator, sn_missing *out);

/// The model with that bone; everything else as it was.
/// @param out  free with sn_model_destroy()
sn_status sn_missing_add(const sn_model *model, const sn_missing *missing,
                         const sn_allocator *allocator, sn_model **out, sn_error *error);
