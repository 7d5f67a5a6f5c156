// SPDX-License-Identifier: MIT
// Frames of a take side by side in the lanes of batch/: chains that are followed, every other frame of a sweep. A lane
// that is done takes the next frame at once. Where nothing but tasks holds the pose a frame takes plain steps
// (batch/stride.h), else the steps of a solver (batch/trip.h); what lanes cannot do is left to the plain solver, frame by
// frame. A frame's bits depend neither on its neighbours nor on how many lanes and threads there are.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "batch/batch.h"
#include "model/model.h"
#include "track/lanes.h"

typedef sn_lane_side side;

// --- life ----------------------------------------------------------------------------------------

static bool is_plain(const sn_problem *p) {
    const sn_model *m = p->model;
    bool plain = m->nloop == 0 && m->ncoupling == 0 && m->ncone == 0;
    for (int v = 0; v < m->nv; v++)
        plain = plain && m->lower[v] == -INFINITY && m->upper[v] == INFINITY;
    return plain;
}

static void lay_out(sn_lanes *l, sn_layout *layout) {
    const int lanes = l->batch != NULL ? l->batch->lanes : 1;
    l->sides = sn_layout_take(layout, (size_t)l->nworker * (size_t)lanes, sizeof *l->sides);
    for (int i = 0; i < l->nworker * lanes; i++) {
        side spare, *s = l->sides != NULL ? &l->sides[i] : &spare;
        double **pose[] = {&s->previous, &s->before, &s->start, &s->rest};
        for (int k = 0; k < 4; k++) *pose[k] = sn_layout_take(layout, l->nq, sizeof(double));
        s->own_weight = sn_layout_take(layout, l->nv, sizeof(double));
    }
}

sn_status sn_lane_side_begin(sn_lanes *l, const sn_problem *problem) {
    sn_batch_options o = sn_batch_options_default();
    o.device = SN_DEVICE_CPU;
    o.solver = l->options.solver;
    o.lanes = l->options.lanes;
    o.threads = l->nworker;
    o.pool = l->options.pool;
    l->one_by_one = sn_batch_unfit(problem, &o.solver);
    if (l->one_by_one == NULL)
        SN_TRY(sn_batch_create_held(problem, &o, l->hold, &l->allocator, &l->batch, NULL));
    l->strides = l->batch != NULL && l->options.solver.method == SN_METHOD_HYBRID &&
                 is_plain(l->workers[0].problem);
    sn_layout layout = {0};
    lay_out(l, &layout);
    void *block = sn_layout_acquire(&layout, &l->allocator, &l->side_owner);
    if (block == NULL) return SN_ERR_MEMORY;
    layout = (sn_layout){.block = block};
    lay_out(l, &layout);
    return SN_OK;
}

void sn_lane_side_end(sn_lanes *l) {
    sn_batch_destroy(l->batch);
    l->batch = NULL;
    if (l->side_owner != NULL) sn_release(&l->allocator, l->side_owner);
    l->side_owner = NULL;
}

// --- lanes ---------------------------------------------------------------------------------------

static int index_of(const sn_lanes *l, const sn_lane_worker *w) { return (int)(w - l->workers); }

static sn_batch_worker *room_of(const sn_lanes *l, const sn_lane_worker *w) {
    return &l->batch->worker[index_of(l, w)];
}

static side *side_of(const sn_lanes *l, const sn_lane_worker *w, int lane) {
    return &l->sides[index_of(l, w) * (l->batch != NULL ? l->batch->lanes : 1) + lane];
}

// Lanes of one thread, `width` side by side.
typedef struct lanes {
    const sn_lanes *l;
    const sn_batch_work *work;
    int width;
} lanes;

static double *number(const lanes *x, double *array, int k, int lane) {
    return &array[k * x->width + lane];
}

static double *state_of(const lanes *x, int what, int lane) {
    return number(x, x->work->lane, what, lane);
}

static void put_pose(const lanes *x, int lane, const double *q) {
    for (int i = 0; i < (int)x->l->nq; i++)
        *number(x, x->work->q, i, lane) = *number(x, x->work->x, i, lane) = q[i];
}

