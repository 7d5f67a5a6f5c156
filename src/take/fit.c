// SPDX-License-Identifier: MIT
// A pose for every frame of a recording, and how well it fits.
#include "take/fit.h"
#include "take/posture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/order.h"
#include "math/vec3.h"
#include "sinew/track.h"
#include "take/ik.h"
#include "tasks/problem.h"
#include "track/barrier.h"
#include "track/valleys.h"

int sn_fit_match(const sn_model *model, const sn_recording *recording, const char *subject,
                 int *column) {
    if (model == NULL || recording == NULL || column == NULL) return 0;
    int found = 0;
    bool several = false;
    for (int i = 0; i < sn_model_nmarker(model); i++) {
        const char *name = sn_model_marker(model, i)->name;
        column[i] = subject == NULL ? sn_recording_find(recording, name) : -1;
        size_t n = subject != NULL ? strlen(subject) : 0;
        for (int m = 0; subject != NULL && m < sn_recording_about(recording)->nmarker; m++) {
            const char *label = sn_recording_label(recording, m);
            bool ours = strncmp(label, subject, n) == 0 && label[n] == ':' &&
                        strcmp(sn_label_name(label), sn_label_name(name)) == 0;
            if (ours) column[i] = m;
        }
        several |= column[i] == -2;
        if (column[i] < 0) column[i] = -1;
        found += column[i] >= 0;
    }
    return several ? -1 : found;
}

sn_status sn_fit_place_open(sn_fit_place *place, const sn_model *model,
                            const sn_allocator *allocator) {
    *place = (sn_fit_place){0};
    sn_status status = sn_problem_create(model, NULL, 0, allocator, &place->problem, NULL);
    if (status == SN_OK)
        status = sn_workspace_create(place->problem, false, allocator, &place->workspace, NULL);
    place->q = sn_acquire(allocator, (size_t)(sn_model_nq(model) + 1) * sizeof *place->q);
    return status != SN_OK || place->q == NULL ? SN_ERR_MEMORY : SN_OK;
}

void sn_fit_place_close(sn_fit_place *place, const sn_allocator *allocator) {
    sn_workspace_destroy(place->workspace);
    sn_problem_destroy(place->problem);
    sn_release(allocator, place->q);
}

bool sn_fit_goal(const sn_fit_input *input, int marker, int frame, double goal[3]) {
    const double *row =
        input->column[marker] >= 0 ? sn_recording_frame(input->recording, frame) : NULL;
    return row != NULL && sn_fit_goal_in(input, row, marker, goal);
}

bool sn_fit_dropped(const sn_fit_input *input, int marker, int frame) {
    size_t at = (size_t)frame * (size_t)sn_model_nmarker(input->model) + (size_t)marker;
    return input->dropped != NULL && (input->dropped[at] & 1) != 0;
}

// What OpenSim's files say of a frame: weights of markers over the sum of those that are seen, values of
// coordinates.
static sn_status set_plan(const sn_fit_input *in, int frame, double sum, sn_problem *problem) {
    const sn_ik_plan *plan = in->plan;
    int count = sn_model_nmarker(in->model);
    for (int i = 0; plan->exact && sum > 0 && i < count; i++)
        SN_TRY(sn_problem_set_weight(problem, i, sn_model_marker(in->model, i)->weight / sum));
    if (plan->nfile > 0) {
        sn_ik_targets(plan, in->first + frame, problem->rest[problem->parts[count].rest].q);
    }
    return sn_ik_hold(plan, in->first + frame, problem);
}

bool sn_fit_filled(const sn_fit_input *in, int marker, int frame, double goal[3]) {
    for (int i = 0; i < in->nfill; i++) {
        const sn_fit_fill *f = &in->fill[i];
        if (f->marker != marker || frame < f->first || frame > f->last) continue;
        for (int k = 0; k < 3; k++) goal[k] = (double)f->goal[3 * (frame - f->first) + k];
        return isfinite(goal[0]);
    }
    return false;
}

// The goals of a frame of the fitted range; markers come first among the tasks, then what coordinate tasks pull
// at.
sn_status sn_fit_goals(void *user, int frame, sn_problem *problem) {
    const sn_fit_input *in = user;
    double sum = 0;
    for (int i = 0; i < sn_model_nmarker(in->model); i++) {
        double goal[3];
        bool there = sn_fit_dropped(in, i, frame) ? sn_fit_filled(in, i, frame, goal)
                                                  : sn_fit_goal(in, i, in->first + frame, goal);
        if (there) {
            SN_TRY(sn_problem_set_goal(problem, i, goal));
            sum += sn_model_marker(in->model, i)->weight;
        } else {
            SN_TRY(sn_problem_set_missing(problem, i, true));
        }
    }
    return in->plan != NULL ? set_plan(in, frame, sum, problem) : SN_OK;
}

