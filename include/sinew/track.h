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
    double good;             ///< f at or below which a frame is never tried again; default -1: the
                             ///< solver's goal, or errors of a ten-thousandth of the figure
    int restart_iterations;  ///< iteration limit of each run of a try, default 40
    int threads;             ///< default 1
    sn_threads pool;         ///< threads to use for it; default sinew's own
    int chunk;               ///< frames solved in a row, default 1024
    /// From the calling thread (with a pool, from one at a time), with the frame it has just solved (NULL at
    /// the end). May be NULL.
    void (*progress)(void *user, int done, int nframe, const sn_track_frame *latest);
    void *progress_user;
} sn_track_options;

/// Set a problem's goals for a frame. Called from several threads, each with a problem of its own; the
/// problem's tasks are those of the one given to sn_tracker_create(). Anything but SN_OK ends the run.
typedef sn_status (*sn_track_goals)(void *user, int frame, sn_problem *problem);

/// All that tracking needs. One per thread.
typedef struct sn_tracker sn_tracker;

/// The defaults that sn_track_options states.
SN_API sn_track_options sn_track_options_default(void);

/// All memory for tracking with these tasks. @param problem is copied; its model must outlive this.
SN_API sn_status sn_tracker_create(const sn_problem *problem, const sn_track_options *options,
                                   const sn_allocator *allocator, sn_tracker **out,
                                   sn_error *error);
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

// --- smooth takes ----------------------------------------------------------------------------------
//
// Smooth takes: all poses of a take as one problem, with a penalty on joint acceleration.
//
//   F(q_0 ... q_{N-1}) = sum_k f_k(q_k) + 1/2 sum_k sum_i D_i tau^4 a_{k,i}^2
//   a_k = rate^2 (d_k - d_{k-1}),  d_k = q_{k+1} (-) q_k
//
// D_i is how well the goals see degree of freedom i: the mean over the take of the Gauss-Newton
// diagonal at the poses given. Because of it tau is a time, the same for every joint whatever its
// lever: motion slower than about 1 / (2 pi tau) Hz stays, faster motion is taken for noise. What
// the goals do not see in some frames - hidden markers - is bridged from the frames around.

/// Start from sn_smooth_options_default() and set tau and rate.
typedef struct sn_smooth_options {
    uint32_t version;
    double tau;          ///< seconds, at most 100 frames; 0, the default: no smoothing
    double rate;         ///< frames per second, above 0
    int max_iterations;  ///< Newton steps, default 30
    double tolerance;    ///< stop when two steps each lower F by less of it, 3e-3
    int threads;         ///< default 1; the result has the same bits for any number
    sn_threads pool;     ///< threads to use for it; default sinew's own
    sn_cancel cancel;    ///< asked before every product
    /// From the calling thread, after every product: Newton steps and products with the Hessian so
    /// far, F now. May be NULL.
    void (*progress)(void *user, int iterations, int products, double objective);
    void *progress_user;
} sn_smooth_options;

/// How it went. Not converging is an answer, not an error.
typedef struct sn_smooth_report {
    sn_stop stop;              ///< minimum, stalled, iterations, cancelled; bad goals on failure
    double start;              ///< F of the poses given, moved into their limits
    double objective;          ///< F of the poses returned, never above
    double data, smoothness;   ///< its two parts
    double start_data;         ///< the goals' part of `start`
    int iterations, products;  ///< Newton steps; products with the Hessian inside them
} sn_smooth_report;

/// All that smoothing needs. One per thread.
typedef struct sn_smoother sn_smoother;

/// The defaults that sn_smooth_options states.
SN_API sn_smooth_options sn_smooth_options_default(void);

/// SN_ERR_UNSUPPORTED for a model with loops, which it cannot keep closed; coordinates that follow
/// others do.
/// @param problem  the tasks, copied; its model must outlive this
/// @param out      NULL on failure; free with sn_smoother_destroy()
SN_API sn_status sn_smoother_create(const sn_problem *problem, const sn_smooth_options *options,
                                    const sn_allocator *allocator, sn_smoother **out,
                                    sn_error *error);
SN_API void sn_smoother_destroy(sn_smoother *smoother);

/// From the poses in q to better ones in q: nframe x nq numbers, usually from sn_tracker_run(). The
/// result is inside the limits and locked degrees of freedom have not moved. `goals` is called many
/// times for a frame and must set the same goals each time. Angles without limits that jump by
/// whole turns are unwrapped first. Memory (about seven times q's) is taken for the run only.
/// SN_ERR_VALUE when a pose is not finite, q then being unchanged; what `goals` fails with is
/// passed on, q then holding the best poses so far.
SN_API sn_status sn_smoother_run(sn_smoother *smoother, int nframe, sn_track_goals goals,
                                 void *user, double *q, sn_smooth_report *report);

#ifdef __cplusplus
}
#endif
