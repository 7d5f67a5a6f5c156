// SPDX-License-Identifier: MIT
// All rows of a job on this processor. A thread has so many lanes; a lane that is done takes the next row,
// of its own chain or of the next chain that nobody has begun.
#include <math.h>
#include <string.h>

#include "base/threads.h"
#include "batch/batch.h"

static size_t nq_of(const sn_batch *b) { return (size_t)b->model->nq; }

static int64_t row_of(const sn_batch_job *j, const sn_batch_row *r) {
    return (int64_t)r->chain * j->nframe + r->frame;
}

// The goals of a row, in w->numbers where the job makes them; and what its rest poses are multiplied with.
static const double *goals_of(const sn_batch_worker *w, sn_batch_row *r) {
    const sn_batch *b = w->batch;
    const sn_batch_job *j = b->job;
    const int64_t row = row_of(j, r);
    r->share = j->shares != NULL ? j->shares[row] : 1;
    if (j->row == NULL) return j->goals + (size_t)row * (size_t)b->ngoal;
    j->row(j->user, j->first + (int)row, w->numbers, &r->share);
    return w->numbers;
}

// How many frames a chain has.
static int frames_of(const sn_batch_job *j, int chain) {
    const int64_t left = j->rows > 0 ? j->rows - (int64_t)chain * j->nframe : j->nframe;
    return left < j->nframe ? (int)left : j->nframe;
}

static double *lane_number(const sn_batch_worker *w, double *array, int k, int lane) {
    return &array[k * w->batch->lanes + lane];
}

static double lane_state(const sn_batch_worker *w, int what, int lane) {
    return *lane_number(w, w->work.lane, what, lane);
}

static void set_state(const sn_batch_worker *w, int what, int lane, double value) {
    *lane_number(w, w->work.lane, what, lane) = value;
}

// A lane begins from q with the goals that it has.
static void begin_lane(const sn_batch_worker *w, int lane, const double *q) {
    for (int i = 0; i < w->batch->model->nq; i++) {
        *lane_number(w, w->work.q, i, lane) = q[i];
        *lane_number(w, w->work.x, i, lane) = q[i];
    }
    set_state(w, SN_LANE_STATE, lane, SN_STATE_START);
}

// What a row is pulled to; NULL: nothing.
static const double *anchor_of(const sn_batch_worker *w, const sn_batch_row *r) {
    return w->batch->table.pulled && r->frame > 0 ? r->previous : NULL;
}

// The result of a row: out, and on into the chain.
static void put_row(sn_batch_worker *w, sn_batch_row *r, const double *q) {
    const sn_batch *b = w->batch;
    const size_t at = (size_t)row_of(b->job, r), bytes = nq_of(b) * sizeof *q;
    memcpy(b->job->poses + at * nq_of(b), q, bytes);
    if (b->job->reports != NULL) b->job->reports[at] = r->kept;
    memcpy(r->before, r->previous, bytes);
    memcpy(r->previous, q, bytes);
    w->counts.rows++;
    w->counts.plain += r->kept.plain;
    w->counts.iterations += r->iterations;
}

// The plain solver on a row from w->q.
static void solve_plain(sn_batch_worker *w, sn_batch_row *r, sn_batch_report *out) {
    const double *goals = goals_of(w, r);
    w->share = r->share;
    sn_batch_row_plain(w, goals, anchor_of(w, r), w->q, out);
    w->share = 1;
}

static bool cancelled(const sn_batch *b) { return sn_cancelled(b->options.solver.cancel); }

// The next row of the chain, or of the next chain, whose goals and start are good; false: there is none.
// Its start is in r->start, its goals in w->numbers.
static bool next_row(sn_batch_worker *w, sn_batch_row *r, bool begun) {
    sn_batch *b = w->batch;
    const sn_batch_job *j = b->job;
    for (;; begun = true) {
        if (begun && r->frame + 1 < frames_of(j, r->chain)) {
            r->frame++;
            sn_batch_row_next(w, r, r->frame, r->start);
        } else {
            r->chain = atomic_fetch_add(&b->next, 1);
            r->frame = 0;
            r->usual = NAN;
            if (r->chain >= j->nchain) return false;
            const double *start =
                j->starts != NULL ? j->starts + (size_t)r->chain * nq_of(b) : NULL;
            if (!sn_batch_row_start(b, start, r->start)) {
                r->kept = (sn_batch_report){.stop = SN_STOP_BAD_START, .f = NAN, .gradient = NAN};
                memcpy(r->previous, start, nq_of(b) * sizeof *start);
                for (; r->frame < frames_of(j, r->chain); r->frame++) put_row(w, r, start);
                r->frame = j->nframe - 1;
                continue;
            }
            memcpy(r->previous, r->start, nq_of(b) * sizeof(double));
        }
        r->seed = 0;
        r->iterations = 0;
        r->kept = (sn_batch_report){.stop = SN_STOP_CANCELLED, .f = NAN, .gradient = NAN};
        if (cancelled(b)) {
            put_row(w, r, r->start);
            continue;
        }
        if (sn_batch_row_goals(b, goals_of(w, r), w->numbers)) return true;
        r->kept.stop = SN_STOP_BAD_GOALS;
        put_row(w, r, r->frame > 0 ? r->previous : r->start);
    }
}

