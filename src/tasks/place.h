// SPDX-License-Identifier: MIT
// Places that a tasks file speaks of by name.
#pragma once

#include "math/vec3.h"
#include "sinew/task.h"

/// What a name means: a place on a joint of the model.
typedef struct sn_place {
    int joint;    ///< -1: nothing has this name
    sn_frame at;  ///< in the joint's frame
    bool named;   ///< a frame of the model, not a joint or marker
    bool turned;  ///< its axes are not those of the joint
} sn_place;

/// The place of no name: joint -1, nowhere else than the joint itself.
sn_place sn_place_none(void);

/// Joints, frames and markers of the model may have one name: as a joint they count in this order, as a
/// link frames are first, then markers.
sn_place sn_place_find(const sn_model *model, const char *name, bool link);

/// A task whose numbers were given in the places' frames, in those of their joints instead. NULL, or why
/// no task on the joints says the same.
const char *sn_place_apply(sn_task *task, const sn_place *place, const sn_place *other);
