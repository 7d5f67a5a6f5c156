// SPDX-License-Identifier: MIT
// The steps of a take, each by itself: matching labels, calibration, what cannot be, the fit.
#pragma once

#include <math.h>

#include "base/memory.h"
#include "sinew/take.h"
#include "sinew/track.h"
#include "track/each.h"
#include "track/lanes.h"

// --- input -------------------------------------------------------------------------------------------

/// What the fit and the calibration read. All pointers must stay valid.
typedef struct sn_fit_input {
    const sn_model *model;  ///< with markers
    const sn_recording *recording;
    const int *column;  ///< per marker of the model: its marker in the recording, -1 for none
    sn_axis_map axes;
    int up;            ///< the model's axis that is: 1, 2 or 3; 0: not known
    int first, count;  ///< frames, from 0
    const unsigned char
        *wrong;       ///< count x nmarker: 1 for samples that are known to be wrong; NULL: none
    const bool *cut;  ///< count: the recording does not go on there; NULL: nowhere
    const struct sn_ik_plan *plan;  ///< what OpenSim's files add; NULL for nothing
    const sn_model *limited;        ///< the model with the limits of its file; NULL for none
    const unsigned char
        *dropped;  ///< count x nmarker: bit 0 for samples that are wrong; NULL: none
    const struct sn_fit_fill *fill;  ///< where such markers would be; fill.c
    int nfill;
    const unsigned char
        *hidden;  ///< count x nv: 0 where samples show it; NULL: not known, or everything is shown
} sn_fit_input;

/// Match the model's markers with the recording's. @param subject NULL, or "Daniel" for "Daniel:LFHD"
/// @param column  one number per marker of the model
/// Returns how many were found, or -1 when several subjects have a marker of the same name.
int sn_fit_match(const sn_model *model, const sn_recording *recording, const char *subject,
                 int *column);

// --- calibration -------------------------------------------------------------------------------------

/// The ends of a coordinate's range that do not hold in a take, and how far its markers take it there, radians.
typedef struct sn_left_range {
    bool lower, upper;
    double reached;
} sn_left_range;

/// What is known of a shape before it is looked for.
typedef struct sn_calibrate_options {
    uint32_t version;
    int frames;  ///< that the shape is found from, spread over the take; default 60
    bool scale;  ///< also three factors for each body
    int only;    ///< without `scale`: the joint whose body alone gets factors; default -1: none
    const sn_osim_coordinates *coordinates;  ///< of an .osim file; NULL: the usual figure's posture
    const sn_left_range *left;  ///< nv: ends of their ranges that do not hold; NULL: all do
    const double *doubt;        ///< nmarker: how well a place is known, metres; NULL: by the names
    const sn_fit_input *still;  ///< a static trial of the same model; NULL for none
    double height;              ///< of the person, metres; 0: not known
    const sn_known_length *lengths;
    int nlength;
    sn_take_sure
        *sure;   ///< filled with how sure all of it is: nmarker + 2 njoint entries; may be NULL
    int *nsure;  ///< and how many there are
    double *
        energy;  ///< filled with how unlikely places, lengths and postures are, twice the logarithm, all frames counted
                 ///< as usual: to compare labels; may be NULL
    void (*progress)(void *user, double fraction);
    void *progress_user;
    int threads;      ///< default 1; the result has the same bits for any number
    sn_threads pool;  ///< threads to use for it; default sinew's own
    sn_cancel cancel;
} sn_calibrate_options;

sn_calibrate_options sn_calibrate_options_default(void);

/// Find where the markers sit, and with `scale` how large the bodies are, together with the poses.
/// @param input     a model with limits tells more of the postures
/// @param position  3 numbers per marker of the model: the new places in their joints' frames
/// @param stretch   per joint: what its vectors to markers and other joints are multiplied with
sn_status sn_calibrate(const sn_fit_input *input, const sn_calibrate_options *options,
                       const sn_allocator *allocator, double *position, sn_mat3 *stretch,
                       sn_calibrate_report *report, sn_error *error);