// A frame into a lane. @param numbers  its goals @param rest, weight  what it is pulled to, and how much
static void put_frame(const lanes *x, int lane, const double *numbers, const double *q, bool near,
                      const double *rest, const double *weight) {
    const sn_lanes *l = x->l;
    put_pose(x, lane, q);
    for (int i = 0; i < l->batch->ngoal; i++) *number(x, x->work->goal, i, lane) = numbers[i];
    for (int i = 0; i < (int)l->nq; i++) *number(x, x->work->anchor, i, lane) = rest[i];
    for (int i = 0; i < (int)l->nv; i++)
        *number(x, x->work->hold, i, lane) = weight[l->model->v_of[i]];
    *state_of(x, SN_LANE_STATE, lane) = SN_STATE_START;
    *state_of(x, SN_LANE_NEAR, lane) = near;
    *state_of(x, SN_LANE_SHARE, lane) = 1;
    *state_of(x, SN_LANE_JUMP, lane) = INFINITY;
}

// Lanes that never get a frame must have sensible numbers all the same.
static void clear_lane(const lanes *x, sn_lane_worker *w, int lane) {
    double *numbers = room_of(x->l, w)->numbers;
    for (int i = 0; i < x->l->batch->ngoal; i++) numbers[i] = NAN;
    put_frame(x, lane, numbers, x->l->start, false, x->l->start, x->l->hold);
    *state_of(x, SN_LANE_STATE, lane) = SN_STATE_IDLE;
}

// How a lane ended; its pose is in w->q. False where a solver must go on, from w->q or, with *anew, from the start.
static bool read_lane(const lanes *x, sn_lane_worker *w, int lane, sn_report *report, bool *anew) {
    const sn_lanes *l = x->l;
    const int how = (int)*state_of(x, SN_LANE_STOP, lane);
    const int looks = (int)*state_of(x, SN_LANE_FACTORS, lane);
    for (int i = 0; i < (int)l->nq; i++) w->q[i] = *number(x, x->work->q, i, lane);
    if (!l->strides) sn_model_follow(l->batch->model, w->q);
    *report = (sn_report){.stop = sn_batch_stop_of(how), .f = *state_of(x, SN_LANE_F, lane)};
    report->iterations = (int)*state_of(x, SN_LANE_ITERATIONS, lane);
    report->hessians = report->factorizations = report->poses = looks;
    report->active = l->strides ? 0 : (int)*state_of(x, SN_LANE_ACTIVE, lane);
    *anew = how == SN_END_ODD;
    return how != SN_END_ODD && how != SN_END_SADDLE && !(l->strides && how == SN_END_ITERATIONS);
}

bool sn_lane_steps(sn_lanes *l, sn_lane_worker *w, bool near, sn_report *report) {
    const sn_rest *rest = &w->problem->rest[w->problem->nrest - 1];
    sn_batch_worker *room = room_of(l, w);
    const lanes x = {l, &room->work, 1};
    bool anew;
    if (sn_batch_row_far(&l->batch->table, w->q) ||
        !sn_batch_row_of(l->batch, w->problem, room->numbers))
        return false;
    memcpy(w->begun, w->q, l->nq * sizeof *w->q);
    put_frame(&x, 0, room->numbers, w->q, near, rest->q, rest->q_weight);
    do sn_batch_stride_of(1)(&l->batch->table, x.work);
    while (*state_of(&x, SN_LANE_STATE, 0) != SN_STATE_DONE);
    if (read_lane(&x, w, 0, report, &anew)) return true;
    if (anew) memcpy(w->q, w->begun, l->nq * sizeof *w->q);
    return false;
}

// --- frames of a source --------------------------------------------------------------------------

int sn_lane_next_item(sn_lanes *l, const sn_lane_worker *w) {
    const int i = atomic_fetch_add(&l->item, 1);
    if (w == &l->workers[0]) sn_lane_tell(l, fmin((double)i / l->items, 1));
    return i < l->items ? i : -1;
}

// The frame is solved: w->q, with w->latest.
static void end_frame(sn_lanes *l, sn_lane_worker *w, side *s) {
    l->f[s->frame] = w->latest.f - sn_lane_pulled(l, w, s->weight, s->rest, w->q);
    sn_lane_count(&l->frames[s->frame], &w->latest);
    l->source->took(l, w, s);
}

