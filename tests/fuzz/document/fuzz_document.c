// SPDX-License-Identifier: MIT
// clang -g -O1 -fsanitize=fuzzer,address,undefined -DSINEW_ASSERT -Iinclude -Isrc src/*/*.c src/*/*/*.c
//   tests/fuzz/document/fuzz_document.c -lm -o fuzz_document
// ./fuzz_document -dict=tests/fuzz/document/document.dict corpus tests/fuzz/document/seeds
//
// The first byte of an input chooses the name the file comes under.
#include <stdlib.h>
#include <string.h>

#include "../fuzz.h"
#include "sinew/files.h"

// What AMC files are read against.
static const char asf[] =
    ":version 1.10\n:name a\n:units\n  length 1\n  angle deg\n:root\n"
    "  order TX TY TZ RX RY RZ\n  axis XYZ\n  position 0 0 0\n  orientation 0 0 0\n"
    ":bonedata\n begin\n  id 1\n  name arm\n  direction 1 0 0\n  length 2\n"
    "  axis 0 0 0 XYZ\n  dof rx rz\n end\n:hierarchy\n begin\n  root arm\n end\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const names[] = {NULL,     "file",   "a.asf", "a.amc", "a.bvh",
                                        "a.c3d",  "a.trc",  "a.mot", "a.csv", "a.tsv",
                                        "a.urdf", "a.json", "a.glb", ".csv"};
    static sn_skeleton *skeleton;
    if (skeleton == NULL)
        check(sn_asf_read(asf, sizeof asf - 1, NULL, NULL, &skeleton, NULL) == SN_OK);
    if (size == 0) return 0;
    const char *name = names[data[0] % (sizeof names / sizeof names[0])];
    sn_document_options options = sn_document_options_default();
    options.skeleton = data[0] < 128 ? skeleton : NULL;
    options.use_limits = data[0] % 2 == 1;
    sn_document d;
    sn_error error = {0};
    sn_status status = sn_document_read(name, data + 1, size - 1, &options, NULL, &d, &error);
    int parts = (d.model != NULL) + (d.motion != NULL) + (d.recording != NULL) + (d.table != NULL);
    check((status == SN_OK) == (parts > 0));
    if (status != SN_OK) {
        check(error.status == status && error.text[0] != '\0');
    } else {
        check(d.format != SN_FORMAT_UNKNOWN && (d.recording == NULL || d.table == NULL));
        check(d.motion == NULL || d.model == NULL ||
              sn_motion_nq(d.motion) == sn_model_nq(d.model));
    }
    check(sn_format_name(d.format)[0] != '\0');
    sn_document_destroy(&d);
    return 0;
}
