// SPDX-License-Identifier: MIT
// Solvers: find the pose that best meets a problem's tasks.
#pragma once

#include "sinew/eval.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Owns all the memory one solve needs. One per thread.
typedef struct sn_solver sn_solver;

/// The methods; docs/solvers.md says what each does and when to use it.
typedef enum sn_method {
    SN_METHOD_HYBRID,  ///< the default: Gauss-Newton while it predicts well, exact when not
    SN_METHOD_NEWTON,  ///< exact Hessian, trust region
    SN_METHOD_NEWTON_PCG,
    SN_METHOD_LM,
    SN_METHOD_DLS,
    SN_METHOD_GAUSS_NEWTON,
    SN_METHOD_PINV,  ///< these two need LAPACK
    SN_METHOD_QR,
    SN_METHOD_BFGS,
    SN_METHOD_LBFGS,
    SN_METHOD_NCG,
    SN_METHOD_PROJECTED_GRADIENT,
    SN_METHOD_JACOBIAN_TRANSPOSE,
    SN_METHOD_CCD,
    SN_METHOD_SDLS,  ///< needs LAPACK
    SN_METHOD_COUNT
} sn_method;

/// How a solve ended. Not converging is an answer, not an error: the best pose is returned anyway.
#define SN_STOP_LIST(ENTRY)                                                                        \
    ENTRY(SN_STOP_GOAL, "goal met")                                                                \
    ENTRY(SN_STOP_MINIMUM, "stationary minimum")                                                   \
    ENTRY(SN_STOP_SADDLE, "stationary, but a saddle could not be left")                            \
    ENTRY(SN_STOP_STALLED, "stalled")                                                              \
    ENTRY(SN_STOP_ITERATIONS, "iteration limit")                                                   \
    ENTRY(SN_STOP_TIME, "time limit")                                                              \
    ENTRY(SN_STOP_CANCELLED, "cancelled")                                                          \
    ENTRY(SN_STOP_BAD_GOALS, "bad numbers in goals")                                               \
    ENTRY(SN_STOP_BAD_START, "bad numbers in the start pose")

/// See SN_STOP_LIST.
typedef enum sn_stop {
#define SN_STOP_ENTRY(code, text) code,
    SN_STOP_LIST(SN_STOP_ENTRY)
#undef SN_STOP_ENTRY
        SN_STOP_COUNT
} sn_stop;

/// One iteration, for those who watch.
typedef struct sn_trace {
    int iteration;    ///< from 1
    double f;         ///< after the iteration
    double gradient;  ///< relative projected gradient at the pose it started from
    double step;      ///< length of the step that was tried, metres and radians together
    double damping;   ///< lambda, or the step length of a line search; 0 when there is none
    double ratio;     ///< actual over predicted decrease; NAN when there is no prediction
    int active;       ///< degrees of freedom held at a limit
    bool exact;       ///< the exact Hessian was used
    bool indefinite;  ///< ... and had a negative pivot before damping
    bool taken;       ///< f fell and the step was taken
    int level;        ///< whose f, gradient and ratio these are; 0 where all tasks have one level
} sn_trace;

/// Which turn of an angle is returned: angles of hinges, and those of universal, euler, planar and
/// swing-twist joints that are angles about an axis, go round where their range is a whole turn or more.
typedef enum sn_turns {
    SN_TURNS_NEAREST,   ///< the default: as near to the start as the limits allow
    SN_TURNS_PRINCIPAL  ///< without limits in (-pi, pi]; else the same
} sn_turns;

/// Start from sn_solver_options_default(), then change what you need.
typedef struct sn_solver_options {
    uint32_t version;    ///< set by the default function, checked on create
    sn_method method;    ///< default SN_METHOD_HYBRID
    int max_iterations;  ///< default 200
    double goal;  ///< stop when f is at or below; default -1: 1e-26 of what f would be with every
                  ///< error as large as the figure, so that units and weights do not matter
    double gradient;   ///< stop when the relative projected gradient is below, default 1e-9
    double seconds;    ///< time budget of a solve, default 0: none
    sn_cancel cancel;  ///< asked once an iteration
    void (*trace)(void *user, const sn_trace *trace);  ///< called once an iteration; may be NULL
    void *trace_user;
    sn_turns turns;  ///< default SN_TURNS_NEAREST
    /// Default true: sn_solver_solve_cold() looks from several poses side by side, in the lanes of the processor's
    /// registers; their memory is made with the solver. False for those who make many solvers.
    bool lanes;

    // What only some methods use. The papers behind them are in docs/papers.md: "exact Hessians" is Erleben
    // and Andrews 2018, "line search" Engell-Norregard and Erleben 2011, "Jacobian" Rabbani 2017.
    double damping;  ///< dls: lambda, default 0.1 ("Jacobian": below 1)
    double step;  ///< jacobian-transpose: "line search" has the fixed step 0.005; 0 for Buss's step
    double alpha, beta;    ///< projected-gradient: Armijo constants of "line search"
    int memory;            ///< lbfgs: pairs kept, default 10
    int bandwidth;         ///< newton-pcg: of the preconditioner, 0 to 24, default 5
    double pcg_tolerance;  ///< newton-pcg: default 0.1
    bool nearest_psd;      ///< newton-pcg: use the nearest positive semidefinite matrix (Higham)
    bool pcg_constant;     ///< newton-pcg: keep to pcg_tolerance near the solution too, as
                           ///< "exact Hessians" does
} sn_solver_options;