/// How tall one is whose legs are as long as a model's are at a pose, metres; 0 where the names of its legs are not known.
sn_status sn_fit_height(const sn_model *model, const double *q, const sn_allocator *allocator,
                        double *out);

/// An estimate with priors: see estimate.c.
typedef struct sn_estimate_options {
    sn_calibrate_options
        asked;                 ///< with its doubts; what it says of coordinates is in the following
    const sn_fit_input *take;  ///< its model is the figure as it was given
    int still_frames;          ///< of the static trial; default 4
    double independent;        ///< how many independent frames those are worth; default 2
    double sigma;              ///< of a marker in a frame, metres; default 0.01
    const double *home;        ///< nq: where joints are drawn to
    const double *home_v;      ///< nv: the same as one number per velocity
    const double *rest;        ///< nv: how far from there they are, radians; INFINITY: anywhere
    const double *still_rest;  ///< nv: the same in the static trial
    const double *far;    ///< nv: beyond which a pull to there lets go, radians; 0: it does not
    const double *lasts;  ///< nv: 1 where a posture is kept for a second or so, 2 where that counts
                          ///< but while lengths are sought, else 0
    const double *lower, *upper;  ///< nv: ranges, infinite for none
    double range;                 ///< how far outside of them they may be, radians; default 0.03
} sn_estimate_options;

sn_estimate_options sn_estimate_options_default(void);

/// Find where the markers sit and how large the bodies are, together with the poses.
/// @param position  3 numbers per marker of the model: the new places in their joints' frames
/// @param stretch   per joint: what its vectors to markers and other joints are multiplied with
sn_status sn_estimate_shape(const sn_estimate_options *options, const sn_allocator *allocator,
                            double *position, sn_mat3 *stretch, sn_calibrate_report *report,
                            sn_error *error);

/// How well a marker's place on a generic figure is known, metres, by its name.
double sn_doubt_of_name(const char *name);
/// The same in a set that tells landmarks, which its file calls fixed, from others.
double sn_doubt_of_flag(const char *name, bool fixed);
/// How far joints beside a marker are turned where a sample says half as much of its place as at rest, degrees, by its
/// name; 0 for one that says as much anywhere.
double sn_bent_of_name(const char *name);
/// Does a marker's name say that it may be anywhere on its bone, as one of a cluster?
bool sn_is_tracking_name(const char *name);
/// What a marker weighs in a fit against others, by its name.
double sn_weight_of_name(const char *name);

// --- does it fit at all --------------------------------------------------------------------------------

/// Are the markers a mirror image of the model, or their labels of left and right exchanged? To be asked
/// before a calibration, which would absorb it.
/// @param input  a model with limits tells better
sn_status sn_fit_handedness(const sn_fit_input *input, const sn_cancel *cancel,
                            const sn_allocator *allocator, sn_handedness *out);

/// The first frames that this looked at, and their poses with labels as they are.
enum { SN_FIT_FEW = 2 };
typedef struct sn_fit_few {
    int count;
    int frame[SN_FIT_FEW];  ///< of the recording
    double *q;              ///< SN_FIT_FEW x nq
} sn_fit_few;

/// @param poses  with room, count 0; NULL: not wanted
sn_status sn_fit_handedness_poses(const sn_fit_input *input, const sn_cancel *cancel,
                                  const sn_allocator *allocator, sn_handedness *out,
                                  sn_fit_few *poses);

/// The marker of the same name on the other side; its own where there is none.
int sn_fit_twin(const sn_model *model, int marker);
/// Does a marker sit on the upper arm, the thigh or below? Shoulders go with arms, where a figure has one on each side.
bool sn_fit_is_on(const sn_model *model, bool legs, int marker);

/// How far a model's markers sit from their bones, the ways from their joints to the joints' children.
typedef struct sn_bone_report {
    double rms, worst;  ///< metres
    int worst_marker;   ///< -1 when there are none
    double size;  ///< of the figure: the longest side of the box around its joints at the zero pose
} sn_bone_report;

sn_status sn_fit_bones(const sn_model *model, const sn_allocator *allocator, sn_bone_report *out);

// --- the fit -----------------------------------------------------------------------------------------

