// SPDX-License-Identifier: MIT
// How it goes:
//
//   look    every few frames, and where a limb leaps, limbs from other starts: the middle of their ranges, with the last joint at
//           three values, then points of a Halton sequence, which goes on from frame to frame
//   share   every frame, from the poses of the frames 1, 3 and 8 before and behind it, where a limb has leapt
//           between the two; again, while that finds anything, for the neighbours of frames that have changed
//
// In each pass a frame reads the poses that the pass before has left and writes its own, so that neither the
// order of frames nor the number of threads matters.
#include "track/valleys.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "batch/batch.h"
#include "model/model.h"
#include "solvers/solver.h"
#include "sweeps/workspace.h"
#include "track/limbs.h"
#include "track/scouts.h"
#include "track/starts.h"

enum { MOST_PASSES = 24, NEIGHBOURS = 6, SCOUT_ITERATIONS = 12, FIRST_SEEDS = 8 };

static const int neighbour[NEIGHBOURS] = {-1, 1, -3, 3, -8, 8};

// A limb that turns by more from one frame to the next has leapt, radians.
static const double leap = 0.2;

typedef struct worker {
    sn_problem *problem;
    sn_solver *solver, *scout;
    double *best, *trial, *mixed;   // nq
    double cost[SN_MOST_LIMBS], f;  // of `best`
    double other[SN_MOST_LIMBS];    // of `trial`
} worker;

typedef struct search {
    const sn_model *model;
    const sn_valley_options *options;
    const sn_problem *problem;
    sn_track_goals goals;
    void *user;
    int nframe;
    size_t nq;
    sn_limbs limbs;
    double *q, *next;     // nframe x nq: of the pass before, and of this one
    bool *hot, *changed;  // per frame: changed in the pass before; at all
    bool *now_hot;        // in this one
    uint64_t
        *leaps;    // per frame: limbs that leapt since the one before, a bit each; then the root's
    bool looking;  // else sharing
    sn_scouts *lanes;  // NULL: the plain solver tries other starts
    bool scoutless;    // lanes do it all
    bool *hopeful;     // per frame, while there are lanes: one of its starts has found something
    int end;           // frames before it are visited
    int nworker;
    worker *workers;  // none before they are needed: often they are not
    struct job *jobs;
    bool open;
    atomic_int at;  // frame
    atomic_int failed;
} search;

// --- one start ------------------------------------------------------------------------------------------

// f, and the share of each limb: its tasks and what its coordinates are pulled to.
static bool measure(const search *s, worker *w, const double *q, double *cost, double *f) {
    sn_workspace *ws = sn_solver_workspace(w->solver);
    const sn_problem *p = w->problem;
    sn_field unused;
    if (sn_workspace_eval(ws, q, 0, f) != SN_OK) return false;
    for (int l = 0; l < s->limbs.count; l++) {
        cost[l] = 0;
        for (int k = s->limbs.limb[l].first; k < s->limbs.limb[l].end; k++) {
            const sn_joint *j = &p->model->joint[k];
            if (sn_limb_own_tasks(p, k) > 0) cost[l] += sn_field_of_body(ws, k, false, &unused);
            for (int r = 0; r < p->nrest; r++) {
                if (!p->rest[r].active || j->ops->quaternion >= 0) continue;
                for (int i = 0; i < j->nv; i++) {
                    double d = sn_limb_apart(j, i, q[j->q0 + i], p->rest[r].q[j->q0 + i]);
                    cost[l] += 0.5 * p->rest[r].weight * p->rest[r].q_weight[j->v0 + i] * d * d;
                }
            }
        }
    }
    return true;
}

// --- one more start --------------------------------------------------------------------------------------

// A coordinate that left its own range by half a turn, and is no angle about an axis, is another joint than the file means:
// functions go on straight beyond their ends. By how many whole turns it is to be taken back; 0: it is sane.
static double turns_beyond(const search *s, const sn_joint *j, int i, const double *q) {
    const double pi = 0x1.921fb54442d18p+1, x = q[j->q0 + i], lower = s->options->lower[j->v0 + i],
                 upper = s->options->upper[j->v0 + i];
    if (j->type != SN_JOINT_FUNCTION || (x >= lower - pi && x <= upper + pi)) return 0;
    return x > upper ? ceil((x - upper) / (2 * pi) - 0.5) : -ceil((lower - x) / (2 * pi) - 0.5);
}

