// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L  // clock_gettime
#include <Python.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fit_report.h"
#include "glue.h"
#include "pose_picture.h"

// --- bytes from a writer ---------------------------------------------------------------------------

static bool write_bytes(void *user, const void *bytes, size_t count) {
    snpy_bytes *b = user;
    if (count > b->room - b->length) {
        size_t room = b->room < 4096 ? 4096 : b->room;
        while (room - b->length < count) {
            if (room > SIZE_MAX / 2) return false;
            room *= 2;
        }
        char *data = realloc(b->data, room);
        if (data == NULL) return false;
        b->data = data;
        b->room = room;
    }
    memcpy(b->data + b->length, bytes, count);
    b->length += count;
    return true;
}

sn_sink snpy_bytes_sink(snpy_bytes *bytes) { return (sn_sink){write_bytes, bytes}; }

void snpy_bytes_free(snpy_bytes *bytes) {
    free(bytes->data);
    *bytes = (snpy_bytes){0};
}

// --- calls that take long --------------------------------------------------------------------------

struct snpy_run {
    atomic_bool stop;
    atomic_int stage, done, total, share, error;  ///< share in millionths, error in micrometres
    double next;                                  ///< when to look for Ctrl-C again
    double last;                                  ///< when the clock was read
    int unread;  ///< times that it need not be read, as they follow each other quickly
};

snpy_run *snpy_run_create(void) {
    snpy_run *run = calloc(1, sizeof *run);
    if (run != NULL) atomic_init(&run->stage, -1);
    return run;
}

void snpy_run_destroy(snpy_run *run) { free(run); }

void snpy_run_stop(snpy_run *run, bool stop) { run->stop = stop; }
bool snpy_run_stopped(snpy_run *run) { return run->stop; }

void snpy_run_state(snpy_run *run, double out[5]) {
    out[0] = run->stage;
    out[1] = run->done;
    out[2] = run->total;
    out[3] = run->share * 1e-6;
    out[4] = run->error * 1e-6;
}

static bool asked(void *user) { return ((snpy_run *)user)->stop; }

static double now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Ctrl-C waits inside Python until its bytecode runs again. What is seen here is put back, so that Python
// raises what its handler raises as soon as the call has returned.
static bool asked_here(void *user) {
    snpy_run *run = user;
    if (run->unread > 0) return run->unread--, run->stop;
    const double t = now();
    if (t - run->last < 1e-3) run->unread = 8;
    run->last = t;
    if (t < run->next) return run->stop;
    run->next = t + 0.02;
    PyGILState_STATE state = PyGILState_Ensure();
    if (PyOS_InterruptOccurred()) {
        PyErr_SetInterrupt();
        run->stop = true;
    }
    PyGILState_Release(state);
    return run->stop;
}

sn_cancel snpy_run_cancel(snpy_run *run) { return (sn_cancel){asked, run}; }
sn_cancel snpy_run_cancel_here(snpy_run *run) { return (sn_cancel){asked_here, run}; }

static void show_take(void *user, const sn_take_progress *p) {
    snpy_run *run = user;
    run->done = p->done;
    run->total = p->total;
    run->share = (int)(1e6 * p->fraction);
    run->error = p->error < 1000 ? (int)(1e6 * p->error) : 1000000000;
    run->stage = (int)p->stage;
}

static void show_track(void *user, int done, int nframe, const sn_track_frame *latest) {
    snpy_run *run = user;
    run->done = done;
    run->total = nframe;
    run->share = nframe > 0 ? (int)(1e6 * done / nframe) : 0;
    if (latest != NULL && latest->report.mean_error < 1000)
        run->error = (int)(1e6 * latest->report.mean_error);
    run->stage = SN_STAGE_SOLVE;
}

void snpy_watch_take(snpy_run *run, sn_take_options *options) {
    options->cancel = snpy_run_cancel(run);
    options->progress = show_take;
    options->progress_user = run;
}

void snpy_watch_track(snpy_run *run, sn_track_options *options) {
    options->solver.cancel = snpy_run_cancel(run);
    options->progress = show_track;
    options->progress_user = run;
}

void snpy_watch_smooth(snpy_run *run, sn_smooth_options *options) {
    options->cancel = snpy_run_cancel(run);
}

