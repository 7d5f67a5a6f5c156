// SPDX-License-Identifier: MIT
// One frame after the other, and chunks of frames beside each other.
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "model/model.h"
#include "sinew/track.h"
#include "solvers/solver.h"
#include "sweeps/workspace.h"
#include "tasks/loss.h"

enum { VERSION = 2 };

// What one thread works with.
typedef struct worker {
    sn_problem *problem;  // the tasks, and the rest task behind them
    sn_solver *solver;
    sn_solver *careful;         // for other tries: another iteration limit
    sn_workspace *ws;           // to look at f
    double *previous, *before;  // nq: the last two poses
    double *q, *trial, *best;   // nq
    double *delta;              // nv
    double *left;               // nq: the pose before the last frame that another try found
    double *weight;             // nv: of the rest task
    double usual;               // f of the frames that went well, smoothed; NaN before the first
} worker;

struct sn_tracker {
    sn_allocator allocator;
    void *owner;
    const sn_model *model;
    sn_track_options options;
    int rest;  // index of the rest task
    int nworker;
    worker *workers;
    double *start;  // nq

    // of the present run
    int nframe;
    sn_track_goals goals;
    void *user;
    double *q;
    sn_track_frame *frames;
    int solved;  // frames solved in order; where that is inside a chunk, worker 0 holds its state
    int end;     // frames of the present advance end here
    atomic_int next_chunk, done;
    atomic_int open;    // the worker whose chunk goes on in the next advance, -1 for none
    atomic_int failed;  // sn_status of the first failure
};

sn_track_options sn_track_options_default(void) {
    return (sn_track_options){.version = VERSION,
                              .solver = sn_solver_options_default(),
                              .extrapolate = true,
                              .rest = 3e-5,
                              .restarts = 4,
                              .worse = 10,
                              .good = -1,
                              .restart_iterations = 40,
                              .threads = 1,
                              .chunk = 1024};
}

// NULL, or the option that is out of range.
static const char *bad_option(const sn_track_options *o) {
    if (o->version != VERSION) return "version";
    if (!(o->rest >= 0 && o->rest <= 1)) return "rest";
    if (o->restarts < 0 || o->restarts > 4) return "restarts";
    if (!(o->worse >= 1)) return "worse";
    if (o->restart_iterations < 0) return "restart_iterations";
    if (o->threads < 1 || o->threads > SN_MAX_THREADS) return "threads";
    if (o->chunk < 1) return "chunk";
    return NULL;
}

static void layout_tracker(sn_tracker *t, sn_layout *layout) {
    size_t nq = (size_t)t->model->nq, nv = (size_t)t->model->nv;
    t->workers = sn_layout_take(layout, (size_t)t->nworker, sizeof *t->workers);
    t->start = sn_layout_take(layout, nq, sizeof *t->start);
    for (int i = 0; i < t->nworker; i++) {
        worker spare, *w = t->workers != NULL ? &t->workers[i] : &spare;
        w->previous = sn_layout_take(layout, nq, sizeof(double));
        w->before = sn_layout_take(layout, nq, sizeof(double));
        w->q = sn_layout_take(layout, nq, sizeof(double));
        w->trial = sn_layout_take(layout, nq, sizeof(double));
        w->best = sn_layout_take(layout, nq, sizeof(double));
        w->left = sn_layout_take(layout, nq, sizeof(double));
        w->delta = sn_layout_take(layout, nv, sizeof(double));
        w->weight = sn_layout_take(layout, nv, sizeof(double));
    }
}