static int seen_in(const sn_fit_input *in, int frame) {
    const double *row = sn_recording_frame(in->recording, frame);
    int n = 0;
    for (int i = 0, count = sn_model_nmarker(in->model); i < count; i++)
        n += in->column[i] >= 0 && sn_fit_there(row + 3 * (size_t)in->column[i]);
    return n;
}

// --- where to start ------------------------------------------------------------------------------------

sn_status sn_fit_first_pose(const sn_fit_input *input, sn_problem *problem, int frame,
                            const sn_allocator *allocator, double *q) {
    sn_solver *solver = NULL;
    sn_report report;
    sn_fit_input from = *input;
    from.first = 0;
    sn_model_zero(input->model, q);
    SN_TRY(sn_fit_goals(&from, frame, problem));
    SN_TRY(sn_solver_create(problem, NULL, allocator, &solver, NULL));
    sn_status status = sn_solver_solve_cold(solver, q, &report);
    sn_solver_destroy(solver);
    return status;
}

// The first frame in which nearly as many markers are seen as in any.
static int good_frame(const sn_fit_input *in) {
    int most = 0, best = in->first;
    for (int pass = 0; pass < 2; pass++)
        for (int f = in->first; f < in->first + in->count; f++) {
            int n = seen_in(in, f);
            if (pass == 0 && n > most) most = n;
            if (pass == 1 && 10 * n >= 9 * most) return f;
        }
    return best;
}

// --- noise -----------------------------------------------------------------------------------------------

// More is no noise but a figure that does not fit.
static const double most_noise = 0.03;

// What a frame's markers are off its pose along an axis: the median, so that a few wrong ones say nothing (of a normal
// law in three dimensions it is 2.366 of one axis's variance), and the pose has taken up some of it.
static sn_status measure_noise(const sn_fit_input *in, int frame, const double *pose,
                               const sn_allocator *allocator, double *out) {
    const sn_model *m = in->model;
    int n = 0, count = sn_model_nmarker(m);
    sn_fit_place at = {0};
    double *square = sn_acquire(allocator, ((size_t)count + 1) * sizeof *square), goal[3];
    sn_status status = square == NULL ? SN_ERR_MEMORY : sn_fit_place_open(&at, m, allocator);
    if (status == SN_OK) status = sn_workspace_pose(at.workspace, pose);
    for (int i = 0; status == SN_OK && i < count; i++) {
        const sn_marker_desc *d = sn_model_marker(m, i);
        if (!sn_fit_goal(in, i, frame, goal)) continue;
        sn_vec3 r = v3_sub(v3_from(goal), sn_workspace_point(at.workspace, d->joint, d->position));
        square[n++] = v3_dot(r, r);
    }
    if (status == SN_OK && n > 0) {
        double left = fmax(1 - (double)sn_fit_freedom(m) / (3 * n), 0.2);
        qsort(square, (size_t)n, sizeof *square, sn_by_value);
        *out = fmin(sqrt(square[n / 2] / 2.366 / left), most_noise);
    }
    sn_fit_place_close(&at, allocator);
    sn_release(allocator, square);
    return status;
}

// --- the fit ---------------------------------------------------------------------------------------------

sn_fit_options sn_fit_options_default(void) {
    sn_track_options track = sn_track_options_default();
    // stronger than the pull to zero: what is hidden for a moment stays as it was
    track.rest = 3e-4;
    // a marker's noise is millimetres
    track.solver.gradient = 1e-3;
    return (sn_fit_options){.version = 1,
                            .track = track,
                            .limits = SN_LIMITS_OFF,
                            .soft_weight = 0.1,
                            .posture = 3e-7,
                            .loss = SN_LOSS_HUBER,
                            .loss_scale = 0.05,
                            .too_few = 3,
                            .device = SN_DEVICE_CPU};
}

// Walls against the pull to the zero pose: 3e-2 by default, as much as a marker 17 cm from the joint. With a tenth of it
// elbows of arms held out bent backwards by 22 degrees (HDM05 dg_01).
static const double walls_weight = 1e5;

