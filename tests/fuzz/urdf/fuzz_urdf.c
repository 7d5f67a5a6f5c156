// SPDX-License-Identifier: MIT
// clang -g -O1 -fsanitize=fuzzer,address,undefined -DSINEW_ASSERT -Iinclude -Isrc src/*/*.c src/*/*/*.c
//   tests/fuzz/urdf/fuzz_urdf.c -lm -o fuzz_urdf
// ./fuzz_urdf -dict=tests/fuzz/urdf/urdf.dict corpus tests/fuzz/urdf/seeds
#include <math.h>
#include <stdlib.h>

#include "../fuzz.h"
#include "sinew/files.h"

// One pass settles all followers.
static void use_mimics(const sn_model *model) {
    size_t nq = (size_t)sn_model_nq(model);
    double *q = malloc((2 * nq + 1) * sizeof *q), *again = q + nq;
    check(q != NULL);
    for (size_t i = 0; i < nq; i++) q[i] = (double)i;
    sn_model_follow(model, q);
    for (size_t i = 0; i < nq; i++) again[i] = q[i];
    sn_model_follow(model, again);
    for (size_t i = 0; i < nq; i++) check(q[i] == again[i] || isnan(q[i]));
    free(q);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    for (int floating = 0; floating < 2; floating++) {
        sn_urdf_options options = sn_urdf_options_default();
        options.floating_base = floating == 1;
        sn_model *model;
        sn_error error = {0};
        sn_status status = sn_urdf_read((const char *)data, size, &options, NULL, &model, &error);
        check((status == SN_OK) == (model != NULL));
        if (status != SN_OK) check(error.status == status && error.text[0] != '\0');
        if (status == SN_OK) {
            check(sn_model_nmarker(model) == sn_model_njoint(model));
            use_mimics(model);
        }
        sn_model_destroy(model);
    }
    return 0;
}
