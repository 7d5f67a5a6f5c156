// SPDX-License-Identifier: MIT
// Where the markers sit and how long the bones are, found from the take together with the poses.
//
// Unknown are the poses q_k of some frames and the shape x: a place o_i per marker in its joint's frame and
// a length factor s_b per bone (left and right share one). A marker lies at
//
//   p_i = p_joint(q, s) + R_joint o_i          dp_i/do_i = R_joint
//                                              dp_i/ds_b = sum over the joints j on its path with parent b
//                                                          of R_b (rest vector from b to j)
//
// and all of it is least squares. The poses are eliminated frame by frame: with r the residuals at the best
// poses for this shape, J_q and J_x their derivatives,
//
//   S = sum_k J_x^T W J_x - B^T A^-1 B,  A = J_q^T W J_q + small, B = J_q^T W J_x      (Schur complement)
//
// gives the Gauss-Newton step of the shape alone, then the poses are solved again (variable projection).
// A weak pull to the first guess holds what the take does not show. Samples far off count for little
// (weights that fall with the square of the error, renewed twice a round), so gaps and outliers do no harm. While the places are only
// guessed, a pull to the zero pose keeps joints from folding over; it fades from round to round.
#include "fit/calibrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/dense.h"
#include "track/repair.h"

// Rounds of tracking the take, each followed by steps of the shape.
enum { ROUNDS = 3 };

// The pull to the zero pose in each: a radian weighs as much as a marker that is 3 cm, 1 cm, 1 mm off.
static const double neutral_weight[ROUNDS] = {1e-3, 1e-4, 1e-6};

// The pull to the first guess, against what a frame with the marker in sight weighs.
static const double guess_weight = 3e-4;

// The same for a length factor: markers say more about the lengths than a model of somebody else does.
static const double factor_weight = 2e-4;

// While tracking, samples further off than this pull no stronger, metres.
static const double track_loss = 0.01;

// Poses a degree of freedom that nothing sees: kept out of A^-1's way.
static const double pose_damping = 1e-6;

sn_calibrate_options sn_calibrate_options_default(void) {
    return (sn_calibrate_options){.version = 1, .frames = 120, .iterations = 20};
}

// --- the shape -------------------------------------------------------------------------------------------

// One number of x per bone, shared by its mirror image; -1 for joints without a bone.
static int group_bones(const sn_model *model, int *group) {
    int n = 0, njoint = sn_model_njoint(model);
    for (int j = 0; j < njoint; j++) group[j] = -1;
    for (int j = 0; j < njoint; j++) {
        const sn_joint_desc *d = sn_model_joint(model, j);
        int b = d->parent;
        double length = fabs(d->position[0]) + fabs(d->position[1]) + fabs(d->position[2]);
        if (b < 0 || length < 1e-9 || group[b] >= 0) continue;
        int mirror = sn_model_mirror_joint(model, b);
        group[b] = mirror >= 0 && group[mirror] >= 0 ? group[mirror] : n++;
    }
    return n;
}

void sn_shape_factors(const sn_shape *shape, const double *x, double *factor) {
    for (int j = 0; j < shape->njoint; j++)
        factor[j] = shape->group[j] >= 0 ? x[3 * shape->nmarker + shape->group[j]] : 1;
}

sn_status sn_shape_model(const sn_shape *shape, const double *x, const sn_allocator *allocator,
                         sn_model **out, sn_error *error) {
    sn_builder *builder;
    *out = NULL;
    if (sn_builder_create(sn_model_name(shape->model), allocator, &builder) != SN_OK)
        return sn_fail_memory(error);
    for (int j = 0; j < shape->njoint; j++) {
        sn_joint_desc d = *sn_model_joint(shape->model, j);
        for (int k = 0; !shape->limits && k < SN_MAX_JOINT_DOFS; k++) {
            d.lower[k] = -INFINITY;
            d.upper[k] = INFINITY;
        }
        int group = d.parent >= 0 ? shape->group[d.parent] : -1;
        for (int k = 0; group >= 0 && k < 3; k++) d.position[k] *= x[3 * shape->nmarker + group];
        (void)sn_builder_joint(builder, &d);
    }
    for (int i = 0; i < shape->nmarker; i++) {
        sn_marker_desc d = *sn_model_marker(shape->model, i);
        memcpy(d.position, x + 3 * i, sizeof d.position);
        (void)sn_builder_marker(builder, &d);
    }
    sn_status status = sn_builder_finish(builder, out, error);
    sn_builder_destroy(builder);
    return status;
}