static sn_status create_worker(sn_tracker *t, const sn_problem *problem, worker *w,
                               sn_error *error) {
    const sn_allocator *allocator = &t->allocator;
    sn_task rest = sn_task_default(SN_TASK_REST);
    sn_model_zero(t->model, w->q);
    for (int v = 0; v < t->model->nv; v++) w->weight[v] = 1;
    rest.q = w->q;
    rest.q_weight = w->weight;
    rest.weight = t->options.rest;
    SN_TRY(sn_problem_copy(problem, &rest, 1, allocator, &w->problem, error));
    sn_solver_options careful = t->options.solver;
    careful.max_iterations = t->options.restart_iterations;
    SN_TRY(sn_solver_create(w->problem, &t->options.solver, allocator, &w->solver, error));
    SN_TRY(sn_solver_create(w->problem, &careful, allocator, &w->careful, error));
    return sn_workspace_create(w->problem, false, allocator, &w->ws, error);
}

sn_status sn_tracker_create(const sn_problem *problem, const sn_track_options *options,
                            const sn_allocator *allocator, sn_tracker **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    SN_NEED(problem, error);
    SN_NEED(out, error);
    sn_tracker t = {.allocator = sn_allocator_of(allocator),
                    .model = sn_problem_model(problem),
                    .options = options != NULL ? *options : sn_track_options_default(),
                    .rest = sn_problem_ntask(problem)};
    SN_TRY(sn_fail_option(error, bad_option(&t.options)));
    t.nworker = t.options.threads;
    sn_layout layout = {0};
    sn_tracker *tracker = sn_layout_take(&layout, 1, sizeof *tracker);
    layout_tracker(&t, &layout);
    void *block = sn_layout_acquire(&layout, allocator, &t.owner);
    if (block == NULL) return sn_fail_memory(error);
    layout = (sn_layout){.block = block};
    tracker = sn_layout_take(&layout, 1, sizeof *tracker);
    layout_tracker(&t, &layout);
    memcpy(tracker, &t, sizeof t);
    sn_status status = SN_OK;
    for (int i = 0; i < t.nworker && status == SN_OK; i++)
        status = create_worker(tracker, problem, &tracker->workers[i], error);
    if (status != SN_OK) {
        sn_tracker_destroy(tracker);
        return status;
    }
    *out = tracker;
    return SN_OK;
}

void sn_tracker_destroy(sn_tracker *tracker) {
    if (tracker == NULL) return;
    for (int i = 0; i < tracker->nworker; i++) {
        worker *w = &tracker->workers[i];
        sn_workspace_destroy(w->ws);
        sn_solver_destroy(w->careful);
        sn_solver_destroy(w->solver);
        sn_problem_destroy(w->problem);
    }
    sn_allocator allocator = tracker->allocator;
    sn_release(&allocator, tracker->owner);
}

static void copy(const sn_tracker *t, double *to, const double *from) {
    memcpy(to, from, (size_t)t->model->nq * sizeof *to);
}

static double value_at(worker *w, const double *q) {
    double f;
    return sn_workspace_eval(w->ws, q, 0, &f) == SN_OK ? f : INFINITY;
}

// The previous pose, or 2 previous - before where that has a lower f. Into w->q.
static bool first_guess(const sn_tracker *t, worker *w, bool moving) {
    copy(t, w->q, w->previous);
    if (!t->options.extrapolate || !moving) return false;
    sn_model_difference(t->model, w->before, w->previous, w->delta);
    sn_model_integrate(t->model, w->previous, w->delta, w->trial);
    (void)sn_model_clamp(w->problem->model, w->trial);
    if (!(value_at(w, w->trial) < value_at(w, w->previous))) return false;
    copy(t, w->q, w->trial);
    return true;
}

// The n-th other pose to start from: the valley that was left last, the present result, the zero
// pose, the start. What is not near the goals is brought there by the solver.
static void other_guess(const sn_tracker *t, const worker *w, int n, double *q) {
    const sn_joint *root = &t->model->joint[0];
    if (n == 0) {
        copy(t, q, w->left);
        memcpy(q + root->q0, w->best + root->q0, (size_t)root->nq * sizeof *q);
    } else if (n == 1) {
        copy(t, q, w->best);
    } else if (n == 2) {
        sn_model_zero(t->model, q);
        (void)sn_model_clamp(w->problem->model, q);
    } else {
        copy(t, q, t->start);
    }
}

