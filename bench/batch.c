// SPDX-License-Identifier: MIT
// Many problems at once on a real clip, against the plain solver and a peer in the same run. The clip is cut
// into chains, two from a first frame, one each way; the tracker brings the first frames into their valleys, and its
// time counts. Times are of this thread's own clock, but for those of two threads.
#include "batch.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "batch/batch.h"
#include "batch_chains.h"
#include "batch_cores.h"

enum { CHAINS = 40, ROUNDS = 7, LONGER = 96, PAIRS = 7 };

// A protocol: how the plain solver runs it, how lanes do.
typedef struct protocol {
    const char *name;
    sn_track_options track;
    sn_batch_options batch;
    double target;  // us a frame
} protocol;

static protocol calibrated_protocol_of(void) {
    protocol p = {.name = "calibrated to the true minimum",
                  .track = sn_track_options_default(),
                  .batch = sn_batch_options_default(),
                  .target = 20};
    // loose enough for f, which must be within 1e-6: that is looked at for every frame
    p.track.solver.gradient = 1e-6;
    p.track.solver.max_iterations = 300;
    p.track.rest = 0;
    p.track.restarts = 0;
    p.track.extrapolate = false;
    p.track.chunk = INT_MAX;
    p.batch.solver = p.track.solver;
    return p;
}

static protocol paper_protocol_of(void) {
    protocol p = calibrated_protocol_of();
    p.name = "paper protocol, 10 iterations";
    p.track.solver.max_iterations = 10;
    p.track.solver.goal = 1e-6;
    p.track.solver.gradient = 1e-12;
    p.batch.solver = p.track.solver;
    p.batch.locals = true;
    p.batch.jump = 30;
    p.target = 6;
    return p;
}

typedef struct measured {
    double micros, trip, busy, iterations, trips, error;
    int plain;
} measured;

