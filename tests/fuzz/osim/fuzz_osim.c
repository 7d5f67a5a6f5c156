// SPDX-License-Identifier: MIT
// clang -g -O1 -fsanitize=fuzzer,address,undefined -DSINEW_ASSERT -Iinclude -Isrc src/*/*.c src/*/*/*.c
//   tests/fuzz/osim/fuzz_osim.c -lm -o fuzz_osim
// ./fuzz_osim -dict=tests/fuzz/osim/osim.dict corpus tests/fuzz/osim/seeds
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../fuzz.h"
#include "sinew/files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sn_model *model;
    sn_osim_info info;
    sn_error error = {0};
    sn_status status = sn_osim_read((const char *)data, size, NULL, &model, NULL, &info, &error);
    check((status == SN_OK) == (model != NULL));
    check(memchr(info.note, '\0', sizeof info.note) != NULL);
    if (status != SN_OK) {
        check(error.status == status && error.text[0] != '\0');
        return 0;
    }
    // joints of one coordinate or several on a fixed ground
    check(sn_model_njoint(model) <= sn_model_nq(model) + 1);
    check(sn_model_nq(model) <= info.ncoordinate);
    check(sn_model_find_joint(model, "ground") == sn_model_root(model));
    for (int j = 0; j < sn_model_njoint(model); j++)
        for (int k = 0; k < 3; k++) check(isfinite(sn_model_joint(model, j)->position[k]));
    for (int i = 0; i < sn_model_nmarker(model); i++)
        for (int k = 0; k < 3; k++) check(isfinite(sn_model_marker(model, i)->position[k]));
    for (int i = 0; i < sn_model_nloop(model); i++) {
        const sn_loop_desc *loop = sn_model_loop(model, i);
        check(loop->joint[0] != loop->joint[1] && loop->joint[0] >= 0 && loop->joint[1] >= 0);
        for (int k = 0; k < 6; k++) check(isfinite(loop->position[k / 3][k % 3]));
    }
    sn_model_destroy(model);
    return 0;
}