// With OpenSim's files its ranges hold.
static bool has_walls(const sn_fit_input *in, const sn_fit_options *o) {
    return o->posture > 0 && in->plan == NULL;
}

static int walls_of(const sn_problem *problem, const sn_fit_input *in, const sn_fit_options *o) {
    return has_walls(in, o) ? sn_problem_ntask(problem) - 1 : -1;
}

// Markers that are carried by less skin count for more, together as much as before. Weights that somebody chose, and a
// setup's, count as they are.
static sn_status weigh_markers(const sn_fit_input *in, sn_problem *problem) {
    const sn_model *m = in->model;
    int n = sn_model_nmarker(m), seen = 0;
    double sum = 0;
    if (in->plan != NULL && in->plan->exact) return SN_OK;
    for (int i = 0; i < n; i++) {
        if (sn_model_marker(m, i)->weight != sn_model_marker(m, 0)->weight) return SN_OK;
        if (in->column[i] < 0) continue;
        sum += sn_weight_of_name(sn_model_marker(m, i)->name);
        seen++;
    }
    for (int i = 0; seen > 0 && i < n; i++) {
        const sn_marker_desc *d = sn_model_marker(m, i);
        SN_TRY(
            sn_problem_set_weight(problem, i, d->weight * sn_weight_of_name(d->name) * seen / sum));
    }
    return SN_OK;
}

// How far upper arms and thighs mostly are turned about their bones, radians.
static const double mostly_turned = 0.7;

// The pull that is right beside markers with that noise: with a centimetre of it, as keypoints have, a wrist says
// nothing of an arm's turn while the elbow is straight, and it would spin.
static double pull_to(const sn_fit_options *o, double usual) {
    return o->noise * o->noise / (usual * usual * o->posture);
}

// A back that nothing shows is as in the calibration.
static void hold_back(const sn_model *m, const sn_fit_options *o, double *weight) {
    for (int j = 0; j < sn_model_njoint(m); j++) {
        int v = sn_model_v_index(m, j);
        for (int i = 0; i < sn_model_joint_nv(m, j) && sn_posture_hides_back(m, j); i++)
            weight[v + i] = fmax(weight[v + i], pull_to(o, sn_posture_upright));
    }
}

sn_status sn_fit_problem(const sn_fit_input *in, const sn_fit_options *o,
                         const sn_allocator *allocator, sn_problem **out, sn_error *error) {
    const sn_model *model = in->model;
    sn_problem *plain = NULL;
    *out = NULL;
    sn_fit_prior prior;
    // OpenSim's files say what holds
    sn_status found = in->plan != NULL ? sn_fit_no_prior(model, allocator, &prior)
                                       : sn_fit_find_prior(model, in->limited, allocator, &prior);
    if (found != SN_OK) {
        if (prior.q != NULL) sn_release(allocator, prior.q);
        return sn_fail(error, found, 0, "%s", sn_status_text(found));
    }
    size_t nq = (size_t)sn_model_nq(model), nv = (size_t)sn_model_nv(model);
    if (in->plan != NULL) {
        if (o->posture > 0) sn_fit_posture(model, prior.q, prior.weight);
        memcpy(prior.q, in->plan->home, nq * sizeof *prior.q);
        if (o->posture > 0) hold_back(model, o, prior.weight);
    }
    for (size_t v = 0; v < nv && o->posture > 0; v++)
        if (prior.turn[v] > 0) prior.weight[v] = fmax(prior.weight[v], pull_to(o, mostly_turned));
    sn_task extra[4];
    int n = 0;
    if (in->plan != NULL && in->plan->pulls) {
        extra[n] = sn_task_default(SN_TASK_REST);
        extra[n].q = in->plan->target;
        extra[n++].q_weight = in->plan->pull;
    }
    if (o->limits == SN_LIMITS_SOFT) {
        extra[n] = sn_task_default(SN_TASK_LIMIT);
        extra[n].lower = in->limited != NULL ? sn_model_lower(in->limited) : NULL;
        extra[n].upper = in->limited != NULL ? sn_model_upper(in->limited) : NULL;
        extra[n++].weight = o->soft_weight;
    }
    if (o->posture > 0) {
        extra[n] = sn_task_default(SN_TASK_REST);
        extra[n].q = prior.q;
        extra[n].q_weight = prior.weight;
        extra[n++].weight = o->posture;
    }
    if (has_walls(in, o)) {
        // the last, as walls_of() knows
        extra[n] = sn_task_default(SN_TASK_LIMIT);
        extra[n].lower = prior.lower;
        extra[n].upper = prior.upper;
        extra[n++].weight = walls_weight * o->posture;
    }
    if (o->barrier > 0) {
        // the last: its weights are found with the poses
        for (size_t i = 0; i < nv; i++) prior.lower[i] = 0;
        extra[n] = sn_task_default(SN_TASK_REST);
        extra[n].q = prior.q;
        extra[n++].q_weight = prior.lower;
    }
    sn_status status = sn_problem_create_markers(model, allocator, &plain, error);
    if (status == SN_OK) status = sn_problem_copy(plain, extra, n, allocator, out, error);
    for (int i = 0; status == SN_OK && i < sn_model_nmarker(model); i++)
        status = sn_problem_set_loss(*out, i, o->loss, o->loss_scale);
    if (status == SN_OK) status = weigh_markers(in, *out);
    sn_problem_destroy(plain);
    sn_release(allocator, prior.q);
    if (status != SN_OK) {
        sn_problem_destroy(*out);
        *out = NULL;
    }
    return status;
}

