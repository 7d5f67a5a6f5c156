// SPDX-License-Identifier: MIT
// A take from the inside, and its steps. Each step that cannot go on leaves a finding and fails.
#pragma once

#include "take/fit.h"
#include "take/ik.h"
#include "take/missing.h"

/// The most pairs of labels that are exchanged at once.
enum { SN_EXCHANGE_PAIRS = 24 };

/// Which step comes next.
typedef enum sn_take_step {
    SN_TAKE_CREATED,
    SN_TAKE_PREPARED,
    SN_TAKE_FINISHED,
    SN_TAKE_FAILED
} sn_take_step;

/// Labels that were exchanged in some frames: those of two markers, or all of left and right on both arms or legs.
typedef struct sn_exchange {
    const char *sides;  ///< "arms" or "legs"; NULL: two markers
    int npair;
    int pair[SN_EXCHANGE_PAIRS][2];  ///< markers of the model
    bool mended;                     ///< they are put right, else only told
    bool doubtful;                   ///< which is a warning
    double given, exchanged;         ///< sums of objectives with labels as they were, and exchanged
    unsigned char *frames;           ///< of the fitted range: 1 where they were exchanged
} sn_exchange;

/// Names with commas between them, as many as fit; `more` counts the others.
typedef struct sn_name_list {
    char text[900];
    int count, more;
} sn_name_list;

/// cuts.c: frames of one kind: how many, the first, the last, and how far a leap goes.
typedef struct sn_cut {
    int count, first, last;
    double most;
} sn_cut;

typedef struct sn_cuts {
    bool searched;
    sn_cut repeated, held, cut;
    sn_name_list names;  ///< markers that are held
} sn_cuts;

struct sn_take {
    sn_allocator allocator;
    sn_take_options options;   ///< its pointers lead to what follows
    bool roams;                ///< its root's limits do not count
    char *subject;             ///< NULL: none was named
    sn_marker_set *given;      ///< NULL: none was given
    sn_known_length *known;    ///< options.nlength; their names follow
    const sn_model *original;  ///< the caller's
    const sn_model *source;    ///< what the fit begins with: `original`, `standing` or `mended`
    const sn_recording *recording;
    sn_take_step step;
    sn_status failed;  ///< of SN_TAKE_FAILED
    bool finishing;    ///< what is told is about frames that have poses

    // stance.c
    sn_mat3 *stance;     ///< per joint: how far it is turned while the figure stands; see stance.c
    sn_model *standing;  ///< `original` with a zero pose in which it stands; NULL: as it is
    struct {
        sn_model *model, *limited;
        sn_marker_set *set;
        sn_motion *motion;
    } handed;  ///< with `standing`: what is handed out, the same in `original`'s frames

    // missing.c
    sn_missing missing;
    sn_model *mended;  ///< `source` with the bone that it lacks; NULL: it stays as it is

    // labels.c
    sn_recording
        *labels;  ///< without frames: the subject's labels, subject and name parted by a colon
    int *origin;  ///< per label: its marker in the recording
    bool *shown;  ///< per label: it has a place on the model

    // markers.c
    sn_marker_set *set;
    sn_model *model;    ///< with the set's markers in place
    sn_model *limited;  ///< the same with the source's limits
    int *column;        ///< per marker: its marker in the recording, -1 for none
    sn_mat3 *stretch;   ///< per joint: what its vectors are multiplied with

    sn_left_range *left;  ///< ranges.c: nv: ranges of the file that this take leaves; NULL: none

    sn_take_sure *sure;  ///< scale.c: how sure the calibration is
    int nsure;

    sn_fit_input input;  ///< of `model`; frames and axes once they are known
    sn_take_summary summary;

    sn_ik_plan plan;  ///< ik.c; without an owner: none

    sn_recording *
        relabelled;  ///< the recording with labels put right (exchanged.c) and without what is none (cuts.c);
                     ///< NULL: as it is
    bool *cut;     ///< cuts.c: per frame, the recording does not go on there; NULL: nowhere
    sn_cuts cuts;  ///< what it found

    unsigned char *
        unused,  ///< scale.c: per frame and marker, 1 where the calibration did without; NULL: it used all
        *wrong;  ///< and where it is to, as the fit found these wrong; NULL: nothing more
    // exchanged.c
    sn_exchange *exchange;
    size_t nexchange, exchange_room;
    sn_take_summary early;    ///< before the world is looked for: from here it is done again
    size_t nearly;            ///< findings by then
    sn_marker_set *unshaped;  ///< the set before it was changed; NULL: it is as it was

    // solve.c
    sn_fitting fitting;
    sn_motion *motion;
    sn_fit_frame *frames;
    sn_fit_marker *markers;

    sn_finding *finding;
    size_t nfinding, room;
};

// --- steps -------------------------------------------------------------------------------------------

/// options.c: the error names what is out of range.
sn_status sn_take_check_options(const sn_take_options *o, const sn_model *model,
                                const sn_recording *recording, sn_error *error);

/// exchanged.c: markers that exchanged their labels for a while; the input gets those put right that are beyond doubt.
/// @param mended  there are such: the take is to be calibrated and fitted again
sn_status sn_take_find_exchanged(sn_take *t, bool *mended);
/// A copy of the recording in `relabelled`, to be changed.
sn_status sn_take_copy_recording(sn_take *t);
/// Exchange labels in frames of the fitted range, or keep that for telling. @param what  its frames are not looked at
sn_status sn_take_exchange(sn_take *t, const sn_exchange *what, int first, int last);
sn_status sn_take_tell_exchanges(sn_take *t);
/// Those that were not mended, as they will be found anew. @param mended  these, too
void sn_take_forget_exchanges(sn_take *t, bool mended);

