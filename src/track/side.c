// SPDX-License-Identifier: MIT
// Chunks of a clip side by side in the lanes of batch/: a lane follows its chunk frame by frame and takes the
// next chunk when it is through. Every frame takes the steps that the plain solver would take. What lanes do not
// know (a frame whose callback changes weights, another try, a saddle) is left to the plain solver, frame by frame.
#include <math.h>
#include <string.h>

#include "solvers/solver.h"
#include "sweeps/workspace.h"
#include "tasks/level.h"
#include "track/tracker.h"

typedef sn_track_worker worker;
typedef sn_track_side side;

void sn_track_aside_layout(const sn_tracker *t, worker *w, sn_layout *layout) {
    const size_t lanes = t->batch != NULL ? (size_t)t->batch->lanes : 0;
    w->side = sn_layout_take(layout, lanes, sizeof *w->side);
    for (size_t l = 0; l < lanes; l++) {
        side spare, *s = w->side != NULL ? &w->side[l] : &spare;
        sn_track_layout_state(t, &s->state, layout);
        s->start = sn_layout_take(layout, (size_t)t->model->nq, sizeof(double));
    }
}

static sn_batch_worker *lanes_of(const sn_tracker *t, const worker *w) {
    return &t->batch->worker[w - t->workers];
}

static double *number(const worker *w, double *array, int k, int lane) {
    return &array[k * w->width + lane];
}

static double *state_of(const sn_tracker *t, const worker *w, int what, int lane) {
    return number(w, lanes_of(t, w)->work.lane, what, lane);
}

// A lane begins from q with the goals that it has.
static void begin_lane(const sn_tracker *t, const worker *w, int lane, const double *q, int state) {
    const sn_batch_work *work = &lanes_of(t, w)->work;
    for (int i = 0; i < t->model->nq; i++)
        *number(w, work->q, i, lane) = *number(w, work->x, i, lane) = q[i];
    *state_of(t, w, SN_LANE_STATE, lane) = state;
    *state_of(t, w, SN_LANE_SHARE, lane) = 1;
    *state_of(t, w, SN_LANE_JUMP, lane) = INFINITY;
}

static bool is_far(const sn_tracker *t, const double *q) {
    return sn_batch_row_far(&t->batch->table, q);
}

// The frame's goals, and what it is pulled to.
static void fill_lane(const sn_tracker *t, const worker *w, int lane) {
    const sn_batch_worker *b = lanes_of(t, w);
    const side *s = &w->side[lane];
    for (int i = 0; i < t->batch->ngoal; i++) *number(w, b->work.goal, i, lane) = b->numbers[i];
    if (!t->batch->table.pulled) return;
    for (int i = 0; i < t->model->nq; i++)
        *number(w, b->work.anchor, i, lane) = s->state.previous[i];
    for (int i = 0; i < t->model->nv; i++)
        *number(w, b->work.hold, i, lane) = t->options.rest * s->state.weight[t->model->v_of[i]];
}

static void count_done(sn_tracker *t, const worker *w, const sn_track_frame *frame) {
    atomic_fetch_add(&t->done, 1);
    if (t->options.progress != NULL && w == &t->workers[0])
        t->options.progress(t->options.progress_user, atomic_load(&t->done), t->nframe, frame);
}

static bool moving(const side *s) { return s->frame > s->first + 1; }

// The frame into its lane; *solved: it was not for lanes, and the plain solver has done it.
static sn_status begin_frame(sn_tracker *t, worker *w, int lane, bool *solved) {
    side *s = &w->side[lane];
    sn_track_frame spare, *out = t->frames != NULL ? &t->frames[s->frame] : &spare;
    w->now = s->state;
    SN_TRY(t->goals(t->user, s->frame, w->problem));
    *solved = sn_cancelled(t->options.solver.cancel) || is_far(t, s->state.previous) ||
              !sn_batch_row_of(t->batch, w->problem, lanes_of(t, w)->numbers);
    if (*solved) {
        SN_TRY(sn_track_plain(t, w, s->frame, moving(s), out));
        s->state.usual = w->now.usual;
        count_done(t, w, out);
        return SN_OK;
    }
    fill_lane(t, w, lane);
    s->probing = t->options.extrapolate && moving(s);
    s->extrapolating = s->extrapolated = false;
    memcpy(s->start, s->state.previous, (size_t)t->model->nq * sizeof *s->start);
    begin_lane(t, w, lane, s->start, s->probing ? SN_STATE_PROBE : SN_STATE_START);
    return SN_OK;
}