typedef struct sn_fit_options {
    uint32_t version;
    sn_track_options track;
    sn_limit_use limits;  ///< the model must have been made for the same
    double soft_weight;   ///< of soft limits, default 0.1
    double
        posture;  ///< weight of a pull of every joint but the root to its zero: 1e-7 by default, so
                  ///< that a radian weighs as much as one marker that is 0.3 mm off; 50 times that
                  ///< for hands, 300 times (5 mm) for the trunk and shoulders of a human figure:
                  ///< keeps joints that the markers hardly see from turning against each other
    double noise;       ///< of a marker along an axis, metres: sn_fitting_begin() measures it
    sn_loss loss;       ///< of every marker, default SN_LOSS_NONE
    double loss_scale;  ///< c, metres, default 0.02
    double smooth;      ///< seconds, default 0: see smooth.h; the take needs a rate
    int too_few;        ///< frames with fewer markers than this are `held`, default 3
    double barrier;     ///< mu of a barrier at hard limits (track/barrier.h); default 0: none
    int lanes;          ///< frames side by side at most; default 0: as many as the processor has
    sn_device device;   ///< that frames are followed on; default SN_DEVICE_CPU
    sn_cancel cancel;
} sn_fit_options;

sn_fit_options sn_fit_options_default(void);

/// Fit every frame of the input. Numbers are the same for any thread count.
/// @param motion   created for the model with input->count frames; filled
/// @param frames   input->count entries
/// @param markers  one per marker of the model
sn_status sn_fit_run(const sn_fit_input *input, const sn_fit_options *options,
                     const sn_allocator *allocator, sn_motion *motion, sn_fit_frame *frames,
                     sn_fit_marker *markers, sn_fit_summary *summary, sn_error *error);

/// A marker that leaps away and back again; leaps.c.
typedef struct sn_fit_leap {
    int first, last;  ///< where it is elsewhere: frames from 0, in the fitted range
    double size;      ///< how far it leapt away, metres
} sn_fit_leap;

/// All such stretches of a marker, in the order of their ends. @param out  input->count entries
int sn_fit_find_leaps(const sn_fit_input *input, int marker, sn_fit_leap *out);
/// Marks, count x nmarker, for all samples between such leaps: right for a calibration, which has samples enough.
sn_status sn_fit_drop_leaps(const sn_fit_input *input, const sn_allocator *allocator,
                            unsigned char *dropped);
/// What is a leap of this marker, metres.
double sn_fit_leap_least(const sn_fit_input *input, int marker);
/// How far a marker is from where it was going; false when that can't be told.
bool sn_fit_leap_at(const sn_fit_input *input, int marker, int frame, double *out);

/// A marker that is wrong for a stretch of frames and counts for nothing there.
typedef struct sn_fit_off {
    int marker;       ///< of the model
    int first, last;  ///< frames, from 0, in the fitted range
    double worst;     ///< metres from where it belongs
} sn_fit_off;

enum { SN_FIT_MOST_OFF = 256, SN_FIT_MOST_FILLED = 64 };

/// Where it would be, as the other markers and what it does elsewhere in the take tell; fill.c.
typedef struct sn_fit_fill {
    int marker, first, last;
    float *goal;  ///< 3 numbers per frame
} sn_fit_fill;

/// The same in steps: begin finds the first pose, advance solves some frames, finish does what needs all of
/// them. The motion has the same bits however the frames were cut.
typedef struct sn_fitting {
    sn_fit_input input;
    sn_fit_options options;
    sn_allocator allocator;
    sn_problem *problem;
    sn_lanes lanes;
    sn_tracker *tracker;              ///< with OpenSim's files, one frame after the other;
    sn_batch *batch;                  ///< or in lanes,
    sn_each each;                     ///< chains of frames side by side
    sn_each_rows rows;                ///< of these
    sn_track_frame *tracked;          ///< per frame, of the tracker
    sn_lane_frame *laned;             ///< per frame, of the lanes
    bool *changed;                    ///< per frame: a better valley was found later
    unsigned char *dropped;           ///< count x nmarker: bit 0 for samples that are wrong; gate.c
    bool *wrong;                      ///< per frame: it has such
    bool *loose;                      ///< nv: see sn_lane_options
    int *mirror;                      ///< njoint: see there
    unsigned char *hidden;            ///< count x nv, once there are poses: see the input
    sn_fit_off off[SN_FIT_MOST_OFF];  ///< stretches of such
    int noff;
    sn_fit_fill fill[SN_FIT_MOST_FILLED];  ///< and where the markers would be
    int nfill;
    double *start;  ///< nq; then the figure at rest
    sn_motion *motion;
    int solved;
} sn_fitting;

