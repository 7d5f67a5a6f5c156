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
#include "model/model.h"
#include "solvers/solver.h"
#include "sweeps/workspace.h"

enum { MOST_LIMBS = 63, MOST_PASSES = 24, NEIGHBOURS = 6, SCOUT_ITERATIONS = 12, FIRST_SEEDS = 8 };

static const int neighbour[NEIGHBOURS] = {-1, 1, -3, 3, -8, 8};

// A limb that turns by more from one frame to the next has leapt, radians.
static const double leap = 0.2;

// A chain at an end of the figure: joints in sweep order.
typedef struct limb {
    int first, end;
} limb;

typedef struct worker {
    sn_problem *problem;
    sn_solver *solver, *scout;
    double *best, *trial, *mixed;  // nq
    double cost[MOST_LIMBS], f;    // of `best`
    double other[MOST_LIMBS];      // of `trial`
} worker;

typedef struct search {
    const sn_model *model;
    const sn_valley_options *options;
    const sn_problem *problem;
    sn_track_goals goals;
    void *user;
    int nframe, nlimb, root_end;
    size_t nq;
    limb limb[MOST_LIMBS];
    double *q, *next;     // nframe x nq: of the pass before, and of this one
    bool *hot, *changed;  // per frame: changed in the pass before; at all
    bool *now_hot;        // in this one
    uint64_t
        *leaps;     // per frame: limbs that leapt since the one before, a bit each; then the root's
    bool looking;   // else sharing
    atomic_int at;  // frame
    atomic_int failed;
} search;

// --- limbs -----------------------------------------------------------------------------------------------

static int subtree_end(const sn_model *m, int k) {
    int n = k + 1;
    while (n < m->njoint && m->joint[n].parent >= k) n++;
    return n;
}

static int own_tasks(const sn_problem *p, int k) {
    return p->point_first[k + 1] - p->point_first[k] + p->part_first[k + 1] - p->part_first[k];
}

static int tasks_below(const sn_problem *p, int k) {
    int n = 0, end = subtree_end(p->model, k);
    for (int i = k; i < end; i++) n += own_tasks(p, i);
    return n;
}

static int branches(const sn_problem *p, int k) {
    const sn_model *m = p->model;
    int n = 0, end = subtree_end(m, k);
    for (int i = k + 1; i < end; i++) n += m->joint[i].parent == k && tasks_below(p, i) > 0;
    return n;
}

static bool is_chain(const sn_problem *p, int k) {
    int end = subtree_end(p->model, k);
    for (int i = k; i < end; i++)
        if (tasks_below(p, i) > 0 && branches(p, i) > 1) return false;
    return true;
}

// The joints before the first that carries a task or branches place the figure; chains behind are limbs.
static void find_limbs(search *s, const sn_problem *p) {
    const sn_model *m = p->model;
    s->root_end = 0;
    while (s->root_end < m->njoint - 1 && own_tasks(p, s->root_end) == 0 &&
           branches(p, s->root_end) == 1)
        s->root_end++;
    s->root_end++;
    for (int k = s->root_end; k < m->njoint && s->nlimb < MOST_LIMBS;) {
        if (tasks_below(p, k) > 0 && is_chain(p, k)) {
            s->limb[s->nlimb++] = (limb){k, subtree_end(m, k)};
            k = subtree_end(m, k);
        } else {
            k++;
        }
    }
}

// A coordinate that other starts change: a plain number that may move and does something for a task.
static bool is_open(const sn_problem *p, int k, int i) {
    const sn_model *m = p->model;
    const sn_joint *j = &m->joint[k];
    int v = j->v0 + i;
    bool follows = m->ncoupling > 0 && m->follows[v];
    return j->ops->quaternion < 0 && m->gain[v] != 0 && !follows && m->lower[v] < m->upper[v];
}

static double apart(const sn_joint *j, int i, double a, double b) {
    return sn_joint_goes_round(j, i) ? remainder(a - b, 0x1.921fb54442d18p+2) : a - b;
}

