// SPDX-License-Identifier: MIT
// A batch's life.
#include "batch/batch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/threads.h"

enum { VERSION = 1 };

sn_batch_options sn_batch_options_default(void) {
    return (sn_batch_options){
        .version = VERSION, .solver = sn_solver_options_default(), .threads = 1};
}

// NULL, or the option that is out of range.
static const char *bad_option(const sn_batch_options *o) {
    if (o->version != VERSION) return "version";
    if ((unsigned)o->device >= SN_DEVICE_COUNT) return "device";
    if ((unsigned)o->precision >= SN_PRECISION_COUNT) return "precision";
    if ((unsigned)o->start >= SN_BATCH_START_COUNT) return "start";
    if (o->seeds < 0) return "seeds";
    if (isnan(o->good)) return "good";
    if (o->lanes != 0 && o->lanes != 1 && o->lanes != 2 && o->lanes != 4 && o->lanes != 8)
        return "lanes";
    if (o->threads < 1 || o->threads > SN_MAX_THREADS) return "threads";
    return NULL;
}

static void layout_batch(sn_batch *b, sn_layout *layout) {
    const size_t nq = (size_t)b->model->nq, nv = (size_t)b->model->nv, lanes = (size_t)b->lanes;
    b->goal_at = sn_layout_take(layout, (size_t)b->problem->ntask, sizeof *b->goal_at);
    b->round = sn_layout_take(layout, nv, sizeof *b->round);
    if (b->fits) sn_batch_table_layout(&b->table, layout);
    b->worker = sn_layout_take(layout, (size_t)b->nworker, sizeof *b->worker);
    for (int i = 0; i < b->nworker; i++) {
        sn_batch_worker spare, *w = b->worker != NULL ? &b->worker[i] : &spare;
        if (b->fits) sn_batch_work_layout(&b->table, b->lanes, &w->work, layout);
        w->row = sn_layout_take(layout, lanes, sizeof *w->row);
        for (size_t l = 0; l < lanes; l++) {
            sn_batch_row none, *r = w->row != NULL ? &w->row[l] : &none;
            r->start = sn_layout_take(layout, nq, sizeof(double));
            r->previous = sn_layout_take(layout, nq, sizeof(double));
            r->before = sn_layout_take(layout, nq, sizeof(double));
            r->best = sn_layout_take(layout, nq, sizeof(double));
        }
        w->q = sn_layout_take(layout, nq, sizeof(double));
        w->delta = sn_layout_take(layout, nv, sizeof(double));
        w->numbers = sn_layout_take(layout, (size_t)b->ngoal, sizeof(double));
    }
}

static sn_status create_worker(sn_batch *b, sn_batch_worker *w, sn_error *error) {
    w->batch = b;
    SN_TRY(sn_problem_copy(b->problem, NULL, 0, &b->allocator, &w->problem, error));
    return sn_solver_create(w->problem, &b->options.solver, &b->allocator, &w->solver, error);
}

static void find_note(sn_batch *b, const char *unfit) {
    if (unfit != NULL)
        (void)snprintf(b->note, sizeof b->note, "the plain solver, one row at a time: %s", unfit);
    else
        (void)snprintf(b->note, sizeof b->note, "this processor, %d side by side", b->lanes);
}

