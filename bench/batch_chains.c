// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L
#include "batch_chains.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/model.h"

static int frame_at(const chains *k, int chain, int frame) {
    return k->first[chain] + k->step[chain] * frame;
}

chains chains_cut(const clip *c, const double *offsets, bool own, int nchain) {
    chains k = {.clip = c, .offsets = offsets, .own = own, .nchain = nchain};
    const size_t nq = (size_t)sn_model_nq(c->model), numbers = own ? 6 : 3;
    k.nframe = (c->nframe + nchain - 1) / nchain;
    const size_t rows = (size_t)(nchain * k.nframe);
    k.first = bench_need(calloc((size_t)nchain, sizeof *k.first));
    k.step = bench_need(calloc((size_t)nchain, sizeof *k.step));
    k.goals = bench_numbers(rows * numbers * CLIP_MARKERS);
    k.starts = bench_numbers((size_t)nchain * nq);
    k.poses = bench_numbers(rows * nq);
    k.reports = bench_need(calloc(rows, sizeof *k.reports));
    for (int i = 0; i < nchain; i++) {
        const int seed = (i - i % 2 + 1) * k.nframe, last = c->nframe - k.nframe;
        k.step[i] = i % 2 == 0 ? 1 : -1;
        k.first[i] = (seed < last ? seed : last) - i % 2;
        for (int f = 0; f < k.nframe; f++) {
            const int at = frame_at(&k, i, f);
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
    free(k->step);
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
    return clip_set_goals(&src, s->k->first[2 * frame], problem);
}

double chains_firsts(chains *k, const sn_track_options *o) {
    sn_problem *problem = clip_problem(k->clip, k->own ? NULL : k->offsets);
    double *start = clip_first_pose(k->clip, k->offsets);
    sn_tracker *tracker = NULL;
    firsts s = {k};
    (void)sn_tracker_create(problem, o, NULL, &tracker, NULL);
    bench_need(tracker);
    double begin = bench_seconds();
    (void)sn_tracker_run(tracker, k->nchain / 2, first_goals, &s, start, k->starts, NULL);
    const double seconds = bench_seconds() - begin;
    // each for the two chains that go from it
    const size_t nq = (size_t)sn_model_nq(k->clip->model);
    for (size_t i = (size_t)k->nchain; i-- > 0;)
        memmove(k->starts + i * nq, k->starts + i / 2 * nq, nq * sizeof(double));
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
    return clip_set_goals(&src, frame_at(s->k, s->chain, frame), problem);
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
        (void)clip_set_goals(&src, frame_at(k, i / k->nframe, i % k->nframe), problem);
        (void)sn_workspace_pose(ws, k->poses + (size_t)i * (size_t)sn_model_nq(k->clip->model));
        for (int m = 0; m < CLIP_MARKERS; m++) sum += 100 * sn_workspace_task_error(ws, m);
    }
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    return sum / (k->nchain * k->nframe);
}

int chains_unfinished(const chains *k, double share, double *worst) {
    const size_t nq = (size_t)sn_model_nq(k->clip->model);
    sn_problem *problem = clip_problem(k->clip, k->own ? NULL : k->offsets);
    clip_source src = {k->clip, k->own ? k->offsets : NULL, 1};
    sn_solver_options o = sn_solver_options_default();
    sn_solver *solver = NULL;
    double *q = bench_numbers(nq);
    int count = 0;
    *worst = 0;
    o.gradient = 1e-9;
    o.max_iterations = 300;
    (void)sn_solver_create(problem, &o, NULL, &solver, NULL);
    bench_need(solver);
    for (int i = 0; i < k->nchain * k->nframe; i++) {
        sn_report report;
        (void)clip_set_goals(&src, frame_at(k, i / k->nframe, i % k->nframe), problem);
        memcpy(q, k->poses + (size_t)i * nq, nq * sizeof *q);
        (void)sn_solver_solve(solver, q, &report);
        const double fall = k->reports[i].f - report.f;
        count += fall > share * report.f + 1e-12;
        *worst = fmax(*worst, fall / report.f);
    }
    sn_solver_destroy(solver);
    sn_problem_destroy(problem);
    free(q);
    return count;
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
    out.step = bench_need(calloc((size_t)out.nchain, sizeof *out.step));
    out.goals = bench_numbers(rows * (size_t)times * numbers);
    out.starts = bench_numbers((size_t)out.nchain * nq);
    out.poses = bench_numbers(rows * (size_t)times * nq);
    out.reports = bench_need(calloc(rows * (size_t)times, sizeof *out.reports));
    for (int i = 0; i < times; i++) {
        const size_t n = (size_t)i, each = (size_t)k->nchain;
        memcpy(out.first + n * each, k->first, each * sizeof *out.first);
        memcpy(out.step + n * each, k->step, each * sizeof *out.step);
        memcpy(out.goals + n * rows * numbers, k->goals, rows * numbers * sizeof(double));
        memcpy(out.starts + n * each * nq, k->starts, each * nq * sizeof(double));
    }
    return out;
}

// --- the peer ------------------------------------------------------------------------------------------
//
// Doubles in a temporary file, as bench/peers/ceres_chains.cpp reads them. Joints become moves: turns about
// axes and slides; the root's quaternion becomes three angles.

static void put(FILE *file, double x) { (void)fwrite(&x, sizeof x, 1, file); }

static void put_vec(FILE *file, sn_vec3 v) {
    put(file, v.x);
    put(file, v.y);
    put(file, v.z);
}

static void put_moves(FILE *file, const sn_joint *j) {
    const bool free = j->type == SN_JOINT_FREE;
    for (int a = 0; a < j->nv; a++) {
        const bool slides = free && a < 3;
        sn_vec3 axis = a == 0 ? j->axis : j->axis2;
        if (free) axis = v3_unit(a % 3);
        if (j->type == SN_JOINT_EULER) axis = v3_unit(j->order[a]);
        put(file, slides);
        put_vec(file, axis);
    }
}

static void put_start(FILE *file, const sn_model *m, const double *q) {
    static const int order[3] = {0, 1, 2};
    for (int k = 0; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        double angles[3];
        if (j->type != SN_JOINT_FREE) {
            for (int a = 0; a < j->nv; a++) put(file, q[j->q0 + a]);
            continue;
        }
        const double *r = q + j->q0 + 3;
        const sn_mat3 R = sn_mat3_from_quat((sn_quat){r[0], r[1], r[2], r[3]});
        sn_euler_from_rotation(order, &R, angles);
        for (int a = 0; a < 6; a++) put(file, a < 3 ? q[j->q0 + a] : angles[a - 3]);
    }
}

static void put_problem(FILE *file, const chains *k, const sn_solver_options *o) {
    const sn_model *m = k->clip->model;
    const size_t nq = (size_t)m->nq, numbers = k->own ? 6 : 3;
    const double head[9] = {m->njoint,
                            CLIP_MARKERS,
                            m->nv,
                            k->nchain,
                            k->nframe,
                            o->max_iterations,
                            o->goal > 0 ? o->goal : 1e-20,
                            o->gradient,
                            k->own};
    for (int i = 0; i < 9; i++) put(file, head[i]);
    for (int n = 0; n < m->njoint; n++) {
        const sn_joint *j = &m->joint[n];
        put(file, j->parent);
        for (int c = 0; c < 3; c++) put_vec(file, j->offset.R.c[c]);
        put_vec(file, j->offset.p);
        put(file, j->slot);
        put(file, j->nv);
    }
    for (int n = 0; n < m->njoint; n++) put_moves(file, &m->joint[n]);
    for (int i = 0; i < CLIP_MARKERS; i++) {
        put(file, m->sweep_of[k->clip->joint[i]]);
        for (int x = 0; x < 3; x++) put(file, k->own ? 0 : k->offsets[3 * i + x]);
    }
    for (int i = 0; i < k->nchain; i++) put_start(file, m, k->starts + (size_t)i * nq);
    for (int i = 0; i < k->nchain * k->nframe; i++)
        for (size_t part = 0; part < numbers; part += 3)
            for (size_t n = 0; n < CLIP_MARKERS; n++)
                for (size_t x = 0; x < 3; x++)
                    put(file, k->goals[((size_t)i * CLIP_MARKERS + n) * numbers + part + x]);
}

static bool knows(const sn_model *m) {
    for (int n = 0; n < m->njoint; n++) {
        const sn_joint_type t = m->joint[n].type;
        if (t != SN_JOINT_FIXED && t != SN_JOINT_HINGE && t != SN_JOINT_UNIVERSAL &&
            t != SN_JOINT_EULER && t != SN_JOINT_FREE)
            return false;
    }
    return true;
}

double chains_peer(const chains *k, const char *peer, const sn_solver_options *o) {
    char path[] = "/tmp/sinew-chains-XXXXXX", command[1200];
    if (peer == NULL || access(peer, X_OK) != 0 || !knows(k->clip->model)) return -1;
    const int handle = mkstemp(path);
    FILE *file = handle >= 0 ? fdopen(handle, "wb") : NULL;
    if (file == NULL) return -1;
    put_problem(file, k, o);
    bool good = fclose(file) == 0;
    double micros = -1, f = 0, iterations = 0, ours = 0;
    (void)snprintf(command, sizeof command, "'%s' < %s", peer, path);
    FILE *answer = good ? popen(command, "r") : NULL;
    good = answer != NULL && fscanf(answer, "%lf %lf %lf", &micros, &f, &iterations) == 3;
    if (answer != NULL) (void)pclose(answer);
    (void)unlink(path);
    if (!good) return -1;
    for (int i = 0; i < k->nchain * k->nframe; i++)
        ours += k->reports[i].f / (k->nchain * k->nframe);
    printf("  Ceres' TinySolver from the extrapolated pose: %.1f us a frame, %.2f iterations, mean "
           "f %.6g "
           "(here %.6g)\n",
           micros, iterations, f, ours);
    return micros;
}
