// SPDX-License-Identifier: MIT
// Tasks on several levels: a level moves only what those before it leave free. See levels.c.
#pragma once

#include "linalg/nested.h"
#include "solvers/solver.h"
#include "tasks/level.h"

/// The levels of tasks, and before them the model's loops.
enum { SN_LEVELS = SN_MAX_LEVELS + 1 };

/// A level above the last whose goals cannot be met is at its minimum with this relative gradient: f is then
/// 1e-14 of itself above it.
#define SN_LEVELS_REST 1e-7

/// What is left of f, of what it would be with errors as large as the figure, where a level is met.
#define SN_LEVELS_WHOLLY 1e-26

/// Pivots below this share of what f would be with errors as large as the figure are nothing.
static const double sn_levels_nothing = 1e-12;

/// Numbers of one level at the pose.
typedef struct sn_level {
    int name;     ///< of its tasks; -1: the loops
    bool exact;   ///< its goals cannot all be met: the exact Hessian says what it leaves free
    bool fast;    ///< f falls fast: the Gauss-Newton matrix will do
    bool curved;  ///< its matrix has the bend of the levels above
    double f;
    double floor;     ///< f that a trial may not end above: the lowest so far, of the first level
    double goal;      ///< of f: a share of `usual`, or what rounding leaves at the pose
    double whole;     ///< what f would be with errors as large as the figure
    double usual;     ///< the same where the solve, or its part in it, began
    double trial;     ///< f where it was last put right, as it will be then
    double own;       ///< largest entry of the step that it needs alone
    double noise;     ///< pivots that are rounding at any pose
    double least;     ///< pivots at the pose that count as nothing
    int rank;         ///< directions that it takes there
    bool bends_down;  ///< in what it may move: not at a minimum, whatever its gradient is
    bool vague;       ///< more, were what is left of f not as large as some pivots
    bool thin;        ///< some pivots are small: near a singular pose
    double gradient;  ///< relative gradient in what it may move
} sn_level;

struct sn_levels {
    bool room;       ///< for levels: a long chain that was made without has none
    int count;       ///< in this solve, loops included; below 2 there is nothing below the first
    int first;       ///< of the tasks: 1 with loops, else 0
    bool came_near;  ///< the pose is where the last run of the first level met its goal
    sn_level at[SN_LEVELS];
    sn_level_view view;
    sn_nested nested;
    double *unit;  ///< nv: velocity of an entry 1: a radian, or the figure's size
    double *g;     ///< SN_LEVELS x nv, by entries
    double *W;     ///< SN_LEVELS x nv x nv
    double *H;     ///< nv x nv: scratch
    double *turn;  ///< nv x nv: scratch
    double *mu;    ///< SN_LEVELS x SN_LEVELS x nv: mu of level j for level k
    double
        *lag;  ///< SN_LEVELS x nv: what their residuals, not yet 0, take from the bend along them
    double *pull;    ///< SN_LEVELS x nv: g with what the levels above answer
    double *factor;  ///< nv x nv
    int rows;        ///< of residuals
    double *J, *r;   ///< rows x nv: their derivatives, by entries; rows: scratch
    double *p;       ///< nv: the step
    double *b, *y;   ///< nv: scratch
    double *fix;     ///< nv: the way to a limit
    double *pose;    ///< nq: of the trial
    double *best;    ///< nq: of the trials on the way on
    double *way;     ///< nv: the way on
    double *met;  ///< nq: where the levels above the last lacked nothing, at first where they began
    double *shifted;         ///< nq: near another pose
    double *beside, *slope;  ///< nv: the way there, and the gradient
    bool *free;              ///< nv: moves in this step
    bool *open;              ///< nv: ... and no limit is in its way where the levels are put right
    bool *held, *put;        ///< nv: at a limit since before; put there in this step
};

/// levels_at.c: f of level k at a pose, and its gradient g and matrix W by entries where they are not NULL.
bool sn_levels_look(sn_solver *s, int k, const double *q, bool exact, double *f, double *g,
                    double *W);

