// SPDX-License-Identifier: MIT
// Calibration as an estimate: its memory, and what its files share. See estimate.c.
#pragma once

#include "take/fit.h"

/// A marker whose place is known worse than this says nothing before it was placed, metres.
#define SN_ESTIMATE_WELL_KNOWN 0.06

/// Deviation of the common size of people, of whom nothing is known.
#define SN_ESTIMATE_ANY_SIZE 0.10

/// Variance of a factor's logarithm beside the common size: segment, body, side and their axes.
#define SN_ESTIMATE_OWN_VARIANCE                                                                   \
    (0.06 * 0.06 + 0.08 * 0.08 + 0.02 * 0.02 + 0.04 * 0.04 + 0.005 * 0.005)

/// Frames are summed in so many parts, and these in their order: the number of threads changes no bit.
enum { SN_ESTIMATE_PARTS = 8 };

/// What one thread works with: a place for the model of the present shape, and the equations of one frame,
///
///   A dq + B dx = -y,   degrees of freedom backwards, leaves before the root: then the factor of A has few entries.
typedef struct sn_estimate_worker {
    sn_fit_place at;
    double *A;      ///< nv x nv, upper triangle: once factored U^T U
    double *B;      ///< nv x n: U^-T B
    double *y;      ///< nv: U^-T y
    double *J;      ///< 3 x nv
    double *Jx;     ///< 3 x n
    double *delta;  ///< nv
    int *columns;   ///< of Jx that are not zero
    int *dofs;      ///< the same of J
    int *runs;      ///< n + 1: where a row of B is not zero, from and to
} sn_estimate_worker;

/// Columns of the shape x: 3 numbers per marker (how far it is from where the figure has it), then 3 per body
/// (logarithms of its factors along its own axes).
typedef struct sn_estimate {
    const sn_allocator *allocator;
    void *owner[2];
    sn_estimate_options o;
    const sn_model *model;  ///< as it was given
    int njoint, nmarker, nbody;
    size_t nq, nv, n;   ///< n: numbers of the shape
    int *body;          ///< njoint: whose vectors are scaled by which body, -1 for none
    sn_mat3 *axes;      ///< njoint: that body's axes in the joint's frame
    const char **name;  ///< nbody
    double *doubt;      ///< nmarker: metres
    double *mean;       ///< 3 nbody: of the logarithms
    double *P;          ///< 3 nbody squared: their precision

    double common;  ///< standard deviation of the logarithm of the size
    double size;    ///< of the figure, where the height is known; else 0
    int nlength;
    struct sn_estimate_length {
        int body;
        sn_vec3 way;  ///< on the figure as it was given, along the body's axes
        double metres;
    } * length;

    int nframe;
    int *frame;      ///< of the recording, or of the static trial
    bool *still;     ///< it is of the static trial
    double *share;   ///< how many independent frames it stands for
    double posture;  ///< what posture and ranges count for in a frame of the take
    double lasting;  ///< of that, what a posture counts for that lasts, in a take so short; up to 1
    double *trust;   ///< nframe x nmarker: about 1; less for samples far off
    double sliding;  ///< how much skin there is, against the usual; 0 until it was measured
    double *use;     ///< nmarker: 0 while it is left out
    double *poses, *poses_try;  ///< nframe x nq
    double *bent;               ///< nframe x nq: poses by which it is told how far skin has slid

    double *x, *x_try;
    double *S, *factored, *g, *step;  ///< n x n upper triangle, n
    double *U;    ///< nframe x nv (nv + 1)/2: factors of the frames' A, row by row
    double *gq;   ///< nframe x nv: gradients of the poses, dofs backwards
    double *sum;  ///< nframe: energies of the poses `trial`; nmarker: weights
    const double *trial;
    double *delta;  ///< nv
    double
        *part[SN_ESTIMATE_PARTS];  ///< of the parts: an upper triangle, row by row, and n numbers
    double lambda;                 ///< of the present equations
    int iterations;
    sn_model *built;  ///< with the present shape, while passes go over the frames
    int nworker;
    sn_estimate_worker *workers;
    void *extra;  ///< of passes
} sn_estimate;

/// Memory, bodies, priors; to be closed in any case.
sn_status sn_estimate_open(sn_estimate *e, const sn_estimate_options *options,
                           const sn_allocator *allocator, sn_error *error);
void sn_estimate_close(sn_estimate *e);

/// Twice the energy of a shape and poses.
sn_status sn_estimate_energy(sn_estimate *e, const double *x, const double *poses, double *out,
                             sn_error *error);

