// SPDX-License-Identifier: MIT
// Evaluating a problem at a pose: frames, f, gradient, Hessian, Jacobians.
//
// All memory is laid out when the workspace is created; nothing below allocates. One workspace per
// thread; the model behind it may be shared.
//
// Derivatives are by the velocities u of q (+) (gain o u), gain being sn_model_gain(): a locked
// degree of freedom has zero derivatives, a strength scales its own. They are in file order, except
// where sweep order is said (see sn_model_sweep_order()).
#pragma once

#include "sinew/task.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What is evaluated at a pose, and room for it.
typedef struct sn_workspace sn_workspace;

/// What sn_workspace_eval() computes beside f.
enum {
    SN_EVAL_GRADIENT = 1,
    SN_EVAL_HESSIAN = 2,       ///< exact; with it comes the gradient
    SN_EVAL_GAUSS_NEWTON = 4,  ///< instead of the exact Hessian; with it comes the gradient
    SN_EVAL_GENERAL = 8        ///< use the general sweep also where the fast one would do
};

/// @param problem  must outlive the workspace; its goals may change between evaluations
/// @param hessian  false: no room for the rows of H (a long chain's are many); all else still works
SN_API sn_status sn_workspace_create(const sn_problem *problem, bool hessian,
                                     const sn_allocator *allocator, sn_workspace **out,
                                     sn_error *error);
SN_API void sn_workspace_destroy(sn_workspace *workspace);

/// f at pose q, and what `what` asks for, kept until the next call.
/// SN_ERR_VALUE when q or f is not finite.
SN_API sn_status sn_workspace_eval(sn_workspace *workspace, const double *q, unsigned what,
                                   double *f);

/// Place all joints at pose q, without tasks.
SN_API sn_status sn_workspace_pose(sn_workspace *workspace, const double *q);

/// World frame of a joint, after sn_workspace_eval() or sn_workspace_pose().
SN_API sn_frame sn_workspace_frame(const sn_workspace *workspace, int joint);
/// World position of a point fixed to a joint.
SN_API sn_vec3 sn_workspace_point(const sn_workspace *workspace, int joint, const double local[3]);
/// Length of a task's residual without its weight, in metres or radians; for frame2 and pose both
/// parts together, for a direction the chord |goal - d|. Only what counts: no part of weight 0, and nothing
/// along a direction that the task's matrix leaves free.
SN_API double sn_workspace_task_error(const sn_workspace *workspace, int task);

/// Something that must not happen, and does.
typedef struct sn_violation {
    int task;      ///< avoid, half-space or support
    int shape[2];  ///< avoid: the two shapes that are too near; else -1
    double by;     ///< metres that are missing; of a half-space of coordinates in their unit
} sn_violation;

/// All that is violated at the placed pose by the tasks that count. Returns how many; the first `room` of
/// them are in `out`, which may be NULL when room is 0.
SN_API int sn_workspace_violations(const sn_workspace *workspace, sn_violation *out, int room);

/// The distance between the surfaces of two shapes of the model at the placed pose, below 0 where they
/// overlap: exact, whatever the tasks are. NAN where there is no such shape, INFINITY for two planes.
SN_API double sn_workspace_distance(const sn_workspace *workspace, int shape, int shape2);

/// By how much a loop of the model is open at the placed pose: metres, or radians where the rotation
/// is further off.
SN_API double sn_workspace_loop_error(const sn_workspace *workspace, int loop);

/// nv numbers, file order.
SN_API void sn_workspace_gradient(const sn_workspace *workspace, double *g);
// After an evaluation with SN_EVAL_HESSIAN or SN_EVAL_GAUSS_NEWTON, in a workspace with room for
// rows (without it: nothing, and NULL). The rows are computed when they are first asked for.

/// nv x nv numbers, symmetric, file order.
SN_API void sn_workspace_hessian(sn_workspace *workspace, double *H);
/// The entries of H that can be other than zero, each pair of degrees of freedom once: H[rows[k]][columns[k]] and
/// its mirror image are values[k]. File order. Returns how many there are, and writes nothing where `room` is less;
/// 0 where tasks or loops couple branches: then sn_workspace_hessian() has it.
SN_API size_t sn_workspace_sparse_hessian(sn_workspace *workspace, size_t room, int *rows,
                                          int *columns, double *values);
