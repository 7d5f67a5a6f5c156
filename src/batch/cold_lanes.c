// SPDX-License-Identifier: MIT
// Lanes for a solver's search of valleys (solvers/cold.c). They are made with the solver, as a solve allocates nothing,
// and most solvers never search: so making them touches no memory but a few lines of it. What lanes read of the problem
// is written when a search begins, as the problem is then.
#include <math.h>
#include <string.h>

#include "batch/batch.h"

typedef struct cold_lanes {
    sn_cold_lanes base;
    sn_allocator allocator;
    void *owner;
    const sn_model *model;
    int *goal_at;   // ntask
    double *q;      // nq
    double *goals;  // as many as a row has
    sn_batch_trip trip;

    // of a search: the lists that lanes read and the numbers they work with, in `room`
    char *room;
    size_t bytes;
    sn_batch_table table;
    sn_batch_work work;
    double rival;
    double watched[8];
    int slow[8], iterations[8];  // -1: not looked at yet
    sn_cancel cancel;
    bool cancelled;
} cold_lanes;

static cold_lanes *of(sn_cold_lanes *base) { return (cold_lanes *)(void *)base; }

static double *number(const cold_lanes *c, double *array, int k, int lane) {
    return &array[k * c->base.width + lane];
}

static double *state_of(const cold_lanes *c, int what, int lane) {
    return number(c, c->work.lane, what, lane);
}

static void put_pose(const cold_lanes *c, int lane, const double *q) {
    for (int i = 0; i < c->model->nq; i++)
        *number(c, c->work.q, i, lane) = *number(c, c->work.x, i, lane) = q[i];
}

static void aim(sn_cold_lanes *self, double rival) {
    cold_lanes *c = of(self);
    c->rival = rival;
    for (int l = 0; l < self->width; l++) *state_of(c, SN_LANE_STATE, l) = SN_STATE_IDLE;
}

static void layout_room(cold_lanes *c, sn_layout *layout) {
    sn_batch_table_layout(&c->table, layout);
    sn_batch_work_layout(&c->table, c->base.width, &c->work, layout);
}

static bool begin(sn_cold_lanes *self, const sn_solver *s, double rival) {
    cold_lanes *c = of(self);
    if (sn_batch_unfit(s->problem, &s->options) != NULL) return false;
    if (!sn_batch_problem_goals(s->problem, c->goal_at, c->goals)) return false;
    // the problem may have lost rest poses since the room was measured, or got them back
    sn_batch_table_count(s->problem, &s->options, false, false, &c->table);
    sn_layout layout = {.block = c->room};
    layout_room(c, &layout);
    if (layout.used > c->bytes) return false;
    memset(c->room, 0, layout.used);
    sn_batch_table_fill(&c->table, s->problem, &s->options, c->goal_at, s->round);
    c->cancel = s->options.cancel;
    c->cancelled = false;
    sn_model_zero(c->model, c->q);
    for (int l = 0; l < self->width; l++) {
        put_pose(c, l, c->q);
        for (int i = 0; i < c->table.ngoal; i++) *number(c, c->work.goal, i, l) = c->goals[i];
        *state_of(c, SN_LANE_SHARE, l) = 1;
        *state_of(c, SN_LANE_JUMP, l) = INFINITY;
    }
    aim(self, rival);
    return true;
}

static void start(sn_cold_lanes *self, int lane, const double *q) {
    cold_lanes *c = of(self);
    put_pose(c, lane, q);
    *state_of(c, SN_LANE_STATE, lane) =
        sn_batch_row_far(&c->table, q) ? SN_STATE_DONE : SN_STATE_START;
    *state_of(c, SN_LANE_STOP, lane) = SN_END_ODD;
    *state_of(c, SN_LANE_ITERATIONS, lane) = *state_of(c, SN_LANE_FACTORS, lane) = 0;
    c->watched[lane] = INFINITY;
    c->slow[lane] = 0;
    c->iterations[lane] = -1;
}

// As is_hopeless() of solvers/solver.c, once an iteration.
static bool is_hopeless(cold_lanes *c, int lane) {
    const int iterations = (int)*state_of(c, SN_LANE_ITERATIONS, lane);
    if (iterations == c->iterations[lane]) return false;
    c->iterations[lane] = iterations;
    const double f = *state_of(c, SN_LANE_F, lane), gap = f - c->rival;
    const double fall = c->watched[lane] - f;
    c->watched[lane] = f;
    if (gap < 0) return false;
    if (gap <= 1e-7 * c->rival) return true;
    const bool slow = iterations > 3 && 20 * fall < gap;
    c->slow[lane] = slow ? c->slow[lane] + 1 : 0;
    return c->slow[lane] > 3;
}

