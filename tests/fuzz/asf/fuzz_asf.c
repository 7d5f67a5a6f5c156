// SPDX-License-Identifier: MIT
// clang -g -O1 -fsanitize=fuzzer,address,undefined -DSINEW_ASSERT -Iinclude -Isrc src/*/*.c src/*/*/*.c
//   tests/fuzz/asf/fuzz_asf.c -lm -o fuzz_asf
// ./fuzz_asf -dict=tests/fuzz/asf/asf.dict corpus tests/fuzz/asf/seeds
#include <math.h>
#include <stdlib.h>

#include "../fuzz.h"
#include "files/skeleton_rows.h"
#include "sinew/files.h"

// A row to a pose and back: finite, and the same where it is not a matter of choice.
static void use(const sn_skeleton *skeleton) {
    const sn_model *model = sn_skeleton_model(skeleton);
    size_t nq = (size_t)sn_model_nq(model), n = (size_t)sn_skeleton_row_size(skeleton);
    double *q = malloc((nq + 2 * n + 1) * sizeof *q), *row = q + nq, *back = row + n, tip[3];
    check(q != NULL);
    for (size_t i = 0; i < n; i++) row[i] = 10 * (double)i - 50;
    sn_skeleton_from_row(skeleton, SN_ANGLE_DEGREES, row, q);
    check(sn_model_check_pose(model, q, NULL) == SN_OK);
    sn_skeleton_to_row(skeleton, SN_ANGLE_DEGREES, q, row, back);
    size_t first = (size_t)sn_skeleton_row_count(skeleton, 0);
    for (size_t i = 0; i < n; i++) check(isfinite(back[i]));
    for (size_t i = first; i < n; i++) check(fabs(back[i] - row[i]) <= 1e-12 * (1 + fabs(row[i])));
    for (int i = 0; i < sn_model_njoint(model); i++) {
        sn_skeleton_tip(skeleton, i, tip);
        check(isfinite(tip[0]) && isfinite(tip[1]) && isfinite(tip[2]));
    }
    free(q);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    for (int limits = 0; limits < 2; limits++) {
        sn_asf_options options = sn_asf_options_default();
        options.use_limits = limits == 1;
        sn_skeleton *skeleton;
        sn_error error = {0};
        sn_status status = sn_asf_read((const char *)data, size, &options, NULL, &skeleton, &error);
        check((status == SN_OK) == (skeleton != NULL));
        if (status != SN_OK) check(error.status == status && error.text[0] != '\0');
        if (status == SN_OK) use(skeleton);
        sn_skeleton_destroy(skeleton);
    }
    return 0;
}