// The same of a frame that was tracked.
static sn_lane_frame from_tracked(const sn_track_frame *t) {
    return (sn_lane_frame){.iterations = t->report.iterations,
                           .functions = t->report.functions,
                           .gradients = t->report.gradients,
                           .hessians = t->report.hessians,
                           .factorizations = t->report.factorizations,
                           .active = (short)t->report.active,
                           .stop = (unsigned char)t->report.stop,
                           .restarted = t->restarted};
}

static void count_up(sn_fit_summary *s, const sn_fitting *fitting, sn_fit_frame *frames) {
    for (int f = 0; f < fitting->input.count; f++) {
        const sn_lane_frame r =
            fitting->tracked != NULL ? from_tracked(&fitting->tracked[f]) : fitting->laned[f];
        frames[f].iterations = (short)(r.iterations < 32000 ? r.iterations : 32000);
        frames[f].limits = r.active;
        frames[f].stop = r.stop;
        frames[f].restarted = r.restarted;
        frames[f].held = frames[f].markers < fitting->options.too_few;
        s->iterations += (double)r.iterations / fitting->input.count;
        s->functions += r.functions;
        s->gradients += r.gradients;
        s->hessians += r.hessians;
        s->factorizations += r.factorizations;
        s->restarted += r.restarted;
        s->held += frames[f].held;
    }
}

// --- its steps -----------------------------------------------------------------------------------

static bool not_negative(double x) { return x >= 0 && isfinite(x); }

static bool good_options(const sn_fit_options *o) {
    return o->version == 1 && (unsigned)o->limits <= SN_LIMITS_OFF &&
           not_negative(o->soft_weight) && not_negative(o->posture) &&
           (unsigned)o->loss < SN_LOSS_COUNT && not_negative(o->smooth);
}

bool sn_fit_input_good(const sn_fit_input *input, const sn_motion *motion) {
    if (input == NULL || input->model == NULL || input->recording == NULL || input->column == NULL)
        return false;
    const sn_recording_info *info = sn_recording_about(input->recording);
    bool good = input->first >= 0 && input->count >= 1 &&
                input->count <= info->nframe - input->first && sn_axis_map_good(&input->axes);
    for (int i = 0; good && i < sn_model_nmarker(input->model); i++)
        good = input->column[i] < info->nmarker;
    return good && (motion == NULL || (sn_motion_nframe(motion) == input->count &&
                                       sn_motion_nq(motion) == sn_model_nq(input->model)));
}

sn_status sn_fit_check_smooth(double seconds, double rate, sn_error *error) {
    if (seconds > 0 && !(rate > 0))
        return sn_fail(error, SN_ERR_ARGUMENT, 0,
                       "smoothing needs a frame rate, which the recording lacks");
    if (seconds * rate > 100)
        return sn_fail(error, SN_ERR_ARGUMENT, 0,
                       "smoothing over %g s is too much: at this frame rate it goes up to %.2g s, "
                       "and 0.005 to 0.02 s is usual",
                       seconds, 100 / rate);
    return SN_OK;
}

// A setup asks for each frame by itself; what is prescribed changes from frame to frame.
static bool by_itself(const sn_fit_input *in) {
    return in->plan != NULL && (in->plan->exact || in->plan->nprescribed > 0);
}

// What OpenSim's own tool is asked for counts every sample.
static bool has_gate(const sn_fitting *f) { return f->input.plan == NULL || !f->input.plan->exact; }