/// The same of x_try and poses_try, once each of these has gone towards its least with that shape.
sn_status sn_estimate_settle(sn_estimate *e, double *out, sn_error *error);

/// A pose of frame k from q towards its least with the shape in w, as long as it falls; twice its energy.
sn_status sn_estimate_settle_pose(const sn_estimate *e, sn_estimate_worker *w, int k, double *q,
                                  double *sum);

/// Which joints make a body, and along which axes it is scaled; prior.
sn_status sn_estimate_bodies(sn_estimate *e);
/// Lengths and height that were measured; the error names a body that there is not. Before the prior.
sn_status sn_estimate_known(sn_estimate *e, double *size, sn_error *error);
/// A known length at shape x: how much it is off, and its change with the body's three logarithms.
double sn_estimate_length_off(const sn_estimate *e, int i, const double *x, double slope[3]);
/// The precision of the bodies' factors.
sn_status sn_estimate_prior(sn_estimate *e);

/// The stretch of a joint's vectors at shape x.
sn_mat3 sn_estimate_stretch(const sn_estimate *e, const double *x, int joint);
/// The model with shape x.
sn_status sn_estimate_model(const sn_estimate *e, const double *x, bool limits, sn_model **out,
                            sn_error *error);

/// Frames, spread over the take, and poses for them by the markers whose places are known.
sn_status sn_estimate_start(sn_estimate *e, sn_error *error);

/// Poses of other valleys where these are much lower with the present shape, which a step may have led away from.
sn_status sn_estimate_fold(sn_estimate *e, bool *changed, sn_error *error);

/// Is a marker so far from its place that this was let go?
bool sn_estimate_is_elsewhere(const sn_estimate *e, int marker);

/// A sample's goal; false when it is missing.
bool sn_estimate_goal(const sn_estimate *e, int k, int marker, double goal[3]);
/// What it weighs, 1/m^2.
double sn_estimate_weight(const sn_estimate *e, int k, int marker);

/// Go over `count` items on all threads, with the model of shape x in every thread's place.
typedef sn_status (*sn_estimate_pass)(sn_estimate *e, sn_estimate_worker *w, int item);
sn_status sn_estimate_run(sn_estimate *e, const double *x, sn_estimate_pass pass, int count,
                          sn_error *error);
/// Frames of a part: first ... end - 1.
void sn_estimate_part(const sn_estimate *e, int part, int *first, int *end);

/// The equations of frame k at e->x and e->poses into the worker, A factored; what they add to the equations of the
/// shape goes to S (rows of an upper triangle, one after the other) and g, where these are not NULL.
sn_status sn_estimate_frame(sn_estimate *e, sn_estimate_worker *w, int k, double *S, double *g);
/// How a marker moves with a change of the shape, in w->at.
sn_vec3 sn_estimate_shape_move(const sn_estimate *e, sn_estimate_worker *w, int marker,
                               const double *dx);
/// Row i of an upper triangle of size n, to be indexed by columns i ... n - 1.
static inline double *sn_estimate_row(double *packed, size_t n, size_t i) {
    return packed + i * (2 * n - i - 1) / 2;
}

/// Levenberg's steps of shape and poses together.
sn_status sn_estimate_improve(sn_estimate *e, int iterations, double tolerance, sn_error *error);
/// The normal equations of the shape at e->x and e->poses, poses eliminated.
sn_status sn_estimate_normal(sn_estimate *e, double lambda, sn_error *error);
/// Put markers that hardly were known where the poses show them.
sn_status sn_estimate_place(sn_estimate *e, sn_error *error);
/// New weights for samples that are far off. @param rms  over all samples, metres
sn_status sn_estimate_weigh(sn_estimate *e, double *rms, int *outliers, sn_error *error);
/// And for those of postures far from rest, in which skin has slid.
sn_status sn_estimate_slide(sn_estimate *e, sn_error *error);
/// The problem of one frame: a point task per marker, then rest and ranges. @param pull  room for nv numbers
sn_status sn_estimate_problem(const sn_estimate *e, const sn_model *model, sn_problem **out,
                              double *pull, sn_error *error);
/// Standard deviations per axis, metres: of what is new in every frame, and of what slides with the posture.
sn_status sn_estimate_noise(sn_estimate *e, double *white, double *skin, sn_error *error);
/// How sure all of it is; spoils what the normal equations hold. @param out  nmarker + 2 njoint entries
sn_status sn_estimate_sure(sn_estimate *e, sn_take_sure *out, int *count, sn_error *error);
