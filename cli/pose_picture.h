// SPDX-License-Identifier: MIT
// A picture of a pose: limbs, shapes and goals, from the front, the side and above.
#pragma once

#include "cli.h"

typedef struct pose_picture {
    const sn_model *model;
    const sn_problem *problem;
    const sn_workspace *ws;  ///< placed at the pose
    int up;                  ///< the world's axis that points up: 0 1 2
    double up_sign;
} pose_picture;

/// Write it as SVG. False and a message when it can't be.
bool write_pose_picture(const char *path, const pose_picture *picture);
