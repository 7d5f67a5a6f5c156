// SPDX-License-Identifier: MIT
// One row: its goals and starts, and what the plain solver does for it.
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "batch/batch.h"

// Angles beyond this many radians lose digits in the lanes' sine.
static const double far_angle = 1e5;

// Brings `n` numbers to length 1; false when they have none.
static bool make_unit(double *x, int n) {
    double most = 0, square = 0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    if (!(most > 0)) return false;
    for (int i = 0; i < n; i++) square += (x[i] / most) * (x[i] / most);
    double norm = most * sqrt(square);
    for (int i = 0; i < n; i++) x[i] /= norm;
    return true;
}

// 1: all there, 0: missing, -1: no numbers.
static int look_at(const double *x, int n) {
    int there = 1;
    for (int i = 0; i < n; i++) {
        if (isnan(x[i])) {
            there = 0;
        } else if (!(fabs(x[i]) <= SN_MAX_NUMBER)) {
            return -1;
        }
    }
    return there;
}

static int place_of(const sn_task *t) {
    return t->type == SN_TASK_ORIENTATION || t->type == SN_TASK_RELATIVE_ORIENTATION ? 0
           : t->type == SN_TASK_DISTANCE                                             ? 1
                                                                                     : 3;
}

static int turn_of(const sn_task *t) {
    return t->type == SN_TASK_ORIENTATION || t->type == SN_TASK_RELATIVE_ORIENTATION ||
                   t->type == SN_TASK_POSE || t->type == SN_TASK_RELATIVE_POSE
               ? 4
           : t->type == SN_TASK_FRAME2 ? 6
                                       : 0;
}

static int local_of(bool locals, const sn_task *t) {
    return locals && (t->type == SN_TASK_POINT || t->type == SN_TASK_PLANE ||
                      t->type == SN_TASK_POSE || t->type == SN_TASK_FRAME2)
               ? 3
               : 0;
}

// Directions and rotations of a task's numbers brought to length 1; `y` has the rotation.
static bool make_ready(const sn_task *t, double *x, double *y, int turn) {
    if (t->type == SN_TASK_DIRECTION && !make_unit(x, 3)) return false;
    if (turn == 4 && !make_unit(y, 4)) return false;
    return turn != 6 || (make_unit(y, 3) && make_unit(y + 3, 3));
}

bool sn_batch_row_goals(const sn_batch *b, const double *goals, double *out) {
    const sn_problem *p = b->problem;
    bool whole = p->npart == 0;
    if (out != goals) memcpy(out, goals, (size_t)b->ngoal * sizeof *out);
    // points that are all there are ready as they are
    int odd = 0;
    for (int i = 0; i < b->ngoal; i++) odd += !(fabs(out[i]) <= SN_MAX_NUMBER);
    if (whole && odd == 0) return true;
    for (int i = 0; i < p->ntask; i++) {
        if (b->goal_at[i] < 0) continue;
        const sn_task *t = &p->task[i];
        const int local = local_of(b->options.locals, t), place = place_of(t), turn = turn_of(t);
        const int n = place + local + turn;
        double *x = out + b->goal_at[i];
        int there = look_at(x, n);
        if (there < 0) return false;
        if (there == 0) {
            for (int k = 0; k < n; k++) x[k] = NAN;
            continue;
        }
        if (!make_ready(t, x, x + place + local, turn)) return false;
    }
    return true;
}

// A part's share of same_task(); goals aside.
static bool same_part(const sn_batch *b, const sn_task *t, const sn_part *p, const sn_part *o) {
    const bool brought = p->type == SN_PART_POINT && local_of(b->options.locals, t) > 0;
    return p->type == o->type && p->weight == o->weight && p->plane == o->plane &&
           (brought || memcmp(&p->local, &o->local, sizeof p->local) == 0) &&
           memcmp(&p->normal, &o->normal, sizeof p->normal) == 0 &&
           (p->type == SN_PART_ORIENTATION ||
            memcmp(&p->matrix, &o->matrix, sizeof p->matrix) == 0);
}

