// SPDX-License-Identifier: MIT
// Many problems at once on a real clip, against the plain solver in the same run. The clip is cut into
// chains; the plain tracker solves their first frames, and its time counts.
#include "batch.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "protocols.h"

typedef struct chains {
    const clip *clip;
    const double *offsets;  // 41 x 3, or nframe x 41 x 3 where rows bring them
    bool own;
    int nchain, nframe, *first;
    double *goals, *starts, *poses;
    sn_batch_report *reports;
    double start_seconds;
} chains;

static chains cut(const clip *c, const double *offsets, bool own, int nchain) {
    chains k = {.clip = c, .offsets = offsets, .own = own, .nchain = nchain};
    const size_t nq = (size_t)sn_model_nq(c->model), numbers = own ? 6 : 3;
    k.nframe = (c->nframe + nchain - 1) / nchain;
    const size_t rows = (size_t)(nchain * k.nframe);
    k.first = bench_need(calloc((size_t)nchain, sizeof *k.first));
    k.goals = bench_numbers(rows * numbers * CLIP_MARKERS);
    k.starts = bench_numbers((size_t)nchain * nq);
    k.poses = bench_numbers(rows * nq);
    k.reports = bench_need(calloc(rows, sizeof *k.reports));
    for (int i = 0; i < nchain; i++) {
        k.first[i] = i * k.nframe < c->nframe - k.nframe ? i * k.nframe : c->nframe - k.nframe;
        for (int f = 0; f < k.nframe; f++) {
            const int at = k.first[i] + f;
            double *row = k.goals + (size_t)(i * k.nframe + f) * numbers * CLIP_MARKERS;
            for (int m = 0; m < CLIP_MARKERS; m++, row += numbers) {
                memcpy(row, clip_goals(c, at) + 3 * m, 3 * sizeof *row);
                if (own)
                    memcpy(row + 3, offsets + ((size_t)at * CLIP_MARKERS + (size_t)m) * 3,
                           3 * sizeof *row);
            }
        }
    }
    return k;
}

static void chains_free(chains *k) {
    free(k->first);
    free(k->goals);
    free(k->starts);
    free(k->poses);
    free(k->reports);
}

// The chains' first frames, by the plain tracker.
typedef struct firsts {
    const chains *k;
} firsts;

static sn_status first_goals(void *user, int frame, sn_problem *problem) {
    const firsts *s = user;
    clip_source src = {s->k->clip, s->k->own ? s->k->offsets : NULL, 1};
    return clip_set_goals(&src, s->k->first[frame], problem);
}

static void solve_firsts(chains *k, const sn_track_options *o) {
    sn_problem *problem = clip_problem(k->clip, k->own ? NULL : k->offsets);
    double *start = clip_first_pose(k->clip, k->offsets);
    sn_tracker *tracker = NULL;
    firsts s = {k};
    (void)sn_tracker_create(problem, o, NULL, &tracker, NULL);
    bench_need(tracker);
    double begin = bench_seconds();
    (void)sn_tracker_run(tracker, k->nchain, first_goals, &s, start, k->starts, NULL);
    k->start_seconds = bench_seconds() - begin;
    sn_tracker_destroy(tracker);
    sn_problem_destroy(problem);
    free(start);
}

// Seconds of all chains, first frames left out.
static double run_chains(chains *k, const sn_batch_options *o, sn_batch_counts *counts) {
    sn_problem *problem = clip_problem(k->clip, k->own ? NULL : k->offsets);
    sn_batch *batch = NULL;
    (void)sn_batch_create(problem, o, NULL, &batch, NULL);
    bench_need(batch);
    double begin = bench_seconds();
    (void)sn_batch_track(batch, k->nchain, k->nframe, k->goals, k->starts, k->poses, k->reports);
    double seconds = bench_seconds() - begin;
    *counts = sn_batch_count(batch);
    sn_batch_destroy(batch);
    sn_problem_destroy(problem);
    return seconds;
}

// The plain solver on the same chains; f of every row.
typedef struct chain_goals {
    const chains *k;
    int chain;
} chain_goals;

