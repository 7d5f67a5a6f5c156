// SPDX-License-Identifier: MIT
// A batch's life.
#include "batch/batch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/threads.h"
#include "batch/device.h"

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
    if (!(o->rest >= 0 && o->rest <= 1)) return "rest";
    if (!(o->jump >= 0)) return "jump";
    if (o->device_threads < 0 || o->device_threads > 1 << 24) return "device_threads";
    return NULL;
}

static void layout_batch(sn_batch *b, sn_layout *layout) {
    const size_t nq = (size_t)b->model->nq, nv = (size_t)b->model->nv, lanes = (size_t)b->lanes;
    b->goal_at = sn_layout_take(layout, (size_t)b->problem->ntask, sizeof *b->goal_at);
    b->round = sn_layout_take(layout, nv, sizeof *b->round);
    b->pull = sn_layout_take(layout, nv, sizeof *b->pull);
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

// What pulls a frame to the pose before it: a share of how much the tasks see of each degree of freedom, and of
// those that they hardly see a thousandth of the most, as sn_tracker has it; here at the zero pose, once for all.
static sn_status find_pull(sn_batch *b, sn_error *error) {
    const sn_model *m = b->model;
    sn_workspace *ws = NULL;
    double *q = b->worker[0].q, *seen = b->worker[0].delta, top = 0, f;
    sn_model_zero(m, q);
    (void)sn_model_clamp(m, q);
    // with all goals there, wherever they are
    sn_problem *whole = NULL;
    SN_TRY(sn_problem_copy(b->problem, NULL, 0, &b->allocator, &whole, error));
    for (int i = 0; i < whole->ntask; i++) (void)sn_problem_set_missing(whole, i, false);
    sn_status status = sn_workspace_create(whole, false, &b->allocator, &ws, error);
    if (status == SN_OK) status = sn_workspace_eval(ws, q, SN_EVAL_GAUSS_NEWTON, &f);
    if (status == SN_OK) sn_workspace_fields_diagonal(ws, seen);
    sn_workspace_destroy(ws);
    sn_problem_destroy(whole);
    if (status != SN_OK) return sn_fail(error, status, 0, "the zero pose cannot be evaluated");
    for (int i = 0; i < m->nv; i++) top = fmax(top, seen[i]);
    for (int i = 0; i < m->nv; i++)
        // what follows others goes where they lead it
        b->pull[m->v_of[i]] = m->ncoupling > 0 && m->follows[m->v_of[i]]
                                  ? 0
                                  : b->options.rest * fmax(seen[i], 1e-3 * top);
    return SN_OK;
}

static sn_status create_worker(sn_batch *b, sn_batch_worker *w, sn_error *error) {
    w->batch = b;
    w->share = 1;
    sn_task rest = sn_task_default(SN_TASK_REST);
    rest.q = w->q;
    rest.q_weight = b->pull;
    sn_model_zero(b->model, w->q);
    SN_TRY(sn_problem_copy(b->problem, &rest, b->options.rest > 0 ? 1 : 0, &b->allocator,
                           &w->problem, error));
    return sn_solver_create_plain(w->problem, &b->options.solver, &b->allocator, &w->solver, error);
}

// Where rows are solved; `why` not elsewhere.
static void find_note(sn_batch *b, const char *why) {
    if (!b->fits)
        (void)snprintf(b->note, sizeof b->note, "the plain solver, one row at a time: %s", why);
    else if (b->device != NULL)
        (void)snprintf(
            b->note, sizeof b->note, "%.120s by OpenCL, %s", sn_batch_device_name(b->device),
            b->options.precision == SN_PRECISION_MIXED ? "floats, then doubles" : "doubles");
    else
        (void)snprintf(b->note, sizeof b->note, "this processor, %d side by side%s%.1200s",
                       b->lanes, why[0] != '\0' ? ": " : "", why);
}

// A device where one is wanted and there is one.
static void find_device(sn_batch *b) {
    char why[1200] = "";
    if (b->options.device == SN_DEVICE_CPU) {
        why[0] = '\0';
    } else if (b->options.seeds > 0) {
        (void)snprintf(why, sizeof why, "other starts are tried here");
    } else if (b->model->ncoupling > 0) {
        (void)snprintf(why, sizeof why, "coordinates that follow others are put in place here");
    } else {
        b->device = sn_batch_device_create(b, why, sizeof why);
    }
    // what was not asked for need not be explained
    find_note(b, b->options.device == SN_DEVICE_OPENCL ? why : "");
}

// @param hold  what pulls frames to the pose before them; NULL: as the options say
static sn_status create(const sn_problem *problem, const sn_batch_options *options,
                        const double *hold, const sn_allocator *allocator, sn_batch **out,
                        sn_error *error) {
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
    b.flat = b.model->ncoupling == 0;
    for (int k = 0; k < b.model->njoint; k++)
        b.flat = b.flat && b.model->joint[k].ops->integrate == NULL &&
                 b.model->joint[k].ops->difference == NULL;
    b.ngoal = sn_batch_goal_places(b.problem, b.options.locals, NULL);
    const char *unfit = sn_batch_unfit(b.problem, &b.options.solver);
    const int most = sn_batch_most_lanes();
    b.fits = unfit == NULL;
    b.lanes = !b.fits ? 1 : b.options.lanes > 0 && b.options.lanes < most ? b.options.lanes : most;
    b.trip = sn_batch_trip_of(b.lanes);
    if (b.fits)
        sn_batch_table_count(b.problem, &b.options.solver, b.options.locals, b.options.rest > 0,
                             &b.table);
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
    sn_status status = b.options.rest > 0 && hold == NULL ? find_pull(batch, error) : SN_OK;
    if (hold != NULL) memcpy(batch->pull, hold, (size_t)b.model->nv * sizeof *hold);
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
        for (int i = 0; i < b.model->nv && batch->table.pulled; i++)
            batch->table.pull[i] = batch->pull[b.model->v_of[i]];
        for (int i = 0; i < b.model->nv; i++) {
            const int v = b.model->v_of[i];
            batch->turning = batch->turning || batch->round[i];
            batch->bounded = batch->bounded ||
                             (batch->round[i] && b.model->upper[v] - b.model->lower[v] < INFINITY);
        }
        find_device(batch);
    } else {
        find_note(batch, unfit);
    }
    *out = batch;
    return SN_OK;
}

