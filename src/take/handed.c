// SPDX-License-Identifier: MIT
// Whether the markers are a mirror image of the figure, or those of its arms or legs sit on the wrong sides.
//
// A calibration that may move every marker absorbs a mirrored take: the error is small and the motion
// nonsense. So before any marker moves, some frames are solved twice from nothing, as they are and mirrored.
// Exchanged labels of left and right are the same thing as exchanged axes: bodies are nearly symmetric, so
// a mirrored frame mends both. A pull to the zero pose keeps joints from folding over to meet the wrong
// image.
#include <stdio.h>
#include <string.h>

#include "take/body.h"
#include "take/fit.h"

enum { MOST_FRAMES = 6 };

// A radian from zero weighs as much as a marker that is 3 cm off; see calibrate.c.
static const double neutral_weight = 1e-3;

// Samples further off than this pull no stronger, metres.
static const double huber = 0.05;

// Right takes of HDM05, CMU, OpenSim and the example stand at 1.67 and above, mirrored ones at 0.67 and below;
// a skeleton whose zero pose is no stance tells nothing and stands near 1.
static const double mirrored_below = 0.8;
// The same with the labels of arms or legs exchanged: right takes stand at 1.34 and above, exchanged ones at 0.75 and below.
static const double exchanged_below = 0.85;
// After a few frames from all over the take it is plain enough, and each takes as long as hundreds that are followed.
static const double plainly_right = 1.5;
enum { FEW = SN_FIT_FEW };

static sn_status make_problem(const sn_model *model, double *zero, double *weight,
                              const sn_allocator *allocator, sn_problem **out) {
    sn_problem *markers = NULL;
    *out = NULL;
    sn_status status = sn_problem_create_markers(model, allocator, &markers, NULL);
    sn_fit_neutral(model, zero, weight);
    sn_task rest = sn_task_default(SN_TASK_REST);
    rest.q = zero;
    rest.q_weight = weight;
    rest.weight = neutral_weight;
    if (status == SN_OK) status = sn_problem_copy(markers, &rest, 1, allocator, out, NULL);
    for (int i = 0; status == SN_OK && i < sn_model_nmarker(model); i++)
        status = sn_problem_set_loss(*out, i, SN_LOSS_HUBER, huber);
    sn_problem_destroy(markers);
    return status;
}

static int find_marker(const sn_model *m, const char *name) {
    for (int i = 0; i < sn_model_nmarker(m); i++)
        if (strcmp(sn_model_marker(m, i)->name, name) == 0) return i;
    return -1;
}

int sn_fit_twin(const sn_model *m, int marker) {
    static const char *const words[][2] = {
        {"left", "right"}, {"Left", "Right"}, {"L", "R"}, {"l", "r"}};
    const char *name = sn_model_marker(m, marker)->name;
    for (int w = 0; w < 4; w++)
        for (int side = 0; side < 2; side++) {
            char other[SN_MAX_LABEL + 8];
            const size_t n = strlen(words[w][side]);
            if (strncmp(name, words[w][side], n) != 0) continue;
            (void)snprintf(other, sizeof other, "%s%s", words[w][1 - side], name + n);
            const int twin = find_marker(m, other);
            if (twin >= 0) return twin;
        }
    return marker;
}

bool sn_fit_is_on(const sn_model *m, bool legs, int marker) {
    sn_body limb = legs ? SN_BODY_THIGH : SN_BODY_UPPER_ARM;
    if (!legs && sn_body_carrier(m, SN_BODY_CLAVICLE, 0) != sn_body_carrier(m, SN_BODY_CLAVICLE, 1))
        limb = SN_BODY_CLAVICLE;
    for (int side = 0; side < 2; side++) {
        const int joint = sn_body_carrier(m, limb, side);
        if (joint >= 0 && sn_body_is_above(m, joint, sn_model_marker(m, marker)->joint))
            return true;
    }
    return false;
}

// f of a frame solved from nothing, its x negated or not, with labels exchanged on a limb of both sides, or none.
enum { ARMS, LEGS, NO_LIMB };

