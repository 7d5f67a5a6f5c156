// SPDX-License-Identifier: MIT
// A take as one problem, from the inside. Everything per degree of freedom is in sweep order; steps
// are in the sweeps' measure u, q (+) (gain o u). A vector over the take has nframe x nv numbers,
// frame after frame.
#pragma once

#include "model/model.h"
#include "sinew/track.h"
#include "sweeps/workspace.h"

enum {
    SMOOTH_FRAMES = 64,  ///< frames in a chunk of a pass
    SMOOTH_SUMS = 2      ///< numbers that a pass adds up
};

/// What one thread works with.
typedef struct smooth_worker {
    sn_problem *problem;
    sn_workspace *ws;
    double *delta[4];  ///< nv, file order: differences of neighbouring poses
    double *x, *y;     ///< nv
} smooth_worker;

struct sn_smoother {
    sn_allocator allocator;
    void *owner;
    const sn_model *model;
    sn_smooth_options options;
    int nv, nq;
    double fourth;  ///< (tau rate)^4
    smooth_worker *workers;
    int *q_of;              ///< nv: the coordinate of a degree of freedom, -1 inside a quaternion
    bool *movable;          ///< nv: its gain is not 0
    double *lower, *upper;  ///< nv
    double *gain;           ///< nv
    double *seen;           ///< nv: D gain^2
    double *stiff;          ///< nv: D gain^2 (tau rate)^4
    double *added;          ///< nv: the same, 0 inside a quaternion
    double *weight;         ///< nv, file order: D (tau rate)^4, 0 where locked

    // of the present run
    int nframe;
    sn_track_goals goals;
    void *user;
    double *q;              ///< the caller's
    double *g, *x, *r;      ///< gradient, step, residual of the step's equations
    double *z;              ///< their product with the Hessian, or the preconditioned residual
    double *p;              ///< search direction; with nq numbers a frame, also the trial poses
    double *y;              ///< slow part of the preconditioned residual
    float *pivot, *next;    ///< of the preconditioner: 1/d and l1 of L D L^T, for every z
    double *low[2];         ///< nframe: the same of the low pass
    double *lambda;         ///< nframe: damping, a share of D
    double *lambda_next;    ///< nframe: what the last trial asks for
    bool *exact;            ///< nframe: the exact block is used, not Gauss-Newton's
    bool *open;             ///< nframe x nv: what takes part in the Newton step
    double *sums;           ///< of every chunk of a pass
    double forcing;         ///< how well a step is to be solved: see smooth_step.c
    bool weighed;           ///< D is known
    bool hasty;             ///< see sn_smoother_hasten()
    bool stored;            ///< the blocks are kept: `rows` holds something
    double *rows;           ///< nframe x path.size: the blocks
    double *factored;       ///< the same of B, see smooth_slow.c
    double t, alpha, beta;  ///< along the step; of the conjugate gradients
    sn_smooth_report report;
};

static inline size_t smooth_at(const sn_smoother *s, int frame) {
    return (size_t)frame * (size_t)s->nv;
}
static inline const double *smooth_pose(const sn_smoother *s, const double *q, int frame) {
    return q + (size_t)frame * (size_t)s->nq;
}
static inline bool smooth_cancelled(const sn_smoother *s) {
    return sn_cancelled(s->options.cancel);
}

/// For poses that are near the solution already, as those of a fit are: little damping at first, one idle step is
/// enough, and the blocks of a run of some hundred frames are kept instead of evaluated for every product. How stiff
/// each degree of freedom is comes from the whole take, given here; runs may then be parts of it.
sn_status sn_smoother_hasten(sn_smoother *s, int nframe, sn_track_goals goals, void *user,
                             const double *q);

static inline double *smooth_rows(const sn_smoother *s, double *rows, int frame) {
    return rows + (size_t)frame * s->model->path.size;
}

/// Work on the items first ... end - 1 and add to sums.
typedef sn_status (*smooth_pass)(sn_smoother *s, smooth_worker *w, int first, int end,
                                 double *sums);

/// smooth_pass.c: a pass over the frames on all threads. The sums of its chunks are added in their
/// order, so they are the same for any number of threads.
sn_status sn_smooth_frames(sn_smoother *s, smooth_pass pass, double sums[SMOOTH_SUMS]);
/// A pass over the degrees of freedom, each through all frames. It adds nothing up.
sn_status sn_smooth_dofs(sn_smoother *s, smooth_pass pass);
/// How many chunks there can be.
size_t sn_smooth_chunks(const sn_smoother *s, int nframe);

/// smooth_terms.c: the penalty's part at one frame of the poses q.
double sn_smooth_energy(const sn_smoother *s, smooth_worker *w, const double *q, int frame);
/// Add the gradient of the whole penalty with respect to one frame.
void sn_smooth_gradient_add(const sn_smoother *s, smooth_worker *w, const double *q, int frame,
                            double *g);
/// Rows k, k+1, k+2 of column k of the squared second difference.
void sn_smooth_bands(int k, int nframe, double band[3]);
/// y += T x at one frame, T being the second derivatives of the penalty and x over the take.
void sn_smooth_coupling_add(const sn_smoother *s, const double *x, int frame, double *y);
/// How much more the turning at one frame of the trial poses costs than T and the gradient
/// foretold.
double sn_smooth_turn_excess(const sn_smoother *s, int frame);
/// The part of x^T T x that the acceleration at one frame has.
double sn_smooth_stretch(const sn_smoother *s, const double *x, int frame);

/// smooth_frames.c, passes. The block that the step uses is evaluated by this, and nothing else.
sn_status sn_smooth_block(sn_smoother *s, smooth_worker *w, int frame, double *f);
/// Gradient into g, diagonal of the blocks into z, what is open, and into x how far the others go.
sn_status sn_smooth_evaluate(sn_smoother *s, smooth_worker *w, int first, int end, double *sums);
/// Close what the step carries past a limit and let it go just there; sums[0] is how many.
sn_status sn_smooth_hold(sn_smoother *s, smooth_worker *w, int first, int end, double *sums);
/// The trial poses, t along the step and inside the limits; sums[0] is g times how far they moved.
sn_status sn_smooth_move(sn_smoother *s, smooth_worker *w, int first, int end, double *sums);
/// F at the trial poses, its two parts the sums.
sn_status sn_smooth_value(sn_smoother *s, smooth_worker *w, int first, int end, double *sums);
/// The same, and the damping that follows from how the step went.
sn_status sn_smooth_try(sn_smoother *s, smooth_worker *w, int first, int end, double *sums);

/// smooth_slow.c: z += F B^-1 F r, see there.
sn_status sn_smooth_slow_begin(sn_smoother *s);
sn_status sn_smooth_slow_add(sn_smoother *s);

/// smooth_step.c: the step, into x, and the fall of F that its quadratic promises.
sn_status sn_smooth_step(sn_smoother *s, double *promise);
