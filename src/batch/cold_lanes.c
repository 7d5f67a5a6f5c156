// SPDX-License-Identifier: MIT
#include "batch/cold_lanes.h"

#include <math.h>
#include <string.h>

static sn_batch_work *work_of(const sn_batch_cold *c) { return &c->worker->work; }

static double *number(const sn_batch_cold *c, double *array, int k, int lane) {
    return &array[k * c->base.width + lane];
}

static double *state_of(const sn_batch_cold *c, int what, int lane) {
    return number(c, work_of(c)->lane, what, lane);
}

static void put_pose(const sn_batch_cold *c, int lane, const double *q) {
    for (int i = 0; i < c->batch->model->nq; i++)
        *number(c, work_of(c)->q, i, lane) = *number(c, work_of(c)->x, i, lane) = q[i];
}

// What pulls, in all lanes alike.
static void put_rest(const sn_batch_cold *c, const sn_rest *rest) {
    const sn_model *m = c->batch->model;
    const bool pulls = rest != NULL && rest->active;
    double *q = c->worker->q;
    sn_model_zero(m, q);
    if (pulls) memcpy(q, rest->q, (size_t)m->nq * sizeof *q);
    sn_model_normalize_quaternions(m, q);
    for (int l = 0; l < c->base.width; l++) {
        for (int i = 0; i < m->nq; i++) *number(c, work_of(c)->anchor, i, l) = q[i];
        for (int i = 0; i < m->nv; i++)
            *number(c, work_of(c)->hold, i, l) =
                pulls ? rest->weight * rest->q_weight[m->v_of[i]] : 0;
    }
}

static bool begin(sn_cold_lanes *self, const sn_solver *s, double rival) {
    sn_batch_cold *c = (sn_batch_cold *)(void *)self;
    sn_batch *b = c->batch;
    const sn_problem *p = s->problem;
    const int more = p->ntask - b->problem->ntask;
    if (s->options.trace != NULL || s->options.seconds > 0) return false;
    if (more < 0 || more > 1 || p->nrest != b->problem->nrest + more) return false;
    if (more == 1 && p->rest[p->nrest - 1].active && !b->table.pulled) return false;
    if (!sn_batch_row_of(b, p, c->numbers)) return false;
    c->rival = rival;
    c->cancel = s->options.cancel;
    c->cancelled = false;
    c->option[0] = s->options.gradient;
    c->option[1] = s->options.goal < 0 ? -1 : s->options.goal;
    c->option[2] = b->table.option[2];
    c->option[3] = s->options.max_iterations;
    c->table = b->table;
    c->table.option = c->option;
    sn_model_zero(b->model, c->worker->q);
    for (int l = 0; l < self->width; l++) {
        put_pose(c, l, c->worker->q);
        for (int i = 0; i < b->ngoal; i++) *number(c, work_of(c)->goal, i, l) = c->numbers[i];
        *state_of(c, SN_LANE_STATE, l) = SN_STATE_IDLE;
        *state_of(c, SN_LANE_SHARE, l) = 1;
        *state_of(c, SN_LANE_JUMP, l) = INFINITY;
    }
    if (b->table.pulled) put_rest(c, more == 1 ? &p->rest[p->nrest - 1] : NULL);
    return true;
}

static void start(sn_cold_lanes *self, int lane, const double *q) {
    sn_batch_cold *c = (sn_batch_cold *)(void *)self;
    put_pose(c, lane, q);
    *state_of(c, SN_LANE_STATE, lane) =
        sn_batch_row_far(c->batch, q) ? SN_STATE_DONE : SN_STATE_START;
    *state_of(c, SN_LANE_STOP, lane) = SN_END_ODD;
    *state_of(c, SN_LANE_ITERATIONS, lane) = *state_of(c, SN_LANE_FACTORS, lane) = 0;
    c->watched[lane] = INFINITY;
    c->slow[lane] = 0;
    c->iterations[lane] = -1;
    c->hopeless[lane] = false;
}

// As is_hopeless() of solvers/solver.c, once an iteration.
static bool is_hopeless(sn_batch_cold *c, int lane) {
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
    sn_batch_cold *c = (sn_batch_cold *)(void *)self;
    c->cancelled = sn_cancelled(c->cancel);
    if (c->cancelled) return;
    c->batch->trip(&c->table, work_of(c));
    for (int l = 0; l < self->width; l++) {
        const double state = *state_of(c, SN_LANE_STATE, l);
        if (state == SN_STATE_IDLE || state == SN_STATE_DONE || !is_hopeless(c, l)) continue;
        c->hopeless[l] = true;
        *state_of(c, SN_LANE_STATE, l) = SN_STATE_DONE;
        *state_of(c, SN_LANE_STOP, l) = SN_END_STALLED;
    }
}

static bool ended(sn_cold_lanes *self, int lane, sn_cold_end *end, double *q) {
    sn_batch_cold *c = (sn_batch_cold *)(void *)self;
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
    for (int i = 0; i < c->batch->model->nq; i++) q[i] = *number(c, work_of(c)->q, i, lane);
    *state_of(c, SN_LANE_STATE, lane) = SN_STATE_IDLE;
    return true;
}

void sn_batch_cold_layout(sn_batch_cold *c, const sn_batch *batch, sn_layout *layout) {
    const size_t nq = (size_t)batch->model->nq;
    c->numbers = sn_layout_take(layout, (size_t)batch->ngoal, sizeof(double));
    c->base.starts = sn_layout_take(layout, SN_COLD_QUEUE * nq, sizeof(double));
    c->base.ends = sn_layout_take(layout, SN_COLD_QUEUE * nq, sizeof(double));
}

void sn_batch_cold_make(sn_batch_cold *c, sn_batch *batch, int worker) {
    c->batch = batch;
    c->worker = &batch->worker[worker];
    c->base.width = batch->lanes;
    c->base.begin = begin;
    c->base.start = start;
    c->base.step = step;
    c->base.ended = ended;
    c->base.destroy = NULL;
}

// --- of a solver's own ---------------------------------------------------------------------------

static void destroy_own(sn_cold_lanes *self) {
    sn_batch_cold *c = (sn_batch_cold *)(void *)self;
    const sn_allocator allocator = c->batch->allocator;
    sn_batch_destroy(c->batch);
    sn_release(&allocator, c->owner);
}

sn_status sn_solver_use_lanes(sn_solver *solver, sn_error *error) {
    SN_NEED(solver, error);
    sn_batch_options o = sn_batch_options_default();
    o.device = SN_DEVICE_CPU;
    o.solver = solver->options;
    o.locals = true;
    if (solver->cold.lanes != NULL || sn_batch_unfit(solver->problem, &o.solver) != NULL)
        return SN_OK;
    sn_batch *batch;
    SN_TRY(sn_batch_create(solver->problem, &o, &solver->allocator, &batch, error));
    sn_batch_cold made = {0}, *c;
    sn_layout layout = {0};
    (void)sn_layout_take(&layout, 1, sizeof *c);
    sn_batch_cold_layout(&made, batch, &layout);
    void *owner, *block = sn_layout_acquire(&layout, &solver->allocator, &owner);
    if (block == NULL) {
        sn_batch_destroy(batch);
        return sn_fail_memory(error);
    }
    layout = (sn_layout){.block = block};
    c = sn_layout_take(&layout, 1, sizeof *c);
    sn_batch_cold_layout(&made, batch, &layout);
    sn_batch_cold_make(&made, batch, 0);
    made.owner = owner;
    made.base.destroy = destroy_own;
    *c = made;
    solver->cold.lanes = &c->base;
    return SN_OK;
}
