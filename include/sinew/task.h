// SPDX-License-Identifier: MIT
// Problems: a model and what its pose should meet. f(q) = 1/2 sum of weighted squared residuals, or
// of a robust loss of them.
//
// A problem is created with all its tasks; afterwards goals and weights can be changed and tasks
// switched off or marked missing without allocation. Not safe to change while another thread uses
// it; several threads may read one.
#pragma once

#include "sinew/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The kinds of task; sn_task_type_name() gives their names in files.
typedef enum sn_task_type {
    SN_TASK_POINT,        ///< local point to goal; weight scalar or symmetric 3x3
    SN_TASK_PLANE,        ///< local point onto the plane through `goal` with `normal`
    SN_TASK_DIRECTION,    ///< local direction along the unit vector `goal`: r = goal - d
    SN_TASK_ORIENTATION,  ///< the joint's rotation to `rotation`: r = log(R_goal R^T)
    SN_TASK_FRAME2,       ///< local point to goal, x and y axes along `i` and `j`: the p, i, j of
                          ///< Engell-Norregard and Erleben (docs/papers.md)
    SN_TASK_POSE,         ///< a point and an orientation
    SN_TASK_REST,         ///< towards a pose: r = q (-) q_rest, per-coordinate weights
    SN_TASK_LIMIT,        ///< soft limits: r = how far a coordinate is outside the limits
    SN_TASK_RELATIVE,  ///< local point of `joint` less local2 of `joint2` to goal: r = p - p2 - goal
    SN_TASK_RELATIVE_ORIENTATION,  ///< the joint's rotation to `rotation` times joint2's
    SN_TASK_RELATIVE_POSE,         ///< a relative point and a relative orientation
    SN_TASK_DISTANCE,              ///< local point and local2 of `joint2` `distance` apart
    SN_TASK_LOOK_AT,  ///< `axis` from the local point through local2 of `joint2`: r = t - axis, t the
                      ///< unit vector from the one to the other
    SN_TASK_LINE,     ///< local point onto the line through `goal` along `axis`
    SN_TASK_CENTRE_OF_MASS,  ///< of `joints`, or of all, to goal
    SN_TASK_POSTURE,  ///< the rotations of `joints`, or of all, in their parents' frames to those
                      ///< in the pose q: one rotation vector for each
    SN_TASK_COUPLED,  ///< 1/2 r^T W r of several tasks' residuals together: `tasks`, `coupling`
    SN_TASK_OWN,      ///< a function of one's own, see sn_own_task

    // What must not happen (docs/collisions.md). A solver meets these before all else, where it can.
    SN_TASK_AVOID,  ///< shapes of the model keep `distance`: all pairs that count, or those with a
                    ///< shape on `joint`, or those of `joint` and `joint2`
    SN_TASK_HALF_SPACE,  ///< local point of `joint`, or (joint -1) the centre of mass, at least `distance`
    ///< before the plane through `goal` with `normal`, in the world or fixed in
    ///< `joint2`; with q_weight: sum of q_weight times q at least `distance`
    SN_TASK_SUPPORT,  ///< the centre of mass inside the polygon around `corners` as seen along
                      ///< `normal`, at least `distance` from its edges
    SN_TASK_TYPE_COUNT
} sn_task_type;

/// What a squared residual s counts for, with c the task's loss_scale: s = |r|^2, or r^T matrix r. A
/// loss keeps goals that are plainly wrong from pulling as hard as they are far away. For tasks of one
/// residual vector; tasks with two weights, on coordinates, coupled or one's own have none.
typedef enum sn_loss {
    SN_LOSS_NONE,    ///< s
    SN_LOSS_HUBER,   ///< s up to c^2, then 2 c sqrt(s) - c^2: a far point pulls as if at c
    SN_LOSS_CAUCHY,  ///< c^2 log(1 + s / c^2): a far point hardly pulls
    SN_LOSS_COUNT
} sn_loss;

/// Finite numbers beyond this are refused in goals and weights, so that squares stay finite.
#define SN_MAX_NUMBER 1e50

/// A task of one's own: a function phi of the world frames of some joints, 0 or above. Motions of
/// a joint are six numbers: a rotation vector w that turns it about its own origin, in the world's axes,
/// then how its origin moves: R <- exp(w) R, p <- p + v.
typedef struct sn_own_task {
    void *user;  ///< given to both functions
    /// phi at frames[0 .. njoint - 1], those of the task's `joints`; `gradient`, when not NULL, receives
    /// its derivatives by the motions of each, 6 njoint numbers. Must not allocate or change the problem
    /// where solves are to be free of that.
    double (*value)(void *user, const sn_frame *frames, double *gradient);
    /// out = the second derivatives of phi by these motions, a symmetric matrix, times x: 6 njoint
    /// numbers each. NULL where they are not known: then phi counts as the square of one residual
    /// sqrt(2 phi), and its Hessian is that residual's Gauss-Newton matrix.
    void (*multiply)(void *user, const sn_frame *frames, const double *x, double *out);
} sn_own_task;

/// The most joints of a task of one's own.
#define SN_MAX_OWN_JOINTS 8

