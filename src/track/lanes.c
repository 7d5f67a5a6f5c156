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
    l->seeds = sn_layout_take(layout, (size_t)l->nspan, sizeof *l->seeds);
    l->shown = sn_layout_take(layout, (size_t)l->options.goals + 1, sizeof *l->shown);
    l->loose = sn_layout_take(layout, nv, sizeof *l->loose);
    double **each[] = {&l->seen, &l->hold, &l->full, &l->bind, &l->drawn};
    for (int i = 0; i < 5; i++) *each[i] = sn_layout_take(layout, nv, sizeof(double));
    for (int i = 0; i < l->nworker; i++) {
        sn_lane_worker spare, *w = l->workers != NULL ? &l->workers[i] : &spare;
        double **pose[] = {&w->previous, &w->before, &w->q,   &w->trial,
                           &w->room,     &w->begun,  &w->near};
        for (int k = 0; k < 7; k++) *pose[k] = sn_layout_take(layout, nq, sizeof(double));
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
    SN_TRY(sn_solver_create_plain(w->problem, &l->options.solver, &l->allocator, &w->solver, NULL));
    SN_TRY(sn_solver_create(w->problem, &cold, &l->allocator, &w->cold, NULL));
    return sn_workspace_create(w->problem, false, &l->allocator, &w->ws, NULL);
}