static bool is_sane(const search *s, const double *q) {
    const sn_model *m = s->model;
    for (int k = 0; k < m->njoint; k++)
        for (int i = 0; i < m->joint[k].nv; i++)
            if (turns_beyond(s, &m->joint[k], i, q) != 0) return false;
    return true;
}

// Solve from w->mixed; it becomes the best when it is lower.
static bool settle(const search *s, worker *w) {
    sn_report report;
    if (sn_solver_solve(w->solver, w->mixed, &report) != SN_OK) return false;
    if (!(report.f < w->f * (1 - s->options->lower_by)) || !is_sane(s, w->mixed)) return false;
    memcpy(w->best, w->mixed, s->nq * sizeof *w->best);
    return measure(s, w, w->best, w->cost, &w->f);
}

// The best of w->trial and w->best, limb by limb.
static bool mix(const search *s, worker *w) {
    double f;
    if (!measure(s, w, w->trial, w->other, &f) || !is_sane(s, w->trial)) return false;
    bool better = false;
    if (f < w->f * (1 - s->options->lower_by)) {
        memcpy(w->mixed, w->trial, s->nq * sizeof *w->mixed);
        better = settle(s, w);
    }
    bool mixes = false;
    memcpy(w->mixed, w->best, s->nq * sizeof *w->mixed);
    for (int l = 0; l < s->limbs.count; l++) {
        if (!(w->other[l] < w->cost[l] - s->options->lower_by * w->f)) continue;
        if (sn_limb_turned(s->model, &s->limbs.limb[l], w->trial, w->best) < 0.1) continue;
        sn_limb_copy(s->model, &s->limbs.limb[l], w->trial, w->mixed);
        mixes = true;
    }
    if (mixes && settle(s, w)) better = true;
    return better;
}

// A short run from w->trial first.
static bool attempt(const search *s, worker *w) {
    sn_report report;
    return sn_solver_solve(w->scout, w->trial, &report) == SN_OK && mix(s, w);
}

// --- other starts ----------------------------------------------------------------------------------------

// Which of all starts is the n-th of a frame: the first ones are always tried, others change.
static int start_of(const search *s, int frame, int n) {
    const int seeds = s->options->seeds, round = frame / s->options->every;
    return n < 3 && seeds > 3 ? n : n + round * (seeds - 3);
}

// Has a start found something that the frame's own pose is not?
static bool is_hopeful(const search *s, const sn_scouts *c, int at, int n, const double *own,
                       sn_workspace *ws) {
    const double f = c->reports[at * c->starts + n].f, mine = c->reports[at * c->starts].f;
    const double by = s->options->lower_by * mine;
    return f < mine - by || sn_scouts_better(c, at, n, &s->limbs, own, by, ws);
}

// Somewhere to place poses while no other thread is at work.
static sn_workspace *spare_workspace(const search *s) {
    return sn_solver_workspace(s->options->rows->batch->worker[0].solver);
}

// What the lanes found for a frame.
static bool look_scouted(const search *s, worker *w, int frame) {
    const sn_scouts *c = s->lanes;
    bool better = false;
    int at = 0;
    while (at < c->count - 1 && c->frame[at] != frame) at++;
    for (int n = 1; n < c->starts; n++) {
        if (!is_hopeful(s, c, at, n, w->best, sn_solver_workspace(w->solver))) continue;
        memcpy(w->trial, sn_scouts_pose(c, at, n), s->nq * sizeof *w->trial);
        better = mix(s, w) || better;
    }
    return better;
}

static bool look(const search *s, worker *w, int frame) {
    bool better = false;
    if (s->lanes != NULL) return look_scouted(s, w, frame);
    for (int n = 0; n < s->options->seeds; n++) {
        memcpy(w->trial, w->best, s->nq * sizeof *w->trial);
        sn_start_limbs(&s->limbs, s->problem, s->options, start_of(s, frame, n), w->trial);
        better = attempt(s, w) || better;
    }
    return better;
}

// --- other starts in lanes -------------------------------------------------------------------------------

static double scout_gradient(const sn_valley_options *o) { return fmax(o->solver.gradient, 1e-3); }

// One more frame, at the pose q. @param like  it gets the starts of that frame
static void add_scouts(const search *s, sn_scouts *c, int frame, int like, const double *q) {
    for (int n = 0; n < c->starts; n++) {
        double *trial = sn_scouts_pose(c, c->count, n);
        memcpy(trial, q, s->nq * sizeof *trial);
        if (n > 0)
            sn_start_limbs(&s->limbs, s->problem, s->options, start_of(s, like, n - 1), trial);
    }
    sn_scouts_add(c, frame);
}

