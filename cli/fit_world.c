// SPDX-License-Identifier: MIT
// The recording's axes and units against the figure's.
#include <math.h>
#include <stdlib.h>

#include "fit_steps.h"

static const char *unit_word(double metres) {
    return metres == 1        ? "m"
           : metres == 0.001  ? "mm"
           : metres == 0.01   ? "cm"
           : metres == 0.0254 ? "in"
                              : "";
}

static void force_axes(fit_result *r, const sn_axis_map *map, int up, double up_sign) {
    double scale = r->axes.map.scale;
    r->axes.map = *map;
    r->axes.map.scale = scale;
    r->axes.up = up, r->axes.up_sign = up_sign, r->axes.up_known = SN_KNOWN_FORCED;
    r->axes.up_conflict = false;
}

static void force_unit(fit_result *r, double unit) {
    // numbers are metres already where the file stated a unit
    double stated = sn_recording_get_info(r->recording)->metres_per_unit;
    double factor = unit / (stated > 0 ? stated : 1);
    r->axes.size *= factor / r->axes.map.scale;
    r->axes.map.scale = factor;
    r->axes.unit = unit;
    r->axes.unit_known = SN_KNOWN_FORCED;
    r->axes.unit_doubtful = sn_axes_impossible(r->axes.size);
}

static void tell_up(fit_result *r) {
    const char *sign = r->axes.up_sign < 0 ? "-" : "+";
    if (r->axes.up_conflict)
        note(r,
             "the file states %s as up, but the figure stands along %s%c; the figure was believed "
             "(--up forces it)",
             sn_recording_get_info(r->recording)->y_screen, sign, "xyz"[r->axes.up]);
    if (r->axes.up_known == SN_KNOWN_ASSUMED)
        note(r,
             "which axis of the recording is up is neither stated nor clear from the figure; %s%c "
             "was assumed (--up forces it)",
             sign, "xyz"[r->axes.up]);
}

// A stated unit that cannot be right would give a motion that is nonsense: refused.
static bool accept_unit(fit_result *r) {
    const sn_axes_report *a = &r->axes;
    const char *unit = r->unit_text[0] != '\0' ? r->unit_text : "this unit";
    if (a->unit_doubtful && a->unit_known == SN_KNOWN_STATED) {
        complain("%s: its unit of length is stated as %s, but then the body in it is %.3g times as "
                 "large as the skeleton; give the right one with --units (--units %s where it is "
                 "right and the skeleton is to be stretched)",
                 r->settings->input, unit, a->size, unit);
        return false;
    }
    if (a->unit_known == SN_KNOWN_FOUND || a->unit_known == SN_KNOWN_ASSUMED)
        note(r, "the file states no unit of length; with %s %s (--units forces it)", unit,
             a->unit_known == SN_KNOWN_FOUND ? "the body is about as large as the skeleton"
                                             : "as a guess it was fitted");
    if (a->unit_doubtful)
        warn(r,
             "with %s as unit the body is %.3g times as large as the skeleton: the unit is likely "
             "wrong, and the motion nonsense (--units)",
             unit, a->size);
    else if (a->size > 0 && (a->size < 0.75 || a->size > 1.33) && !r->plan->calibrate.scale)
        note(r,
             "the body is about %.2g times as large as the skeleton: --calibrate=scale fits the "
             "lengths of its bones",
             a->size);
    return true;
}

static bool find_axes(fit_result *r) {
    const fit_plan *p = r->plan;
    const figure *f = &r->figure;
    if (sn_axes_find(r->model, r->recording, f->up, f->up_sign, NULL, &r->axes) != SN_OK) {
        complain("out of memory");
        return false;
    }
    sn_axis_map upright = sn_axis_map_up(p->up, p->up_sign, f->up, f->up_sign);
    if (p->has_up) force_axes(r, &upright, p->up, p->up_sign);
    if (p->has_axes) force_axes(r, &p->axes, p->axes.axis[f->up], p->axes.sign[f->up] * f->up_sign);
    if (p->unit > 0) force_unit(r, p->unit);
    const char *unit = p->unit > 0 ? r->settings->units : sn_recording_get_info(r->recording)->unit;
    (void)snprintf(r->unit_text, sizeof r->unit_text, "%s",
                   unit[0] != '\0' ? unit : unit_word(r->axes.unit));
    tell_up(r);
    return accept_unit(r);
}

// The recording in metres and the model's world; what has no place on the model goes missing.
static void move_recording(fit_result *r) {
    const sn_recording_info *info = sn_recording_get_info(r->recording);
    bool *used = must_alloc((size_t)info->nmarker, sizeof *used);
    for (int i = 0; i < sn_model_nmarker(r->model); i++)
        if (r->column[i] >= 0) used[r->column[i]] = true;
    for (int f = 0; f < info->nframe; f++) {
        double *x = sn_recording_edit(r->recording, f);
        for (int m = 0; m < info->nmarker; m++) {
            sn_axis_map_point(&r->axes.map, x + 3 * m, x + 3 * m);
            for (int k = 0; !used[m] && k < 3; k++) x[3 * m + k] = NAN;
        }
    }
    free(used);
}

bool enter_world(fit_result *r) {
    if (!find_axes(r)) return false;
    move_recording(r);
    return true;
}
