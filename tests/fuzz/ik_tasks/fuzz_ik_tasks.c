// SPDX-License-Identifier: MIT
// clang -g -O1 -fsanitize=fuzzer,address,undefined -DSINEW_ASSERT -Iinclude -Isrc src/*/*.c src/*/*/*.c
//   tests/fuzz/ik_tasks/fuzz_ik_tasks.c -lm -o fuzz_ik_tasks
// ./fuzz_ik_tasks -dict=tests/fuzz/ik_tasks/ik_tasks.dict corpus tests/fuzz/ik_tasks/seeds
#include <stdlib.h>

#include "../fuzz.h"
#include "sinew/take.h"

// A hinge with three markers.
static const sn_model *the_model(void) {
    static sn_model *model;
    if (model != NULL) return model;
    sn_builder *builder;
    sn_joint_desc joint = sn_joint_default(SN_JOINT_HINGE);
    joint.name = "q";
    check(sn_builder_create("model", NULL, &builder, NULL) == SN_OK);
    (void)sn_builder_joint(builder, &joint);
    for (int i = 0; i < 3; i++) {
        sn_marker_desc marker = {(const char *[]){"A", "B", "C"}[i], 0, {i, 0, 0}, 1};
        (void)sn_builder_marker(builder, &marker);
    }
    check(sn_builder_finish(builder, &model, NULL) == SN_OK);
    sn_builder_destroy(builder);
    return model;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sn_marker_set *set;
    sn_error error = {0};
    sn_status status =
        sn_marker_set_read_tasks((const char *)data, size, the_model(), NULL, &set, &error);
    check((status == SN_OK) == (set != NULL));
    if (status != SN_OK) {
        check(error.status == status && error.text[0] != '\0');
        return 0;
    }
    check(sn_marker_set_count(set) >= 1 && sn_marker_set_count(set) <= 3);
    for (int i = 0; i < sn_marker_set_count(set); i++)
        check(sn_marker_set_place(set, i)->weight > 0 && sn_marker_set_place(set, i)->placed);
    sn_marker_set_destroy(set);
    return 0;
}