// How the valleys of an OpenSim model are looked for.
static sn_valley_options valley_options(const sn_fitting *f) {
    sn_solver_options solver = f->options.track.solver;
    solver.cancel = f->options.cancel;
    // twice a second
    double rate = fmin(sn_recording_about(f->input.recording)->rate, 1e6);
    return (sn_valley_options){.solver = solver,
                               .home = f->input.plan->home,
                               .lower = f->input.plan->lower,
                               .upper = f->input.plan->upper,
                               .every = rate > 2 ? (int)(rate / 2) : 30,
                               .seeds = 5,
                               // less is rounding
                               .lower_by = 1e-7,
                               .rows = f->batch != NULL ? &f->rows : NULL,
                               .threads = f->options.track.threads,
                               .pool = f->options.track.pool,
                               .cancel = f->options.cancel};
}

// The trunk's joints one upon another, where there are several: a body's spine is more than one bone, and markers tell
// hardly which of a skeleton's bends.
static sn_status find_loose(const sn_model *m, const sn_allocator *allocator, bool **out) {
    size_t nq = (size_t)sn_model_nq(m), nv = (size_t)sn_model_nv(m);
    double *q = sn_acquire(allocator, (nq + nv + 1) * sizeof *q);
    *out = sn_acquire(allocator, nv + 1);
    if (q == NULL || *out == NULL) {
        sn_release(allocator, q);
        return SN_ERR_MEMORY;
    }
    memset(*out, 0, nv + 1);
    double *weight = q + nq;
    sn_fit_posture(m, q, weight);
    for (int j = 0; j < sn_model_njoint(m); j++) {
        int parent = sn_model_parent(m, j), n = sn_model_joint_nv(m, j);
        if (parent < 0 || n == 0 || !sn_fit_is_trunk(m, weight, j)) continue;
        if (!sn_fit_is_trunk(m, weight, parent)) continue;
        for (int i = 0; i < n; i++) (*out)[sn_model_v_index(m, j) + i] = true;
        for (int i = 0; i < sn_model_joint_nv(m, parent); i++)
            (*out)[sn_model_v_index(m, parent) + i] = true;
    }
    sn_release(allocator, q);
    return SN_OK;
}

static sn_status find_mirror(const sn_model *m, const sn_allocator *allocator, int **out) {
    *out = sn_acquire(allocator, (size_t)m->njoint * sizeof **out);
    if (*out == NULL) return SN_ERR_MEMORY;
    for (int i = 0; i < m->njoint; i++) (*out)[i] = sn_model_mirror_joint(m, i);
    return SN_OK;
}

// The figure at rest: as OpenSim's files have it, as the posture is drawn to, or at zero.
static void find_home(const sn_fitting *f, double *q) {
    const sn_fit_input *in = &f->input;
    const sn_problem *p = f->problem;
    if (in->plan != NULL)
        memcpy(q, in->plan->home, (size_t)sn_model_nq(in->model) * sizeof *q);
    else if (p->nrest > 0)
        memcpy(q, p->rest[0].q, (size_t)sn_model_nq(in->model) * sizeof *q);
    else
        sn_model_zero(in->model, q);
}

static sn_status make_room(sn_fitting *f, sn_error *error) {
    const sn_allocator *allocator = &f->allocator;
    size_t count = (size_t)f->input.count, nmarker = (size_t)sn_model_nmarker(f->input.model),
           nq = (size_t)sn_model_nq(f->input.model);
    if (by_itself(&f->input) && f->batch == NULL)
        f->tracked = sn_acquire(allocator, count * sizeof *f->tracked);
    else
        f->laned = sn_acquire(allocator, count * sizeof *f->laned);
    f->start = sn_acquire(allocator, (2 * nq + 1) * sizeof *f->start);
    f->changed = sn_acquire(allocator, count * sizeof *f->changed);
    f->dropped = sn_acquire(allocator, count * nmarker + 1);
    f->wrong = sn_acquire(allocator, count * sizeof *f->wrong);
    if ((f->tracked == NULL && f->laned == NULL) || f->start == NULL || f->changed == NULL ||
        f->dropped == NULL || f->wrong == NULL)
        return sn_fail_memory(error);
    memset(f->changed, 0, count * sizeof *f->changed);
    memset(f->wrong, 0, count * sizeof *f->wrong);
    memset(f->dropped, 0, count * nmarker + 1);
    return SN_OK;
}