sn_status snpy_take_report(const sn_take *take, const sn_recording *recording,
                           const sn_take_options *options, const char *model_name,
                           const char *input_name, const char *player, const char *note,
                           const sn_take_truth *truth, snpy_bytes *out) {
    fit_about about = fit_about_take(take, recording, options);
    plot_text text = {0};
    about.model_name = model_name;
    about.input_name = input_name;
    about.player = player;
    about.file_note = note;
    about.truth = truth;
    fit_report(&text, &about);
    bool good = !text.failed && write_bytes(out, text.data, text.length);
    plot_text_free(&text);
    return good ? SN_OK : SN_ERR_MEMORY;
}

sn_status snpy_picture(const sn_model *model, const sn_problem *problem,
                       const sn_workspace *workspace, int up, double up_sign, snpy_bytes *out) {
    const pose_picture picture = {
        .model = model, .problem = problem, .ws = workspace, .up = up, .up_sign = up_sign};
    plot_text text = {0};
    pose_picture_svg(&text, &picture);
    bool good = !text.failed && write_bytes(out, text.data, text.length);
    plot_text_free(&text);
    return good ? SN_OK : SN_ERR_MEMORY;
}

void snpy_take_measured(const sn_take *take, double *out) {
    sn_samples s = sn_take_samples(take);
    for (int f = 0; f < s.nframe; f++)
        for (int m = 0; m < s.nmarker; m++, out += 3)
            if (!s.sample(s.user, f, m, out)) out[0] = out[1] = out[2] = (double)NAN;
}

// --- goals of a clip -------------------------------------------------------------------------------

