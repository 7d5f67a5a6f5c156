// SPDX-License-Identifier: MIT
// Curves over time that have two continuous derivatives.
#pragma once

/// From 0 at x <= 0 to 1 at x >= 1, both derivatives 0 at both ends.
double sn_step(double x);

/// From 0 at x <= 0 up to 1 in the middle and back at x >= 1, both derivatives 0 at the ends.
double sn_bump(double x);

/// From 0 before `start` to 1 after `end` at a steady pace, but for `shoulder` seconds at either end
/// to gather it and to lose it.
double sn_ramp(double t, double start, double end, double shoulder);

enum { SN_MAX_KEYS = 64 };

/// A cubic spline through keys (t, y), level before the first and after the last.
typedef struct sn_spline {
    int n;
    double t[SN_MAX_KEYS], y[SN_MAX_KEYS];
    double bend[SN_MAX_KEYS];  ///< second derivatives at the keys
} sn_spline;

/// @param row     numbers from one key to the next, the first being t
/// @param column  which of them is y
void sn_spline_through(sn_spline *spline, const double *keys, int n, int row, int column);
double sn_spline_at(const sn_spline *spline, double t);
