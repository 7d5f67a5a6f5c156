// SPDX-License-Identifier: MIT
// The poses of a take, chosen along time.
//
// f of a frame has several valleys, often equally deep, and each can be followed from frame to frame. So the
// take is followed from several seeds both ways, one every few seconds; where two
// neighbours meet, both are followed on until they have merged, and the cheapest way through their poses
// (f, and how far joints turn between two frames) decides where to change over. Several times a second another
// valley is looked for from the figure at rest, and by all means where the result is suspect; what is found is
// followed, and has to be cheaper in the same sense. At last every pose is solved again, held by the middle of its
// neighbours.
//
// All of it is the same for any number of threads, and for any cut of the frames into chunks or advances: seeds stand
// where the take has them, and what one thread does depends on poses only that nobody writes at that time. All weights
// are per second: frame rates behave alike.
#pragma once

#include <math.h>
#include <stdatomic.h>

#include "batch/batch.h"
#include "math/vec3.h"
#include "model/model.h"
#include "sinew/batch.h"
#include "sinew/track.h"

typedef struct sn_lane_options {
    sn_solver_options solver;  ///< of a frame
    double rate;               ///< frames per second; 0: not known, taken for 120
    int goals;                 ///< tasks 0 ... goals - 1 are a frame's
    int walls;                 ///< a task that is raised while valleys are looked for; -1 for none
    int threads;               ///< the result has the same bits for any number
    sn_threads pool;
    const double *home;  ///< nq: the figure at rest, to look for valleys from; NULL: its start
    const bool
        *loose;  ///< nv: turns against its neighbour with hardly a word of the goals; NULL: none
    int lanes;   ///< side by side at most; 0: as many as the processor has
    sn_device device;   ///< that seeds are followed on where it can do it; see lanes_device.c
    int up;             ///< which axis of its world is: 1, 2 or 3; 0: not known
    const int *mirror;  ///< njoint, file order: the other side's, -1: none; NULL: not known
    sn_cancel cancel;
    void (*progress)(void *user, int done, int nframe, const sn_track_frame *latest);
    void *progress_user;
} sn_lane_options;

/// What is kept of the solves of a frame; a whole report would be as large as the pose.
typedef struct sn_lane_frame {
    int iterations, functions, gradients, hessians, factorizations;  ///< of all of them
    short active;                                                    ///< limits, in the last one
    unsigned char stop;                                              ///< sn_stop of the last one
    bool restarted;  ///< another valley was looked for
} sn_lane_frame;

/// What one thread works with.
typedef struct sn_lane_worker {
    sn_problem *problem;  ///< the tasks, and the rest task behind them
    sn_solver *solver, *cold;
    sn_report latest;  ///< of its last solve
    sn_workspace *ws;
    double *previous, *before, *q, *trial;  ///< nq
    double *room, *begun;                   ///< nq, of steps
    double *near;                           ///< nq: coordinates wound otherwise
    bool guessed;                           ///< q comes from other frames
    double *delta, *weight;                 ///< nv, file order
    double *alt, *cost;                     ///< window x nq: a track of its own; window: f along it
    unsigned char *from;                    ///< 2 x window: how the cheapest way came here
} sn_lane_worker;

/// A frame in a lane, and the frames before it.
typedef struct sn_lane_side {
    int frame;                  ///< -1: none
    int step, end;              ///< the next are `step` on, before `end`
    bool moving;                ///< `before` holds something
    double *previous, *before;  ///< nq: the last two poses of a chain
    double *start, *rest;       ///< nq: where it begins, and what it is pulled to
    const double *weight;       ///< nv, file order: how much
    double *own_weight;         ///< nv: for weights of its own
} sn_lane_side;

struct sn_lanes;

/// Frames that may be solved side by side, as a number of items that are taken one after the other.
typedef struct sn_lane_source {
    /// The next frame of a lane, of the item that it is at or the next one (sn_lane_next_item()): all but the last two of
    /// its numbers. Frame -1 when none is left.
    sn_status (*next)(struct sn_lanes *lanes, sn_lane_worker *w, sn_lane_side *side);
    /// It is solved: its pose is in w->q.
    void (*took)(struct sn_lanes *lanes, sn_lane_worker *w, sn_lane_side *side);
    bool near;  ///< starts were solved before, with nearly the same tasks
} sn_lane_source;

