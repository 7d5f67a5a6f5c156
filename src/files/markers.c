// SPDX-License-Identifier: MIT
#include "files/markers.h"

#include <math.h>
#include <string.h>

enum { VERSION = 1 };

sn_markers_options sn_markers_options_default(void) {
    return (sn_markers_options){.version = VERSION, .unit = "mm"};
}

sn_status sn_markers_options_of(const sn_markers_options *options, sn_markers_options *out,
                                sn_error *error) {
    *out = options != NULL ? *options : sn_markers_options_default();
    if (out->version != VERSION || out->unit == NULL)
        return sn_fail(error, SN_ERR_ARGUMENT, 0,
                       "the options do not come from sn_markers_options_default()");
    if (!(out->rate >= 0) || !isfinite(out->rate))
        return sn_fail(error, SN_ERR_ARGUMENT, 0, "a frame rate cannot be %g", out->rate);
    return SN_OK;
}

sn_status sn_markers_begin(const sn_recording *recording, const char *wanted, sn_markers_unit *out,
                           sn_error *error) {
    const sn_recording_info *info = sn_recording_about(recording);
    if (info->nframe == 0 || info->nmarker == 0)
        return sn_fail(error, SN_ERR_VALUE, 0, "the recording has no %s to write",
                       info->nmarker == 0 ? "markers" : "frames");
    *out = (sn_markers_unit){.metres = 1};
    if (info->metres_per_unit > 0) {
        out->metres = sn_unit_metres(wanted);
        size_t length = strlen(wanted);
        if (out->metres == 0 || length >= sizeof out->name)
            return sn_fail(error, SN_ERR_ARGUMENT, 0, "'%.60s' is no unit of length", wanted);
        memcpy(out->name, wanted, length);
        return SN_OK;
    }
    memcpy(out->name, info->unit, sizeof out->name);
    return SN_OK;
}

void sn_markers_row(sn_out *o, const sn_recording *recording, int frame,
                    const sn_markers_unit *unit, const char *separator) {
    const double *x = sn_recording_frame(recording, frame);
    for (int i = 0; i < sn_recording_about(recording)->nmarker; i++, x += 3) {
        bool present = sn_recording_present(recording, frame, i);
        for (int c = 0; c < 3; c++) {
            sn_out_text(o, separator);
            if (present) sn_out_length(o, x[c], unit->metres);
        }
    }
    sn_out_text(o, "\n");
}
