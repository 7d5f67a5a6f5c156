// SPDX-License-Identifier: MIT
// What the Python package needs beside the library's public interface: bytes from a writer, calls that
// can be stopped and watched, and loops over arrays that must not run in Python.
#pragma once

#include "sinew/sinew.h"

// --- bytes from a writer ---------------------------------------------------------------------------

/// What a writer sent. Zeroed: nothing yet.
typedef struct snpy_bytes {
    char *data;
    size_t length, room;
} snpy_bytes;

/// A sink that gathers into `bytes`.
sn_sink snpy_bytes_sink(snpy_bytes *bytes);
void snpy_bytes_free(snpy_bytes *bytes);

// --- calls that take long --------------------------------------------------------------------------

/// A call on its way: asked to stop from Python, and how far it is.
typedef struct snpy_run snpy_run;

snpy_run *snpy_run_create(void);
void snpy_run_destroy(snpy_run *run);
/// Ask it to stop; `stop` false makes it ready for the next call.
void snpy_run_stop(snpy_run *run, bool stop);
bool snpy_run_stopped(snpy_run *run);
/// How far it is: the stage (-1: none yet), frames done and in all, the share of the stage, the error of
/// the latest frame in metres.
void snpy_run_state(snpy_run *run, double out[5]);

/// Of a call that another thread of Python waits for.
sn_cancel snpy_run_cancel(snpy_run *run);
/// Of a call that Python makes itself: every 20 ms it looks whether Ctrl-C was pressed.
sn_cancel snpy_run_cancel_here(snpy_run *run);
void snpy_watch_take(snpy_run *run, sn_take_options *options);
void snpy_watch_track(snpy_run *run, sn_track_options *options);
void snpy_watch_smooth(snpy_run *run, sn_smooth_options *options);

/// The HTML report of a finished take, as `sinew fit --report` writes it.
/// @param truth  NULL: no motion is known
sn_status snpy_take_report(const sn_take *take, const sn_recording *recording,
                           const sn_take_options *options, const char *model_name,
                           const char *input_name, const char *player, const char *note,
                           const sn_take_truth *truth, snpy_bytes *out);

/// A picture of a pose as SVG, as `sinew solve --svg` draws it: limbs, shapes and the goals of the problem's tasks.
/// @param workspace  of the problem, placed at the pose
sn_status snpy_picture(const sn_model *model, const sn_problem *problem,
                       const sn_workspace *workspace, int up, double up_sign, snpy_bytes *out);

/// What a take maps into its model's world: frames x markers x 3 numbers, NaN where a sample is missing.
void snpy_take_measured(const sn_take *take, double *out);

// --- LAPACK ----------------------------------------------------------------------------------------

/// The functions that some methods call.
enum {
    SNPY_LAPACK_DSYEVD,
    SNPY_LAPACK_DGELSD,
    SNPY_LAPACK_DGELSY,
    SNPY_LAPACK_DGESDD,
    SNPY_LAPACK_COUNT
};
/// Hand one of them over: Fortran's, with ints.
void snpy_lapack_set(int which, uintptr_t address);

// --- goals of a clip -------------------------------------------------------------------------------

/// Whose goals are where: those of frame k at `data` + k * `stride` bytes, one number every `step` bytes.
typedef struct snpy_goal {
    int task;       ///< of the problem
    bool place;     ///< three numbers
    bool rotation;  ///< four numbers w x y z, behind the place where there is one
    const char *data;
    ptrdiff_t stride, step;
} snpy_goal;

/// Goals of all frames, where their arrays are; NaN: missing.
typedef struct snpy_goals {
    const snpy_goal *goal;
    int ngoal;
    snpy_run *run;  ///< when it is stopped no frame begins
} snpy_goals;

sn_status snpy_tracker_run(sn_tracker *tracker, int nframe, snpy_goals *goals, const double *start,
                           double *q, sn_track_frame *frames);
sn_status snpy_smoother_run(sn_smoother *smoother, int nframe, snpy_goals *goals, double *q,
                            sn_smooth_report *report);