/// mixed.c: labels that were exchanged are put right before a calibration absorbs that. @param doubt  per marker
/// @param few  poses of some frames, to begin with
sn_status sn_take_find_mixed(sn_take *t, const double *doubt, const sn_fit_few *few, bool *mended);
/// scale.c: has the fit found samples wrong that the calibration went by? These are left out in another one.
sn_status sn_take_was_misled(sn_take *t, bool *out);
/// scale.c: how unlikely a calibration with the present labels is, see sn_calibrate_options; nothing is kept.
sn_status sn_take_weigh_labels(sn_take *t, double *energy);

/// stance.c: where nobody stands in the model's zero pose, a model that does.
sn_status sn_take_find_stance(sn_take *take);
/// stance.c: with it, all that is handed out is the caller's model's: make `handed`, then its poses from those of the fit.
sn_status sn_take_show_stance(sn_take *take);
void sn_take_show_poses(sn_take *take, int first, int end);
/// stance.c: poses of what is handed out as the fit has them; NULL where they are the same.
sn_status sn_take_stand_up(const sn_take *take, const sn_motion *motion, sn_motion **out);

/// missing.c: another model that lacks its chest, with one as long as this take's was found; NULL where it lacks none, or
/// this take's was not added.
sn_status sn_take_mend_other(const sn_take *t, const sn_model *other, sn_model **out);
/// missing.c: a chest without a length gets one where lengths are found, else a note; then how long it came out.
sn_status sn_take_find_missing(sn_take *take);
sn_status sn_take_tell_missing(sn_take *take);
/// labels.c: whose labels are looked at.
sn_status sn_take_find_labels(sn_take *take);
/// markers.c: the marker set, the model with it, and which label is which marker.
sn_status sn_take_find_markers(sn_take *take);
/// markers.c: the model again, after the set or the lengths changed. @param stretch  NULL for 1
sn_status sn_take_apply(sn_take *take, const sn_mat3 *stretch);
/// world.c: axes and unit.
sn_status sn_take_find_world(sn_take *take);
/// world.c: the frames that were asked for, which must show something.
sn_status sn_take_find_frames(sn_take *take);
/// cuts.c: frames that are missing, or repeat the one before.
sn_status sn_take_find_cuts(sn_take *take);
/// same_place.c: warnings about labels that are another one's point.
sn_status sn_take_check_places(sn_take *take);
/// unseen.c: parts of the body that no marker shows: a note, a warning where a limb or the trunk is among them.
sn_status sn_take_check_parts(sn_take *take);
/// scale.c: where the markers sit and how long bones are, where that is wanted.
sn_status sn_take_find_shape(sn_take *take);
/// still.c: the static trial, or the frames of the take that are one; a count of 0 when there is none.
/// @param column  room for a number per marker
bool sn_take_has_still(const sn_take_options *options);
sn_status sn_take_find_still(sn_take *take, int *column, sn_fit_input *out);
/// still.c: is it this person's, of this size and handedness, and does the person stand? Warnings; an error where sizes are far
/// apart.
sn_status sn_take_check_still(sn_take *take, const sn_fit_input *still);
/// scale.c: a warning when the markers look mirrored.
sn_status sn_take_check_handedness(sn_take *take);

/// ik.c: the marker set of a setup's tasks; the frames of its times, where it states any; then what it asks of
/// coordinates, and what is known of them without one.
sn_status sn_take_ik_markers(sn_take *take);
sn_status sn_take_ik_frames(sn_take *take, int64_t *first, int64_t *last);
sn_status sn_take_ik_plan(sn_take *take);

/// ranges.c: ranges that the motion says are too narrow for this person hold no longer. @param more  there are more of
/// these: what they held is to be made anew
sn_status sn_take_leave_ranges(sn_take *take, bool *more);
sn_status sn_take_tell_ranges(sn_take *take);

/// judge.c: what a person would see in the finished motion; markers that lost their weight.
sn_status sn_take_judge(sn_take *take);
sn_status sn_take_tell_off(sn_take *take, const sn_fit_off *off, int count);

/// shake.c: markers that shake from frame to frame.
sn_status sn_take_check_shake(sn_take *take);

/// SN_ERR_CANCELLED once cancel is true.
sn_status sn_take_check_cancel(const sn_take *take);
void sn_take_tell(const sn_take *take, const sn_take_progress *progress);

// --- findings ----------------------------------------------------------------------------------------

/// A finding with its severity, no numbers, nothing it is about; to be changed by the caller at once.
/// @param text  copied; NULL for ""
/// NULL when memory is out.
sn_finding *sn_take_add(sn_take *take, sn_finding_code code, const char *text);
/// The same with numbers, as a step's result: SN_OK or SN_ERR_MEMORY.
sn_status sn_take_note(sn_take *take, sn_finding_code code, const char *text, double a, double b);
/// An error that a step returns: SN_ERR_VALUE, or SN_ERR_MEMORY.
sn_status sn_take_refuse(sn_take *take, sn_finding_code code, const char *text, double a, double b);
/// A failure with a sentence of its own as a finding; memory that is out stays that.
sn_status sn_take_fail(sn_take *take, sn_finding_code code, sn_status status,
                       const sn_error *error);

void sn_name_list_add(sn_name_list *list, const char *name);
/// "A, B and 3 more". @param out  sizeof list->text + 40 bytes
void sn_name_list_print(const sn_name_list *list, char *out);