// The next chunk that nobody has begun; its first frame is solved. False: there is none.
static sn_status begin_chunk(sn_tracker *t, worker *w, side *s) {
    const int size = t->options.chunk, nchunk = t->end / size + (t->end % size > 0);
    const int chunk = atomic_fetch_add(&t->next_chunk, 1);
    s->live = chunk < nchunk;
    if (!s->live) return SN_OK;
    s->first = s->frame = chunk * size;
    s->end = size < t->end - s->first ? s->first + size : t->end;
    w->now = s->state;
    SN_TRY(sn_track_enter(t, w, s->first));
    s->state = w->now;
    return SN_OK;
}

// What a chunk that goes on in the next advance will need.
static void leave_chunk(sn_tracker *t, const side *s) {
    if (s->end == t->end && t->options.chunk > t->end - s->first)
        sn_track_copy_state(t, &t->kept, &s->state);
}

// The next frame of the lane's chunk, or of the next chunk.
static sn_status next_frame(sn_tracker *t, worker *w, int lane) {
    side *s = &w->side[lane];
    bool solved = true;
    while (s->live && solved) {
        if (atomic_load(&t->failed) != SN_OK) {
            s->live = false;
        } else if (s->frame + 1 < s->end) {
            s->frame++;
            SN_TRY(begin_frame(t, w, lane, &solved));
        } else {
            leave_chunk(t, s);
            SN_TRY(begin_chunk(t, w, s));
        }
    }
    if (!s->live) *state_of(t, w, SN_LANE_STATE, lane) = SN_STATE_IDLE;
    return SN_OK;
}

// f of the pose before is known: on from where the motion goes on.
static void extrapolate(const sn_tracker *t, worker *w, int lane) {
    side *s = &w->side[lane];
    s->probed = *state_of(t, w, SN_LANE_F, lane);
    s->probing = false;
    sn_model_difference(t->model, s->state.before, s->state.previous, w->delta);
    sn_model_integrate(t->model, s->state.previous, w->delta, w->trial);
    (void)sn_model_clamp(w->problem->model, w->trial);
    s->extrapolating = !is_far(t, w->trial);
    if (s->extrapolating) memcpy(s->start, w->trial, (size_t)t->model->nq * sizeof *s->start);
    begin_lane(t, w, lane, s->start, SN_STATE_START);
}

// After its first look at the extrapolated pose: that, or the pose before where f is not lower.
static void judge_start(const sn_tracker *t, worker *w, int lane) {
    side *s = &w->side[lane];
    s->extrapolating = false;
    s->extrapolated = *state_of(t, w, SN_LANE_FIRST, lane) < s->probed;
    if (s->extrapolated) return;
    memcpy(s->start, s->state.previous, (size_t)t->model->nq * sizeof *s->start);
    begin_lane(t, w, lane, s->start, SN_STATE_START);
}

static void set_errors(worker *w, sn_report *r) {
    int count = 0, level[SN_MAX_LEVELS];
    double sum = 0;
    for (int i = 0; i < w->problem->ntask; i++) {
        if (!sn_problem_task_active(w->problem, i)) continue;
        const double error = sn_workspace_task_error(w->ws, i);
        r->worst_error = fmax(r->worst_error, error);
        sum += error;
        count++;
    }
    if (count > 0) r->mean_error = sum / count;
    r->nlevel = sn_problem_levels(w->problem, level);
    for (int i = 0; i < r->nlevel; i++)
        r->level[i] = (sn_level_report){level[i], r->f, r->gradient, r->worst_error};
}