// As the lowest of several valleys, within the ranges: an arm that a limit holds in a worse one is not let go by the
// frames behind.
static sn_status start_in_valley(sn_fitting *f, int first) {
    sn_valley_options v = valley_options(f);
    return sn_valley_first(f->problem, &v, sn_fit_goals, &f->input, first - f->input.first,
                           &f->allocator, f->start);
}

static bool hides_back(const sn_fit_input *in) {
    for (int j = 0; j < sn_model_njoint(in->model); j++)
        if (sn_posture_hides_back(in->model, j)) return true;
    return false;
}

static sn_status measure_noise_anew(sn_fitting *f, const sn_fit_input *given, int first,
                                    sn_error *error) {
    SN_TRY(measure_noise(given, first, f->start, &f->allocator, &f->options.noise));
    sn_problem_destroy(f->problem);
    return sn_fit_problem(given, &f->options, &f->allocator, &f->problem, error);
}

// What no marker shows is drawn to rest by as much as the take's noise leaves open (pull_to()), and the first pose
// tells the noise. So that one is found with a problem that knows of none, and the problem of all frames is made then.
static sn_status start_from_nothing(sn_fitting *f, const sn_fit_input *given, int first,
                                    sn_error *error) {
    SN_TRY(sn_fit_first_pose(given, f->problem, first, &f->allocator, f->start));
    return measure_noise_anew(f, given, first, error);
}

// Each frame by itself: on the lanes of a batch, or one after the other.
static sn_status begin_each(sn_fitting *f, sn_error *error) {
    double *q = sn_motion_edit(f->motion, 0);
    if (f->batch != NULL)
        return sn_each_begin(&f->each, &f->rows, f->input.count, f->start, &f->allocator, q,
                             f->laned);
    const sn_track_options track = sn_fit_plan_options(f);
    SN_TRY(sn_tracker_create(f->problem, &track, &f->allocator, &f->tracker, error));
    return sn_tracker_begin(f->tracker, f->input.count, sn_fit_goals, &f->input, f->start, q,
                            f->tracked);
}

// Frames along time, in lanes.
static sn_status begin_lanes(sn_fitting *f, int first) {
    const sn_track_options *t = &f->options.track;
    sn_lane_options o = {.solver = t->solver,
                         .rate = sn_recording_about(f->input.recording)->rate,
                         .goals = sn_model_nmarker(f->input.model),
                         .walls = walls_of(f->problem, &f->input, &f->options),
                         .threads = t->threads,
                         .pool = t->pool,
                         .lanes = f->options.lanes,
                         .loose = f->loose,
                         .home = f->start + sn_model_nq(f->input.model),
                         .up = f->input.up,
                         .mirror = f->mirror,
                         .device = f->input.plan == NULL ? f->options.device : SN_DEVICE_CPU,
                         .cancel = f->options.cancel,
                         .progress = t->progress,
                         .progress_user = t->progress_user};
    o.solver.cancel = f->options.cancel;
    return sn_lanes_begin(&f->lanes, f->problem, &o, f->input.count, sn_fit_goals, &f->input,
                          f->start, first - f->input.first, &f->allocator,
                          sn_motion_edit(f->motion, 0), f->laned);
}

static sn_status check_begin(const sn_fitting *f, sn_error *error) {
    if (!sn_fit_input_good(&f->input, f->motion) || !good_options(&f->options))
        return sn_fail(error, SN_ERR_ARGUMENT, 0, "%s", sn_status_text(SN_ERR_ARGUMENT));
    SN_TRY(sn_fit_check_smooth(f->options.smooth, sn_recording_about(f->input.recording)->rate,
                               error));
    if (f->options.smooth > 0 && sn_model_nloop(f->input.model) > 0)
        return sn_fail(error, SN_ERR_UNSUPPORTED, 0,
                       "smoothing cannot keep the model's loops closed: fit without it");
    return SN_OK;
}

