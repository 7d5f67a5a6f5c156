// SPDX-License-Identifier: MIT
// clang -g -O1 -fsanitize=fuzzer,address,undefined -DSINEW_ASSERT -Iinclude -Isrc src/*/*.c src/*/*/*.c
//   tests/fuzz/trc/fuzz_trc.c -lm -o fuzz_trc
// ./fuzz_trc -dict=tests/fuzz/trc/trc.dict corpus tests/fuzz/trc/seeds
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../fuzz.h"
#include "sinew/files.h"

// What was read, when it can be written, reads back the same.
static void write_and_read(const sn_recording *recording) {
    bytes b = {0};
    sn_sink sink = {keep, &b};
    sn_markers_options options = sn_markers_options_default();
    options.unit = "m";
    sn_recording *back;
    if (sn_trc_write(recording, &options, &sink, NULL) == SN_OK) {
        check(sn_trc_read(b.at, b.length, NULL, &back, NULL) == SN_OK);
        const sn_recording_info *x = sn_recording_about(recording);
        const sn_recording_info *y = sn_recording_about(back);
        check(x->nframe == y->nframe && x->nmarker == y->nmarker);
        for (int f = 0; f < x->nframe; f++)
            for (int i = 0; i < 3 * x->nmarker; i++) {
                double p = sn_recording_frame(recording, f)[i], q = sn_recording_frame(back, f)[i];
                check(p == q || (isnan(p) && isnan(q)));
            }
        sn_recording_destroy(back);
    }
    free(b.at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sn_recording *recording;
    sn_error error = {0};
    sn_status status = sn_trc_read((const char *)data, size, NULL, &recording, &error);
    check((status == SN_OK) == (recording != NULL));
    if (status != SN_OK) {
        check(error.status == status && error.text[0] != '\0');
        return 0;
    }
    const sn_recording_info *info = sn_recording_about(recording);
    check(info->nframe > 0 && info->nmarker > 0 && isfinite(info->rate));
    // of ten frames nine may have no row
    check((size_t)info->nframe * (size_t)info->nmarker * 3 <= 10 * size);
    for (int f = 0; f < info->nframe; f++)
        for (int i = 0; i < 3 * info->nmarker; i++)
            check(!isinf(sn_recording_frame(recording, f)[i]));
    write_and_read(recording);
    sn_recording_destroy(recording);
    return 0;
}
