// SPDX-License-Identifier: MIT
// Arms: one chain of joints, one tool, a microsecond a pose.
//
// An sn_arm is the chain between two links of a model, the base and the tip, with a tool on the tip.
// It finds joint values that bring the tool to a goal, inside the limits to the last bit. Hinges,
// sliders, screws, universal, Euler, planar and translation joints move; joints that follow them,
// one or several, in proportion or by a curve (mimics), follow; balls, free joints and joints of
// functions stay as in the reference pose. An arm's q is sn_arm_n() numbers, radians and metres, in the order from the base to
// the tip; sn_arm_coordinate() says which coordinates of the model they are.
//
// A goal is seven numbers, x y z and a quaternion w x y z: where the tool shall be, in the frame of the
// base. Nothing allocates after sn_arm_create(). The same call gives the same bits for every number of
// threads and lanes, on every platform. An sn_arm is for one thread at a time.
#pragma once

#include "sinew/batch.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The most that an arm has.
enum {
    SN_ARM_MAX = 24,        ///< numbers in q
    SN_ARM_SOLUTIONS = 256  ///< solutions that sn_arm_solve_all() tells apart
};

/// A chain of joints with a tool.
typedef struct sn_arm sn_arm;

/// How much of the goal's rotation counts.
typedef enum sn_arm_rotation {
    SN_ARM_ROTATION_ALL,   ///< all of it
    SN_ARM_ROTATION_AXIS,  ///< where the tool's `axis` points; turns about it are free
    SN_ARM_ROTATION_NONE,  ///< nothing: the tool's place alone
    SN_ARM_ROTATION_COUNT
} sn_arm_rotation;

/// Start from sn_arm_options_default().
typedef struct sn_arm_options {
    uint32_t version;          ///< set by the default function, checked on create
    const char *base;          ///< link or joint that goals are relative to; NULL: the world
    double tool_position[3];   ///< the tool in the tip's frame, metres
    double tool_rotation[4];   ///< w x y z; normalised when used
    double position_tol;       ///< metres, default 1e-6
    double rotation_tol;       ///< radians, default 1e-6
    sn_arm_rotation rotation;  ///< default SN_ARM_ROTATION_ALL
    double axis[3];            ///< of the tool, for SN_ARM_ROTATION_AXIS; default z
    bool free_position[3];     ///< along the goal's own x, y, z the place does not count
    const char *const *held;   ///< joints that stay as in `pose`, by name
    int nheld;                 ///< how many
    const double *pose;        ///< nq: the reference pose; NULL: zero, moved into the limits
    const double *rest;  ///< nq: the posture that freedom which is left over leans to; NULL: none
    int max_seeds;       ///< starts that are tried for a goal, default 400
    double max_seconds;  ///< time for one goal, default 0: no limit
    int lanes;           ///< 1 or 4 numbers at a time, default 4; the bits are the same
    sn_device
        device;   ///< for sn_arm_solve_many() without seeds, default SN_DEVICE_CPU; a device has
                  ///< other bits and other solutions, each looked at in doubles
    int threads;  ///< for sn_arm_solve_many(), default 1
    sn_threads pool;   ///< the caller's own threads; zeroed: sinew's
    sn_cancel cancel;  ///< asked by sn_arm_solve_many() before every goal
} sn_arm_options;

/// Every option at its default.
SN_API sn_arm_options sn_arm_options_default(void);

/// What stops an arm short of a goal.
typedef enum sn_arm_why {
    SN_ARM_REACHED,   ///< nothing: it is there
    SN_ARM_FAR,       ///< the goal is farther than the arm is long
    SN_ARM_LIMIT,     ///< joints at their limits hold it back: see `joint`
    SN_ARM_SINGULAR,  ///< the arm is stretched or folded: no joint moves it the way that is left
    SN_ARM_POSTURE,  ///< none of the above is seen at the nearest pose: no posture found gets there
    SN_ARM_TIME,     ///< the time was over
    SN_ARM_WHY_COUNT
} sn_arm_why;

/// "reached", "out of reach", ...; "unknown" for what is none.
SN_API const char *sn_arm_why_text(sn_arm_why why);