// One point task per marker, and the pull to the zero pose.
static sn_status make_problem(const sn_calibration *c, const sn_model *model, sn_problem **out,
                              sn_error *error) {
    sn_problem *markers = NULL;
    *out = NULL;
    SN_TRY(sn_problem_create_markers(model, c->allocator, &markers, error));
    sn_task rest = sn_task_default(SN_TASK_REST);
    rest.q = c->zero;
    rest.q_weight = c->neutral_of;
    rest.weight = c->neutral;
    sn_status status = sn_problem_copy(markers, &rest, 1, c->allocator, out, error);
    sn_problem_destroy(markers);
    return status;
}

// --- the poses for a shape -------------------------------------------------------------------------------

static sn_status set_frame(const sn_calibration *c, sn_problem *problem, int k) {
    for (int i = 0; i < c->shape.nmarker; i++) {
        double goal[3];
        if (sn_fit_goal(c->input, i, c->frame[k], goal)) {
            SN_TRY(sn_problem_set_goal(problem, i, goal));
            SN_TRY(sn_problem_set_weight(problem, i, sn_calibration_weight(c, k, i)));
        } else {
            SN_TRY(sn_problem_set_missing(problem, i, true));
        }
    }
    return SN_OK;
}

// Twice the pull to the first guess.
static double guess_energy(const sn_calibration *c, const double *x) {
    double sum = 0;
    for (int i = 0; i < c->shape.size; i++)
        sum += c->pull[i] * (x[i] - c->guess[i]) * (x[i] - c->guess[i]);
    return sum;
}

// Solve all poses for shape x from those in `poses`; the total energy and the normal equations.
static sn_status at_shape(sn_calibration *c, const double *x, double *poses, double *energy,
                          sn_error *error) {
    sn_model *model = NULL;
    sn_problem *problem = NULL;
    sn_solver *solver = NULL;
    sn_solver_options o = sn_solver_options_default();
    o.max_iterations = 30;
    o.gradient = 1e-7;
    *energy = 0.5 * guess_energy(c, x);
    SN_TRY(sn_shape_model(&c->shape, x, c->allocator, &model, error));
    sn_status status = make_problem(c, model, &problem, error);
    if (status == SN_OK) status = sn_solver_create(problem, &o, c->allocator, &solver);
    if (status == SN_OK) sn_normal_begin(c, x);
    for (int k = 0; status == SN_OK && k < c->nframe; k++) {
        sn_report report;
        double *q = poses + (size_t)k * c->nq;
        status = set_frame(c, problem, k);
        if (status == SN_OK) status = sn_solver_solve(solver, q, &report);
        if (status != SN_OK) break;
        *energy += report.f;
        sn_normal_add(c, sn_solver_workspace(solver), model, k);
    }
    sn_solver_destroy(solver);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
    return status;
}

// --- steps -----------------------------------------------------------------------------------------------

// x_new = x - (S + lambda diag S)^-1 g. False when it cannot be solved.
static bool step_from(sn_calibration *c, const double *x, double lambda, double *x_new) {
    size_t n = (size_t)c->shape.size;
    memcpy(c->factored, c->S, n * n * sizeof *c->S);
    for (size_t i = 0; i < n; i++) {
        c->factored[i * n + i] += lambda * c->S[i * n + i] + 1e-12;
        x_new[i] = c->g[i];
    }
    if (!sn_cholesky(c->factored, (int)n)) return false;
    sn_cholesky_forward(c->factored, (int)n, x_new);
    sn_cholesky_backward(c->factored, (int)n, x_new);
    for (size_t i = 0; i < n; i++) x_new[i] = x[i] - x_new[i];
    // a bone neither vanishes nor turns round
    for (size_t i = 3 * (size_t)c->shape.nmarker; i < n; i++)
        x_new[i] = fmin(fmax(x_new[i], 0.25), 4);
    return true;
}

