// SPDX-License-Identifier: MIT
// The built-in humanoid on a device: chains of frames of a smooth motion, goals with noise. What the
// device found is held against this processor's lanes on part of the chains. Times are wall clock from
// memory that the device copies at full speed, copies included.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arm/arm.h"
#include "arms_models.h"
#include "base/random.h"
#include "batch.h"
#include "batch/batch.h"
#include "model/model.h"
#include "protocols.h"

enum { MOST_SECONDS = 110 };

// Chains that are made; the device gets each several times.
typedef struct made {
    sn_model *model;
    sn_problem *problem;
    int nchain, nframe, times;
    sn_batch_start start;
    size_t nq, ngoal;
    double *goals, *starts;
} made;

// The motion of a chain at a frame: every coordinate a sine well inside its limits.
static void truth(const sn_model *m, int chain, int frame, double *q) {
    uint64_t state = (uint64_t)chain * 0x9E3779B97F4A7C15u + 1;
    sn_model_zero(m, q);
    for (int k = 0; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        double turn[6] = {0};
        for (int a = 0; a < j->nv; a++) {
            const double phase = 6.283185307179586 * sn_random(&state);
            const double speed = 6.283185307179586 * (0.2 + 0.8 * sn_random(&state));
            const double s = sin(phase + speed * frame / 120.0);
            const double low = m->lower[j->v0 + a], high = m->upper[j->v0 + a];
            turn[a] = j->lengths >> a & 1 ? 0.5 * s : 0.6 * s;
            if (high - low < INFINITY)
                turn[a] = 0.5 * (low + high) + fmin(0.3 * (high - low), 0.7) * s;
        }
        if (j->ops->integrate != NULL) {
            double at[7];
            memcpy(at, q + j->q0, (size_t)j->nq * sizeof *at);
            j->ops->integrate(at, turn, q + j->q0);
        } else {
            for (int a = 0; a < j->nv; a++) q[j->q0 + a] = turn[a];
        }
    }
}

static made make_chains(int nchain, int nframe, int times, double noise) {
    // noise that is larger than the motion of a frame tells nothing about the next
    made k = {.nchain = nchain,
              .nframe = nframe,
              .times = times,
              .start = noise > 1e-3 ? SN_BATCH_PREVIOUS : SN_BATCH_EXTRAPOLATED};
    (void)sn_model_humanoid(NULL, &k.model, NULL);
    bench_need(k.model);
    (void)sn_problem_create_markers(k.model, NULL, &k.problem, NULL);
    bench_need(k.problem);
    sn_workspace *ws = NULL;
    (void)sn_workspace_create(k.problem, false, NULL, &ws, NULL);
    bench_need(ws);
    k.nq = (size_t)sn_model_nq(k.model);
    k.ngoal = 3 * (size_t)sn_problem_ntask(k.problem);
    k.goals = bench_numbers((size_t)nchain * (size_t)nframe * k.ngoal);
    k.starts = bench_numbers((size_t)nchain * k.nq);
    double *q = bench_numbers(k.nq);
    uint64_t state = 7;
    for (int c = 0; c < nchain; c++)
        for (int f = 0; f < nframe; f++) {
            double *goal = k.goals + (size_t)(c * nframe + f) * k.ngoal;
            truth(k.model, c, f, q);
            (void)sn_workspace_pose(ws, q);
            for (int i = 0; i < sn_problem_ntask(k.problem); i++, goal += 3) {
                const sn_task *t = sn_problem_task(k.problem, i);
                const sn_vec3 p = sn_workspace_point(ws, t->joint, t->local);
                const double at[3] = {p.x, p.y, p.z};
                for (int x = 0; x < 3; x++) {
                    double u = -2;
                    for (int n = 0; n < 4; n++) u += sn_random(&state);
                    goal[x] = at[x] + noise * 1.7320508 * u;
                }
            }
            if (f > 0) continue;
            double *start = k.starts + (size_t)c * k.nq;
            memcpy(start, q, k.nq * sizeof *q);
            for (size_t i = 7; i < k.nq; i++) start[i] += 0.05;
            (void)sn_model_clamp(k.model, start);
        }
    sn_workspace_destroy(ws);
    free(q);
    return k;
}

static void made_free(made *k) {
    sn_problem_destroy(k->problem);
    sn_model_destroy(k->model);
    free(k->goals);
    free(k->starts);
}