static void add_counts(sn_report *to, const sn_report *from) {
    to->iterations += from->iterations;
    to->functions += from->functions;
    to->gradients += from->gradients;
    to->hessians += from->hessians;
    to->poses += from->poses;
    to->factorizations += from->factorizations;
}

// f at or below which there is nothing to try again: by default the goal, or errors of a ten-thousandth
// of the figure, which no other valley explains.
static double good_f(const sn_tracker *t, const worker *w) {
    return t->options.good >= 0 ? t->options.good : fmax(w->solver->goal, 1e-8 * w->solver->whole);
}

// Is f far worse than usual, or nothing known of what is usual?
static bool far_worse(const sn_tracker *t, const worker *w, double f) {
    if (f <= good_f(t, w)) return false;
    return !(w->usual >= 0) || f > t->options.worse * w->usual;
}

// One more try from w->trial; the better pose stays in w->best. True when it is much better.
static bool try_once(const sn_tracker *t, worker *w, bool cold, int n, sn_track_frame *out) {
    sn_report report, counts = out->report;
    sn_status status = cold ? sn_solver_solve_cold(w->careful, w->trial, &report)
                            : sn_solver_solve(w->solver, w->trial, &report);
    if (status != SN_OK) return false;
    bool better = report.f < 0.9 * out->report.f;
    add_counts(&counts, &report);
    if (better) {
        out->report = report;
        out->kept = n;
        copy(t, w->best, w->trial);
    }
    out->report.iterations = counts.iterations;
    out->report.functions = counts.functions;
    out->report.gradients = counts.gradients;
    out->report.hessians = counts.hessians;
    out->report.poses = counts.poses;
    out->report.factorizations = counts.factorizations;
    return better;
}

static bool cut_short(const sn_tracker *t, const worker *w, const sn_track_frame *out) {
    return out->report.stop == SN_STOP_ITERATIONS && out->report.f > good_f(t, w);
}

// Go on from the best pose while it ran out of iterations and gets much better.
static void go_on(const sn_tracker *t, worker *w, sn_track_frame *out) {
    bool better = true;
    for (int i = 0; i < 8 && better && cut_short(t, w, out); i++) {
        copy(t, w->trial, w->best);
        better = try_once(t, w, false, out->kept, out);
    }
}

static void try_again(const sn_tracker *t, worker *w, sn_track_frame *out) {
    out->restarted = true;
    go_on(t, w, out);
    for (int n = 0; n < t->options.restarts && far_worse(t, w, out->report.f); n++) {
        other_guess(t, w, n, w->trial);
        if (try_once(t, w, true, n + 1, out)) {
            go_on(t, w, out);
        } else if (!(w->usual >= 0)) {
            // a first frame has nothing to be compared with: a search of the valleys that finds none
            // lower settles it
            break;
        }
    }
    // nothing helps: so it may be for a while, and each of these tries is long
    if (far_worse(t, w, out->report.f) && w->usual >= 0) w->usual *= 2;
}

// The weights of the rest task, from the Gauss-Newton diagonal at this pose: the same share of
// each.
static void weigh_rest(const sn_tracker *t, worker *w) {
    double f;
    (void)sn_problem_set_enabled(w->problem, t->rest, false);
    if (sn_workspace_eval(w->ws, w->q, SN_EVAL_GAUSS_NEWTON, &f) == SN_OK) {
        sn_workspace_fields_diagonal(w->ws, w->weight);
        double top = 0;
        for (int i = 0; i < t->model->nv; i++) top = fmax(top, w->weight[i]);
        for (int i = 0; i < t->model->nv; i++)
            w->delta[t->model->v_of[i]] = fmax(w->weight[i], 1e-3 * top);
        (void)sn_problem_set_rest_weights(w->problem, t->rest, w->delta);
    }
    (void)sn_problem_set_enabled(w->problem, t->rest, t->options.rest > 0);
}

