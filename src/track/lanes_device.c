// SPDX-License-Identifier: MIT
// Seeds followed on a device: each span is two chains of frames, forwards and backwards from its seed, padded to the
// longest with frames that have no goals. What comes back is looked at here frame by frame: f at its pose must be the
// device's to nine digits, and the frame at a minimum; others are followed here. All that comes after following is done
// here in any case.
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "batch/batch.h"
#include "model/model.h"
#include "sweeps/workspace.h"
#include "tasks/problem.h"
#include "track/lanes.h"

// Spans that are handed over together; frames from which on compiling for a GPU pays.
enum { BLOCK = 256, MANY_FRAMES = 1000000 };

// How far f of the device may be from this processor's; the gradient that its frames end at.
static const double same_f = 1e-9, end_gradient = 1e-9;

typedef struct ends {
    int first, end, seed;
} ends;

struct sn_lane_device {
    sn_batch *batch;
    size_t ngoal;
    int span, length;  // of the present block: its first one, and the frames of a chain
    ends at[BLOCK];
    size_t rows, chains;  // what there is room for
    double *goals, *starts, *poses;
    sn_batch_report *reports;
};

typedef struct sn_lane_device device;

// --- life ----------------------------------------------------------------------------------------

static bool has_gpu(void) {
    sn_device_info info[8];
    const int n = sn_batch_devices(info, 8);
    for (int i = 0; i < n && i < 8; i++)
        if (info[i].gpu && info[i].doubles) return true;
    return false;
}

// Where frames bring more with them than places of points, this is not for them.
static bool only_points(const sn_lanes *l, const sn_problem *problem) {
    for (int i = 0; i < l->options.goals; i++)
        if (problem->parts[i].point < 0) return false;
    return true;
}

sn_status sn_lane_device_begin(sn_lanes *l, const sn_problem *problem) {
    if (l->options.device == SN_DEVICE_CPU) return SN_OK;
    if (l->options.device == SN_DEVICE_AUTO && (l->nframe < MANY_FRAMES || !has_gpu()))
        return SN_OK;
    if (!only_points(l, problem)) {
        (void)snprintf(l->device_note, sizeof l->device_note,
                       "this processor: frames have more than places of markers");
        return SN_OK;
    }
    sn_batch_options o = sn_batch_options_default();
    o.device = SN_DEVICE_OPENCL;
    o.solver = l->options.solver;
    o.solver.gradient = fmin(o.solver.gradient, end_gradient);
    o.start = SN_BATCH_EXTRAPOLATED;
    o.threads = l->options.threads;
    o.pool = l->options.pool;
    device *d = sn_acquire(&l->allocator, sizeof *d);
    if (d == NULL) return SN_ERR_MEMORY;
    *d = (device){0};
    l->device = d;
    SN_TRY(sn_batch_create_held(problem, &o, l->hold, &l->allocator, &d->batch, NULL));
    d->ngoal = (size_t)sn_batch_ngoal(d->batch);
    (void)snprintf(l->device_note, sizeof l->device_note, "%.390s", sn_batch_note(d->batch));
    if (d->batch->device == NULL) sn_lane_device_end(l);
    return SN_OK;
}

static void release_rows(sn_lanes *l, device *d) {
    void *all[] = {d->goals, d->starts, d->poses, d->reports};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i] != NULL) sn_release(&l->allocator, all[i]);
    d->goals = d->starts = d->poses = NULL;
    d->reports = NULL;
    d->rows = d->chains = 0;
}

void sn_lane_device_end(sn_lanes *l) {
    device *d = l->device;
    if (d == NULL) return;
    release_rows(l, d);
    sn_batch_destroy(d->batch);
    sn_release(&l->allocator, d);
    l->device = NULL;
}

static sn_status make_room(sn_lanes *l, device *d, size_t chains, size_t rows) {
    if (chains <= d->chains && rows <= d->rows) return SN_OK;
    release_rows(l, d);
    d->goals = sn_acquire(&l->allocator, (rows * d->ngoal + 1) * sizeof *d->goals);
    d->starts = sn_acquire(&l->allocator, (chains * l->nq + 1) * sizeof *d->starts);
    d->poses = sn_acquire(&l->allocator, (rows * l->nq + 1) * sizeof *d->poses);
    d->reports = sn_acquire(&l->allocator, rows * sizeof *d->reports);
    if (d->goals == NULL || d->starts == NULL || d->poses == NULL || d->reports == NULL)
        return SN_ERR_MEMORY;
    d->chains = chains;
    d->rows = rows;
    return SN_OK;
}

// --- following -----------------------------------------------------------------------------------

static sn_status seed_pass(sn_lanes *l, sn_lane_worker *w, int i) {
    ends *at = &l->device->at[i];
    return sn_lane_seed(l, w, l->device->span + i, &at->first, &at->end, &at->seed);
}

// Frame k of a chain, -1 behind its end; chains 2 i and 2 i + 1 are those of span i.
static int frame_of(const device *d, int chain, int k) {
    const ends *at = &d->at[chain / 2];
    const int f = chain % 2 == 0 ? at->seed + k : at->seed - k;
    return f >= at->first && f < at->end ? f : -1;
}