/// @param fitting  must stay where it is; to be ended in any case, also when this fails
/// @param motion   created for the model with input->count frames; filled by the other two
sn_status sn_fitting_begin(sn_fitting *fitting, const sn_fit_input *input,
                           const sn_fit_options *options, const sn_allocator *allocator,
                           sn_motion *motion, sn_error *error);
/// @param count  -1: all that are left
sn_status sn_fitting_advance(sn_fitting *fitting, int count);
/// All frames must be solved.
sn_status sn_fitting_finish(sn_fitting *fitting, sn_fit_frame *frames, sn_fit_marker *markers,
                            sn_fit_summary *summary);
void sn_fitting_end(sn_fitting *fitting);

/// fit_each.c: how each frame of a setup is solved; a batch for the take where lanes can do that, none where they cannot;
/// and how far it is.
sn_track_options sn_fit_plan_options(const sn_fitting *fitting);
sn_status sn_fit_open_each(sn_fitting *fitting, sn_error *error);
/// Why frames are not solved side by side; NULL: they are.
const char *sn_fit_one_by_one(const sn_fitting *fitting);
void sn_fit_tell_each(const sn_fitting *fitting);

/// gate.c: samples that are wrong lose their weight, and their frames are followed again without them.
sn_status sn_fit_gate(sn_fitting *fitting);

/// gate_plan.c: the same for takes with an OpenSim model, whose leaps were left out from the beginning.
sn_status sn_fit_gate_plan(sn_fitting *fitting, sn_track_goals goals);

/// fill.c: how far a marker is from its place, in the frame of its joint, where a frame is solved without the markers that
/// have no weight in frame `as`. @return SN_ERR_ARGUMENT where there is no sample of it
sn_status sn_fit_off_without(sn_fitting *fitting, int marker, int as, int frame, sn_vec3 *off);
/// How unlike two poses are about a marker, rad^2.
double sn_fit_unlike(const sn_fitting *fitting, int marker, sn_lane_worker *worker, const double *a,
                     const double *b);
/// beside.c: where a marker would be in a stretch by those beside it. @param goal  3 numbers per frame, NAN where they do not tell
/// @return how well they tell it where it is known, metres; INFINITY where they do not
double sn_fit_beside(const sn_fit_input *input, int marker, int first, int last, float *goal);
/// Stretches before which a marker leaps away from those beside it, and after which back, while it is not seen.
/// @param out  `room` entries @return how many
int sn_fit_leaps_over_gaps(const sn_fit_input *input, int marker, sn_fit_leap *out, int room);
/// fill.c: such goals for stretches that were dropped, before there are poses;
sn_status sn_fit_fill_dropped(sn_fitting *fitting);
/// for those that were found since, whose frames are followed with them.
sn_status sn_fit_follow_filled(sn_fitting *fitting);
/// Places for markers that have lost their weight, and the frames solved with them.
sn_status sn_fit_fill_in(sn_fitting *fitting);

/// smoothing.c: the whole take with a penalty on acceleration, see smooth.h, in windows that overlap.
/// @param goals  of a frame; gets a copy of the input
sn_status sn_fit_smooth(const sn_fit_input *input, const sn_fit_options *options,
                        const sn_problem *problem, sn_track_goals goals,
                        const sn_allocator *allocator, sn_motion *motion);

/// Whether a take of this rate can be smoothed so; the error says why not.
sn_status sn_fit_check_smooth(double seconds, double rate, sn_error *error);

