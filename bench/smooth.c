// SPDX-License-Identifier: MIT
// Smoothing a real clip: what it costs and what it does to markers, joints and hidden limbs.
//
//   bench_smooth ASF AMC C3D [TAU]
//
// Offsets are calibrated on the clip as in the calibrated protocol of solvers.c; then the clip is
// tracked, and the tracked poses smoothed.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "basics.h"
#include "clip.h"

static void check(sn_status status) {
    if (status == SN_OK) return;
    fprintf(stderr, "bench: %s\n", sn_status_text(status));
    exit(1);
}

static double *numbers(size_t n) { return bench_need(calloc(n, sizeof(double))); }

typedef struct source {
    const clip *clip;
    bool damaged;  // 30 % of the samples gone, a limb hidden for 0.5 s of every 4 s
} source;

static bool hidden(const clip *c, int frame, int marker) {
    static const char *const limb[] = {"LUPA", "LELB", "LFRM", "LWRA", "LWRB", "LFIN"};
    int period = (int)(4 * c->rate), length = (int)(0.5 * c->rate);
    if (frame % period < period / 2 || frame % period >= period / 2 + length) return false;
    for (size_t i = 0; i < sizeof limb / sizeof limb[0]; i++)
        if (strcmp(c->marker[marker], limb[i]) == 0) return true;
    return false;
}

static bool gone(const source *s, int frame, int marker) {
    uint64_t state = (uint64_t)frame * 4099 + (uint64_t)marker;
    return s->damaged && (hidden(s->clip, frame, marker) || sn_random(&state) < 0.3);
}

static sn_status set_goals(void *user, int frame, sn_problem *problem) {
    const source *s = user;
    const double *g = clip_goals(s->clip, frame % s->clip->nframe);
    for (int i = 0; i < CLIP_MARKERS; i++)
        if (gone(s, frame, i) || sn_problem_set_goal(problem, i, g + 3 * i) != SN_OK)
            (void)sn_problem_set_missing(problem, i, true);
    return SN_OK;
}

static sn_problem *make_problem(const clip *c) {
    sn_task tasks[CLIP_MARKERS];
    sn_problem *problem = NULL;
    for (int i = 0; i < CLIP_MARKERS; i++) {
        tasks[i] = sn_task_default(SN_TASK_POINT);
        tasks[i].joint = c->joint[i];
    }
    check(sn_problem_create(c->model, tasks, CLIP_MARKERS, NULL, &problem, NULL));
    return problem;
}

// Where a marker's goal lies in its joint's frame.
static void add_offset(const sn_workspace *ws, int joint, const double *goal, double share,
                       double *out) {
    sn_frame at = sn_workspace_frame(ws, joint);
    double d[3] = {goal[0] - at.p.x, goal[1] - at.p.y, goal[2] - at.p.z};
    for (int k = 0; k < 3; k++)
        out[k] += share * (at.R.c[k].x * d[0] + at.R.c[k].y * d[1] + at.R.c[k].z * d[2]);
}

// Offsets into the problem: pose and offsets in turn on every tenth frame, from the truth on.
static void calibrate(const clip *c, sn_problem *problem) {
    sn_workspace *ws = NULL;
    sn_solver *solver = NULL;
    size_t nq = (size_t)sn_model_nq(c->model);
    int every = 10, n = (c->nframe + every - 1) / every;
    double *q = numbers((size_t)n * nq), offsets[3 * CLIP_MARKERS];
    source src = {c, false};
    check(sn_workspace_create(problem, false, NULL, &ws, NULL));
    check(sn_solver_create(problem, NULL, NULL, &solver, NULL));
    for (int f = 0; f < n; f++)
        memcpy(q + (size_t)f * nq, clip_truth(c, f * every), nq * sizeof *q);
    for (int round = 0; round < 30; round++) {
        memset(offsets, 0, sizeof offsets);
        for (int f = 0; f < n; f++) {
            check(sn_workspace_pose(ws, q + (size_t)f * nq));
            for (int i = 0; i < CLIP_MARKERS; i++)
                add_offset(ws, c->joint[i], clip_goals(c, f * every) + 3 * i, 1.0 / n,
                           offsets + 3 * i);
        }
        for (int i = 0; i < CLIP_MARKERS; i++)
            check(sn_problem_set_local(problem, i, offsets + 3 * i));
        for (int f = 0; f < n; f++) {
            sn_report report;
            check(set_goals(&src, f * every, problem));
            check(sn_solver_solve(solver, q + (size_t)f * nq, &report));
        }
    }
    sn_solver_destroy(solver);
    sn_workspace_destroy(ws);
    free(q);
}

typedef struct quality {
    double seen;          // RMS distance of the markers that were given, mm
    double hidden;        // and of those that were taken away
    double limb;          // and of the hidden limb's alone
    double acceleration;  // RMS over the joint angles, rad/s^2
} quality;