/// levels_at.c: out = q moved by the entries x times t, inside the limits.
void sn_levels_move(sn_solver *s, const double *q, double t, const double *x, double *out);

/// levels_at.c: the step that the levels above `last`, as they were factored, need at the pose `q`, and what
/// it adds to the last one's f; false when something is not finite.
bool sn_levels_correct(sn_solver *s, int last, const double *q, double *x, double *added);

/// levels_at.c: pivots up to this count as nothing: columns of a Jacobian below 1e-6 of the largest or of the
/// size of what is left of the residual, and what is left of the gradient g times the bend of f.
double sn_levels_singular(const sn_solver *s, int k, const double *g);

/// levels_at.c: the bend of the levels above level k at the pose q, added to W.
bool sn_levels_add_bend(sn_solver *s, int k, const double *q, double *W);

/// levels_at.c: factor the levels above `last` at the pose `q`. What stands at a limit there and x would carry
/// past it does not move; nor does what stood at one since the first of several poses on a way.
bool sn_levels_refactor(sn_solver *s, int last, const double *q, const double *x, bool first);

/// What a step of the levels up to `last` is worth.
typedef struct sn_levels_step {
    double reach;  ///< in: the largest entry that it may have
    bool
        cut;  ///< in: joints that it carries past their limits are not put there: it ends at the first limit
    double lambda;       ///< out: the damping
    double size;         ///< out: largest entry
    double up;           ///< out: ... of what the levels above the last would need alone
    double value;        ///< out: f of the last level and sum mu . g at the pose
    double slope, bend;  ///< out: by how much the step lets it fall: -slope - bend / 2
    double noise;        ///< out: what rounding makes of value
    bool indefinite;     ///< out
} sn_levels_step;

/// levels_at.c: the goal of level k at the pose, with the largest entry of its matrix there.
void sn_levels_find_goal(sn_solver *s, int k, double most);

/// levels_step.c: f, gradient and matrix of all levels up to `last` at s->q.
bool sn_levels_derive(sn_solver *s, int last);

/// levels_step.c: the multipliers that answer the gradient g of level k, and its pull, with the levels above as they are
/// factored.
void sn_levels_answer(sn_solver *s, int k, const double *g);

/// levels_step.c: the step, in p.
bool sn_levels_find(sn_solver *s, int last, sn_levels_step *step);

/// What became of a step.
typedef struct sn_levels_trial {
    double share;    ///< of the step, 0: none could be put right
    double value;    ///< f of the last level, and sum mu . g
    double promise;  ///< by how much they were to fall, and did
    double fall;
    double on;   ///< how much further than the step it went
    bool blind;  ///< f cannot tell: the levels above being met is what counts
    bool good;
} sn_levels_trial;

/// How far a step may move at the most.
static const double sn_levels_most_reach = 0.8;

/// levels_trial.c: the step of sn_levels_find() tried, its end in a->pose; false when something is not finite.
bool sn_levels_try(sn_solver *s, int last, sn_levels_step *step, sn_levels_trial *t);

/// levels_trial.c: a->pose becomes the pose.
void sn_levels_take(sn_solver *s);

/// levels_trial.c: what the levels above the last lack at the pose is put right there; false: it cannot be.
bool sn_levels_polish(sn_solver *s, int last);

/// What f may be measured by: near a place without a direction, as a gaze that meets its goal, `whole` grows without bound.
static inline double sn_levels_measure(const sn_level *at) {
    return at->usual > 0 ? fmin(at->whole, 10 * at->usual) : at->whole;
}

static inline double sn_levels_largest(const double *x, int n) {
    double most = 0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    return most;
}

static inline double *sn_levels_g(const sn_levels *a, int k) { return a->g + a->nested.n * k; }
static inline double *sn_levels_W(const sn_levels *a, int k) {
    return a->W + (size_t)a->nested.n * (size_t)a->nested.n * (size_t)k;
}
static inline double *sn_levels_mu(const sn_levels *a, int k, int j) {
    return a->mu + a->nested.n * (SN_LEVELS * k + j);
}