// How far a stretch of joints is turned between two poses: the largest angle, lengths as radians a metre.
static double turned(const search *s, const limb *l, const double *a, const double *b) {
    const sn_model *m = s->model;
    double most = 0;
    for (int k = l->first; k < l->end; k++) {
        const sn_joint *j = &m->joint[k];
        for (int i = 0; i < j->nq; i++) {
            double d = j->ops->quaternion >= 0 ? a[j->q0 + i] - b[j->q0 + i]
                                               : apart(j, i, a[j->q0 + i], b[j->q0 + i]);
            most = fmax(most, fabs(d));
        }
    }
    return most;
}

static void copy_limb(const search *s, const limb *l, const double *from, double *to) {
    for (int k = l->first; k < l->end; k++) {
        const sn_joint *j = &s->model->joint[k];
        memcpy(to + j->q0, from + j->q0, (size_t)j->nq * sizeof *to);
    }
}

// f, and the share of each limb: its tasks and what its coordinates are pulled to.
static bool measure(const search *s, worker *w, const double *q, double *cost, double *f) {
    sn_workspace *ws = sn_solver_workspace(w->solver);
    const sn_problem *p = w->problem;
    sn_field unused;
    if (sn_workspace_eval(ws, q, 0, f) != SN_OK) return false;
    for (int l = 0; l < s->nlimb; l++) {
        cost[l] = 0;
        for (int k = s->limb[l].first; k < s->limb[l].end; k++) {
            const sn_joint *j = &p->model->joint[k];
            if (own_tasks(p, k) > 0) cost[l] += sn_field_of_body(ws, k, false, &unused);
            for (int r = 0; r < p->nrest; r++) {
                if (!p->rest[r].active || j->ops->quaternion >= 0) continue;
                for (int i = 0; i < j->nv; i++) {
                    double d = apart(j, i, q[j->q0 + i], p->rest[r].q[j->q0 + i]);
                    cost[l] += 0.5 * p->rest[r].weight * p->rest[r].q_weight[j->v0 + i] * d * d;
                }
            }
        }
    }
    return true;
}

// --- one more start --------------------------------------------------------------------------------------

// A coordinate that left its own range by a whole turn, and is no angle about an axis, is another joint than
// the file means: functions go on straight beyond their ends.
static bool is_sane(const search *s, const double *q) {
    const sn_model *m = s->model;
    for (int k = 0; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        if (j->type != SN_JOINT_FUNCTION) continue;
        for (int i = 0; i < j->nv; i++) {
            double x = q[j->q0 + i];
            if (x < s->options->lower[j->v0 + i] - 0x1.921fb54442d18p+1 ||
                x > s->options->upper[j->v0 + i] + 0x1.921fb54442d18p+1)
                return false;
        }
    }
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

// A short run from w->trial, then the best of both, limb by limb.
static bool attempt(const search *s, worker *w) {
    sn_report report;
    double f;
    if (sn_solver_solve(w->scout, w->trial, &report) != SN_OK) return false;
    if (!measure(s, w, w->trial, w->other, &f) || !is_sane(s, w->trial)) return false;
    bool better = false;
    if (f < w->f * (1 - s->options->lower_by)) {
        memcpy(w->mixed, w->trial, s->nq * sizeof *w->mixed);
        better = settle(s, w);
    }
    bool mixes = false;
    memcpy(w->mixed, w->best, s->nq * sizeof *w->mixed);
    for (int l = 0; l < s->nlimb; l++) {
        if (!(w->other[l] < w->cost[l] - s->options->lower_by * w->f)) continue;
        if (turned(s, &s->limb[l], w->trial, w->best) < 0.1) continue;
        copy_limb(s, &s->limb[l], w->trial, w->mixed);
        mixes = true;
    }
    if (mixes && settle(s, w)) better = true;
    return better;
}

// --- other starts ----------------------------------------------------------------------------------------

static double halton(int n, int base) {
    double x = 0, share = 1;
    for (; n > 0; n /= base) {
        share /= base;
        x += share * (n % base);
    }
    return x;
}

// Where in a coordinate's range the n-th start has it: 0 to 1.
static double where(int n, int i, bool last) {
    static const int primes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29};
    if (n < 3) return last ? (2 * n + 1) / 6.0 : 0.5;
    return 0.05 + 0.9 * halton(n - 2, primes[i % 10]);
}

