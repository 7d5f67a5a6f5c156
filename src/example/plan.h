// SPDX-License-Identifier: MIT
// What the figure wants to do at a moment: where its pelvis, feet and hands should be, how much they
// must be there, and how it would hold itself otherwise. Everything has two continuous derivatives.
// Left is 0, right is 1.
#pragma once

#include <stdbool.h>

#include "example/curve.h"
#include "sinew/math.h"

typedef struct sn_plan {
    sn_spline pelvis[3];
} sn_plan;

/// Something that is held fast (1), not at all (0), or in between: on its way there.
typedef struct sn_hold {
    sn_vec3 at;
    double held;
} sn_hold;

typedef struct sn_moment {
    sn_vec3 pelvis;
    sn_quat pelvis_turn, chest_turn;
    sn_hold ball[2];       ///< of the foot: the joint of the toes
    sn_quat foot_turn[2];  ///< of the foot, when it is held
    double flying[2];      ///< 0 with the foot walking or standing, 1 with the leg in the air
    double heel[2];        ///< how far the heel is lifted about the ball, radians
    sn_hold wrist[2];
    double stride;  ///< how far the left foot is ahead of the right one, in steps
    double wheel;   ///< 0 walking, 1 in the cartwheel
} sn_moment;

extern const double sn_plan_seconds;

void sn_plan_create(sn_plan *plan);
void sn_plan_at(const sn_plan *plan, double t, sn_moment *m);
