// SPDX-License-Identifier: MIT
// clang -g -O1 -fsanitize=fuzzer,address,undefined -DSINEW_ASSERT -Iinclude -Isrc src/*/*.c src/*/*/*.c
//   tests/fuzz/glb/fuzz_glb.c -lm -o fuzz_glb
// ./fuzz_glb -dict=tests/fuzz/glb/glb.dict corpus tests/fuzz/glb/seeds
//
// The lengths in the head are set right first, so that changes reach what is behind them; the bytes as
// they are come second.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../fuzz.h"
#include "sinew/files.h"

static void use_content(const sn_glb_content *c) {
    check(c->model != NULL && sn_model_njoint(c->model) > 0);
    int nq = sn_model_nq(c->model);
    if (c->motion != NULL) {
        check(sn_motion_nq(c->motion) == nq && sn_motion_nframe(c->motion) > 0);
        for (int f = 0; f < sn_motion_nframe(c->motion); f++)
            check(sn_model_check_pose(c->model, sn_motion_frame(c->motion, f), NULL) == SN_OK);
    }
    if (c->recording == NULL) return;
    const sn_recording_info *info = sn_recording_about(c->recording);
    check(info->nframe > 0 && info->nmarker > 0);
    for (int f = 0; f < info->nframe; f++)
        for (int m = 0; m < info->nmarker; m++) {
            const double *x = sn_recording_frame(c->recording, f) + 3 * m;
            bool there = sn_recording_present(c->recording, f, m);
            for (int k = 0; k < 3; k++) check(there ? isfinite(x[k]) : isnan(x[k]));
        }
}

static void read_it(const uint8_t *data, size_t size) {
    sn_glb_content c;
    sn_error error = {0};
    sn_status status = sn_glb_read(data, size, NULL, &c, &error);
    check((status == SN_OK) == (c.model != NULL));
    if (status == SN_OK) {
        use_content(&c);
    } else {
        check(error.status == status && error.text[0] != '\0');
        check(c.motion == NULL && c.recording == NULL);
    }
    sn_glb_content_destroy(&c);
}

static void put32(uint8_t *at, size_t x) {
    for (int i = 0; i < 4; i++) at[i] = (uint8_t)(x >> 8 * i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > 28 && memcmp(data, "glTF", 4) == 0) {
        uint8_t *copy = malloc(size);
        check(copy != NULL);
        memcpy(copy, data, size);
        put32(copy + 8, size);
        // where the second chunk begins, should its name stand anywhere
        for (size_t i = 20; i + 8 <= size; i++) {
            if (memcmp(copy + i + 4, "BIN", 4) != 0) continue;
            put32(copy + 12, i - 20);
            put32(copy + i, size - i - 8);
            break;
        }
        read_it(copy, size);
        free(copy);
    }
    read_it(data, size);
    return 0;
}