// All limbs of w->trial at the n-th start.
static void seed(const search *s, worker *w, int n) {
    const sn_model *m = s->model;
    static const double pi = 0x1.921fb54442d18p+1;
    for (int l = 0; l < s->nlimb; l++) {
        const limb *b = &s->limb[l];
        int count = 0, last = -1;
        for (int pass = 0; pass < 2; pass++) {
            int c = 0;
            for (int k = b->first; k < b->end; k++) {
                const sn_joint *j = &m->joint[k];
                if (tasks_below(w->problem, k) == 0) continue;
                for (int i = 0; i < j->nv; i++) {
                    if (!is_open(w->problem, k, i)) continue;
                    c++;
                    if (pass == 0) last = c;
                    if (pass == 0) continue;
                    int v = j->v0 + i, at = j->q0 + i;
                    double home = s->options->home[at];
                    double lower = fmax(s->options->lower[v], m->lower[v]),
                           upper = fmin(s->options->upper[v], m->upper[v]);
                    if (!(upper - lower < 2 * pi)) lower = home - pi, upper = home + pi;
                    if (j->ops->lengths[i]) lower = upper = home;
                    // each limb its own points of the sequence
                    w->trial[at] = lower + (upper - lower) * where(n, c + 3 * l, c == last);
                }
            }
            count = c;
        }
        (void)count;
    }
}

static bool look(const search *s, worker *w, int frame) {
    bool better = false;
    for (int n = 0; n < s->options->seeds; n++) {
        memcpy(w->trial, w->best, s->nq * sizeof *w->trial);
        int round = frame / s->options->every;
        seed(s, w, n < 3 && s->options->seeds > 3 ? n : n + round * (s->options->seeds - 3));
        better = attempt(s, w) || better;
    }
    return better;
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
        memcpy(w->trial, bits >> MOST_LIMBS ? q : w->best, s->nq * sizeof *w->trial);
        for (int l = 0; l < s->nlimb; l++)
            if (bits >> l & 1) copy_limb(s, &s->limb[l], q, w->trial);
        better = attempt(s, w) || better;
    }
    return better;
}

// --- passes ----------------------------------------------------------------------------------------------

static void find_leaps(search *s) {
    const limb root = {0, s->root_end};
    s->leaps[0] = 0;
    for (int f = 1; f < s->nframe; f++) {
        const double *a = s->q + (size_t)(f - 1) * s->nq, *b = a + s->nq;
        s->leaps[f] = turned(s, &root, a, b) > 2 * leap ? UINT64_C(1) << MOST_LIMBS : 0;
        for (int l = 0; l < s->nlimb; l++)
            if (turned(s, &s->limb[l], a, b) > leap) s->leaps[f] |= UINT64_C(1) << l;
    }
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
    if (!wanted(s, frame)) return SN_OK;
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
        if (frame >= s->nframe || atomic_load(&s->failed) != SN_OK) return;
        if (sn_cancelled(s->options->cancel)) return;
        sn_status status = visit(s, j->worker, frame);
        if (status != SN_OK) atomic_store(&s->failed, (int)status);
    }
}

static sn_status open_worker(const search *s, const sn_allocator *allocator, worker *w) {
    sn_solver_options scout = s->options->solver;
    scout.max_iterations = SCOUT_ITERATIONS;
    scout.gradient = fmax(scout.gradient, 1e-3);
    *w = (worker){0};
    w->best = sn_acquire(allocator, 3 * (s->nq + 1) * sizeof *w->best);
    if (w->best == NULL) return SN_ERR_MEMORY;
    w->trial = w->best + s->nq;
    w->mixed = w->trial + s->nq;
    SN_TRY(sn_problem_copy(s->problem, NULL, 0, allocator, &w->problem, NULL));
    SN_TRY(sn_solver_create(w->problem, &s->options->solver, allocator, &w->solver, NULL));
    return sn_solver_create(w->problem, &scout, allocator, &w->scout, NULL);
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
    find_limbs(&s, problem);
    return s;
}