/// How one goal went.
typedef struct sn_arm_report {
    bool reached;           ///< both errors within their tolerances
    double position_error;  ///< metres, of what counts
    double rotation_error;  ///< radians, of what counts
    double distance;        ///< from the seed: the length of the difference; 0 without a seed
    int seeds;              ///< starts that were tried
    int iterations;         ///< Newton steps, all together
    sn_arm_why why;         ///< what stops it
    int joint;              ///< the number in q that a limit holds back most; -1: none
} sn_arm_report;

/// An arm from a model, which must outlive it.
/// @param tip    link (a marker of the model) or joint by name
/// @param error  names what is wrong; may be NULL
/// @param out    free with sn_arm_destroy(); NULL on failure
SN_API sn_status sn_arm_create(const sn_model *model, const char *tip,
                               const sn_arm_options *options, const sn_allocator *allocator,
                               sn_arm **out, sn_error *error);
SN_API void sn_arm_destroy(sn_arm *arm);

/// How many numbers an arm's q has.
SN_API int sn_arm_n(const sn_arm *arm);
/// Which coordinate of the model number i is; joint -1 when out of range.
SN_API sn_coordinate sn_arm_coordinate(const sn_arm *arm, int i);
/// Its name: the joint's, or "joint.k" of a joint with several coordinates. NULL when out of range.
SN_API const char *sn_arm_name(const sn_arm *arm, int i);
/// Its limits, infinite for none, and its greatest speed; n numbers each.
SN_API const double *sn_arm_lower(const sn_arm *arm);
SN_API const double *sn_arm_upper(const sn_arm *arm);
SN_API const double *sn_arm_speed(const sn_arm *arm);

/// The numbers of an arm in a pose of its model (nq), and back. Writing moves the followers too.
SN_API void sn_arm_from_pose(const sn_arm *arm, const double *pose, double *q);
SN_API void sn_arm_to_pose(const sn_arm *arm, const double *q, double *pose);

/// Where the tool is: seven numbers as in a goal.
SN_API void sn_arm_tool(const sn_arm *arm, const double *q, double tool[7]);

/// Bring the tool to a goal. Always gives a q inside the limits: the solution, else the nearest pose
/// found (see sn_arm_report).
/// @param seed  n numbers: the solution nearest to it is looked for; NULL: any, as fast as can be
SN_API sn_status sn_arm_solve(sn_arm *arm, const double goal[7], const double *seed, double *q,
                              sn_arm_report *report);

/// All solutions that can be told apart, the nearest to the seed (NULL: to the rest posture, else to
/// the middle of the limits) first. An arm with more freedom than the goal takes has infinitely many:
/// then those found from many starts.
/// @param most   room in q
/// @param q      most * n numbers, one solution after the other
/// @param count  how many there are, at most `most`
SN_API sn_status sn_arm_solve_all(sn_arm *arm, const double goal[7], const double *seed, int most,
                                  double *q, int *count);

/// Many goals at once, on several threads and in lanes, each as sn_arm_solve() does it, or on a device, which
/// finds a solution where there is one. SN_ERR_CANCELLED when options.cancel became true; q then holds what was
/// found until then.
/// @param goals    count * 7 numbers
/// @param seeds    count * n numbers, or NULL
/// @param q        count * n numbers
/// @param reports  count, or NULL
SN_API sn_status sn_arm_solve_many(sn_arm *arm, int count, const double *goals, const double *seeds,
                                   double *q, sn_arm_report *reports);

/// Where sn_arm_solve_many() solves, and why not elsewhere: one line; never NULL.
SN_API const char *sn_arm_note(const sn_arm *arm);
/// Memory that a device copies from and to at full speed, for goals and q; without a device plain memory. NULL
/// when there is none, or after eight; given back by sn_arm_destroy().
SN_API void *sn_arm_room(sn_arm *arm, size_t bytes);

/// How able the arm is to move its tool at q: the square root of det(J J^T) of what counts (of J^T J for
/// an arm with fewer joints than that), Yoshikawa's manipulability; 0 at a singular pose.
/// @param gradient  n numbers: how it changes with q; may be NULL
SN_API double sn_arm_manipulability(const sn_arm *arm, const double *q, double *gradient);

// --- moving ----------------------------------------------------------------------------------------

