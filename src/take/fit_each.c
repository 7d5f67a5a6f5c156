// SPDX-License-Identifier: MIT
// A setup's frames, which nothing ties together, in lanes.
#include <math.h>

#include "batch/make.h"
#include "take/fit.h"
#include "take/ik.h"

// The goals of a frame as a row: markers come first among the tasks. Weights stay those of the setup there, so that the
// objective is the sum of those that are seen times OpenSim's: coordinate tasks are multiplied with it instead.
static void set_row(void *user, int frame, double *row, double *share) {
    const sn_fit_input *in = user;
    const double *from = sn_recording_frame(in->recording, in->first + frame);
    double sum = 0;
    for (int i = 0, n = sn_model_nmarker(in->model); i < n; i++, row += 3) {
        if (sn_fit_goal_in(in, from, i, row))
            sum += sn_model_marker(in->model, i)->weight;
        else
            row[0] = row[1] = row[2] = NAN;
    }
    *share = sum;
}

// Each frame by itself, with nothing that changes from frame to frame but its goals.
static bool suits_lanes(const sn_fit_input *in) {
    const sn_ik_plan *plan = in->plan;
    return plan != NULL && plan->exact && plan->nprescribed == 0 && plan->nfile == 0;
}

sn_track_options sn_fit_plan_options(const sn_fitting *f) {
    sn_track_options track = f->options.track;
    track.solver.gradient = fmin(track.solver.gradient, 1e-5);
    // near the bottom, with markers that never fit: the exact Hessian at once
    if (track.solver.method == SN_METHOD_HYBRID) track.solver.method = SN_METHOD_NEWTON;
    if (f->options.cancel.asked != NULL) track.solver.cancel = f->options.cancel;
    return track;
}

sn_status sn_fit_open_each(sn_fitting *f, sn_error *error) {
    const sn_track_options track = sn_fit_plan_options(f);
    sn_batch_options o = sn_batch_options_default();
    if (!suits_lanes(&f->input)) return SN_OK;
    o.solver = track.solver;
    o.device = SN_DEVICE_CPU;
    o.start = SN_BATCH_EXTRAPOLATED;
    o.threads = track.threads;
    o.pool = track.pool;
    if (sn_batch_unfit(f->problem, &o.solver) != NULL) return SN_OK;
    SN_TRY(sn_batch_create(f->problem, &o, &f->allocator, &f->batch, error));
    f->rows = (sn_each_rows){f->batch, set_row, &f->input};
    return SN_OK;
}

const char *sn_fit_one_by_one(const sn_fitting *f) {
    const sn_ik_plan *plan = f->input.plan;
    if (f->batch != NULL || f->lanes.batch != NULL) return NULL;
    if (f->tracker == NULL) return f->lanes.one_by_one;
    if (plan->nprescribed > 0) return "coordinates are prescribed";
    if (plan->nfile > 0) return "a file has values of coordinates";
    return sn_batch_unfit(f->problem, &f->options.track.solver);
}

void sn_fit_tell_each(const sn_fitting *f) {
    const sn_track_options *t = &f->options.track;
    if (t->progress == NULL) return;
    const sn_track_frame latest = {.report.mean_error = f->each.error};
    t->progress(t->progress_user, f->solved, f->input.count, &latest);
}
