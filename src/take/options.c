// SPDX-License-Identifier: MIT
// What a take may be asked for.
#include <math.h>

#include "base/threads.h"
#include "take/take.h"

enum { VERSION = 5 };

sn_take_options sn_take_options_default(void) {
    sn_fit_options fit = sn_fit_options_default();
    sn_calibrate_options calibrate = sn_calibrate_options_default();
    sn_take_options o = {.version = VERSION,
                         .model_up = 1,
                         .model_up_sign = 1,
                         .up = -1,
                         .up_sign = 1,
                         .axes = sn_axis_map_identity(),
                         .first_frame = INT64_MIN,
                         .last_frame = INT64_MAX,
                         .calibrate = SN_CALIBRATE_AUTO,
                         .calibrate_frames = calibrate.frames,
                         .still_first = INT64_MIN,
                         .still_last = INT64_MAX,
                         .solver = sn_solver_options_default(),
                         .limits = SN_LIMITS_AUTO,
                         .soft_weight = fit.soft_weight,
                         .posture = fit.posture,
                         .loss = fit.loss,
                         .loss_scale = fit.loss_scale,
                         .too_few = fit.too_few,
                         .max_error = INFINITY,
                         .threads = 1,
                         .device = SN_DEVICE_CPU};
    // a marker's noise is millimetres
    o.solver.gradient = 1e-3;
    o.solver.max_iterations = 100;
    return o;
}

static bool is_sign(double x) { return x == 1 || x == -1; }

static bool not_negative(double x) { return x >= 0 && isfinite(x); }

// The first that is wrong, NULL when none is.
static const char *wrong(const sn_take_options *o) {
    if (o->version != VERSION) return "version: start from sn_take_options_default()";
    if (o->model_up < 0 || o->model_up > 2) return "model_up: 0, 1 or 2";
    if (!is_sign(o->model_up_sign)) return "model_up_sign: 1 or -1";
    if (o->up < -1 || o->up > 2) return "up: 0, 1 or 2, or -1 for not known";
    if (!is_sign(o->up_sign)) return "up_sign: 1 or -1";
    if (o->has_axes && !sn_axis_map_proper(&o->axes)) return "axes: each axis once, signs 1 or -1";
    if (!not_negative(o->unit)) return "unit: metres, or 0 for not known";
    if ((unsigned)o->calibrate > SN_CALIBRATE_SCALE) return "calibrate";
    if (o->calibrate_frames < 1) return "calibrate_frames: at least 1";
    if (o->height != 0 && !(o->height > 0.3 && o->height < 3))
        return "height: metres, 0.3 to 3, or 0 for not known";
    if (o->nlength < 0 || o->nlength > SN_MAX_KNOWN || (o->nlength > 0 && o->lengths == NULL))
        return "nlength";
    for (int i = 0; i < o->nlength; i++)
        if (o->lengths[i].body == NULL || !(o->lengths[i].metres > 0) ||
            !(o->lengths[i].metres < 3))
            return "lengths: a body's name, and metres above 0 and below 3";
    // else they would be passed over without a word
    if ((o->height != 0 || o->nlength > 0) && o->calibrate != SN_CALIBRATE_SCALE &&
        o->calibrate != SN_CALIBRATE_AUTO)
        return "height and lengths: of bones, which only SN_CALIBRATE_SCALE changes";
    if ((unsigned)o->limits > SN_LIMITS_AUTO) return "limits";
    if (!not_negative(o->soft_weight)) return "soft_weight: 0 or above";
    if (!not_negative(o->posture)) return "posture: 0 or above";
    if ((unsigned)o->loss >= SN_LOSS_COUNT) return "loss";
    if (!(o->loss_scale > 0) || !isfinite(o->loss_scale)) return "loss_scale: above 0";
    if (!not_negative(o->smooth)) return "smooth: seconds, 0 or above";
    if (o->too_few < 0) return "too_few: 0 or above";
    if (!(o->max_error >= 0)) return "max_error: metres, 0 or above";
    if (o->threads < 1 || o->threads > SN_MAX_THREADS) return "threads: 1 to 256";
    if ((unsigned)o->device >= SN_DEVICE_COUNT) return "device";
    if ((unsigned)o->solver.method >= SN_METHOD_COUNT) return "solver.method";
    if (!sn_method_available(o->solver.method)) return "solver.method: this build leaves it out";
    if (o->solver.max_iterations < 0) return "solver.max_iterations: 0 or above";
    return NULL;
}

sn_status sn_take_check_options(const sn_take_options *o, const sn_model *model,
                                const sn_recording *recording, sn_error *error) {
    if (model == NULL) return sn_fail(error, SN_ERR_ARGUMENT, 0, "a take needs a model");
    if (recording == NULL) return sn_fail(error, SN_ERR_ARGUMENT, 0, "a take needs a recording");
    const char *bad = wrong(o);
    if (bad != NULL)
        return sn_fail(error, SN_ERR_ARGUMENT, 0, "this option of a take is out of range: %s", bad);
    if (o->setup != NULL && o->coordinates == NULL)
        return sn_fail(error, SN_ERR_ARGUMENT, 0, "a setup needs the model's coordinates");
    if (o->own_motion != NULL && sn_motion_nq(o->own_motion) != sn_model_nq(model))
        return sn_fail(error, SN_ERR_ARGUMENT, 0,
                       "own_motion has %d coordinates, the model %d: it is another model's",
                       sn_motion_nq(o->own_motion), sn_model_nq(model));
    return sn_fit_check_smooth(o->smooth, sn_recording_about(recording)->rate, error);
}