/// A take on its way. Owned by the caller, who ends it in any case.
typedef struct sn_lanes {
    sn_allocator allocator;
    const sn_model *model;
    sn_lane_options options;
    size_t nq, nv;
    int rest;  ///< index of the rest task
    int nframe, window, solved;
    int span, nspan;  ///< frames between seeds, and how many of these there are
    int placed;       ///< joints, in sweep order, that place the figure
    sn_track_goals goals;
    void *user;
    double *q;              ///< the caller's: nframe x nq
    sn_lane_frame *frames;  ///< the caller's
    double *f;              ///< nframe: of the poses, without rest
    double *start, *home;   ///< nq
    double *seen;           ///< nv, file order: the Gauss-Newton diagonal
    double *hold;           ///< nv: weights of the pull to the last pose
    double *full;           ///< nv: what would hold it as well as the goals do
    double *bind;           ///< nv: weights of the pull to the neighbours' middle
    double *drawn;          ///< nv: weights of what draws it to the figure at rest
    bool *keep;             ///< nv, sweep order: what may move
    int *seeds;             ///< nspan: the frame that others are followed from
    double median;          ///< of f
    bool *moved;            ///< nframe: see sn_lanes_join()
    bool corners;           ///< while all but the last sweep of polishing is made
    int odd;                ///< which half of the frames is polished: 0 or 1
    bool *loose;            ///< nv: see the options
    bool *shown;            ///< goals: there is one in a frame that sees much
    bool *restless;         ///< nframe while leaps are calmed
    unsigned char *hidden;  ///< nframe x nv, once gaps are bridged: 0 where goals show it
    void *extra;            ///< for passes of the caller's
    sn_batch *batch;        ///< lanes for its frames; NULL: one by one
    bool strides;           ///< in which frames are solved by plain steps
    sn_lane_side *sides;    ///< a lane each
    void *side_owner;
    const sn_lane_source *source;   ///< what is in the lanes
    int items, width;               ///< of it; and lanes of a thread
    atomic_int item;                ///< the next one
    atomic_int side_frames;         ///< solved in lanes, each time they are
    const char *one_by_one;         ///< why there are no lanes; NULL: there are
    struct sn_lane_device *device;  ///< NULL: this processor follows
    char device_note[400];          ///< where frames are followed, and why not elsewhere
    atomic_int device_frames;       ///< that a device followed
    atomic_int followed;            ///< frames, of all workers
    int passes;                     ///< over all frames, since they have poses
    void *owner;
    int nworker;
    sn_lane_worker *workers;
} sn_lanes;

/// @param problem  copied
/// @param start    a pose to look for others from: that of `frame`, which sees much
/// @param q        nframe x nq, filled by the others
/// @param frames   nframe
sn_status sn_lanes_begin(sn_lanes *lanes, const sn_problem *problem, const sn_lane_options *options,
                         int nframe, sn_track_goals goals, void *user, const double *start,
                         int frame, const sn_allocator *allocator, double *q,
                         sn_lane_frame *frames);
/// Follow the next seeds until `count` more frames (-1: all) have poses.
sn_status sn_lanes_advance(sn_lanes *lanes, int count);
/// All that needs every frame: the seams, and another look where that seems worth it.
/// @param moved  nframe: set where a pose comes from another valley than its chunk's; may be NULL
sn_status sn_lanes_join(sn_lanes *lanes, bool *moved);
/// Follow frames first ... last again from the poses on both sides, as their goals have changed.
sn_status sn_lanes_again(sn_lanes *lanes, int first, int last);
/// What no goal sees for some frames: smoothly from where it was to where it will be.
sn_status sn_lanes_bridge(sn_lanes *lanes);
/// Where something is hidden, let a frame be pulled to where it was led as if nothing drew it to the figure at rest.
/// @param side  its rest is what it is pulled to, its own weights are how much: both are changed
/// @return false when nothing of the frame is hidden
bool sn_lane_keep_hidden(const sn_lanes *lanes, sn_lane_side *side);
/// Every pose once more, between its neighbours.
sn_status sn_lanes_polish(sn_lanes *lanes, int sweeps);
void sn_lanes_end(sn_lanes *lanes);

