// SPDX-License-Identifier: MIT
// Solvers: find the pose that best meets a problem's tasks.
#pragma once

#include "sinew/eval.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Owns all the memory one solve needs. One per thread.
typedef struct sn_solver sn_solver;

/// How a solve ended. Not converging is an answer, not an error: the best pose is returned anyway.
#define SN_STOP_LIST(ENTRY)                                                                        \
    ENTRY(SN_STOP_GOAL, "goal met")                                                                \
    ENTRY(SN_STOP_MINIMUM, "stationary minimum")                                                   \
    ENTRY(SN_STOP_SADDLE, "stationary, but a saddle could not be left")                            \
    ENTRY(SN_STOP_STALLED, "stalled")                                                              \
    ENTRY(SN_STOP_ITERATIONS, "iteration limit")

typedef enum sn_stop {
#define SN_STOP_ENTRY(code, text) code,
    SN_STOP_LIST(SN_STOP_ENTRY)
#undef SN_STOP_ENTRY
        SN_STOP_COUNT
} sn_stop;

/// One iteration, for those who watch.
typedef struct sn_trace {
    int iteration;
    double f;            ///< after the iteration
    double gradient;     ///< relative projected gradient, after it
    double step;         ///< length of the step that was tried
    double damping;      ///< lambda
    double ratio;        ///< actual over predicted decrease; the step is taken when above 1e-4
    int active;          ///< degrees of freedom held at a limit
    bool indefinite;     ///< the Hessian had a negative pivot before damping
} sn_trace;

/// Start from sn_solver_options_default(), then change what you need.
typedef struct sn_solver_options {
    uint32_t version;     ///< set by the default function, checked on create
    int max_iterations;   ///< default 200
    double goal;          ///< stop when f is at or below, default 1e-24
    double gradient;      ///< stop when the relative projected gradient is below, default 1e-9
    void (*trace)(void *user, const sn_trace *trace);  ///< called once an iteration; may be NULL
    void *trace_user;
} sn_solver_options;

typedef struct sn_report {
    sn_stop stop;
    double f;         ///< at the returned pose
    double gradient;  ///< largest |projected g_i| / sqrt(|H_ii| 2 f): 0 at a stationary pose
    int iterations;
    int evaluations;     ///< of f
    int hessians;        ///< of f, gradient and Hessian
    int factorizations;
} sn_report;

SN_API const char *sn_stop_text(sn_stop stop);
SN_API sn_solver_options sn_solver_options_default(void);

/// Build a solver for one problem. All allocation happens here, in one block.
/// @param problem    must outlive the solver; goals may change between solves
/// @param options    NULL for the defaults
/// @param allocator  NULL for malloc and free
/// @param out        NULL on failure; free with sn_solver_destroy()
SN_API sn_status sn_solver_create(const sn_problem *problem, const sn_solver_options *options,
                                  const sn_allocator *allocator, sn_solver **out);
SN_API void sn_solver_destroy(sn_solver *solver);

/// From the pose in q (moved into its limits first) to a better one in q. The result is inside the
/// limits, locked joints have not moved, and f is never above that of the start so moved.
/// SN_ERR_VALUE when q is not a finite pose; q is then unchanged. Allocates nothing.
SN_API sn_status sn_solver_solve(sn_solver *solver, double *q, sn_report *report);

/// The solver's workspace, placed at the pose of the last solve.
SN_API sn_workspace *sn_solver_workspace(sn_solver *solver);

#ifdef __cplusplus
}
#endif
