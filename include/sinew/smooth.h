// SPDX-License-Identifier: MIT
// Smooth takes: all poses of a take as one problem, with a penalty on joint acceleration.
//
//   F(q_0 ... q_{N-1}) = sum_k f_k(q_k) + 1/2 sum_k sum_i D_i tau^4 a_{k,i}^2
//   a_k = rate^2 (d_k - d_{k-1}),  d_k = q_{k+1} (-) q_k
//
// D_i is how well the goals see degree of freedom i: the mean over the take of the Gauss-Newton
// diagonal at the poses given. Because of it tau is a time, the same for every joint whatever its
// lever: motion slower than about 1 / (2 pi tau) Hz stays, faster motion is taken for noise. What
// the goals do not see in some frames - hidden markers - is bridged from the frames around.
#pragma once

#include "sinew/track.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Start from sn_smooth_options_default() and set tau and rate.
typedef struct sn_smooth_options {
    uint32_t version;
    double tau;                   ///< seconds, at most 100 frames; 0, the default: no smoothing
    double rate;                  ///< frames per second, above 0
    int max_iterations;           ///< Newton steps, default 30
    double tolerance;             ///< stop when two steps each lower F by less of it, 3e-3
    int threads;                  ///< default 1; the result has the same bits for any number
    sn_cancel cancel;  ///< asked before every product
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

typedef struct sn_smoother sn_smoother;

SN_API sn_smooth_options sn_smooth_options_default(void);

/// @param problem  the tasks, copied; its model must outlive this
/// @param out      NULL on failure; free with sn_smoother_destroy()
SN_API sn_status sn_smoother_create(const sn_problem *problem, const sn_smooth_options *options,
                                    const sn_allocator *allocator, sn_smoother **out);
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