static sn_status set_chain_goals(void *user, int frame, sn_problem *problem) {
    const chain_goals *s = user;
    clip_source src = {s->k->clip, s->k->own ? s->k->offsets : NULL, 1};
    return clip_set_goals(&src, s->k->first[s->chain] + frame, problem);
}

typedef struct plain_run {
    double *f, micros, iterations, factors;
} plain_run;

static plain_run run_plain(const chains *k, const sn_track_options *o) {
    const size_t nq = (size_t)sn_model_nq(k->clip->model), rows = (size_t)(k->nchain * k->nframe);
    plain_run out = {.f = bench_numbers(rows)};
    double *q = bench_numbers((size_t)k->nframe * nq);
    sn_track_frame *frames = bench_need(calloc((size_t)k->nframe, sizeof *frames));
    sn_problem *problem = clip_problem(k->clip, k->own ? NULL : k->offsets);
    sn_tracker *tracker = NULL;
    (void)sn_tracker_create(problem, o, NULL, &tracker, NULL);
    bench_need(tracker);
    for (int i = 0; i < k->nchain; i++) {
        chain_goals s = {k, i};
        double begin = bench_seconds();
        (void)sn_tracker_run(tracker, k->nframe, set_chain_goals, &s, k->starts + (size_t)i * nq, q,
                             frames);
        out.micros += 1e6 * (bench_seconds() - begin) / k->clip->nframe;
        for (int f = 0; f < k->nframe; f++) {
            out.f[i * k->nframe + f] = frames[f].report.f;
            out.iterations += frames[f].report.iterations / (double)rows;
            out.factors += frames[f].report.factorizations / (double)rows;
        }
    }
    sn_tracker_destroy(tracker);
    sn_problem_destroy(problem);
    free(frames);
    free(q);
    return out;
}

// Mean over the frames of the summed distance of the markers, cm.
static double summed_error(const chains *k) {
    sn_problem *problem = clip_problem(k->clip, k->own ? NULL : k->offsets);
    clip_source src = {k->clip, k->own ? k->offsets : NULL, 1};
    sn_workspace *ws = NULL;
    double sum = 0;
    (void)sn_workspace_create(problem, false, NULL, &ws, NULL);
    bench_need(ws);
    for (int i = 0; i < k->nchain * k->nframe; i++) {
        (void)clip_set_goals(&src, k->first[i / k->nframe] + i % k->nframe, problem);
        (void)sn_workspace_pose(ws, k->poses + (size_t)i * (size_t)sn_model_nq(k->clip->model));
        for (int m = 0; m < CLIP_MARKERS; m++) sum += 100 * sn_workspace_task_error(ws, m);
    }
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    return sum / (k->nchain * k->nframe);
}

static const int lane_counts[] = {1, 2, 4, 8};

// f of a frame, and how many chains' frames are above that of another run.
static int count_above(const chains *k, const double *f, double share, int *below) {
    int above = 0;
    *below = 0;
    for (int i = 0; i < k->nchain * k->nframe; i++) {
        double other = f[i];
        above += k->reports[i].f > (1 + share) * other + 1e-12;
        *below += k->reports[i].f < (1 - share) * other - 1e-12;
    }
    return above;
}

