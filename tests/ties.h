// SPDX-License-Identifier: MIT
// What the tests of couplings and loops share.
#pragma once

#include "math/vec3.h"
#include "reference.h"
#include "support.h"
#include "sweeps/workspace.h"

// ---- models -------------------------------------------------------------------------------------

// A function of n leaders that stays small, of any kind; `numbers` are its own. Kinks leave a gradient at
// a minimum, so that solves go without.
static bool kinks;

static sn_function random_function(uint64_t *state, int n, double numbers[32]) {
    sn_function f = {
        .scale = below(state, 3) == 0 ? uniform(state, 0.3, 1.5) : 1, .nargument = n, .y = numbers};
    int kind = n == 0 ? 0 : 1 + below(state, n > 1 ? 3 : kinks ? 5 : 4);
    static const sn_function_type types[] = {SN_FUNCTION_CONSTANT,   SN_FUNCTION_LINEAR,
                                             SN_FUNCTION_POLYNOMIAL, SN_FUNCTION_SINE,
                                             SN_FUNCTION_SPLINE,     SN_FUNCTION_POLYLINE};
    f.type = types[kind];
    f.ny = kind == 0 ? 1 : kind == 1 ? n + 1 : kind == 2 ? (n == 1 ? 5 : 6) : n + 3;
    if (kind > 3) {
        double *x = numbers + 16, at = -2;
        f.ny = f.nx = 2 + below(state, 8);
        f.x = x;
        for (int i = 0; i < f.nx; i++) x[i] = at += uniform(state, 0.2, 1);
    }
    for (int i = 0; i < f.ny; i++) numbers[i] = uniform(state, -0.6, 0.6);
    return f;
}

// The descriptions of a random model once more, with up to `most` couplings between its plain
// coordinates; rows of followers and several leaders among them.
static sn_model *coupled_model(uint64_t *state, int njoint, int most, bool limits, int loops) {
    for (;;) {
        sn_model *plain = random_model(state, njoint, -1), *model = NULL;
        sn_builder *b;
        assert_int_equal(sn_builder_create("coupled", NULL, &b, NULL), SN_OK);
        sn_coordinate at[64];
        int count = 0;
        for (int i = 0; i < njoint; i++) {
            sn_joint_desc d = *sn_model_joint(plain, i);
            int q = sn_model_q_index(plain, i);
            int next = i + 1 < njoint ? sn_model_q_index(plain, i + 1) : sn_model_nq(plain);
            int plains = d.type == SN_JOINT_BALL ? 0 : d.type == SN_JOINT_FREE ? 3 : next - q;
            for (int k = 0; k < plains; k++) {
                if (count < 64) at[count++] = (sn_coordinate){i, k};
                if (limits && below(state, 3) == 0) {
                    d.lower[k] = uniform(state, -2, -0.2);
                    d.upper[k] = uniform(state, 0.2, 2);
                }
            }
            (void)sn_builder_joint(b, &d);
        }
        for (int i = count - 1; i > 0; i--) {
            int k = below(state, i + 1);
            sn_coordinate t = at[i];
            at[i] = at[k];
            at[k] = t;
        }
        // a follower is later in the shuffled list than its leaders: no cycles
        int made = 0;
        for (int i = 0; i < loops; i++) {
            sn_loop_desc loop = sn_loop_default((sn_loop_type)below(state, SN_LOOP_TYPE_COUNT));
            loop.joint[0] = below(state, njoint);
            do loop.joint[1] = below(state, 4) == 0 ? -1 : below(state, njoint);
            while (loop.joint[1] == loop.joint[0]);
            for (int e = 0; e < 2; e++) {
                for (int k = 0; k < 3; k++) {
                    loop.position[e][k] = uniform(state, -0.5, 0.5);
                    loop.axis[e][k] = uniform(state, -1, 1);
                }
                for (int k = 0; k < 4; k++) loop.rotation[e][k] = uniform(state, -1, 1);
            }
            loop.distance = uniform(state, 0.2, 1);
            assert_int_equal(sn_builder_loop(b, &loop), i);
        }
        for (int i = count - 1; i > 0 && made < most; i--) {
            if (below(state, 2) == 0) continue;
            int n = below(state, 8) == 0 ? 0 : below(state, 3) == 0 && i > 1 ? 2 : 1;
            double y[32];
            sn_coupling_desc c = {.follower = at[i], .nleader = n};
            c.leader[0] = at[below(state, i)];
            do c.leader[1] = at[below(state, i)];
            while (n == 2 && memcmp(&c.leader[0], &c.leader[1], sizeof c.leader[0]) == 0);
            c.function = random_function(state, n, y);
            assert_true(sn_builder_couple(b, &c) >= 0);
            made++;
        }
        sn_error error = {0};
        sn_status status = sn_builder_finish(b, &model, &error);
        sn_builder_destroy(b);
        sn_model_destroy(plain);
        if (status == SN_OK && (sn_model_ncoupling(model) > 0 || most == 0 || loops > 0))
            return model;
        // limits of followers and leaders may leave no room for both
        if (status != SN_OK) assert_non_null(strstr(error.text, "no room for both"));
        sn_model_destroy(model);
    }
}
