// SPDX-License-Identifier: MIT
// What all methods share. A method keeps the best pose so far in s->q with its value in s->f, and
// works in sweep order with the velocities behind the gains: the pose moves by gain o u.
//
// A method's loop:
//
//   for (;;) {
//       evaluate the derivatives it needs at s->q            sn_solver_eval()
//       if (sn_solver_finished(s)) return;                       stop tests; sets s->report.stop
//       compute a direction s->step from s->ws->g ...
//       sn_solver_move(s, t, ...) and evaluate f there; take it with sn_solver_take() when f fell
//       sn_solver_iterated(s, &trace);                           counts, calls the trace
//   }
#pragma once

#include "base/memory.h"
#include "linalg/path.h"
#include "model/model.h"
#include "sinew/solver.h"
#include "sweeps/workspace.h"

typedef struct sn_method_ops {
    /// Fill the method's own struct with arrays from the solver's layout and keep it there with
    /// sn_layout_keep(), as s->state (called twice: measured, then placed). NULL for none.
    void (*layout)(sn_solver *s, sn_layout *layout);
    bool leaves_saddles;  ///< may step along negative curvature where it ends at a saddle
    /// Improve s->q until something stops it; s->report.stop says what. On entry the workspace
    /// holds f, gradient and Gauss-Newton matrix of s->q.
    void (*run)(sn_solver *s);
} sn_method_ops;

/// How a run in a lane ended; `plain`: it did not, a plain run from its start must tell.
typedef struct sn_cold_end {
    bool plain;
    sn_stop stop;
    double f, gradient;
    int iterations, factorizations, active;
} sn_cold_end;

/// Runs from other poses side by side (batch/cold_lanes.c): what lanes do is what the solver would do, to rounding.
typedef struct sn_cold_lanes {
    int width;
    /// For the problem and options that the solver has now; a run that will not get below f `rival` is given up. False:
    /// lanes cannot solve them.
    bool (*begin)(struct sn_cold_lanes *self, const sn_solver *s, double rival);
    /// What is under way is dropped, and f to get below is another.
    void (*aim)(struct sn_cold_lanes *self, double rival);
    void (*start)(struct sn_cold_lanes *self, int lane, const double *q);
    /// One trip of all lanes that were started.
    void (*step)(struct sn_cold_lanes *self);
    /// False while the lane is under way. @param q  nq: where it ended
    bool (*ended)(struct sn_cold_lanes *self, int lane, sn_cold_end *end, double *q);
    void (*destroy)(struct sn_cold_lanes *self);
    double *starts, *ends;  ///< SN_COLD_QUEUE x nq
} sn_cold_lanes;

/// Runs whose turn has not come: they are judged in the order of their moves, as if one had followed the other.
enum { SN_COLD_QUEUE = 32 };

/// What a search for other valleys needs, see cold.c.
typedef struct sn_cold {
    sn_cold_lanes *own;    ///< that were made with the solver, or NULL
    sn_cold_lanes *lanes;  ///< these, or NULL: one run after the other
    double *best;          ///< nq: the best pose of all runs
    double *below;  ///< njoint: f of the tasks on a joint and all that hangs on it, at that pose
    sn_frame *old, *base, *frame;  ///< njoint: frames at that pose; the frames of a turned pose
} sn_cold;

/// Tasks on several levels, see levels.h.
typedef struct sn_levels sn_levels;

struct sn_solver {
    sn_allocator allocator;
    void *owner;
    const sn_problem *problem;
    const sn_model *model;
    const sn_method_ops *ops;
    sn_solver_options options;
    sn_workspace *ws;
    sn_report report;
    double started;  ///< seconds, when there is a time budget

    // one of several runs in a solve, see cold.c
    int run_first;   ///< iterations of the runs before
    double rival;    ///< f that this run must fall below to be of use; INFINITY: go on to the end
    double watched;  ///< f when it was last looked at
    bool
        goes_on;  ///< the next one, of a damped method, begins where the last met its goal, and has another
    int slow;  ///< how often in a row it fell too slowly to get there

    int n;          ///< nv
    double f;       ///< at q
    double whole;   ///< what f would be with errors as large as the figure
    double usual;   ///< the same at the start
    double goal;    ///< of f: the options', or a share of that
    double *q;      ///< nq: the best pose so far
    double *trial;  ///< nq: the pose that sn_solver_move() made
    double *step;   ///< nv: the direction or step of a method
    double *moved;  ///< nv: what sn_solver_move() really did, after the limits
    double
        *scale;  ///< nv: D^2, the diagonal of the Gauss-Newton matrix (the largest seen), never 0
    double *delta;    ///< nv, file order; scratch of sn_solver_move()
    double open;      ///< how far the loops of the start stayed open
    bool inside;      ///< followers of several leaders began inside their limits, and stay there
    bool exact_here;  ///< the workspace holds the exact Hessian of q
    double noise;     ///< a Gauss-Newton diagonal at or below this is rounding: no task sees it
    double *seen;     ///< nv: the Gauss-Newton diagonal when it was last computed
    bool *turns;      ///< nv: an angle, not a length
    bool *keep;       ///< nv: may move: not locked, and not at a limit that g pushes against
    int *q_of;        ///< nv: the coordinate a velocity changes, -1 inside a quaternion
    double *lower, *upper;  ///< nv: limits of that coordinate
    uint32_t *held;         ///< njoint: limits of balls that the last derivatives push against
    bool held_known;        ///< for these derivatives
    bool *round;  ///< nv: an angle that goes round in this solve, without limits until its end
    double *guard_shift, guard_stiff;  ///< nguard: what the rounds of guards.c ended with
    double *guarded;                   ///< nq: the pose that a run with guards began with
    double *guard_best;                ///< nq: the pose of the best of several
    double *started_at;                ///< nq: the pose that the solve began with
    void *state;  ///< the struct that ops->layout kept; its type is known to the method
    sn_cold cold;
    sn_levels *levels;
    double share;  ///< of `whole` is the goal, where the options say none
};

