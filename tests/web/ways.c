// SPDX-License-Identifier: MIT
// One take by the library and by the command line's own code: every pose has the same bits, which go to
// standard output for the page's module to be compared with.
//
//   ways SKELETON RECORDING > POSES
#include <stdlib.h>
#include <string.h>

#include "fit_take.h"

// As a program would that knows nothing of the command line.
static sn_take *by_library(const char *skeleton, const char *recording, sn_document *model,
                           sn_document *markers) {
    sn_document_options reading = sn_document_options_default();
    sn_take_options o = sn_take_options_default();
    sn_take *take = NULL;
    size_t length;
    reading.use_limits = true;
    char *bytes = read_file(skeleton, &length);
    if (bytes == NULL ||
        sn_document_read(bytes, length, skeleton, &reading, NULL, model, NULL) != SN_OK)
        return NULL;
    free(bytes);
    bytes = read_file(recording, &length);
    if (bytes == NULL ||
        sn_document_read(bytes, length, recording, NULL, NULL, markers, NULL) != SN_OK)
        return NULL;
    free(bytes);
    o.model_up = model->up;
    o.model_up_sign = model->up_sign;
    o.calibrate = SN_CALIBRATE_SCALE;
    o.coordinates = model->coordinates;
    // cut and threaded otherwise than the other two
    o.threads = 2;
    if (sn_take_create(model->model, markers->recording, &o, NULL, &take, NULL) != SN_OK ||
        sn_take_prepare(take) != SN_OK || sn_take_solve(take, 47) != SN_OK ||
        sn_take_finish(take) != SN_OK)
        return NULL;
    return take;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fputs("usage: ways SKELETON RECORDING > POSES\n", stderr);
        return 2;
    }
    sn_document model = {0}, markers = {0};
    fit_settings settings = {
        .model = argv[1], .input = argv[2], .calibrate = "scale", .quiet = true};
    sn_take_options options;
    fit_result result;
    sn_take *take = by_library(argv[1], argv[2], &model, &markers);
    if (take == NULL || !make_plan(&settings, &options)) return 1;
    // markers that no pose meets are warned of
    int code = fit_take(&settings, &options, &result);
    if (code != EXIT_OK && code != EXIT_POOR) return 1;
    const sn_motion *a = sn_take_motion(take), *b = result.motion;
    size_t nq = (size_t)sn_motion_nq(a);
    int bad = sn_motion_nq(b) != (int)nq || sn_motion_nframe(b) != sn_motion_nframe(a);
    for (int f = 0; !bad && f < sn_motion_nframe(a); f++) {
        bad |= memcmp(sn_motion_frame(a, f), sn_motion_frame(b, f), nq * sizeof(double)) != 0;
        bad |= fwrite(sn_motion_frame(a, f), sizeof(double), nq, stdout) != nq;
    }
    if (bad) fputs("the command line finds other poses than the library\n", stderr);
    free_result(&result);
    sn_take_destroy(take);
    sn_document_destroy(&markers);
    sn_document_destroy(&model);
    return bad;
}