// By the plain solver, from w->q.
static sn_status solve_frame(sn_lanes *l, sn_lane_worker *w, side *s) {
    SN_TRY(sn_problem_set_rest_weights(w->problem, l->rest, s->weight));
    SN_TRY(sn_lane_solver(l, w, s->frame, s->rest));
    end_frame(l, w, s);
    return SN_OK;
}

// The next frame that is for lanes; those before it are solved. s->frame < 0: none is left.
static sn_status fill_lane(const lanes *x, sn_lanes *l, sn_lane_worker *w, int lane) {
    side *s = side_of(l, w, lane);
    for (;;) {
        SN_TRY(l->source->next(l, w, s));
        if (sn_cancelled(l->options.cancel)) s->frame = -1;
        if (s->frame < 0) break;
        // a cubic that led through a gap knows of no limits; lanes take a start to be inside
        (void)sn_model_clamp(w->problem->model, s->start);
        SN_TRY(l->goals(l->user, s->frame, w->problem));
        if (l->batch != NULL && !sn_lane_is_careful(l, s->frame) &&
            !sn_batch_row_far(&l->batch->table, s->start) &&
            sn_batch_row_of(l->batch, w->problem, room_of(l, w)->numbers)) {
            put_frame(x, lane, room_of(l, w)->numbers, s->start, l->source->near, s->rest,
                      s->weight);
            return SN_OK;
        }
        memcpy(w->q, s->start, l->nq * sizeof *w->q);
        SN_TRY(solve_frame(l, w, s));
    }
    if (l->batch != NULL) *state_of(x, SN_LANE_STATE, lane) = SN_STATE_IDLE;
    return SN_OK;
}

// A lane is done.
static sn_status empty_lane(const lanes *x, sn_lanes *l, sn_lane_worker *w, int lane) {
    side *s = side_of(l, w, lane);
    bool anew;
    bool good = read_lane(x, w, lane, &w->latest, &anew);
    if (good && !l->strides) good = sn_batch_row_turns(l->batch, s->start, w->q);
    if (good) {
        atomic_fetch_add(&l->side_frames, 1);
        end_frame(l, w, s);
        return SN_OK;
    }
    if (anew) memcpy(w->q, s->start, l->nq * sizeof *w->q);
    SN_TRY(l->goals(l->user, s->frame, w->problem));
    return solve_frame(l, w, s);
}

// What one thread does.
static sn_status work_aside(sn_lanes *l, sn_lane_worker *w, int i) {
    (void)i;
    const int width = l->batch != NULL ? l->width : 1;
    const lanes x = {l, l->batch != NULL ? &room_of(l, w)->work : NULL, width};
    int live = 0;
    for (int lane = 0; lane < width; lane++) {
        if (l->batch != NULL) clear_lane(&x, w, lane);
        side_of(l, w, lane)->frame = -1;
        SN_TRY(fill_lane(&x, l, w, lane));
        live += side_of(l, w, lane)->frame >= 0;
    }
    const sn_batch_trip trip = l->strides ? sn_batch_stride_of(width) : sn_batch_trip_of(width);
    while (live > 0 && !sn_cancelled(l->options.cancel)) {
        trip(&l->batch->table, x.work);
        for (int lane = 0; lane < width; lane++) {
            if (side_of(l, w, lane)->frame < 0) continue;
            if (*state_of(&x, SN_LANE_STATE, lane) != SN_STATE_DONE) continue;
            SN_TRY(empty_lane(&x, l, w, lane));
            SN_TRY(fill_lane(&x, l, w, lane));
            live -= side_of(l, w, lane)->frame < 0;
        }
    }
    return sn_problem_set_rest_weights(w->problem, l->rest, l->hold);
}

sn_status sn_lanes_aside(sn_lanes *l, const sn_lane_source *source, int items) {
    const int workers = l->nworker < items ? l->nworker : items;
    if (items == 0) return SN_OK;
    l->source = source;
    l->items = items;
    atomic_store(&l->item, 0);
    l->width = 1;
    // as many lanes as there are items for a thread
    while (l->batch != NULL && l->width < l->batch->lanes && l->width * workers < items)
        l->width *= 2;
    return sn_lanes_run(l, work_aside, workers);
}
