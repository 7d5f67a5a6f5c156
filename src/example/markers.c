// SPDX-License-Identifier: MIT
// A person's markers, and what a capture system makes of them.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/status.h"
#include "sinew/eval.h"
#include "sinew/take.h"

// Random numbers for different ends come from different states.
static uint64_t stream(uint64_t seed, uint64_t which) {
    uint64_t state = seed + which * 0x632be59bd9b4e019u;
    (void)sn_random_bits(&state);
    return state;
}

// Normal, but for tails beyond 6: the sum of twelve uniform numbers needs no logarithm, whose last
// bit differs from platform to platform.
static double normal(uint64_t *state) {
    double sum = -6;
    for (int i = 0; i < 12; i++) sum += sn_random(state);
    return sum;
}

sn_status sn_example_subject(uint64_t seed, const sn_allocator *allocator, sn_model **out,
                             sn_error *error) {
    SN_NEED(out, error);
    *out = NULL;
    sn_model *model;
    sn_builder *b;
    uint64_t state = stream(seed, 1);
    SN_TRY(sn_model_humanoid(allocator, &model, error));
    sn_status status = sn_builder_create(sn_model_name(model), allocator, &b, error);
    if (status == SN_OK) {
        for (int j = 0; j < sn_model_njoint(model); j++)
            (void)sn_builder_joint(b, sn_model_joint(model, j));
        for (int i = 0; i < sn_model_nmarker(model); i++) {
            sn_marker_desc marker = *sn_model_marker(model, i);
            // up to 8 mm along each axis
            for (int c = 0; c < 3; c++) marker.position[c] += 0.008 * (2 * sn_random(&state) - 1);
            (void)sn_builder_marker(b, &marker);
        }
        sn_builder_couple_as(b, model);
        status = sn_builder_finish(b, out, error);
        sn_builder_destroy(b);
    }
    sn_model_destroy(model);
    return status;
}

// Is `joint` at or below `top`?
static bool hangs_on(const sn_model *model, int joint, int top) {
    while (joint >= 0 && joint != top) joint = sn_model_parent(model, joint);
    return joint >= 0;
}

static void hide(sn_recording *recording, int marker, int first, int count) {
    const int end = first + count, nframe = sn_recording_about(recording)->nframe;
    for (int i = first; i < end && i < nframe; i++) {
        double *x = sn_recording_edit(recording, i) + 3 * marker;
        x[0] = x[1] = x[2] = NAN;
    }
}

// A marker is lost for a moment, up to a tenth of a second, about every four seconds.
static void drop_out(sn_recording *recording, int nmarker, int nframe, double rate,
                     uint64_t *state) {
    for (int m = 0; m < nmarker; m++)
        for (int i = 0; i < nframe; i++)
            if (sn_random(state) * 4 * rate < 1)
                hide(recording, m, i, 1 + (int)(0.1 * rate * sn_random(state)));
}

// Something stands between a limb and the cameras for half a second, about every two seconds: all
// markers on a joint and below it, when they are two to six.
static void occlude(sn_recording *recording, const sn_model *model, int nframe, double rate,
                    uint64_t *state) {
    const int nmarker = sn_model_nmarker(model), times = (int)(nframe / (2 * rate));
    for (int tries = 0, done = 0; done < times && tries < 1000; tries++) {
        int joint = (int)(sn_model_njoint(model) * sn_random(state)), count = 0;
        int first = (int)(nframe * sn_random(state));
        for (int m = 0; m < nmarker; m++)
            count += hangs_on(model, sn_model_marker(model, m)->joint, joint);
        if (count < 2 || count > 6) continue;
        for (int m = 0; m < nmarker; m++)
            if (hangs_on(model, sn_model_marker(model, m)->joint, joint))
                hide(recording, m, first, (int)(0.5 * rate));
        done++;
    }
}

