// SPDX-License-Identifier: MIT
// Takes: the one way from a model and a recording of its markers to a motion.
//
//   sn_take_options o = sn_take_options_default();
//   sn_take_create(model, recording, &o, NULL, &take, &error);
//   sn_take_prepare(take);    // labels and marker set, world (axes, unit), shape, first pose
//   sn_take_solve(take, -1);  // every frame; or some at a time, for a preview
//   sn_take_finish(take);     // what needs the whole take
//   sn_take_motion(take); sn_take_model(take); sn_take_about(take); sn_take_finding(take, 0);
//   sn_take_destroy(take);
//
// The model and the recording stay as they are: axes and unit are a map between their worlds. What a
// person should know about a take is a list of findings, each a code with numbers; sn_take_sentence()
// makes the sentence.
#pragma once

#include "sinew/batch.h"
#include "sinew/files.h"
#include "sinew/motion.h"
#include "sinew/track.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What to do about a model's limits.
typedef enum sn_limit_use {
    SN_LIMITS_HARD,
    SN_LIMITS_SOFT,
    SN_LIMITS_OFF,
    SN_LIMITS_AUTO  ///< of a take: hard where it knows the coordinates of an .osim file, else off
} sn_limit_use;

// --- axes and units ----------------------------------------------------------------------------------

/// From a recording's world to a model's: out[i] = scale sign[i] in[axis[i]].
typedef struct sn_axis_map {
    int axis[3];     ///< the recording's axis that becomes the model's x, y, z
    double sign[3];  ///< 1 or -1
    double scale;    ///< 1 when the recording is in metres
} sn_axis_map;

/// The map that leaves everything as it is.
SN_API sn_axis_map sn_axis_map_identity(void);
/// From "yzx" or "x-zy": which of the recording's axes become the model's x, y, z. False when it is not a
/// rotation (a mirror image, an axis twice).
SN_API bool sn_axis_map_parse(const char *text, sn_axis_map *out);
/// The reverse: "yzx". At least 7 bytes.
SN_API void sn_axis_map_print(const sn_axis_map *map, char out[8]);
/// An axis from "x", "+Y", "-z": 0 1 2 and its sign. False when it is none.
SN_API bool sn_axis_parse(const char *text, int *axis, double *sign);
/// The rotation, without mirroring, that takes one up axis to the other and changes as little else as
/// can be: the cyclic one (z up to y up: "yzx") where the signs allow.
SN_API sn_axis_map sn_axis_map_up(int from, double from_sign, int to, double to_sign);
SN_API void sn_axis_map_point(const sn_axis_map *map, const double in[3], double out[3]);

// --- marker sets -----------------------------------------------------------------------------------

/// Bytes of a marker's label in a set.
enum { SN_MAX_LABEL = 63 };

/// One marker of a set.
typedef struct sn_marker_place {
    char name[SN_MAX_LABEL + 1];  ///< its label in recordings, without a subject
    char joint[SN_MAX_NAME + 1];  ///< the joint it sits on
    double position[3];           ///< in the joint's frame, metres; a first guess when not `placed`
    bool placed;                  ///< the position is known; else it has to be calibrated
    double weight;                ///< 0 or above
    double doubt;                 ///< how far off the position may be, metres; 0: by its name
} sn_marker_place;

/// Which marker sits where on which joint. Constant once made; threads may share one.
typedef struct sn_marker_set sn_marker_set;

/// @param places  copied
SN_API sn_status sn_marker_set_create(const char *name, const sn_marker_place *places, int count,
                                      const sn_allocator *allocator, sn_marker_set **out,
                                      sn_error *error);
SN_API void sn_marker_set_destroy(sn_marker_set *set);
SN_API const char *sn_marker_set_name(const sn_marker_set *set);
SN_API int sn_marker_set_count(const sn_marker_set *set);
SN_API const sn_marker_place *sn_marker_set_place(const sn_marker_set *set, int i);

/// {"markers": [{"name": "LFHD", "joint": "head", "position": [x, y, z], "weight": 1}, ...]}. Without
/// "position" a marker has to be calibrated. A native model file will do: its markers are taken.
SN_API sn_status sn_marker_set_read_json(const char *text, size_t length,
                                         const sn_allocator *allocator, sn_marker_set **out,
                                         sn_error *error);
/// A set from a file's bytes: JSON; where they begin with '<', an OpenSim MarkerSet (markers on bodies that the
/// model lacks are left out), or the tasks of its inverse kinematics.
/// @param model  whose markers or bodies OpenSim's file speaks of
SN_API sn_status sn_marker_set_read(const char *text, size_t length, const sn_model *model,
                                    const sn_allocator *allocator, sn_marker_set **out,
                                    sn_error *error);
SN_API sn_status sn_marker_set_write_json(const sn_marker_set *set, const sn_sink *sink,
                                          sn_error *error);

/// The markers a model has.
SN_API sn_status sn_marker_set_of_model(const sn_model *model, const sn_allocator *allocator,
                                        sn_marker_set **out, sn_error *error);

/// The markers of a model that a task file of OpenSim's inverse kinematics (<IKTaskSet>) lists and applies,
/// with its weights. Tasks about other markers, and about coordinates, are not looked at.
SN_API sn_status sn_marker_set_read_tasks(const char *text, size_t length, const sn_model *model,
                                          const sn_allocator *allocator, sn_marker_set **out,
                                          sn_error *error);