// Gauss-Newton on the shape with Levenberg's damping when a step does not help; ends when a step gains less
// than `tolerance` of the energy.
static sn_status improve(sn_calibration *c, int iterations, double tolerance, sn_error *error) {
    size_t n = (size_t)c->shape.size, poses = (size_t)c->nframe * c->nq;
    double energy, lambda = 0;
    SN_TRY(at_shape(c, c->x, c->poses, &energy, error));
    for (int i = 0, failed = 0; i < iterations && failed < 6; i++) {
        if (c->cancel != NULL && *c->cancel) return SN_OK;
        double next = INFINITY;
        memcpy(c->poses_try, c->poses, poses * sizeof *c->poses);
        memcpy(c->S_kept, c->S, n * n * sizeof *c->S);
        memcpy(c->g_kept, c->g, n * sizeof *c->g);
        if (step_from(c, c->x, lambda, c->x_try))
            SN_TRY(at_shape(c, c->x_try, c->poses_try, &next, error));
        c->iterations++;
        if (!(next < energy)) {
            memcpy(c->S, c->S_kept, n * n * sizeof *c->S);
            memcpy(c->g, c->g_kept, n * sizeof *c->g);
            lambda = lambda > 0 ? 10 * lambda : 1e-4;
            failed++;
            continue;
        }
        failed = 0;
        lambda = lambda > 1e-5 ? lambda / 10 : 0;
        memcpy(c->x, c->x_try, n * sizeof *c->x);
        memcpy(c->poses, c->poses_try, poses * sizeof *c->poses);
        bool done = energy - next < tolerance * energy;
        energy = next;
        if (done) break;
    }
    return SN_OK;
}

// --- frames, tracked anew each round -----------------------------------------------------------------------

// How many frames to skip while tracking: 30 a second follow any motion of a body.
static int stride_of(const sn_fit_input *in) {
    double rate = fmin(sn_recording_get_info(in->recording)->rate, 1e6);
    int stride = rate > 60 ? (int)(rate / 30) : 1;
    while (stride > 1 && in->count / stride < 300) stride--;
    return stride;
}

static int seen_in(const sn_fit_input *in, int frame) {
    int n = 0;
    double goal[3];
    for (int i = 0; i < sn_model_nmarker(in->model); i++) n += sn_fit_goal(in, i, frame, goal);
    return n;
}

typedef struct strided {
    const sn_fit_input *in;
    int stride;
} strided;

static sn_status strided_goals(void *user, int frame, sn_problem *problem) {
    const strided *s = user;
    for (int i = 0; i < sn_model_nmarker(s->in->model); i++) {
        double goal[3];
        if (sn_fit_goal(s->in, i, s->in->first + frame * s->stride, goal)) {
            SN_TRY(sn_problem_set_goal(problem, i, goal));
        } else {
            SN_TRY(sn_problem_set_missing(problem, i, true));
        }
    }
    return SN_OK;
}

// Of the tracked frames, those spread over the take that see most markers: in each stretch the one nearest
// its middle, not the one that fits best, so that the take's other frames fit as well.
static void choose_frames(sn_calibration *c, const strided *s, int tracked, const double *q, int wanted) {
    int most = 0;
    for (int f = 0; f < tracked; f++) {
        c->seen[f] = seen_in(s->in, s->in->first + f * s->stride);
        if (c->seen[f] > most) most = c->seen[f];
    }
    c->nframe = 0;
    for (int slot = 0; slot < wanted; slot++) {
        int from = (int)((long)tracked * slot / wanted), to = (int)((long)tracked * (slot + 1) / wanted);
        int best = -1;
        for (int f = from; f < to; f++) {
            bool nearer = best >= 0 && c->seen[f] == c->seen[best] &&
                          abs(2 * f - from - to) < abs(2 * best - from - to);
            if (best < 0 || c->seen[f] > c->seen[best] || nearer) best = f;
        }
        if (best < 0 || c->seen[best] == 0 || 2 * c->seen[best] < most) continue;
        c->frame[c->nframe] = s->in->first + best * s->stride;
        memcpy(c->poses + (size_t)c->nframe * c->nq, q + (size_t)best * c->nq, c->nq * sizeof *q);
        c->nframe++;
    }
}

