// SPDX-License-Identifier: MIT
// Many problems at once: the same tasks with other goals, thousands or millions of times. Several problems
// are solved side by side in the lanes of a processor's registers, or one by each thread of a device that
// speaks OpenCL. A row of goals gives the same pose whatever its neighbours are, however many lanes and
// threads there are (docs/batch.md).
#pragma once

#include "sinew/solver.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Where problems are solved.
typedef enum sn_device {
    SN_DEVICE_AUTO,  ///< a GPU that speaks OpenCL where there is one and it pays, else the processor
    SN_DEVICE_CPU,   ///< this processor
    SN_DEVICE_OPENCL,  ///< the first OpenCL device; where there is none, this processor, with a note
    SN_DEVICE_COUNT
} sn_device;

/// Numbers on a device; the processor always has doubles.
typedef enum sn_precision {
    SN_PRECISION_DOUBLE,  ///< doubles all the way
    SN_PRECISION_MIXED,   ///< floats first, then doubles until the result is verified
    SN_PRECISION_COUNT
} sn_precision;

/// Where a frame of a chain starts.
typedef enum sn_batch_start {
    SN_BATCH_EXTRAPOLATED,  ///< where the motion of the last two frames goes on
    SN_BATCH_PREVIOUS,      ///< at the previous frame's pose
    SN_BATCH_START_COUNT
} sn_batch_start;

/// Start from sn_batch_options_default().
typedef struct sn_batch_options {
    uint32_t version;        ///< set by the default function, checked on create
    sn_device device;        ///< default SN_DEVICE_AUTO
    sn_precision precision;  ///< default SN_PRECISION_DOUBLE
    sn_solver_options
        solver;  ///< method (hybrid, newton or lm in lanes), tolerances, iteration limit,
                 ///< cancel; no trace and no time budget
    int seeds;   ///< further starts, inside the limits, for a row that ends above `good`; default 0
    double good;           ///< f at or below which a row needs no other start; default 0
    sn_batch_start start;  ///< of the frames of a chain; default extrapolated
    double
        rest;  ///< weight of a pull of each frame of a chain but the first towards the pose before it,
               ///< against the Gauss-Newton diagonal, as in sn_track_options; it counts in f;
               ///< default 0
    double
        jump;  ///< a frame of a chain that begins with an f more than so many times what is usual there is solved
    ///< with the exact Hessian alone (hybrid in lanes), which finds out of a valley that is wrong
    ///< now; default 0: none is
    bool locals;  ///< rows bring the local points of their tasks with them; default false
    int lanes;  ///< 1, 2, 4 or 8 at the most; default 0: as many as this machine has registers for
    int threads;         ///< default 1
    sn_threads pool;     ///< threads to use for it; default sinew's own
    int device_threads;  ///< of a device at a time; default 0: 512 for each of its compute units
} sn_batch_options;

/// How a row went.
typedef struct sn_batch_report {
    sn_stop stop;     ///< how it ended
    double f;         ///< at the returned pose
    double gradient;  ///< relative projected gradient there; NAN where the goal was met
    int iterations;   ///< of all its starts
    int seed;         ///< the start that was kept: 0 the one that was given
    bool plain;       ///< the plain solver had a part in it: see sn_batch_note()
} sn_batch_report;

/// What a batch did since it was made.
typedef struct sn_batch_counts {
    int64_t rows;        ///< solved
    int64_t plain;       ///< of these, with the plain solver's help
    int64_t device;      ///< of these, on a device
    int64_t iterations;  ///< of all rows
    int64_t trips;       ///< of all lanes together
    int64_t lane_trips;  ///< of lanes that had work in them
    double waited;       ///< seconds that a device was waited for
} sn_batch_counts;

