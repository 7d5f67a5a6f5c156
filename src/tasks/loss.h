// SPDX-License-Identifier: MIT
// Robust losses of a point: f = 1/2 w rho(s), s = |r|^2.
//
//   none     rho = s                        rho' = 1
//   Huber    rho = 2 c sqrt(s) - c^2        rho' = c / sqrt(s)          beyond s = c^2
//   Cauchy   rho = c^2 log(1 + s / c^2)     rho' = 1 / (1 + s / c^2)
//
// Under a motion dr of the residual, with F = w rho' r the force,
//
//   df = F . dr,   dF = W' dr,   W' = w (rho' I + 2 rho'' r r^T)
//
// so a loss is a point of weight w rho' and, in the exact Hessian, a rank-one change along r that
// is never positive: rho is concave. Along r it leaves w (rho' + 2 s rho''): 0 for a far point of
// Huber's, below 0 for one of Cauchy's.
//
// Gauss-Newton leaves the rank-one term out. With it (Triggs's correction, cut off at 0) a far
// point would not hold back its own direction at all; without it 1/2 w rho' |r + dr|^2 + constant
// lies above f everywhere, touching it here, since rho is concave in s. So a step that lowers the
// model's own sum of squares lowers f, and residuals scaled by sqrt(w rho') have this matrix as
// J^T J: reweighted least squares, the same in every method.
#pragma once

#include <math.h>

#include "math/log1p.h"
#include "tasks/problem.h"

typedef struct sn_loss_terms {
    double value;  ///< rho
    double slope;  ///< rho', in (0, 1]
    double bend;   ///< 2 rho''
} sn_loss_terms;

static inline sn_loss_terms sn_loss_of(sn_loss loss, double c2, double s) {
    if (loss == SN_LOSS_CAUCHY) {
        double slope = c2 / (c2 + s);
        return (sn_loss_terms){c2 * sn_log1p(s / c2), slope, -2 * slope / (c2 + s)};
    }
    if (loss == SN_LOSS_HUBER && s > c2) {
        double slope = sqrt(c2 / s);
        return (sn_loss_terms){2 * sqrt(c2 * s) - c2, slope, -slope / s};
    }
    return (sn_loss_terms){s, 1, 0};
}

static inline sn_loss_terms sn_loss_at(const sn_point *point, double s) {
    return sn_loss_of(point->loss, point->scale2, s);
}

/// w rho' of a point whose residual is r: how hard it pulls, by its distance.
static inline double sn_point_pull(const sn_point *point, sn_vec3 r) {
    if (point->loss == SN_LOSS_NONE) return point->weight;
    return point->weight * sn_loss_at(point, v3_dot(r, r)).slope;
}