static bool all_finite(const double *x, int n) {
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

static sn_status set_goals(void *user, int frame, sn_problem *problem) {
    const snpy_goals *g = user;
    if (g->run->stop) return SN_ERR_CANCELLED;
    for (int i = 0; i < g->ngoal; i++) {
        const snpy_goal *one = &g->goal[i];
        const char *from = one->data + one->stride * (ptrdiff_t)frame;
        const int n = (one->place ? 3 : 0) + (one->rotation ? 4 : 0);
        double x[7];
        for (int k = 0; k < n; k++, from += one->step) memcpy(&x[k], from, sizeof x[k]);
        sn_status status = SN_OK;
        if (!all_finite(x, n)) {
            status = sn_problem_set_missing(problem, one->task, true);
        } else {
            if (one->place) status = sn_problem_set_goal(problem, one->task, x);
            if (status == SN_OK && one->rotation)
                status = sn_problem_set_rotation(problem, one->task, x + (one->place ? 3 : 0));
        }
        if (status != SN_OK) return status;
    }
    return SN_OK;
}

sn_status snpy_tracker_run(sn_tracker *tracker, int nframe, snpy_goals *goals, const double *start,
                           double *q, sn_track_frame *frames) {
    return sn_tracker_run(tracker, nframe, set_goals, goals, start, q, frames);
}

sn_status snpy_smoother_run(sn_smoother *smoother, int nframe, snpy_goals *goals, double *q,
                            sn_smooth_report *report) {
    return sn_smoother_run(smoother, nframe, set_goals, goals, q, report);
}

// --- loops -----------------------------------------------------------------------------------------

static void keep_trace(void *user, const sn_trace *trace) {
    snpy_traces *t = user;
    if (t->count == t->room) {
        int room = t->room < 64 ? 64 : 2 * t->room;
        sn_trace *data = realloc(t->data, (size_t)room * sizeof *data);
        if (data == NULL) return;
        t->data = data;
        t->room = room;
    }
    t->data[t->count++] = *trace;
}

void snpy_watch_solver(snpy_traces *traces, sn_solver_options *options) {
    options->trace = keep_trace;
    options->trace_user = traces;
}

void snpy_traces_free(snpy_traces *traces) {
    free(traces->data);
    *traces = (snpy_traces){0};
}

int snpy_solver_solve(sn_solver *solver, const void *q0, int nq, double *q, sn_report *report) {
    memcpy(q, q0, (size_t)nq * sizeof *q);
    sn_status status = sn_solver_solve(solver, q, report);
    return status == SN_OK && report->stop == SN_STOP_CANCELLED ? -1 : (int)status;
}

sn_status snpy_set_goal(sn_problem *problem, int task, double x, double y, double z) {
    const double goal[3] = {x, y, z};
    return sn_problem_set_goal(problem, task, goal);
}

sn_status snpy_solver_many(sn_solver *solver, int n, int nq, bool cold, double *q,
                           sn_report *reports) {
    for (int i = 0; i < n; i++) {
        double *row = q + (size_t)nq * (size_t)i;
        sn_report report;
        sn_status status = cold ? sn_solver_solve_cold(solver, row, &report)
                                : sn_solver_solve(solver, row, &report);
        if (status != SN_OK) return status;
        reports[i] = report;
        if (report.stop == SN_STOP_CANCELLED) return SN_ERR_CANCELLED;
    }
    return SN_OK;
}

sn_status snpy_evaluate(sn_workspace *workspace, int n, int nq, int nv, const double *q,
                        unsigned what, double *f, double *g, double *H) {
    for (int i = 0; i < n; i++) {
        size_t at = (size_t)i, width = (size_t)nv;
        sn_status status = sn_workspace_eval(workspace, q + (size_t)nq * at, what, f + at);
        if (status != SN_OK) return status;
        if (g != NULL) sn_workspace_gradient(workspace, g + width * at);
        if (H != NULL) sn_workspace_hessian(workspace, H + width * width * at);
    }
    return SN_OK;
}

long snpy_sparse(sn_workspace *workspace, size_t room, int *rows, int *columns, double *values) {
    int no_rows, no_columns;
    double none;
    if (rows == NULL) {
        size_t count = sn_workspace_sparse_hessian(workspace, 0, &no_rows, &no_columns, &none);
        return count > 0 ? (long)count : -1;
    }
    size_t count = sn_workspace_sparse_hessian(workspace, room, rows, columns, values), at = count;
    for (size_t k = 0; k < count; k++) {
        if (rows[k] == columns[k]) continue;
        rows[at] = columns[k];
        columns[at] = rows[k];
        values[at++] = values[k];
    }
    return (long)at;
}

sn_status snpy_errors(sn_workspace *workspace, int n, int nq, const double *q, int ntask,
                      double *out) {
    for (int i = 0; i < n; i++) {
        double f;
        sn_status status = sn_workspace_eval(workspace, q + (size_t)nq * (size_t)i, 0, &f);
        if (status != SN_OK) return status;
        for (int t = 0; t < ntask; t++) *out++ = sn_workspace_task_error(workspace, t);
    }
    return SN_OK;
}

sn_status snpy_frames(sn_workspace *workspace, int n, int nq, const double *q, int njoint,
                      const int *joints, double *out) {
    for (int i = 0; i < n; i++) {
        sn_status status = sn_workspace_pose(workspace, q + (size_t)nq * (size_t)i);
        if (status != SN_OK) return status;
        for (int j = 0; j < njoint; j++, out += 16) {
            sn_frame f = sn_workspace_frame(workspace, joints[j]);
            const double *p = &f.p.x;
            for (int r = 0; r < 3; r++) {
                for (int c = 0; c < 3; c++) out[4 * r + c] = (&f.R.c[c].x)[r];
                out[4 * r + 3] = p[r];
            }
            out[12] = out[13] = out[14] = 0;
            out[15] = 1;
        }
    }
    return SN_OK;
}

sn_status snpy_points(sn_workspace *workspace, int n, int nq, const double *q, int npoint,
                      const int *joints, const double *local, double *out) {
    for (int i = 0; i < n; i++) {
        sn_status status = sn_workspace_pose(workspace, q + (size_t)nq * (size_t)i);
        if (status != SN_OK) return status;
        for (int j = 0; j < npoint; j++, out += 3) {
            sn_vec3 p = sn_workspace_point(workspace, joints[j], local + 3 * (size_t)j);
            out[0] = p.x, out[1] = p.y, out[2] = p.z;
        }
    }
    return SN_OK;
}

static void transpose(int rows, int nv, const double *from, double *to) {
    for (int v = 0; v < nv; v++)
        for (int r = 0; r < rows; r++) to[(size_t)r * (size_t)nv + (size_t)v] = from[rows * v + r];
}

sn_status snpy_jacobians(sn_workspace *workspace, int n, int nq, const double *q, int joint,
                         const double local[3], int kind, int nv, double *work, double *out) {
    for (int i = 0; i < n; i++, out += 6 * (size_t)nv) {
        sn_status status = sn_workspace_pose(workspace, q + (size_t)nq * (size_t)i);
        if (status != SN_OK) return status;
        if (kind == SNPY_JACOBIAN_WORLD) {
            sn_jacobian_simple(workspace, joint, local, work);
            transpose(3, nv, work, out);
            sn_jacobian_adjusted(workspace, joint, SN_JACOBIAN_WORLD, NULL, SN_ROWS_ANGULAR, work);
            transpose(3, nv, work, out + 3 * (size_t)nv);
        } else {
            sn_jacobian_adjusted(workspace, joint,
                                 kind == SNPY_JACOBIAN_BODY ? SN_JACOBIAN_POINT : SN_JACOBIAN_WORLD,
                                 local, SN_ROWS_BOTH, work);
            transpose(6, nv, work, out);
        }
    }
    return SN_OK;
}

int snpy_arm_solve(sn_arm *arm, const void *goal, double *q) {
    double numbers[7];
    sn_arm_report report;
    memcpy(numbers, goal, sizeof numbers);
    sn_status status = sn_arm_solve(arm, numbers, NULL, q, &report);
    return status != SN_OK ? -(int)status : report.reached;
}

void snpy_arm_tool(const sn_arm *arm, int count, int n, const double *q, double *tool) {
    for (int i = 0; i < count; i++)
        sn_arm_tool(arm, q + (size_t)n * (size_t)i, tool + 7 * (size_t)i);
}

void snpy_arm_to_pose(const sn_arm *arm, int count, int n, int nq, const double *q, double *pose) {
    for (int i = 0; i < count; i++)
        sn_arm_to_pose(arm, q + (size_t)n * (size_t)i, pose + (size_t)nq * (size_t)i);
}

void snpy_arm_from_pose(const sn_arm *arm, int count, int n, int nq, const double *pose,
                        double *q) {
    for (int i = 0; i < count; i++)
        sn_arm_from_pose(arm, pose + (size_t)nq * (size_t)i, q + (size_t)n * (size_t)i);
}

void snpy_arm_manipulability(const sn_arm *arm, int count, int n, const double *q, double *w,
                             double *gradient) {
    for (int i = 0; i < count; i++)
        w[i] = sn_arm_manipulability(arm, q + (size_t)n * (size_t)i,
                                     gradient != NULL ? gradient + (size_t)n * (size_t)i : NULL);
}

void snpy_model_integrate(const sn_model *model, int n, const double *q, const double *delta,
                          double *out) {
    size_t nq = (size_t)sn_model_nq(model), nv = (size_t)sn_model_nv(model);
    for (int i = 0; i < n; i++)
        sn_model_integrate(model, q + nq * (size_t)i, delta + nv * (size_t)i, out + nq * (size_t)i);
}

void snpy_model_difference(const sn_model *model, int n, const double *q0, const double *q1,
                           double *delta) {
    size_t nq = (size_t)sn_model_nq(model), nv = (size_t)sn_model_nv(model);
    for (int i = 0; i < n; i++)
        sn_model_difference(model, q0 + nq * (size_t)i, q1 + nq * (size_t)i,
                            delta + nv * (size_t)i);
}

void snpy_model_sample(const sn_model *model, int n, uint64_t *state, double *q) {
    size_t nq = (size_t)sn_model_nq(model);
    for (int i = 0; i < n; i++) sn_model_sample(model, state, q + nq * (size_t)i);
}

void snpy_model_normalize(const sn_model *model, int n, double *q) {
    size_t nq = (size_t)sn_model_nq(model);
    for (int i = 0; i < n; i++) sn_model_normalize(model, q + nq * (size_t)i);
}

int snpy_model_clamp(const sn_model *model, int n, double *q) {
    size_t nq = (size_t)sn_model_nq(model);
    int moved = 0;
    for (int i = 0; i < n; i++) moved += sn_model_clamp(model, q + nq * (size_t)i);
    return moved;
}

void snpy_goals_from_matrices(int n, const double *matrices, double *goals) {
    for (int i = 0; i < n; i++, matrices += 16, goals += 7) {
        sn_mat3 R;
        for (int r = 0; r < 3; r++) {
            for (int c = 0; c < 3; c++) (&R.c[c].x)[r] = matrices[4 * r + c];
            goals[r] = matrices[4 * r + 3];
        }
        sn_quat q = sn_quat_from_mat3(R);
        goals[3] = q.w, goals[4] = q.x, goals[5] = q.y, goals[6] = q.z;
    }
}

void snpy_matrices_from_goals(int n, const double *goals, double *matrices) {
    for (int i = 0; i < n; i++, matrices += 16, goals += 7) {
        sn_mat3 R = sn_mat3_from_quat((sn_quat){goals[3], goals[4], goals[5], goals[6]});
        for (int r = 0; r < 3; r++) {
            for (int c = 0; c < 3; c++) matrices[4 * r + c] = (&R.c[c].x)[r];
            matrices[4 * r + 3] = goals[r];
        }
        matrices[12] = matrices[13] = matrices[14] = 0;
        matrices[15] = 1;
    }
}
