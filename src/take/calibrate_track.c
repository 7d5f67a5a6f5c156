// SPDX-License-Identifier: MIT
// The take tracked with the shape so far, and the frames that the next steps are found from.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "take/calibrate.h"
#include "track/repair.h"

// While tracking, samples further off than this pull no stronger, metres. Where some lie where no skin moves
// to, they pull less and less (Cauchy's loss): with Huber's a thrown sample still takes a hand with it.
static const double track_loss = 0.01;

// How many frames to skip while tracking: 30 a second follow any motion of a body.
static int stride_of(const sn_fit_input *in) {
    double rate = fmin(sn_recording_about(in->recording)->rate, 1e6);
    int stride = rate > 60 ? (int)(rate / 30) : 1;
    while (stride > 1 && in->count / stride < 300) stride--;
    return stride;
}

int sn_calibration_tracked(const sn_fit_input *in) {
    int stride = stride_of(in);
    return (in->count + stride - 1) / stride;
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
static void choose_frames(sn_calibration *c, const strided *s, int tracked, const double *q,
                          int wanted) {
    int most = 0;
    for (int f = 0; f < tracked; f++) {
        c->seen[f] = seen_in(s->in, s->in->first + f * s->stride);
        if (c->seen[f] > most) most = c->seen[f];
    }
    c->nframe = 0;
    for (int slot = 0; slot < wanted; slot++) {
        int from = (int)((long)tracked * slot / wanted),
            to = (int)((long)tracked * (slot + 1) / wanted);
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

sn_status sn_calibration_track(sn_calibration *c, int wanted, sn_error *error) {
    strided s = {c->input, stride_of(c->input)};
    int tracked = sn_calibration_tracked(c->input);
    sn_model *model = NULL;
    sn_problem *problem = NULL;
    sn_tracker *tracker = NULL;
    sn_track_options o = sn_track_options_default();
    o.solver.max_iterations = 40;
    o.solver.gradient = 1e-5;
    o.solver.cancel = c->cancel;
    o.threads = c->threads;
    o.pool = c->pool;
    double *q = sn_acquire(c->allocator, ((size_t)tracked * c->nq + 1) * sizeof *q);
    double *start = sn_acquire(c->allocator, (c->nq + 1) * sizeof *start);
    sn_track_frame *frames = sn_acquire(c->allocator, (size_t)tracked * sizeof *frames);
    sn_status status = sn_shape_model(&c->shape, c->x, c->allocator, &model, error);
    if (status == SN_OK) status = sn_calibration_problem(c, model, &problem, error);
    // a sample far off must not pull the pose away with it
    for (int i = 0; status == SN_OK && i < c->shape.nmarker; i++)
        status = sn_problem_set_loss(problem, i, c->thrown > 0 ? SN_LOSS_CAUCHY : SN_LOSS_HUBER,
                                     track_loss);
    if (status == SN_OK && (q == NULL || frames == NULL || start == NULL)) status = SN_ERR_MEMORY;
    sn_fit_input in = *c->input;
    in.model = model;
    int first = in.first;
    for (int f = in.first, best = 0; f < in.first + in.count; f += s.stride) {
        int n = seen_in(c->input, f);
        if (10 * n > 11 * best) best = n, first = f;
    }
    if (status == SN_OK) status = sn_fit_first_pose(&in, problem, first, c->allocator, start);
    if (status == SN_OK) status = sn_tracker_create(problem, &o, c->allocator, &tracker, error);
    if (status == SN_OK)
        status = sn_tracker_run(tracker, tracked, strided_goals, &s, start, q, frames);
    sn_repair_options repair = {.every = 30, .lower = 0.9, .same = 0.97, .cancel = c->cancel};
    if (status == SN_OK)
        status =
            sn_track_repair(problem, &repair, tracked, strided_goals, &s, c->allocator, q, NULL);
    if (status == SN_OK) choose_frames(c, &s, tracked, q, wanted);
    sn_tracker_destroy(tracker);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
    sn_release(c->allocator, frames);
    sn_release(c->allocator, start);
    sn_release(c->allocator, q);
    return status;
}
