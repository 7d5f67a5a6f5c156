// SPDX-License-Identifier: MIT
// A take's life: create, prepare, solve, finish, and what can be asked of it.
#include "take/take.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// --- memory --------------------------------------------------------------------------------------

static sn_status copy_options(sn_take *t, const sn_take_options *o) {
    t->options = *o;
    if (o->calibrate == SN_CALIBRATE_AUTO && (o->height != 0 || o->nlength > 0))
        t->options.calibrate = SN_CALIBRATE_SCALE;
    t->options.subject = NULL;
    t->options.markers = NULL;
    if (o->limits == SN_LIMITS_AUTO)
        t->options.limits = o->coordinates != NULL ? SN_LIMITS_HARD : SN_LIMITS_OFF;
    t->summary.limits = t->options.limits;
    // a file's range of where a person may be, and which way it may look, is not the body's
    t->roams = o->limits == SN_LIMITS_AUTO && o->coordinates != NULL && o->setup == NULL;
    if (o->subject != NULL) {
        t->subject = sn_acquire(&t->allocator, strlen(o->subject) + 1);
        if (t->subject == NULL) return SN_ERR_MEMORY;
        memcpy(t->subject, o->subject, strlen(o->subject) + 1);
        t->options.subject = t->subject;
    }
    t->options.lengths = NULL;
    if (o->nlength > 0) {
        size_t names = 0;
        for (int i = 0; i < o->nlength; i++) names += strlen(o->lengths[i].body) + 1;
        t->known = sn_acquire(&t->allocator, (size_t)o->nlength * sizeof *t->known + names);
        if (t->known == NULL) return SN_ERR_MEMORY;
        char *name = (char *)(t->known + o->nlength);
        for (int i = 0; i < o->nlength; i++) {
            size_t n = strlen(o->lengths[i].body) + 1;
            memcpy(name, o->lengths[i].body, n);
            t->known[i] = (sn_known_length){name, o->lengths[i].metres};
            name += n;
        }
        t->options.lengths = t->known;
    }
    if (o->markers != NULL) {
        SN_TRY(
            sn_marker_set_create(sn_marker_set_name(o->markers), sn_marker_set_place(o->markers, 0),
                                 sn_marker_set_count(o->markers), &t->allocator, &t->given, NULL));
        t->options.markers = t->given;
    }
    return SN_OK;
}

sn_status sn_take_create(const sn_model *model, const sn_recording *recording,
                         const sn_take_options *options, const sn_allocator *allocator,
                         sn_take **out, sn_error *error) {
    SN_NEED(out, error);
    *out = NULL;
    sn_take_options o = options != NULL ? *options : sn_take_options_default();
    SN_TRY(sn_take_check_options(&o, model, recording, error));
    sn_take *t = sn_acquire(allocator, sizeof *t);
    if (t == NULL) return sn_fail_memory(error);
    *t = (sn_take){.allocator = sn_allocator_of(allocator),
                   .original = model,
                   .source = model,
                   .recording = recording,
                   .input = {.axes = sn_axis_map_identity()}};
    sn_status status = copy_options(t, &o);
    // all of a person is smaller
    if (status == SN_OK && isfinite(o.max_error) && o.max_error > 1)
        status = sn_take_note(t, SN_FINDING_MAX_ERROR_LARGE, NULL, o.max_error, 0);
    if (status != SN_OK) {
        sn_take_destroy(t);
        return sn_fail_memory(error);
    }
    *out = t;
    return SN_OK;
}

void sn_take_destroy(sn_take *take) {
    if (take == NULL) return;
    sn_allocator allocator = take->allocator;
    sn_fitting_end(&take->fitting);
    sn_motion_destroy(take->motion);
    sn_model_destroy(take->model);
    sn_model_destroy(take->limited);
    sn_model_destroy(take->mended);
    sn_model_destroy(take->standing);
    sn_model_destroy(take->handed.model);
    sn_model_destroy(take->handed.limited);
    sn_marker_set_destroy(take->handed.set);
    sn_motion_destroy(take->handed.motion);
    sn_marker_set_destroy(take->set);
    sn_marker_set_destroy(take->unshaped);
    sn_marker_set_destroy(take->given);
    sn_recording_destroy(take->labels);
    sn_recording_destroy(take->relabelled);
    sn_take_forget_exchanges(take, true);
    sn_release(&allocator, take->exchange);
    for (size_t i = 0; i < take->nfinding; i++)
        sn_release(&allocator, (void *)(uintptr_t)take->finding[i].text);
    sn_release(&allocator, take->finding);
    sn_release(&allocator, take->frames);
    sn_release(&allocator, take->markers);
    sn_release(&allocator, take->cut);
    sn_release(&allocator, take->unused);
    sn_release(&allocator, take->wrong);
    sn_release(&allocator, take->column);
    sn_release(&allocator, take->stretch);
    sn_release(&allocator, take->stance);
    sn_release(&allocator, take->known);
    sn_release(&allocator, take->sure);
    sn_release(&allocator, take->left);
    sn_release(&allocator, take->origin);
    sn_release(&allocator, take->shown);
    sn_release(&allocator, take->subject);
    sn_release(&allocator, take->plan.owner);
    sn_release(&allocator, take);
}