/// Two markers that seem to have exchanged their labels for a stretch of frames.
typedef struct sn_fit_swap {
    int a, b;         ///< of the model
    int first, last;  ///< frames, from 0, in the fitted range
    double given,
        exchanged;  ///< the sum of objectives of some of these frames with labels as they are,
                    ///< and exchanged: below 0.75 of it
} sn_fit_swap;

/// Find them: stretches that begin or end with a jump of both markers, each to where the other one was
/// going, and that fit far better with their labels exchanged.
/// @param motion  the fit
/// @param out     `most` entries
sn_status sn_fit_swaps(const sn_fit_input *input, const sn_motion *motion,
                       const sn_allocator *allocator, sn_fit_swap *out, int most, int *count);

/// Frames from 0 in which two markers of a pair jump, each to where the other one was going, or most of several pairs at
/// once; where there is one pair, also those in which it comes back.
/// @param out  `most` entries, 32 at least
sn_status sn_fit_swap_events(const sn_fit_input *input, const int (*pair)[2], int npair,
                             const sn_allocator *allocator, int *out, int most, int *count);

/// The errors of any motion against the input: what sn_fit_run() fills, for frames that are already fit.
sn_status sn_fit_measure(const sn_fit_input *input, const sn_motion *motion,
                         const sn_allocator *allocator, sn_fit_frame *frames,
                         sn_fit_marker *markers, sn_fit_summary *summary);

// --- what they share ----------------------------------------------------------------------------

/// Somewhere to place a model: a workspace without tasks, and a pose.
typedef struct sn_fit_place {
    sn_problem *problem;
    sn_workspace *workspace;
    double *q;
} sn_fit_place;

/// Axes are 0, 1 or 2, and all numbers finite.
bool sn_axis_map_good(const sn_axis_map *map);
// Each axis once, signs 1 or -1; the scale is not looked at.
bool sn_axis_map_proper(const sn_axis_map *map);

/// Nothing in an input is missing or out of range; `motion` (may be NULL) is one of it.
bool sn_fit_input_good(const sn_fit_input *input, const sn_motion *motion);

sn_status sn_fit_place_open(sn_fit_place *place, const sn_model *model,
                            const sn_allocator *allocator);
void sn_fit_place_close(sn_fit_place *place, const sn_allocator *allocator);

/// A sample that is there.
static inline bool sn_fit_there(const double *p) {
    return isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2]);
}

/// A marker's goal in the model's world from a row of the recording; false when it has none there.
static inline bool sn_fit_goal_in(const sn_fit_input *input, const double *row, int marker,
                                  double goal[3]) {
    // asked for every sample many times over: sn_recording_present() and sn_axis_map_point() check what is checked
    const int m = input->column[marker];
    const sn_axis_map *map = &input->axes;
    if (m < 0 || !sn_fit_there(row + 3 * (size_t)m)) return false;
    for (int i = 0; i < 3; i++)
        goal[i] = map->scale * map->sign[i] * row[3 * (size_t)m + (size_t)map->axis[i]];
    return true;
}

/// The same of a frame of the recording; false when it has none in this frame (from 0, of the recording).
bool sn_fit_goal(const sn_fit_input *input, int marker, int frame, double goal[3]);

/// Where a marker that is wrong would be in a frame of the fitted range; false where nobody knows.
bool sn_fit_filled(const sn_fit_input *input, int marker, int frame, double goal[3]);

/// Is a sample of the fitted range (frame from 0 there) wrong, as gate.c found?
bool sn_fit_dropped(const sn_fit_input *input, int marker, int frame);

/// A pose to start a take from: a cold solve of a frame.
/// @param problem  one point task per marker of the model; its goals are changed
sn_status sn_fit_first_pose(const sn_fit_input *input, sn_problem *problem, int frame,
                            const sn_allocator *allocator, double *q);

/// The problem of a frame: one point task per marker, then what holds the joints.
sn_status sn_fit_problem(const sn_fit_input *input, const sn_fit_options *options,
                         const sn_allocator *allocator, sn_problem **out, sn_error *error);

