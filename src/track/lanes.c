// SPDX-License-Identifier: MIT
// Seeds, and following them.
#include "track/lanes.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/threads.h"
#include "math/euler_near.h"
#include "model/model.h"
#include "solvers/solver.h"
#include "sweeps/workspace.h"

// All at 120 frames a second. The pull to the last pose: a share of how well a degree of freedom is seen.
static const double hold_share = 2e-3, hold_most = 1e-3, least_seen = 1e-3;
// Walls while a valley is looked for: weak ones are climbed.
static const double raised = 10;
// Seconds between seeds: most of a take is followed once, and a lost valley is left soon.
static const double between_seeds = 8.5;

// --- memory --------------------------------------------------------------------------------------

static void lay_out(sn_lanes *l, sn_layout *layout) {
    size_t nq = l->nq, nv = l->nv, window = (size_t)l->window;
    l->workers = sn_layout_take(layout, (size_t)l->nworker, sizeof *l->workers);
    l->f = sn_layout_take(layout, (size_t)l->nframe, sizeof *l->f);
    l->start = sn_layout_take(layout, nq, sizeof(double));
    l->home = sn_layout_take(layout, nq, sizeof(double));
    l->keep = sn_layout_take(layout, nv, sizeof *l->keep);
    l->shown = sn_layout_take(layout, (size_t)l->options.goals + 1, sizeof *l->shown);
    l->loose = sn_layout_take(layout, nv, sizeof *l->loose);
    double **each[] = {&l->seen, &l->hold, &l->full, &l->bind};
    for (int i = 0; i < 4; i++) *each[i] = sn_layout_take(layout, nv, sizeof(double));
    for (int i = 0; i < l->nworker; i++) {
        sn_lane_worker spare, *w = l->workers != NULL ? &l->workers[i] : &spare;
        double **pose[] = {&w->previous, &w->before, &w->q, &w->trial, &w->room, &w->begun};
        for (int k = 0; k < 6; k++) *pose[k] = sn_layout_take(layout, nq, sizeof(double));
        w->delta = sn_layout_take(layout, nv, sizeof(double));
        w->weight = sn_layout_take(layout, nv, sizeof(double));
        w->alt = sn_layout_take(layout, window, nq * sizeof(double));
        w->cost = sn_layout_take(layout, window, sizeof(double));
        w->from = sn_layout_take(layout, window, 2);
    }
}

static sn_status create_worker(sn_lanes *l, const sn_problem *problem, sn_lane_worker *w) {
    sn_task rest = sn_task_default(SN_TASK_REST);
    sn_solver_options cold = l->options.solver;
    cold.max_iterations = 60;
    cold.gradient = fmin(cold.gradient, 1e-6);
    rest.q = l->start;
    SN_TRY(sn_problem_copy(problem, &rest, 1, &l->allocator, &w->problem, NULL));
    SN_TRY(sn_solver_create(w->problem, &l->options.solver, &l->allocator, &w->solver, NULL));
    SN_TRY(sn_solver_create(w->problem, &cold, &l->allocator, &w->cold, NULL));
    return sn_workspace_create(w->problem, false, &l->allocator, &w->ws, NULL);
}

void sn_lanes_end(sn_lanes *l) {
    sn_lane_device_end(l);
    for (int i = 0; l->owner != NULL && i < l->nworker; i++) {
        sn_lane_worker *w = &l->workers[i];
        sn_workspace_destroy(w->ws);
        sn_solver_destroy(w->cold);
        sn_solver_destroy(w->solver);
        sn_problem_destroy(w->problem);
    }
    sn_allocator allocator = l->allocator;
    if (l->owner != NULL) sn_release(&allocator, l->owner);
    *l = (sn_lanes){0};
}

// --- threads -------------------------------------------------------------------------------------

typedef struct shared {
    sn_lanes *lanes;
    sn_lane_pass pass;
    int count;
    atomic_int next, failed;
} shared;

typedef struct job {
    shared *all;
    sn_lane_worker *worker;
} job;