/// The built-in full-body set of HDM05, CMU and Vicon's Plug-in Gait, for a human figure with any of the
/// usual joint names. None is `placed`. SN_ERR_MODEL when the model is no such figure.
/// @param recording  only markers that it has; NULL for all
SN_API sn_status sn_marker_set_builtin(const sn_model *model, const sn_recording *recording,
                                       const sn_allocator *allocator, sn_marker_set **out,
                                       sn_error *error);

/// What is known of a take that a marker set is learned from.
typedef struct sn_learn_options {
    uint32_t version;      ///< set by sn_learn_options_default()
    const char *subject;   ///< of several: "Ann" for "Ann:LFHD"; default NULL: there is one
    int model_up;          ///< the model's axis that points up: 0 1 2; default 1
    double model_up_sign;  ///< 1 or -1; default 1
    int up;                ///< the recording's; default -1: found
    double up_sign;        ///< 1 or -1; default 1
    bool has_axes;         ///< default false: `axes` is not looked at
    sn_axis_map axes;      ///< from the recording's axes to the model's; its scale is not looked at
    bool unclear;     ///< take the likeliest axes where the take can't tell; default false: refuse
    double unit;      ///< metres per unit of the recording's file; default 0: as stated or found
    bool has_offset;  ///< default false: the best of -5 to 5 where it is clearly better than 0
    int offset;       ///< frame k of the recording belongs to frame k + offset of the motion
} sn_learn_options;

/// Found are axes, unit and offset.
SN_API sn_learn_options sn_learn_options_default(void);

/// What was learned of the take.
typedef struct sn_lesson {
    sn_axis_map axes;  ///< from the recording's axes to the model's, its numbers to metres
    bool axes_given;   ///< by the options
    double
        spread;  ///< with the best of the 24 rotations between axes: movement in the joints' frames,
                 ///< root-mean-square over all markers, metres
    double next;  ///< and with the second best: where it is not much larger, the take can't tell
    int offset;   ///< frame k of the recording belongs to frame k + offset of the motion
    int nframe;   ///< so many were matched
    int left_out;  ///< markers of the subject that the set lacks: unnamed ones, and those hardly seen
} sn_lesson;

/// What was learned of a marker.
typedef struct sn_learned {
    int marker;        ///< of the recording
    const char *name;  ///< its label without the subject; lives as long as the recording
    int samples;       ///< frames in which it was seen
    double spread;     ///< root-mean-square movement in its joint's frame, metres
} sn_learned;

/// From a take whose motion is known: each marker goes to the joint in whose frame it moves least. Of
/// joints for which that is nearly the same (within 10 % and 0.05 mm) it goes to the one whose bone is
/// nearest to it; in place of a fixed joint stands the one that moves it. How the recording lies against
/// the model, its unit where it knows none, and which frames belong together are found the same way.
/// @param motion   poses of the model
/// @param options  NULL: the default ones
/// @param each     per marker of the result, then those of the subject that were left out, without a spread; NULL if
///                 not wanted, else room for as many as the recording has
/// @param lesson   of the whole take; NULL if not wanted. Axes are there even when they are refused
/// Markers with fewer than three samples are left out, and so are unnamed ones ("*12").
SN_API sn_status sn_marker_set_learn(const sn_model *model, const sn_motion *motion,
                                     const sn_recording *recording, const sn_learn_options *options,
                                     const sn_allocator *allocator, sn_marker_set **out,
                                     sn_learned *each, sn_lesson *lesson, sn_error *error);

/// The model with these markers in place of its own.
/// @param limits  SN_LIMITS_OFF: without its limits, cones and twists of balls among them
/// @param factor  length factor of each joint's bone (all vectors from it to its children), njoint
///                numbers; NULL for 1
/// @param error   names a joint that the model lacks, with the nearest it has
SN_API sn_status sn_marker_set_apply(const sn_marker_set *set, const sn_model *model,
                                     sn_limit_use limits, const double *factor,
                                     const sn_allocator *allocator, sn_model **out,
                                     sn_error *error);

/// The name nearest to `name` (letter case ignored, few letters changed), -1 when none is near.
SN_API int sn_nearest_name(const char *name, const char *const *names, int count);

/// The joint of the other side: "lfemur" for "rfemur", "Hand_L" for "Hand_R", "HandL" for "HandR"; -1 when there is none.
SN_API int sn_model_mirror_joint(const sn_model *model, int joint);

/// How something was found.
typedef enum sn_known {
    SN_KNOWN_STATED,
    SN_KNOWN_FOUND,
    SN_KNOWN_ASSUMED,
    SN_KNOWN_FORCED
} sn_known;

/// How a recording lies against a model.
typedef struct sn_axes_report {
    sn_axis_map map;    ///< from the recording's world to the model's
    int up;             ///< the recording's up axis
    double up_sign;     ///< 1 or -1
    sn_known up_known;  ///< stated in the file, found from the body, or assumed
    bool up_conflict;   ///< the file states another one than the body shows; the body was believed
    double body_up[3];  ///< the mean direction of the body's height in the recording, of length 1
                        ///< when it never changes; zero where it does not stand
    double unit;        ///< metres per unit of the recording's numbers in the file
    sn_known unit_known;  ///< how the unit was found
    bool unit_doubtful;   ///< with it the body is as large as no unit that is right would make it
    double size;  ///< of the body over the figure's, with this unit; 0 when it can't be told
} sn_axes_report;

/// Is a body of this size against the figure a matter of units? Below 0.45 or above 2.2: the measure is
/// good to some ten percent, a child against a man is 0.6, and an inch for a centimetre 2.54.
SN_API bool sn_axes_impossible(double size);