/// How a path went.
typedef struct sn_arm_path_report {
    bool complete;         ///< all of it
    int waypoint;          ///< the one that could not be reached; the last one of a complete path
    double fraction;       ///< of the way to it from the one before, 0 to 1
    int count;             ///< poses that were written
    double jump;           ///< the largest change of a joint between two of them
    sn_arm_report report;  ///< of the last pose tried
} sn_arm_path_report;

/// A straight path through waypoints, without a jump: the tool goes along straight lines and turns evenly,
/// and every pose follows from the one before.
/// @param goals  count * 7 numbers
/// @param start  n numbers: where the arm is; NULL: at whichever solution of the first waypoint leads
///               furthest
/// @param step   metres, and radians of the tool, between two poses at most
/// @param most   room in q; a longer path ends there
/// @param q      most * n numbers: the poses
SN_API sn_status sn_arm_path(sn_arm *arm, int count, const double *goals, const double *start,
                             double step, int most, double *q, sn_arm_path_report *report);

/// What a servo loop remembers between ticks. Zeroed: at rest.
typedef struct sn_arm_motion {
    double velocity[SN_ARM_MAX];  ///< of the last tick, radians or metres a second
    double error;                 ///< what was left at the last tick
    int behind;                   ///< ticks in which it fell back
    bool around;                  ///< no straight line leads on: the joints go to `target`
    bool reaches;                 ///< the target is at the goal; else it is the nearest pose
    double target[SN_ARM_MAX];    ///< where they go
} sn_arm_motion;

/// Limits of a servo tick.
typedef struct sn_arm_tick {
    double seconds;              ///< of one tick, above 0
    const double *velocity;      ///< n numbers, beside those of the file; NULL: those alone
    const double *acceleration;  ///< n numbers; NULL: any
} sn_arm_tick;

/// How a tick went.
typedef struct sn_arm_tick_report {
    bool reached;           ///< the goal, within the tolerances
    double position_error;  ///< after the tick, metres
    double rotation_error;  ///< radians
    double share;           ///< of the wanted step that the limits left, 0 to 1
    double manipulability;  ///< before it
    bool runs_away;         ///< the goal has been getting farther for some ticks: it is too fast
    bool around;            ///< no straight line leads on: the joints go to another posture
    sn_arm_why why;         ///< what stops it short of a goal out of reach; else SN_ARM_REACHED
} sn_arm_tick_report;

/// One tick of a servo loop: move q towards a goal by one step, never faster than the limits on position,
/// velocity and acceleration allow, and in time to stop before a limit. The tool goes along a straight
/// line; where none leads on, from a stretched pose or at limits, the joints go to the nearest solution.
/// A goal that stands still and can be reached is reached; of another the arm comes to the nearest pose.
/// q must be inside the limits.
SN_API sn_status sn_arm_step(sn_arm *arm, const double goal[7], const sn_arm_tick *tick,
                             sn_arm_motion *motion, double *q, sn_arm_tick_report *report);

// --- goals in files --------------------------------------------------------------------------------

/// Goals that were read.
typedef struct sn_arm_goals sn_arm_goals;

/// Read a table of goals: a line of names, then x, y, z, qw, qx, qy, qz on each line, parted by commas,
/// semicolons, tabs or blanks. The columns go by their names, whichever their order; x, y and z alone are
/// places. Where none of the names is known they go by their order.
SN_API sn_status sn_arm_goals_read(const char *text, size_t length, const sn_allocator *allocator,
                                   sn_arm_goals **out, sn_error *error);
SN_API void sn_arm_goals_destroy(sn_arm_goals *goals);
SN_API int sn_arm_goals_count(const sn_arm_goals *goals);
/// True when the table has places alone: the rotations are 1, 0, 0, 0 then, and mean nothing. An arm for
/// them has SN_ARM_ROTATION_NONE.
SN_API bool sn_arm_goals_places(const sn_arm_goals *goals);
/// 7 * count numbers.
SN_API const double *sn_arm_goals_data(const sn_arm_goals *goals);

/// Write a table of what was found: reached (1 or 0), position_error, rotation_error and the joints' names,
/// then a line a goal. Numbers are rounded to 1e-15, inside the limits.
/// @param reports  count of them, or NULL: the joints alone
SN_API sn_status sn_arm_write_csv(const sn_arm *arm, int count, const double *q,
                                  const sn_arm_report *reports, const sn_sink *sink,
                                  sn_error *error);

#ifdef __cplusplus
}
#endif
