// SPDX-License-Identifier: MIT
// Guards at a pose: what each adds to f, gradient and Hessian.
#pragma once

#include "sweeps/ties.h"
#include "tasks/guards.h"

enum {
    SN_GUARD_ROWS = 5,
    SN_GUARD_MOST =
        256  ///< rows of all together; with more degrees of freedom the least pressing ones
             ///< have only their Gauss-Newton row
};

/// One that counts, at the pose of the last evaluation with derivatives.
typedef struct sn_guard_at {
    int guard;
    double c;     ///< its value
    double push;  ///< -df / dc, above 0
    int nrow, nleg;
    int joint[2];                             ///< of the legs, sweep positions
    double T[2][6 * SN_GUARD_ROWS];           ///< rows y += T (a; b), row by row
    double W[SN_GUARD_ROWS * SN_GUARD_ROWS];  ///< f bends by W in y
} sn_guard_at;

/// A workspace's share. Shift, stiffness and slack are the solver's; 0, 1 and 0 for all others.
typedef struct sn_guards_at {
    sn_solid *solid;  ///< nsolid, from the sweep's origin, at the placed pose
    double *shift;    ///< nguard
    double stiff;     ///< all weights times this
    double slack;     ///< every least distance is larger by this
    int nactive;
    sn_guard_at *active;  ///< nguard
    double *sum;          ///< njoint x 6: scratch
    double *B;            ///< nv x nv where there may be more rows than that
} sn_guards_at;

struct sn_workspace;
struct sn_field;

/// The most rows that a problem's guards have together.
int sn_guards_rows(const sn_problem *problem);
size_t sn_guards_forces_most(const sn_problem *problem);
void sn_guards_layout(sn_guards_at *at, const sn_problem *problem, sn_layout *layout);

/// c of one guard at the placed pose, after sn_guards_place(); INFINITY where it is plain that nothing is near.
void sn_guards_place(const struct sn_workspace *ws);
double sn_guard_value(const struct sn_workspace *ws, int guard);

/// How far one is violated at the placed pose by the exact distance, without shift and slack: metres; 0 for none.
double sn_guard_violation(const struct sn_workspace *ws, int guard);

/// The largest of a task's.
double sn_guards_error(const struct sn_workspace *ws, int task);

/// f at the placed pose.
double sn_guards_value(const struct sn_workspace *ws);

/// f and, into ws->ties->force, the forces; with `second` the rows too.
double sn_guards_forces(struct sn_workspace *ws, bool exact, bool second);

/// The share of coordinates in g, before gains.
void sn_guards_gradient(struct sn_workspace *ws);

/// Fill the tie; its W into `W`. False when nothing counts.
bool sn_guards_rows_fill(struct sn_workspace *ws, bool exact, sn_tie *tie, double *W);

/// With `out` NULL: what guards answer to the bodies' twists in ws->carry, added to ws->answer. Else what
/// those on coordinates answer to the velocities u (file order), added to out.
void sn_guards_answer(struct sn_workspace *ws, const double *u, double *out);

/// guards_near.c: those with c below `margin` at the placed pose, the nearest `room` of them: which, c, and its
/// gradient by the velocities in sweep order behind the gains, nv numbers each. How many.
int sn_guards_near(const struct sn_workspace *ws, double margin, int room, int *which, double *c,
                   double *rows);