// A start of a row ended at q. True when the row is over and its result is kept in r->best.
static bool end_start(sn_batch_worker *w, sn_batch_row *r, const double *q,
                      sn_batch_report report) {
    const sn_batch *b = w->batch;
    r->iterations += report.iterations;
    if (r->seed == 0 || report.f < r->kept.f) {
        bool plain = r->kept.plain || report.plain;
        r->kept = report;
        r->kept.plain = plain;
        r->kept.seed = r->seed;
        memcpy(r->best, q, nq_of(b) * sizeof *q);
    }
    r->kept.iterations = (int)r->iterations;
    if (r->seed >= b->options.seeds || r->kept.f <= b->options.good || cancelled(b)) return true;
    r->seed++;
    return false;
}

// --- lanes -------------------------------------------------------------------------------------------

// Take a row into a lane; false: none is left.
static bool fill_lane(sn_batch_worker *w, int lane, bool begun) {
    sn_batch_row *r = &w->row[lane];
    while ((r->live = next_row(w, r, begun)) && sn_batch_row_far(&w->batch->table, r->start)) {
        sn_batch_report report = {.f = NAN, .gradient = NAN};
        memcpy(w->q, r->start, nq_of(w->batch) * sizeof *w->q);
        solve_plain(w, r, &report);
        r->kept = report;
        r->iterations = report.iterations;
        put_row(w, r, w->q);
        begun = true;
    }
    if (!r->live) {
        set_state(w, SN_LANE_STATE, lane, SN_STATE_IDLE);
        return false;
    }
    for (int i = 0; i < w->batch->ngoal; i++)
        *lane_number(w, w->work.goal, i, lane) = w->numbers[i];
    const double *anchor = anchor_of(w, r);
    set_state(w, SN_LANE_SHARE, lane, r->share);
    const double jump = w->batch->options.jump;
    r->jump = jump > 0 && r->usual >= 0 ? jump * r->usual : INFINITY;
    set_state(w, SN_LANE_JUMP, lane, r->jump);
    for (int i = 0; i < w->batch->model->nq && anchor != NULL; i++)
        *lane_number(w, w->work.anchor, i, lane) = anchor[i];
    for (int i = 0; i < w->batch->model->nv && w->batch->table.pulled; i++)
        *lane_number(w, w->work.hold, i, lane) = anchor != NULL ? w->batch->table.pull[i] : 0;
    begin_lane(w, lane, r->start);
    return true;
}

// A lane is done: what the plain solver must finish, it finishes; then the next start or row.
static void end_lane(sn_batch_worker *w, int lane) {
    sn_batch *b = w->batch;
    sn_batch_row *r = &w->row[lane];
    const int how = (int)lane_state(w, SN_LANE_STOP, lane);
    sn_batch_report report = {.stop = sn_batch_stop_of(how),
                              .f = lane_state(w, SN_LANE_F, lane),
                              .gradient = lane_state(w, SN_LANE_GRADIENT, lane),
                              .iterations = (int)lane_state(w, SN_LANE_ITERATIONS, lane)};
    if (report.gradient < 0) report.gradient = NAN;
    if (report.stop == SN_STOP_ITERATIONS && cancelled(b)) report.stop = SN_STOP_CANCELLED;
    for (int i = 0; i < b->model->nq; i++) w->q[i] = *lane_number(w, w->work.q, i, lane);
    sn_model_follow(b->model, w->q);
    bool odd = how == SN_END_SADDLE || how == SN_END_ODD;
    if (!odd && !sn_batch_row_turns(b, r->start, w->q)) odd = true;
    if (odd) solve_plain(w, r, &report);
    // a chain's first frame begins anywhere
    const double first = lane_state(w, SN_LANE_FIRST, lane);
    if (r->frame > 0 && r->seed == 0 && first <= r->jump)
        r->usual = r->usual >= 0 ? r->usual + 0.1 * (first - r->usual) : first;
    if (end_start(w, r, w->q, report)) {
        put_row(w, r, r->best);
        (void)fill_lane(w, lane, true);
        return;
    }
    sn_batch_row_seed(b, row_of(b->job, r), r->seed, r->start, w->q);
    begin_lane(w, lane, w->q);
}