/// A device that speaks OpenCL.
typedef struct sn_device_info {
    char name[128];     ///< as the driver has it
    char vendor[128];   ///< who made it
    char version[160];  ///< of OpenCL, and the driver's own words
    int units;          ///< compute units
    uint64_t memory;    ///< bytes
    bool doubles;       ///< it has double precision
    bool gpu;           ///< a GPU, no processor
} sn_device_info;

/// Owns all that many solves need; one per thread.
typedef struct sn_batch sn_batch;

/// The defaults that sn_batch_options states.
SN_API sn_batch_options sn_batch_options_default(void);

/// All memory for solving a problem's tasks many times.
/// @param problem  copied as it is: locks, limits, weights, switched-off tasks; its model must outlive this
/// @param out      NULL on failure; free with sn_batch_destroy()
SN_API sn_status sn_batch_create(const sn_problem *problem, const sn_batch_options *options,
                                 const sn_allocator *allocator, sn_batch **out, sn_error *error);
SN_API void sn_batch_destroy(sn_batch *batch);

/// How many numbers a row of goals has, and where those of a task begin (-1: it has none): point, plane,
/// line, relative, centre of mass, direction 3; look-at 3 (local2); orientation 4 (w x y z); pose 7;
/// frame2 9 (place, i, j); distance 1. With `locals` three numbers of the local point follow the place of
/// points, planes, poses and frame2. NaN: the goal is missing.
SN_API int sn_batch_ngoal(const sn_batch *batch);
SN_API int sn_batch_goal_at(const sn_batch *batch, int task);

/// How many problems are solved side by side on a thread of this processor; 1: the plain solver solves all.
SN_API int sn_batch_lanes(const sn_batch *batch);
/// Where rows are solved, and why not elsewhere: one line; never NULL.
SN_API const char *sn_batch_note(const sn_batch *batch);
/// What it did since it was made.
SN_API sn_batch_counts sn_batch_count(const sn_batch *batch);

/// Solve n rows, each on its own.
/// @param goals    n x sn_batch_ngoal() numbers
/// @param starts   n x nq poses; NULL: the zero pose for all
/// @param poses    n x nq, filled; may be `starts`
/// @param reports  n entries, or NULL
/// A row with goals or a start that are not finite ends with SN_STOP_BAD_GOALS or SN_STOP_BAD_START and
/// returns its start. SN_ERR_MEMORY where a plain solver was needed and there was no memory for it.
SN_API sn_status sn_batch_solve(sn_batch *batch, int n, const double *goals, const double *starts,
                                double *poses, sn_batch_report *reports);

/// Solve chains of frames, each frame from the ones before it in its chain.
/// @param goals    nchain x nframe rows
/// @param starts   nchain x nq: where each chain begins
/// @param poses    nchain x nframe x nq, filled
/// @param reports  nchain x nframe entries, or NULL
SN_API sn_status sn_batch_track(sn_batch *batch, int nchain, int nframe, const double *goals,
                                const double *starts, double *poses, sn_batch_report *reports);

/// The same in two steps, so that a device can work while the caller prepares the next rows: submit hands
/// over chains (rows: nframe 1) and returns, wait ends the oldest of at most two. All arrays must stay
/// until then. On the processor the work is done in wait. SN_ERR_ARGUMENT when two are waiting already, or
/// none.
SN_API sn_status sn_batch_submit(sn_batch *batch, int nchain, int nframe, const double *goals,
                                 const double *starts, double *poses, sn_batch_report *reports);
SN_API sn_status sn_batch_wait(sn_batch *batch);

/// Memory that a device copies from and to at full speed, for goals, starts, poses; without a device plain
/// memory. NULL when there is none; given back by sn_batch_destroy(). Not during a job.
SN_API void *sn_batch_room(sn_batch *batch, size_t bytes);

/// The devices that speak OpenCL, as many as there are up to `most`; returns how many there are. 0 also
/// where there is no OpenCL library.
SN_API int sn_batch_devices(sn_device_info *out, int most);

#ifdef __cplusplus
}
#endif
