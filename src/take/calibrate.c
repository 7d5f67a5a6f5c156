// SPDX-License-Identifier: MIT
// A calibration: what is known beforehand of places and postures, then the estimate.
#include "base/threads.h"
#include "take/estimate.h"
#include "take/posture.h"

sn_calibrate_options sn_calibrate_options_default(void) {
    return sn_estimate_options_default().asked;
}

static sn_estimate_options estimate_options(const sn_fit_input *input,
                                            const sn_calibrate_options *from,
                                            const sn_posture_prior *posture) {
    sn_estimate_options o = sn_estimate_options_default();
    o.take = input;
    o.asked = *from;
    o.home = posture->home, o.home_v = posture->home_v;
    o.rest = posture->rest, o.still_rest = posture->still;
    o.lower = posture->lower, o.upper = posture->upper;
    o.far = posture->far, o.lasts = posture->lasts;
    return o;
}

sn_status sn_calibrate(const sn_fit_input *input, const sn_calibrate_options *options,
                       const sn_allocator *allocator, double *position, sn_mat3 *stretch,
                       sn_calibrate_report *report, sn_error *error) {
    SN_NEED(input, error);
    SN_NEED(position, error);
    SN_NEED(stretch, error);
    SN_NEED(report, error);
    sn_calibrate_options o = options != NULL ? *options : sn_calibrate_options_default();
    *report = (sn_calibrate_report){0};
    if (o.version != 2 || o.frames < 1 || o.threads < 1 || o.threads > SN_MAX_THREADS ||
        !sn_fit_input_good(input, NULL))
        return sn_fail(error, SN_ERR_ARGUMENT, 0, "%s", sn_status_text(SN_ERR_ARGUMENT));
    size_t n = (size_t)sn_model_nmarker(input->model);
    double *doubt = sn_acquire(allocator, (n + 1) * sizeof *doubt);
    sn_posture_prior posture = {0};
    sn_status status = doubt == NULL
                           ? SN_ERR_MEMORY
                           : sn_posture_find(input->model, o.coordinates, allocator, &posture);
    for (size_t i = 0; doubt != NULL && i < n; i++)
        doubt[i] = o.doubt != NULL ? o.doubt[i]
                                   : sn_doubt_of_name(sn_model_marker(input->model, (int)i)->name);
    o.doubt = doubt;
    if (status == SN_OK) sn_posture_leave(input->model, o.left, &posture);
    if (status == SN_OK) {
        sn_estimate_options e = estimate_options(input, &o, &posture);
        status = sn_estimate_shape(&e, allocator, position, stretch, report, error);
    } else {
        (void)sn_fail(error, status, 0, "%s", sn_status_text(status));
    }
    sn_release(allocator, posture.home);
    sn_release(allocator, doubt);
    return status;
}
