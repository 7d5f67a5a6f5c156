// SPDX-License-Identifier: MIT
// Rotations: the exponential map, its Jacobian and that Jacobian's derivative, the logarithm.
//
//   R(w)    = I + (sin t / t) [w] + ((1 - cos t)/t^2) [w]^2        t = |w|
//   J_l(w)  = I + alpha [w] + beta [w]^2      dR R^T = [J_l dw], world side
//   alpha   = (1 - cos t)/t^2,  beta = (t - sin t)/t^3
//   dJ_l/dw_b = (alpha'/t) w_b [w] + alpha [e_b] + (beta'/t) w_b [w]^2 + beta ([e_b][w] + [w][e_b])
//   J_r^-1(w) = I + [w]/2 + c [w]^2 = J_l^-T,  c = (1 - (t/2) cot(t/2))/t^2
//
// The closed forms lose digits early (beta'/t: 2e-4 at t = 1e-3, still 3e-13 at 0.5), so below t =
// 1 the power series are used.
#pragma once

#include "math/vec3.h"

/// The coefficients of J_l and of its derivative at a given t^2.
typedef struct sn_expmap {
    double sine;    ///< sin t / t
    double alpha;   ///< (1 - cos t)/t^2
    double beta;    ///< (t - sin t)/t^3
    double dalpha;  ///< alpha'/t
    double dbeta;   ///< beta'/t
} sn_expmap;

sn_expmap sn_expmap_at(double t2);

/// R(w), from the coefficients at w.
sn_mat3 sn_expmap_rotation(const sn_expmap *k, sn_vec3 w);

/// J_l(w) x
sn_vec3 sn_expmap_jacobian(const sn_expmap *k, sn_vec3 w, sn_vec3 x);

/// d(J_l(w) x) along a change dw of w.
sn_vec3 sn_expmap_jacobian_change(const sn_expmap *k, sn_vec3 w, sn_vec3 x, sn_vec3 dw);

/// c and c'/t of J_r^-1 at a given t^2, t <= pi.
void sn_log_coefficients(double t2, double *c, double *dc);

/// J_r^-1(w) x = J_l^-T(w) x
sn_vec3 sn_log_jacobian_right(double c, sn_vec3 w, sn_vec3 x);

/// The same rotation with |w| <= pi.
sn_vec3 sn_expmap_wrap(sn_vec3 w);

/// The short way from one direction to another, both of length 1; opposite ones have none, and the turn is about `across`,
/// which is of length 1 and perpendicular to them.
sn_quat sn_quat_between(sn_vec3 from, sn_vec3 to, sn_vec3 across);

/// Rotation vector of R, from the quaternion's largest component: exact to the last bits also near
/// pi, where the sign of the axis is free.
sn_vec3 sn_rotation_log(const sn_mat3 *R);