// Short runs from all of them.
static sn_status run_scouts(const search *s, sn_scouts *c) {
    return sn_scouts_run(c, scout_gradient(s->options), SCOUT_ITERATIONS, s->model->nv);
}

// What leapt between two frames.
static uint64_t leapt(const search *s, int a, int b) {
    uint64_t bits = 0;
    for (int f = (a < b ? a : b) + 1; f <= (a < b ? b : a); f++) bits |= s->leaps[f];
    return bits;
}

// A neighbour's limbs, or all of it.
static bool share(const search *s, worker *w, int frame) {
    bool better = false;
    for (int n = 0; n < NEIGHBOURS; n++) {
        int other = frame + neighbour[n];
        if (other < 0 || other >= s->nframe || !s->hot[other]) continue;
        const double *q = s->q + (size_t)other * s->nq;
        uint64_t bits = leapt(s, frame, other);
        if (bits == 0) continue;
        memcpy(w->trial, bits >> SN_MOST_LIMBS ? q : w->best, s->nq * sizeof *w->trial);
        for (int l = 0; l < s->limbs.count; l++)
            if (bits >> l & 1) sn_limb_copy(s->model, &s->limbs.limb[l], q, w->trial);
        better = attempt(s, w) || better;
    }
    return better;
}

// --- passes ----------------------------------------------------------------------------------------------

// True when there are any.
static bool find_leaps(search *s) {
    const sn_limb root = {0, s->limbs.root_end};
    bool any = false;
    s->leaps[0] = 0;
    for (int f = 1; f < s->nframe; f++) {
        const double *a = s->q + (size_t)(f - 1) * s->nq, *b = a + s->nq;
        s->leaps[f] =
            sn_limb_turned(s->model, &root, a, b) > 2 * leap ? UINT64_C(1) << SN_MOST_LIMBS : 0;
        for (int l = 0; l < s->limbs.count; l++)
            if (sn_limb_turned(s->model, &s->limbs.limb[l], a, b) > leap)
                s->leaps[f] |= UINT64_C(1) << l;
        any = any || s->leaps[f] != 0;
    }
    return any;
}

static bool wanted(const search *s, int frame) {
    if (s->looking)
        return frame % s->options->every == s->options->every / 2 || s->leaps[frame] != 0 ||
               (frame + 1 < s->nframe && s->leaps[frame + 1] != 0);
    for (int n = 0; n < NEIGHBOURS; n++) {
        int other = frame + neighbour[n];
        if (other >= 0 && other < s->nframe && s->hot[other] && leapt(s, frame, other) != 0)
            return true;
    }
    return false;
}

static sn_status visit(search *s, worker *w, int frame) {
    const double *q = s->q + (size_t)frame * s->nq;
    double *next = s->next + (size_t)frame * s->nq;
    memcpy(next, q, s->nq * sizeof *next);
    s->now_hot[frame] = false;
    if (s->lanes != NULL ? !s->hopeful[frame] : !wanted(s, frame)) return SN_OK;
    SN_TRY(s->goals(s->user, frame, w->problem));
    memcpy(w->best, q, s->nq * sizeof *q);
    if (!measure(s, w, w->best, w->cost, &w->f)) return SN_OK;
    bool better = s->looking ? look(s, w, frame) : share(s, w, frame);
    if (!better) return SN_OK;
    memcpy(next, w->best, s->nq * sizeof *next);
    s->now_hot[frame] = s->changed[frame] = true;
    return SN_OK;
}

typedef struct job {
    search *search;
    worker *worker;
} job;

static void run_job(void *argument) {
    job *j = argument;
    search *s = j->search;
    for (;;) {
        int frame = atomic_fetch_add(&s->at, 1);
        if (frame >= s->end || atomic_load(&s->failed) != SN_OK) return;
        if (sn_cancelled(s->options->cancel)) return;
        sn_status status = visit(s, j->worker, frame);
        if (status != SN_OK) atomic_store(&s->failed, (int)status);
    }
}

