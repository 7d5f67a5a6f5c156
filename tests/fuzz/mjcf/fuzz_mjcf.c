// SPDX-License-Identifier: MIT
// clang -g -O1 -fsanitize=fuzzer,address,undefined -DSINEW_ASSERT -Iinclude -Isrc src/*/*.c src/*/*/*.c
//   tests/fuzz/mjcf/fuzz_mjcf.c -lm -o fuzz_mjcf
// ./fuzz_mjcf -dict=tests/fuzz/mjcf/mjcf.dict corpus tests/fuzz/mjcf/seeds
#include "../fuzz.h"
#include "sinew/files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sn_model *model;
    sn_mjcf_info info;
    sn_error error = {0};
    sn_status status = sn_mjcf_read((const char *)data, size, NULL, &model, &info, &error);
    check((status == SN_OK) == (model != NULL));
    if (status != SN_OK) check(error.status == status && error.text[0] != '\0');
    if (status == SN_OK) check(sn_model_njoint(model) >= info.njoint && info.nbody > 0);
    sn_model_destroy(model);
    return 0;
}