// --- what its files share --------------------------------------------------------------------------

static inline double *sn_lane_pose(const sn_lanes *l, int frame) {
    return l->q + (size_t)frame * l->nq;
}

/// Frames per second.
static inline double sn_lane_rate(const sn_lanes *l) {
    return l->options.rate > 0 ? fmin(l->options.rate, 1e6) : 120;
}

/// Work on item `i`.
typedef sn_status (*sn_lane_pass)(sn_lanes *lanes, sn_lane_worker *w, int i);
/// A pass over `count` items on all threads.
sn_status sn_lanes_run(sn_lanes *lanes, sn_lane_pass pass, int count);

/// lanes_bridge.c: from x0 before a gap to x1 behind it, as fast as there; speeds are per frame.
double sn_lane_cubic(const sn_lanes *lanes, int first, int last, int frame, double x0, double x1,
                     double v0, double v1);
/// Frames over which a speed at its edge is measured.
int sn_lane_speed_window(const sn_lanes *lanes);

/// Three angles that make any rotation; which of them is which changes with the pose.
static inline bool sn_lane_is_rotation(const sn_joint *joint) {
    return joint->type == SN_JOINT_EULER && joint->nv == 3;
}

/// A rotation of which something is hidden.
typedef struct sn_lane_swing {
    float axis[3];    ///< of its body, about which a turn is all that is hidden; 0: more is
    float angles[3];  ///< of it, as goals have the rest
} sn_lane_swing;

/// How many joints there are that sn_lane_is_rotation(), but for the root.
int sn_lane_nrotation(const sn_lanes *lanes);
/// lanes_seen.c: mark what is hidden in lanes->hidden, which is all zero.
/// @param swings  nframe x sn_lane_nrotation(), in sweep order; written where these are marked
sn_status sn_lanes_find_hidden(sn_lanes *lanes, sn_lane_swing *swings);
/// How much of what is marked so is still seen, of what usually is.
double sn_lane_still_seen(unsigned char mark);
/// Let marked rotations go about their axes to where poses have them, and be as goals show them else.
void sn_lanes_keep_swings(sn_lanes *lanes, const sn_lane_swing *swings);

/// A coordinate that is one number.
typedef struct sn_lane_coordinate {
    int joint, q, v;
    bool slides;  ///< it is a length
} sn_lane_coordinate;

/// The figure in a mirror.
typedef struct sn_lane_mirror {
    int *of;         ///< which one of a list of coordinates it is there
    double *sign;    ///< and with which sign
    sn_vec3 across;  ///< unit, with the figure at zero
} sn_lane_mirror;

/// In a mirror across which n, of length 1, points.
static inline sn_vec3 sn_lane_reflect(sn_vec3 x, sn_vec3 n) {
    return v3_add(x, v3_scale(-2 * v3_dot(n, x), n));
}

/// lanes_mirror.c: the image of coordinates, all of joints but the root.
/// @return false where the figure is not its own mirror image
bool sn_lane_mirror_find(const sn_lanes *lanes, const sn_lane_coordinate *all, int count,
                         sn_lane_mirror *mirror);

/// lanes_like.c: lead the joints whose gap this is by what they did when the rest of the body moved likewise.
/// @param mirror  NULL: the figure is not its own mirror image
/// @param room    sn_lane_like_room() numbers
/// @param values  for each frame of the gap what sn_lane_like_write() writes
/// @return false where nothing can be learnt
bool sn_lane_like(const sn_lanes *lanes, int first, int last, const sn_lane_coordinate *all,
                  int count, const sn_lane_mirror *mirror, double *room, double *values);
void sn_lane_like_write(sn_lanes *lanes, int first, int last, const sn_lane_coordinate *all,
                        int count, const double *values);
