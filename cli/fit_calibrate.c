// SPDX-License-Identifier: MIT
// The calibration of a take.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit_steps.h"

bool calibrate_take(fit_result *r) {
    bool placed = true;
    for (int i = 0; i < sn_marker_set_count(r->set); i++)
        placed &= sn_marker_set_place(r->set, i)->placed;
    r->input.model = r->model;
    if (!r->plan->must_calibrate && (placed || !r->plan->may_calibrate)) return true;
    int n = sn_model_nmarker(r->model);
    double *position = must_alloc((size_t)n, 3 * sizeof *position);
    meter m = meter_begin(r->settings);
    sn_calibrate_options o = r->plan->calibrate;
    sn_error error = {0};
    sn_fit_input input = r->input;
    input.model = r->limited;
    o.limits = r->plan->fit.limits != SN_LIMITS_OFF;
    o.cancel = &fit_cancelled;
    o.progress = show_calibration;
    o.progress_user = &m;
    double begin = now();
    sn_status status = sn_calibrate(&input, &o, NULL, position, r->factor, &r->calibration, &error);
    r->calibrate_seconds = now() - begin;
    r->calibrated = true;
    if (r->input.count < 60)
        note(r,
             "calibrated from %d frames only: a short or still take hardly tells marker places "
             "from joint "
             "angles, and a small error proves little",
             r->input.count);
    meter_end(&m);
    bool good = status == SN_OK && !fit_cancelled;
    if (status != SN_OK) (void)file_error(r->settings->input, &error);
    if (good) {
        sn_marker_place *places = must_alloc((size_t)n, sizeof *places);
        for (int i = 0; i < n; i++) {
            places[i] = *sn_marker_set_place(r->set, i);
            double moved = 0;
            for (int k = 0; k < 3; k++)
                moved += (position[3 * i + k] - places[i].position[k]) *
                         (position[3 * i + k] - places[i].position[k]);
            r->shift += sqrt(moved) / n;
            memcpy(places[i].position, position + 3 * i, sizeof places[i].position);
            places[i].placed = true;
        }
        sn_marker_set *next = NULL;
        good = sn_marker_set_create(sn_marker_set_name(r->set), places, n, NULL, &next) == SN_OK;
        sn_marker_set_destroy(r->set);
        r->set = next;
        r->reshaped = o.scale;
        good = good && apply_set(r, o.scale ? r->factor : NULL);
        free(places);
    }
    r->input.model = r->model;
    free(position);
    return good;
}