/// The most numbers that one coupled task weighs together.
#define SN_MAX_COUPLING 48

/// The most corners of a support polygon.
#define SN_MAX_CORNERS 64

/// How many levels there are: a task's level is 0 to SN_MAX_LEVELS - 1.
#define SN_MAX_LEVELS 8

/// Start from sn_task_default().
typedef struct sn_task {
    uint32_t version;   ///< set by the default function, checked on creation: a zeroed task is none
    sn_task_type type;  ///< what it asks for
    int joint;          ///< limit: -1 for all joints
    double local[3];    ///< point or direction in the joint's frame
    double goal[3];  ///< where it should be in the world; relative: p - p2 there; line and plane: a
                     ///< point of it
    int joint2;  ///< the other joint of a task between two; -1: the world. A line or plane is fixed
                 ///< in it. By default -1, for relative tasks 0
    double local2[3];  ///< the point p2 in its frame, or in the world
    bool
        in_joint2;  ///< relative: goal and rotation are fixed in joint2 and turn with it, and so do
                    ///< the axes of matrices: r = R2^T (p - p2) - goal, R = R2 rotation
    double normal[3];  ///< plane; normalised when used
    double axis[3];    ///< look-at: in the joint's frame; line: its direction; normalised when used
    double distance;   ///< distance: metres, 0 or above; avoid, half-space, support: at least
    double rotation[4];  ///< w x y z; normalised when used
    double i[3], j[3];   ///< frame2: where the joint's x and y axes should point; normalised
    double weight;       ///< 0 or above
    int level;  ///< 0, the default, comes first: what another level wants moves only what this one and
                ///< those before it leave free (docs/levels.md)
    double rotation_weight;  ///< pose and frame2: of the rotational part
    bool has_matrix;         ///< residual of three numbers: use `matrix`, times `weight`
    double matrix[9];        ///< symmetric, positive semidefinite; in the axes of the residual
    bool
        has_rotation_matrix;  ///< pose, relative pose: use `rotation_matrix`, times `rotation_weight`
    double rotation_matrix[9];  ///< likewise
    sn_loss loss;               ///< default SN_LOSS_NONE
    double loss_scale;  ///< c in metres or radians, 1e-50 to 1e50; not looked at without a loss
    const double *q;    ///< rest, posture: nq numbers, copied
    const double *
        q_weight;  ///< rest, limit: nv numbers that multiply `weight`, copied; NULL for all 1; half-space: nv factors
    const int *joints;     ///< centre of mass, posture, own: which joints, copied; NULL for all
    int njoint;            ///< how many
    const double *masses;  ///< centre of mass: of each, copied; NULL for the model's
    const double
        *centres;      ///< where they are, three numbers each in the joint's frame; NULL likewise
    const int *tasks;  ///< coupled: which tasks, copied; not coupled ones or tasks on coordinates
    int ntask;         ///< how many
    const double
        *coupling;  ///< coupled: symmetric, positive semidefinite; copied. Its size is that of the
                    ///< residuals one after the other, each goal less what is there, in threes
                    ///< but for a plane's and a distance's one
    const double
        *corners;  ///< support: three numbers each, in any order, copied; their hull counts
    int ncorner;   ///< support: 3 to SN_MAX_CORNERS
    const double
        *lower;  ///< limit: nv numbers, copied: limits of its own, infinite for none; a ball
    const double *upper;  ///< may turn by the first of its upper ones from zero. NULL: the model's
    sn_own_task own;      ///< own
} sn_task;

/// A model and its tasks.
typedef struct sn_problem sn_problem;

/// Its name in files; "unknown" for what is none.
SN_API const char *sn_task_type_name(sn_task_type type);
/// "none", "huber", "cauchy".
SN_API const char *sn_loss_name(sn_loss loss);

/// Weights 1, identity rotation, normal and direction z, joint 0 (limit: -1).
SN_API sn_task sn_task_default(sn_task_type type);

/// @param model  must outlive the problem
/// @param out    free with sn_problem_destroy(); NULL on failure
/// @param error  names the task; may be NULL
SN_API sn_status sn_problem_create(const sn_model *model, const sn_task *tasks, int ntask,
                                   const sn_allocator *allocator, sn_problem **out,
                                   sn_error *error);

/// One point task per marker of the model, in their order, all missing until a goal is set.
SN_API sn_status sn_problem_create_markers(const sn_model *model, const sn_allocator *allocator,
                                           sn_problem **out, sn_error *error);

/// Read a tasks file: {"tasks": [{"type": "point", "joint": "hand", "goal": [x, y, z]}, ...]}.
SN_API sn_status sn_problem_read_json(const char *text, size_t length, const sn_model *model,
                                      const sn_allocator *allocator, sn_problem **out,
                                      sn_error *error);
/// A copy with `nextra` more tasks behind the others; goals and flags are copied too.
SN_API sn_status sn_problem_copy(const sn_problem *problem, const sn_task *extra, int nextra,
                                 const sn_allocator *allocator, sn_problem **out, sn_error *error);
SN_API void sn_problem_destroy(sn_problem *problem);