static quality judge(const source *src, sn_problem *problem, const double *q, int nframe) {
    const clip *c = src->clip;
    const sn_model *m = c->model;
    size_t nq = (size_t)sn_model_nq(m), nv = (size_t)sn_model_nv(m);
    double sum[3] = {0}, count[3] = {0}, square = 0, *d = numbers(2 * nv);
    source whole = {c, false};
    sn_workspace *ws = NULL;
    check(sn_workspace_create(problem, false, NULL, &ws, NULL));
    for (int f = 0; f < nframe; f++) {
        check(set_goals(&whole, f, problem));
        check(sn_workspace_pose(ws, q + (size_t)f * nq));
        for (int i = 0; i < CLIP_MARKERS; i++) {
            if (!sn_problem_task_active(problem, i)) continue;
            double e = 1000 * sn_workspace_task_error(ws, i);
            int kind = gone(src, f, i) ? 1 : 0;
            sum[kind] += e * e;
            count[kind]++;
            if (!src->damaged || !hidden(c, f, i)) continue;
            sum[2] += e * e;
            count[2]++;
        }
        if (f < 1 || f + 1 >= nframe) continue;
        sn_model_difference(m, q + (size_t)(f - 1) * nq, q + (size_t)f * nq, d);
        sn_model_difference(m, q + (size_t)f * nq, q + (size_t)(f + 1) * nq, d + nv);
        // the root's first three are metres
        for (size_t i = 3; i < nv; i++) {
            double a = (d[nv + i] - d[i]) * c->rate * c->rate;
            square += a * a / (double)(nv - 3);
        }
    }
    sn_workspace_destroy(ws);
    free(d);
    return (quality){sqrt(sum[0] / count[0]), count[1] > 0 ? sqrt(sum[1] / count[1]) : NAN,
                     count[2] > 0 ? sqrt(sum[2] / count[2]) : NAN,
                     sqrt(square / (nframe > 2 ? nframe - 2 : 1))};
}

static double *track(source *src, sn_problem *problem) {
    const clip *c = src->clip;
    double *q = numbers((size_t)c->nframe * (size_t)sn_model_nq(c->model));
    sn_track_options o = sn_track_options_default();
    sn_tracker *tracker = NULL;
    o.solver.gradient = 1e-6;
    o.solver.goal = 0;
    o.chunk = 1 << 30;
    check(sn_tracker_create(problem, &o, NULL, &tracker, NULL));
    double begin = bench_seconds();
    check(sn_tracker_run(tracker, c->nframe, set_goals, src, clip_truth(c, 0), q, NULL));
    printf("tracked %d frames: %.1f us/frame\n", c->nframe,
           1e6 * (bench_seconds() - begin) / c->nframe);
    sn_tracker_destroy(tracker);
    return q;
}

static void smooth(source *src, sn_problem *problem, const double *tracked, double tau,
                   int nframe) {
    const clip *c = src->clip;
    size_t nq = (size_t)sn_model_nq(c->model), n = (size_t)nframe * nq;
    double *q = numbers(n);
    // a longer take: the clip again and again
    for (int f = 0; f < nframe; f++)
        memcpy(q + (size_t)f * nq, tracked + (size_t)(f % c->nframe) * nq, nq * sizeof *q);
    sn_smooth_options o = sn_smooth_options_default();
    sn_smoother *smoother = NULL;
    sn_smooth_report r;
    o.tau = tau;
    o.rate = c->rate;
    check(sn_smoother_create(problem, &o, NULL, &smoother, NULL));
    double begin = bench_seconds();
    check(sn_smoother_run(smoother, nframe, set_goals, src, q, &r));
    double micros = 1e6 * (bench_seconds() - begin) / nframe;
    quality after = judge(src, problem, q, nframe);
    printf("  %6.3f %7d %10.4f %10.4f %10.4f %8.3f %8.3f %8.3f %9.3f %5d %6d %9.1f  %s\n", tau,
           nframe, r.start, r.objective, r.data, after.seen, after.hidden, after.limb,
           after.acceleration, r.iterations, r.products, micros, sn_stop_text(r.stop));
    fflush(stdout);
    sn_smoother_destroy(smoother);
    free(q);
}

static void print_head(const char *what, const quality *before) {
    printf("%s\n  %6s %7s %10s %10s %10s %8s %8s %8s %9s %5s %6s %9s\n", what, "tau s", "frames",
           "F before", "F after", "data", "seen mm", "gone mm", "limb mm", "rad/s^2", "steps",
           "prods", "us/frame");
    printf("  %-46s   %8.3f %8.3f %8.3f %9.3f\n", "tracked", before->seen, before->hidden,
           before->limb, before->acceleration);
}

int main(int argc, char **argv) {
    static const double taus[] = {0.005, 0.01, 0.02, 0.05};
    clip c;
    if (argc < 4 || !clip_load("clip", argv[1], argv[2], argv[3], &c)) {
        fputs("usage: bench_smooth ASF AMC C3D [TAU]\n", stderr);
        return 1;
    }
    sn_problem *problem = make_problem(&c);
    calibrate(&c, problem);
    for (int damaged = 0; damaged < 2; damaged++) {
        source src = {&c, damaged == 1};
        double *q = track(&src, problem);
        quality before = judge(&src, problem, q, c.nframe);
        print_head(damaged ? "30 % of samples gone, left arm hidden 0.5 s of every 4 s"
                           : "whole clip",
                   &before);
        for (size_t i = 0; i < sizeof taus / sizeof taus[0]; i++)
            if (argc < 5 || atof(argv[4]) == taus[i]) smooth(&src, problem, q, taus[i], c.nframe);
        for (int n = c.nframe / 4; n <= 4 * c.nframe && argc == 4 && !damaged; n *= 2)
            smooth(&src, problem, q, 0.01, n);
        free(q);
    }
    sn_problem_destroy(problem);
    clip_free(&c);
    return 0;
}