static sn_status put_goals(const sn_lanes *l, sn_lane_worker *w, int frame, double *row) {
    const device *d = l->device;
    for (size_t i = 0; i < d->ngoal; i++) row[i] = NAN;
    if (frame < 0) return SN_OK;
    SN_TRY(l->goals(l->user, frame, w->problem));
    for (int i = 0; i < l->options.goals; i++) {
        if (!sn_problem_task_active(w->problem, i)) continue;
        const sn_vec3 p = w->problem->point[w->problem->parts[i].point].goal;
        double *x = row + sn_batch_goal_at(d->batch, i);
        x[0] = p.x, x[1] = p.y, x[2] = p.z;
    }
    return SN_OK;
}

static sn_status fill_pass(sn_lanes *l, sn_lane_worker *w, int chain) {
    const device *d = l->device;
    memcpy(d->starts + (size_t)chain * l->nq, sn_lane_pose(l, d->at[chain / 2].seed),
           l->nq * sizeof *d->starts);
    for (int k = 0; k < d->length; k++) {
        const size_t row = (size_t)chain * (size_t)d->length + (size_t)k;
        SN_TRY(put_goals(l, w, frame_of(d, chain, k), d->goals + row * d->ngoal));
    }
    return SN_OK;
}

// Is the row what this processor would call a minimum of the frame? *f: there, without the pull.
static sn_status look_at_row(sn_lanes *l, sn_lane_worker *w, int frame, size_t row, bool *good,
                             double *f) {
    const device *d = l->device;
    const sn_batch_report *r = &d->reports[row];
    const double *q = d->poses + row * l->nq;
    *good = r->stop == SN_STOP_MINIMUM || r->stop == SN_STOP_GOAL;
    if (!*good) return SN_OK;
    SN_TRY(l->goals(l->user, frame, w->problem));
    SN_TRY(sn_problem_set_enabled(w->problem, l->rest, false));
    SN_TRY(sn_workspace_eval(w->ws, q, 0, f));
    const double whole = *f + sn_lane_pulled(l, w, l->hold, q - l->nq, q);
    *good = fabs(whole - r->f) <= same_f * whole;
    return SN_OK;
}

static sn_status take_pass(sn_lanes *l, sn_lane_worker *w, int chain) {
    const device *d = l->device;
    const size_t pose = l->nq * sizeof(double);
    memcpy(w->previous, sn_lane_pose(l, d->at[chain / 2].seed), pose);
    for (int k = 1; k < d->length; k++) {
        const int frame = frame_of(d, chain, k);
        const size_t row = (size_t)chain * (size_t)d->length + (size_t)k;
        bool good;
        if (frame < 0 || sn_cancelled(l->options.cancel)) return SN_OK;
        SN_TRY(look_at_row(l, w, frame, row, &good, &l->f[frame]));
        if (good) {
            memcpy(w->before, w->previous, pose);
            memcpy(w->previous, d->poses + row * l->nq, pose);
            l->frames[frame].iterations += d->reports[row].iterations;
            l->frames[frame].stop = (unsigned char)d->reports[row].stop;
            atomic_fetch_add(&l->device_frames, 1);
        } else {
            SN_TRY(sn_lane_follow(l, w, frame, k > 1, &l->f[frame]));
        }
        memcpy(sn_lane_pose(l, frame), w->previous, pose);
        atomic_fetch_add(&l->followed, 1);
    }
    return SN_OK;
}

sn_status sn_lane_device_follow(sn_lanes *l, int span, int count) {
    device *d = l->device;
    for (int done = 0; done < count; done += BLOCK) {
        const int n = count - done < BLOCK ? count - done : BLOCK;
        d->span = span + done;
        d->length = 1;
        SN_TRY(sn_lanes_run(l, seed_pass, n));
        if (sn_cancelled(l->options.cancel)) return SN_OK;
        for (int i = 0; i < n; i++) {
            const ends *at = &d->at[i];
            const int ahead = at->end - at->seed, behind = at->seed - at->first + 1;
            if (d->length < ahead) d->length = ahead;
            if (d->length < behind) d->length = behind;
        }
        SN_TRY(make_room(l, d, 2 * (size_t)n, 2 * (size_t)n * (size_t)d->length));
        SN_TRY(sn_lanes_run(l, fill_pass, 2 * n));
        if (sn_cancelled(l->options.cancel)) return SN_OK;
        SN_TRY(
            sn_batch_track(d->batch, 2 * n, d->length, d->goals, d->starts, d->poses, d->reports));
        SN_TRY(sn_lanes_run(l, take_pass, 2 * n));
        if (l->options.progress != NULL)
            l->options.progress(l->options.progress_user, atomic_load(&l->followed), l->nframe,
                                NULL);
    }
    // a device that was lost says so
    (void)snprintf(l->device_note, sizeof l->device_note, "%.390s", sn_batch_note(d->batch));
    return SN_OK;
}