// Is all of a task but its goals that of the batch, and its local point unless rows bring it?
static bool same_task(const sn_batch *batch, const sn_problem *a, int i) {
    const sn_problem *b = batch->problem;
    const sn_task_parts *x = &a->parts[i], *y = &b->parts[i];
    const sn_task *t = &a->task[i];
    if (x->enabled != y->enabled) return false;
    if (x->point >= 0) {
        const sn_point *p = &a->point[x->point], *o = &b->point[y->point];
        if (t->weight != b->task[i].weight || p->loss != o->loss || p->scale2 != o->scale2)
            return false;
        if (local_of(batch->options.locals, t) == 0 &&
            memcmp(&p->local, &o->local, sizeof p->local) != 0)
            return false;
    }
    if (x->part >= 0 && !same_part(batch, t, &a->part[x->part], &b->part[y->part])) return false;
    if (x->part2 >= 0 && !same_part(batch, t, &a->part[x->part2], &b->part[y->part2])) return false;
    if (x->rest >= 0) {
        const sn_rest *p = &a->rest[x->rest], *o = &b->rest[y->rest];
        const size_t nq = (size_t)a->model->nq, nv = (size_t)a->model->nv;
        return p->active == o->active && p->weight == o->weight &&
               memcmp(p->q, o->q, nq * sizeof *p->q) == 0 &&
               memcmp(p->q_weight, o->q_weight, nv * sizeof *p->q_weight) == 0;
    }
    if (x->soft >= 0)
        return a->soft[x->soft].active == b->soft[y->soft].active &&
               a->soft[x->soft].weight == b->soft[y->soft].weight;
    return x->point >= 0 || x->part >= 0;
}

// Has the problem the batch's limits and gains? They may change from frame to frame, too.
static bool same_freedom(const sn_model *a, const sn_model *b) {
    const size_t bytes = (size_t)a->nv * sizeof(double);
    return memcmp(a->lower, b->lower, bytes) == 0 && memcmp(a->upper, b->upper, bytes) == 0 &&
           memcmp(a->gain, b->gain, bytes) == 0;
}

// A task's numbers as the problem has them. False when they are no goals.
static bool put_task(const sn_problem *p, bool locals, int i, double *x) {
    const sn_task *t = &p->task[i];
    const int local = local_of(locals, t), place = place_of(t), turn = turn_of(t);
    double *y = x + place + local;
    if (p->parts[i].missing) {
        for (int k = 0; k < place + local + turn; k++) x[k] = NAN;
        return true;
    }
    if (place > 0) memcpy(x, t->goal, sizeof t->goal);
    if (local > 0) memcpy(x + place, t->local, sizeof t->local);
    if (turn == 4) memcpy(y, t->rotation, sizeof t->rotation);
    if (turn == 6) {
        memcpy(y, t->i, sizeof t->i);
        memcpy(y + 3, t->j, sizeof t->j);
    }
    return make_ready(t, x, y, turn);
}

bool sn_batch_row_of(const sn_batch *b, const sn_problem *p, double *out) {
    if (!same_freedom(p->model, b->problem->model)) return false;
    for (int i = 0; i < b->problem->ntask; i++) {
        if (!same_task(b, p, i)) return false;
        if (b->goal_at[i] >= 0 && !put_task(p, b->options.locals, i, out + b->goal_at[i]))
            return false;
    }
    return true;
}

bool sn_batch_problem_goals(const sn_problem *p, const int *at, double *out) {
    for (int i = 0; i < p->ntask; i++)
        if (at[i] >= 0 && !put_task(p, false, i, out + at[i])) return false;
    return true;
}