static bool calibrated(const clip *c, const double *offsets) {
    sn_track_options t = sn_track_options_default();
    t.solver.gradient = 1e-8;
    t.solver.max_iterations = 300;
    t.rest = 0;
    t.restarts = 0;
    t.extrapolate = false;
    t.chunk = INT_MAX;
    chains k = cut(c, offsets, false, 48);
    t.restarts = 4;
    solve_firsts(&k, &t);
    t.restarts = 0;
    plain_run plain = run_plain(&k, &t);
    printf(
        "calibrated, to the true minimum: %d frames, plain solver from the previous pose %.1f us, "
        "%.2f iterations, %.2f factorisations\n",
        c->nframe, plain.micros, plain.iterations, plain.factors);
    for (int s = 0; s < 2; s++)
        for (int tol = 0; tol < 3; tol++)
            for (int n = tol == 0 ? 0 : 3; n < 4; n++) {
                sn_batch_options b = sn_batch_options_default();
                sn_batch_counts counts;
                b.device = SN_DEVICE_CPU;
                b.lanes = lane_counts[n];
                b.start = s == 0 ? SN_BATCH_PREVIOUS : SN_BATCH_EXTRAPOLATED;
                b.solver.gradient = tol == 0 ? 1e-8 : tol == 1 ? 1e-6 : 1e-5;
                b.solver.max_iterations = 300;
                double seconds = INFINITY;
                for (int r = 0; r < 3; r++) seconds = fmin(seconds, run_chains(&k, &b, &counts));
                int below, above = count_above(&k, plain.f, 1e-6, &below);
                printf("  %d lanes, %s, gradient %g: %.2f us a frame + %.2f for first frames; %.2f "
                       "iterations, %.2f trips (%.3f us), %.0f %% busy, plain %d; f above %d, "
                       "below %d "
                       "of %d; %.3f cm\n",
                       b.lanes, s == 0 ? "previous" : "extrapolated", b.solver.gradient,
                       1e6 * seconds / c->nframe, 1e6 * k.start_seconds / c->nframe,
                       (double)counts.iterations / (double)counts.rows,
                       (double)counts.lane_trips / (double)counts.rows,
                       1e6 * seconds / (double)counts.trips,
                       100.0 * (double)counts.lane_trips / (double)counts.trips, (int)counts.plain,
                       above, below, (int)counts.rows, summed_error(&k));
                fflush(stdout);
            }
    chains_free(&k);
    free(plain.f);
    return true;
}

static bool paper(const clip *c) {
    double *offsets = clip_all_offsets(c);
    sn_track_options t = sn_track_options_default();
    t.solver.max_iterations = 10;
    t.solver.goal = 1e-6;
    t.solver.gradient = 1e-12;
    t.rest = 0;
    t.chunk = INT_MAX;
    t.extrapolate = false;
    t.restarts = 0;
    clip_source src = {c, offsets, 1};
    clip_row plain = clip_track(c, &src, &t, NULL, clip_truth(c, 0));
    printf("paper protocol: plain %.1f us, %.2f iterations, %.3f cm\n", plain.micros,
           plain.iterations, plain.error);
    chains k = cut(c, offsets, true, 48);
    t.restarts = 4;
    solve_firsts(&k, &t);
    for (int s = 0; s < 2; s++)
        for (int n = 0; n < 4; n++) {
            sn_batch_options b = sn_batch_options_default();
            sn_batch_counts counts;
            b.device = SN_DEVICE_CPU;
            b.lanes = lane_counts[n];
            b.locals = true;
            b.start = s == 0 ? SN_BATCH_PREVIOUS : SN_BATCH_EXTRAPOLATED;
            b.solver = t.solver;
            double seconds = INFINITY;
            for (int r = 0; r < 3; r++) seconds = fmin(seconds, run_chains(&k, &b, &counts));
            int above = 0;
            for (int i = 0; i < k.nchain * k.nframe; i++) above += k.reports[i].f > 1e-6;
            printf("  %d lanes, %s: %.2f us a frame + %.2f; %.2f iterations, %.2f trips (%.3f us), "
                   "%.0f %% "
                   "busy, plain %d; above %d; %.3f cm\n",
                   b.lanes, s == 0 ? "previous" : "extrapolated", 1e6 * seconds / c->nframe,
                   1e6 * k.start_seconds / c->nframe,
                   (double)counts.iterations / (double)counts.rows,
                   (double)counts.lane_trips / (double)counts.rows,
                   1e6 * seconds / (double)counts.trips,
                   100.0 * (double)counts.lane_trips / (double)counts.trips, (int)counts.plain,
                   above, summed_error(&k));
            fflush(stdout);
        }
    chains_free(&k);
    free(plain.f);
    free(offsets);
    return true;
}

bool bench_batch(const bench_batch_options *o) {
    clip c;
    if (!clip_load_known(0, o->data, &c)) return false;
    double *offsets = clip_calibrate(&c, 40, NULL);
    bool good = paper(&c);
    good &= calibrated(&c, offsets);
    free(offsets);
    clip_free(&c);
    return good;
}
