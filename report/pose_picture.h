// SPDX-License-Identifier: MIT
// A picture of a pose: limbs, shapes and goals, from the front, the side and above.
#pragma once

#include "plot.h"
#include "sinew/sinew.h"

typedef struct pose_picture {
    const sn_model *model;
    const sn_problem *problem;
    const sn_workspace *ws;  ///< placed at the pose
    int up;                  ///< the world's axis that points up: 0 1 2
    double up_sign;
} pose_picture;

/// As SVG; text->failed when memory is out.
void pose_picture_svg(plot_text *text, const pose_picture *picture);