// How far a pass is that looks at all frames once more. There are about a dozen, whose shares differ from take to take:
// what is told grows, and stays below the whole.
static void tell_pass(const shared *all) {
    sn_lanes *l = all->lanes;
    if (l->options.progress == NULL || l->solved < l->nframe) return;
    enum { MOST = 12 };
    int next = atomic_load(&all->next);
    double share = (l->passes + fmin((double)next / all->count, 1)) / MOST;
    l->options.progress(l->options.progress_user, (int)(fmin(share, 0.99) * l->nframe), l->nframe,
                        NULL);
}

static void run_job(void *argument) {
    const job *own = argument;
    shared *all = own->all;
    for (;;) {
        int i = atomic_fetch_add(&all->next, 1);
        if (i >= all->count || atomic_load(&all->failed) != SN_OK) return;
        if (sn_cancelled(all->lanes->options.cancel)) return;
        int none = SN_OK;
        if (own->worker == &all->lanes->workers[0]) tell_pass(all);
        sn_status status = all->pass(all->lanes, own->worker, i);
        if (status != SN_OK) atomic_compare_exchange_strong(&all->failed, &none, (int)status);
    }
}

sn_status sn_lanes_run(sn_lanes *l, sn_lane_pass pass, int count) {
    shared all = {.lanes = l, .pass = pass, .count = count};
    job jobs[SN_MAX_THREADS];
    atomic_init(&all.next, 0);
    atomic_init(&all.failed, SN_OK);
    for (int i = 0; i < l->nworker; i++) jobs[i] = (job){&all, &l->workers[i]};
    sn_threads_run(&l->options.pool, run_job, jobs, sizeof jobs[0],
                   l->nworker < count ? l->nworker : count);
    l->passes += l->solved == l->nframe;
    return (sn_status)atomic_load(&all.failed);
}

// --- a frame -------------------------------------------------------------------------------------

static void copy(const sn_lanes *l, double *to, const double *from) {
    memcpy(to, from, l->nq * sizeof *to);
}

static void count(sn_lane_frame *frame, const sn_report *r) {
    frame->iterations += r->iterations;
    frame->functions += r->functions;
    frame->gradients += r->gradients;
    frame->hessians += r->hessians;
    frame->factorizations += r->factorizations;
    frame->active = (short)r->active;
    frame->stop = (unsigned char)r->stop;
}

double sn_lane_pulled(const sn_lanes *l, sn_lane_worker *w, const double *rest, const double *q) {
    const double *weight = w->problem->rest[w->problem->nrest - 1].q_weight;
    double sum = 0;
    sn_model_difference(l->model, rest, q, w->delta);
    for (size_t i = 0; i < l->nv; i++) sum += weight[i] * w->delta[i] * w->delta[i];
    return 0.5 * sum;
}

sn_status sn_lane_solve(sn_lanes *l, sn_lane_worker *w, int frame, const double *rest, double *f) {
    if (rest != NULL) SN_TRY(sn_problem_set_rest(w->problem, l->rest, rest));
    // what others are followed from, and what nothing polishes
    bool careful = rest == NULL || frame == 0 || frame == l->nframe - 1;
    SN_TRY(sn_problem_set_enabled(w->problem, l->rest, rest != NULL));
    if (careful || !l->plain || !sn_lane_steps(l, w, !w->guessed, f, &w->latest))
        SN_TRY(sn_solver_solve(careful ? w->cold : w->solver, w->q, &w->latest));
    *f = w->latest.f - (rest != NULL ? sn_lane_pulled(l, w, rest, w->q) : 0);
    count(&l->frames[frame], &w->latest);
    return SN_OK;
}

sn_status sn_lane_follow(sn_lanes *l, sn_lane_worker *w, int frame, bool moving, double *f) {
    SN_TRY(l->goals(l->user, frame, w->problem));
    copy(l, w->q, w->previous);
    if (moving) {
        sn_model_difference(l->model, w->before, w->previous, w->delta);
        sn_model_integrate(l->model, w->previous, w->delta, w->q);
        (void)sn_model_clamp(w->problem->model, w->q);
    }
    w->guessed = true;
    sn_status status = sn_lane_solve(l, w, frame, w->previous, f);
    w->guessed = false;
    SN_TRY(status);
    copy(l, w->before, w->previous);
    copy(l, w->previous, w->q);
    return SN_OK;
}