// --- steps ---------------------------------------------------------------------------------------

sn_status sn_take_check_cancel(const sn_take *take) {
    return sn_cancelled(take->options.cancel) ? SN_ERR_CANCELLED : SN_OK;
}

void sn_take_tell(const sn_take *take, const sn_take_progress *progress) {
    if (take->options.progress != NULL)
        take->options.progress(take->options.progress_user, progress);
}

// What a step returns, kept: a take that has failed stays failed.
static sn_status end_step(sn_take *t, sn_status status, sn_take_step next) {
    t->step = status == SN_OK ? next : SN_TAKE_FAILED;
    t->failed = status;
    return status;
}

static sn_status may_step(const sn_take *t, sn_take_step wanted) {
    if (t == NULL) return SN_ERR_ARGUMENT;
    if (t->step == SN_TAKE_FAILED) return t->failed;
    return t->step == wanted ? SN_OK : SN_ERR_ARGUMENT;
}

static void tell_frame(void *user, int done, int nframe, const sn_track_frame *latest) {
    sn_take *t = user;
    // at the end of an advance the last frame was told already
    double error = latest != NULL ? latest->report.mean_error : 0;
    if (t->finishing) {
        if (latest == NULL)
            sn_take_tell(t, &(sn_take_progress){.stage = SN_STAGE_FINISH,
                                                .fraction = (double)done / nframe});
        return;
    }
    if (latest == NULL && done < nframe) return;
    sn_take_tell(t, &(sn_take_progress){.stage = SN_STAGE_SOLVE,
                                        .fraction = (double)done / nframe,
                                        .done = done,
                                        .total = nframe,
                                        .error = error});
}

// OpenSim's files know no loss: with them there is one only where it was asked for.
static sn_loss loss_of(const sn_take_options *o) {
    sn_fit_options usual = sn_fit_options_default();
    bool asked = o->loss != usual.loss || o->loss_scale != usual.loss_scale;
    return asked || (o->setup == NULL && o->coordinates == NULL) ? o->loss : SN_LOSS_NONE;
}

static sn_fit_options fit_options(sn_take *t) {
    const sn_take_options *from = &t->options;
    sn_fit_options o = sn_fit_options_default();
    o.track.solver = from->solver;
    if (from->setup != NULL) {
        // the relative gradient is a cosine: f is within its square of the bottom, an angle within it
        // times a residual over a lever, a tenth or less
        double accuracy = sn_ik_setup_about(from->setup)->accuracy;
        o.track.solver.gradient = fmin(fmax(3 * accuracy, 1e-12), 1e-3);
        o.track.rest = 0;
        o.track.restarts = 0;
        // Simbody's Assembler takes an interior-point method where there are constraints, and that ends
        // with this barrier
        bool tied = sn_model_ncoupling(t->model) > 0 || sn_model_nloop(t->model) > 0;
        if (from->barrier && tied && t->options.limits == SN_LIMITS_HARD) o.barrier = accuracy / 11;
    }
    o.track.threads = from->threads;
    o.track.pool = from->pool;
    o.track.progress = tell_frame;
    o.track.progress_user = t;
    o.limits = from->limits;
    o.soft_weight = from->soft_weight;
    // with a setup nothing is added
    o.posture = from->setup != NULL ? 0 : from->posture;
    o.loss = loss_of(from);
    o.loss_scale = from->loss_scale;
    o.smooth = from->smooth;
    o.too_few = from->too_few;
    o.device = from->device;
    o.cancel = from->cancel;
    return o;
}