sn_status sn_fitting_begin(sn_fitting *fitting, const sn_fit_input *input,
                           const sn_fit_options *options, const sn_allocator *allocator,
                           sn_motion *motion, sn_error *error) {
    sn_fitting *f = fitting;
    *f = (sn_fitting){0};
    SN_NEED(input, error);
    SN_NEED(motion, error);
    *f = (sn_fitting){.input = *input,
                      .options = options != NULL ? *options : sn_fit_options_default(),
                      .allocator = sn_allocator_of(allocator),
                      .motion = motion};
    SN_TRY(check_begin(f, error));
    SN_TRY(sn_fit_problem(input, &f->options, allocator, &f->problem, error));
    if (find_loose(input->model, allocator, &f->loose) != SN_OK ||
        find_mirror(input->model, allocator, &f->mirror) != SN_OK)
        return sn_fail_memory(error);
    SN_TRY(sn_fit_open_each(f, error));
    SN_TRY(make_room(f, error));
    f->input.dropped = f->dropped;
    if (has_gate(f) && sn_fit_drop_leaps(input, allocator, f->dropped) != SN_OK)
        return sn_fail_memory(error);
    if (has_gate(f) && !by_itself(input) && sn_fit_fill_dropped(f) != SN_OK)
        return sn_fail_memory(error);
    find_home(f, f->start + sn_model_nq(input->model));
    int first = good_frame(input);
    const bool planned = input->plan != NULL;
    sn_status status = planned ? start_in_valley(f, first) : SN_OK;
    if (status == SN_OK && planned && f->options.posture > 0 && hides_back(input))
        status = measure_noise_anew(f, input, first, error);
    if (!planned) status = start_from_nothing(f, input, first, error);
    if (status == SN_OK) status = by_itself(input) ? begin_each(f, error) : begin_lanes(f, first);
    if (status != SN_OK) (void)sn_fail(error, status, 0, "%s", sn_status_text(status));
    return status;
}

sn_status sn_fitting_advance(sn_fitting *fitting, int count) {
    if (fitting->tracker != NULL)
        return sn_tracker_advance(fitting->tracker, count, &fitting->solved);
    if (fitting->batch != NULL) {
        SN_TRY(sn_each_advance(&fitting->each, count));
        fitting->solved = fitting->each.solved;
        sn_fit_tell_each(fitting);
        return SN_OK;
    }
    sn_status status = sn_lanes_advance(&fitting->lanes, count);
    fitting->solved = fitting->lanes.solved;
    return status;
}

void sn_fitting_end(sn_fitting *fitting) {
    const sn_allocator *allocator = &fitting->allocator;
    sn_tracker_destroy(fitting->tracker);
    sn_each_end(&fitting->each);
    sn_batch_destroy(fitting->batch);
    sn_lanes_end(&fitting->lanes);
    sn_problem_destroy(fitting->problem);
    for (int i = 0; i < fitting->nfill; i++) sn_release(allocator, fitting->fill[i].goal);
    if (fitting->dropped != NULL) sn_release(allocator, fitting->dropped);
    if (fitting->loose != NULL) sn_release(allocator, fitting->loose);
    sn_release(allocator, fitting->mirror);
    if (fitting->hidden != NULL) sn_release(allocator, fitting->hidden);
    if (fitting->wrong != NULL) sn_release(allocator, fitting->wrong);
    if (fitting->changed != NULL) sn_release(allocator, fitting->changed);
    if (fitting->start != NULL) sn_release(allocator, fitting->start);
    if (fitting->tracked != NULL) sn_release(allocator, fitting->tracked);
    if (fitting->laned != NULL) sn_release(allocator, fitting->laned);
    *fitting = (sn_fitting){0};
}

// What OpenSim's files ask for: each frame by itself.
static sn_status finish_plan(sn_fitting *f) {
    sn_tracker_destroy(f->tracker);
    f->tracker = NULL;
    sn_valley_options v = valley_options(f);
    SN_TRY(sn_track_valleys(f->problem, &v, f->input.count, sn_fit_goals, &f->input, &f->allocator,
                            sn_motion_edit(f->motion, 0), f->changed));
    if (has_gate(f)) SN_TRY(sn_fit_gate_plan(f, sn_fit_goals));
    if (f->options.barrier == 0) return SN_OK;
    sn_barrier_options b = {.solver = v.solver,
                            .mu = f->options.barrier,
                            .rest = sn_problem_ntask(f->problem) - 1,
                            .threads = v.threads,
                            .pool = v.pool,
                            .cancel = v.cancel};
    return sn_track_barrier(f->problem, &b, f->input.count, sn_fit_goals, &f->input, &f->allocator,
                            sn_motion_edit(f->motion, 0));
}

// Ranges hold in an OpenSim model, and a limb may have been held by one all along in a valley that is much worse.
static sn_status leave_traps(sn_fitting *f) {
    sn_valley_options v = valley_options(f);
    v.lower_by = 0.05;
    return sn_track_valleys(f->problem, &v, f->input.count, sn_fit_goals, &f->input, &f->allocator,
                            sn_motion_edit(f->motion, 0), f->changed);
}