// --- loops -----------------------------------------------------------------------------------------

/// Iterations of a solve, gathered.
typedef struct snpy_traces {
    sn_trace *data;
    int count, room;
} snpy_traces;

void snpy_watch_solver(snpy_traces *traces, sn_solver_options *options);
void snpy_traces_free(snpy_traces *traces);

/// One solve from q0, nq numbers as bytes, to q. -1 when it was stopped, else the status.
int snpy_solver_solve(sn_solver *solver, const void *q0, int nq, double *q, sn_report *report);
/// sn_problem_set_goal().
sn_status snpy_set_goal(sn_problem *problem, int task, double x, double y, double z);

/// n solves, each from its row of q to it. Stops at the first that fails.
sn_status snpy_solver_many(sn_solver *solver, int n, int nq, bool cold, double *q,
                           sn_report *reports);

/// f (n), and where they are not NULL g (n x nv) and H (n x nv x nv), at n poses. `what` as sn_workspace_eval() has it.
sn_status snpy_evaluate(sn_workspace *workspace, int n, int nq, int nv, const double *q,
                        unsigned what, double *f, double *g, double *H);
/// The Hessian at a pose by its entries, on both sides of the diagonal: how many, -1 where tasks couple branches.
/// Arrays of 2 `room` numbers; with NULL it only counts, without the mirror images.
long snpy_sparse(sn_workspace *workspace, size_t room, int *rows, int *columns, double *values);
/// sn_workspace_task_error() of all tasks at n poses: n x ntask.
sn_status snpy_errors(sn_workspace *workspace, int n, int nq, const double *q, int ntask,
                      double *out);

/// Frames of joints at n poses: n x njoint x 16 numbers, 4 x 4 matrices row by row.
sn_status snpy_frames(sn_workspace *workspace, int n, int nq, const double *q, int njoint,
                      const int *joints, double *out);
/// Points fixed to joints at n poses: n x npoint x 3 numbers.
sn_status snpy_points(sn_workspace *workspace, int n, int nq, const double *q, int npoint,
                      const int *joints, const double *local, double *out);
/// Which axes and which point the rows of snpy_jacobians() are about.
enum {
    SNPY_JACOBIAN_WORLD,   ///< the point's velocity and the angular velocity, in the world's axes
    SNPY_JACOBIAN_BODY,    ///< the same in the joint's axes
    SNPY_JACOBIAN_SPATIAL  ///< the world's axes, about the world's origin
};
/// At n poses, 6 x nv numbers each, row by row: linear, then angular. `work` has 6 nv numbers.
sn_status snpy_jacobians(sn_workspace *workspace, int n, int nq, const double *q, int joint,
                         const double local[3], int kind, int nv, double *work, double *out);

/// One goal of an arm, without a seed: its seven numbers as bytes. 1 reached, 0 not, else minus the status.
int snpy_arm_solve(sn_arm *arm, const void *goal, double *q);
/// The tool of an arm at n poses.
void snpy_arm_tool(const sn_arm *arm, int count, int n, const double *q, double *tool);
void snpy_arm_to_pose(const sn_arm *arm, int count, int n, int nq, const double *q, double *pose);
void snpy_arm_from_pose(const sn_arm *arm, int count, int n, int nq, const double *pose, double *q);
void snpy_arm_manipulability(const sn_arm *arm, int count, int n, const double *q, double *w,
                             double *gradient);

void snpy_model_integrate(const sn_model *model, int n, const double *q, const double *delta,
                          double *out);
void snpy_model_difference(const sn_model *model, int n, const double *q0, const double *q1,
                           double *delta);
void snpy_model_sample(const sn_model *model, int n, uint64_t *state, double *q);
void snpy_model_normalize(const sn_model *model, int n, double *q);
int snpy_model_clamp(const sn_model *model, int n, double *q);

/// n 4 x 4 matrices, row by row, as goals of seven numbers.
void snpy_goals_from_matrices(int n, const double *matrices, double *goals);
/// The other way.
void snpy_matrices_from_goals(int n, const double *goals, double *matrices);
