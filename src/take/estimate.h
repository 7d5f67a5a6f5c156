// SPDX-License-Identifier: MIT
// Calibration as an estimate: its memory, and what its files share. See estimate.c.
#pragma once

#include "take/fit.h"

/// Variance of a factor's logarithm beside the common size: segment, body, side and their axes.
#define SN_ESTIMATE_OWN_VARIANCE                                                                   \
    (0.06 * 0.06 + 0.08 * 0.08 + 0.02 * 0.02 + 0.04 * 0.04 + 0.005 * 0.005)

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
    int *frame;                 ///< of the recording, or of the static trial
    bool *still;                ///< it is of the static trial
    double *share;              ///< how many independent frames it stands for
    double *trust;              ///< nframe x nmarker: 1, less for samples far off
    double *use;                ///< nmarker: 0 while it is left out
    double *poses, *poses_try;  ///< nframe x nq

    double *x, *x_try;
    double *S, *factored, *g, *step;  ///< n x n lower triangle, n
    double *A;                        ///< nframe x nv x nv: factors, dofs backwards
    double *B;                        ///< nframe x nv x n: L^-1 B
    double *gq;                       ///< nframe x nv: L^-1 g
    double *J, *Jx, *delta, *dq;
    int *columns, *nonzero;
    int iterations;
} sn_estimate;

/// Memory, bodies, priors; to be closed in any case.
sn_status sn_estimate_open(sn_estimate *e, const sn_estimate_options *options,
                           const sn_allocator *allocator, sn_error *error);
void sn_estimate_close(sn_estimate *e);

/// Twice the energy of a shape and poses.
sn_status sn_estimate_energy(sn_estimate *e, const double *x, const double *poses, double *out,
                             sn_error *error);

/// Which joints make a body, and along which axes it is scaled; prior.
sn_status sn_estimate_bodies(sn_estimate *e);
/// How many bodies there are at most.
int sn_estimate_count_bodies(const sn_model *model);
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

/// A sample's goal; false when it is missing.
bool sn_estimate_goal(const sn_estimate *e, int k, int marker, double goal[3]);
/// What it weighs, 1/m^2.
double sn_estimate_weight(const sn_estimate *e, int k, int marker);

/// Levenberg's steps of shape and poses together.
sn_status sn_estimate_improve(sn_estimate *e, int iterations, double tolerance, sn_error *error);
/// The normal equations of the shape at e->x and e->poses, poses eliminated.
sn_status sn_estimate_normal(sn_estimate *e, double lambda, sn_error *error);
/// Put markers that hardly were known where the poses show them.
sn_status sn_estimate_place(sn_estimate *e, sn_error *error);
/// New weights for samples that are far off. @param rms  over all samples, metres
sn_status sn_estimate_weigh(sn_estimate *e, double *rms, int *outliers, sn_error *error);
/// The problem of one frame: a point task per marker, then rest and ranges. @param pull  room for nv numbers
sn_status sn_estimate_problem(const sn_estimate *e, const sn_model *model, sn_problem **out,
                              double *pull, sn_error *error);
/// Standard deviations per axis, metres: of what is new in every frame, and of what slides with the posture.
sn_status sn_estimate_noise(sn_estimate *e, double *white, double *skin, sn_error *error);
/// How sure all of it is; spoils what the normal equations hold. @param out  nmarker + 2 njoint entries
sn_status sn_estimate_sure(sn_estimate *e, sn_take_sure *out, int *count, sn_error *error);
