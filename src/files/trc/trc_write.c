// SPDX-License-Identifier: MIT
// Writing TRC, as most programs write it: two empty cells after each name, an empty line before the
// rows, empty cells for what is missing.
#include <string.h>

#include "files/markers.h"
#include "motion/clock.h"

// A name must stay one cell, and be there.
static sn_status check_labels(const sn_recording *recording, int nmarker, sn_error *error) {
    for (int i = 0; i < nmarker; i++) {
        const char *label = sn_recording_label(recording, i);
        if (label[strspn(label, " \t\v\f")] != '\0' && strpbrk(label, "\t\r\n") == NULL) continue;
        return sn_fail(error, SN_ERR_VALUE, 0,
                       "marker %d is named '%.60s': TRC takes no empty names, and none with a tab "
                       "or a line end",
                       i + 1, label);
    }
    return SN_OK;
}

static void write_header(sn_out *o, const sn_recording *recording, const char *unit, double rate) {
    const sn_recording_info *info = sn_recording_about(recording);
    int first = info->first_frame;
    sn_out_text(o, "PathFileType\t4\t(X/Y/Z)\tsinew.trc\n"
                   "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\t"
                   "OrigDataStartFrame\tOrigNumFrames\n");
    for (int i = 0; i < 2; i++) {
        sn_out_number(o, rate);
        sn_out_text(o, "\t");
    }
    sn_out_format(o, "%d\t%d\t", info->nframe, info->nmarker);
    sn_out_text(o, unit);
    sn_out_text(o, "\t");
    sn_out_number(o, rate);
    sn_out_format(o, "\t%d\t%d\nFrame#\tTime", first, info->nframe);
    for (int i = 0; i < info->nmarker; i++) {
        sn_out_text(o, i == 0 ? "\t" : "\t\t\t");
        sn_out_text(o, sn_recording_label(recording, i));
    }
    sn_out_text(o, "\t\t\n\t");
    for (int i = 1; i <= info->nmarker; i++) sn_out_format(o, "\tX%d\tY%d\tZ%d", i, i, i);
    sn_out_text(o, "\n\n");
}

sn_status sn_trc_write(const sn_recording *recording, const sn_markers_options *options,
                       const sn_sink *sink, sn_error *error) {
    SN_NEED(recording, error);
    SN_NEED(sink, error);
    SN_NEED(sink->write, error);
    const sn_recording_info *info = sn_recording_about(recording);
    sn_markers_options chosen;
    sn_markers_unit unit;
    SN_TRY(sn_markers_options_of(options, &chosen, error));
    SN_TRY(sn_markers_begin(recording, chosen.unit, &unit, error));
    SN_TRY(check_labels(recording, info->nmarker, error));
    double rate = chosen.rate > 0 ? chosen.rate : info->rate;
    if (!(rate > 0))
        return sn_fail(error, SN_ERR_VALUE, 0,
                       "the recording has no frame rate, which TRC needs: state one");
    sn_out o;
    sn_out_begin(&o, sink);
    write_header(&o, recording, unit.name, rate);
    for (int frame = 0; frame < info->nframe; frame++) {
        sn_out_format(&o, "%lld\t", (long long)info->first_frame + frame);
        sn_out_number(&o, info->time_offset + sn_clock_time(info->first_frame, frame, rate));
        sn_markers_row(&o, recording, frame, &unit, "\t");
    }
    return sn_out_end(&o, error);
}