/// nv numbers in sweep order; valid until the next evaluation.
SN_API const double *sn_workspace_sweep_gradient(const sn_workspace *workspace);

/// out = H x at the pose of the last evaluation, in time linear in the model's size and without a
/// Hessian. File order. It leaves f, gradient and rows as they are.
SN_API void sn_workspace_multiply(sn_workspace *workspace, bool gauss_newton, const double *x,
                                  double *out);

// Newton steps in time linear in the model's size, whatever its depth, without the rows of H: the
// joints are eliminated from the leaves to the root, each handing a 6 x 6 matrix to its parent, as
// in the articulated-body algorithm. All vectors in sweep order. After sn_workspace_eval() with
// SN_EVAL_HESSIAN or SN_EVAL_GAUSS_NEWTON.

/// Factor H + diag(diagonal) on the degrees of freedom where keep[i].
/// @param diagonal   nv numbers, or NULL for none
/// @param keep       nv flags, or NULL for all
/// @param tolerance  a pivot must be above this
/// @param pivot      may be NULL; receives the pivot that failed
/// Returns -1, or the degree of freedom whose pivot failed.
SN_API int sn_workspace_factor(sn_workspace *workspace, const double *diagonal, const bool *keep,
                               double tolerance, double *pivot);

/// x <- (H + diag)^-1 x; where keep[i] was false, 0.
SN_API void sn_workspace_solve(sn_workspace *workspace, double *x);

/// After sn_workspace_factor() failed at k with pivot d: z with z_k = 1 and z^T (H + diag) z = d,
/// non-zero only at k and below it.
SN_API void sn_workspace_curvature(sn_workspace *workspace, int k, double *z);

// Jacobians at the pose of the last evaluation, column-major with nv columns, by the three
// procedures of Rabbani's "A recipe to cook Jacobian" and with its order of rows: linear velocity, then
// angular.

/// Which rows of a Jacobian: the velocity of a point, the angular velocity, or both.
enum { SN_ROWS_LINEAR = 1, SN_ROWS_ANGULAR = 2, SN_ROWS_BOTH = 3 };

/// Which axes and which point a Jacobian is about.
typedef enum sn_jacobian_frame {
    SN_JACOBIAN_BODY,   ///< the joint's own axes, about its origin
    SN_JACOBIAN_POINT,  ///< the joint's own axes, about a point fixed to it
    SN_JACOBIAN_WORLD   ///< the world's axes, about the world's origin
} sn_jacobian_frame;

/// [R, [p]x R; 0, R], column-major: carries a twist (v; w) from a frame to the one around it.
SN_API void sn_adjoint(const sn_frame *frame, double Ad[36]);

/// Procedure 1, the simple one: 3 x nv, the world velocity of a point, by cross products.
SN_API void sn_jacobian_simple(const sn_workspace *workspace, int joint, const double local[3],
                               double *J);

/// Procedure 2, the generic one: 6 x 6 njoint, for each joint on the path the adjoint that carries
/// a twist in that joint's frame to `joint`'s; zero blocks elsewhere. Not scaled by gains.
SN_API void sn_jacobian_generic(const sn_workspace *workspace, int joint, double *J);

/// Procedure 3, the adjusted one: the same adjoints applied to how each degree of freedom moves its
/// joint, whatever the joint's type. 3 or 6 rows x nv.
/// @param local  the point of SN_JACOBIAN_POINT; may be NULL otherwise
SN_API void sn_jacobian_adjusted(const sn_workspace *workspace, int joint, sn_jacobian_frame frame,
                                 const double local[3], unsigned rows, double *J);

/// The time derivative of sn_jacobian_adjusted() when the pose moves with velocities `qd` (nv,
/// file order, not scaled by gains). Followers move as those they follow, whatever `qd` says of them,
/// and their columns are in those of their leaders, as there.
SN_API void sn_jacobian_dot(sn_workspace *workspace, int joint, sn_jacobian_frame frame,
                            const double local[3], unsigned rows, const double *qd, double *Jdot);

#ifdef __cplusplus
}
#endif
