// SPDX-License-Identifier: MIT
// A rotation held as a unit quaternion, for the ball and the free joint.
//
//   update        R <- exp(delta) R, delta in the parent-side frame, so S_a are that frame's axes
//   two updates   exp(delta) = 1 + [delta] + [delta]^2/2: the second derivative is the mean of both
//                 orders, dS_a/dq_b = S_b x S_a / 2. Beyond a stack of hinges: - S_b x S_a / 2.
#pragma once

#include "model/joint.h"

void sn_ball_place(const double quat[4], const sn_frame *base, sn_frame *out, sn_twist S[3]);
void sn_ball_curve(const sn_frame *base, sn_vec3 e[3][3]);
void sn_ball_integrate(const double quat[4], const double delta[3], double out[4]);
void sn_ball_difference(const double quat0[4], const double quat1[4], double delta[3]);
void sn_ball_normalize(double quat[4]);
