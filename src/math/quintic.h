// SPDX-License-Identifier: MIT
// The natural spline of degree five through given points: of all curves through them the one with the least
// integral of the squared third derivative. It is straight-ended in its second derivative: outside of the points it
// goes on as a parabola.
#pragma once

/// One point of the spline: where, the value, and the slope and bend that sn_quintic_fit() finds.
typedef struct sn_quintic_knot {
    double t, f;
    double slope, bend;
} sn_quintic_knot;

/// Find slopes and bends. @param knot  n of them, `t` strictly increasing; one or two make a straight line
/// @param work  6 n
void sn_quintic_fit(int n, sn_quintic_knot *knot, double *work);

/// The value at a time. @param n  at least 1
double sn_quintic_at(int n, const sn_quintic_knot *knot, double t);
