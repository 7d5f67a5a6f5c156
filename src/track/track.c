// SPDX-License-Identifier: MIT
// One frame after the other, and chunks of frames beside each other.
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "model/model.h"
#include "solvers/solver.h"
#include "sweeps/workspace.h"
#include "tasks/loss.h"
#include "track/tracker.h"

typedef sn_track_worker worker;

enum { VERSION = 2 };

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

void sn_track_layout_state(const sn_tracker *t, sn_track_state *state, sn_layout *layout) {
    const size_t nq = (size_t)t->model->nq, nv = (size_t)t->model->nv;
    state->previous = sn_layout_take(layout, nq, sizeof(double));
    state->before = sn_layout_take(layout, nq, sizeof(double));
    state->left = sn_layout_take(layout, nq, sizeof(double));
    state->weight = sn_layout_take(layout, nv, sizeof(double));
}

static void layout_tracker(sn_tracker *t, sn_layout *layout) {
    size_t nq = (size_t)t->model->nq, nv = (size_t)t->model->nv;
    t->workers = sn_layout_take(layout, (size_t)t->nworker, sizeof *t->workers);
    t->start = sn_layout_take(layout, nq, sizeof *t->start);
    sn_track_layout_state(t, &t->kept, layout);
    for (int i = 0; i < t->nworker; i++) {
        worker spare, *w = t->workers != NULL ? &t->workers[i] : &spare;
        w->q = sn_layout_take(layout, nq, sizeof(double));
        w->trial = sn_layout_take(layout, nq, sizeof(double));
        w->best = sn_layout_take(layout, nq, sizeof(double));
        w->delta = sn_layout_take(layout, nv, sizeof(double));
        sn_track_layout_state(t, &w->own, layout);
        sn_track_aside_layout(t, w, layout);
    }
}

static sn_status create_worker(sn_tracker *t, const sn_problem *problem, worker *w,
                               sn_error *error) {
    const sn_allocator *allocator = &t->allocator;
    sn_task rest = sn_task_default(SN_TASK_REST);
    sn_model_zero(t->model, w->q);
    for (int v = 0; v < t->model->nv; v++) w->own.weight[v] = 1;
    w->now = w->own;
    rest.q = w->q;
    rest.q_weight = w->own.weight;
    rest.weight = t->options.rest;
    SN_TRY(sn_problem_copy(problem, &rest, 1, allocator, &w->problem, error));
    sn_solver_options careful = t->options.solver;
    careful.max_iterations = t->options.restart_iterations;
    SN_TRY(sn_solver_create_plain(w->problem, &t->options.solver, allocator, &w->solver, error));
    SN_TRY(sn_solver_create(w->problem, &careful, allocator, &w->careful, error));
    return sn_workspace_create(w->problem, false, allocator, &w->ws, error);
}

// Chunks side by side want a problem that lanes can solve, and nobody who looks at every iteration.
static sn_status create_batch(sn_tracker *t, const sn_problem *problem, sn_error *error) {
    sn_batch_options o = sn_batch_options_default();
    o.solver = t->options.solver;
    if (o.solver.trace != NULL || o.solver.seconds > 0) return SN_OK;
    if (sn_batch_unfit(problem, &o.solver) != NULL) return SN_OK;
    if (sn_batch_most_lanes() == 1) return SN_OK;
    o.device = SN_DEVICE_CPU;
    o.threads = t->options.threads;
    o.rest = t->options.rest;
    o.locals = true;
    return sn_batch_create(problem, &o, &t->allocator, &t->batch, error);
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
    SN_TRY(create_batch(&t, problem, error));
    sn_layout layout = {0};
    sn_tracker *tracker = sn_layout_take(&layout, 1, sizeof *tracker);
    layout_tracker(&t, &layout);
    void *block = sn_layout_acquire(&layout, allocator, &t.owner);
    if (block == NULL) {
        sn_batch_destroy(t.batch);
        return sn_fail_memory(error);
    }
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
    sn_batch_destroy(tracker->batch);
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
    copy(t, w->q, w->now.previous);
    if (!t->options.extrapolate || !moving) return false;
    sn_model_difference(t->model, w->now.before, w->now.previous, w->delta);
    sn_model_integrate(t->model, w->now.previous, w->delta, w->trial);
    (void)sn_model_clamp(w->problem->model, w->trial);
    if (!(value_at(w, w->trial) < value_at(w, w->now.previous))) return false;
    copy(t, w->q, w->trial);
    return true;
}

