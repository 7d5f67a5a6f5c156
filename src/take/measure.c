// SPDX-License-Identifier: MIT
// How well a motion fits: errors of markers and frames.
#include <math.h>

#include "math/vec3.h"
#include "sweeps/workspace.h"
#include "take/fit.h"

static void measure_frame(const sn_fit_input *in, const sn_workspace *ws, int f,
                          sn_fit_frame *frame, sn_fit_marker *markers, sn_fit_summary *s,
                          double *square) {
    const double *row = sn_recording_frame(in->recording, in->first + f);
    double sum = 0, most = 0;
    int worst = -1;
    *frame = (sn_fit_frame){.worst_marker = -1};
    for (int i = 0, n = sn_model_nmarker(in->model); i < n; i++) {
        double goal[3];
        if (in->column[i] < 0) continue;
        if (!sn_fit_goal_in(in, row, i, goal)) {
            s->missing++;
            continue;
        }
        // what counts for nothing says nothing of the fit
        if (in->dropped != NULL && sn_fit_dropped(in, i, f)) {
            s->dropped++;
            markers[i].dropped++;
            continue;
        }
        const sn_marker_desc *m = &in->model->marker[i];
        // sn_workspace_point(), for many
        const sn_frame *at = &ws->frame[in->model->sweep_of[m->joint]];
        const sn_vec3 p = v3_add(ws->origin, sn_place(at, v3_from(m->position)));
        const double e = v3_norm(v3_sub(v3_from(goal), p));
        sum += e * e;
        frame->markers++;
        if (worst < 0 || e > most) most = e, worst = i;
        sn_fit_marker *mk = &markers[i];
        mk->seen++;
        mk->mean += e;
        mk->rms += e * e;
        if (e > mk->worst || mk->worst_frame < 0) mk->worst = e, mk->worst_frame = f;
        s->mean += e;
        s->samples++;
    }
    frame->worst = (float)most;
    frame->worst_marker = worst;
    frame->rms = (float)(frame->markers > 0 ? sqrt(sum / frame->markers) : 0);
    if (frame->worst_marker >= 0 && ((double)frame->worst > s->worst || s->worst_frame < 0)) {
        s->worst = (double)frame->worst;
        s->worst_frame = f;
        s->worst_marker = frame->worst_marker;
    }
    *square += sum;
}

sn_status sn_fit_measure(const sn_fit_input *input, const sn_motion *motion,
                         const sn_allocator *allocator, sn_fit_frame *frames,
                         sn_fit_marker *markers, sn_fit_summary *summary) {
    if (motion == NULL || frames == NULL || markers == NULL || summary == NULL ||
        !sn_fit_input_good(input, motion))
        return SN_ERR_ARGUMENT;
    sn_fit_place at;
    *summary = (sn_fit_summary){.worst_frame = -1, .worst_marker = -1};
    int count = sn_model_nmarker(input->model);
    for (int i = 0; i < count; i++) markers[i] = (sn_fit_marker){.worst_frame = -1};
    sn_status status = sn_fit_place_open(&at, input->model, allocator);
    double square = 0;
    for (int f = 0; status == SN_OK && f < input->count; f++) {
        status = sn_workspace_pose(at.workspace, sn_motion_frame(motion, f));
        if (status == SN_OK)
            measure_frame(input, at.workspace, f, &frames[f], markers, summary, &square);
    }
    sn_fit_place_close(&at, allocator);
    for (int i = 0; i < count; i++) {
        sn_fit_marker *m = &markers[i];
        if (m->seen == 0) continue;
        m->mean /= m->seen;
        m->rms = sqrt(m->rms / m->seen);
    }
    if (summary->samples > 0) {
        summary->mean /= (double)summary->samples;
        summary->rms = sqrt(square / (double)summary->samples);
    }
    return status;
}