// One row of the table: least of some rounds.
static measured measure(chains *k, const sn_batch_options *o) {
    measured m = {.micros = INFINITY};
    for (int r = 0; r < ROUNDS; r++) {
        sn_batch_counts c;
        const double seconds = chains_run(k, o, &c);
        if (1e6 * seconds / k->clip->nframe >= m.micros) continue;
        m.micros = 1e6 * seconds / k->clip->nframe;
        m.trip = 1e6 * seconds / (double)c.trips;
        m.busy = 100.0 * (double)c.lane_trips / (double)c.trips;
        m.iterations = (double)c.iterations / (double)c.rows;
        m.trips = (double)c.lane_trips / (double)c.rows;
        m.plain = (int)c.plain;
    }
    m.error = chains_error(k);
    return m;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// One thread or two on all chains.
typedef struct threaded {
    double wall, processor;
    double others;  // seconds that other programs had the processors meanwhile
    double idle;    // share of the lanes' trips
} threaded;

static threaded run_threads(chains *k, const protocol *p, int threads) {
    sn_batch_options o = p->batch;
    sn_batch_counts counts;
    o.device = SN_DEVICE_CPU;
    o.start = SN_BATCH_PREVIOUS;
    o.threads = threads;
    const double begin = bench_wall(), used = bench_seconds(), busy = bench_machine();
    (void)chains_run(k, &o, &counts);
    threaded t = {bench_wall() - begin, bench_seconds() - used, bench_machine() - busy, 0};
    t.others -= t.processor;
    t.idle = 1 - (double)counts.lane_trips / (double)counts.trips;
    return t;
}

// Two threads against one on a clip that is long enough for both: all chains several times over. Runs of one and of two
// follow each other, so that both have the same hour of the machine, either first in turn; of their ratios the median
// counts. While other programs compute two threads cannot have both processors: where three pairs of runs and more had
// them to themselves, but for a fiftieth of one, those alone count. What two threads cannot halve is printed beside it:
// the processor time that they take in all, and lanes that stand empty at the end.
static bool two_threads(const chains *k, const protocol *p) {
    chains longer = chains_repeat(k, LONGER);
    double wall[PAIRS], work[PAIRS], alone[PAIRS], idle = 0;
    int quiet = 0;
    for (int r = -1; r < PAIRS; r++) {  // the first touches all memory, and does not count
        threaded t[2];
        for (int i = 0; i < 2; i++) {
            const int n = r % 2 == 0 ? i : 1 - i;
            t[n] = run_threads(&longer, p, n + 1);
        }
        if (r < 0) continue;
        idle = t[1].idle;
        wall[r] = t[0].wall / t[1].wall;
        work[r] = 2 * t[0].processor / t[1].processor;
        if (t[0].others < 0.02 * t[0].wall && t[1].others < 0.02 * t[1].wall)
            alone[quiet++] = wall[r];
    }
    chains_free(&longer);
    qsort(wall, PAIRS, sizeof *wall, by_size);
    qsort(work, PAIRS, sizeof *work, by_size);
    qsort(alone, (size_t)quiet, sizeof *alone, by_size);
    const double median = quiet > 2 ? alone[quiet / 2] : wall[PAIRS / 2];
    printf("  two threads over one: %.2f to %.2f on the wall, median %.2f, %d of %d pairs with the "
           "machine to themselves; by processor time %.2f; %.1f %% of their lanes' trips idle\n",
           wall[0], wall[PAIRS - 1], wall[PAIRS / 2], quiet, PAIRS, work[PAIRS / 2], 100 * idle);
    return judge("two threads over one, wall clock", median, ">=", 1.9);
}

static bool run_protocol(const clip *c, const protocol *p, const double *offsets, bool own,
                         const char *program) {
    chains k = chains_cut(c, offsets, own, CHAINS);
    // their valleys are enough: each is the first row of two chains. One search for other valleys: a second one,
    // from what it found, finds none
    sn_track_options firsts = p->track;
    firsts.restarts = 1;
    firsts.restart_iterations = 20;
    firsts.solver.gradient = fmax(firsts.solver.gradient, own ? 0 : 1e-3);
    double first = INFINITY;
    for (int r = 0; r < ROUNDS; r++)
        first = fmin(first, chains_firsts(&k, &firsts) * 1e6 / c->nframe);
    const plain_run plain = chains_plain(&k, &p->track);
    printf("\n%s: %d frames in %d chains, each frame from the previous pose; first frames "
           "by the tracker\n  %-14s %10s %10s %10s %10s %8s %8s %10s %14s\n",
           p->name, c->nframe, k.nchain, "", "us/frame", "firsts us", "iterations", "trips",
           "us/trip", "busy %", "error cm", "f off by 1e-6");
    printf("  %-14s %10.2f %10.2f %10.2f %10.2f\n", "plain solver", plain.micros, first,
           plain.iterations, plain.factors);
    double best = INFINITY, error = 0;
    int off;
    for (int lanes = 1; lanes <= sn_batch_most_lanes(); lanes *= 2) {
        sn_batch_options o = p->batch;
        o.device = SN_DEVICE_CPU;
        o.start = SN_BATCH_PREVIOUS;
        o.lanes = lanes;
        const measured m = measure(&k, &o);
        int below;
        off = chains_above(&k, plain.f, 1e-6, &below);
        printf("  %d lane%-8s %10.2f %10.2f %10.2f %10.2f %8.3f %8.0f %10.3f %8d above, %d below\n",
               lanes, lanes > 1 ? "s" : "", m.micros, first, m.iterations, m.trips, m.trip, m.busy,
               m.error, off, below);
        fflush(stdout);
        best = m.micros + first;
        error = m.error;
    }
    bool good = judge("widest lanes, first frames included: us a frame", best, "<=", p->target);
    if (own) good &= judge("error, cm", error, "<=", 0.5);
    if (!own) {
        double worst;
        const int unfinished = chains_unfinished(&k, 1e-6, &worst);
        printf("  f above the minimum of its valley, relative, at the worst %38.1e\n", worst);
        good &=
            judge("frames more than 1e-6 above the minimum of their valley", unfinished, "<=", 0);
    }
    const double peer = chains_peer(&k, program, &p->batch.solver);
    if (peer > 0)
        good &= judge("Ceres' TinySolver, us a frame, over that", peer / best, ">=", 12);
    else
        printf("  no peer beside it: sinew_ceres_peer was not built (Debian: libceres-dev)\n");

    good &= two_threads(&k, p);
    chains_free(&k);
    free(plain.f);
    return good;
}

#ifdef BENCH_CORES
// The pieces of an iteration in so many lanes, at poses of the clip.
static bool run_core(const clip *c, const double *offsets, int lanes, double target) {
    if (lanes > sn_batch_most_lanes()) return true;
    chains k = chains_cut(c, offsets, false, 8);
    sn_track_options firsts = sn_track_options_default();
    sn_batch_options o = sn_batch_options_default();
    sn_problem *problem = clip_problem(c, offsets);
    sn_batch *batch = NULL;
    double us[CORE_PIECES];
    firsts.restarts = 0;
    firsts.chunk = INT_MAX;
    (void)chains_firsts(&k, &firsts);
    o.device = SN_DEVICE_CPU;
    o.lanes = lanes;
    (void)sn_batch_create(problem, &o, NULL, &batch, NULL);
    bench_need(batch);
    (void)sn_batch_solve(batch, k.nchain, k.goals, k.starts, k.poses, k.reports);
    (lanes == 8 ? bench_core8 : bench_core4)(&batch->table, &batch->worker[0].work, 40, us);
    printf("  %d lanes: pose %.3f, sums and gradient %.3f, factor and half a solve %.3f, the other "
           "half "
           "%.3f us each\n",
           lanes, us[CORE_POSE], us[CORE_SUMS], us[CORE_FACTOR], us[CORE_SOLVE]);
    char what[64];
    (void)snprintf(what, sizeof what, "core pieces of an iteration, %s, us",
                   lanes == 8 ? "AVX-512" : "AVX2");
    const bool good = judge(what, us[CORE_ALL], "<=", target);
    sn_batch_destroy(batch);
    sn_problem_destroy(problem);
    chains_free(&k);
    return good;
}
#else
static bool run_core(const clip *c, const double *offsets, int lanes, double target) {
    (void)c, (void)offsets, (void)lanes, (void)target;
    return true;
}
#endif

bool bench_batch(const bench_batch_options *o) {
    clip c;
    if (!clip_load_known(0, o->data, &c)) return false;
    double *offsets = clip_calibrate(&c, 40, NULL), *own = clip_all_offsets(&c);
    const protocol calibrated = calibrated_protocol_of(), paper = paper_protocol_of();
    bool good = run_protocol(&c, &calibrated, offsets, false, o->peer);
    good &= run_protocol(&c, &paper, own, true, o->peer);
    printf("\npieces of an iteration, a lane\n");
    good &= run_core(&c, offsets, 4, 1.4);
    good &= run_core(&c, offsets, 8, 1.0);
    free(offsets);
    free(own);
    clip_free(&c);
    return good;
}