static sn_status begin_solve(sn_take *t) {
    const sn_recording_info *info = sn_recording_about(t->recording);
    size_t count = (size_t)t->input.count, nmarker = (size_t)sn_model_nmarker(t->model) + 1;
    sn_fit_options o = fit_options(t);
    sn_error error = {0};
    t->frames = sn_acquire(&t->allocator, count * sizeof *t->frames);
    t->markers = sn_acquire(&t->allocator, nmarker * sizeof *t->markers);
    if (t->frames == NULL || t->markers == NULL) return SN_ERR_MEMORY;
    SN_TRY(sn_motion_create(t->input.count, sn_model_nq(t->model), t->summary.first_frame,
                            info->rate, &t->allocator, &t->motion, NULL));
    sn_motion_set_time_offset(t->motion, info->time_offset);
    sn_status status =
        sn_fitting_begin(&t->fitting, &t->input, &o, &t->allocator, t->motion, &error);
    return sn_take_fail(t, SN_FINDING_FAILED, status, &error);
}

// Which labels have a place on the model.
static sn_status find_shown(sn_take *t) {
    t->shown = sn_acquire(&t->allocator, (size_t)t->summary.labels + 1);
    if (t->shown == NULL) return SN_ERR_MEMORY;
    for (int m = 0; m < t->summary.labels; m++) {
        t->shown[m] = false;
        for (int i = 0; i < sn_model_nmarker(t->model); i++)
            t->shown[m] |= t->column[i] == t->origin[m];
    }
    return SN_OK;
}

// What is found from where the markers are, and the first pose.
static sn_status place(sn_take *t) {
    SN_TRY(sn_take_find_world(t));
    SN_TRY(sn_take_find_frames(t));
    SN_TRY(sn_take_find_cuts(t));
    SN_TRY(sn_take_check_places(t));
    SN_TRY(sn_take_check_parts(t));
    SN_TRY(sn_take_check_cancel(t));
    SN_TRY(sn_take_find_shape(t));
    SN_TRY(sn_take_ik_plan(t));
    SN_TRY(begin_solve(t));
    return sn_take_show_stance(t);
}

static sn_status prepare(sn_take *t) {
    const char *note = sn_recording_about(t->recording)->note;
    if (note[0] != '\0') SN_TRY(sn_take_note(t, SN_FINDING_FILE, note, 0, 0));
    SN_TRY(sn_take_find_stance(t));
    SN_TRY(sn_take_find_missing(t));
    SN_TRY(sn_take_find_labels(t));
    SN_TRY(sn_take_find_markers(t));
    SN_TRY(find_shown(t));
    t->early = t->summary;
    t->nearly = t->nfinding;
    SN_TRY(place(t));
    return sn_take_check_cancel(t);
}

sn_status sn_take_prepare(sn_take *take) {
    SN_TRY(may_step(take, SN_TAKE_CREATED));
    return end_step(take, prepare(take), SN_TAKE_PREPARED);
}

static sn_status solve(sn_take *t, int count) {
    sn_error error = {0};
    const int before = t->fitting.solved;
    SN_TRY(sn_take_fail(t, SN_FINDING_FAILED, sn_fitting_advance(&t->fitting, count), &error));
    sn_take_show_poses(t, before, t->fitting.solved);
    return sn_take_check_cancel(t);
}

sn_status sn_take_solve(sn_take *take, int count) {
    SN_TRY(may_step(take, SN_TAKE_PREPARED));
    return end_step(take, solve(take, count), SN_TAKE_PREPARED);
}

// With places that were known, an error that large may mean a mirror.
static const double suspicious_rms = 0.02;

// Where the frames were followed, when somebody asked for a device; and why not side by side, where they were not.
static sn_status tell_device(sn_take *t) {
    static const char no_plans[] = "this processor: frames of OpenSim's files have more than "
                                   "places of markers";
    const sn_lanes *l = &t->fitting.lanes;
    const bool planned = t->input.plan != NULL;
    const sn_device device = t->options.device;
    const char *why = sn_fit_one_by_one(&t->fitting);
    if (device == SN_DEVICE_CPU || (device == SN_DEVICE_AUTO && l->device_note[0] == '\0')) {
        char text[200];
        if (why == NULL) return SN_OK;
        (void)snprintf(text, sizeof text, "this processor, one by one: %s", why);
        return sn_take_note(t, SN_FINDING_DEVICE, text, 0, t->input.count);
    }
    return sn_take_note(t, SN_FINDING_DEVICE, planned ? no_plans : l->device_note,
                        planned ? 0 : atomic_load(&l->device_frames), t->input.count);
}

static sn_status finish_fit(sn_take *t) {
    sn_error error = {0};
    sn_status status = sn_fitting_finish(&t->fitting, t->frames, t->markers, &t->summary.fit);
    SN_TRY(sn_take_fail(t, SN_FINDING_FAILED, status, &error));
    return sn_take_check_cancel(t);
}

