// SPDX-License-Identifier: MIT
// What the solver of closed loops (loops.c) and the closing of a pose (closing.c) share.
#pragma once

#include "solvers/solver.h"

typedef struct sn_loops {
    double *metric;     ///< nv: D^2, one number for all angles and one for all lengths
    double *diagonal;   ///< nv: of the system, lambda D^2 and a little
    double *direction;  ///< nv: where it bends down; H times the step
    double *part;       ///< nv: one straight piece of a step
    bool *free;         ///< nv: not at a limit yet on the way of a step
    bool *held;         ///< nv: stays while a trial is closed
    double *q;          ///< nq: the trial that is being closed

    // of closing.c
    double *x, *pull;   ///< nv: a step that closes the loops, the slope of half the sum of c^2
    double *y;          ///< nv: that step with the bend along it answered
    double *c;          ///< the loops' rows
    double *along;      ///< how a step moves them
    double *bend;       ///< how they bend along it
    double *next;       ///< nq: where that step leads
    double *least;      ///< nq: the least open pose of several runs
    bool *keep;         ///< nv: may move in that step
    bool *roll, rolls;  ///< nv: a locked turn that others can make up for; some is
} sn_loops;

static inline sn_loops *sn_loops_of(const sn_solver *s) { return s->state; }

/// A pose whose loops are open by less counts as closed, metres and radians.
#define SN_CLOSED 1e-11

/// Fill `roll`: the locks of the problem may be others by now.
void sn_closing_find_rolls(sn_solver *s);

/// Close the loops of the pose q in at most so many steps; velocities with `held` (NULL: none) stay.
/// Returns how far it is open in the end: INFINITY when it is no pose at all.
double sn_closing_run(sn_solver *s, double *q, const bool *held, int most);

/// The same for the start s->q, by all means: where the way from it ends open, from poses about it.
double sn_closing_start(sn_solver *s);