// The n-th other pose to start from: the valley that was left last, the present result, the zero
// pose, the start. What is not near the goals is brought there by the solver.
static void other_guess(const sn_tracker *t, const worker *w, int n, double *q) {
    const sn_joint *root = &t->model->joint[0];
    if (n == 0) {
        copy(t, q, w->now.left);
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

void sn_track_add_counts(sn_report *to, const sn_report *from) {
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
    return !(w->now.usual >= 0) || f > t->options.worse * w->now.usual;
}

// One more try from w->trial; the better pose stays in w->best. True when it is much better.
static bool try_once(const sn_tracker *t, worker *w, bool cold, int n, sn_track_frame *out) {
    sn_report report, counts = out->report;
    sn_status status = cold ? sn_solver_solve_cold(w->careful, w->trial, &report)
                            : sn_solver_solve(w->solver, w->trial, &report);
    if (status != SN_OK) return false;
    bool better = report.f < 0.9 * out->report.f;
    sn_track_add_counts(&counts, &report);
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
        } else if (!(w->now.usual >= 0)) {
            // a first frame has nothing to be compared with: a search of the valleys that finds none
            // lower settles it
            break;
        }
    }
    // nothing helps: so it may be for a while, and each of these tries is long
    if (far_worse(t, w, out->report.f) && w->now.usual >= 0) w->now.usual *= 2;
}

// The weights of the rest task, from the Gauss-Newton diagonal at this pose: the same share of
// each.
static void weigh_rest(const sn_tracker *t, worker *w) {
    double f;
    (void)sn_problem_set_enabled(w->problem, t->rest, false);
    if (sn_workspace_eval(w->ws, w->q, SN_EVAL_GAUSS_NEWTON, &f) == SN_OK) {
        sn_workspace_fields_diagonal(w->ws, w->delta);
        double top = 0;
        for (int i = 0; i < t->model->nv; i++) top = fmax(top, w->delta[i]);
        for (int i = 0; i < t->model->nv; i++)
            w->now.weight[t->model->v_of[i]] = fmax(w->delta[i], 1e-3 * top);
        (void)sn_problem_set_rest_weights(w->problem, t->rest, w->now.weight);
    }
    (void)sn_problem_set_enabled(w->problem, t->rest, t->options.rest > 0);
}

sn_status sn_track_prepare(sn_tracker *t, worker *w, int frame) {
    SN_TRY(t->goals(t->user, frame, w->problem));
    SN_TRY(sn_problem_set_rest_weights(w->problem, t->rest, w->now.weight));
    SN_TRY(sn_problem_set_rest(w->problem, t->rest, w->now.previous));
    return sn_problem_set_enabled(w->problem, t->rest, t->options.rest > 0);
}

sn_status sn_track_settle(sn_tracker *t, worker *w, int frame, bool ready, sn_track_frame *out) {
    copy(t, w->best, w->q);
    if (t->options.restarts > 0 && (cut_short(t, w, out) || far_worse(t, w, out->report.f))) {
        if (!ready) SN_TRY(sn_track_prepare(t, w, frame));
        try_again(t, w, out);
    }
    if (!(w->now.usual >= 0)) w->now.usual = out->report.f;
    if (!far_worse(t, w, out->report.f)) w->now.usual += 0.1 * (out->report.f - w->now.usual);
    if (out->kept > 0) copy(t, w->now.left, w->now.previous);
    copy(t, w->now.before, w->now.previous);
    copy(t, w->now.previous, w->best);
    copy(t, sn_track_pose(t, frame), w->best);
    return SN_OK;
}

// The problem is prepared: solved from the best guess.
static sn_status solve_prepared(sn_tracker *t, worker *w, int frame, bool moving,
                                sn_track_frame *out) {
    out->extrapolated = first_guess(t, w, moving);
    SN_TRY(sn_solver_solve(w->solver, w->q, &out->report));
    return sn_track_settle(t, w, frame, true, out);
}

