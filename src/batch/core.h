// SPDX-License-Identifier: MIT
// The recursions of a problem over a REAL that is a double, several doubles side by side, or the number of
// a thread on a device. This file is C and OpenCL C 1.2 at once: no recursion, no pointers to functions.
// Nothing here branches on numbers but to leave out what no lane needs, so that one lane and eight do the
// same operations and have the same bits.
//
// The includer defines REAL, BITS (masks: all bits or none), FN (a static inline function), ARGS and PASS
// (the table and the lane's numbers as parameters), N(count), T(table), W(array), GOAL(k) and the functions
// splat, choose, ANY, LESS, EQUAL, root, largest, least, size_of, sine_cosine, log_one_plus.
//
// Tasks. With F = w r the force on a point p, r = goal - p, and the sums
//
//   N = sum F p^T (9),  F = sum F (3),  W = sum w,  P = sum w p (3),  M = sum w p p^T (6)
//
// of a subtree's points wrench, exact and Gauss-Newton matrices are (fast.c of sweeps/ has w g p^T = M + N in one)
//
//   n = p x F from N - N^T = [n],   y = K S = ((tr M' I - M'^T) a + G x b ; a x P + W b)
//   M' = M + e N,  G = P + e F,     e = 1 exact, 0 Gauss-Newton
//
// K is symmetric but for e/2 of the wrench: K S = A S + e/2 (n x a + F x b ; F x a). Only A changes where degrees of
// freedom are eliminated, so that a factorisation carries 21 numbers from joint to joint, to which each joint adds those
// of its own tasks. They are not summed before: p, r and w of the points are kept until it is known which e their step
// will use. All other tasks on a body fit in, and are summed: a direction d is a point of M and N alone, and an
// orientation with psi to go is
//
//   M = w/2 I,   N = w ([psi]/2 - c psi psi^T)
//
// Points with a 3 x 3 weight add B^T W B as a symmetric 6 x 6 matrix. A loss adds its part times e.

// The parts in their order (blank lines keep them so); on a device they are one text.
#include "batch/rotations.h"

#include "batch/drivers.h"

#include "batch/place.h"

#include "batch/tasks.h"

#include "batch/field.h"

#include "batch/coordinates.h"

#include "batch/sweeps.h"

#include "batch/trip.h"