// A reflection beside the figure's way: seen now and then.
static void stray(sn_recording *recording, int marker, int nframe, double rate, uint64_t *state) {
    bool seen = false;
    for (int i = 0; i < nframe; i++) {
        double *x = sn_recording_edit(recording, i) + 3 * marker;
        if (sn_random(state) * rate < 1) seen = !seen;
        const double place[3] = {1.3, 0.02, 4.1};
        for (int c = 0; c < 3; c++) {
            double at = place[c] + 0.002 * normal(state);
            if (seen) x[c] = at;
        }
    }
}

static sn_status measure(const sn_model *subject, const sn_motion *motion, uint64_t seed,
                         sn_workspace *ws, sn_recording *recording) {
    const int nmarker = sn_model_nmarker(subject), nframe = sn_motion_nframe(motion);
    const double rate = sn_motion_rate(motion);
    uint64_t noise = stream(seed, 2), gaps = stream(seed, 3), other = stream(seed, 4);
    for (int i = 0; i < nframe; i++) {
        double *to = sn_recording_edit(recording, i);
        SN_TRY(sn_workspace_pose(ws, sn_motion_frame(motion, i)));
        for (int m = 0; m < nmarker; m++, to += 3) {
            const sn_marker_desc *marker = sn_model_marker(subject, m);
            sn_vec3 x = sn_workspace_point(ws, marker->joint, marker->position);
            to[0] = x.x + 0.002 * normal(&noise);
            to[1] = x.y + 0.002 * normal(&noise);
            to[2] = x.z + 0.002 * normal(&noise);
        }
    }
    drop_out(recording, nmarker, nframe, rate, &gaps);
    occlude(recording, subject, nframe, rate, &gaps);
    stray(recording, nmarker, nframe, rate, &other);
    return SN_OK;
}

// Labels: the markers' names with the subject before them, and one that nobody named.
static sn_status create(const sn_model *subject, const sn_motion *motion,
                        const sn_allocator *allocator, sn_recording **out) {
    enum { ROOM = SN_MAX_NAME + 16 };
    const int n = sn_model_nmarker(subject);
    sn_recording_info info = {.nframe = sn_motion_nframe(motion),
                              .nmarker = n + 1,
                              .first_frame = 1,
                              .rate = sn_motion_rate(motion),
                              .metres_per_unit = 1,
                              .unit = "m",
                              .x_screen = "+Z",
                              .y_screen = "+Y"};
    const size_t count = (size_t)n + 1;
    const char **label = sn_acquire(allocator, count * (sizeof *label + ROOM));
    if (label == NULL) return SN_ERR_MEMORY;
    char *text = (char *)(label + count);
    for (int i = 0; i <= n; i++, text += ROOM) {
        label[i] = text;
        if (i < n) {
            (void)snprintf(text, ROOM, "figure:%s", sn_model_marker(subject, i)->name);
        } else {
            (void)snprintf(text, ROOM, "*%d", n);
        }
    }
    sn_status status = sn_recording_create(&info, label, allocator, out, NULL);
    sn_release(allocator, label);
    return status;
}

sn_status sn_example_recording(const sn_model *subject, const sn_motion *motion, uint64_t seed,
                               const sn_allocator *allocator, sn_recording **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    SN_NEED(subject, error);
    SN_NEED(motion, error);
    SN_NEED(out, error);
    sn_problem *problem = NULL;
    sn_workspace *ws = NULL;
    if (sn_motion_nq(motion) != sn_model_nq(subject))
        return sn_fail_range(error, "the motion is not of this subject");
    if (!(sn_motion_rate(motion) > 0))
        return sn_fail_range(error, "the motion's rate is not known");
    sn_status status = sn_problem_create(subject, NULL, 0, allocator, &problem, error);
    if (status == SN_OK) status = sn_workspace_create(problem, false, allocator, &ws, error);
    if (status == SN_OK) status = create(subject, motion, allocator, out);
    if (status == SN_OK) status = measure(subject, motion, seed, ws, *out);
    if (status != SN_OK) {
        sn_recording_destroy(*out);
        *out = NULL;
    }
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    return status;
}