sn_status sn_batch_create(const sn_problem *problem, const sn_batch_options *options,
                          const sn_allocator *allocator, sn_batch **out, sn_error *error) {
    return create(problem, options, NULL, allocator, out, error);
}

sn_status sn_batch_create_held(const sn_problem *problem, const sn_batch_options *options,
                               const double *hold, const sn_allocator *allocator, sn_batch **out,
                               sn_error *error) {
    sn_batch_options o = *options;
    o.rest = 1;  // there is such a pull
    return create(problem, &o, hold, allocator, out, error);
}

void sn_batch_destroy(sn_batch *batch) {
    if (batch == NULL) return;
    sn_batch_device_destroy(batch->device);
    sn_batch_device_destroy(batch->lost);
    for (int i = 0; i < batch->nroom; i++) sn_release(&batch->allocator, batch->room[i]);
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

// The rest of a job from a chain on.
static sn_batch_job rest_of(const sn_batch *b, const sn_batch_job *job, int done) {
    const size_t nq = (size_t)b->model->nq, n = (size_t)done, rows = n * (size_t)job->nframe;
    return (sn_batch_job){
        job->nchain - done,
        job->nframe,
        job->goals + rows * (size_t)b->ngoal,
        job->starts != NULL ? job->starts + n * nq : NULL,
        job->poses + rows * nq,
        job->reports != NULL ? job->reports + rows : NULL,
        0,
        NULL,
        NULL,
        NULL,
        0,
    };
}

// A device that failed is left, and this processor does what it did not.
static sn_status leave_device(sn_batch *b, const sn_batch_job *job, int done, const char *why) {
    b->lost = b->device;  // what memory it gave stays until the end
    b->device = NULL;
    find_note(b, why);
    const sn_batch_job rest = rest_of(b, job, done);
    return sn_batch_run(b, &rest);
}

// Does a device pay for so many? Where one was asked for, always. Poses in the place of starts that are
// none would be overwritten before they are looked at.
static bool for_device(const sn_batch *b, const sn_batch_job *j) {
    if (b->device == NULL || j->nchain == 0 || j->nframe == 0) return false;
    if (b->options.device == SN_DEVICE_AUTO && j->nchain < 4096) return false;
    for (int i = 0; i < j->nchain && j->starts == j->poses; i++)
        if (sn_model_check_pose(b->model, j->starts + (size_t)i * (size_t)b->model->nq, NULL) !=
            SN_OK)
            return false;
    return true;
}

static sn_status run(sn_batch *batch, const sn_batch_job *job) {
    int done = 0;
    char why[1200] = "";
    if (!for_device(batch, job)) return sn_batch_run(batch, job);
    if (sn_batch_device_run(batch, job, &done, why, sizeof why)) return SN_OK;
    return leave_device(batch, job, done, why);
}

sn_status sn_batch_solve(sn_batch *batch, int n, const double *goals, const double *starts,
                         double *poses, sn_batch_report *reports) {
    const sn_batch_job job = {n, 1, goals, starts, poses, reports, 0, NULL, NULL, NULL, 0};
    if (!good_job(batch, &job)) return SN_ERR_ARGUMENT;
    return run(batch, &job);
}

sn_status sn_batch_track(sn_batch *batch, int nchain, int nframe, const double *goals,
                         const double *starts, double *poses, sn_batch_report *reports) {
    const sn_batch_job job = {nchain, nframe, goals, starts, poses, reports,
                              0,      NULL,   NULL,  NULL,   0};
    if (!good_job(batch, &job)) return SN_ERR_ARGUMENT;
    return run(batch, &job);
}

sn_status sn_batch_submit(sn_batch *batch, int nchain, int nframe, const double *goals,
                          const double *starts, double *poses, sn_batch_report *reports) {
    const sn_batch_job job = {nchain, nframe, goals, starts, poses, reports,
                              0,      NULL,   NULL,  NULL,   0};
    if (!good_job(batch, &job) || batch->nwaiting >= 2) return SN_ERR_ARGUMENT;
    const int at = batch->nwaiting++, slot = batch->next_slot;
    batch->waiting[at] = job;
    batch->slot[at] = slot;
    batch->begun[at] = for_device(batch, &job) && sn_batch_device_begin(batch, &job, slot);
    if (batch->begun[at]) batch->next_slot = 1 - slot;
    return SN_OK;
}

sn_status sn_batch_wait(sn_batch *batch) {
    if (batch == NULL || batch->nwaiting == 0) return SN_ERR_ARGUMENT;
    const sn_batch_job job = batch->waiting[0];
    const bool begun = batch->begun[0];
    const int slot = batch->slot[0];
    batch->waiting[0] = batch->waiting[1];
    batch->begun[0] = batch->begun[1];
    batch->slot[0] = batch->slot[1];
    batch->nwaiting--;
    if (!begun) return run(batch, &job);
    if (batch->device == NULL) return sn_batch_run(batch, &job);  // it failed in the meantime
    char why[1200] = "";
    if (sn_batch_device_end(batch, &job, slot, why, sizeof why)) return SN_OK;
    return leave_device(batch, &job, 0, why);
}

void *sn_batch_room(sn_batch *batch, size_t bytes) {
    if (batch == NULL || bytes == 0) return NULL;
    if (batch->device != NULL) {
        void *room = sn_batch_device_room(batch->device, bytes);
        if (room != NULL) return room;
    }
    const int most = (int)(sizeof batch->room / sizeof batch->room[0]);
    if (batch->nroom >= most) return NULL;
    void *room = sn_acquire(&batch->allocator, bytes);
    if (room != NULL) batch->room[batch->nroom++] = room;
    return room;
}

int sn_batch_devices(sn_device_info *out, int most) {
    sn_opencl cl;
    if (most < 0 || (out == NULL && most > 0) || sn_opencl_load(&cl) != NULL) return 0;
    int n = sn_opencl_devices(&cl, NULL, out, most);
    sn_opencl_unload(&cl);
    return n;
}