// One frame: w->previous and w->before are the last poses; the result goes into both and out.
static sn_status solve_frame(sn_tracker *t, worker *w, int frame, bool first, bool moving,
                             double *q_out, sn_track_frame *out) {
    *out = (sn_track_frame){0};
    SN_TRY(t->goals(t->user, frame, w->problem));
    if (first) {
        copy(t, w->q, w->previous);
        weigh_rest(t, w);
    }
    SN_TRY(sn_problem_set_rest(w->problem, t->rest, w->previous));
    // the pose before a first frame is far away or arbitrary: nothing to hold on to
    SN_TRY(sn_problem_set_enabled(w->problem, t->rest, !first && t->options.rest > 0));
    out->extrapolated = first_guess(t, w, moving);
    SN_TRY(sn_solver_solve(w->solver, w->q, &out->report));
    copy(t, w->best, w->q);
    if (t->options.restarts > 0 && (cut_short(t, w, out) || far_worse(t, w, out->report.f)))
        try_again(t, w, out);
    if (!(w->usual >= 0)) w->usual = out->report.f;
    if (!far_worse(t, w, out->report.f)) w->usual += 0.1 * (out->report.f - w->usual);
    if (out->kept > 0) copy(t, w->left, w->previous);
    copy(t, w->before, w->previous);
    copy(t, w->previous, w->best);
    copy(t, q_out, w->best);
    return SN_OK;
}

static double *pose_of(const sn_tracker *t, int frame) {
    return t->q + (size_t)frame * (size_t)t->model->nq;
}

// A chunk knows nothing of the others but its first pose, which is solved: weights and the usual f
// are found again there.
static sn_status enter_chunk(sn_tracker *t, worker *w, int first) {
    copy(t, w->previous, pose_of(t, first));
    copy(t, w->before, w->previous);
    copy(t, w->left, t->start);
    SN_TRY(t->goals(t->user, first, w->problem));
    copy(t, w->q, w->previous);
    weigh_rest(t, w);
    SN_TRY(sn_problem_set_rest(w->problem, t->rest, w->previous));
    w->usual = value_at(w, w->previous);
    return SN_OK;
}

// Frames of a chunk from `from` on, as far as this advance goes.
static sn_status solve_chunk(sn_tracker *t, worker *w, int from) {
    int first = from - from % t->options.chunk;
    // as a difference: the last chunk may end beyond what an int holds
    int end = t->options.chunk < t->end - first ? first + t->options.chunk : t->end;
    sn_track_frame spare;
    if (from == first) SN_TRY(enter_chunk(t, w, first));
    for (int f = from > first ? from : first + 1; f < end; f++) {
        if (atomic_load(&t->failed) != SN_OK) return SN_OK;
        sn_track_frame *frame = t->frames != NULL ? &t->frames[f] : &spare;
        SN_TRY(solve_frame(t, w, f, false, f > first + 1, pose_of(t, f), frame));
        atomic_fetch_add(&t->done, 1);
        if (t->options.progress != NULL && w == &t->workers[0])
            t->options.progress(t->options.progress_user, atomic_load(&t->done), t->nframe, frame);
    }
    if (end == t->end && t->options.chunk > t->end - first)
        atomic_store(&t->open, (int)(w - t->workers));
    return SN_OK;
}

// Without the sum of both, which may be more than an int holds.
static int count_chunks(const sn_tracker *t) {
    return t->nframe / t->options.chunk + (t->nframe % t->options.chunk != 0);
}

typedef struct thread_job {
    sn_tracker *tracker;
    worker *worker;
} thread_job;