sn_status sn_track_valleys(const sn_problem *problem, const sn_valley_options *options, int nframe,
                           sn_track_goals goals, void *user, const sn_allocator *allocator,
                           double *q, bool *changed) {
    search s = begin(problem, options, goals, user);
    int nworker = options->threads;
    size_t count = (size_t)nframe;
    s.nframe = nframe;
    worker *w = sn_acquire(allocator, (size_t)nworker * sizeof *w);
    job *jobs = sn_acquire(allocator, (size_t)nworker * sizeof *jobs);
    double *spare = sn_acquire(allocator, count * (s.nq + 1) * sizeof *spare);
    bool *flags = sn_acquire(allocator, 3 * count);
    s.leaps = sn_acquire(allocator, (count + 1) * sizeof *s.leaps);
    bool memory = w != NULL && jobs != NULL && spare != NULL && flags != NULL && s.leaps != NULL;
    sn_status status = memory ? SN_OK : SN_ERR_MEMORY;
    for (int i = 0; w != NULL && i < nworker; i++) w[i] = (worker){0};
    for (int i = 0; status == SN_OK && i < nworker; i++) {
        status = open_worker(&s, allocator, &w[i]);
        jobs[i] = (job){&s, &w[i]};
    }
    if (status == SN_OK) {
        memset(flags, 0, 3 * count);
        s.q = q, s.next = spare;
        s.hot = flags, s.now_hot = flags + count, s.changed = flags + 2 * count;
        bool more = true;
        for (int pass = 0; status == SN_OK && more && pass < MOST_PASSES; pass++) {
            s.looking = pass == 0;
            find_leaps(&s);
            atomic_store(&s.at, 0);
            sn_threads_run(&options->pool, run_job, jobs, sizeof *jobs, nworker);
            status = (sn_status)atomic_load(&s.failed);
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
    for (int i = 0; w != NULL && i < nworker; i++) close_worker(allocator, &w[i]);
    sn_release(allocator, s.leaps);
    sn_release(allocator, flags);
    sn_release(allocator, spare);
    sn_release(allocator, jobs);
    sn_release(allocator, w);
    return status;
}

// --- a first pose ----------------------------------------------------------------------------------------

// Lock everything but the joints that place the figure, or let go what was free.
static void lock_limbs(const search *s, worker *w, bool locked) {
    const sn_model *m = s->model;
    for (int k = s->root_end; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        for (int i = 0; i < j->nv; i++)
            (void)sn_problem_set_locked(w->problem, j->id, i,
                                        locked || s->problem->locked[j->v0 + i]);
    }
}

// The figure as it is at home, brought to the goals as a rigid body, from a number of sides.
static sn_status place_figure(const search *s, worker *w) {
    const sn_model *m = s->model;
    double least = INFINITY;
    sn_report report;
    lock_limbs(s, w, true);
    for (int k = 0; k < s->root_end; k++) {
        const sn_joint *j = &m->joint[k];
        for (int i = 0; i < j->nv; i++) {
            bool angle = !j->ops->lengths[i] && j->ops->quaternion < 0;
            // the unturned figure once
            for (int n = k + i == 0 ? 0 : 1; n < 4 && (angle || n == 0); n++) {
                memcpy(w->trial, s->options->home, s->nq * sizeof *w->trial);
                if (angle) w->trial[j->q0 + i] += n * 0x1.921fb54442d18p+0;
                if (sn_solver_solve(w->scout, w->trial, &report) != SN_OK) continue;
                if (!(report.f < least * (1 - s->options->lower_by))) continue;
                least = report.f;
                memcpy(w->best, w->trial, s->nq * sizeof *w->best);
            }
        }
    }
    lock_limbs(s, w, false);
    return least < INFINITY ? SN_OK : SN_ERR_VALUE;
}

sn_status sn_valley_first(const sn_problem *problem, const sn_valley_options *options,
                          sn_track_goals goals, void *user, int frame,
                          const sn_allocator *allocator, double *q) {
    search s = begin(problem, options, goals, user);
    worker w = {0};
    sn_valley_options all = *options;
    all.seeds = FIRST_SEEDS;
    s.options = &all;
    sn_status status = open_worker(&s, allocator, &w);
    if (status == SN_OK) status = goals(user, frame, w.problem);
    if (status == SN_OK) {
        sn_report report;
        memcpy(w.best, options->home, s.nq * sizeof *w.best);
        (void)place_figure(&s, &w);
        status = sn_solver_solve(w.solver, w.best, &report);
        if (status == SN_OK && measure(&s, &w, w.best, w.cost, &w.f)) (void)look(&s, &w, 0);
        memcpy(q, w.best, s.nq * sizeof *q);
    }
    close_worker(allocator, &w);
    return status;
}