/// Find how the recording lies against the model, from what its file states and from where the markers
/// are: the axis along which markers of high joints lie above those of low ones is up.
/// @param model     with markers
/// @param model_up  the model's own up axis, 0 1 2, and sign
SN_API sn_status sn_axes_find(const sn_model *model, const sn_recording *recording, int model_up,
                              double model_up_sign, const sn_allocator *allocator,
                              sn_axes_report *out, sn_error *error);

/// The same for a recording whose model is not at hand: against the built-in figure where the labels are
/// the usual ones, else by how the markers spread, as people stand on a floor. What stays
/// SN_KNOWN_ASSUMED can't be told. The map leads to a world in metres with y up.
SN_API sn_status sn_axes_guess(const sn_recording *recording, const sn_allocator *allocator,
                               sn_axes_report *out, sn_error *error);

// --- takes -------------------------------------------------------------------------------------------

/// When to find the shape: where the markers sit on their bones, and how long the bones are.
typedef enum sn_calibrate_use {
    SN_CALIBRATE_AUTO,     ///< places, where the marker set does not know them; by the built-in set
                           ///< also the length of a human figure's chest that has none, as in
                           ///< CMU's BVH files. For the built-in humanoid, which is nobody's body,
                           ///< without a set of one's own, for a generic OpenSim model
                           ///< (sn_osim_is_generic()), for one whose markers are known by their
                           ///< labels alone, and where a height or lengths are given:
                           ///< SN_CALIBRATE_SCALE
    SN_CALIBRATE_NONE,     ///< never: first guesses are used as they are
    SN_CALIBRATE_OFFSETS,  ///< places, on the skeleton as it is
    SN_CALIBRATE_SCALE     ///< places, and a length factor for each bone; a chest's length, too
} sn_calibrate_use;

/// The most lengths that can be given.
enum { SN_MAX_KNOWN = 100 };

/// A length of a person that was measured: from a body's joint to the next one, such as from hip to knee for a
/// thigh; between its two hips for a pelvis.
typedef struct sn_known_length {
    const char *body;  ///< a body of an .osim file, else a joint
    double metres;     ///< above 0
} sn_known_length;

/// What a take is doing.
typedef enum sn_take_stage { SN_STAGE_CALIBRATE, SN_STAGE_SOLVE, SN_STAGE_FINISH } sn_take_stage;

/// How far a take is.
typedef struct sn_take_progress {
    sn_take_stage stage;  ///< what it is doing
    double fraction;      ///< of the stage, 0 to 1
    int done, total;      ///< frames, of SN_STAGE_SOLVE; else 0
    double
        error;  ///< mean distance of the latest frame's markers, metres, of SN_STAGE_SOLVE; 0: not measured
} sn_take_progress;

/// Start from sn_take_options_default() and change what you need. sn_take_create() checks and copies
/// all of it; `truth` is no part of it: see sn_take_compare().
typedef struct sn_take_options {
    uint32_t version;

    // whose markers, and where they sit
    const char *subject;  ///< of several in the recording: "Ann" for "Ann:LFHD"; default NULL
    const sn_marker_set
        *markers;  ///< which marker sits on which joint. Default NULL: the model's own
                   ///< where the recording has at least three of them, else the
                   ///< built-in set
    bool builtin;  ///< without `markers`: the built-in set, whatever the model has

    // the world
    int model_up;          ///< the model's axis that points up: 0 1 2; default 1
    double model_up_sign;  ///< 1 or -1; default 1
    int up;                ///< the recording's; default -1: as stated or found
    double up_sign;        ///< 1 or -1; default 1
    bool has_axes;         ///< default false: `axes` is not looked at
    sn_axis_map axes;      ///< from the recording's axes to the model's; its scale is not looked at
    double unit;  ///< metres per unit of the recording's file; default 0: as stated or found

    int64_t first_frame, last_frame;  ///< by their numbers in the file; default INT64_MIN and
                                      ///< INT64_MAX: all

    /// A motion that came with the model. Where nobody stands in the model's zero pose (legs, arms and head point the same
    /// way, as in LaFAN1's files), it shows how limbs are turned, and the fit takes a stance made from it for the figure at
    /// rest. The models that the take hands out state that stance, so that for other takes they are enough. Where the model
    /// states one itself this is not looked at. May go after sn_take_prepare(). Default NULL.
    const sn_motion *own_motion;

    // the shape
    sn_calibrate_use calibrate;  ///< default SN_CALIBRATE_AUTO
    int calibrate_frames;        ///< that it is found from, spread over the take; default 60
    const sn_recording
        *still;  ///< a static trial of the same session (the same axes and unit): the
                 ///< figure stands as at rest; must outlive the take; default NULL
    int64_t still_first, still_last;  ///< frames of the static trial, or of the take itself where
                                      ///< there is none, by their numbers in the file; default
                                      ///< INT64_MIN and INT64_MAX: all, of the take none
    double height;                    ///< of the person, metres; default 0: not known. Given, or
                                      ///< with lengths, SN_CALIBRATE_AUTO is SN_CALIBRATE_SCALE
    const sn_known_length *lengths;   ///< of bodies that were measured; copied
    int nlength;                      ///< how many; default 0

    // the poses
    sn_solver_options solver;  ///< of a frame; default: gradient 1e-3, 100 iterations
    sn_limit_use limits;       ///< default SN_LIMITS_AUTO: real takes break many files' limits, but
                               ///< OpenSim's clamped ranges are meant, but for those that arms
                               ///< and legs plainly leave (SN_FINDING_RANGE_LEFT)
    double soft_weight;        ///< of SN_LIMITS_SOFT, default 0.1
    double posture;            ///< pull of what the markers hardly see to its zero, default 3e-7: a
                               ///< radian weighs as much as a marker that is 0.3 mm off
    sn_loss loss;              ///< of every marker, default SN_LOSS_NONE
    double loss_scale;         ///< metres, default 0.02
    double smooth;             ///< seconds, default 0: none; see smooth.h. Needs a frame rate
    int too_few;               ///< frames with fewer markers are `held`, default 3
    double max_error;          ///< metres: frames above are counted; default INFINITY

    // OpenSim's files; all of them must outlive the take
    const sn_osim_coordinates
        *coordinates;  ///< of the model's file: default and prescribed values hold; default NULL
    const sn_ik_setup *setup;  ///< what its inverse kinematics is asked for: its objective, its
                               ///< tasks, its times and nothing else; needs `coordinates`
    const sn_table *coordinate_values;  ///< of the setup's coordinate_file; default NULL
    bool
        barrier;  ///< with a setup: stop where OpenSim's interior-point method does, where it uses one:
                  ///< models with constraints. For those who must match old results

    int threads;      ///< default 1; the result has the same bits for any number
    sn_threads pool;  ///< threads to use for it; default sinew's own
    sn_device
        device;  ///< that frames are followed on where it can; this processor looks at each of
                 ///< them and does all else. AUTO: a GPU for takes of a million frames and more.
                 ///< Default SN_DEVICE_CPU: the same bits on every machine
    sn_cancel cancel;  ///< asked all the time
    /// From the calling thread, in prepare, solve and finish. May be NULL.
    void (*progress)(void *user, const sn_take_progress *progress);
    void *progress_user;
} sn_take_options;

