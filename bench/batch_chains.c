// SPDX-License-Identifier: MIT
#include "batch_chains.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

chains chains_cut(const clip *c, const double *offsets, bool own, int nchain) {
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

void chains_free(chains *k) {
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

double chains_firsts(chains *k, const sn_track_options *o) {
    sn_problem *problem = clip_problem(k->clip, k->own ? NULL : k->offsets);
    double *start = clip_first_pose(k->clip, k->offsets);
    sn_tracker *tracker = NULL;
    firsts s = {k};
    (void)sn_tracker_create(problem, o, NULL, &tracker, NULL);
    bench_need(tracker);
    double begin = bench_seconds();
    (void)sn_tracker_run(tracker, k->nchain, first_goals, &s, start, k->starts, NULL);
    const double seconds = bench_seconds() - begin;
    sn_tracker_destroy(tracker);
    sn_problem_destroy(problem);
    free(start);
    return seconds;
}

// Seconds of all chains, first frames left out.
double chains_run(chains *k, const sn_batch_options *o, sn_batch_counts *counts) {
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

plain_run chains_plain(const chains *k, const sn_track_options *o) {
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
double chains_error(const chains *k) {
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

// f of a frame, and how many chains' frames are above that of another run.
int chains_above(const chains *k, const double *f, double share, int *below) {
    int above = 0;
    *below = 0;
    for (int i = 0; i < k->nchain * k->nframe; i++) {
        double other = f[i];
        above += k->reports[i].f > (1 + share) * other + 1e-12;
        *below += k->reports[i].f < (1 - share) * other - 1e-12;
    }
    return above;
}

chains chains_repeat(const chains *k, int times) {
    chains out = *k;
    const size_t rows = (size_t)(k->nchain * k->nframe), nq = (size_t)sn_model_nq(k->clip->model);
    const size_t numbers = (k->own ? 6 : 3) * (size_t)CLIP_MARKERS;
    out.nchain = times * k->nchain;
    out.first = bench_need(calloc((size_t)out.nchain, sizeof *out.first));
    out.goals = bench_numbers(rows * (size_t)times * numbers);
    out.starts = bench_numbers((size_t)out.nchain * nq);
    out.poses = bench_numbers(rows * (size_t)times * nq);
    out.reports = bench_need(calloc(rows * (size_t)times, sizeof *out.reports));
    for (int i = 0; i < times; i++) {
        const size_t n = (size_t)i, each = (size_t)k->nchain;
        memcpy(out.first + n * each, k->first, each * sizeof *out.first);
        memcpy(out.goals + n * rows * numbers, k->goals, rows * numbers * sizeof(double));
        memcpy(out.starts + n * each * nq, k->starts, each * nq * sizeof(double));
    }
    return out;
}

double chains_peer(const chains *k, bool paper) {
    (void)k, (void)paper;
    return -1;
}