sn_status sn_batch_create(const sn_problem *problem, const sn_batch_options *options,
                          const sn_allocator *allocator, sn_batch **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    SN_NEED(problem, error);
    SN_NEED(out, error);
    sn_batch b = {.allocator = sn_allocator_of(allocator),
                  .options = options != NULL ? *options : sn_batch_options_default()};
    SN_TRY(sn_fail_option(error, bad_option(&b.options)));
    b.options.solver.trace = NULL;
    b.options.solver.seconds = 0;
    SN_TRY(sn_problem_copy(problem, NULL, 0, allocator, &b.problem, error));
    b.model = b.problem->model;
    b.nworker = b.options.threads;
    b.ngoal = sn_batch_goal_places(b.problem, b.options.locals, NULL);
    const char *unfit = sn_batch_unfit(b.problem, &b.options.solver);
    const int most = sn_batch_most_lanes();
    b.fits = unfit == NULL;
    b.lanes = !b.fits ? 1 : b.options.lanes > 0 && b.options.lanes < most ? b.options.lanes : most;
    b.trip = sn_batch_trip_of(b.lanes);
    if (b.fits) sn_batch_table_count(b.problem, &b.options.solver, b.options.locals, &b.table);
    sn_layout layout = {0};
    sn_batch *batch = sn_layout_take(&layout, 1, sizeof *batch);
    layout_batch(&b, &layout);
    void *block = sn_layout_acquire(&layout, allocator, &b.owner);
    if (block == NULL) {
        sn_problem_destroy(b.problem);
        return sn_fail_memory(error);
    }
    layout = (sn_layout){.block = block};
    batch = sn_layout_take(&layout, 1, sizeof *batch);
    layout_batch(&b, &layout);
    memcpy(batch, &b, sizeof b);
    sn_status status = SN_OK;
    for (int i = 0; i < b.nworker && status == SN_OK; i++)
        status = create_worker(batch, &batch->worker[i], error);
    if (status != SN_OK) {
        sn_batch_destroy(batch);
        return status;
    }
    (void)sn_batch_goal_places(batch->problem, b.options.locals, batch->goal_at);
    if (b.fits) {
        // which angles go round is the solver's to say
        sn_solver *s = batch->worker[0].solver;
        sn_solver_round_begin(s);
        memcpy(batch->round, s->round, (size_t)b.model->nv * sizeof *batch->round);
        sn_batch_table_fill(&batch->table, batch->problem, &b.options.solver, batch->goal_at,
                            batch->round);
    }
    find_note(batch, unfit);
    *out = batch;
    return SN_OK;
}

void sn_batch_destroy(sn_batch *batch) {
    if (batch == NULL) return;
    for (int i = 0; i < batch->nworker; i++) {
        sn_solver_destroy(batch->worker[i].solver);
        sn_problem_destroy(batch->worker[i].problem);
    }
    sn_problem_destroy(batch->problem);
    sn_allocator allocator = batch->allocator;
    sn_release(&allocator, batch->owner);
}

int sn_batch_ngoal(const sn_batch *batch) { return batch != NULL ? batch->ngoal : 0; }

int sn_batch_goal_at(const sn_batch *batch, int task) {
    if (batch == NULL || task < 0 || task >= batch->problem->ntask) return -1;
    return batch->goal_at[task];
}

int sn_batch_lanes(const sn_batch *batch) { return batch != NULL ? batch->lanes : 0; }

const char *sn_batch_note(const sn_batch *batch) { return batch != NULL ? batch->note : ""; }

sn_batch_counts sn_batch_count(const sn_batch *batch) {
    return batch != NULL ? batch->counts : (sn_batch_counts){0};
}

static bool good_job(const sn_batch *batch, const sn_batch_job *j) {
    if (batch == NULL || j->nchain < 0 || j->nframe < 0) return false;
    if (j->nchain == 0 || j->nframe == 0) return true;
    return (j->goals != NULL || batch->ngoal == 0) && j->poses != NULL;
}

static sn_status run(sn_batch *batch, const sn_batch_job *job) { return sn_batch_run(batch, job); }

sn_status sn_batch_solve(sn_batch *batch, int n, const double *goals, const double *starts,
                         double *poses, sn_batch_report *reports) {
    const sn_batch_job job = {n, 1, goals, starts, poses, reports};
    if (!good_job(batch, &job)) return SN_ERR_ARGUMENT;
    return run(batch, &job);
}

sn_status sn_batch_track(sn_batch *batch, int nchain, int nframe, const double *goals,
                         const double *starts, double *poses, sn_batch_report *reports) {
    const sn_batch_job job = {nchain, nframe, goals, starts, poses, reports};
    if (!good_job(batch, &job)) return SN_ERR_ARGUMENT;
    return run(batch, &job);
}

sn_status sn_batch_submit(sn_batch *batch, int nchain, int nframe, const double *goals,
                          const double *starts, double *poses, sn_batch_report *reports) {
    const sn_batch_job job = {nchain, nframe, goals, starts, poses, reports};
    if (!good_job(batch, &job) || batch->nwaiting >= 2) return SN_ERR_ARGUMENT;
    batch->waiting[batch->nwaiting++] = job;
    return SN_OK;
}

sn_status sn_batch_wait(sn_batch *batch) {
    if (batch == NULL || batch->nwaiting == 0) return SN_ERR_ARGUMENT;
    const sn_batch_job job = batch->waiting[0];
    batch->waiting[0] = batch->waiting[1];
    batch->nwaiting--;
    return run(batch, &job);
}

int sn_batch_devices(sn_device_info *out, int most) {
    (void)out, (void)most;
    return 0;
}