/// How sn_calibrate went.
typedef struct sn_calibrate_report {
    int frames;         ///< that were used
    int iterations;     ///< of the shape
    double rms_before;  ///< metres, over the frames used
    double rms;         ///< and after
    int outliers;       ///< samples that count for less than half
    bool cancelled;     ///< it was stopped; the best so far is kept
} sn_calibrate_report;

/// Some frames solved from nothing, as they are and with one axis negated.
typedef struct sn_handedness {
    int frames;              ///< that were looked at
    double given, mirrored;  ///< the sum of their objectives
    bool looks_mirrored;     ///< the mirror image fits far better: below 0.8 of the objective
    double arms,
        legs;  ///< the same of both arms' and both legs' labels exchanged, over labels as they are; 0: not tried
    bool arms_exchanged, legs_exchanged;  ///< below 0.85
} sn_handedness;

/// How well a frame fits.
typedef struct sn_fit_frame {
    float rms, worst;    ///< metres
    int markers;         ///< seen, and right
    int worst_marker;    ///< of the model; -1 when none was seen
    short iterations;    ///< of the solver
    short limits;        ///< degrees of freedom at a limit
    unsigned char stop;  ///< sn_stop
    bool held;           ///< too few markers: the rest task decides
    bool restarted;      ///< it ended far worse than its neighbour and was tried again
    bool moved;          ///< a lower valley was found later and followed to here
} sn_fit_frame;

/// How well a marker fits.
typedef struct sn_fit_marker {
    double rms, mean, worst;  ///< metres
    int worst_frame;          ///< from 0, in the fitted range; -1 when it was never seen
    int seen;                 ///< samples that count
    int dropped;  ///< samples that are wrong and count for nothing: SN_FINDING_MARKER_OFF
} sn_fit_marker;

/// How well all frames fit, and what that took.
typedef struct sn_fit_summary {
    double rms, mean, worst;        ///< over all samples that count, metres
    int worst_frame, worst_marker;  ///< where `worst` is
    int held, restarted, moved;     ///< frames
    long samples, missing;          ///< of matched markers
    long dropped;       ///< samples that are wrong and count for nothing, in neither of these
    double iterations;  ///< mean per frame
    long functions, gradients, hessians, factorizations;  ///< of all frames, see sn_report
    double rms_unsmoothed;  ///< metres, before smoothing; 0 without it
    double
        acceleration;  ///< mean of all joints, rad/s^2 (the root's place in m/s^2 left out); 0 without a rate
    double acceleration_unsmoothed;  ///< the same before smoothing
    bool cancelled;                  ///< it was stopped before the end
} sn_fit_summary;

/// What is known about a take: everything but `fit`, `again` and `above` when it is prepared, the rest
/// when it is finished.
typedef struct sn_take_summary {
    int labels;     ///< of the recording, the subject's
    int matched;    ///< markers of the set that the recording has
    char unit[24];  ///< the recording's unit of length, as its file names it or by its usual name
    sn_axes_report axes;  ///< axes and unit
    int first, count;     ///< fitted frames, from 0 in the recording
    int first_frame;      ///< number of the first of them in the file
    bool calibrated;  ///< `calibration`, `shift` and, where `reshaped`, the lengths hold something
    bool reshaped;    ///< the bones' lengths are others than the model's
    bool chest;       ///< of these the chest's alone, which the skeleton had without a length
    sn_calibrate_report calibration;  ///< how the shape was found
    double shift;              ///< mean way of the markers from where they were before, metres
    double shortest, longest;  ///< factors of the bones' lengths
    sn_handedness handed;      ///< frames 0 when it was not looked at
    sn_fit_summary fit;        ///< how well it fits
    int again;                 ///< frames that were solved again, the first left out: it always is
    int above;                 ///< frames above max_error
    int jumps;  ///< joint-frames that turn by more than 20 degrees in 1/120 s and 1.3 times what
                ///< their markers show
    sn_limit_use limits;  ///< what the joints' limits do: SN_LIMITS_AUTO is one of the others here
} sn_take_summary;