static void run_worker(void *argument) {
    thread_job *job = argument;
    sn_tracker *t = job->tracker;
    int size = t->options.chunk, nchunk = t->end / size + (t->end % size > 0);
    bool resumes = job->worker == &t->workers[0] && t->solved % size > 0;
    for (;;) {
        // the chunk that an earlier advance began goes on where its state is
        int chunk = resumes ? t->solved / size : atomic_fetch_add(&t->next_chunk, 1);
        if (chunk >= nchunk) return;
        sn_status status = solve_chunk(t, job->worker, resumes ? t->solved : chunk * size);
        resumes = false;
        int none = SN_OK;
        if (status != SN_OK) atomic_compare_exchange_strong(&t->failed, &none, (int)status);
    }
}

// The first frame of every chunk, one after the other, each from the one before.
static sn_status solve_first_frames(sn_tracker *t) {
    worker *w = &t->workers[0];
    sn_track_frame spare;
    copy(t, w->previous, t->start);
    copy(t, w->before, t->start);
    copy(t, w->left, t->start);
    w->usual = NAN;
    for (int chunk = 0, n = count_chunks(t); chunk < n; chunk++) {
        int f = chunk * t->options.chunk;
        SN_TRY(solve_frame(t, w, f, true, false, pose_of(t, f),
                           t->frames != NULL ? &t->frames[f] : &spare));
        atomic_fetch_add(&t->done, 1);
    }
    return SN_OK;
}

sn_status sn_tracker_begin(sn_tracker *tracker, int nframe, sn_track_goals goals, void *user,
                           const double *start, double *q, sn_track_frame *frames) {
    if (tracker == NULL || start == NULL || q == NULL) return SN_ERR_ARGUMENT;
    tracker->goals = NULL;
    if (nframe < 0 || goals == NULL) return SN_ERR_ARGUMENT;
    SN_TRY(sn_model_check_pose(tracker->model, start, NULL));
    tracker->nframe = nframe;
    tracker->goals = goals;
    tracker->user = user;
    tracker->q = q;
    tracker->frames = frames;
    tracker->solved = 0;
    copy(tracker, tracker->start, start);
    sn_model_normalize_quaternions(tracker->model, tracker->start);
    (void)sn_model_clamp(tracker->workers[0].problem->model, tracker->start);
    atomic_store(&tracker->done, 0);
    atomic_store(&tracker->failed, SN_OK);
    sn_status status = solve_first_frames(tracker);
    if (status != SN_OK) tracker->goals = NULL;
    return status;
}

sn_status sn_tracker_advance(sn_tracker *tracker, int count, int *solved) {
    sn_tracker *t = tracker;
    if (solved == NULL) return SN_ERR_ARGUMENT;
    *solved = 0;
    if (t == NULL || t->goals == NULL) return SN_ERR_ARGUMENT;
    *solved = t->solved;
    int left = t->nframe - t->solved, size = t->options.chunk;
    t->end = t->solved + (count < 0 || count > left ? left : count);
    if (t->end == t->solved) return SN_OK;
    atomic_store(&t->next_chunk, t->solved / size + (t->solved % size > 0));
    atomic_store(&t->open, -1);
    thread_job jobs[SN_MAX_THREADS];
    for (int i = 0; i < t->nworker; i++) jobs[i] = (thread_job){t, &t->workers[i]};
    sn_threads_run(&t->options.pool, run_worker, jobs, sizeof jobs[0], t->nworker);
    int open = atomic_load(&t->open);
    if (open > 0) {
        worker w = t->workers[0];
        t->workers[0] = t->workers[open];
        t->workers[open] = w;
    }
    sn_status status = (sn_status)atomic_load(&t->failed);
    if (status == SN_OK) *solved = t->solved = t->end;
    if (t->options.progress != NULL)
        t->options.progress(t->options.progress_user, t->solved, t->nframe, NULL);
    return status;
}

sn_status sn_tracker_run(sn_tracker *tracker, int nframe, sn_track_goals goals, void *user,
                         const double *start, double *q, sn_track_frame *frames) {
    int solved;
    SN_TRY(sn_tracker_begin(tracker, nframe, goals, user, start, q, frames));
    return sn_tracker_advance(tracker, -1, &solved);
}
