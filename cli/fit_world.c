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

static bool find_axes(fit_result *r) {
    const fit_plan *p = r->plan;
    const figure *f = &r->figure;
    const sn_recording_info *info = sn_recording_get_info(r->recording);
    if (sn_axes_find(r->model, r->recording, f->up, f->up_sign, NULL, &r->axes) != SN_OK) {
        complain("out of memory");
        return false;
    }
    if (p->has_up) {
        double scale = r->axes.map.scale;
        r->axes.map = sn_axis_map_up(p->up, p->up_sign, f->up, f->up_sign);
        r->axes.map.scale = scale;
        r->axes.up = p->up, r->axes.up_sign = p->up_sign, r->axes.up_known = SN_KNOWN_FORCED;
        r->axes.up_conflict = false;
    }
    if (p->has_axes) {
        double scale = r->axes.map.scale;
        r->axes.map = p->axes;
        r->axes.map.scale = scale;
        r->axes.up = p->axes.axis[f->up];
        r->axes.up_sign = p->axes.sign[f->up] * f->up_sign;
        r->axes.up_known = SN_KNOWN_FORCED;
        r->axes.up_conflict = false;
    }
    if (p->unit > 0) {
        // numbers are metres already where the file stated a unit
        double factor = p->unit / (info->metres_per_unit > 0 ? info->metres_per_unit : 1);
        r->axes.spread *= factor / r->axes.map.scale;
        r->axes.map.scale = factor;
        r->axes.unit = p->unit;
        r->axes.unit_known = SN_KNOWN_FORCED;
        r->axes.unit_doubtful = r->axes.spread < 0.4 || r->axes.spread > 2.5;
    }
    const char *unit = p->unit > 0 ? r->settings->units : info->unit;
    (void)snprintf(r->unit_text, sizeof r->unit_text, "%s",
                   unit[0] != '\0' ? unit : unit_word(r->axes.unit));
    if (r->axes.up_conflict)
        note(r,
             "the file states %s as up, but the figure stands along %s%c; the figure was believed "
             "(--up forces it)",
             info->y_screen, r->axes.up_sign < 0 ? "-" : "+", "xyz"[r->axes.up]);
    if (r->axes.up_known == SN_KNOWN_ASSUMED)
        note(r,
             "which axis of the recording is up is neither stated nor clear from the figure; %s%c "
             "was "
             "assumed (--up forces it)",
             r->axes.up_sign < 0 ? "-" : "+", "xyz"[r->axes.up]);
    if (r->axes.unit_known != SN_KNOWN_STATED && r->axes.unit_known != SN_KNOWN_FORCED)
        note(r,
             "the file states no unit of length; %s makes the markers as large as the figure "
             "(--units forces it)",
             r->unit_text);
    if (r->axes.unit_doubtful)
        note(r,
             "WARNING: with %s as unit the markers are spread %.2g times as far as the figure; is "
             "the "
             "unit right? (--units forces it)",
             r->unit_text[0] != '\0' ? r->unit_text : "this", r->axes.spread);
    return true;
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