// With walls raised, from w->q: folded otherwise where that is lower, or by the nearest valley.
static sn_status look(sn_lanes *l, sn_lane_worker *w, int frame, bool folded) {
    sn_report report;
    const sn_task *walls = sn_problem_task(w->problem, l->options.walls);
    double weight = walls != NULL ? walls->weight : 0;
    SN_TRY(l->goals(l->user, frame, w->problem));
    SN_TRY(sn_problem_set_enabled(w->problem, l->rest, false));
    if (walls != NULL) SN_TRY(sn_problem_set_weight(w->problem, l->options.walls, raised * weight));
    sn_status status = folded ? sn_solver_solve_cold(w->cold, w->q, &report)
                              : sn_solver_solve(w->solver, w->q, &report);
    if (walls != NULL) SN_TRY(sn_problem_set_weight(w->problem, l->options.walls, weight));
    SN_TRY(status);
    count(&l->frames[frame], &report);
    return SN_OK;
}

sn_status sn_lane_look(sn_lanes *l, sn_lane_worker *w, int frame, double *f) {
    SN_TRY(look(l, w, frame, true));
    return sn_lane_solve(l, w, frame, NULL, f);
}

sn_status sn_lane_look_from_home(sn_lanes *l, sn_lane_worker *w, int frame, const double *pose,
                                 double *f) {
    copy(l, w->q, l->home);
    for (int k = 0; k < l->placed; k++) {
        const sn_joint *j = &l->model->joint[k];
        memcpy(w->q + j->q0, pose + j->q0, (size_t)j->nq * sizeof *pose);
    }
    SN_TRY(look(l, w, frame, false));
    SN_TRY(sn_solver_solve(w->solver, w->q, &w->latest));
    count(&l->frames[frame], &w->latest);
    *f = w->latest.f;
    return SN_OK;
}

double sn_lane_turn(const sn_lanes *l, sn_lane_worker *w, const double *a, const double *b,
                    double *most) {
    double sum = 0, top = 0;
    sn_model_difference(l->model, a, b, w->delta);
    for (int k = 1; k < l->model->njoint; k++) {
        const sn_joint *j = &l->model->joint[k];
        double angle = 0;
        for (int i = 0; i < j->nv; i++)
            if ((j->lengths >> i & 1) == 0) angle += w->delta[j->v0 + i] * w->delta[j->v0 + i];
        sum += angle;
        top = fmax(top, angle);
    }
    if (most != NULL) *most = sqrt(top);
    return sum;
}

void sn_lane_unwind(const sn_model *model, const double *near, double *q) {
    const double turn = 0x1.921fb54442d18p+2;
    for (int k = 0; k < model->njoint; k++) {
        const sn_joint *j = &model->joint[k];
        double *x = q + j->q0;
        const double *n = near + j->q0;
        bool free = true;
        for (int i = 0; i < j->nv; i++)
            free = free && model->lower[j->v0 + i] == -INFINITY &&
                   model->upper[j->v0 + i] == INFINITY && model->gain[j->v0 + i] != 0;
        if (!free || model->ncoupling > 0) continue;
        if (j->type == SN_JOINT_EULER) {
            // others of the same rotation are half a turn away in two of them
            bool close = true;
            for (int i = 0; i < 3; i++) close = close && fabs(n[i] - x[i]) < 0.25 * turn;
            if (close) continue;
            sn_mat3 R = sn_joint_rotation(j, x);
            double out[3];
            sn_euler_near(j->order, 3, &R, n, out);
            memcpy(x, out, sizeof out);
        } else if (j->ops->quaternion < 0) {
            for (int i = 0; i < j->nv; i++)
                if (sn_joint_goes_round(j, i)) x[i] += turn * nearbyint((n[i] - x[i]) / turn);
        }
    }
}

// --- seeds ---------------------------------------------------------------------------------------

static int goals_of(const sn_lanes *l, const sn_problem *p) {
    int n = 0;
    for (int i = 0; i < l->options.goals; i++) n += sn_problem_task_active(p, i);
    return n;
}

