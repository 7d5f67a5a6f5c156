// SPDX-License-Identifier: MIT
// clang -g -O1 -fsanitize=fuzzer,address,undefined -DSINEW_ASSERT -Iinclude -Isrc src/*/*.c src/*/*/*.c
//   tests/fuzz/arm/fuzz_arm.c -lm -o fuzz_arm
// ./fuzz_arm corpus tests/fuzz/arm/seeds
//
// The bytes are a chain of joints, some of which follow others, options, a goal and a start: whatever they
// say, an arm is made or refused with a sentence, and its poses stay inside the limits.
#include <math.h>
#include <stdio.h>

#include "../fuzz.h"
#include "sinew/sinew.h"

typedef struct stream {
    const uint8_t *at;
    size_t left;
} stream;

static int byte(stream *s) {
    if (s->left == 0) return 0;
    s->left--;
    return *s->at++;
}

// -4 to 4, and now and then something odd.
static double number(stream *s) {
    static const double odd[8] = {0, 1e-300, -1e-12, 1e6, -1e9, 3.141592653589793, -0.0, 1};
    int a = byte(s), b = byte(s);
    if (a == 255) return odd[b % 8];
    return (a * 256 + b - 32768) / 8192.0;
}

static void add_joint(stream *s, sn_builder *b, int i) {
    static const sn_joint_type types[] = {SN_JOINT_HINGE,     SN_JOINT_SLIDER, SN_JOINT_SCREW,
                                          SN_JOINT_UNIVERSAL, SN_JOINT_EULER,  SN_JOINT_PLANAR,
                                          SN_JOINT_FIXED,     SN_JOINT_BALL};
    sn_joint_desc d = sn_joint_default(types[byte(s) % 8]);
    char name[8];
    (void)snprintf(name, sizeof name, "j%d", i);
    d.name = name;
    d.parent = i - 1;
    for (int k = 0; k < 3; k++) d.position[k] = number(s), d.axis[k] = number(s);
    for (int k = 0; k < 4; k++) d.rotation[k] = number(s);
    if (d.type == SN_JOINT_SCREW) d.pitch = number(s);
    int dofs = d.type == SN_JOINT_BALL ? 0 : 3, limits = byte(s);
    for (int k = 0; k < dofs; k++)
        if (limits >> k & 1) d.lower[k] = number(s), d.upper[k] = d.lower[k] + fabs(number(s));
    (void)sn_builder_joint(b, &d);
}

static void couple(stream *s, sn_builder *b, int njoint) {
    double y[6];
    sn_coupling_desc d = {.follower = {byte(s) % njoint, 0}, .nleader = 1 + byte(s) % 2};
    for (int k = 0; k < d.nleader; k++) d.leader[k] = (sn_coordinate){byte(s) % njoint, 0};
    for (int k = 0; k < 6; k++) y[k] = number(s);
    d.function = (sn_function){
        .type = byte(s) % 2 ? SN_FUNCTION_LINEAR : SN_FUNCTION_POLYNOMIAL, .scale = 1, .y = y};
    d.function.ny = d.function.type == SN_FUNCTION_LINEAR ? d.nleader + 1 : d.nleader == 1 ? 3 : 6;
    (void)sn_builder_couple(b, &d);
}

static void inside(const sn_arm *arm, const double *q) {
    for (int j = 0; j < sn_arm_n(arm); j++)
        check(q[j] >= sn_arm_lower(arm)[j] && q[j] <= sn_arm_upper(arm)[j]);
}

static void use(stream *s, sn_arm *arm) {
    double goal[7], start[SN_ARM_MAX], q[SN_ARM_MAX * 8], g[SN_ARM_MAX];
    const int n = sn_arm_n(arm);
    sn_arm_report report;
    int count;
    for (int i = 0; i < 7; i++) goal[i] = number(s);
    for (int j = 0; j < n; j++)
        start[j] = fmin(fmax(number(s), sn_arm_lower(arm)[j]), sn_arm_upper(arm)[j]);
    if (byte(s) % 2) sn_arm_tool(arm, start, goal);
    sn_status status = sn_arm_solve(arm, goal, byte(s) % 2 ? start : NULL, q, &report);
    check(status == SN_OK || status == SN_ERR_VALUE);
    if (status != SN_OK) return;
    inside(arm, q);
    check(report.reached == (report.why == SN_ARM_REACHED));
    check(sn_arm_solve_all(arm, goal, start, 8, q, &count) == SN_OK && count <= 8);
    for (int i = 0; i < count; i++) inside(arm, q + n * i);
    check(sn_arm_manipulability(arm, start, g) >= 0);
    for (int j = 0; j < n; j++) check(!isnan(g[j]));
    sn_arm_motion motion = {.error = 0};
    const sn_arm_tick tick = {.seconds = 0.01};
    sn_arm_tick_report ticked;
    for (int t = 0; t < 5; t++) {
        check(sn_arm_step(arm, goal, &tick, &motion, start, &ticked) == SN_OK);
        inside(arm, start);
    }
    sn_arm_path_report path;
    double goals[14];
    for (int i = 0; i < 14; i++) goals[i] = goal[i % 7];
    goals[7] += 0.05;
    check(sn_arm_path(arm, 2, goals, start, 0.02, 8, q, &path) == SN_OK);
    for (int i = 0; i < path.count; i++) inside(arm, q + n * i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    stream s = {data, size};
    sn_builder *b;
    sn_model *model = NULL;
    sn_arm *arm = NULL;
    sn_error error = {0};
    check(sn_builder_create("arm", NULL, &b, NULL) == SN_OK);
    int njoint = 1 + byte(&s) % 7, couplings = byte(&s) % 4;
    for (int i = 0; i < njoint; i++) add_joint(&s, b, i);
    for (int i = 0; i < couplings; i++) couple(&s, b, njoint);
    (void)sn_builder_finish(b, &model, NULL);
    sn_builder_destroy(b);
    if (model == NULL) return 0;
    sn_arm_options o = sn_arm_options_default();
    char tip[8];
    (void)snprintf(tip, sizeof tip, "j%d", njoint - 1);
    // tables of starts are for arms whose every number counts: they take too long here
    o.rotation = njoint < 3     ? SN_ARM_ROTATION_ALL
                 : byte(&s) % 2 ? SN_ARM_ROTATION_AXIS
                                : SN_ARM_ROTATION_NONE;
    for (int k = 0; k < 3; k++)
        o.free_position[k] = byte(&s) % 8 == 0, o.tool_position[k] = number(&s);
    o.max_seeds = 8;
    o.lanes = byte(&s) % 2 ? 1 : 4;
    if (byte(&s) % 4 == 0) o.base = "j0";
    sn_status status = sn_arm_create(model, tip, &o, NULL, &arm, &error);
    check((status == SN_OK) == (arm != NULL) && (status == SN_OK || error.text[0] != '\0'));
    if (arm != NULL) use(&s, arm);
    sn_arm_destroy(arm);
    sn_model_destroy(model);
    return 0;
}