/// What a calibration finds.
typedef enum sn_sure_kind {
    SN_SURE_PLACE,  ///< of a marker: how far it is from where the figure had it, metres
    SN_SURE_SIZE,   ///< of a body: factors along its axes
    SN_SURE_ZERO    ///< of a joint: all its angles are off by the same in every frame, radians
} sn_sure_kind;

/// How sure a calibration is of one thing it found, from its own Hessian: a standard deviation.
typedef struct sn_take_sure {
    sn_sure_kind kind;  ///< what it is
    const char *name;   ///< of the marker, the body or the joint; lives as long as the take's model
    int index;          ///< of the marker, the joint that carries the body, the joint
    double value[3];    ///< what was found; of a joint 0
    double
        sigma;  ///< metres, a share of the factor, radians: the worst of an axis's for the latter two
    double before;  ///< what it is of anybody, before the take was looked at; INFINITY for a joint
    bool
        shown;  ///< the take shows it: it is better known than before, a joint's zero to 10 degrees
} sn_take_sure;

/// A recording on its way to a motion. One per thread.
typedef struct sn_take sn_take;

/// The defaults that sn_take_options states.
SN_API sn_take_options sn_take_options_default(void);

/// @param model      and the recording must outlive the take; both stay as they are
/// @param options    NULL for the defaults
/// @param allocator  NULL for malloc and free
/// @param out        NULL on failure; free with sn_take_destroy()
/// @param error      names an option that is out of range, or that this recording does not allow
SN_API sn_status sn_take_create(const sn_model *model, const sn_recording *recording,
                                const sn_take_options *options, const sn_allocator *allocator,
                                sn_take **out, sn_error *error);
SN_API void sn_take_destroy(sn_take *take);

/// Labels and marker set, world, shape, first pose. All that a take needs for solving is allocated here.
///
/// A step of a take that fails leaves a finding of severity SN_SEVERITY_ERROR, the last, that says why
/// (none when memory is out), and all further steps fail with the same status: SN_ERR_VALUE or
/// SN_ERR_MODEL for what the recording and the model do not allow, SN_ERR_CANCELLED when options.cancel
/// became true. A step out of turn is SN_ERR_ARGUMENT and changes nothing.
SN_API sn_status sn_take_prepare(sn_take *take);

/// Solve some more frames, in order. They can be looked at in sn_take_motion(); how they are cut does not
/// change what sn_take_finish() leaves.
/// @param count  -1, or more than are left: all
SN_API sn_status sn_take_solve(sn_take *take, int count);
/// How many are solved.
SN_API int sn_take_solved(const sn_take *take);

/// What needs the whole take: frames that are not solved yet, valleys that are deeper elsewhere,
/// smoothing, errors, checks.
SN_API sn_status sn_take_finish(sn_take *take);

/// Poses of sn_take_model(); all frames are there once the take is prepared, those not yet solved at
/// zero. NULL before. It belongs to the take.
SN_API const sn_motion *sn_take_motion(const sn_take *take);
/// The model with the take's markers in place and its bones' lengths, limits as options.limits says. NULL
/// before the take is prepared. It belongs to the take.
SN_API const sn_model *sn_take_model(const sn_take *take);
/// The same with the limits that the model came with, to be kept for other takes.
SN_API const sn_model *sn_take_limited_model(const sn_take *take);
/// The markers in use; NULL before the take is prepared. It belongs to the take.
SN_API const sn_marker_set *sn_take_markers(const sn_take *take);
/// The recording's marker for one of the model's, -1 for none.
SN_API int sn_take_column(const sn_take *take, int marker);
SN_API const sn_take_summary *sn_take_about(const sn_take *take);
/// How sure the calibration is of all that it found: places, sizes, zeros. 0 without one, or before the take is
/// prepared.
SN_API int sn_take_nsure(const sn_take *take);
/// One of them; NULL when out of range.
SN_API const sn_take_sure *sn_take_sure_of(const sn_take *take, int i);
/// One entry per fitted frame, one per marker of the model; NULL before the take is finished.
SN_API const sn_fit_frame *sn_take_frames(const sn_take *take);
SN_API const sn_fit_marker *sn_take_marker_errors(const sn_take *take);

/// What an angle of a human figure's joint is to the body: "flexion", "abduction", "rotation", "side bending"; ""
/// where that is not known, and for lengths, balls and the root. Never NULL.
/// @param dof  of the joint, from 0
SN_API const char *sn_take_angle_term(const sn_take *take, int joint, int dof);

/// The measured markers of the fitted frames in metres and the model's world, read from the recording:
/// nothing is copied. Markers that have no place on the model are missing in every frame. None before
/// the take is prepared.
SN_API sn_samples sn_take_samples(const sn_take *take);

/// What the take minimises, at the poses of any motion of its model: one number per fitted frame. With a
/// setup that is OpenSim's own objective. Prescribed coordinates count where they are in the motion.
/// @param motion  frame k of it belongs to fitted frame k
/// @param f       as many numbers as there are fitted frames
SN_API sn_status sn_take_objective(const sn_take *take, const sn_motion *motion, double *f);

/// A subject of a recording, by what its labels begin with.
typedef struct sn_subject {
    const char *name;  ///< inside of a label: `length` bytes, not terminated
    int length;        ///< of the name
    int nmarker;       ///< how many markers the subject has
} sn_subject;