static void forget_fit(sn_take *t) {
    sn_fitting_end(&t->fitting);
    sn_motion_destroy(t->motion);
    sn_release(&t->allocator, t->frames);
    sn_release(&t->allocator, t->markers);
    t->motion = NULL;
    t->frames = NULL;
    t->markers = NULL;
}

// What was found by labels or samples that were wrong.
static void forget_shape(sn_take *t) {
    while (t->nfinding > t->nearly)
        sn_release(&t->allocator, (void *)(uintptr_t)t->finding[--t->nfinding].text);
    sn_take_forget_exchanges(t, false);
    sn_release(&t->allocator, t->stretch);
    sn_release(&t->allocator, t->sure);
    sn_release(&t->allocator, t->plan.owner);
    t->stretch = NULL;
    t->sure = NULL;
    t->nsure = 0;
    t->plan = (sn_ik_plan){0};
    t->input.plan = NULL;
    t->summary = t->early;
    if (t->unshaped == NULL) return;
    sn_marker_set_destroy(t->set);
    t->set = t->unshaped;
    t->unshaped = NULL;
}

// All of it as if labels and samples had been right: a calibration that was made with wrong ones would stay wrong.
static sn_status fit_again(sn_take *t) {
    forget_fit(t);
    forget_shape(t);
    t->input.axes = sn_axis_map_identity();
    t->input.first = t->input.count = t->input.up = 0;
    SN_TRY(sn_take_apply(t, NULL));
    SN_TRY(place(t));
    SN_TRY(solve(t, -1));
    SN_TRY(tell_device(t));
    return finish_fit(t);
}

// With one range left another joint may leave its own: as often as that.
enum { MOST_LEFT = 3 };

// Where ranges are to hold in the fit, they still had better not bend the shape; and a second look would find the pose bent
// as before.
static sn_status leave_ranges(sn_take *t) {
    const bool held = t->options.limits == SN_LIMITS_HARD && !t->roams;
    for (int round = 0; round < (held ? 1 : MOST_LEFT); round++) {
        bool more;
        SN_TRY(sn_take_leave_ranges(t, &more));
        if (!more || (held && !t->summary.calibrated)) break;
        SN_TRY(fit_again(t));
    }
    return SN_OK;
}

// Labels that are put right may show others: as often as that.
enum { MOST_MENDED = 4 };

static sn_status mend_labels(sn_take *t) {
    for (int round = 0; round < MOST_MENDED; round++) {
        bool mended;
        SN_TRY(sn_take_find_exchanged(t, &mended));
        if (!mended) break;
        SN_TRY(fit_again(t));
    }
    return SN_OK;
}

static sn_status leave_out_wrong(sn_take *t) {
    bool misled;
    SN_TRY(sn_take_was_misled(t, &misled));
    return misled ? fit_again(t) : SN_OK;
}

static sn_status finish(sn_take *t) {
    sn_take_summary *s = &t->summary;
    SN_TRY(solve(t, -1));
    SN_TRY(tell_device(t));
    t->finishing = true;
    sn_take_tell(t, &(sn_take_progress){.stage = SN_STAGE_FINISH});
    SN_TRY(finish_fit(t));
    SN_TRY(leave_ranges(t));
    SN_TRY(mend_labels(t));
    SN_TRY(leave_out_wrong(t));
    SN_TRY(sn_take_tell_exchanges(t));
    sn_status status = sn_take_tell_off(t, t->fitting.off, t->fitting.noff);
    sn_fitting_end(&t->fitting);
    SN_TRY(status);
    SN_TRY(sn_take_check_cancel(t));
    for (int f = 0; f < s->count; f++) {
        s->above += (double)t->frames[f].rms > t->options.max_error;
        s->again += f > 0 && (t->frames[f].restarted || t->frames[f].moved);
    }
    bool suspicious = !s->calibrated && s->fit.rms > suspicious_rms && t->options.setup == NULL;
    if (suspicious) SN_TRY(sn_take_check_handedness(t));
    SN_TRY(sn_take_tell_ranges(t));
    SN_TRY(sn_take_judge(t));
    sn_take_show_poses(t, 0, s->count);
    sn_take_tell(t, &(sn_take_progress){.stage = SN_STAGE_FINISH, .fraction = 1});
    return SN_OK;
}

sn_status sn_take_finish(sn_take *take) {
    SN_TRY(may_step(take, SN_TAKE_PREPARED));
    return end_step(take, finish(take), SN_TAKE_FINISHED);
}

