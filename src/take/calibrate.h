// SPDX-License-Identifier: MIT
// The calibration's memory, and what its files share.
#pragma once

#include "take/fit.h"

/// What x stands for: 3 numbers per marker, then one per group of bones.
typedef struct sn_shape {
    const sn_model *model;
    int njoint, nmarker, size;
    bool limits;  ///< models keep the limits
    int *group;   ///< njoint: the number of a joint's bone among the factors, -1 for none
} sn_shape;

typedef struct sn_calibration {
    const sn_allocator *allocator;
    const sn_fit_input *input;
    sn_cancel cancel;
    int threads;
    sn_threads pool;
    sn_shape shape;
    size_t nq, nv;
    double damping;
    double neutral;      ///< weight of the pull to the zero pose
    int thrown;          ///< samples no body could make, once the shape is nearly right
    double *neutral_of;  ///< nv: each one's share, sn_fit_posture()
    double *zero;        ///< nq: the zero pose

    int nframe, iterations;
    int *columns;            ///< of x that a marker depends on
    int *frame;              ///< of the recording
    int *seen;               ///< markers per tracked frame
    double *weight, *error;  ///< nframe x nmarker; the weight is against the marker's own
    double *poses, *poses_try;

    double *x, *x_try, *guess, *pull;  ///< the shape
    double *S, *S_kept, *g, *g_kept;   ///< normal equations, lower triangle
    double *factored;                  ///< of S
    double *A, *B, *J, *Jx;            ///< of one frame; B one row per velocity
} sn_calibration;

/// One point task per marker, and the pull to the zero pose.
sn_status sn_calibration_problem(const sn_calibration *c, const sn_model *model, sn_problem **out,
                                 sn_error *error);

/// Gauss-Newton on the shape with Levenberg's damping when a step does not help; ends when a step gains less
/// than `tolerance` of the energy.
sn_status sn_calibration_improve(sn_calibration *c, int iterations, double tolerance,
                                 sn_error *error);

/// Track the take with the shape so far and choose up to `wanted` frames with their poses.
sn_status sn_calibration_track(sn_calibration *c, int wanted, sn_error *error);
/// How many frames that goes through.
int sn_calibration_tracked(const sn_fit_input *in);

/// What a marker weighs in frame k: its own weight, less where the sample is far off.
double sn_calibration_weight(const sn_calibration *c, int k, int marker);

/// The normal equations of the shape alone: begin with the pull to the guess, add frame after frame.
void sn_normal_begin(sn_calibration *c, const double *x);
/// @param ws  placed at frame k's pose
void sn_normal_add(sn_calibration *c, const sn_workspace *ws, const sn_model *model, int k);

/// The errors of all samples at the present shape and poses, and new weights from them.
sn_status sn_calibration_weigh(sn_calibration *c, double *rms, int *outliers, sn_error *error);

/// Lengths of a joint times a factor: its offset, and the slides of a function joint that follow angles.
/// @param room  for its functions, as long as `desc` is in use
void sn_shape_scale(sn_joint_desc *desc, double factor, sn_joint_functions *room);

/// The same for a loop, with the factors of its two bodies.
void sn_shape_scale_loop(sn_loop_desc *loop, const double factor[2]);

/// A collision shape of a body that becomes larger.
void sn_shape_scale_solid(sn_shape_desc *solid, double factor);

/// Does a slide of a function joint follow angles only? Then it is a length of the body.
bool sn_shape_scales(const sn_joint_functions *functions, int move);

/// The model with shape x.
sn_status sn_shape_model(const sn_shape *shape, const double *x, const sn_allocator *allocator,
                         sn_model **out, sn_error *error);
/// One number of x per bone, shared by its mirror image; -1 for joints without a bone. Returns how many.
int sn_shape_groups(const sn_model *model, int *group);
void sn_shape_factors(const sn_shape *shape, const double *x, double *factor);
