// SPDX-License-Identifier: MIT
// From a marker recording to a motion: marker sets, axes, calibration, the fit itself.
//
//   set    which marker sits on which joint           sn_marker_set_*
//   model  the figure with those markers on it        sn_marker_set_apply()
//   axes   from the recording's world to the model's  sn_axes_find()
//   shape  where exactly the markers sit, how long the bones are   sn_calibrate()
//   fit    a pose for every frame                     sn_fit_run()
#pragma once

#include "sinew/motion.h"
#include "sinew/track.h"

#ifdef __cplusplus
extern "C" {
#endif

// --- marker sets -----------------------------------------------------------------------------------

enum { SN_MAX_LABEL = 63 };

/// One marker of a set.
typedef struct sn_marker_place {
    char name[SN_MAX_LABEL + 1];  ///< its label in recordings, without a subject
    char joint[SN_MAX_NAME + 1];
    double position[3];  ///< in the joint's frame, metres; a first guess when not `placed`
    bool placed;         ///< the position is known; else it has to be calibrated
    double weight;
} sn_marker_place;

typedef struct sn_marker_set sn_marker_set;

/// @param places  copied
SN_API sn_status sn_marker_set_create(const char *name, const sn_marker_place *places, int count,
                                      const sn_allocator *allocator, sn_marker_set **out);
SN_API void sn_marker_set_destroy(sn_marker_set *set);
SN_API const char *sn_marker_set_name(const sn_marker_set *set);
SN_API int sn_marker_set_count(const sn_marker_set *set);
SN_API const sn_marker_place *sn_marker_set_place(const sn_marker_set *set, int i);

/// {"markers": [{"name": "LFHD", "joint": "head", "position": [x, y, z], "weight": 1}, ...]}. Without
/// "position" a marker has to be calibrated. A native model file will do: its markers are taken.
SN_API sn_status sn_marker_set_read_json(const char *text, size_t length,
                                         const sn_allocator *allocator, sn_marker_set **out,
                                         sn_error *error);
SN_API sn_status sn_marker_set_write_json(const sn_marker_set *set, const sn_sink *sink);

/// The markers a model has.
SN_API sn_status sn_marker_set_of_model(const sn_model *model, const sn_allocator *allocator,
                                        sn_marker_set **out);

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

/// From a take whose motion is known: each marker goes to the joint in whose frame it moves least. Of
/// joints for which that is nearly the same (within 10 % and 0.05 mm) it goes to the one whose bone is
/// nearest to it; in place of a fixed joint stands the one that moves it.
/// @param motion  poses of the model; frame k belongs to frame k of the recording
/// @param spread  root-mean-square movement in that frame per marker of the result, metres; NULL if not
///                wanted, else room for as many numbers as the recording has markers
/// Markers with fewer than three samples are left out, and so are unnamed ones ("*12").
struct sn_axis_map;
SN_API sn_status sn_marker_set_learn(const sn_model *model, const sn_motion *motion,
                                     const sn_recording *recording, const struct sn_axis_map *axes,
                                     const sn_allocator *allocator, sn_marker_set **out,
                                     double *spread, sn_error *error);

/// How the recording lies against the model, from a take whose motion is known: of the 24 rotations between
/// axes the one with which the markers move least in the frames of their best joints; and the unit, where
/// the recording does not know it.
/// @param spread  that movement, root-mean-square over all markers, metres
/// @param next    and of the second best rotation: where it is not much larger, the take can't tell
SN_API sn_status sn_axes_learn(const sn_model *model, const sn_motion *motion,
                               const sn_recording *recording, const sn_allocator *allocator,
                               struct sn_axis_map *out, double *spread, double *next, sn_error *error);

/// The same movement for given axes.
SN_API sn_status sn_marker_spread(const sn_model *model, const sn_motion *motion,
                                  const sn_recording *recording, const struct sn_axis_map *axes,
                                  const sn_allocator *allocator, double *spread, sn_error *error);

typedef enum sn_limit_use { SN_LIMITS_HARD, SN_LIMITS_SOFT, SN_LIMITS_OFF } sn_limit_use;

/// The model with these markers in place of its own.
/// @param limits  SN_LIMITS_OFF: without its limits
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

// --- axes and units ----------------------------------------------------------------------------------

/// From a recording's world to a model's: out[i] = scale sign[i] in[axis[i]].
typedef struct sn_axis_map {
    int axis[3];
    double sign[3];
    double scale;  ///< 1 when the recording is in metres
} sn_axis_map;

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

/// How something was found.
typedef enum sn_known { SN_KNOWN_STATED, SN_KNOWN_FOUND, SN_KNOWN_ASSUMED, SN_KNOWN_FORCED } sn_known;

typedef struct sn_axes_report {
    sn_axis_map map;
    int up;  ///< the recording's up axis
    double up_sign;
    sn_known up_known;  ///< stated in the file, found from the body, or assumed
    bool up_conflict;   ///< the file states another one than the body shows; the body was believed
    double unit;        ///< metres per unit of the recording's numbers in the file
    sn_known unit_known;
    bool unit_doubtful;  ///< with it the body is as large as no unit that is right would make it
    double size;         ///< of the body over the figure's, with this unit; 0 when it can't be told
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
                              sn_axes_report *out);

// --- input -------------------------------------------------------------------------------------------

/// What the fit and the calibration read. All pointers must stay valid.
typedef struct sn_fit_input {
    const sn_model *model;  ///< with markers
    const sn_recording *recording;
    const int *column;  ///< per marker of the model: its marker in the recording, -1 for none
    sn_axis_map axes;
    int first, count;  ///< frames, from 0
} sn_fit_input;

/// Match the model's markers with the recording's. @param subject NULL, or "Daniel" for "Daniel:LFHD"
/// @param column  one number per marker of the model
/// Returns how many were found, or -1 when several subjects have a marker of the same name.
SN_API int sn_fit_match(const sn_model *model, const sn_recording *recording, const char *subject,
                        int *column);

// --- calibration -------------------------------------------------------------------------------------

typedef struct sn_calibrate_options {
    uint32_t version;
    int frames;      ///< that the shape is found from, spread over the take; default 120
    bool scale;      ///< also a length factor for each bone, left and right alike
    int iterations;  ///< at most, per round; default 20
    bool limits;     ///< hold the model's limits to the end; default false: only while the shape is still
                     ///< rough, so that no joint settles folded over
    void (*progress)(void *user, double fraction);
    void *progress_user;
    sn_cancel cancel;
} sn_calibrate_options;

typedef struct sn_calibrate_report {
    int frames;         ///< that were used
    int iterations;     ///< of the shape
    double rms_before;  ///< metres, over the frames used
    double rms;         ///< and after
    int outliers;       ///< samples that count for less than half
    bool cancelled;
} sn_calibrate_report;

SN_API sn_calibrate_options sn_calibrate_options_default(void);

/// Find where the markers sit, and with `scale` how long the bones are, together with the poses.
/// @param position  3 numbers per marker of the model: the new places in their joints' frames
/// @param factor    njoint numbers, the length factor of each joint's bone; may be NULL without `scale`
SN_API sn_status sn_calibrate(const sn_fit_input *input, const sn_calibrate_options *options,
                              const sn_allocator *allocator, double *position, double *factor,
                              sn_calibrate_report *report, sn_error *error);

// --- does it fit at all --------------------------------------------------------------------------------

/// Some frames solved from nothing, as they are and with one axis negated.
typedef struct sn_handedness {
    int frames;              ///< that were looked at
    double given, mirrored;  ///< the sum of their objectives
    bool looks_mirrored;     ///< the mirror image fits far better: below 0.8 of the objective
} sn_handedness;

/// Are the markers a mirror image of the model, or their labels of left and right exchanged? To be asked
/// before a calibration, which would absorb it.
/// @param input  a model with limits tells better
SN_API sn_status sn_fit_handedness(const sn_fit_input *input, const sn_cancel *cancel,
                                   const sn_allocator *allocator, sn_handedness *out);

/// How far a model's markers sit from their bones, the ways from their joints to the joints' children.
typedef struct sn_bone_report {
    double rms, worst;  ///< metres
    int worst_marker;   ///< -1 when there are none
    double size;        ///< of the figure: the longest side of the box around its joints at the zero pose
} sn_bone_report;

SN_API sn_status sn_fit_bones(const sn_model *model, const sn_allocator *allocator,
                              sn_bone_report *out);

// --- the fit -----------------------------------------------------------------------------------------

typedef struct sn_fit_options {
    uint32_t version;
    sn_track_options track;
    sn_limit_use limits;  ///< the model must have been made for the same
    double soft_weight;   ///< of soft limits, default 0.1
    double posture;       ///< weight of a pull of every joint but the root to its zero: 1e-7 by default, so
                          ///< that a radian weighs as much as one marker that is 0.3 mm off; 50 times that
                          ///< for hands, 300 times (5 mm) for the trunk and shoulders of a human figure:
                          ///< keeps joints that the markers hardly see from turning against each other
    sn_loss loss;         ///< of every marker, default SN_LOSS_NONE
    double loss_scale;    ///< c, metres, default 0.02
    double smooth;        ///< seconds, default 0: see smooth.h; the take needs a rate
    int too_few;          ///< frames with fewer markers than this are `held`, default 3
    sn_cancel cancel;
} sn_fit_options;

/// How well a frame fits.
typedef struct sn_fit_frame {
    float rms, worst;     ///< metres
    int markers;          ///< seen
    int worst_marker;     ///< of the model; -1 when none was seen
    short iterations;
    short limits;         ///< degrees of freedom at a limit
    unsigned char stop;   ///< sn_stop
    bool held;            ///< too few markers: the rest task decides
    bool restarted;  ///< it ended far worse than its neighbour and was tried again
    bool moved;      ///< a lower valley was found later and followed to here
} sn_fit_frame;

/// How well a marker fits.
typedef struct sn_fit_marker {
    double rms, mean, worst;  ///< metres
    int worst_frame;          ///< from 0, in the fitted range; -1 when it was never seen
    int seen;
} sn_fit_marker;

typedef struct sn_fit_summary {
    double rms, mean, worst;  ///< over all samples, metres
    int worst_frame, worst_marker;
    int held, restarted, moved;  ///< frames
    long samples, missing;  ///< of matched markers
    double iterations;      ///< mean per frame
    long functions, gradients, hessians, factorizations;
    double rms_unsmoothed;  ///< metres, before smoothing; 0 without it
    double acceleration;    ///< mean of all joints, rad/s^2 (the root's place in m/s^2 left out); 0 without a rate
    double acceleration_unsmoothed;
    bool cancelled;
} sn_fit_summary;

SN_API sn_fit_options sn_fit_options_default(void);

/// Fit every frame of the input. Numbers are the same for any thread count.
/// @param motion   created for the model with input->count frames; filled
/// @param frames   input->count entries
/// @param markers  one per marker of the model
SN_API sn_status sn_fit_run(const sn_fit_input *input, const sn_fit_options *options,
                            const sn_allocator *allocator, sn_motion *motion, sn_fit_frame *frames,
                            sn_fit_marker *markers, sn_fit_summary *summary, sn_error *error);

/// Two markers that seem to have exchanged their labels for a stretch of frames.
typedef struct sn_fit_swap {
    int a, b;                 ///< of the model
    int first, last;          ///< frames, from 0, in the fitted range
    double given, exchanged;  ///< the sum of objectives of some of these frames with labels as they are,
                              ///< and exchanged: below 0.6 of it
} sn_fit_swap;

/// Find them: stretches that begin or end with a jump of both markers, each to where the other one was
/// going, and that fit far better with their labels exchanged.
/// @param motion  the fit
/// @param out     `most` entries
SN_API sn_status sn_fit_swaps(const sn_fit_input *input, const sn_motion *motion,
                              const sn_allocator *allocator, sn_fit_swap *out, int most, int *count);

/// The errors of any motion against the input: what sn_fit_run() fills, for frames that are already fit.
SN_API sn_status sn_fit_measure(const sn_fit_input *input, const sn_motion *motion,
                                const sn_allocator *allocator, sn_fit_frame *frames,
                                sn_fit_marker *markers, sn_fit_summary *summary);

#ifdef __cplusplus
}
#endif
