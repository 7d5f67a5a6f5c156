// SPDX-License-Identifier: MIT
// An arm from the inside.
#pragma once

#include "arm/kernels.h"
#include "arm/seeds.h"

typedef struct sn_arm_device sn_arm_device;

/// Of a first start: its steps; after how many it is given up where it is farther than this f, or has not come nearer
/// by half.
enum { SN_ARM_FIRST_STEPS = 12, SN_ARM_LOOK_AFTER = 8 };
#define SN_ARM_FAR_F 0.05
/// A start that ends without a pose, but nearer than this, is stuck beside the goal: others would be, too.
#define SN_ARM_STUCK_F 1e-2

struct sn_arm {
    sn_allocator allocator;
    void *owner;  ///< the block behind everything below
    const sn_model *model;
    sn_arm_chain chain;
    sn_arm_seeds seeds;
    sn_arm_options options;  ///< its pointers are not kept
    double *pose;            ///< nq: the reference
    bool rests;
    double rest[SN_ARM_MAX];  ///< of the arm's numbers
    char (*name)[SN_MAX_NAME + 8];
    bool avx2, wide;             ///< the machine has registers for four doubles, for eight
    double place_tol, turn_tol;  ///< in units, squared; of the kernels' frame
    double usual;                ///< how far the nearest solution is from most starts, squared
    double *found;               ///< SN_ARM_SOLUTIONS * n
    double *far;                 ///< SN_ARM_SOLUTIONS: how far they are
    sn_arm_device *device;       ///< NULL: the processor
    sn_arm_device *lost;         ///< one that failed
    char note[1400];
    void *room[8];  ///< plain memory that was asked for
    int nroom;
};

/// A goal on its way.
typedef struct sn_arm_search {
    const sn_arm *arm;
    sn_frame goal;        ///< metres, in the base
    double numbers[12];   ///< as the kernels have it
    sn_arm_goal_key key;  ///< as the table has it
    double until;         ///< when the time is over; INFINITY: never
    int seeds, iterations;
    int next;    ///< of the table's starts for the goal
    bool stuck;  ///< one of them came to no pose that reaches, be it outside the limits
    double best[SN_ARM_LANES];  ///< the least f of a pose inside the limits, of each lane
    double best_q[SN_ARM_LANES][SN_ARM_MAX];
    double nearest;  ///< what is left at the nearest pose, as f
    bool timed_out;
    bool seen;                  ///< what is left at the pose that was found last is known:
    double position, rotation;  ///< it
} sn_arm_search;

/// Who wants every solution.
typedef struct sn_arm_collect {
    const double *near;  ///< which turns are taken
    void (*take)(struct sn_arm_collect *self, const double *q);
} sn_arm_collect;

/// Who gives goals and takes poses.
typedef struct sn_arm_source {
    const sn_arm *arm;
    const double *goals;  ///< 7 each
    /// The first start of goal i has ended; with `found`, in q.
    void (*end)(struct sn_arm_source *self, sn_arm_search *s, int i, bool found, const double *q);
} sn_arm_source;

/// Say where many goals are solved, and `why` not elsewhere.
void sn_arm_set_note(sn_arm *arm, const char *why);

/// A goal is finite and its quaternion not zero.
bool sn_arm_goal_good(const double goal[7]);

/// False when the goal is not good.
bool sn_arm_search_begin(sn_arm_search *s, const sn_arm *arm, const double goal[7]);

/// Is a pose of the kernels' numbers, where little or nothing is left, a solution inside the limits?
/// @param near  the turns nearest to this are taken; NULL: to the middle
bool sn_arm_search_accept(const sn_arm_search *s, const double *inner, const double *near,
                          double *q);

/// The same, and a look at what is left there: in the search, `seen`.
/// @param there  it is known to be at the goal; else it may be
bool sn_arm_search_arrives(sn_arm_search *s, bool there, const double *inner, const double *near,
                           double *q);

/// One step of scouts, eight or all, by whichever code.
void sn_arm_search_scout(const sn_arm *arm, const sn_arm_chain *chain, sn_arm_scouts *x, int count,
                         bool hold, bool pull);

/// One step of four lanes, by whichever code: the bits are the same.
void sn_arm_search_step4(const sn_arm *arm, sn_arm_state4 *x, bool hold, bool pull);

/// Whole turns into the limits where they can be, and then into the limits.
void sn_arm_search_clamp(const sn_arm_chain *chain, double *inner);

/// The next of the starts for a goal whose first and last angle are inside the limits; false when enough were tried
/// without regard to the limits: four of an arm with freedom to spare, where one fails by its limits alone, or one
/// that is stuck.
bool sn_arm_search_start(sn_arm_search *s, double *inner);