/// Who is in a recording. Several subjects are several takes, each with its options.subject. Signs other
/// than a colon ("Ann_LFHD") part subject and marker where that makes names that the model's markers or
/// the built-in set have.
/// @param out    `room` entries
/// @param count  how many there are, also those beyond `room`; 0 when labels name no subject
SN_API sn_status sn_take_subjects(const sn_model *model, const sn_recording *recording,
                                  const sn_allocator *allocator, sn_subject *out, int room,
                                  int *count, sn_error *error);

/// How far a take's joints are turned from those of a motion that is known.
typedef struct sn_take_truth {
    double median, rms,
        most;             ///< degrees, over all joints that markers show and all frames; `most`: 95
                          ///< of 100 are below
    int joints, movable;  ///< joints that both have by name, of all that move
    double centres;       ///< how far these joints' centres are apart, root-mean-square, metres
    double markers;  ///< how far the markers wander on the known motion's own bones, each about its
        ///< mean place there, root-mean-square, metres: what the known motion is good for
    int late;    ///< frame k of the recording is frame k + late of the known motion
    bool chest;  ///< the known motion's skeleton lacks its chest, too, and got the take's
} sn_take_truth;

/// Compare a finished take with a known motion, frame by frame. One that has more frames than the recording may begin up
/// to 1200 of them before it: that is found. Fails with a finding where they cannot be compared; the take stays finished.
/// @param model   the motion's; NULL: the one that the take was created with
SN_API sn_status sn_take_compare(sn_take *take, const sn_model *model, const sn_motion *motion,
                                 sn_take_truth *out);

// --- sensors instead of markers ------------------------------------------------------------------------
//
// OpenSense's inverse kinematics: the orientations of sensors on the bodies of an OpenSim model.

/// Start from sn_imu_options_default().
typedef struct sn_imu_options {
    uint32_t version;
    const sn_osim_coordinates *coordinates;  ///< of the model's file; needed
    const sn_ik_setup *setup;  ///< times, accuracy, weights, rotation of the sensors; NULL: all 1
    const char *heading;       ///< the sensor whose axis points where its body's x axis does; NULL
    int heading_axis;          ///< 0 1 2; default 2
    double heading_sign;       ///< 1 or -1
    const sn_table
        *placement;       ///< orientations while the model stands as its defaults say; NULL: the
                          ///< first row. Only for sensors that the model has no frame of
    sn_limit_use limits;  ///< default SN_LIMITS_AUTO: hard
    int threads;          ///< default 1; the result has the same bits for any number
    sn_cancel cancel;     ///< asked all the time
} sn_imu_options;

/// How it went.
typedef struct sn_imu_report {
    int sensors;        ///< that sit on a body of the model
    int first, count;   ///< rows of the table that were fitted
    double rms, worst;  ///< angles between the sensors and where they are, radians
    int worst_frame;    ///< from 0, in the fitted range
    char worst_sensor[SN_MAX_LABEL + 1];  ///< whose it is
    char unknown[200];                    ///< sensors without a body, commas between them
} sn_imu_report;

/// The defaults that sn_imu_options states.
SN_API sn_imu_options sn_imu_options_default(void);

/// Fit a table of orientations, columns SENSOR.q0 to SENSOR.q3 as an STO file of quaternions gives them. A sensor
/// BODY_imu sits on BODY; where the model has a frame of its name, it is registered already, else it is by the row
/// in which the model stands as its defaults say. The objective is OpenSim's, 1/2 sum w angle^2 / sum w.
/// @param out     free with sn_motion_destroy(); NULL on failure
/// @param report  may be NULL
SN_API sn_status sn_imu_fit(const sn_model *model, const sn_table *orientations,
                            const sn_imu_options *options, const sn_allocator *allocator,
                            sn_motion **out, sn_imu_report *report, sn_error *error);

// --- findings ----------------------------------------------------------------------------------------

/// How bad a finding is: an error ends the take.
typedef enum sn_severity { SN_SEVERITY_NOTE, SN_SEVERITY_WARNING, SN_SEVERITY_ERROR } sn_severity;