// A row is asked for f within 1 %: in mixed precision that is this gradient, in doubles a smaller one. Frames are
// pulled to the one before them as sn_tracker does it.
static const double mixed_gradient = 1e-3, double_gradient = 1e-5, tracker_rest = 3e-5;

static sn_batch_options options_of(const made *k, sn_device device, sn_precision precision,
                                   int threads) {
    sn_batch_options o = sn_batch_options_default();
    o.device = device;
    o.precision = precision;
    o.device_threads = threads;
    o.start = k->start;
    o.rest = tracker_rest;
    o.solver.gradient = precision == SN_PRECISION_MIXED ? mixed_gradient : double_gradient;
    o.solver.max_iterations = 60;
    o.threads = device == SN_DEVICE_OPENCL ? 8 : 1;
    return o;
}

static sn_batch *to_the_end(const made *k) {
    sn_batch_options o = options_of(k, SN_DEVICE_CPU, SN_PRECISION_DOUBLE, 0);
    o.solver.max_iterations = 300;
    o.solver.gradient = 1e-8;
    sn_batch *batch = NULL;
    (void)sn_batch_create(k->problem, &o, NULL, &batch, NULL);
    bench_need(batch);
    return batch;
}

// f of the markers alone.
static double *values(const made *k, int nchain, const double *poses) {
    const size_t rows = (size_t)nchain * (size_t)k->nframe;
    double *f = bench_numbers(rows);
    sn_problem *problem = NULL;
    sn_workspace *ws = NULL;
    (void)sn_problem_copy(k->problem, NULL, 0, NULL, &problem, NULL);
    bench_need(problem);
    (void)sn_workspace_create(problem, false, NULL, &ws, NULL);
    bench_need(ws);
    for (size_t i = 0; i < rows; i++) {
        for (int t = 0; t < sn_problem_ntask(problem); t++)
            (void)sn_problem_set_goal(problem, t, k->goals + i * k->ngoal + 3 * (size_t)t);
        (void)sn_workspace_eval(ws, poses + i * k->nq, 0, &f[i]);
    }
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    return f;
}

// f of the first chains by this processor, to the end.
static double *reference(const made *k, int nchain, double *micros) {
    const size_t rows = (size_t)nchain * (size_t)k->nframe;
    sn_batch *batch = to_the_end(k);
    double *poses = bench_numbers(rows * k->nq);
    double begin = bench_seconds();
    (void)sn_batch_track(batch, nchain, k->nframe, k->goals, k->starts, poses, NULL);
    *micros = 1e6 * (bench_seconds() - begin) / (double)rows;
    double *f = values(k, nchain, poses);
    sn_batch_destroy(batch);
    free(poses);
    return f;
}

// What the plain solver ends at from the same starts: where the poses of the frames before lead.
static double *same_start(const made *k, int nchain, const double *poses) {
    const size_t rows = (size_t)nchain * (size_t)k->nframe, nq = k->nq;
    double *found = bench_numbers(rows * nq);
    double *delta = bench_numbers((size_t)sn_model_nv(k->model));
    sn_batch *batch = to_the_end(k);
    for (size_t i = 0; i < rows; i++) {
        const size_t frame = i % (size_t)k->nframe;
        double *q = found + i * nq;
        sn_batch_report report = {0};
        memcpy(q, frame == 0 ? k->starts + i / (size_t)k->nframe * nq : poses + (i - 1) * nq,
               nq * sizeof *q);
        if (frame > 1 && k->start == SN_BATCH_EXTRAPOLATED) {
            sn_model_difference(k->model, poses + (i - 2) * nq, poses + (i - 1) * nq, delta);
            sn_model_integrate(k->model, poses + (i - 1) * nq, delta, q);
        }
        sn_model_normalize(k->model, q);
        (void)sn_model_clamp(k->model, q);
        sn_batch_row_plain(&batch->worker[0], k->goals + i * k->ngoal,
                           frame > 0 ? poses + (i - 1) * nq : NULL, q, &report);
    }
    double *f = values(k, nchain, found);
    sn_batch_destroy(batch);
    free(found);
    free(delta);
    return f;
}

typedef struct figures {
    double rate, within, same, capped, plain, iterations;
    bool there;  // on a device
} figures;

