// SPDX-License-Identifier: MIT
// clang -g -O1 -fsanitize=fuzzer,address,undefined -DSINEW_ASSERT -Iinclude -Isrc src/*/*.c src/*/*/*.c
//   tests/fuzz/srdf/fuzz_srdf.c -lm -o fuzz_srdf
// ./fuzz_srdf -dict=tests/fuzz/srdf/srdf.dict corpus tests/fuzz/srdf/seeds
#include <string.h>

#include "../fuzz.h"
#include "sinew/files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char robot[] =
        "<robot name='r'><link name='a'><collision><geometry><sphere radius='1'/></geometry>"
        "</collision></link><link name='b'><collision><geometry><box size='1 2 3'/></geometry>"
        "</collision></link><joint name='j' type='floating'><parent link='a'/><child link='b'/>"
        "</joint></robot>";
    sn_model *model, *out;
    sn_error error = {0};
    sn_srdf_info info;
    check(sn_urdf_read(robot, strlen(robot), NULL, NULL, &model, NULL, NULL) == SN_OK);
    sn_status status = sn_srdf_read((const char *)data, size, model, NULL, &out, &info, &error);
    check((status == SN_OK) == (out != NULL));
    if (status != SN_OK) check(error.status == status && error.text[0] != '\0');
    if (status == SN_OK) {
        check(sn_model_nshape(out) == sn_model_nshape(model));
        check(sn_model_nexcluded(out) >= info.npair);
    }
    sn_model_destroy(out);
    sn_model_destroy(model);
    return 0;
}
