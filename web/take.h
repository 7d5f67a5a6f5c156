// SPDX-License-Identifier: MIT
// A take: what was measured, what was fitted.
#pragma once

#include "stage.h"

typedef struct take {
    sn_motion *motion;        // poses of the figure; all of them once `fitted` frames are solved
    sn_recording *recording;  // measured markers, or NULL
    int fitted;
    int axes[3];          // which of the recording's coordinates are the figure's x y z
    int *joint;           // nmarker: the joint a marker sits on, -1 for none
    double *local;        // nmarker x 3: where on it
    float *places;        // nmarker x 6
    sn_problem *problem;  // while the motion is being solved for
    sn_solver *solver;
} take;

const take *the_take(void);

/// Both take over what they are given. On failure all stays as it was.
sn_status take_motion(sn_motion *motion);
sn_status take_recording(sn_recording *recording, sn_error *error);

/// files.c
void set_message(sn_error *error, const char *text);