sn_status sn_track_plain(sn_tracker *t, worker *w, int frame, bool moving, sn_track_frame *out) {
    *out = (sn_track_frame){0};
    SN_TRY(sn_track_prepare(t, w, frame));
    return solve_prepared(t, w, frame, moving, out);
}

// A chunk's first frame: the pose before it is far away or arbitrary, nothing to hold on to.
static sn_status solve_first(sn_tracker *t, worker *w, int frame, sn_track_frame *out) {
    *out = (sn_track_frame){0};
    SN_TRY(t->goals(t->user, frame, w->problem));
    copy(t, w->q, w->now.previous);
    weigh_rest(t, w);
    SN_TRY(sn_problem_set_rest(w->problem, t->rest, w->now.previous));
    SN_TRY(sn_problem_set_enabled(w->problem, t->rest, false));
    return solve_prepared(t, w, frame, false, out);
}

// A chunk knows nothing of the others but its first pose, which is solved: weights and the usual f
// are found again there.
sn_status sn_track_enter(sn_tracker *t, worker *w, int first) {
    copy(t, w->now.previous, sn_track_pose(t, first));
    copy(t, w->now.before, w->now.previous);
    copy(t, w->now.left, t->start);
    SN_TRY(t->goals(t->user, first, w->problem));
    copy(t, w->q, w->now.previous);
    weigh_rest(t, w);
    SN_TRY(sn_problem_set_rest(w->problem, t->rest, w->now.previous));
    w->now.usual = value_at(w, w->now.previous);
    return SN_OK;
}

// Frames of a chunk from `from` on, as far as this advance goes.
static sn_status solve_chunk(sn_tracker *t, worker *w, int from) {
    int first = from - from % t->options.chunk;
    // as a difference: the last chunk may end beyond what an int holds
    int end = t->options.chunk < t->end - first ? first + t->options.chunk : t->end;
    sn_track_frame spare;
    if (from == first) SN_TRY(sn_track_enter(t, w, first));
    for (int f = from > first ? from : first + 1; f < end; f++) {
        if (atomic_load(&t->failed) != SN_OK) return SN_OK;
        sn_track_frame *frame = t->frames != NULL ? &t->frames[f] : &spare;
        SN_TRY(sn_track_plain(t, w, f, f > first + 1, frame));
        atomic_fetch_add(&t->done, 1);
        if (t->options.progress != NULL && w == &t->workers[0])
            t->options.progress(t->options.progress_user, atomic_load(&t->done), t->nframe, frame);
    }
    if (end == t->end && t->options.chunk > t->end - first)
        sn_track_copy_state(t, &t->kept, &w->now);
    return SN_OK;
}

void sn_track_copy_state(const sn_tracker *t, sn_track_state *to, const sn_track_state *from) {
    copy(t, to->previous, from->previous);
    copy(t, to->before, from->before);
    copy(t, to->left, from->left);
    memcpy(to->weight, from->weight, (size_t)t->model->nv * sizeof *to->weight);
    to->usual = from->usual;
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
    job->worker->now = job->worker->own;
    if (t->aside) {
        int none = SN_OK;
        sn_status status = sn_track_aside(t, job->worker, resumes);
        if (status != SN_OK) atomic_compare_exchange_strong(&t->failed, &none, (int)status);
        return;
    }
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
    w->now = w->own;
    copy(t, w->now.previous, t->start);
    copy(t, w->now.before, t->start);
    copy(t, w->now.left, t->start);
    w->now.usual = NAN;
    for (int chunk = 0, n = count_chunks(t); chunk < n; chunk++) {
        int f = chunk * t->options.chunk;
        SN_TRY(solve_first(t, w, f, t->frames != NULL ? &t->frames[f] : &spare));
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
    tracker->aside = tracker->batch != NULL && nframe > tracker->options.chunk;
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
    if (t->solved % size > 0) {
        // before another thread may end in the next chunk that goes on
        sn_track_state *to = t->aside ? &t->workers[0].side[0].state : &t->workers[0].own;
        sn_track_copy_state(t, to, &t->kept);
    }
    thread_job jobs[SN_MAX_THREADS];
    for (int i = 0; i < t->nworker; i++) jobs[i] = (thread_job){t, &t->workers[i]};
    sn_threads_run(&t->options.pool, run_worker, jobs, sizeof jobs[0], t->nworker);
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