// Every finding: its code, its name, its severity, and what its numbers are.
#define SN_FINDING_LIST(ENTRY)                                                                     \
    ENTRY(SN_FINDING_FILE, "file", NOTE, "")                                                       \
    ENTRY(SN_FINDING_LABELS_UNKNOWN, "labels-unknown", NOTE, "count")                              \
    ENTRY(SN_FINDING_POINTS_UNNAMED, "points-unnamed", NOTE, "count")                              \
    ENTRY(SN_FINDING_MARKERS_EMPTY, "markers-empty", NOTE, "count")                                \
    ENTRY(SN_FINDING_UP_ASSUMED, "up-assumed", NOTE, "axis sign")                                  \
    ENTRY(SN_FINDING_UP_UNCONFIRMED, "up-unconfirmed", NOTE, "axis sign")                          \
    ENTRY(SN_FINDING_BODY_LIES, "body-lies", NOTE, "axis sign")                                    \
    ENTRY(SN_FINDING_UNIT_FOUND, "unit-found", NOTE, "metres")                                     \
    ENTRY(SN_FINDING_UNIT_ASSUMED, "unit-assumed", NOTE, "metres")                                 \
    ENTRY(SN_FINDING_FEW_FRAMES, "few-frames", NOTE, "frames")                                     \
    ENTRY(SN_FINDING_MODEL_GENERIC, "model-generic", NOTE, "")                                     \
    ENTRY(SN_FINDING_NOT_SHOWN, "not-shown", NOTE, "count")                                        \
    ENTRY(SN_FINDING_MAX_ERROR_LARGE, "max-error-large", NOTE, "metres")                           \
    ENTRY(SN_FINDING_EXCHANGED, "exchanged", NOTE, "ratio mended")                                 \
    ENTRY(SN_FINDING_MARKER_OFF, "marker-off", NOTE, "metres share stretches")                     \
    ENTRY(SN_FINDING_MARKERS_HELD, "markers-held", NOTE, "samples")                                \
    ENTRY(SN_FINDING_AT_LIMITS, "at-limits", NOTE, "frames share")                                 \
    ENTRY(SN_FINDING_FRAMES_HELD, "frames-held", NOTE, "frames share")                             \
    ENTRY(SN_FINDING_DEVICE, "device", NOTE, "frames count")                                       \
    ENTRY(SN_FINDING_CHEST_MISSING, "chest-missing", NOTE, "metres")                               \
    ENTRY(SN_FINDING_CHEST_ADDED, "chest-added", NOTE, "metres")                                   \
    ENTRY(SN_FINDING_PARTS_UNSEEN, "parts-unseen", NOTE, "count share")                            \
    ENTRY(SN_FINDING_MARKERS_SHAKE, "markers-shake", NOTE, "metres")                               \
    ENTRY(SN_FINDING_UP_CONFLICT, "up-conflict", WARNING, "axis sign")                             \
    ENTRY(SN_FINDING_UP_DOUBTFUL, "up-doubtful", WARNING, "axis sign")                             \
    ENTRY(SN_FINDING_MARKERS_SPARSE, "markers-sparse", WARNING, "found freedom")                   \
    ENTRY(SN_FINDING_LANDMARKS_NONE, "landmarks-none", WARNING, "count")                           \
    ENTRY(SN_FINDING_FIGURE_LIES, "figure-lies", WARNING, "axis sign")                             \
    ENTRY(SN_FINDING_JOINT_JUMPS, "joint-jumps", WARNING, "count degrees")                         \
    ENTRY(SN_FINDING_FIGURE_LEAPS, "figure-leaps", WARNING, "count metres")                        \
    ENTRY(SN_FINDING_WRONG_TOGETHER, "wrong-together", WARNING, "markers")                         \
    ENTRY(SN_FINDING_FRAMES_REPEATED, "frames-repeated", WARNING, "frames")                        \
    ENTRY(SN_FINDING_RECORDING_CUT, "recording-cut", WARNING, "count metres")                      \
    ENTRY(SN_FINDING_BEYOND_BODY, "beyond-body", WARNING, "frames degrees")                        \
    ENTRY(SN_FINDING_RANGE_LEFT, "range-left", WARNING, "lower upper reached")                     \
    ENTRY(SN_FINDING_MARKER_STANDS_OUT, "marker-stands-out", WARNING, "rms usual")                 \
    ENTRY(SN_FINDING_SAME_PLACE, "same-place", WARNING, "frames share")                            \
    ENTRY(SN_FINDING_ERROR_LARGE, "error-large", WARNING, "mean")                                  \
    ENTRY(SN_FINDING_SIZE_DIFFERS, "size-differs", WARNING, "ratio")                               \
    ENTRY(SN_FINDING_UNIT_DOUBTFUL, "unit-doubtful", WARNING, "ratio")                             \
    ENTRY(SN_FINDING_MIRRORED, "mirrored", WARNING, "frames ratio")                                \
    ENTRY(SN_FINDING_SIDES_EXCHANGED, "sides-exchanged", WARNING, "ratio mended")                  \
    ENTRY(SN_FINDING_FAR_FROM_BONES, "far-from-bones", WARNING, "rms worst size")                  \
    ENTRY(SN_FINDING_HEIGHT_DIFFERS, "height-differs", WARNING, "given found")                     \
    ENTRY(SN_FINDING_STANCE_FOUND, "stance-found", NOTE, "told")                                   \
    ENTRY(SN_FINDING_STANCE_NONE, "stance-none", WARNING, "reason")                                \
    ENTRY(SN_FINDING_STATIC_UNUSED, "static-unused", WARNING, "")                                  \
    ENTRY(SN_FINDING_STATIC_MOVES, "static-moves", WARNING, "metres")                              \
    ENTRY(SN_FINDING_STATIC_DIFFERS, "static-differs", WARNING, "ratio apart")                     \
    ENTRY(SN_FINDING_STATIC_MIRRORED, "static-mirrored", WARNING, "share")                         \
    ENTRY(SN_FINDING_SETUP_IGNORED, "setup-ignored", WARNING, "line")                              \
    ENTRY(SN_FINDING_SETUP_AXES, "setup-axes", WARNING, "axis sign")                               \
    ENTRY(SN_FINDING_TRUTH_RATE, "truth-rate", WARNING, "rate truth_rate")                         \
    ENTRY(SN_FINDING_SUBJECT_UNKNOWN, "subject-unknown", ERROR, "")                                \
    ENTRY(SN_FINDING_SUBJECTS_SEVERAL, "subjects-several", ERROR, "count")                         \
    ENTRY(SN_FINDING_SET_UNFIT, "set-unfit", ERROR, "")                                            \
    ENTRY(SN_FINDING_JOINT_UNKNOWN, "joint-unknown", ERROR, "")                                    \
    ENTRY(SN_FINDING_MARKERS_FEW, "markers-few", ERROR, "found count freedom")                     \
    ENTRY(SN_FINDING_MARKERS_TOGETHER, "markers-together", ERROR, "metres")                        \
    ENTRY(SN_FINDING_UNIT_IMPOSSIBLE, "unit-impossible", ERROR, "ratio")                           \
    ENTRY(SN_FINDING_FRAMES_NONE, "frames-none", ERROR, "")                                        \
    ENTRY(SN_FINDING_FRAMES_OUTSIDE, "frames-outside", ERROR, "first last")                        \
    ENTRY(SN_FINDING_FRAMES_EMPTY, "frames-empty", ERROR, "")                                      \
    ENTRY(SN_FINDING_STATIC_UNFIT, "static-unfit", ERROR, "first last")                            \
    ENTRY(SN_FINDING_STATIC_SIZE, "static-size", ERROR, "ratio")                                   \
    ENTRY(SN_FINDING_TRUTH_SHORT, "truth-short", ERROR, "frames needed")                           \
    ENTRY(SN_FINDING_TRUTH_OTHER, "truth-other", ERROR, "joints movable")                          \
    ENTRY(SN_FINDING_TRUTH_REST, "truth-rest", ERROR, "")                                          \
    ENTRY(SN_FINDING_SETUP, "setup", ERROR, "line")                                                \
    ENTRY(SN_FINDING_FAILED, "failed", ERROR, "")