static void run_lanes(sn_batch_worker *w) {
    const sn_batch *b = w->batch;
    int live = 0;
    // lanes that never get a row must have sensible numbers all the same
    for (int l = 0; l < b->lanes; l++) {
        sn_model_zero(b->model, w->q);
        for (int i = 0; i < b->ngoal; i++) *lane_number(w, w->work.goal, i, l) = NAN;
        begin_lane(w, l, w->q);
        set_state(w, SN_LANE_SHARE, l, 1);
        set_state(w, SN_LANE_JUMP, l, INFINITY);
        for (int i = 0; i < b->model->nq && b->table.pulled; i++)
            *lane_number(w, w->work.anchor, i, l) = w->q[i];
        for (int i = 0; i < b->model->nv && b->table.pulled; i++)
            *lane_number(w, w->work.hold, i, l) = 0;
        live += fill_lane(w, l, false);
    }
    while (live > 0) {
        if (cancelled(b))
            for (int l = 0; l < b->lanes; l++) {
                if (!w->row[l].live) continue;
                set_state(w, SN_LANE_STATE, l, SN_STATE_DONE);
                set_state(w, SN_LANE_STOP, l, SN_END_ITERATIONS);
            }
        else
            b->trip(&b->table, &w->work);
        w->counts.trips += b->lanes;
        w->counts.lane_trips += live;
        for (int l = 0; l < b->lanes; l++) {
            if (!w->row[l].live || lane_state(w, SN_LANE_STATE, l) != SN_STATE_DONE) continue;
            end_lane(w, l);
            live -= !w->row[l].live;
        }
    }
}

// --- the plain solver ----------------------------------------------------------------------------------

static void run_plain(sn_batch_worker *w) {
    sn_batch *b = w->batch;
    sn_batch_row *r = &w->row[0];
    for (bool begun = false; next_row(w, r, begun); begun = true) {
        memcpy(w->q, r->start, nq_of(b) * sizeof *w->q);
        for (;;) {
            sn_batch_report report = {.f = NAN, .gradient = NAN};
            solve_plain(w, r, &report);
            if (end_start(w, r, w->q, report)) break;
            sn_batch_row_seed(b, row_of(b->job, r), r->seed, r->start, w->q);
        }
        put_row(w, r, r->best);
    }
}

static void run_worker(void *job) {
    sn_batch_worker *w = *(sn_batch_worker **)job;
    w->counts = (sn_batch_counts){0};
    if (w->batch->fits) {
        run_lanes(w);
    } else {
        run_plain(w);
    }
}

sn_status sn_batch_run(sn_batch *b, const sn_batch_job *job) {
    if (job->nchain == 0 || job->nframe == 0) return SN_OK;
    sn_batch_worker *jobs[SN_MAX_THREADS];
    b->job = job;
    b->table.shared = job->shares != NULL || job->row != NULL;
    atomic_store(&b->next, 0);
    for (int i = 0; i < b->nworker; i++) {
        jobs[i] = &b->worker[i];
        b->worker[i].counts = (sn_batch_counts){0};
    }
    sn_threads_run(&b->options.pool, run_worker, jobs, sizeof jobs[0], b->nworker);
    for (int i = 0; i < b->nworker; i++) {
        const sn_batch_counts *c = &b->worker[i].counts;
        b->counts.rows += c->rows;
        b->counts.plain += c->plain;
        b->counts.iterations += c->iterations;
        b->counts.trips += c->trips;
        b->counts.lane_trips += c->lane_trips;
    }
    b->job = NULL;
    return SN_OK;
}

// Where rows end.
static void set_end(sn_batch *b, double gradient, int iterations) {
    b->table.option[0] = gradient;
    b->table.option[3] = iterations;
    for (int i = 0; i < b->nworker; i++) {
        b->worker[i].solver->options.gradient = gradient;
        b->worker[i].solver->options.max_iterations = iterations;
    }
}

// Degrees of freedom from `held` on stay as they are, or are as free as the model has them.
static void set_gains(sn_batch *b, int held) {
    const sn_model *m = b->model;
    b->table.gained = 0;
    for (int i = 0; i < m->nv; i++) {
        b->table.gain[i] = i < held ? m->gain[m->v_of[i]] : 0;
        if (b->table.gain[i] != 1) b->table.gained = 1;
    }
}

sn_status sn_batch_scout(sn_batch *b, double gradient, int iterations, int held,
                         const sn_batch_job *job) {
    const int method = b->table.method;
    b->table.method = 0;
    set_end(b, gradient, iterations);
    if (held < b->model->nv) set_gains(b, held);
    const sn_status status = sn_batch_run(b, job);
    if (held < b->model->nv) set_gains(b, b->model->nv);
    set_end(b, b->options.solver.gradient, b->options.solver.max_iterations);
    b->table.method = method;
    return status;
}
