// SPDX-License-Identifier: MIT
#include "protocol.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

sn_problem *clip_problem(const clip *c, const double *offsets) {
    sn_task tasks[CLIP_MARKERS];
    sn_problem *problem = NULL;
    for (int i = 0; i < CLIP_MARKERS; i++) {
        tasks[i] = sn_task_default(SN_TASK_POINT);
        tasks[i].joint = c->joint[i];
        if (offsets != NULL) memcpy(tasks[i].local, offsets + 3 * i, sizeof tasks[i].local);
    }
    (void)sn_problem_create(c->model, tasks, CLIP_MARKERS, NULL, &problem, NULL);
    return bench_need(problem);
}

void clip_offsets_at(const clip *c, sn_workspace *ws, const double *q, int frame, double *out) {
    const double *g = clip_goals(c, frame);
    (void)sn_workspace_pose(ws, q);
    for (int i = 0; i < CLIP_MARKERS; i++) {
        sn_frame at = sn_workspace_frame(ws, c->joint[i]);
        double d[3] = {g[3 * i] - at.p.x, g[3 * i + 1] - at.p.y, g[3 * i + 2] - at.p.z};
        for (int k = 0; k < 3; k++)
            out[3 * i + k] = at.R.c[k].x * d[0] + at.R.c[k].y * d[1] + at.R.c[k].z * d[2];
    }
}

sn_status clip_set_goals(void *user, int frame, sn_problem *problem) {
    const clip_source *s = user;
    int at = frame * s->every;
    const double *g = clip_goals(s->clip, at);
    for (int i = 0; i < CLIP_MARKERS; i++) {
        if (s->offsets != NULL)
            (void)sn_problem_set_local(problem, i,
                                       s->offsets + ((size_t)at * CLIP_MARKERS + (size_t)i) * 3);
        if (sn_problem_set_goal(problem, i, g + 3 * i) != SN_OK)
            (void)sn_problem_set_missing(problem, i, true);
    }
    return SN_OK;
}

double *clip_all_offsets(const clip *c) {
    double *out = bench_numbers((size_t)c->nframe * CLIP_MARKERS * 3);
    sn_problem *problem = clip_problem(c, NULL);
    sn_workspace *ws = NULL;
    (void)sn_workspace_create(problem, false, NULL, &ws, NULL);
    bench_need(ws);
    for (int f = 0; f < c->nframe; f++)
        clip_offsets_at(c, ws, clip_truth(c, f), f, out + (size_t)f * CLIP_MARKERS * 3);
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    return out;
}

// Mean over the frames of the sum of the markers' distances, cm.
static double summed_error(sn_problem *problem, clip_source *src, const double *q, int nframe) {
    sn_workspace *ws = NULL;
    double sum = 0;
    (void)sn_workspace_create(problem, false, NULL, &ws, NULL);
    bench_need(ws);
    for (int f = 0; f < nframe; f++) {
        (void)clip_set_goals(src, f, problem);
        (void)sn_workspace_pose(ws, q + (size_t)f * (size_t)sn_model_nq(src->clip->model));
        for (int i = 0; i < CLIP_MARKERS; i++) sum += 100 * sn_workspace_task_error(ws, i);
    }
    sn_workspace_destroy(ws);
    return sum / nframe;
}

clip_row clip_track(const clip *c, clip_source *src, const sn_track_options *options,
                    const double *offsets, const double *start) {
    int nframe = (c->nframe + src->every - 1) / src->every;
    size_t nq = (size_t)sn_model_nq(c->model);
    clip_row r = {.f = bench_numbers((size_t)nframe)};
    double *q = bench_numbers((size_t)nframe * nq);
    sn_track_frame *frames = bench_need(calloc((size_t)nframe, sizeof *frames));
    sn_problem *problem = clip_problem(c, offsets);
    sn_tracker *tracker = NULL;
    (void)sn_tracker_create(problem, options, NULL, &tracker, NULL);
    bench_need(tracker);
    double begin = bench_seconds();
    (void)sn_tracker_run(tracker, nframe, clip_set_goals, src, start, q, frames);
    r.micros = 1e6 * (bench_seconds() - begin) / nframe;
    for (int f = 0; f < nframe; f++) {
        const sn_report *report = &frames[f].report;
        r.iterations += report->iterations;
        r.functions += report->functions;
        r.evaluations += report->functions + report->gradients + report->hessians;
        r.poses += report->poses;
        r.hessians += report->hessians;
        r.factorizations += report->factorizations;
        r.above += report->f > 1e-6;
        r.restarted += frames[f].restarted;
        r.f[f] = report->f;
    }
    r.error = summed_error(problem, src, q, nframe);
    r.iterations /= nframe;
    r.functions /= nframe;
    r.evaluations /= nframe;
    r.poses /= nframe;
    r.hessians /= nframe;
    r.factorizations /= nframe;
    sn_tracker_destroy(tracker);
    sn_problem_destroy(problem);
    free(frames);
    free(q);
    return r;
}