/// See SN_FINDING_LIST.
typedef enum sn_finding_code {
#define SN_FINDING_ENTRY(code, name, severity, numbers) code,
    SN_FINDING_LIST(SN_FINDING_ENTRY)
#undef SN_FINDING_ENTRY
        SN_FINDING_COUNT
} sn_finding_code;

/// The most numbers of a finding.
enum { SN_FINDING_NUMBERS = 3 };

/// What a person should know about a take.
typedef struct sn_finding {
    sn_finding_code code;  ///< what it is
    sn_severity severity;  ///< how bad
    int nnumber;           ///< how many numbers there are
    double
        number[SN_FINDING_NUMBERS];  ///< in the order of sn_finding_number_name(); metres, frames/s
    int marker, other;               ///< of the model, -1 for none
    int joint;                       ///< of the model, -1 for none
    bool has_frames;                 ///< first and last hold something
    int64_t first, last;             ///< by their numbers in the file
    const char *text;                ///< names it is about, "" for none; belongs to the take
} sn_finding;

/// "labels-unknown"; never NULL.
SN_API const char *sn_finding_name(sn_finding_code code);
/// "note", "warning", "error"; never NULL.
SN_API const char *sn_severity_name(sn_severity severity);
/// What number i of a finding is: "count". At most 15 bytes and a zero; "" when there is none.
SN_API void sn_finding_number_name(sn_finding_code code, int i, char out[16]);

/// How many findings there are so far.
SN_API int sn_take_nfinding(const sn_take *take);
/// NULL when out of range. Valid until the take's next step.
SN_API const sn_finding *sn_take_finding(const sn_take *take, int i);

/// What to make of a take.
typedef enum sn_verdict {
    SN_VERDICT_GOOD,  ///< nothing speaks against the motion
    SN_VERDICT_LOOK,  ///< something in it should be looked at
    SN_VERDICT_BAD    ///< it is not the motion of this body, or there is none
} sn_verdict;

/// By the findings so far.
SN_API sn_verdict sn_take_verdict(const sn_take *take);
/// "good", "look at it", "do not use it"; never NULL.
SN_API const char *sn_verdict_name(sn_verdict verdict);
/// Does a finding speak against the motion? A warning or an error, unless it is about a file beside it.
SN_API bool sn_finding_doubts(const sn_finding *finding);

/// Whom a sentence speaks to.
typedef enum sn_voice {
    SN_VOICE_PLAIN,    ///< anybody: what it is
    SN_VOICE_COMMAND,  ///< users of `sinew fit`: also which of its options helps
    SN_VOICE_PAGE      ///< users of the web page: also what to drop there
} sn_voice;

/// A finding as a sentence, without a capital and a full stop, like "3 unnamed points were left out".
/// @param out  `room` bytes, terminated; may be NULL when room is 0
/// Returns the sentence's length, whatever the room; 0 when there is no such finding.
SN_API size_t sn_take_sentence(const sn_take *take, int i, sn_voice voice, char *out, size_t room);

// --- a take of our own making ----------------------------------------------------------------------
//
// A take of sinew's own making, for trying things out without anybody's data: the built-in figure
// walks, does a cartwheel, walks on and stops; and what a capture system would have seen of it.
//
// The same seed gives the same bits on every platform.

/// The true motion of sn_model_humanoid(): 120 frames a second, about 10 s, y up, walking along z,
/// the floor at y = 0. It takes a solve per frame.
/// @param humanoid  sn_model_humanoid(); another model is SN_ERR_ARGUMENT
/// @param out       free with sn_motion_destroy(); NULL on failure
SN_API sn_status sn_example_motion(const sn_model *humanoid, const sn_allocator *allocator,
                                   sn_motion **out, sn_error *error);

/// The humanoid with its markers where they really are on this person: up to 8 mm along each axis from where
/// sn_model_humanoid() has them.
/// @param out  free with sn_model_destroy(); NULL on failure
SN_API sn_status sn_example_subject(uint64_t seed, const sn_allocator *allocator, sn_model **out,
                                    sn_error *error);

/// The markers of a model through a motion as a capture system records them, in metres, axes as the
/// model's: noise of 2 mm, short dropouts, limbs hidden for half a second; labels with a subject
/// before them ("figure:LFHD"), and a last, unlabelled point ("*41") that belongs to nothing.
/// @param out  free with sn_recording_destroy(); NULL on failure
SN_API sn_status sn_example_recording(const sn_model *subject, const sn_motion *motion,
                                      uint64_t seed, const sn_allocator *allocator,
                                      sn_recording **out, sn_error *error);

#ifdef __cplusplus
}
#endif
