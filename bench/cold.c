// SPDX-License-Identifier: MIT
// The cold protocol: the calibrated problems from the zero pose with the root at the mean marker,
// every frame on its own.
//
// Nobody knows the global minimum of a frame. What stands for it is the least f that anything here
// found: all the solvers below, a track of the clip from its first pose, and a long random search from
// the best of these, with two methods. A solver is at the minimum when its f is within 1e-4 of it:
// generous to those that creep, and less than what lies between two valleys.
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "protocols.h"

enum { SHAKES = 100 };

typedef struct cold_entry {
    const char *label;
    sn_method method;
    bool search;  // sn_solver_solve_cold()
} cold_entry;

static const cold_entry entries[] = {
    {"hybrid, cold", SN_METHOD_HYBRID, true},
    {"newton, cold", SN_METHOD_NEWTON, true},
    {"lm, cold", SN_METHOD_LM, true},
    {"hybrid", SN_METHOD_HYBRID, false},
    {"newton", SN_METHOD_NEWTON, false},
    {"newton-pcg", SN_METHOD_NEWTON_PCG, false},
    {"lm", SN_METHOD_LM, false},
    {"gauss-newton", SN_METHOD_GAUSS_NEWTON, false},
    {"bfgs", SN_METHOD_BFGS, false},
    {"lbfgs", SN_METHOD_LBFGS, false},
};
enum { ENTRIES = sizeof entries / sizeof entries[0] };

typedef struct frame_set {
    const clip *clip;
    sn_problem *problem;
    clip_source src;
    int nframe;
    size_t nq;
    double *least;  // nframe
    double *best;   // nframe x nq: the poses of the least
} frame_set;

static sn_solver *solver_for(const frame_set *s, sn_method method) {
    sn_solver_options o = sn_solver_options_default();
    sn_solver *solver = NULL;
    o.method = method;
    o.max_iterations = 500;
    o.goal = 0;
    o.gradient = 1e-7;
    (void)sn_solver_create(s->problem, &o, NULL, &solver, NULL);
    return bench_need(solver);
}

static void note(frame_set *s, int frame, double f, const double *q) {
    if (!(f < s->least[frame])) return;
    s->least[frame] = f;
    memcpy(s->best + (size_t)frame * s->nq, q, s->nq * sizeof *q);
}

// All frames with one solver; f, iterations and time per frame.
static clip_row solve_cold(frame_set *s, const cold_entry *e) {
    clip_row r = {.f = bench_numbers((size_t)s->nframe)};
    sn_solver *solver = solver_for(s, e->method);
    double *q = bench_numbers(s->nq), time = 0;
    for (int f = 0; f < s->nframe; f++) {
        sn_report report;
        (void)clip_set_goals(&s->src, f, s->problem);
        clip_zero(s->clip, f * s->src.every, q);
        double begin = bench_seconds();
        if (e->search) {
            (void)sn_solver_solve_cold(solver, q, &report);
        } else {
            (void)sn_solver_solve(solver, q, &report);
        }
        time += bench_seconds() - begin;
        r.f[f] = report.f;
        r.iterations += (double)report.iterations / s->nframe;
        note(s, f, report.f, q);
    }
    r.micros = 1e6 * time / s->nframe;
    sn_solver_destroy(solver);
    free(q);
    return r;
}

// A track of the whole clip, every frame solved from the one before.
static void look_along(frame_set *s, const double *offsets) {
    int nframe = s->clip->nframe;
    sn_problem *problem = clip_problem(s->clip, offsets);
    sn_tracker *tracker = NULL;
    sn_track_options t = sn_track_options_default();
    t.solver.gradient = 1e-6;
    t.chunk = INT_MAX;
    clip_source whole = {s->clip, NULL, 1};
    double *poses = bench_numbers((size_t)nframe * s->nq),
           *first = clip_first_pose(s->clip, offsets);
    (void)sn_tracker_create(problem, &t, NULL, &tracker, NULL);
    (void)sn_tracker_run(bench_need(tracker), nframe, clip_set_goals, &whole, first, poses, NULL);
    // without the rest task, and to the end
    sn_solver *solver = solver_for(s, SN_METHOD_HYBRID);
    for (int f = 0; f < s->nframe; f++) {
        sn_report report;
        double *q = poses + (size_t)(f * s->src.every) * s->nq;
        (void)clip_set_goals(&s->src, f, s->problem);
        (void)sn_solver_solve(solver, q, &report);
        note(s, f, report.f, q);
    }
    sn_solver_destroy(solver);
    sn_tracker_destroy(tracker);
    sn_problem_destroy(problem);
    free(first);
    free(poses);
}