static sn_status track_take(sn_calibration *c, int wanted, sn_error *error) {
    strided s = {c->input, stride_of(c->input)};
    int tracked = (c->input->count + s.stride - 1) / s.stride;
    sn_model *model = NULL;
    sn_problem *problem = NULL;
    sn_tracker *tracker = NULL;
    sn_track_options o = sn_track_options_default();
    o.solver.max_iterations = 40;
    o.solver.gradient = 1e-5;
    o.solver.cancel = c->cancel;
    double *q = sn_acquire(c->allocator, ((size_t)tracked * c->nq + 1) * sizeof *q);
    double *start = sn_acquire(c->allocator, (c->nq + 1) * sizeof *start);
    sn_track_frame *frames = sn_acquire(c->allocator, (size_t)tracked * sizeof *frames);
    sn_status status = sn_shape_model(&c->shape, c->x, c->allocator, &model, error);
    if (status == SN_OK) status = make_problem(c, model, &problem, error);
    // a sample far off must not pull the pose away with it
    for (int i = 0; status == SN_OK && i < c->shape.nmarker; i++)
        status = sn_problem_set_loss(problem, i, SN_LOSS_HUBER, track_loss);
    if (status == SN_OK && (q == NULL || frames == NULL || start == NULL)) status = SN_ERR_MEMORY;
    sn_fit_input in = *c->input;
    in.model = model;
    int first = in.first;
    for (int f = in.first, best = 0; f < in.first + in.count; f += s.stride) {
        int n = seen_in(c->input, f);
        if (10 * n > 11 * best) best = n, first = f;
    }
    if (status == SN_OK) status = sn_fit_first_pose(&in, problem, first, c->allocator, start);
    if (status == SN_OK) status = sn_tracker_create(problem, &o, c->allocator, &tracker);
    if (status == SN_OK)
        status = sn_tracker_run(tracker, tracked, strided_goals, &s, start, q, frames);
    sn_repair_options repair = {.every = 30, .lower = 0.9, .same = 0.97, .cancel = c->cancel};
    if (status == SN_OK)
        status = sn_track_repair(problem, &repair, tracked, strided_goals, &s, c->allocator, q, NULL);
    if (status == SN_OK) choose_frames(c, &s, tracked, q, wanted);
    sn_tracker_destroy(tracker);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
    sn_release(c->allocator, frames);
    sn_release(c->allocator, start);
    sn_release(c->allocator, q);
    return status;
}

// --- all of it ---------------------------------------------------------------------------------------------

static sn_status run(sn_calibration *c, const sn_calibrate_options *o, sn_calibrate_report *report,
                     sn_error *error) {
    for (int round = 0; round < ROUNDS; round++) {
        if (o->progress != NULL) o->progress(o->progress_user, (double)round / ROUNDS);
        c->shape.limits = true;
        c->neutral = neutral_weight[round];
        // the first rounds only need to come near
        int frames = round + 1 < ROUNDS ? (o->frames + 2) / 3 : o->frames;
        SN_TRY(track_take(c, frames, error));
        // from here on the poses stay in the valleys that the limits chose
        c->shape.limits = round + 1 < ROUNDS || o->limits;
        if (c->nframe == 0)
            return sn_fail(error, SN_ERR_VALUE, 0, "no frame has markers to calibrate from");
        // twice, as samples that are far off show better the second time
        for (int pass = 0; pass < 2; pass++) {
            double rms;
            SN_TRY(sn_calibration_weigh(c, &rms, &report->outliers, error));
            if (round == 0 && pass == 0) report->rms_before = rms;
            SN_TRY(improve(c, o->iterations, round + 1 < ROUNDS ? 1e-3 : 1e-4, error));
            if (c->cancel != NULL && *c->cancel) return SN_OK;
        }
    }
    SN_TRY(sn_calibration_weigh(c, &report->rms, &report->outliers, error));
    report->frames = c->nframe;
    report->iterations = c->iterations;
    return SN_OK;
}

static void first_guess(sn_calibration *c, int frames) {
    const sn_shape *s = &c->shape;
    for (int i = 0; i < s->nmarker; i++) {
        memcpy(c->x + 3 * i, sn_model_marker(s->model, i)->position, 3 * sizeof(double));
        for (int k = 0; k < 3; k++) c->pull[3 * i + k] = guess_weight * frames;
    }
    for (int i = 3 * s->nmarker; i < s->size; i++) {
        c->x[i] = 1;
        c->pull[i] = factor_weight * frames;
    }
    memcpy(c->guess, c->x, (size_t)s->size * sizeof *c->x);
    sn_fit_neutral(s->model, c->zero, c->neutral_of);
}