static figures run(const made *k, sn_precision precision, int threads, const double *f, int known) {
    const size_t once = (size_t)k->nchain * (size_t)k->nframe, rows = once * (size_t)k->times;
    sn_batch_options o = options_of(k, SN_DEVICE_OPENCL, precision, threads);
    sn_batch *batch = NULL;
    figures out = {0};
    const double making = bench_wall();
    (void)sn_batch_create(k->problem, &o, NULL, &batch, NULL);
    bench_need(batch);
    printf("  %s (%.1f s to make)\n", sn_batch_note(batch), bench_wall() - making);
    (void)fflush(stdout);
    if (strstr(sn_batch_note(batch), "OpenCL,") == NULL) {
        sn_batch_destroy(batch);
        return out;
    }
    double *goals = bench_need(sn_batch_room(batch, rows * k->ngoal * sizeof *goals));
    double *poses = bench_need(sn_batch_room(batch, rows * k->nq * sizeof *poses));
    double *starts = bench_numbers((size_t)k->nchain * (size_t)k->times * k->nq);
    sn_batch_report *reports = bench_need(calloc(rows, sizeof *reports));
    for (int i = 0; i < k->times; i++) {
        memcpy(goals + (size_t)i * once * k->ngoal, k->goals, once * k->ngoal * sizeof *goals);
        memcpy(starts + (size_t)i * (size_t)k->nchain * k->nq, k->starts,
               (size_t)k->nchain * k->nq * sizeof *starts);
    }
    double best = INFINITY;
    for (int i = 0; i < 3; i++) {
        double begin = bench_wall();
        (void)sn_batch_track(batch, k->nchain * k->times, k->nframe, goals, starts, poses, reports);
        best = fmin(best, bench_wall() - begin);
    }
    const sn_batch_counts c = sn_batch_count(batch);
    out.there = c.device > 0;
    out.rate = (double)rows / best * 1e-6;
    printf("  %.3f s, best of three; of all three %.3f s waiting for the device\n", best, c.waited);
    for (size_t i = 0; i < rows; i++) {
        out.capped += reports[i].stop == SN_STOP_ITERATIONS;
        out.iterations += reports[i].iterations;
        out.plain += reports[i].plain;
    }
    const size_t compared = (size_t)known * (size_t)k->nframe;
    double *ours = values(k, known, poses), *same = same_start(k, known, poses);
    for (size_t i = 0; i < compared; i++) {
        out.within += 100 * (ours[i] <= 1.01 * f[i] + 1e-12) / (double)compared;
        out.same += 100 * (ours[i] <= 1.01 * same[i] + 1e-12) / (double)compared;
    }
    free(ours);
    free(same);
    out.capped *= 100.0 / (double)rows;
    out.plain *= 100.0 / (double)rows;
    out.iterations /= (double)rows;
    sn_batch_destroy(batch);
    free(reports);
    free(starts);
    return out;
}

// Goals of a Panda's tool, from memory that is copied at full speed; what the device does not reach is looked for
// here, and counts.
static bool panda(bool gpu, bool judged) {
    const int n = gpu ? 1 << 23 : 4096;
    sn_model *model = arms_model(0);
    bench_need(model);
    sn_arm *arm = NULL;
    sn_arm_options o = sn_arm_options_default();
    o.device = SN_DEVICE_OPENCL;
    o.threads = 8;
    const double making = bench_wall();
    (void)sn_arm_create(model, "tool", &o, NULL, &arm, NULL);
    bench_need(arm);
    printf("\nPanda, pose of the tool to 1e-6 m and rad: %s (%.1f s to make)\n", sn_arm_note(arm),
           bench_wall() - making);
    double *goals = bench_need(sn_arm_room(arm, (size_t)n * 7 * sizeof *goals));
    double *q = bench_need(sn_arm_room(arm, (size_t)n * 7 * sizeof *q));
    sn_arm_report *reports = bench_need(calloc((size_t)n, sizeof *reports));
    uint64_t state = 5;
    for (int i = 0; i < n; i++) {
        double at[SN_ARM_MAX];
        for (int j = 0; j < sn_arm_n(arm); j++)
            at[j] = sn_arm_lower(arm)[j] +
                    sn_random(&state) * (sn_arm_upper(arm)[j] - sn_arm_lower(arm)[j]);
        sn_arm_tool(arm, at, goals + 7 * (size_t)i);
    }
    double best = INFINITY, told = INFINITY;
    for (int i = 0; i < 4; i++) {
        const double begin = bench_wall();
        (void)sn_arm_solve_many(arm, n, goals, NULL, q, i < 3 ? NULL : reports);
        *(i < 3 ? &best : &told) = fmin(i < 3 ? best : told, bench_wall() - begin);
    }
    int reached = 0, wrong = 0, here = 0;
    double starts = 0, steps = 0;
    for (int i = 0; i < n; i++) {
        double tool[7], off = 0, dot = 0;
        reached += reports[i].reached;
        starts += reports[i].seeds;
        steps += reports[i].iterations;
        here += reports[i].seeds > 16;
        if (i % 16 != 0 || !reports[i].reached) continue;
        // by this processor's own arithmetic
        const double *goal = goals + 7 * (size_t)i;
        sn_arm_tool(arm, q + 7 * (size_t)i, tool);
        for (int k = 0; k < 3; k++) off += (tool[k] - goal[k]) * (tool[k] - goal[k]);
        for (int k = 3; k < 7; k++) dot += tool[k] * goal[k];
        bool inside = sqrt(off) <= 1.001e-6 && 1 - dot * dot <= 0.2501e-12 + 1e-15;
        for (int j = 0; j < 7; j++)
            inside = inside && q[7 * (size_t)i + (size_t)j] >= sn_arm_lower(arm)[j] &&
                     q[7 * (size_t)i + (size_t)j] <= sn_arm_upper(arm)[j];
        wrong += !inside;
    }
    const double rate = 1e-6 * n / best;
    printf("  %d goals: %.1f M solves/s (%.1f with reports), %.5f %% reached, %.2f starts and %.2f "
           "steps each, %d by more than 16 starts; %d of %d looked at again are wrong\n",
           n, rate, 1e-6 * n / told, 100.0 * reached / n, starts / n, steps / n, here, wrong,
           n / 16);
    bool good = wrong == 0;
    if (gpu && judged)
        good &=
            judge("M solves/s with 99.999 % reached", reached >= 0.99999 * n ? rate : 0, ">=", 150);
    sn_arm_destroy(arm);
    sn_model_destroy(model);
    free(reports);
    return good;
}