size_t sn_lane_like_room(const sn_lanes *lanes, int count);

/// How far a pass is that looks at all frames once more, told to the caller.
void sn_lane_tell(const sn_lanes *lanes, double share);

/// lanes_side.c: make lanes ready.
sn_status sn_lane_side_begin(sn_lanes *lanes, const sn_problem *problem);
void sn_lane_side_end(sn_lanes *lanes);
/// All frames of a source, on all threads.
sn_status sn_lanes_aside(sn_lanes *lanes, const sn_lane_source *source, int items);
/// The next item that nobody has begun; -1: there is none.
int sn_lane_next_item(sn_lanes *lanes, const sn_lane_worker *w);
/// Plain steps in one lane from w->q, with what w->problem holds; false when that takes a solver.
/// @param near  w->q was solved before, with nearly the same tasks
bool sn_lane_steps(sn_lanes *lanes, sn_lane_worker *w, bool near, sn_report *report);

/// lanes_device.c: make a device ready where one was asked for. Without one l->device_note says why.
sn_status sn_lane_device_begin(sn_lanes *lanes, const sn_problem *problem);
void sn_lane_device_end(sn_lanes *lanes);
/// Follow the seeds of `count` spans on it, from a first one on.
sn_status sn_lane_device_follow(sn_lanes *lanes, int span, int count);

/// The frames of a span, and the one about its middle that others are followed from: its pose is found.
sn_status sn_lane_seed(sn_lanes *lanes, sn_lane_worker *w, int span, int *first, int *end,
                       int *seed);
/// What the pull to `rest` adds to f at q. @param weight  nv, file order
double sn_lane_pulled(const sn_lanes *lanes, sn_lane_worker *w, const double *weight,
                      const double *rest, const double *q);
/// Is it one that others are followed from, or that nothing polishes?
bool sn_lane_is_careful(const sn_lanes *lanes, int frame);
/// Raise the walls among the problem's tasks, where it has some, as they are while a valley is looked for.
sn_status sn_lane_raise_walls(const sn_lanes *lanes, sn_problem *problem);
/// By the plain solver, from w->q into w->q, held to `rest` (NULL: not at all); the report is w->latest.
sn_status sn_lane_solver(sn_lanes *lanes, sn_lane_worker *w, int frame, const double *rest);
/// What a solve took, added to a frame's.
void sn_lane_count(sn_lane_frame *frame, const sn_report *report);
/// Where the motion of two poses goes on, into q.
void sn_lane_extrapolate(const sn_lanes *lanes, sn_lane_worker *w, const double *before,
                         const double *previous, double *q);

/// Solve a frame from w->q into w->q, held to `rest` (NULL: not at all); its f without that.
sn_status sn_lane_solve(sn_lanes *lanes, sn_lane_worker *w, int frame, const double *rest,
                        double *f);

/// Follow from w->previous (a pose of frame - step) through a frame; the pose is in w->previous then.
/// @param moving  w->before holds the pose before
sn_status sn_lane_follow(sn_lanes *lanes, sn_lane_worker *w, int frame, bool moving, double *f);
/// A valley of a frame from w->q, into w->q.
sn_status sn_lane_look(sn_lanes *lanes, sn_lane_worker *w, int frame, double *f);
/// The same from the figure at rest, where `pose` has it.
sn_status sn_lane_look_from_home(sn_lanes *lanes, sn_lane_worker *w, int frame, const double *pose,
                                 double *f);

/// Coordinates of all poses, each nearest to those of the pose before.
void sn_lanes_unwind(sn_lanes *lanes);
/// Coordinates of the same pose that are nearest to `near`, of the joints `first` and behind it.
void sn_lane_unwind(const sn_model *model, int first, const double *near, double *q);
/// Those that are nearest to the figure at rest, of all joints but those that place the figure.
void sn_lane_wind_home(const sn_lanes *lanes, double *q);
/// The sum of squares of the angles between two poses, the root's left out, however their coordinates are wound;
/// *most: the largest.
double sn_lane_turn(const sn_lanes *lanes, sn_lane_worker *w, const double *a, const double *b,
                    double *most);