// Of the frames about the middle of a stretch the nearest that shows nearly as much as any of them.
static sn_status best_frame(sn_lanes *l, sn_lane_worker *w, int first, int end, int *best) {
    int middle = first + (end - first) / 2, most = -1, reach = (end - first) / 4;
    int step = reach > 64 ? reach / 64 : 1;
    for (int pass = 0; pass < 2; pass++)
        for (int d = 0; d <= reach; d += step)
            for (int side = -1; side <= 1; side += 2) {
                int f = middle + side * d, n;
                if (f < first || f >= end) continue;
                SN_TRY(l->goals(l->user, f, w->problem));
                n = goals_of(l, w->problem);
                if (pass == 0 && n > most) most = n;
                if (pass == 1 && 20 * n >= 19 * most) {
                    *best = f;
                    return SN_OK;
                }
            }
    *best = middle;
    return SN_OK;
}

// How well each degree of freedom is seen, at the start pose with the goals of its frame.
static sn_status weigh(sn_lanes *l, int frame) {
    sn_lane_worker *w = &l->workers[0];
    double top = 0, rate = sn_lane_rate(l) / 120, f;
    SN_TRY(l->goals(l->user, frame, w->problem));
    for (int i = 0; i < l->options.goals; i++) l->shown[i] = sn_problem_task_active(w->problem, i);
    SN_TRY(sn_problem_set_enabled(w->problem, l->rest, false));
    SN_TRY(sn_workspace_eval(w->ws, l->start, SN_EVAL_GAUSS_NEWTON, &f));
    sn_workspace_fields_diagonal(w->ws, w->weight);
    for (size_t v = 0; v < l->nv; v++) {
        l->seen[l->model->v_of[v]] = w->weight[v];
        top = fmax(top, w->weight[v]);
    }
    for (size_t v = 0; v < l->nv; v++) {
        double D = fmax(l->seen[v], least_seen * top);
        l->hold[v] = fmin(hold_share * D, hold_most) * rate;
        l->full[v] = D * rate * rate;
    }
    return SN_OK;
}

// The joints before the first that carries a goal or branches.
static int count_placing(const sn_problem *p) {
    const sn_model *m = p->model;
    int k = 0;
    for (; k + 1 < m->njoint; k++) {
        int children = 0;
        for (int n = k + 1; n < m->njoint; n++) children += m->joint[n].parent == k;
        if (children > 1 || p->point_first[k + 1] > p->point_first[k]) break;
    }
    return k + 1;
}

sn_status sn_lanes_begin(sn_lanes *l, const sn_problem *problem, const sn_lane_options *options,
                         int nframe, sn_track_goals goals, void *user, const double *start,
                         int frame, const sn_allocator *allocator, double *q,
                         sn_lane_frame *frames) {
    *l = (sn_lanes){.allocator = sn_allocator_of(allocator),
                    .model = sn_problem_model(problem),
                    .options = *options,
                    .rest = sn_problem_ntask(problem),
                    .nframe = nframe,
                    .goals = goals,
                    .user = user,
                    .q = q,
                    .frames = frames,
                    .nworker = options->threads};
    l->nq = (size_t)l->model->nq;
    l->nv = (size_t)l->model->nv;
    l->span = (int)fmax(between_seeds * sn_lane_rate(l), 1) + 1;
    l->nspan = nframe / l->span + (nframe % l->span > 0);
    l->group = options->chunk > l->span ? options->chunk / l->span : 1;
    // two seconds to each side are enough to merge, or to know better
    double reach = 4 * sn_lane_rate(l) + 16;
    l->window = reach < nframe ? (int)reach : nframe;
    sn_layout layout = {0};
    lay_out(l, &layout);
    void *owner, *block = sn_layout_acquire(&layout, allocator, &owner);
    if (block == NULL) return SN_ERR_MEMORY;
    layout = (sn_layout){.block = block};
    lay_out(l, &layout);
    for (int i = 0; i < l->nworker; i++) {
        sn_lane_worker *w = &l->workers[i];
        w->problem = NULL, w->solver = w->cold = NULL, w->ws = NULL;
    }
    l->owner = owner;
    copy(l, l->start, start);
    copy(l, l->home, options->home != NULL ? options->home : start);
    for (size_t v = 0; v < l->nv; v++) l->loose[v] = options->loose != NULL && options->loose[v];
    memset(frames, 0, (size_t)nframe * sizeof *frames);
    for (int i = 0; i < l->nworker; i++) SN_TRY(create_worker(l, problem, &l->workers[i]));
    for (int v = 0; v < l->model->nv; v++)
        l->keep[v] = l->workers[0].problem->model->gain[l->model->v_of[v]] != 0;
    l->placed = count_placing(l->workers[0].problem);
    l->plain = options->solver.method == sn_solver_options_default().method &&
               sn_lane_is_plain(l->workers[0].problem);
    SN_TRY(weigh(l, frame));
    for (int i = 0; i < l->nworker; i++)
        SN_TRY(sn_problem_set_rest_weights(l->workers[i].problem, l->rest, l->hold));
    return sn_lane_device_begin(l, problem);
}

