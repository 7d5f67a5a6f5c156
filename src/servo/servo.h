// SPDX-License-Identifier: MIT
// A servo from the inside. Vectors over degrees of freedom are in sweep order and by entries: the way of one
// tick divided by `unit`, a radian or the figure's size, so that one number measures all.
#pragma once

#include "base/memory.h"
#include "sinew/servo.h"
#include "sweeps/residuals.h"
#include "sweeps/workspace.h"

/// Things that must not happen, near enough to be looked at in a tick.
enum { SN_SERVO_GUARDS = 64 };

/// The rows of one level: r + A x is what is left after a step x.
typedef struct sn_servo_level {
    int name;        ///< of its tasks
    int first, m;    ///< its rows
    double damping;  ///< lambda^2
    double most;     ///< of what is left, at most this share in one tick
    double share;    ///< of the change that it wanted
} sn_servo_level;

/// Directions that a level sees, found by reflections: see ladder.c.
typedef struct sn_ladder {
    int n;              ///< entries
    int nz;             ///< columns of Z: what is left
    double *Z;          ///< n x n, row-major with n numbers a row
    double *B;          ///< rows x n: A Z, then its lower triangular factor
    double *v;          ///< n x n: the reflections
    double *beta;       ///< n
    int turns;          ///< how many reflections there are: those of the last split
    double *E, *T;      ///< n x n: scratch
    double *M;          ///< n x n: normal equations
    int *order;         ///< rows: which one came when
    double *norm;       ///< rows
    double *x, *y, *w;  ///< n, n, rows: scratch
} sn_ladder;

struct sn_servo {
    sn_allocator allocator;
    void *owner;
    const sn_problem *problem;
    const sn_model *model;
    sn_servo_options options;
    sn_workspace *ws;
    int n;     ///< nv
    int rows;  ///< of the stacked residuals
    int room;  ///< rows of A

    double *r, *J;      ///< rows, rows x n: residuals at the pose and their Jacobian
    double *left;       ///< rows: residuals after the last tick
    double *A;          ///< room x n, row-major: rows by level, by entries
    double *e, *moved;  ///< room: what is left of the last tick; how the goals moved since
    int *row_level;     ///< rows: the level of each, -1 for those that do not count
    bool *row_bends;    ///< rows: its residual is not linear in the coordinates
    int nlevel;
    sn_servo_level at[SN_MAX_LEVELS];
    sn_ladder ladder;

    double size;                   ///< of the figure: a length of 1
    double *length;                ///< n: a radian, or the figure's size
    double *unit;                  ///< n: that, or 0 for what does not move in this tick
    double *lower, *upper;         ///< n: limits of positions
    int *q_of;                     ///< n
    double *speed;                 ///< n: the file's, infinite for none
    double *top, *push;            ///< n: speed and acceleration of this tick, coordinate units
    double *low, *high;            ///< n: what this tick may do, by entries
    double *low_kept, *high_kept;  ///< n: the same without acceleration
    double *rest;                  ///< n: the last tick's motion, inside that
    double *p;                     ///< n: the step
    double *delta;                 ///< n: scratch
    double *before;                ///< n x levels: how the goals moved the joints, per level name
    bool *held;                    ///< n: a limit ended a level's way in this tick
    double calm;                   ///< of what is left of the next level, this share at most
    int rounds;                    ///< times a level was solved in this tick
    double *velocity;              ///< n: of the last tick, coordinate units a second, sweep order
    double *pose, *last;           ///< nq: scratch; what the last tick gave
    double *file;                  ///< n: scratch in file order
    bool moving;                   ///< `last` and `left` are those of a tick
    double error;                  ///< of the first level not reached, after the last tick
    int behind;                    ///< ticks in which it got farther

    int nguard;  ///< near ones
    int guard[SN_SERVO_GUARDS];
    double guard_c[SN_SERVO_GUARDS];
    double guard_least[SN_SERVO_GUARDS];  ///< row . p in this tick
    bool guard_on[SN_SERVO_GUARDS];       ///< it holds the motion back in this tick
    double *guard_row;                    ///< SN_SERVO_GUARDS x n, by entries
};

/// rows.c: residuals and Jacobian at q, sorted by level; false when something is not finite.
bool sn_servo_rows(sn_servo *s, const double *q);

/// ladder.c: begin with the entries that can move.
void sn_ladder_begin(sn_ladder *a, const double *unit);
/// B = A Z, for m rows.
void sn_ladder_see(sn_ladder *a, const double *A, int m);
/// Take apart B of m rows: Z Q = [V | Z'], B Q = [L | 0]. Returns how many directions V has.
int sn_ladder_split(sn_ladder *a, int m);
/// w = -(L^T L + damping)^-1 L^T b for the factor that sn_ladder_factor() made.
void sn_ladder_factor(sn_ladder *a, int m, int rank, double damping);
void sn_ladder_solve(const sn_ladder *a, int m, int rank, const double *b, double *w);
/// out = V w; in coordinates of V: w = V^T x.
void sn_ladder_spread(sn_ladder *a, int rank, const double *w, double *out);
void sn_ladder_gather(sn_ladder *a, int rank, const double *x, double *w);
/// Go on with Z' in the place of Z.
void sn_ladder_next(sn_ladder *a, int rank);
/// Take the direction g out of Z; false when Z does not have it.
bool sn_ladder_drop(sn_ladder *a, const double *g);