static sn_status open_worker(const search *s, const sn_allocator *allocator, worker *w) {
    sn_solver_options scout = s->options->solver;
    scout.max_iterations = SCOUT_ITERATIONS;
    scout.gradient = scout_gradient(s->options);
    *w = (worker){0};
    w->best = sn_acquire(allocator, 3 * (s->nq + 1) * sizeof *w->best);
    if (w->best == NULL) return SN_ERR_MEMORY;
    w->trial = w->best + s->nq;
    w->mixed = w->trial + s->nq;
    SN_TRY(sn_problem_copy(s->problem, NULL, 0, allocator, &w->problem, NULL));
    SN_TRY(sn_solver_create_plain(w->problem, &s->options->solver, allocator, &w->solver, NULL));
    return s->scoutless ? SN_OK
                        : sn_solver_create_plain(w->problem, &scout, allocator, &w->scout, NULL);
}

static void close_worker(const sn_allocator *allocator, worker *w) {
    sn_solver_destroy(w->scout);
    sn_solver_destroy(w->solver);
    sn_problem_destroy(w->problem);
    sn_release(allocator, w->best);
}

static search begin(const sn_problem *problem, const sn_valley_options *options,
                    sn_track_goals goals, void *user) {
    search s = {.model = problem->model,
                .options = options,
                .problem = problem,
                .goals = goals,
                .user = user,
                .nq = (size_t)problem->model->nq};
    sn_limbs_find(problem, &s.limbs);
    return s;
}

// What the plain solver needs, once it is needed.
static sn_status open_workers(search *s, const sn_allocator *allocator) {
    sn_status status = SN_OK;
    for (int i = 0; !s->open && status == SN_OK && i < s->nworker; i++) {
        status = open_worker(s, allocator, &s->workers[i]);
        s->jobs[i] = (job){s, &s->workers[i]};
    }
    s->open = true;
    return status;
}

// Visit frames on all threads, from s->at on.
static sn_status visit_all(search *s, const sn_allocator *allocator, int end) {
    SN_TRY(open_workers(s, allocator));
    s->end = end;
    sn_threads_run(&s->options->pool, run_job, s->jobs, sizeof *s->jobs, s->nworker);
    return (sn_status)atomic_load(&s->failed);
}

// Which frames' starts have found something; are there any?
static bool find_hopeful(search *s, const sn_scouts *c) {
    bool any = false;
    for (int i = 0; i < c->count; i++) {
        const int f = c->frame[i];
        for (int n = 1; n < c->starts && !s->hopeful[f]; n++)
            s->hopeful[f] = is_hopeful(s, c, i, n, s->q + (size_t)f * s->nq, spare_workspace(s));
        any = any || s->hopeful[f];
    }
    return any;
}

// The same for the first pass, where lanes try the starts of some frames before those are visited that it is worth for.
static sn_status visit_scouted(search *s, const sn_allocator *allocator) {
    sn_scouts lanes = {0};
    int total = 0;
    for (int f = 0; f < s->nframe; f++) total += wanted(s, f);
    memcpy(s->next, s->q, (size_t)s->nframe * s->nq * sizeof *s->q);
    if (total == 0) return SN_OK;
    const int most = total < SN_SCOUTED_FRAMES ? total : SN_SCOUTED_FRAMES;
    sn_status status =
        sn_scouts_open(&lanes, s->options->rows, most, s->options->seeds + 1, allocator);
    for (int f = 0; status == SN_OK && f < s->nframe && !sn_cancelled(s->options->cancel); f++) {
        if (wanted(s, f)) add_scouts(s, &lanes, f, f, s->q + (size_t)f * s->nq);
        if (lanes.count < most && f < s->nframe - 1) continue;
        status = run_scouts(s, &lanes);
        s->lanes = &lanes;
        if (status == SN_OK && find_hopeful(s, &lanes)) status = visit_all(s, allocator, f + 1);
        s->lanes = NULL;
        atomic_store(&s->at, f + 1);
        lanes.count = 0;
    }
    sn_scouts_close(&lanes, allocator);
    return status;
}

