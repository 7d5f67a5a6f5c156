// SPDX-License-Identifier: MIT
// Servos: a whole body at a thousand ticks a second.
//
// An sn_servo moves the pose of a problem by one step a tick: every level of its tasks in the null space
// of those before it (docs/levels.md), one Gauss-Newton step each, inside the limits on position, speed and
// acceleration. Feet that are pinned, hands on moving goals, gaze, centre of mass and a posture below them
// are tasks and levels of the problem; goals, weights, levels, locks and limits may change between ticks.
//
// A goal that moves is followed without lag as far as the limits allow: how it moved from one tick to the
// next is known from what is left of the task. What is left beyond that is gone towards no faster than every
// joint can brake before it arrives. Nothing allocates after sn_servo_create(). An sn_servo is for one thread at a
// time.
#pragma once

#include "sinew/eval.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What a servo loop remembers between ticks, and room for a tick.
typedef struct sn_servo sn_servo;

/// Start from sn_servo_options_default().
typedef struct sn_servo_options {
    uint32_t version;     ///< set by the default function, checked on create
    double position_tol;  ///< the goals are met within this, metres and radians, default 1e-4
    double
        guard_seconds;  ///< what must not happen is approached no faster than in this time: default 0.05
} sn_servo_options;

/// The defaults that sn_servo_options states.
SN_API sn_servo_options sn_servo_options_default(void);

/// Limits of a tick. Arrays have nv numbers in file order, above 0, infinite for none.
typedef struct sn_servo_tick {
    double seconds;  ///< of one tick, above 0
    const double
        *velocity;  ///< radians or metres a second, beside those of the file; NULL: those alone
    const double *acceleration;  ///< a second more; NULL: any
} sn_servo_tick;

/// How a tick went.
typedef struct sn_servo_report {
    bool reached;        ///< all active tasks of all levels but the last are within the tolerance
    double worst_error;  ///< largest sn_workspace_task_error() of these, after the tick
    double violation;    ///< by how much something happens that must not, after the tick
    int nlevel;          ///< how many levels the active tasks have
    int level[SN_MAX_LEVELS];     ///< their numbers
    double error[SN_MAX_LEVELS];  ///< largest error of each, after the tick
    double share
        [SN_MAX_LEVELS];  ///< of the change of velocity that a level wanted, what acceleration left: 0 to 1
    int limited;          ///< degrees of freedom that a limit held back
    int guarded;          ///< things that must not happen that held a motion back
    int rounds;           ///< times a level was solved
    bool
        runs_away;  ///< the first level that is not reached has been getting farther for some ticks
} sn_servo_report;

/// A servo for a problem, which must outlive it. SN_ERR_UNSUPPORTED for models with loops.
/// @param options    NULL for the defaults
/// @param allocator  NULL for malloc and free
/// @param out        free with sn_servo_destroy(); NULL on failure
SN_API sn_status sn_servo_create(const sn_problem *problem, const sn_servo_options *options,
                                 const sn_allocator *allocator, sn_servo **out, sn_error *error);
SN_API void sn_servo_destroy(sn_servo *servo);

/// Forget the ticks so far.
/// @param velocity  nv numbers in file order: how the body moves; NULL: it is at rest
SN_API sn_status sn_servo_reset(sn_servo *servo, const double *velocity);

/// One tick: move q by one step, never faster than the limits on position, speed and acceleration
/// allow, and in time to stop before a limit on position. q must be inside the limits. Where it is not what the last tick gave
/// (it was measured), the goals' motion is not taken from it.
/// SN_ERR_VALUE, and q as it was, for numbers that are not finite or a q outside its limits.
SN_API sn_status sn_servo_step(sn_servo *servo, const sn_servo_tick *tick, double *q,
                               sn_servo_report *report);

/// The velocity of the last tick: nv numbers in file order.
SN_API void sn_servo_velocity(const sn_servo *servo, double *velocity);

/// Its workspace, placed at the pose after the last tick.
SN_API sn_workspace *sn_servo_workspace(sn_servo *servo);

#ifdef __cplusplus
}
#endif