bool bench_batch_device(const bench_batch_options *o) {
    sn_device_info info[8];
    const int n = sn_batch_devices(info, 8);
    for (int i = 0; i < n && i < 8; i++)
        printf("OpenCL device: %s, %s, %d units, %.1f GB%s%s\n", info[i].name, info[i].version,
               info[i].units, 1e-9 * (double)info[i].memory, info[i].doubles ? ", doubles" : "",
               info[i].gpu ? ", GPU" : "");
    if (n == 0) printf("no OpenCL device\n");
    const bool gpu = n > 0 && info[0].gpu;
    // a GPU wants many chains; elsewhere a few show that all is right
    const int nchain = gpu ? 8192 : 64, nframe = gpu ? 32 : 4, times = gpu ? 32 : 1;
    const int known = nchain < 1024 ? nchain : 1024;
    bool good = panda(gpu, o->judged);
    const double started = bench_wall();
    for (int z = 0; z < 2; z++) {
        const double noise = z == 0 ? 2e-4 : 2e-3;
        made k = make_chains(nchain, nframe, times, noise);
        double micros, *f = reference(&k, known, &micros);
        printf("\nhumanoid, %g mm of noise: %d chains of %d frames; this processor %.2f us a frame "
               "on one core to 1e-8\n  %-10s %10s %10s %12s %12s %10s %10s %10s\n",
               1e3 * noise, nchain * times, nframe, micros, "precision", "threads", "M frames/s",
               "within 1%", "own chain", "capped %", "plain %", "iterations");
        double top[2] = {0};
        for (int p = 1; p >= 0; p--) {
            if (bench_wall() - started > MOST_SECONDS) break;
            const int count = gpu ? 512 * info[0].units : 0;
            const figures r =
                run(&k, p == 0 ? SN_PRECISION_DOUBLE : SN_PRECISION_MIXED, count, f, known);
            printf("  %-10s %10d %10.4f %12.3f %12.3f %10.3f %10.3f %10.2f%s\n",
                   p == 0 ? "doubles" : "mixed", count, r.rate, r.same, r.within, r.capped, r.plain,
                   r.iterations, r.there ? "" : "  (this processor)");
            fflush(stdout);
            if (!r.there) {  // nothing more to see here
                free(f);
                made_free(&k);
                return false;
            }
            if (r.same >= 99.9 && r.capped < 0.1) top[p] = fmax(top[p], r.rate);
        }
        if (gpu && o->judged)
            good &= judge("M frames/s with f within 1 % on 99.9 % and under 0.1 % capped",
                          fmax(top[0], top[1]), ">=", z == 0 ? 12 : 6);
        free(f);
        made_free(&k);
    }
    return good;
}
