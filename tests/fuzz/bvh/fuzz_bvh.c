// SPDX-License-Identifier: MIT
// clang -g -O1 -fsanitize=fuzzer,address,undefined -DSINEW_ASSERT -Iinclude -Isrc src/*/*.c src/*/*/*.c
//   tests/fuzz/bvh/fuzz_bvh.c -lm -o fuzz_bvh
// ./fuzz_bvh -dict=tests/fuzz/bvh/bvh.dict corpus tests/fuzz/bvh/seeds
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../fuzz.h"
#include "files/skeleton_rows.h"
#include "sinew/files.h"

// What was read can be written, and reads again with the same shape.
static void write_again(const sn_skeleton *skeleton, const sn_motion *motion) {
    bytes t = {0};
    sn_sink sink = {keep, &t};
    sn_bvh_options options = sn_bvh_options_default();
    sn_skeleton *other;
    sn_motion *moved;
    check(sn_bvh_write(skeleton, motion, &sink, NULL, NULL) == SN_OK);
    options.metres_per_unit = sn_skeleton_metres_per_unit(skeleton);
    check(sn_bvh_read(t.at, t.length, &options, NULL, &other, &moved, NULL) == SN_OK);
    check(sn_skeleton_row_size(other) == sn_skeleton_row_size(skeleton));
    check(sn_skeleton_nend(other) == sn_skeleton_nend(skeleton));
    check(sn_motion_nframe(moved) == sn_motion_nframe(motion));
    check(sn_model_njoint(sn_skeleton_model(other)) ==
          sn_model_njoint(sn_skeleton_model(skeleton)));
    sn_skeleton_destroy(other);
    sn_motion_destroy(moved);
    free(t.at);
}

// As Acclaim's files: refused only when a joint slides or there are too many.
static void export_it(const sn_skeleton *skeleton, const sn_motion *motion) {
    sn_export_options options = sn_export_options_default();
    sn_export *e;
    sn_motion *moved;
    sn_error error = {0};
    options.source = skeleton;
    sn_status status =
        sn_export_create(sn_skeleton_model(skeleton), SN_SKELETON_ASF, &options, NULL, &e, &error);
    check((status == SN_OK) == (e != NULL));
    if (status != SN_OK) {
        check(status == SN_ERR_MODEL || status == SN_ERR_SIZE);
        return;
    }
    bytes t = {0};
    sn_sink sink = {keep, &t};
    sn_skeleton *other;
    check(sn_asf_write(sn_export_skeleton(e), &sink, NULL) == SN_OK);
    check(sn_export_motion(e, motion, NULL, &moved, NULL) == SN_OK);
    if (sn_asf_read(t.at, t.length, NULL, NULL, &other, &error) != SN_OK) abort();
    sn_skeleton_destroy(other);
    sn_motion_destroy(moved);
    sn_export_destroy(e);
    free(t.at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    for (int move = 0; move < 2; move++) {
        sn_bvh_options options = sn_bvh_options_default();
        options.positions = move ? SN_BVH_POSITIONS_MOVE : SN_BVH_POSITIONS_AUTO;
        sn_skeleton *skeleton;
        sn_motion *motion;
        sn_error error = {0};
        sn_status status =
            sn_bvh_read((const char *)data, size, &options, NULL, &skeleton, &motion, &error);
        check((status == SN_OK) == (skeleton != NULL) && (status == SN_OK) == (motion != NULL));
        if (status != SN_OK) {
            check(error.status == status && error.text[0] != '\0');
            continue;
        }
        const sn_model *model = sn_skeleton_model(skeleton);
        // no more rows than bytes, whatever the file states
        check((size_t)sn_motion_nframe(motion) <= size);
        for (int i = 0; i < sn_motion_nframe(motion); i++)
            check(sn_model_check_pose(model, sn_motion_frame(motion, i), NULL) == SN_OK);
        write_again(skeleton, motion);
        export_it(skeleton, motion);
        sn_skeleton_destroy(skeleton);
        sn_motion_destroy(motion);
    }
    return 0;
}
