// SPDX-License-Identifier: MIT
// A take as one problem, from the inside. Everything per degree of freedom is in sweep order; steps u are
// in the sweeps' measure, q (+) (gain o u). A vector over the take has nframe x nv numbers, frame after
// frame.
#pragma once

#include <stdatomic.h>

#include "model/model.h"
#include "sinew/smooth.h"
#include "sweeps/workspace.h"

enum {
    SMOOTH_MAX_THREADS = 256,
    SMOOTH_SUMS = 4  ///< numbers that a pass can add up
};

/// What one thread works with.
typedef struct smooth_worker {
    sn_problem *problem;
    sn_workspace *ws;
    double *delta[4];  ///< nv, file order: differences of neighbouring poses; other scratch
    double *x, *y;     ///< nv
} smooth_worker;

struct sn_smoother {
    sn_allocator allocator;
    void *owner;
    const sn_model *model;
    sn_smooth_options options;
    int nv, nq;
    smooth_worker *workers;
    int *q_of;              ///< nv: the coordinate of a degree of freedom, -1 inside a quaternion
    double *lower, *upper;  ///< nv
    double *gain;           ///< nv
    bool *movable;          ///< nv: gain is not 0
    double *seen;           ///< nv: D times gain^2
    double *weight;         ///< nv, file order: D (tau rate)^4, 0 where locked
    double *stiff;          ///< nv: the same times gain^2

    // of the present run
    int nframe;
    sn_track_goals goals;
    void *user;
    double *q;            ///< the caller's
    double *g, *x, *r;    ///< gradient, step, residual of the step's equations
    double *z;            ///< their product with the Hessian, or the preconditioned residual
    double *p;            ///< search direction; nq numbers a frame, then also the trial poses
    float *pivot, *next;  ///< preconditioner: 1/d and l1 of L D L^T, for every degree of freedom
    unsigned char *open;  ///< which take part in the Newton step
    double *sums;         ///< of every chunk of a pass
    double *lambda;       ///< nframe: damping, a share of D
    double *lambda_next;  ///< nframe: what the last trial asks for
    bool *exact;          ///< nframe: the exact block, positive definite, is used
    double forcing;       ///< how well the step is to be solved
    bool weighed;         ///< D is known
    int failures;         ///< steps in a row that did not help
    double t;             ///< length along the step, for the pass that moves
    double alpha, beta;   ///< of the conjugate gradients
    sn_smooth_report report;
};

/// Work on the items first ... end - 1 and add to sums.
typedef sn_status (*smooth_pass)(sn_smoother *s, smooth_worker *w, int first, int end,
                                 double sums[SMOOTH_SUMS]);

/// smooth_pass.c: run a pass over nitem items in chunks of `size`, on all threads. The sums are those of the
/// chunks added in their order, the same for any number of threads.
sn_status smooth_for_all(sn_smoother *s, smooth_pass pass, int nitem, int size,
                         double sums[SMOOTH_SUMS]);
size_t smooth_most_chunks(int nframe, int nv);

enum {
    SMOOTH_FRAMES = 64,  ///< frames in a chunk
    SMOOTH_DOFS = 8      ///< degrees of freedom in a chunk: a cache line of a frame
};

static inline size_t smooth_at(const sn_smoother *s, int frame) {
    return (size_t)frame * (size_t)s->nv;
}
static inline const double *smooth_pose(const sn_smoother *s, const double *q, int frame) {
    return q + (size_t)frame * (size_t)s->nq;
}

/// smooth_terms.c: 1/2 sum D (tau rate)^4 a^2 of the acceleration at one frame of the poses q.
double smooth_energy(const sn_smoother *s, smooth_worker *w, const double *q, int frame);
/// Add the gradient of all accelerations with respect to one frame.
void smooth_gradient_add(const sn_smoother *s, smooth_worker *w, const double *q, int frame, double *g);
/// y += second derivatives of all accelerations times x, at one frame; x a vector over the take.
void smooth_coupling_add(const sn_smoother *s, const double *x, int frame, double *y);
/// x^T times those of the acceleration at one frame times x.
double smooth_stretch(const sn_smoother *s, const double *x, int frame);
/// The diagonal of those second derivatives at a frame, and the two bands behind it, over s->stiff.
void smooth_bands(int frame, int nframe, double band[3]);

/// smooth_step.c: solve for the step into s->x; gives the fall of F that the quadratic promises.
sn_status smooth_step(sn_smoother *s, double *promise);