void sn_lanes_end(sn_lanes *l) {
    sn_lane_device_end(l);
    sn_lane_side_end(l);
    if (l->hidden != NULL) sn_release(&l->allocator, l->hidden);
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

// There are about a dozen passes, whose shares differ from take to take: what is told grows, and stays below the whole.
void sn_lane_tell(const sn_lanes *l, double share) {
    if (l->options.progress == NULL || l->solved < l->nframe) return;
    enum { MOST = 12 };
    double whole = fmin((l->passes + share) / MOST, 0.99);
    l->options.progress(l->options.progress_user, (int)(whole * l->nframe), l->nframe, NULL);
}

static void run_job(void *argument) {
    const job *own = argument;
    shared *all = own->all;
    for (;;) {
        int i = atomic_fetch_add(&all->next, 1);
        if (i >= all->count || atomic_load(&all->failed) != SN_OK) return;
        if (sn_cancelled(all->lanes->options.cancel)) return;
        int none = SN_OK;
        if (own->worker == &all->lanes->workers[0])
            sn_lane_tell(all->lanes, fmin((double)i / all->count, 1));
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

void sn_lane_count(sn_lane_frame *frame, const sn_report *r) {
    frame->iterations += r->iterations;
    frame->functions += r->functions;
    frame->gradients += r->gradients;
    frame->hessians += r->hessians;
    frame->factorizations += r->factorizations;
    frame->active = (short)r->active;
    frame->stop = (unsigned char)r->stop;
}

double sn_lane_pulled(const sn_lanes *l, sn_lane_worker *w, const double *weight,
                      const double *rest, const double *q) {
    double sum = 0;
    sn_model_difference(l->model, rest, q, w->delta);
    for (size_t i = 0; i < l->nv; i++) sum += weight[i] * w->delta[i] * w->delta[i];
    return 0.5 * sum;
}

bool sn_lane_is_careful(const sn_lanes *l, int frame) {
    return frame == 0 || frame == l->nframe - 1;
}

static sn_status set_rest(sn_lanes *l, sn_lane_worker *w, const double *rest) {
    if (rest != NULL) SN_TRY(sn_problem_set_rest(w->problem, l->rest, rest));
    return sn_problem_set_enabled(w->problem, l->rest, rest != NULL);
}

sn_status sn_lane_solver(sn_lanes *l, sn_lane_worker *w, int frame, const double *rest) {
    SN_TRY(set_rest(l, w, rest));
    bool careful = rest == NULL || sn_lane_is_careful(l, frame);
    return sn_solver_solve(careful ? w->cold : w->solver, w->q, &w->latest);
}

sn_status sn_lane_solve(sn_lanes *l, sn_lane_worker *w, int frame, const double *rest, double *f) {
    const double *weight = w->problem->rest[w->problem->nrest - 1].q_weight;
    bool steps = l->strides && rest != NULL && !sn_lane_is_careful(l, frame);
    SN_TRY(set_rest(l, w, rest));
    if (!steps || !sn_lane_steps(l, w, !w->guessed, &w->latest))
        SN_TRY(sn_lane_solver(l, w, frame, rest));
    *f = w->latest.f - (rest != NULL ? sn_lane_pulled(l, w, weight, rest, w->q) : 0);
    sn_lane_count(&l->frames[frame], &w->latest);
    return SN_OK;
}

void sn_lane_extrapolate(const sn_lanes *l, sn_lane_worker *w, const double *before,
                         const double *previous, double *q) {
    sn_model_difference(l->model, before, previous, w->delta);
    sn_model_integrate(l->model, previous, w->delta, q);
    (void)sn_model_clamp(w->problem->model, q);
}

// A limb that nothing sees may go all the way round, and what draws it home then draws it by a whole turn, in all the
// frames behind: another valley may be ten times as deep, and nobody sees it. So the angles that a track goes on with are
// always those that are nearest to home.
static void go_on(const sn_lanes *l, const double *q, double *previous, double *before) {
    copy(l, before, previous);
    copy(l, previous, q);
    sn_lane_wind_home(l, previous);
    sn_lane_unwind(l->model, l->placed, previous, before);
}

sn_status sn_lane_follow(sn_lanes *l, sn_lane_worker *w, int frame, bool moving, double *f) {
    SN_TRY(l->goals(l->user, frame, w->problem));
    copy(l, w->q, w->previous);
    if (moving) sn_lane_extrapolate(l, w, w->before, w->previous, w->q);
    w->guessed = true;
    sn_status status = sn_lane_solve(l, w, frame, w->previous, f);
    w->guessed = false;
    SN_TRY(status);
    go_on(l, w->q, w->previous, w->before);
    return SN_OK;
}

sn_status sn_lane_raise_walls(const sn_lanes *l, sn_problem *p) {
    const sn_task *walls = sn_problem_task(p, l->options.walls);
    if (walls == NULL) return SN_OK;
    return sn_problem_set_weight(p, l->options.walls, raised * walls->weight);
}

// With walls raised, from w->q: folded otherwise where that is lower, or by the nearest valley.
static sn_status look(sn_lanes *l, sn_lane_worker *w, int frame, bool folded) {
    sn_report report;
    const sn_task *walls = sn_problem_task(w->problem, l->options.walls);
    double weight = walls != NULL ? walls->weight : 0;
    SN_TRY(l->goals(l->user, frame, w->problem));
    SN_TRY(sn_problem_set_enabled(w->problem, l->rest, false));
    SN_TRY(sn_lane_raise_walls(l, w->problem));
    sn_status status = folded ? sn_solver_solve_cold(w->cold, w->q, &report)
                              : sn_solver_solve(w->solver, w->q, &report);
    if (walls != NULL) SN_TRY(sn_problem_set_weight(w->problem, l->options.walls, weight));
    SN_TRY(status);
    sn_lane_count(&l->frames[frame], &report);
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
    sn_lane_count(&l->frames[frame], &w->latest);
    *f = w->latest.f;
    return SN_OK;
}

double sn_lane_turn(const sn_lanes *l, sn_lane_worker *w, const double *a, const double *b,
                    double *most) {
    double sum = 0, top = 0;
    copy(l, w->near, b);
    sn_lane_unwind(l->model, 0, a, w->near);
    sn_model_difference(l->model, a, w->near, w->delta);
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

void sn_lane_unwind(const sn_model *model, int first, const double *near, double *q) {
    const double turn = 0x1.921fb54442d18p+2;
    for (int k = first; k < model->njoint; k++) {
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

void sn_lane_wind_home(const sn_lanes *l, double *q) {
    sn_lane_unwind(l->model, l->placed, l->home, q);
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

// What draws each to the figure at rest; what draws it elsewhere, somebody has asked for.
static void find_drawn(sn_lanes *l) {
    const sn_problem *p = l->workers[0].problem;
    for (int k = 0; k < l->model->njoint; k++) {
        const sn_joint *j = &l->model->joint[k];
        for (int i = 0; i < j->nv; i++) {
            int q = j->q0 + i, v = j->v0 + i;
            l->drawn[v] = 0;
            // the last one is the lanes' own
            for (int r = 0; r + 1 < p->nrest && j->ops->quaternion < 0; r++)
                if (p->rest[r].active && p->rest[r].q[q] == l->home[q])
                    l->drawn[v] += p->rest[r].weight * p->rest[r].q_weight[v];
        }
    }
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
    SN_TRY(weigh(l, frame));
    find_drawn(l);
    for (int i = 0; i < l->nworker; i++)
        SN_TRY(sn_problem_set_rest_weights(l->workers[i].problem, l->rest, l->hold));
    SN_TRY(sn_lane_side_begin(l, problem));
    return sn_lane_device_begin(l, problem);
}

// --- following -----------------------------------------------------------------------------------

// Spans that have been followed, or are wanted: those of the first `frames` frames.
static int spans_of(const sn_lanes *l, int frames) {
    return frames / l->span + (frames % l->span > 0);
}

static void frames_of(const sn_lanes *l, int span, int *first, int *end) {
    *first = span * l->span;
    *end = l->span < l->nframe - *first ? *first + l->span : l->nframe;
}

sn_status sn_lane_seed(sn_lanes *l, sn_lane_worker *w, int span, int *first, int *end, int *seed) {
    frames_of(l, span, first, end);
    SN_TRY(best_frame(l, w, *first, *end, seed));
    copy(l, w->q, l->start);
    SN_TRY(sn_lane_look(l, w, *seed, &l->f[*seed]));
    copy(l, sn_lane_pose(l, *seed), w->q);
    return SN_OK;
}

// Each span is two chains, forwards and backwards from its seed.
static sn_status next_followed(sn_lanes *l, sn_lane_worker *w, sn_lane_side *s) {
    if (s->frame >= 0 && s->frame + s->step != s->end) {
        s->frame += s->step;
    } else {
        int chain, span, first, end;
        do {
            chain = sn_lane_next_item(l, w);
            s->frame = -1;
            if (chain < 0) return SN_OK;
            span = spans_of(l, l->solved) + chain / 2;
            frames_of(l, span, &first, &end);
            s->step = chain % 2 == 0 ? 1 : -1;
            s->end = s->step > 0 ? end : first - 1;
            s->frame = l->seeds[span] + s->step;
        } while (s->frame == s->end);
        copy(l, s->previous, sn_lane_pose(l, l->seeds[span]));
        s->moving = false;
    }
    copy(l, s->start, s->previous);
    if (s->moving) sn_lane_extrapolate(l, w, s->before, s->previous, s->start);
    copy(l, s->rest, s->previous);
    s->weight = l->hold;
    return SN_OK;
}

static void took_followed(sn_lanes *l, sn_lane_worker *w, sn_lane_side *s) {
    go_on(l, w->q, s->previous, s->before);
    s->moving = true;
    copy(l, sn_lane_pose(l, s->frame), s->previous);
    int followed = atomic_fetch_add(&l->followed, 1) + 1;
    if (l->options.progress != NULL && w == &l->workers[0] && s->frame % 64 == 0) {
        sn_track_frame latest = {.report = w->latest};
        if (l->batch != NULL) latest.report.mean_error = 0;  // lanes do not measure it
        l->options.progress(l->options.progress_user, followed, l->nframe, &latest);
    }
}

static sn_status seed_pass(sn_lanes *l, sn_lane_worker *w, int i) {
    int first, end, span = spans_of(l, l->solved) + i;
    return sn_lane_seed(l, w, span, &first, &end, &l->seeds[span]);
}

static sn_status follow_spans(sn_lanes *l, int count) {
    static const sn_lane_source source = {next_followed, took_followed, false};
    SN_TRY(sn_lanes_run(l, seed_pass, count));
    return sn_cancelled(l->options.cancel) ? SN_OK : sn_lanes_aside(l, &source, 2 * count);
}

sn_status sn_lanes_advance(sn_lanes *l, int count) {
    int left = l->nframe - l->solved;
    int end = l->solved + (count < 0 || count > left ? left : count);
    // a span is followed as soon as one of its frames is asked for
    int more = spans_of(l, end) - spans_of(l, l->solved);
    if (more > 0)
        SN_TRY(l->device != NULL ? sn_lane_device_follow(l, spans_of(l, l->solved), more)
                                 : follow_spans(l, more));
    l->solved = end;
    if (l->options.progress != NULL)
        l->options.progress(l->options.progress_user, l->solved, l->nframe, NULL);
    return SN_OK;
}