// --- answers -------------------------------------------------------------------------------------

int sn_take_solved(const sn_take *take) {
    if (take == NULL) return 0;
    return take->step == SN_TAKE_FINISHED ? take->summary.count : take->fitting.solved;
}

// What a failed prepare left is not shown.
static bool is_prepared(const sn_take *take) {
    return take != NULL && take->motion != NULL &&
           (take->step == SN_TAKE_PREPARED || take->step == SN_TAKE_FINISHED);
}

int sn_take_nsure(const sn_take *take) { return is_prepared(take) ? take->nsure : 0; }

const sn_take_sure *sn_take_sure_of(const sn_take *take, int i) {
    return i >= 0 && i < sn_take_nsure(take) ? &take->sure[i] : NULL;
}

const sn_motion *sn_take_motion(const sn_take *take) {
    if (!is_prepared(take)) return NULL;
    return take->standing != NULL ? take->handed.motion : take->motion;
}

const char *sn_take_angle_term(const sn_take *take, int joint, int dof) {
    const char *term = "";
    if (!is_prepared(take) || joint < 0 || joint >= sn_model_njoint(take->model) || dof < 0 ||
        dof >= sn_model_joint_nv(take->model, joint) ||
        sn_fit_angle_term(sn_take_model(take), joint, dof, &take->allocator, &term) != SN_OK)
        return "";
    return term;
}

const sn_model *sn_take_model(const sn_take *take) {
    if (!is_prepared(take)) return NULL;
    return take->standing != NULL ? take->handed.model : take->model;
}

const sn_model *sn_take_limited_model(const sn_take *take) {
    if (!is_prepared(take)) return NULL;
    return take->standing != NULL ? take->handed.limited : take->limited;
}

const sn_marker_set *sn_take_markers(const sn_take *take) {
    if (!is_prepared(take)) return NULL;
    return take->standing != NULL ? take->handed.set : take->set;
}

int sn_take_column(const sn_take *take, int marker) {
    bool there = is_prepared(take) && marker >= 0 && marker < sn_model_nmarker(take->model);
    return there ? take->column[marker] : -1;
}

const sn_take_summary *sn_take_about(const sn_take *take) {
    return take != NULL ? &take->summary : NULL;
}

const sn_fit_frame *sn_take_frames(const sn_take *take) {
    return take != NULL && take->step == SN_TAKE_FINISHED ? take->frames : NULL;
}

const sn_fit_marker *sn_take_marker_errors(const sn_take *take) {
    return take != NULL && take->step == SN_TAKE_FINISHED ? take->markers : NULL;
}

sn_status sn_take_objective(const sn_take *take, const sn_motion *motion, double *f) {
    if (!is_prepared(take) || motion == NULL || f == NULL ||
        !sn_fit_input_good(&take->input, motion))
        return SN_ERR_ARGUMENT;
    sn_fit_options o = sn_fit_options_default();
    o.limits = take->options.limits;
    o.soft_weight = take->options.soft_weight;
    o.posture = take->options.setup != NULL ? 0 : take->options.posture;
    o.loss = loss_of(&take->options);
    o.loss_scale = take->options.loss_scale;
    o.noise = take->fitting.options.noise;
    sn_motion *up;
    SN_TRY(sn_take_stand_up(take, motion, &up));
    const sn_status status =
        sn_fit_objective(&take->input, &o, &take->allocator, up != NULL ? up : motion, f);
    sn_motion_destroy(up);
    return status;
}

static const char *measured_label(const void *user, int marker) {
    const sn_take *take = user;
    return sn_recording_label(take->labels, marker);
}

static bool measured_sample(const void *user, int frame, int marker, double out[3]) {
    const sn_take *take = user;
    bool there = frame >= 0 && frame < take->input.count && marker >= 0 &&
                 marker < take->summary.labels && take->shown[marker];
    frame += take->input.first;
    if (!there || !sn_recording_present(take->recording, frame, take->origin[marker])) return false;
    sn_axis_map_point(&take->input.axes,
                      sn_recording_frame(take->recording, frame) + 3 * (size_t)take->origin[marker],
                      out);
    return true;
}

sn_samples sn_take_samples(const sn_take *take) {
    sn_samples s = {.user = take, .label = measured_label, .sample = measured_sample};
    if (!is_prepared(take)) return s;
    s.nframe = take->summary.count;
    s.nmarker = take->summary.labels;
    s.rate = sn_recording_about(take->recording)->rate;
    return s;
}