/// The goals of a frame of the fitted range into such a problem. @param user  a sn_fit_input
sn_status sn_fit_goals(void *user, int frame, sn_problem *problem);

/// f of every frame of the input at a motion's poses.
sn_status sn_fit_objective(const sn_fit_input *input, const sn_fit_options *options,
                           const sn_allocator *allocator, const sn_motion *motion, double *f);

/// The joint that carries the whole figure: the root, or the last of free joints in a row below it that carry nothing else.
int sn_fit_floater(const sn_model *model);
/// Degrees of freedom without those of joints above it.
int sn_fit_freedom(const sn_model *model);

/// The zero pose (nq), and what a pull to it weighs (nv): nothing where the figure floats, much for free joints above that, 1
/// for the rest.
void sn_fit_neutral(const sn_model *model, double *q, double *weight);
/// The same, with more for the parts of a human figure that turn by little: posture.c.
void sn_fit_posture(const sn_model *model, double *q, double *weight);

/// Is it one of the trunk's, the neck's or a shoulder girdle's, by these weights?
bool sn_fit_is_trunk(const sn_model *model, const double *weight, int joint);

/// What holds a human figure where markers leave it open: prior.c.
typedef struct sn_fit_prior {
    double *q, *weight;     ///< nq: the pose at rest; nv: what a pull to it weighs
    double *lower, *upper;  ///< nv: walls, infinite for none; as in sn_task
    double *spread;  ///< nv: how far a joint mostly is from there, radians; for a calibration
    double *far;    ///< nv: beyond which the pull in a calibration lets go, radians; 0: it does not
    double *lasts;  ///< nv: see sn_estimate_options
    double *turn;   ///< nv: 1 where an upper arm or a thigh turns about its bone and no marker
                    ///< shows it, else 0
} sn_fit_prior;
/// @param ranges  the model with the limits of its file; NULL for none
/// @param out     its q goes to sn_release() in any case; the others belong to it
sn_status sn_fit_find_prior(const sn_model *model, const sn_model *ranges,
                            const sn_allocator *allocator, sn_fit_prior *out);
/// One that holds nothing: the zero pose, weights 0, no walls.
sn_status sn_fit_no_prior(const sn_model *model, const sn_allocator *allocator, sn_fit_prior *out);

/// What an angle of a human figure's joint is called: "flexion", "abduction", "rotation", "side bending"; "" where
/// that is not known.
sn_status sn_fit_angle_term(const sn_model *model, int joint, int dof,
                            const sn_allocator *allocator, const char **out);

/// A model of so few joints is a thing, not a body: it neither stands nor lies.
enum { SN_FIT_RIGID = 3 };

/// The share of frames in which the lowest markers rest on the zero of this axis of the recording.
double sn_fit_floor_share(const sn_fit_input *in, int axis, double sign);

/// Do they in nearly all frames? Feet stand on a floor, backs lie.
bool sn_fit_floor(const sn_fit_input *in, int axis, double sign);

/// sn_axes_find() for markers that are matched already. @param in  without axes and frames
sn_status sn_fit_axes(const sn_fit_input *in, int model_up, double model_up_sign,
                      const sn_allocator *allocator, sn_axes_report *out);

/// The recorded body's size against the figure's, in the recording's own numbers; 0 when it can't be told.
/// @param rest    where the markers are at the zero pose
/// @param figure  how far those are spread
/// @param sure    good to some ten percent; false: it tells units apart, and no more
sn_status sn_fit_size(const sn_fit_input *input, const sn_vec3 *rest, double figure,
                      const sn_allocator *allocator, double *out, bool *sure);

/// Mean acceleration of the joints' angles over a motion, rad/s^2; 0 without a rate or three frames.
sn_status sn_fit_acceleration(const sn_model *model, const sn_motion *motion,
                              const sn_allocator *allocator, double *out);

/// Of the coordinates that mean the same pose, those nearest to the frame before; in the first, to zero or to the
/// defaults of OpenSim's files. No joint or marker moves. @param plan  what those files hold stays; NULL for nothing
void sn_fit_tidy(const sn_model *model, const struct sn_ik_plan *plan, sn_motion *motion);