// Poses around the best one, some angles shaken a little to a lot, solved by two methods in turn.
static void look_around(frame_set *s) {
    static const double sizes[] = {0.3, 0.8, 1.5, 3};
    int nv = sn_model_nv(s->clip->model);
    sn_solver *solver[2] = {solver_for(s, SN_METHOD_HYBRID), solver_for(s, SN_METHOD_NEWTON)};
    double *q = bench_numbers(s->nq), *shake = bench_numbers((size_t)nv);
    for (int f = 0; f < s->nframe; f++) {
        uint64_t state = (uint64_t)f * 7 + 1;
        (void)clip_set_goals(&s->src, f, s->problem);
        for (int n = 0; n < SHAKES; n++) {
            sn_report report;
            for (int i = 6; i < nv; i++) {
                double by = sizes[n % 4] * (2 * sn_random(&state) - 1);
                shake[i] = sn_random(&state) < 0.4 ? by : 0;
            }
            sn_model_integrate(s->clip->model, s->best + (size_t)f * s->nq, shake, q);
            (void)sn_solver_solve(solver[n / 4 % 2], q, &report);
            note(s, f, report.f, q);
        }
    }
    for (int i = 0; i < 2; i++) sn_solver_destroy(solver[i]);
    free(q);
    free(shake);
}

bool cold_protocol(const clip *c, const double *offsets, int *frames, int *good_frames) {
    int every = c->nframe > 400 ? c->nframe / 200 : 2;
    frame_set s = {.clip = c,
                   .problem = clip_problem(c, offsets),
                   .src = {c, NULL, every},
                   .nframe = (c->nframe + every - 1) / every,
                   .nq = (size_t)sn_model_nq(c->model)};
    s.least = bench_numbers((size_t)s.nframe);
    s.best = bench_numbers((size_t)s.nframe * s.nq);
    for (int f = 0; f < s.nframe; f++) s.least[f] = INFINITY;
    clip_row r[ENTRIES] = {0};
    for (int i = 0; i < ENTRIES; i++)
        if (sn_method_available(entries[i].method)) r[i] = solve_cold(&s, &entries[i]);
    look_along(&s, offsets);
    look_around(&s);

    printf("\ncold protocol: %d frames from the zero pose, each on its own\n  %-26s %10s %10s %10s "
           "%10s\n",
           s.nframe, "solver", "at minimum", "within 1%", "iterations", "us/frame");
    int most = 0, ours = 0;
    for (int i = 0; i < ENTRIES; i++) {
        int count = 0, near = 0;
        if (r[i].f == NULL) continue;
        for (int f = 0; f < s.nframe; f++) {
            count += r[i].f[f] <= s.least[f] * (1 + 1e-4) + 1e-12;
            near += r[i].f[f] <= s.least[f] * 1.01 + 1e-12;
        }
        printf("  %-26s %10d %10d %10.1f %10.1f\n", entries[i].label, count, near, r[i].iterations,
               r[i].micros);
        if (bench_csv != NULL)
            fprintf(bench_csv, "%s,cold,\"%s\",%d,%.6g,%.6g,,,,\n", c->name, entries[i].label,
                    count, r[i].iterations, r[i].micros);
        if (i == 0) ours = count;
        if (!entries[i].search && count > most) most = count;
        free(r[i].f);
    }
    *frames += s.nframe;
    *good_frames += ours;
    sn_problem_destroy(s.problem);
    free(s.least);
    free(s.best);
    return judge("hybrid, cold: frames at the minimum, against the best plain solve", ours,
                 ">=", most);
}