extern const sn_method_ops sn_method_hybrid, sn_method_newton, sn_method_newton_pcg, sn_method_lm,
    sn_method_dls, sn_method_gauss_newton, sn_method_pinv, sn_method_qr, sn_method_bfgs,
    sn_method_lbfgs, sn_method_ncg, sn_method_projected_gradient, sn_method_jacobian_transpose,
    sn_method_ccd, sn_method_sdls;

/// Evaluate at a pose and count it: `what` as in sn_workspace_eval(). False when f is not finite.
bool sn_solver_eval(sn_solver *s, const double *q, unsigned what, double *f);

/// s->trial = s->q (+) t gain o u, moved into the limits; s->moved = what that is, divided by gain.
/// A degree of freedom with keep[i] false does not move. Returns the length of s->moved.
double sn_solver_move(sn_solver *s, double t, const double *u);

/// The same without regard to keep: methods that clamp after the step move everything.
double sn_solver_move_all(sn_solver *s, double t, const double *u);

/// s->trial becomes the best pose, with value f.
void sn_solver_take(sn_solver *s, double f);

/// With g of s->q in the workspace: sets keep[], counts the active limits, computes the relative
/// projected gradient, and tests all reasons to stop. True: end, s->report.stop is set.
bool sn_solver_finished(sn_solver *s);

/// End of an iteration: count it and tell the trace; f, gradient and iteration are filled in here.
void sn_solver_iterated(sn_solver *s, sn_trace *trace);

/// Start: the pose q, moved into its limits, with f, gradient and Gauss-Newton matrix there. A run:
/// the method from s->q until it stops, saddles left. End: s->q and the report out.
sn_status sn_solver_begin(sn_solver *s, const double *q, sn_report *report);
void sn_solver_run(sn_solver *s);
/// The same without regard to guards, see guards.c; and with.
void sn_solver_run_once(sn_solver *s);
void sn_solver_guards_run(sn_solver *s);
/// Where something is violated after all: once more, in other ways and from other poses, with the iterations that are
/// left or, with `afresh`, with all of them each time.
void sn_solver_guards_retry(sn_solver *s, bool afresh);
bool sn_solver_guards_begin(sn_solver *s);
void sn_solver_guards_end(sn_solver *s);
/// Around the levels below the first: what is violated before; and the pose from before where it is more after.
double sn_solver_guards_resume(sn_solver *s);
void sn_solver_guards_settle(sn_solver *s, double before);
sn_status sn_solver_end(sn_solver *s, double *q, sn_report *report);

/// cone.c, for balls with limits. Move: bring s->trial into them, and s->moved with it. Hold: where one is
/// at a limit that the gradient pushes against, take that direction out of g and make H stiff along it;
/// returns how many.
void sn_solver_cone_move(sn_solver *s);
int sn_solver_cone_hold(sn_solver *s);

/// tied.c, for followers of several leaders with limits. Hold: those at a limit that the gradient pushes
/// against, given what may move; returns how many.
int sn_solver_tied_hold(sn_solver *s, const bool *keep);

/// round.c: take the limits off angles that go round, and put those angles back at the end.
void sn_solver_round_begin(sn_solver *s);
void sn_solver_round_end(sn_solver *s);

/// The same as sn_solver_create() without lanes, for solvers that do not search.
sn_status sn_solver_create_plain(const sn_problem *problem, const sn_solver_options *options,
                                 const sn_allocator *allocator, sn_solver **out, sn_error *error);

/// cold.c: its share of the solver's memory.
void sn_solver_cold_layout(sn_solver *s, sn_layout *layout);

/// loops.c: for models with closed loops, in the place of a method's own layout and run; what closes
/// the loops of a start.
void sn_solver_loops_layout(sn_solver *s, sn_layout *layout);
bool sn_solver_loops_begin(sn_solver *s);
void sn_solver_loops_run(sn_solver *s);

/// levels.c: memory; what a solve begins with, SN_ERR_UNSUPPORTED when this solver has no way with levels;
/// after a run of the first level, the others; per-level numbers of the report, and f of all tasks.
void sn_solver_levels_layout(sn_solver *s, sn_layout *layout);
sn_status sn_solver_levels_begin(sn_solver *s);
/// @param after_run  nothing has been between that run and this
void sn_solver_lower(sn_solver *s, bool after_run);
void sn_solver_levels_end(sn_solver *s);

/// Stop because nothing helps any more.
void sn_solver_stalled(sn_solver *s);

/// With the Gauss-Newton matrix in the workspace: the size of the terms that its entries are differences of.
double sn_solver_terms(const sn_solver *s);

/// Update s->scale from the Gauss-Newton matrix in the workspace: afresh, or to the larger of both.
void sn_solver_find_scale(sn_solver *s, bool fresh);

/// pinv.c, for methods that solve equations and clamp after the step: walk from pose to pose,
/// whatever f does, and keep the best. find_step fills s->step; false ends the walk.
/// @param best  nq, of the method's state: the best pose while it walks
void sn_solver_walk(sn_solver *s, double *best, bool (*find_step)(sn_solver *s));

double sn_solver_dot(const double *x, const double *y, int n);
