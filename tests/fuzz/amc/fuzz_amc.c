// SPDX-License-Identifier: MIT
// clang -g -O1 -fsanitize=fuzzer,address,undefined -DSINEW_ASSERT -Iinclude -Isrc src/*/*.c src/*/*/*.c
//   tests/fuzz/amc/fuzz_amc.c -lm -o fuzz_amc
// ./fuzz_amc -dict=tests/fuzz/amc/amc.dict corpus tests/fuzz/amc/seeds
#include <stdlib.h>
#include <string.h>

#include "../fuzz.h"
#include "sinew/files.h"

static const char arm[] = ":units\nlength 0.45\n"
                          ":bonedata\n"
                          "begin\nname upper\ndirection 0 1 0\nlength 2\naxis 0 0 20 XYZ\n"
                          "dof rx ry rz\nend\n"
                          "begin\nname lower\ndirection 0 1 0\nlength 1\ndof rz rx\nend\n"
                          "begin\nname hand\ndirection 0 1 0\nlength 1\nend\n"
                          ":hierarchy\nroot upper\nupper lower\nlower hand\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static sn_skeleton *skeleton;
    if (skeleton == NULL)
        check(sn_asf_read(arm, strlen(arm), NULL, NULL, &skeleton, NULL) == SN_OK);
    sn_motion *motion;
    sn_error error = {0};
    sn_status status = sn_amc_read((const char *)data, size, skeleton, NULL, &motion, &error);
    check((status == SN_OK) == (motion != NULL));
    if (status != SN_OK) {
        check(error.status == status && error.text[0] != '\0');
        return 0;
    }
    // a frame takes its number and a line for the root
    check((size_t)sn_motion_nframe(motion) * 18 <= size + 1);
    for (int i = 0; i < sn_motion_nframe(motion); i++)
        check(sn_model_check_pose(sn_skeleton_model(skeleton), sn_motion_frame(motion, i), NULL) ==
              SN_OK);
    sn_motion_destroy(motion);
    return 0;
}