static void step(sn_cold_lanes *self) {
    cold_lanes *c = of(self);
    c->cancelled = sn_cancelled(c->cancel);
    if (c->cancelled) return;
    c->trip(&c->table, &c->work);
    for (int l = 0; l < self->width; l++) {
        const double state = *state_of(c, SN_LANE_STATE, l);
        if (state == SN_STATE_IDLE || state == SN_STATE_DONE || !is_hopeless(c, l)) continue;
        *state_of(c, SN_LANE_STATE, l) = SN_STATE_DONE;
        *state_of(c, SN_LANE_STOP, l) = SN_END_STALLED;
    }
}

static bool ended(sn_cold_lanes *self, int lane, sn_cold_end *end, double *q) {
    cold_lanes *c = of(self);
    if (!c->cancelled && *state_of(c, SN_LANE_STATE, lane) != SN_STATE_DONE) return false;
    const int how = (int)*state_of(c, SN_LANE_STOP, lane);
    const double f = *state_of(c, SN_LANE_F, lane);
    *end = (sn_cold_end){.stop = sn_batch_stop_of(how),
                         .f = f,
                         .gradient = *state_of(c, SN_LANE_GRADIENT, lane),
                         .iterations = (int)*state_of(c, SN_LANE_ITERATIONS, lane),
                         .factorizations = (int)*state_of(c, SN_LANE_FACTORS, lane),
                         .active = (int)*state_of(c, SN_LANE_ACTIVE, lane)};
    if (end->gradient < 0) end->gradient = NAN;
    // a saddle that is no lower is no use either
    end->plain = how == SN_END_ODD || (how == SN_END_SADDLE && f < c->rival);
    if (c->cancelled) {
        end->plain = false;
        end->stop = SN_STOP_CANCELLED;
        end->f = INFINITY;
    }
    for (int i = 0; i < c->model->nq; i++) q[i] = *number(c, c->work.q, i, lane);
    *state_of(c, SN_LANE_STATE, lane) = SN_STATE_IDLE;
    return true;
}

// ---- their life ---------------------------------------------------------------------------------

static void destroy(sn_cold_lanes *self) {
    const sn_allocator allocator = of(self)->allocator;
    sn_release(&allocator, of(self)->owner);
}

static void layout_lanes(cold_lanes *c, const sn_problem *p, sn_layout *layout) {
    const size_t nq = (size_t)p->model->nq;
    c->goal_at = sn_layout_take(layout, (size_t)p->ntask, sizeof *c->goal_at);
    c->q = sn_layout_take(layout, nq, sizeof *c->q);
    c->goals = sn_layout_take(layout, (size_t)c->table.ngoal, sizeof *c->goals);
    c->base.starts = sn_layout_take(layout, SN_COLD_QUEUE * nq, sizeof(double));
    c->base.ends = sn_layout_take(layout, SN_COLD_QUEUE * nq, sizeof(double));
    c->room = sn_layout_take(layout, c->bytes, 1);
}

static sn_status create_lanes(sn_solver *solver, sn_error *error) {
    const sn_problem *p = solver->problem;
    const int width = sn_batch_most_lanes();
    cold_lanes c = {.base = {.width = width,
                             .begin = begin,
                             .aim = aim,
                             .start = start,
                             .step = step,
                             .ended = ended,
                             .destroy = destroy},
                    .allocator = solver->allocator,
                    .model = solver->model,
                    .trip = sn_batch_trip_of(width)};
    sn_batch_table_most(p, &solver->options, &c.table);
    sn_layout room = {0}, layout = {0};
    layout_room(&c, &room);
    c.bytes = room.used;
    (void)sn_layout_take(&layout, 1, sizeof c);
    layout_lanes(&c, p, &layout);
    if (room.overflow) layout.overflow = true;
    void *block = sn_layout_acquire_raw(&layout, &solver->allocator, &c.owner);
    if (block == NULL) return sn_fail_memory(error);
    layout = (sn_layout){.block = block};
    cold_lanes *lanes = sn_layout_take(&layout, 1, sizeof c);
    layout_lanes(&c, p, &layout);
    (void)sn_batch_goal_places(p, false, c.goal_at);
    *lanes = c;
    solver->cold.own = solver->cold.lanes = &lanes->base;
    return SN_OK;
}

// Lanes go on by themselves for some steps: nobody can watch each of them, or the clock.
static bool has_use(const sn_solver *s) {
    const sn_solver_options *o = &s->options;
    return o->lanes && o->trace == NULL && !(o->seconds > 0) && sn_batch_most_lanes() > 1 &&
           sn_batch_unfit(s->problem, o) == NULL;
}

sn_status sn_solver_create(const sn_problem *problem, const sn_solver_options *options,
                           const sn_allocator *allocator, sn_solver **out, sn_error *error) {
    SN_TRY(sn_solver_create_plain(problem, options, allocator, out, error));
    if (!has_use(*out)) return SN_OK;
    sn_status status = create_lanes(*out, error);
    if (status == SN_OK) return SN_OK;
    sn_solver_destroy(*out);
    *out = NULL;
    return status;
}
