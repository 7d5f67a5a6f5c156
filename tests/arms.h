// SPDX-License-Identifier: MIT
// What the tests of arms share: the six arms, random poses, and the sweeps to hold them against.
#pragma once

#include "arm/arm.h"
#include "arms_models.h"
#include "math/rotation.h"
#include "math/vec3.h"
#include "support.h"

static inline sn_arm *arm_of(const sn_model *model, const char *tip,
                             const sn_arm_options *options) {
    sn_arm *arm;
    sn_error error = {0};
    if (sn_arm_create(model, tip, options, NULL, &arm, &error) != SN_OK) fail_msg("%s", error.text);
    return arm;
}

// Under sanitizers a seven-joint arm and a six-joint one are enough.
static inline int stride(void) { return sampled() ? 3 : 1; }

// The six arms, each made when it is first asked for: a table takes a fifth of a second, and seconds under sanitizers.
static sn_model *made_models[ARMS_COUNT];
static sn_arm *made_arms[ARMS_COUNT];

static inline sn_model *the_model(int a) {
    if (made_models[a] == NULL) made_models[a] = arms_model(a);
    return made_models[a];
}

static inline sn_arm *the_arm(int a) {
    if (made_arms[a] == NULL) made_arms[a] = arm_of(the_model(a), "tool", NULL);
    return made_arms[a];
}

static inline int end_arms(void **unused) {
    (void)unused;
    for (int a = 0; a < ARMS_COUNT; a++) {
        sn_arm_destroy(made_arms[a]);
        sn_model_destroy(made_models[a]);
    }
    return 0;
}

static inline void random_q(const sn_arm *arm, uint64_t *state, double *q) {
    for (int j = 0; j < sn_arm_n(arm); j++)
        q[j] = uniform(state, fmax(sn_arm_lower(arm)[j], -3.1), fmin(sn_arm_upper(arm)[j], 3.1));
}

// The tool by the sweeps, which share nothing with the arm.
static inline void tool_by_sweeps(const sn_model *model, const sn_arm *arm, const char *tip,
                                  const double *q, double tool[7]) {
    sn_problem *problem;
    sn_workspace *ws;
    double *pose = malloc(((size_t)sn_model_nq(model) + 1) * sizeof *pose);
    assert_int_equal(sn_problem_create(model, NULL, 0, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
    sn_arm_to_pose(arm, q, pose);
    assert_int_equal(sn_workspace_pose(ws, pose), SN_OK);
    sn_frame f = sn_workspace_frame(ws, sn_model_find_joint(model, tip));
    sn_quat r = sn_quat_from_mat3(f.R);
    const double out[7] = {f.p.x, f.p.y, f.p.z, r.w, r.x, r.y, r.z};
    memcpy(tool, out, sizeof out);
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    free(pose);
}

static inline double apart(const double a[7], const double b[7]) {
    double place = 0, dot = 0;
    for (int i = 0; i < 3; i++) place += (a[i] - b[i]) * (a[i] - b[i]);
    for (int i = 3; i < 7; i++) dot += a[i] * b[i];
    return fmax(sqrt(place), 2 * sqrt(fmax(0, 2 - 2 * fabs(dot))));
}

static inline void assert_inside(const sn_arm *arm, const double *q) {
    for (int j = 0; j < sn_arm_n(arm); j++)
        if (!(q[j] >= sn_arm_lower(arm)[j] && q[j] <= sn_arm_upper(arm)[j]))
            fail_msg("%s = %.17g is outside [%.17g, %.17g]", sn_arm_name(arm, j), q[j],
                     sn_arm_lower(arm)[j], sn_arm_upper(arm)[j]);
}

// The gradient against differences of sixth order.
static inline void check_gradient(const sn_arm *arm, uint64_t *state, double *worst) {
    static const double weight[3] = {0.75, -0.15, 1.0 / 60};
    for (int k = 0; k < 20; k++) {
        double q[SN_ARM_MAX], g[SN_ARM_MAX];
        const double h = 2e-3;
        random_q(arm, state, q);
        if (sn_arm_manipulability(arm, q, g) < 1e-3) continue;
        for (int j = 0; j < sn_arm_n(arm); j++) {
            double x = q[j], slope = 0;
            for (int i = 0; i < 3; i++) {
                q[j] = x + (i + 1) * h;
                slope += weight[i] * sn_arm_manipulability(arm, q, NULL) / h;
                q[j] = x - (i + 1) * h;
                slope -= weight[i] * sn_arm_manipulability(arm, q, NULL) / h;
            }
            q[j] = x;
            *worst = fmax(*worst, fabs(slope - g[j]) / fmax(1, fabs(g[j])));
        }
    }
}
