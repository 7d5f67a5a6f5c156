// SPDX-License-Identifier: MIT
// A damped step inside the limits: what the schedule of damped.c asks for.
#pragma once

#include "solvers/solver.h"

/// Relative damping below which rounding makes the pivots of a singular matrix meaningless.
#define SN_LEAST_DAMPING 1e-10

/// What the last steps were worth: kept, so that a run can go on where the last one was ended.
typedef struct sn_schedule {
    double lambda;
    double growth;  ///< by how much a rejected step raises lambda: more each time in a row
    double failed;  ///< the lambda of the last rejected step, forgotten little by little
    double reach;
    double first_f;  ///< at the start
    bool exact;      ///< the next step takes the exact Hessian
    bool crawls;     ///< the last step took less than a tenth of f
    bool slow;       ///< and it was not one of the first
} sn_schedule;

/// The state of the damped methods; each array nv.
typedef struct sn_damped {
    sn_schedule schedule;
    double *metric;     ///< D^2
    double *gain;       ///< in sweep order; 0: locked
    bool *length;       ///< a length, not an angle
    double most[2];     ///< the largest Gauss-Newton diagonal of the angles and of the lengths
    double *diagonal;   ///< of the system, lambda D^2 and a little
    double *direction;  ///< scratch
    double *plain;      ///< the step with its ends put inside the limits
    bool *open;         ///< not yet put at a limit
} sn_damped;

/// The share of the solver's memory, and where it is.
void sn_damped_layout(sn_solver *s, sn_layout *layout);
sn_damped *sn_damped_of(const sn_solver *s);

/// D^2 from the Gauss-Newton diagonal that sn_solver_find_scale() last saw: of this pose alone, or the
/// largest since.
void sn_damped_measure(sn_solver *s, bool fresh);

/// What a step was asked for and what it became.
typedef struct sn_damped_step {
    double lambda;    ///< in: the damping to begin with; out: what it took
    double reach;     ///< in: how far it may turn a joint, radians
    double least;     ///< in: what a failed pivot raises the damping to at least
    bool indefinite;  ///< out: the matrix had a negative pivot before damping
    bool crossed;     ///< out: a limit stopped a degree of freedom on the way
    double promise;   ///< out: the decrease that the model promises; not positive: there is no step
} sn_damped_step;

/// Fills s->step. The workspace holds g and the matrix of s->q; s->keep says what may move.
void sn_damped_find(sn_solver *s, sn_damped_step *step);
