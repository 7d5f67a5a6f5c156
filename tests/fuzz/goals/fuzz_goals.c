// SPDX-License-Identifier: MIT
// clang -g -O1 -fsanitize=fuzzer,address,undefined -DSINEW_ASSERT -Iinclude -Isrc src/*/*.c src/*/*/*.c
//   tests/fuzz/goals/fuzz_goals.c -lm -o fuzz_goals
// ./fuzz_goals -dict=tests/fuzz/goals/goals.dict corpus tests/fuzz/goals/seeds
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../fuzz.h"
#include "sinew/sinew.h"

// Three hinges, quickly made.
static sn_arm *make_arm(void) {
    sn_builder *b;
    sn_model *model;
    sn_arm *arm;
    check(sn_builder_create("arm", NULL, &b, NULL) == SN_OK);
    for (int i = 0; i < 2; i++) {
        sn_joint_desc d = sn_joint_default(i == 0 ? SN_JOINT_HINGE : SN_JOINT_SLIDER);
        d.name = i == 0 ? "a" : "b";
        d.parent = i - 1;
        d.position[0] = i;
        d.lower[0] = -1;
        d.upper[0] = 1;
        (void)sn_builder_joint(b, &d);
    }
    check(sn_builder_finish(b, &model, NULL) == SN_OK);
    sn_builder_destroy(b);
    sn_arm_options o = sn_arm_options_default();
    o.max_seeds = 8;
    check(sn_arm_create(model, "b", &o, NULL, &arm, NULL) == SN_OK);
    return arm;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static sn_arm *arm;
    if (arm == NULL) arm = make_arm();
    sn_arm_goals *goals;
    sn_error error = {0};
    sn_status status = sn_arm_goals_read((const char *)data, size, NULL, &goals, &error);
    check((status == SN_OK) == (goals != NULL));
    if (status != SN_OK) {
        check(error.status == status && error.text[0] != '\0');
        return 0;
    }
    // whatever reads can be solved, and stays inside the limits
    int count = sn_arm_goals_count(goals) < 4 ? sn_arm_goals_count(goals) : 4;
    double q[8];
    check(sn_arm_solve_many(arm, count, sn_arm_goals_data(goals), NULL, q, NULL) == SN_OK);
    for (int i = 0; i < 2 * count; i++) check(q[i] >= -1 && q[i] <= 1);
    sn_arm_goals_destroy(goals);
    return 0;
}
