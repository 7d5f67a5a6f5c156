// SPDX-License-Identifier: MIT
// clang -g -O1 -fsanitize=fuzzer,address,undefined -DSINEW_ASSERT -Iinclude -Isrc src/*/*.c src/*/*/*.c
//   tests/fuzz/c3d/fuzz_c3d.c -lm -o fuzz_c3d
// ./fuzz_c3d -dict=tests/fuzz/c3d/c3d.dict corpus tests/fuzz/c3d/seeds
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../fuzz.h"
#include "sinew/files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sn_recording *recording;
    sn_error error = {0};
    sn_status status = sn_c3d_read(data, size, NULL, &recording, &error);
    check((status == SN_OK) == (recording != NULL));
    if (status != SN_OK) {
        check(error.status == status && strstr(error.text, "byte ") != NULL);
        return 0;
    }
    const sn_recording_info *info = sn_recording_about(recording);
    check(info->nframe > 0 && info->nmarker > 0 && isfinite(info->rate));
    check((size_t)info->nframe * (size_t)info->nmarker * 8 <= size);
    for (int i = 0; i < info->nmarker; i++) {
        check(sn_recording_missing(recording, i) <= info->nframe);
        check(sn_recording_find(recording, sn_recording_label(recording, i)) <= i);
    }
    for (int f = 0; f < info->nframe; f++)
        for (int i = 0; i < 3 * info->nmarker; i++)
            check(!isinf(sn_recording_frame(recording, f)[i]));
    sn_recording_destroy(recording);
    return 0;
}
