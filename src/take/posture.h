// SPDX-License-Identifier: MIT
// How the joints of a figure are while it is calibrated.
#pragma once

#include "take/fit.h"

/// All of it belongs to `home`.
typedef struct sn_posture_prior {
    double *home;    ///< nq: where joints are drawn to
    double *home_v;  ///< nv: the same as one number per velocity; 0 for a ball's
    double *rest,
        *still;  ///< nv: how far they are from there, in the take and while standing still
    double *lower, *upper;  ///< nv: ranges; infinite for none
    double *far;    ///< nv: beyond which the pull to `home` lets go, radians; 0: it does not
    double *lasts;  ///< nv: 1 or 2 where a posture is kept for a second or so, else 0
} sn_posture_prior;

/// @param coordinates  of an .osim file; NULL: the usual figure's
/// @param out          its home goes to sn_release() in any case
sn_status sn_posture_find(const sn_model *model, const sn_osim_coordinates *coordinates,
                          const sn_allocator *allocator, sn_posture_prior *out);

/// Without the ends of ranges that do not hold. @param left  nv; NULL: all hold
void sn_posture_leave(const sn_model *model, const sn_left_range *left, sn_posture_prior *p);

/// Is a joint one of an .osim file's back, and does too little sit on the pelvis to show how that tilts?
bool sn_posture_hides_back(const sn_model *m, int joint);
/// How far such a back is from upright, radians.
extern const double sn_posture_upright;