/// The model it was created with.
SN_API const sn_model *sn_problem_model(const sn_problem *problem);
/// How many tasks there are, on or off.
SN_API int sn_problem_ntask(const sn_problem *problem);

/// The task as it is now; valid until it is changed. NULL when out of range.
SN_API const sn_task *sn_problem_task(const sn_problem *problem, int task);

/// True when the task counts: switched on, not missing, weight above 0.
SN_API bool sn_problem_task_active(const sn_problem *problem, int task);

// Changing tasks. SN_ERR_ARGUMENT for a task that has no such thing, SN_ERR_VALUE for numbers that
// are not finite (or a zero direction): the task then stays as it was. None allocates.

/// Goal of a task that has one; of a look-at its point local2. Also marks it present.
SN_API sn_status sn_problem_set_goal(sn_problem *problem, int task, const double goal[3]);
/// The local point (or direction) of a task that has one.
SN_API sn_status sn_problem_set_local(sn_problem *problem, int task, const double local[3]);
/// The point local2 of a task between two joints.
SN_API sn_status sn_problem_set_local2(sn_problem *problem, int task, const double local2[3]);
/// Normal of a plane, half-space or support, axis of a line or look-at.
SN_API sn_status sn_problem_set_axis(sn_problem *problem, int task, const double axis[3]);
/// Distance of a distance task, 0 or above, or what a task that must not happen keeps. Also marks it present.
SN_API sn_status sn_problem_set_distance(sn_problem *problem, int task, double distance);
/// Corners of a support polygon, no more than it was created with. Also marks it present.
SN_API sn_status sn_problem_set_corners(sn_problem *problem, int task, const double *corners,
                                        int ncorner);
/// Rotation of a task that has one. Also marks it present.
SN_API sn_status sn_problem_set_rotation(sn_problem *problem, int task, const double wxyz[4]);
/// Pose of a rest or posture task, nq numbers.
SN_API sn_status sn_problem_set_rest(sn_problem *problem, int task, const double *q);
/// The weights of a rest task by degree of freedom, nv numbers, 0 or above; they multiply its weight.
SN_API sn_status sn_problem_set_rest_weights(sn_problem *problem, int task, const double *weights);
/// The weight of a task, 0 or above.
SN_API sn_status sn_problem_set_weight(sn_problem *problem, int task, double weight);
/// The level of a task, 0 to SN_MAX_LEVELS - 1; SN_ERR_VALUE beyond. Solvers mind it from their next call.
SN_API sn_status sn_problem_set_level(sn_problem *problem, int task, int level);
/// The weight of the rotational part of a pose, relative pose or frame2 task, 0 or above.
SN_API sn_status sn_problem_set_rotation_weight(sn_problem *problem, int task, double weight);
/// The matrix of a task that was created with one, three rows of three.
SN_API sn_status sn_problem_set_matrix(sn_problem *problem, int task, const double matrix[9]);
/// The rotational matrix of a task that was created with one.
SN_API sn_status sn_problem_set_rotation_matrix(sn_problem *problem, int task,
                                                const double matrix[9]);
/// The matrix of a coupled task, of the size it was created with.
SN_API sn_status sn_problem_set_coupling(sn_problem *problem, int task, const double *coupling);
/// The masses of a centre of mass, one for each of its joints; their sum must be above 0.
SN_API sn_status sn_problem_set_masses(sn_problem *problem, int task, const double *masses);
/// The loss of a point of scalar weight, a task between two joints, or one that was created with a loss;
/// `scale` counts only with one.
SN_API sn_status sn_problem_set_loss(sn_problem *problem, int task, sn_loss loss, double scale);
SN_API sn_status sn_problem_set_enabled(sn_problem *problem, int task, bool enabled);
/// No data for this task at present: it pulls nowhere, rather than towards an old goal.
SN_API sn_status sn_problem_set_missing(sn_problem *problem, int task, bool missing);

// What the model's coordinates may do, in this problem alone: the model stays as it is, and so do other
// problems. A joint's k-th degree of freedom, from 0. Solvers and workspaces of the problem mind a change
// from their next call on; trackers, smoothers and copies have what there was when they were made.
// SN_ERR_ARGUMENT where there is no such degree of freedom or it follows others. None allocates.

/// Other limits, infinite for none; SN_ERR_VALUE when lower is above upper. A quaternion takes none.
SN_API sn_status sn_problem_set_limits(sn_problem *problem, int joint, int k, double lower,
                                       double upper);
/// Lock a degree of freedom, or let it go.
SN_API sn_status sn_problem_set_locked(sn_problem *problem, int joint, int k, bool locked);
/// Scale its column of every Jacobian, 0 or above.
SN_API sn_status sn_problem_set_strength(sn_problem *problem, int joint, int k, double strength);

/// Limits and gains as they are now: nv numbers in the order of sn_model_lower() and sn_model_gain().
SN_API const double *sn_problem_lower(const sn_problem *problem);
/// The upper limits.
SN_API const double *sn_problem_upper(const sn_problem *problem);
/// 0 for a locked degree of freedom, else its strength.
SN_API const double *sn_problem_gain(const sn_problem *problem);

#ifdef __cplusplus
}
#endif