// The frame in a lane ended.
static sn_status end_frame(sn_tracker *t, worker *w, int lane) {
    side *s = &w->side[lane];
    sn_track_frame spare, *out = t->frames != NULL ? &t->frames[s->frame] : &spare;
    const int how = (int)*state_of(t, w, SN_LANE_STOP, lane);
    bool ready = false;
    *out = (sn_track_frame){.extrapolated = s->extrapolated};
    sn_report *r = &out->report;
    r->stop = sn_batch_stop_of(how);
    r->f = *state_of(t, w, SN_LANE_F, lane);
    r->gradient = *state_of(t, w, SN_LANE_GRADIENT, lane);
    if (r->gradient < 0) r->gradient = NAN;
    r->iterations = r->functions = (int)*state_of(t, w, SN_LANE_ITERATIONS, lane);
    r->hessians = r->poses = r->iterations + 1;
    r->factorizations = (int)*state_of(t, w, SN_LANE_FACTORS, lane);
    r->active = (int)*state_of(t, w, SN_LANE_ACTIVE, lane);
    for (int i = 0; i < t->model->nq; i++) w->q[i] = *number(w, lanes_of(t, w)->work.q, i, lane);
    w->now = s->state;
    w->solver->goal = *state_of(t, w, SN_LANE_GOAL, lane);
    w->solver->whole = *state_of(t, w, SN_LANE_WHOLE, lane);
    if (how == SN_END_SADDLE || how == SN_END_ODD ||
        !sn_batch_row_turns(t->batch, s->start, w->q)) {
        const sn_report lanes = *r;
        SN_TRY(sn_track_prepare(t, w, s->frame));
        ready = true;
        SN_TRY(sn_solver_solve(w->solver, w->q, r));
        sn_track_add_counts(r, &lanes);
    } else if (t->frames != NULL) {
        SN_TRY(sn_track_prepare(t, w, s->frame));
        ready = true;
        SN_TRY(sn_workspace_pose(w->ws, w->q));
        set_errors(w, r);
    }
    SN_TRY(sn_track_settle(t, w, s->frame, ready, out));
    s->state.usual = w->now.usual;
    count_done(t, w, out);
    return next_frame(t, w, lane);
}

// Lanes that never get a chunk must have sensible numbers all the same.
static void clear_lane(const sn_tracker *t, worker *w, int lane) {
    const sn_batch_work *work = &lanes_of(t, w)->work;
    sn_model_zero(t->model, w->q);
    for (int i = 0; i < t->batch->ngoal; i++) *number(w, work->goal, i, lane) = NAN;
    begin_lane(t, w, lane, w->q, SN_STATE_IDLE);
    for (int i = 0; i < t->model->nq && t->batch->table.pulled; i++)
        *number(w, work->anchor, i, lane) = w->q[i];
    for (int i = 0; i < t->model->nv && t->batch->table.pulled; i++)
        *number(w, work->hold, i, lane) = 0;
}

// As many lanes as there are chunks for this thread.
static int width_of(const sn_tracker *t) {
    const int size = t->options.chunk, nchunk = t->end / size + (t->end % size > 0);
    const int todo = nchunk - t->solved / size, share = (todo + t->nworker - 1) / t->nworker;
    int width = 1;
    while (width < share && width < t->batch->lanes) width *= 2;
    return width;
}

sn_status sn_track_aside(sn_tracker *t, worker *w, bool resumes) {
    const int size = t->options.chunk;
    w->width = width_of(t);
    const sn_batch_trip trip = sn_batch_trip_of(w->width);
    int live = 0;
    for (int l = 0; l < w->width; l++) {
        side *s = &w->side[l];
        clear_lane(t, w, l);
        s->live = true;
        s->first = t->solved - t->solved % size;
        s->frame = s->end = 0;  // nothing of it yet
        if (resumes && l == 0) {
            s->frame = t->solved - 1;
            s->end = size < t->end - s->first ? s->first + size : t->end;
        } else {
            SN_TRY(begin_chunk(t, w, s));
        }
        SN_TRY(next_frame(t, w, l));
        live += s->live;
    }
    while (live > 0) {
        trip(&t->batch->table, &lanes_of(t, w)->work);
        const bool cancelled = sn_cancelled(t->options.solver.cancel);
        live = 0;
        for (int l = 0; l < w->width; l++) {
            side *s = &w->side[l];
            if (!s->live) continue;
            if (cancelled) {
                // the plain solver ends it as it is
                s->frame--;
                SN_TRY(next_frame(t, w, l));
            } else if (s->extrapolating) {
                judge_start(t, w, l);
            }
            if (s->live && *state_of(t, w, SN_LANE_STATE, l) == SN_STATE_DONE) {
                if (s->probing)
                    extrapolate(t, w, l);
                else
                    SN_TRY(end_frame(t, w, l));
            }
            live += s->live;
        }
    }
    return SN_OK;
}