static void lay_out(sn_calibration *c, sn_layout *l, int frames, int tracked) {
    size_t n = (size_t)c->shape.size, K = (size_t)frames, m = (size_t)c->shape.nmarker;
    c->shape.group = sn_layout_take(l, (size_t)c->shape.njoint, sizeof *c->shape.group);
    c->columns = sn_layout_take(l, (size_t)c->shape.njoint + 3, sizeof *c->columns);
    c->frame = sn_layout_take(l, K, sizeof *c->frame);
    c->seen = sn_layout_take(l, (size_t)tracked, sizeof *c->seen);
    c->weight = sn_layout_take(l, K * m, sizeof *c->weight);
    c->error = sn_layout_take(l, K * m, sizeof *c->error);
    c->poses = sn_layout_take(l, K * c->nq, sizeof *c->poses);
    c->poses_try = sn_layout_take(l, K * c->nq, sizeof *c->poses_try);
    c->x = sn_layout_take(l, n, sizeof *c->x);
    c->x_try = sn_layout_take(l, n, sizeof *c->x_try);
    c->guess = sn_layout_take(l, n, sizeof *c->guess);
    c->pull = sn_layout_take(l, n, sizeof *c->pull);
    c->g = sn_layout_take(l, n, sizeof *c->g);
    c->g_kept = sn_layout_take(l, n, sizeof *c->g_kept);
    c->S = sn_layout_take(l, n * n, sizeof *c->S);
    c->S_kept = sn_layout_take(l, n * n, sizeof *c->S_kept);
    c->factored = sn_layout_take(l, n * n, sizeof *c->factored);
    c->A = sn_layout_take(l, c->nv * c->nv, sizeof *c->A);
    c->B = sn_layout_take(l, n * c->nv, sizeof *c->B);
    c->neutral_of = sn_layout_take(l, c->nv, sizeof *c->neutral_of);
    c->zero = sn_layout_take(l, c->nq, sizeof *c->zero);
    c->J = sn_layout_take(l, 3 * c->nv, sizeof *c->J);
    c->Jx = sn_layout_take(l, 3 * n, sizeof *c->Jx);
}

sn_status sn_calibrate(const sn_fit_input *input, const sn_calibrate_options *options,
                       const sn_allocator *allocator, double *position, double *factor,
                       sn_calibrate_report *report, sn_error *error) {
    sn_calibrate_options o = options != NULL ? *options : sn_calibrate_options_default();
    *report = (sn_calibrate_report){0};
    const sn_model *model = input->model;
    if (o.version != 1 || o.frames < 1 || input->count < 1 || (o.scale && factor == NULL))
        return sn_fail(error, SN_ERR_ARGUMENT, 0, "%s", sn_status_text(SN_ERR_ARGUMENT));
    if (o.frames > input->count) o.frames = input->count;
    int *group = sn_acquire(allocator, (size_t)sn_model_njoint(model) * sizeof *group);
    if (group == NULL) return sn_fail_memory(error);
    int ngroup = o.scale ? group_bones(model, group) : 0;
    sn_calibration c = {.allocator = allocator,
                        .input = input,
                        .cancel = o.cancel,
                        .damping = pose_damping,
                        .nq = (size_t)sn_model_nq(model),
                        .nv = (size_t)sn_model_nv(model),
                        .shape = {.model = model,
                                  .njoint = sn_model_njoint(model),
                                  .nmarker = sn_model_nmarker(model)}};
    c.shape.size = 3 * c.shape.nmarker + ngroup;
    int tracked = input->count / stride_of(input) + 1;
    void *owner = NULL;
    sn_layout layout = {0};
    lay_out(&c, &layout, o.frames, tracked);
    void *block = sn_layout_acquire(&layout, allocator, &owner);
    if (block == NULL) {
        sn_release(allocator, group);
        return sn_fail_memory(error);
    }
    layout = (sn_layout){.block = block};
    lay_out(&c, &layout, o.frames, tracked);
    for (int j = 0; j < c.shape.njoint; j++) c.shape.group[j] = o.scale ? group[j] : -1;
    sn_release(allocator, group);
    first_guess(&c, o.frames);
    sn_status status = run(&c, &o, report, error);
    report->cancelled = o.cancel != NULL && *o.cancel;
    if (status == SN_OK) {
        memcpy(position, c.x, (size_t)c.shape.nmarker * 3 * sizeof *position);
        if (factor != NULL) sn_shape_factors(&c.shape, c.x, factor);
    } else if (error != NULL && error->text[0] == '\0') {
        (void)sn_fail(error, status, 0, "%s", sn_status_text(status));
    }
    sn_release(allocator, owner);
    return status;
}
