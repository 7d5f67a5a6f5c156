// SPDX-License-Identifier: MIT
// Whole clips: one pose per frame, each frame started from the last.
//
// A frame starts from the previous pose, or from the extrapolated one where f is lower there; a weak
// rest task towards the previous pose keeps what the goals do not see from drifting. A frame that ends
// far worse than the one before is tried again from other poses. Long clips are cut into chunks whose
// first frames are solved one after the other and the rest in parallel: the result does not depend on
// the number of threads.
#pragma once

#include "sinew/solver.h"

#ifdef __cplusplus
extern "C" {
#endif

/// How a frame went.
typedef struct sn_track_frame {
    sn_report report;   ///< of the try that was kept; counts include all tries
    bool extrapolated;  ///< it started from the extrapolated pose
    bool restarted;     ///< it ended far worse than its neighbour and was tried again
    int kept;           ///< which try was kept: 0 the first
} sn_track_frame;

/// Start from sn_track_options_default().
typedef struct sn_track_options {
    uint32_t version;
    sn_solver_options solver;  ///< its goal and iteration limit hold for every frame
    bool extrapolate;          ///< default true
    double rest;               ///< weight of the rest task against the Gauss-Newton diagonal, 3e-5
    int restarts;              ///< other poses to solve from, cold, default and at most 4; 0: none
    double worse;              ///< a frame this many times worse than usual is tried again, 10
    double good;               ///< f at or below which a frame is never tried again; default -1: the
                               ///< solver's goal, or errors of a ten-thousandth of the figure
    int restart_iterations;    ///< iteration limit of each run of a try, default 40
    int threads;               ///< default 1
    int chunk;                 ///< frames solved in a row, default 1024
    /// From the calling thread, with the frame it has just solved (NULL at the end). May be NULL.
    void (*progress)(void *user, int done, int nframe, const sn_track_frame *latest);
    void *progress_user;
} sn_track_options;

/// Set a problem's goals for a frame. Called from several threads, each with a problem of its own; the
/// problem's tasks are those of the one given to sn_tracker_create(). Anything but SN_OK ends the run.
typedef sn_status (*sn_track_goals)(void *user, int frame, sn_problem *problem);

typedef struct sn_tracker sn_tracker;

SN_API sn_track_options sn_track_options_default(void);

/// All memory for tracking with these tasks. @param problem is copied; its model must outlive this.
SN_API sn_status sn_tracker_create(const sn_problem *problem, const sn_track_options *options,
                                   const sn_allocator *allocator, sn_tracker **out);
SN_API void sn_tracker_destroy(sn_tracker *tracker);

/// Solve frames 0 ... nframe - 1.
/// @param start   the pose to start the first frame from, and one that other tries start from
/// @param q       nframe x nq numbers, filled
/// @param frames  nframe entries, or NULL
SN_API sn_status sn_tracker_run(sn_tracker *tracker, int nframe, sn_track_goals goals, void *user,
                                const double *start, double *q, sn_track_frame *frames);

/// The same some frames at a time: begin, then advance until all are solved. Poses have the same bits
/// however the frames are cut. What is given to begin must stay until then.
SN_API sn_status sn_tracker_begin(sn_tracker *tracker, int nframe, sn_track_goals goals, void *user,
                                  const double *start, double *q, sn_track_frame *frames);
/// @param count   frames to solve; -1, or more than are left: all that are left
/// @param solved  how many are solved now, from the first on
/// SN_ERR_ARGUMENT before sn_tracker_begin() has ended well.
SN_API sn_status sn_tracker_advance(sn_tracker *tracker, int count, int *solved);

#ifdef __cplusplus
}
#endif