// One motion from all that was followed, then angles a person would write down.
static sn_status join(sn_fitting *f) {
    if (by_itself(&f->input)) {
        SN_TRY(finish_plan(f));
        sn_fit_tidy(f->input.model, f->input.plan, f->motion);
        return SN_OK;
    }
    SN_TRY(sn_lanes_join(&f->lanes, f->changed));
    if (sn_cancelled(f->options.cancel)) return SN_OK;
    if (f->input.plan != NULL) SN_TRY(leave_traps(f));
    SN_TRY(sn_fit_gate(f));
    SN_TRY(sn_fit_follow_filled(f));
    SN_TRY(sn_lanes_bridge(&f->lanes));
    SN_TRY(sn_fit_fill_in(f));
    SN_TRY(sn_lanes_polish(&f->lanes, 2));
    f->input.hidden = f->hidden = f->lanes.hidden;
    f->lanes.hidden = NULL;
    sn_lanes_end(&f->lanes);
    sn_fit_tidy(f->input.model, f->input.plan, f->motion);
    return SN_OK;
}

sn_status sn_fitting_finish(sn_fitting *fitting, sn_fit_frame *frames, sn_fit_marker *markers,
                            sn_fit_summary *summary) {
    const sn_fit_input *in = &fitting->input;
    const sn_fit_options *o = &fitting->options;
    const sn_allocator *allocator = &fitting->allocator;
    sn_motion *motion = fitting->motion;
    double rms = 0, before = 0, after = 0;
    if (fitting->solved < in->count) return SN_ERR_ARGUMENT;
    SN_TRY(join(fitting));
    // who asked to stop does not wait until every frame is measured
    summary->cancelled = sn_cancelled(o->cancel);
    if (summary->cancelled) return SN_OK;
    if (o->smooth > 0) {
        SN_TRY(sn_fit_measure(in, motion, allocator, frames, markers, summary));
        rms = summary->rms;
        SN_TRY(sn_fit_acceleration(in->model, motion, allocator, &before));
        SN_TRY(sn_fit_smooth(in, o, fitting->problem, sn_fit_goals, allocator, motion));
    }
    SN_TRY(sn_fit_measure(in, motion, allocator, frames, markers, summary));
    SN_TRY(sn_fit_acceleration(in->model, motion, allocator, &after));
    summary->rms_unsmoothed = rms;
    summary->acceleration_unsmoothed = before;
    summary->acceleration = after;
    count_up(summary, fitting, frames);
    for (int f = 0; f < in->count; f++) {
        summary->moved += fitting->changed[f];
        frames[f].moved = fitting->changed[f];
    }
    summary->cancelled = sn_cancelled(o->cancel);
    return SN_OK;
}

sn_status sn_fit_objective(const sn_fit_input *input, const sn_fit_options *options,
                           const sn_allocator *allocator, const sn_motion *motion, double *f) {
    sn_problem *problem = NULL;
    sn_workspace *ws = NULL;
    sn_fit_input in = *input;
    sn_status status = sn_fit_problem(input, options, allocator, &problem, NULL);
    if (status == SN_OK) status = sn_workspace_create(problem, false, allocator, &ws, NULL);
    for (int k = 0; status == SN_OK && k < input->count; k++) {
        status = sn_fit_goals(&in, k, problem);
        if (status == SN_OK) status = sn_workspace_eval(ws, sn_motion_frame(motion, k), 0, &f[k]);
    }
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    return status;
}

sn_status sn_fit_run(const sn_fit_input *input, const sn_fit_options *options,
                     const sn_allocator *allocator, sn_motion *motion, sn_fit_frame *frames,
                     sn_fit_marker *markers, sn_fit_summary *summary, sn_error *error) {
    SN_NEED(frames, error);
    SN_NEED(markers, error);
    SN_NEED(summary, error);
    sn_fitting fitting;
    sn_status status = sn_fitting_begin(&fitting, input, options, allocator, motion, error);
    bool begun = status == SN_OK;
    if (status == SN_OK) status = sn_fitting_advance(&fitting, -1);
    if (status == SN_OK) status = sn_fitting_finish(&fitting, frames, markers, summary);
    if (status != SN_OK && begun) (void)sn_fail(error, status, 0, "%s", sn_status_text(status));
    sn_fitting_end(&fitting);
    return status;
}