// --- following -----------------------------------------------------------------------------------

static sn_status follow_to(sn_lanes *l, sn_lane_worker *w, int seed, int step, int end) {
    copy(l, w->previous, sn_lane_pose(l, seed));
    for (int f = seed + step; f != end; f += step) {
        if (sn_cancelled(l->options.cancel)) return SN_OK;
        SN_TRY(sn_lane_follow(l, w, f, f != seed + step, &l->f[f]));
        copy(l, sn_lane_pose(l, f), w->previous);
        int followed = atomic_fetch_add(&l->followed, 1) + 1;
        if (l->options.progress != NULL && w == &l->workers[0] && f % 64 == 0) {
            sn_track_frame latest = {.report = w->latest};
            if (l->plain) latest.report.mean_error = 0;  // plain steps do not measure it
            l->options.progress(l->options.progress_user, followed, l->nframe, &latest);
        }
    }
    return SN_OK;
}

// Spans that have been followed, or are wanted: those of the first `frames` frames.
static int spans_of(const sn_lanes *l, int frames) {
    return frames / l->span + (frames % l->span > 0);
}

sn_status sn_lane_seed(sn_lanes *l, sn_lane_worker *w, int span, int *first, int *end, int *seed) {
    *first = span * l->span;
    *end = l->span < l->nframe - *first ? *first + l->span : l->nframe;
    SN_TRY(best_frame(l, w, *first, *end, seed));
    copy(l, w->q, l->start);
    SN_TRY(sn_lane_look(l, w, *seed, &l->f[*seed]));
    copy(l, sn_lane_pose(l, *seed), w->q);
    return SN_OK;
}

static sn_status follow_span(sn_lanes *l, sn_lane_worker *w, int i) {
    int first, end, seed;
    SN_TRY(sn_lane_seed(l, w, i, &first, &end, &seed));
    SN_TRY(follow_to(l, w, seed, 1, end));
    return follow_to(l, w, seed, -1, first - 1);
}

static sn_status follow_group(sn_lanes *l, sn_lane_worker *w, int i) {
    int done = spans_of(l, l->solved), first = done + i * l->group;
    for (int k = first; k < first + l->group && k < l->wanted; k++) SN_TRY(follow_span(l, w, k));
    return SN_OK;
}

sn_status sn_lanes_advance(sn_lanes *l, int count) {
    int left = l->nframe - l->solved;
    int end = l->solved + (count < 0 || count > left ? left : count);
    // a span is followed as soon as one of its frames is asked for
    int more = spans_of(l, end) - spans_of(l, l->solved);
    l->wanted = spans_of(l, end);
    if (more > 0)
        SN_TRY(l->device != NULL ? sn_lane_device_follow(l, spans_of(l, l->solved), more)
                                 : sn_lanes_run(l, follow_group, (more + l->group - 1) / l->group));
    l->solved = end;
    if (l->options.progress != NULL)
        l->options.progress(l->options.progress_user, l->solved, l->nframe, NULL);
    return SN_OK;
}