bool sn_batch_row_far(const sn_batch_table *t, const double *q) {
    bool far = false;
    // nearly always nothing is that far out, whatever it is
    for (int i = 0; i < t->nq; i++) far |= !(fabs(q[i]) < far_angle);
    if (!far) return false;
    far = false;
    for (int i = 0; i < t->nv; i++) {
        const int at = t->q_of[i];
        far = far || (at >= 0 && !t->length[i] && !(fabs(q[at]) < far_angle));
    }
    return far;
}

sn_stop sn_batch_stop_of(int how) {
    static const sn_stop stops[] = {
        [SN_END_GOAL] = SN_STOP_GOAL,       [SN_END_MINIMUM] = SN_STOP_MINIMUM,
        [SN_END_STALLED] = SN_STOP_STALLED, [SN_END_ITERATIONS] = SN_STOP_ITERATIONS,
        [SN_END_PROBED] = SN_STOP_STALLED,  [SN_END_SADDLE] = SN_STOP_SADDLE,
        [SN_END_ODD] = SN_STOP_STALLED};
    return stops[how];
}

bool sn_batch_row_start(const sn_batch *b, const double *start, double *q) {
    const sn_model *m = b->model;
    if (start != NULL) {
        if (sn_model_check_pose(m, start, NULL) != SN_OK) return false;
        memmove(q, start, (size_t)m->nq * sizeof *q);
    } else {
        sn_model_zero(m, q);
    }
    sn_model_normalize_quaternions(m, q);
    (void)sn_model_clamp(m, q);
    return true;
}

bool sn_batch_row_set(const sn_batch_worker *w, const double *goals) {
    const sn_batch *b = w->batch;
    sn_problem *p = w->problem;
    double numbers[13];
    for (int i = 0; i < b->problem->ntask; i++) {
        if (b->goal_at[i] < 0) continue;
        sn_task *t = &p->task[i];
        const int local = local_of(b->options.locals, t), place = place_of(t), turn = turn_of(t);
        const int n = place + local + turn;
        memcpy(numbers, goals + b->goal_at[i], (size_t)n * sizeof *numbers);
        int there = look_at(numbers, n);
        if (there < 0) return false;
        (void)sn_problem_set_missing(p, i, there == 0);
        if (there == 0) continue;
        const double *y = numbers + place + local;
        if (local > 0 && sn_problem_set_local(p, i, numbers + place) != SN_OK) return false;
        if (place == 3 && sn_problem_set_goal(p, i, numbers) != SN_OK) return false;
        if (place == 1 && sn_problem_set_distance(p, i, numbers[0]) != SN_OK) return false;
        if (turn == 4 && sn_problem_set_rotation(p, i, y) != SN_OK) return false;
        if (turn == 6) {
            double axes[6];
            memcpy(axes, y, sizeof axes);
            if (!make_unit(axes, 3) || !make_unit(axes + 3, 3)) return false;
            memcpy(t->i, axes, sizeof t->i);
            memcpy(t->j, axes + 3, sizeof t->j);
            sn_problem_refresh(p, i);
        }
    }
    return true;
}

void sn_batch_row_plain(sn_batch_worker *w, const double *goals, const double *anchor, double *q,
                        sn_batch_report *out) {
    sn_report report;
    out->plain = true;
    if (!sn_batch_row_set(w, goals)) {
        out->stop = SN_STOP_BAD_GOALS;
        return;
    }
    for (int i = 0; i < w->batch->problem->nrest; i++)
        w->problem->rest[i].weight = w->share * w->batch->problem->rest[i].weight;
    if (w->batch->table.pulled) {
        const int rest = w->batch->problem->ntask;  // the worker's problem has one task more
        if (anchor != NULL) (void)sn_problem_set_rest(w->problem, rest, anchor);
        (void)sn_problem_set_enabled(w->problem, rest, anchor != NULL);
    }
    (void)sn_solver_solve(w->solver, q, &report);
    out->stop = report.stop;
    out->f = report.f;
    out->gradient = report.gradient;
    out->iterations += report.iterations;
}

