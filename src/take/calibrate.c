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
#include "take/calibrate.h"

#include <string.h>

// Rounds of tracking the take, each followed by steps of the shape.
enum { ROUNDS = 3 };

// The pull of a limb to the zero pose in each: a radian weighs as much as a marker that is 3 cm, 1 cm, 1 mm
// off; of the trunk 17 times as far.
static const double neutral_weight[ROUNDS] = {1e-3, 1e-4, 1e-6};

// The pull to the first guess, against what a frame with the marker in sight weighs.
static const double guess_weight = 1e-3;

// The same for a length factor: markers say more about the lengths than a model of somebody else does.
static const double factor_weight = 2e-4;

// Poses a degree of freedom that nothing sees: kept out of A^-1's way.
static const double pose_damping = 1e-6;

sn_calibrate_options sn_calibrate_options_default(void) {
    return (sn_calibrate_options){.version = 1, .frames = 120, .iterations = 20, .threads = 1};
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
        SN_TRY(sn_calibration_track(c, frames, error));
        // from here on the poses stay in the valleys that the limits chose
        c->shape.limits = round + 1 < ROUNDS || o->limits;
        if (c->nframe == 0)
            return sn_fail(error, SN_ERR_VALUE, 0, "no frame has markers to calibrate from");
        // twice, as samples that are far off show better the second time
        for (int pass = 0; pass < 2; pass++) {
            double rms;
            SN_TRY(sn_calibration_weigh(c, &rms, &report->outliers, error));
            if (round == 0 && pass == 0) report->rms_before = rms;
            if (round == 0) c->thrown = 0;  // the shape is too far off to tell
            SN_TRY(
                sn_calibration_improve(c, o->iterations, round + 1 < ROUNDS ? 1e-3 : 1e-4, error));
            if (sn_cancelled(c->cancel)) return SN_OK;
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
    sn_fit_posture(s->model, c->zero, c->neutral_of);
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
    SN_NEED(input, error);
    SN_NEED(position, error);
    SN_NEED(report, error);
    sn_calibrate_options o = options != NULL ? *options : sn_calibrate_options_default();
    *report = (sn_calibrate_report){0};
    const sn_model *model = input->model;
    if (o.version != 1 || o.frames < 1 || o.iterations < 0 || o.threads < 1 ||
        (o.scale && factor == NULL) || !sn_fit_input_good(input, NULL))
        return sn_fail(error, SN_ERR_ARGUMENT, 0, "%s", sn_status_text(SN_ERR_ARGUMENT));
    if (o.frames > input->count) o.frames = input->count;
    int *group = sn_acquire(allocator, (size_t)sn_model_njoint(model) * sizeof *group);
    if (group == NULL) return sn_fail_memory(error);
    int ngroup = o.scale ? sn_shape_groups(model, group) : 0;
    sn_calibration c = {.allocator = allocator,
                        .input = input,
                        .cancel = o.cancel,
                        .threads = o.threads,
                        .pool = o.pool,
                        .damping = pose_damping,
                        .nq = (size_t)sn_model_nq(model),
                        .nv = (size_t)sn_model_nv(model),
                        .shape = {.model = model,
                                  .njoint = sn_model_njoint(model),
                                  .nmarker = sn_model_nmarker(model)}};
    c.shape.size = 3 * c.shape.nmarker + ngroup;
    int tracked = sn_calibration_tracked(input);
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
    report->cancelled = sn_cancelled(o.cancel);
    if (status == SN_OK) {
        memcpy(position, c.x, (size_t)c.shape.nmarker * 3 * sizeof *position);
        if (factor != NULL) sn_shape_factors(&c.shape, c.x, factor);
    } else if (error != NULL && error->text[0] == '\0') {
        (void)sn_fail(error, status, 0, "%s", sn_status_text(status));
    }
    sn_release(allocator, owner);
    return status;
}