// Frames that were followed in such a joint, each from its pose with the whole turns taken back.
static sn_status take_turns_back(search *s, const sn_allocator *allocator) {
    const sn_model *m = s->model;
    for (int f = 0; f < s->nframe && !sn_cancelled(s->options->cancel); f++) {
        double *q = s->q + (size_t)f * s->nq;
        sn_report report;
        if (is_sane(s, q)) continue;
        SN_TRY(open_workers(s, allocator));
        const worker *w = &s->workers[0];
        memcpy(w->best, q, s->nq * sizeof *q);
        for (int k = 0; k < m->njoint; k++)
            for (int i = 0; i < m->joint[k].nv; i++)
                w->best[m->joint[k].q0 + i] -=
                    0x1.921fb54442d18p+2 * turns_beyond(s, &m->joint[k], i, q);
        SN_TRY(s->goals(s->user, f, w->problem));
        if (sn_solver_solve(w->solver, w->best, &report) != SN_OK || !is_sane(s, w->best)) continue;
        memcpy(q, w->best, s->nq * sizeof *q);
        s->changed[f] = true;
    }
    return SN_OK;
}

sn_status sn_track_valleys(const sn_problem *problem, const sn_valley_options *options, int nframe,
                           sn_track_goals goals, void *user, const sn_allocator *allocator,
                           double *q, bool *changed) {
    search s = begin(problem, options, goals, user);
    size_t count = (size_t)nframe, nworker = (size_t)options->threads;
    s.nframe = nframe;
    s.nworker = options->threads;
    s.workers = sn_acquire(allocator, nworker * sizeof *s.workers);
    s.jobs = sn_acquire(allocator, nworker * sizeof *s.jobs);
    double *spare = sn_acquire(allocator, count * (s.nq + 1) * sizeof *spare);
    bool *flags = sn_acquire(allocator, 4 * count + 1);
    s.leaps = sn_acquire(allocator, (count + 1) * sizeof *s.leaps);
    bool memory =
        s.workers != NULL && s.jobs != NULL && spare != NULL && flags != NULL && s.leaps != NULL;
    sn_status status = memory ? SN_OK : SN_ERR_MEMORY;
    if (s.workers != NULL)
        for (size_t i = 0; i < nworker; i++) s.workers[i] = (worker){0};
    if (status == SN_OK) {
        memset(flags, 0, 4 * count + 1);
        s.q = q, s.next = spare;
        s.hot = flags, s.now_hot = flags + count, s.changed = flags + 2 * count;
        s.hopeful = flags + 3 * count;
        bool more = true;
        status = take_turns_back(&s, allocator);
        for (int pass = 0; status == SN_OK && more && pass < MOST_PASSES; pass++) {
            s.looking = pass == 0;
            // where nothing leaps there is nothing to share
            if (!find_leaps(&s) && pass > 0) break;
            atomic_store(&s.at, 0);
            status = s.looking && options->rows != NULL ? visit_scouted(&s, allocator)
                                                        : visit_all(&s, allocator, nframe);
            if (sn_cancelled(options->cancel)) break;
            double *q_was = s.q;
            s.q = s.next, s.next = q_was;
            bool *hot_was = s.hot;
            s.hot = s.now_hot, s.now_hot = hot_was;
            more = false;
            // after a look any frame may have something for its neighbours
            for (int f = 0; f < nframe; f++) {
                if (pass == 0) s.hot[f] = true;
                more = more || s.hot[f];
            }
        }
        if (s.q != q) memcpy(q, s.q, count * s.nq * sizeof *q);
        if (changed != NULL) memcpy(changed, s.changed, count);
    }
    for (size_t i = 0; s.workers != NULL && i < nworker; i++)
        close_worker(allocator, &s.workers[i]);
    sn_release(allocator, s.leaps);
    sn_release(allocator, flags);
    sn_release(allocator, spare);
    sn_release(allocator, s.jobs);
    sn_release(allocator, s.workers);
    return status;
}

// --- a first pose ----------------------------------------------------------------------------------------

// Lock everything but the joints that place the figure, or let go what was free.
static void lock_limbs(const search *s, worker *w, bool locked) {
    const sn_model *m = s->model;
    for (int k = s->limbs.root_end; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        for (int i = 0; i < j->nv; i++)
            (void)sn_problem_set_locked(w->problem, j->id, i,
                                        locked || s->problem->locked[j->v0 + i]);
    }
}

// These brought to the goals as a rigid body: the best of them.
static sn_status place_plain(const search *s, worker *w, const sn_allocator *allocator, double *q) {
    const int count = sn_start_places(&s->limbs, s->model, s->options, NULL);
    double least = INFINITY;
    double *starts = sn_acquire(allocator, (size_t)count * s->nq * sizeof *starts);
    if (starts == NULL) return SN_ERR_MEMORY;
    (void)sn_start_places(&s->limbs, s->model, s->options, starts);
    lock_limbs(s, w, true);
    for (int n = 0; n < count; n++) {
        sn_report report;
        double *at = starts + (size_t)n * s->nq;
        if (sn_solver_solve(w->scout, at, &report) != SN_OK) continue;
        if (!(report.f < least * (1 - s->options->lower_by))) continue;
        least = report.f;
        memcpy(q, at, s->nq * sizeof *q);
    }
    lock_limbs(s, w, false);
    sn_release(allocator, starts);
    return SN_OK;
}