// Is nothing as far as half a turn from where it began? Then no angle has gone round.
static bool is_near(const sn_batch *b, const double *start, const double *q) {
    bool far = b->bounded || b->options.solver.turns == SN_TURNS_PRINCIPAL;
    for (int i = 0; i < b->model->nq; i++) far |= !(fabs(q[i] - start[i]) <= 3);
    return !far;
}

bool sn_batch_row_turns(const sn_batch *b, const double *start, double *q) {
    const sn_model *m = b->model;
    const double whole = 6.283185307179586;
    if (!b->turning || is_near(b, start, q)) return true;
    for (int i = 0; i < m->nv; i++) {
        if (!b->round[i]) continue;
        const int v = m->v_of[i], at = b->table.q_of[i];
        const double lower = m->lower[v], upper = m->upper[v], x = q[at];
        const bool free = lower == -INFINITY && upper == INFINITY;
        const bool principal = free && b->options.solver.turns == SN_TURNS_PRINCIPAL;
        const double near = principal ? 0 : start[at];
        if (!principal && x >= lower && x <= upper && fabs(x - near) <= whole / 2) continue;
        double y = sn_angle_near(x, near, lower, upper);
        if (principal && y <= -whole / 2) y += whole;
        if (fabs(remainder(y - x, whole)) > 1e-9) return false;
        q[at] = y;
    }
    return true;
}

void sn_batch_row_seed(const sn_batch *b, int64_t row, int n, const double *start, double *q) {
    const sn_model *m = b->model;
    uint64_t state = (uint64_t)row * 0x9E3779B97F4A7C15u + (uint64_t)n * 0xD1B54A32D192ED03u;
    memcpy(q, start, (size_t)m->nq * sizeof *q);
    (void)sn_random(&state);
    for (int k = 0; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        const int plain = j->ops->quaternion >= 0 ? j->ops->quaternion : j->nv;
        for (int a = 0; a < plain; a++) {
            const double lower = m->lower[j->v0 + a], upper = m->upper[j->v0 + a];
            const double x = sn_random(&state);
            if (m->gain[j->v0 + a] == 0) continue;
            if (upper - lower < INFINITY) {
                q[j->q0 + a] = lower + x * (upper - lower);
            } else if (!(j->lengths >> a & 1)) {
                q[j->q0 + a] += 6.283185307179586 * (x - 0.5);
            }
        }
        if (j->ops->quaternion < 0) continue;
        double *turn = q + j->q0 + plain, square = 0, axes[4];
        for (int a = 0; a < 4; a++) {
            // the sum of three is close enough to a normal number
            axes[a] = sn_random(&state) + sn_random(&state) + sn_random(&state) - 1.5;
            square += axes[a] * axes[a];
        }
        bool locked = false;
        for (int a = plain; a < j->nv; a++) locked = locked || m->gain[j->v0 + a] == 0;
        for (int a = 0; a < 4 && square > 1e-6 && !locked; a++) turn[a] = axes[a] / sqrt(square);
    }
    (void)sn_model_clamp(m, q);
}

void sn_batch_row_next(const sn_batch_worker *w, const sn_batch_row *row, int frame, double *q) {
    const sn_model *m = w->batch->model;
    memcpy(q, row->previous, (size_t)m->nq * sizeof *q);
    if (frame < 2 || w->batch->options.start != SN_BATCH_EXTRAPOLATED) return;
    if (w->batch->flat) {
        // the same, where all coordinates are numbers
        for (int v = 0; v < m->nq; v++) q[v] += row->previous[v] - row->before[v];
    } else {
        sn_model_difference(m, row->before, row->previous, w->delta);
        sn_model_integrate(m, row->previous, w->delta, q);
    }
    for (int v = 0; v < m->nq; v++)
        if (!(fabs(q[v]) < far_angle)) {
            memcpy(q, row->previous, (size_t)m->nq * sizeof *q);
            return;
        }
    (void)sn_model_clamp(m, q);
}