void clip_zero(const clip *c, int frame, double *q) {
    const double *g = clip_goals(c, frame);
    int count = 0;
    double sum[3] = {0};
    for (int i = 0; i < CLIP_MARKERS; i++) {
        if (!isfinite(g[3 * i])) continue;
        count++;
        for (int k = 0; k < 3; k++) sum[k] += g[3 * i + k];
    }
    sn_model_zero(c->model, q);
    for (int k = 0; k < 3 && count > 0; k++) q[k] += sum[k] / count;
}

double *clip_calibrate(const clip *c, int every, const double *guess) {
    double *offsets = bench_numbers(3 * CLIP_MARKERS), *each = bench_numbers(3 * CLIP_MARKERS);
    sn_problem *problem = clip_problem(c, guess);
    sn_workspace *ws = NULL;
    sn_solver *solver = NULL;
    sn_solver_options o = sn_solver_options_default();
    o.gradient = 1e-6;
    (void)sn_workspace_create(problem, false, NULL, &ws, NULL);
    (void)sn_solver_create(problem, &o, NULL, &solver, NULL);
    bench_need(ws);
    bench_need(solver);
    size_t nq = (size_t)sn_model_nq(c->model);
    int nframe = (c->nframe + every - 1) / every;
    double *q = bench_numbers((size_t)nframe * nq);
    clip_source src = {c, NULL, every};
    sn_report report;
    for (int f = 0; f < nframe; f++) {
        double *at = q + (size_t)f * nq;
        if (c->truth != NULL) {
            memcpy(at, clip_truth(c, f * every), nq * sizeof *q);
        } else {
            (void)clip_set_goals(&src, f, problem);
            clip_zero(c, f * every, at);
            (void)sn_solver_solve_cold(solver, at, &report);
        }
    }
    for (int round = 0; round < 30; round++) {
        for (int i = 0; i < 3 * CLIP_MARKERS; i++) offsets[i] = 0;
        for (int f = 0; f < nframe; f++) {
            clip_offsets_at(c, ws, q + (size_t)f * nq, f * every, each);
            for (int i = 0; i < 3 * CLIP_MARKERS; i++) offsets[i] += each[i] / nframe;
        }
        for (int i = 0; i < CLIP_MARKERS; i++)
            (void)sn_problem_set_local(problem, i, offsets + 3 * i);
        for (int f = 0; f < nframe; f++) {
            (void)clip_set_goals(&src, f, problem);
            (void)sn_solver_solve(solver, q + (size_t)f * nq, &report);
        }
    }
    sn_solver_destroy(solver);
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    free(q);
    free(each);
    return offsets;
}

double *clip_first_pose(const clip *c, const double *offsets) {
    double *q = bench_numbers((size_t)sn_model_nq(c->model));
    if (c->truth != NULL) {
        memcpy(q, clip_truth(c, 0), (size_t)sn_model_nq(c->model) * sizeof *q);
        return q;
    }
    sn_problem *problem = clip_problem(c, offsets);
    sn_solver *solver = NULL;
    clip_source src = {c, NULL, 1};
    sn_report report;
    (void)sn_solver_create(problem, NULL, NULL, &solver, NULL);
    bench_need(solver);
    (void)clip_set_goals(&src, 0, problem);
    clip_zero(c, 0, q);
    (void)sn_solver_solve_cold(solver, q, &report);
    sn_solver_destroy(solver);
    sn_problem_destroy(problem);
    return q;
}