static sn_status solve(const sn_fit_input *in, sn_problem *problem, sn_solver *solver, int frame,
                       bool mirrored, int limb, double *q, double *f) {
    sn_report report;
    for (int i = 0; i < sn_model_nmarker(in->model); i++) {
        double goal[3];
        const bool other = limb != NO_LIMB && sn_fit_is_on(in->model, limb == LEGS, i);
        bool there = sn_fit_goal(in, other ? sn_fit_twin(in->model, i) : i, frame, goal);
        if (there && mirrored) goal[0] = -goal[0];
        SN_TRY(there ? sn_problem_set_goal(problem, i, goal)
                     : sn_problem_set_missing(problem, i, true));
    }
    sn_model_zero(in->model, q);
    SN_TRY(sn_solver_solve_cold(solver, q, &report));
    *f = report.f;
    return SN_OK;
}

// Of each stretch the frame that sees most.
static int choose(const sn_fit_input *in, int *frame) {
    int n = 0, wanted = in->count < MOST_FRAMES ? in->count : MOST_FRAMES;
    for (int k = 0; k < wanted; k++) {
        int from = (int)((long)in->count * k / wanted),
            to = (int)((long)in->count * (k + 1) / wanted), most = 2;
        for (int f = from; f < to; f++) {
            int seen = 0;
            double goal[3];
            for (int i = 0; i < sn_model_nmarker(in->model); i++)
                seen += sn_fit_goal(in, i, in->first + f, goal);
            if (seen <= most) continue;
            if (most == 2) n++;
            most = seen;
            frame[n - 1] = in->first + f;
        }
    }
    return n;
}

sn_status sn_fit_handedness(const sn_fit_input *input, const sn_cancel *cancel,
                            const sn_allocator *allocator, sn_handedness *out) {
    return sn_fit_handedness_poses(input, cancel, allocator, out, NULL);
}

sn_status sn_fit_handedness_poses(const sn_fit_input *input, const sn_cancel *cancel,
                                  const sn_allocator *allocator, sn_handedness *out,
                                  sn_fit_few *poses) {
    if (out == NULL || !sn_fit_input_good(input, NULL)) return SN_ERR_ARGUMENT;
    *out = (sn_handedness){0};
    size_t nq = (size_t)sn_model_nq(input->model), nv = (size_t)sn_model_nv(input->model);
    sn_problem *problem = NULL;
    sn_solver *solver = NULL;
    sn_solver_options o = sn_solver_options_default();
    o.max_iterations = 40;
    o.gradient = 1e-4;
    if (cancel != NULL) o.cancel = *cancel;
    double *q = sn_acquire(allocator, (2 * nq + nv + 1) * sizeof *q);
    if (q == NULL) return SN_ERR_MEMORY;
    int frame[MOST_FRAMES], count = choose(input, frame);
    sn_status status = make_problem(input->model, q + nq, q + 2 * nq, allocator, &problem);
    if (status == SN_OK) status = sn_solver_create(problem, &o, allocator, &solver, NULL);
    double few = 0, limb[2] = {0};
    for (int k = 0; status == SN_OK && k < count; k++) {
        // first one of each half, then what lies between
        int at = k % 2 == 0 ? k / 2 : (count + 1) / 2 + k / 2;
        if (k >= FEW && out->mirrored > plainly_right * out->given) break;
        out->frames++;
        for (int mirrored = 0; status == SN_OK && mirrored < 2; mirrored++) {
            double f = 0;
            status = solve(input, problem, solver, frame[at], mirrored, NO_LIMB, q, &f);
            *(mirrored ? &out->mirrored : &out->given) += f;
            if (k >= FEW || mirrored) continue;
            few += f;
            if (poses == NULL) continue;
            poses->frame[poses->count] = frame[at];
            memcpy(poses->q + (size_t)poses->count++ * nq, q, nq * sizeof *q);
        }
        for (int l = 0; status == SN_OK && k < FEW && l < 2; l++) {
            double f = 0;
            status = solve(input, problem, solver, frame[at], false, l == 0 ? ARMS : LEGS, q, &f);
            limb[l] += f;
        }
    }
    out->looks_mirrored = out->mirrored < mirrored_below * out->given;
    if (few > 0) {
        out->arms = limb[0] / few;
        out->legs = limb[1] / few;
    }
    // a figure without them is the same twice, which is no better
    out->arms_exchanged = few > 0 && out->arms < exchanged_below;
    out->legs_exchanged = few > 0 && out->legs < exchanged_below;
    sn_solver_destroy(solver);
    sn_problem_destroy(problem);
    sn_release(allocator, q);
    return status;
}
