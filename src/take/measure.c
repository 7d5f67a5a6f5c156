// SPDX-License-Identifier: MIT
// How well a motion fits: errors of markers and frames.
#include <math.h>

#include "math/vec3.h"
#include "sweeps/workspace.h"
#include "take/fit.h"

// Where markers are that have a column, and the square of a marker's way to its goal; NAN without one.
static void find_squares(const sn_fit_input *in, const sn_workspace *ws, const double *row, int n,
                         double *square) {
    const sn_model *model = in->model;
    for (int i = 0; i < n; i++) {
        double goal[3];
        square[i] = NAN;
        if (!sn_fit_goal_in(in, row, i, goal)) continue;
        const sn_marker_desc *m = &model->marker[i];
        // sn_workspace_point(), for many
        const sn_vec3 p = sn_place(&ws->frame[model->sweep_of[m->joint]], v3_from(m->position));
        const sn_vec3 d = v3_sub(v3_sub(v3_from(goal), ws->origin), p);
        square[i] = v3_dot(d, d);
    }
}

static void measure_frame(const sn_fit_input *in, const sn_workspace *ws, int f, double *square,
                          sn_fit_frame *frame, sn_fit_marker *markers, sn_fit_summary *s) {
    const double *row = sn_recording_frame(in->recording, in->first + f);
    const int n = sn_model_nmarker(in->model);
    double sum = 0, mean = 0, most = -1;
    int worst = -1, count = 0;
    find_squares(in, ws, row, n, square);
    for (int i = 0; i < n; i++) {
        const double e2 = square[i];
        if (in->column[i] < 0) continue;
        if (isnan(e2)) {
            s->missing++;
            continue;
        }
        // what counts for nothing says nothing of the fit
        if (in->dropped != NULL && sn_fit_dropped(in, i, f)) {
            s->dropped++;
            markers[i].dropped++;
            continue;
        }
        sn_fit_marker *m = &markers[i];
        const double e = sqrt(e2);
        m->seen++;
        m->mean += e;
        m->rms += e2;
        if (e > m->worst || m->worst_frame < 0) m->worst = e, m->worst_frame = f;
        if (e > most) most = e, worst = i;
        mean += e;
        sum += e2;
        count++;
    }
    *frame = (sn_fit_frame){.markers = count,
                            .worst_marker = worst,
                            .worst = (float)(count > 0 ? most : 0),
                            .rms = (float)(count > 0 ? sqrt(sum / count) : 0)};
    s->mean += mean;
    s->rms += sum;
    s->samples += count;
    if (count > 0 && (most > s->worst || s->worst_frame < 0)) {
        s->worst = most;
        s->worst_frame = f;
        s->worst_marker = worst;
    }
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
    double *square = sn_acquire(allocator, ((size_t)count + 1) * sizeof *square);
    sn_status status = sn_fit_place_open(&at, input->model, allocator);
    if (square == NULL) status = SN_ERR_MEMORY;
    for (int f = 0; status == SN_OK && f < input->count; f++) {
        status = sn_workspace_pose(at.workspace, sn_motion_frame(motion, f));
        if (status == SN_OK)
            measure_frame(input, at.workspace, f, square, &frames[f], markers, summary);
    }
    sn_fit_place_close(&at, allocator);
    sn_release(allocator, square);
    for (int i = 0; i < count; i++) {
        sn_fit_marker *m = &markers[i];
        if (m->seen == 0) continue;
        m->mean /= m->seen;
        m->rms = sqrt(m->rms / m->seen);
    }
    if (summary->samples > 0) {
        summary->mean /= (double)summary->samples;
        summary->rms = sqrt(summary->rms / (double)summary->samples);
    }
    return status;
}