/// How one lane goes to the goal.
typedef struct sn_arm_newton {
    bool hold;      ///< inside the limits at every step
    int steps;      ///< at most
    int patience;   ///< steps after which each must come nearer by half, and to within
    double far;     ///< this, as f
    double last_f;  ///< from where a step may be the last: the pose is looked at before it counts
} sn_arm_newton;
/// From a start of the table, and from what a scout has found.
extern const sn_arm_newton sn_arm_first, sn_arm_finish;

/// Newton steps in one lane from a pose; true when it ends in a solution.
/// @param near  the turns nearest to this are taken; NULL: to the middle
bool sn_arm_search_newton(sn_arm_search *s, const sn_arm_newton *way, double *inner,
                          const double *near, double *q);

enum { SN_ARM_LANE_STEPS = 30 };
/// Four starts at a time inside the limits, from start number `from` on. True when one arrived.
/// @param until    starts that may be tried
/// @param steps    of each, at most; SN_ARM_LANE_STEPS where there is time
/// @param collect  gets every solution, until all starts are spent; NULL: the first ends it, in q
bool sn_arm_search_lanes(sn_arm_search *s, int from, int until, int steps, sn_arm_collect *collect,
                         double *q);

/// From a pose towards the goal and along what freedom is left towards a posture; true when it arrived.
bool sn_arm_search_near(sn_arm_search *s, const double *start, const double *want, int steps,
                        double *q);

/// The solution nearest to a posture, as far as a few starts tell; true when one is found.
bool sn_arm_search_nearby(sn_arm_search *s, const double *want, double *q);

/// The arm's `usual`, by trying. Only for an arm that is made but for that.
double sn_arm_usual_distance(const sn_arm *arm);

enum { SN_ARM_NEAREST_STEPS = 120, SN_ARM_NEARER_STEPS = 10 };
/// The nearest pose: from one of the kernels' numbers down to where nothing gets nearer.
/// @param steps  at most; the former, or the latter where it is seen soon whether there is more to it
void sn_arm_search_nearest(sn_arm_search *s, const double *from, int steps, double *q);

/// Four poses that fall towards nearest poses.
typedef struct sn_arm_fall {
    double (*start)[SN_ARM_MAX];  ///< in the kernels' numbers
    int steps;                    ///< at most
    const bool *loose;            ///< NULL, or variables whose limits do not count
    double share;                 ///< of what is left that a pose must promise to win, to go on
    int agree;                    ///< so many that rest at the lowest place are enough
    double enough;  ///< and one that is nearer than this, as f; of the first it ends both
    int together;  ///< of the first: so many at the lowest place, some of either, end both; 0: none
    double (*end)[SN_ARM_MAX];  ///< NULL, or where each of them came to
    double *q;  ///< the best of them, in the kernels' numbers; may be one of the starts
    double f;   ///< what is left there
} sn_arm_fall;

/// One fall or two, side by side where the machine can. Only for arms that can.
void sn_arm_search_fall(sn_arm_search *s, sn_arm_fall *fall, int count);
/// One pose on down; what is left there, as f.
double sn_arm_search_fall_on(sn_arm_search *s, int steps, double *low);
bool sn_arm_search_can_fall(const sn_arm *arm);

/// A goal that the first start missed: until it is reached, in q, or known or held to be beyond the reach; the nearest
/// pose found then in `low` (the kernels' numbers), what is left there, as f, in s->nearest. Only for arms that can.
/// @param most  starts that may be tried for the goal
bool sn_arm_search_comb(sn_arm_search *s, int most, double *low, double *q);
bool sn_arm_search_can_comb(const sn_arm *arm);

/// Whether a pose of the model's numbers is at the goal, and what is left, as f.
bool sn_arm_search_left(const sn_arm_search *s, const double *q, double *f);
/// Whether the time is over.
bool sn_arm_search_late(sn_arm_search *s);

/// The report of what was found.
void sn_arm_search_report(const sn_arm_search *s, const double *seed, const double *q, bool reached,
                          sn_arm_report *report);

/// What is left to do for one goal after its first start.
/// @param report  may be NULL
void sn_arm_search_end(sn_arm_search *s, bool found, double *q, sn_arm_report *report);

/// many.c: the first starts of many goals, four or eight side by side.
/// @param s  SN_ARM_WIDE of them
void sn_arm_search_many(sn_arm_search *s, int count, sn_arm_source *source);

/// Everything for one goal, after sn_arm_search_begin().
void sn_arm_search_run(sn_arm_search *s, const double *seed, double *q, sn_arm_report *report);