/// What became of one level.
typedef struct sn_level_report {
    int level;  ///< its number
    double f;   ///< of its tasks, at the returned pose
    double
        gradient;  ///< relative, along what the levels above it leave free; NAN where its goals are met
    double worst_error;  ///< largest sn_workspace_task_error() of its active tasks
} sn_level_report;

/// How a solve went.
typedef struct sn_report {
    sn_stop stop;        ///< how it ended
    double f;            ///< at the returned pose, of all tasks
    double gradient;     ///< relative projected gradient there, see docs/solvers.md; NAN where the
                         ///< goal was met and it was not computed, or a loop stayed open; with
                         ///< levels, the last one's
    double worst_error;  ///< largest sn_workspace_task_error() of the active tasks
    double mean_error;   ///< and their mean
    int iterations;      ///< of all runs of the solve
    int functions;       ///< evaluations of f alone
    int gradients;       ///< of f and gradient
    int hessians;        ///< of f, gradient and a Hessian, exact or Gauss-Newton
    int poses;  ///< poses that were evaluated: f and its derivatives at one pose count once
    int factorizations;  ///< of a matrix, with those that failed
    int active;          ///< degrees of freedom at a limit that the gradient pushes against
    double
        violation;  ///< by how much the returned pose misses what the model demands: loops (metres
                    ///< and radians), limits of a coordinate that follows several others; and what
                    ///< must not happen: sn_workspace_violations() has it one by one
    int nlevel;     ///< how many levels the active tasks have
    sn_level_report level[SN_MAX_LEVELS];  ///< nlevel of them, the first comes first
} sn_report;

/// How a solve ended in a few words; never NULL.
SN_API const char *sn_stop_text(sn_stop stop);

/// The name of a method as the command line has it, and back (SN_METHOD_COUNT when unknown).
SN_API const char *sn_method_name(sn_method method);
SN_API sn_method sn_method_find(const char *name);
/// False when this build leaves the method out (no LAPACK).
SN_API bool sn_method_available(sn_method method);

/// The defaults that sn_solver_options states.
SN_API sn_solver_options sn_solver_options_default(void);

/// Build a solver for one problem. All allocation happens here.
/// @param problem    must outlive the solver; goals may change between solves
/// @param options    NULL for the defaults
/// @param allocator  NULL for malloc and free
/// @param out        NULL on failure; free with sn_solver_destroy()
SN_API sn_status sn_solver_create(const sn_problem *problem, const sn_solver_options *options,
                                  const sn_allocator *allocator, sn_solver **out, sn_error *error);
SN_API void sn_solver_destroy(sn_solver *solver);

/// From the pose in q (moved into its limits first) to a better one in q. The result is inside the
/// limits, locked joints have not moved, and f is never above that of the start so moved. Where something happens that
/// must not, at the start and still at the end, other starts are tried with the iterations that are left.
/// SN_ERR_VALUE when q is not a finite pose; q is then unchanged. Allocates nothing.
SN_API sn_status sn_solver_solve(sn_solver *solver, double *q, sn_report *report);

/// The same from a pose that says little about where the solution is, such as the zero pose: a root
/// that can turn is first brought to the goals as a rigid figure; after the solve other valleys of f
/// are looked for by rolling every link over and solving again, until none is lower (see
/// docs/solvers.md). The iteration limit holds for each of these runs, time budget and cancel flag
/// for all together; the report counts all of them. Takes some ten times as long; by the square of the
/// number of links. Runs go side by side in lanes and end where they would one after the other, to rounding; not with a
/// trace or a time budget, and not where the method or the tasks are not for lanes (sn_batch_note() of a batch of the
/// same says why).
SN_API sn_status sn_solver_solve_cold(sn_solver *solver, double *q, sn_report *report);

/// The solver's workspace, placed at the pose of the last solve.
SN_API sn_workspace *sn_solver_workspace(sn_solver *solver);

#ifdef __cplusplus
}
#endif