static sn_status place_in_lanes(const search *s, int frame, const sn_allocator *allocator,
                                double *q) {
    const sn_joint *last = &s->model->joint[s->limbs.root_end - 1];
    double least = INFINITY;
    sn_scouts c;
    sn_status status = sn_scouts_open(
        &c, s->options->rows, 1, sn_start_places(&s->limbs, s->model, s->options, NULL), allocator);
    if (status == SN_OK) {
        (void)sn_start_places(&s->limbs, s->model, s->options, c.q);
        sn_scouts_add(&c, frame);
        // a first guess, from which all else begins
        status = sn_scouts_run(&c, 1e-2, SCOUT_ITERATIONS, last->slot + last->nv);
    }
    for (int n = 0; status == SN_OK && n < c.starts; n++) {
        if (!(c.reports[n].f < least * (1 - s->options->lower_by))) continue;
        least = c.reports[n].f;
        memcpy(q, sn_scouts_pose(&c, 0, n), s->nq * sizeof *q);
    }
    sn_scouts_close(&c, allocator);
    return status;
}

// From w->best to the bottom, then other starts of its limbs.
static sn_status first_plain(search *s, worker *w, double *q) {
    sn_report report;
    SN_TRY(sn_solver_solve(w->solver, w->best, &report));
    if (measure(s, w, w->best, w->cost, &w->f)) (void)look(s, w, 0);
    memcpy(q, w->best, s->nq * sizeof *q);
    return SN_OK;
}

// All starts side by side, the placed figure's own among them. That one is kept where it can be: others may be the same
// pose in other angles. Only where one is clearly better, in a limb or in all, the plain solver puts them together.
static sn_status first_in_lanes(search *s, int frame, const sn_allocator *allocator, double *q) {
    sn_scouts c;
    worker w = {0};
    bool hopeful = false;
    SN_TRY(place_in_lanes(s, frame, allocator, q));
    sn_status status = sn_scouts_open(&c, s->options->rows, 1, FIRST_SEEDS, allocator);
    if (status == SN_OK) {
        add_scouts(s, &c, frame, 0, q);
        status = run_scouts(s, &c);
    }
    if (status == SN_OK) {
        const double f = c.reports[0].f, clearly = 0.1 * f;
        memcpy(q, c.q, s->nq * sizeof *q);
        for (int n = 1; n < c.starts && !hopeful; n++)
            hopeful = c.reports[n].f < f - clearly ||
                      sn_scouts_better(&c, 0, n, &s->limbs, q, clearly, spare_workspace(s));
    }
    if (hopeful) {
        s->scoutless = true;
        status = open_worker(s, allocator, &w);
        if (status == SN_OK) status = s->goals(s->user, frame, w.problem);
        s->lanes = &c;
        if (status == SN_OK) {
            memcpy(w.best, q, s->nq * sizeof *q);
            status = first_plain(s, &w, q);
        }
        s->lanes = NULL;
        close_worker(allocator, &w);
    }
    sn_scouts_close(&c, allocator);
    return status;
}

sn_status sn_valley_first(const sn_problem *problem, const sn_valley_options *options,
                          sn_track_goals goals, void *user, int frame,
                          const sn_allocator *allocator, double *q) {
    search s = begin(problem, options, goals, user);
    worker w = {0};
    sn_valley_options all = *options;
    all.seeds = FIRST_SEEDS;
    s.options = &all;
    memcpy(q, options->home, s.nq * sizeof *q);
    if (options->rows != NULL) return first_in_lanes(&s, frame, allocator, q);
    sn_status status = open_worker(&s, allocator, &w);
    if (status == SN_OK) status = goals(user, frame, w.problem);
    if (status == SN_OK) {
        memcpy(w.best, q, s.nq * sizeof *q);
        status = place_plain(&s, &w, allocator, w.best);
    }
    if (status == SN_OK) status = first_plain(&s, &w, q);
    close_worker(allocator, &w);
    return status;
}
