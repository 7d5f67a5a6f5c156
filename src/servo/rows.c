// SPDX-License-Identifier: MIT
// The rows of a tick: residuals and Jacobian of all tasks (sweeps/residuals.h) sorted by level, by entries.
//
// r at the pose is what was left after the last tick, e, and how the goals have moved since. The first is gone
// towards so that it can be braked; the second is followed.
#include "servo/servo.h"
#include "tasks/level.h"

// A level's damping against the square of its largest column: what leaves steps short near singular poses even
// where nothing is left of the task.
static const double least_damping = 1e-8;

// Less than this is left of a goal that is followed, against the same: no reason for damping.
static const double follows = 1e-4;

// The share of what is left that one tick may take, where more is left.
static const double slow = 0.1;

static void mark(sn_servo *s, int first, int count, int level, bool bends) {
    for (int i = first; i < first + count; i++) {
        s->row_level[i] = level;
        s->row_bends[i] = bends;
    }
}

// Which level every row belongs to; -1 for those of tasks that do not count.
static void mark_rows(sn_servo *s) {
    const sn_problem *p = s->problem;
    const int parts = 3 * p->npoint, tied = parts + 3 * p->npart, posed = tied + 3 * p->natom;
    const int rest = sn_residual_triples(p);
    mark(s, 0, s->rows, -1, false);
    for (int i = 0; i < p->ntask; i++) {
        const sn_task_parts *at = &p->parts[i];
        if (!sn_problem_task_active(p, i)) continue;
        const int level = p->task[i].level;
        if (at->point >= 0) mark(s, 3 * at->point, 3, level, true);
        if (at->part >= 0) mark(s, parts + 3 * at->part, 3, level, true);
        if (at->part2 >= 0) mark(s, parts + 3 * at->part2, 3, level, true);
        for (int k = at->tied; k < at->tied + at->ntied; k++)
            mark(s, tied + 3 * p->tied[k].atom, 3 * p->tied[k].natom, level, true);
        if (at->posture >= 0)
            mark(s, posed + 3 * p->posture[at->posture].first, 3 * p->posture[at->posture].count,
                 level, false);
        if (at->rest >= 0) mark(s, rest + s->n * at->rest, s->n, level, false);
        int soft = rest + s->n * p->nrest;
        for (int k = 0; k < at->soft; k++) soft += p->soft[k].count;
        if (at->soft >= 0) mark(s, soft, p->soft[at->soft].count, level, false);
    }
}

// One row behind the others of its level; nothing where it is empty.
static void add_row(sn_servo *s, sn_servo_level *to, int row, double *bent) {
    const int n = s->n, at = to->first + to->m;
    double *A = s->A + (size_t)n * (size_t)at;
    bool any = false;
    for (int i = 0; i < n; i++) {
        A[i] = s->J[(size_t)s->rows * (size_t)i + (size_t)row] * s->delta[i];
        any = any || A[i] != 0;
    }
    if (!any) return;
    s->e[at] = s->moving ? s->left[row] : s->r[row];
    s->moved[at] = s->r[row] - s->e[at];
    // what the levels before leave free is curved, so below them coordinates bend as well
    if (s->row_bends[row] || to != s->at) *bent += s->e[at] * s->e[at];
    to->m++;
}

// f bends by as much as its residual times a column of the Jacobian, the second derivatives that Gauss and
// Newton leave out: with so much damping a limb stretched towards a goal out of reach does not tremble.
// And what is gone towards is gone towards in some ticks: where it bends more than that, one step too far would
// follow the other.
static void find_damping(const sn_servo *s, double bent, sn_servo_level *level) {
    double *square = s->ladder.x, whole = 0;
    for (int i = 0; i < s->n; i++) square[i] = 0;
    for (int k = level->first; k < level->first + level->m; k++) {
        const double *A = s->A + (size_t)s->n * (size_t)k;
        for (int i = 0; i < s->n; i++) square[i] += A[i] * A[i];
    }
    for (int i = 0; i < s->n; i++) whole = fmax(whole, square[i]);
    const double small = follows * sqrt(whole), left = sqrt(bent);
    level->damping = 1;
    level->most = 1;
    if (!(whole > 0)) return;
    level->damping = left * fmin(left / small, 1) * sqrt(whole) + least_damping * whole;
    level->most = fmin(fmax(small / left, slow), 1);
}

// How near something that must not happen is looked at: twice the way in which two limbs stop.
static double margin_of(const sn_servo *s) {
    double speed = 0, push = INFINITY;
    for (int i = 0; i < s->n; i++) {
        if (s->unit[i] == 0) continue;
        const double length = s->size / s->length[i];
        speed = fmax(speed, fabs(s->velocity[i]) * length);
        push = fmin(push, s->push[i] * length);
    }
    return fmin(0.05 * s->size + 2 * speed * speed / push, s->size);
}

bool sn_servo_rows(sn_servo *s, const double *q) {
    const sn_problem *p = s->problem;
    const sn_model *m = s->model;
    double f;
    // followers' slopes come with the derivatives
    if (m->ncoupling > 0) {
        if (sn_workspace_eval(s->ws, q, SN_EVAL_GRADIENT, &f) != SN_OK) return false;
    } else if (sn_workspace_pose(s->ws, q) != SN_OK) {
        return false;
    }
    sn_residuals(s->ws, s->r, s->J);
    for (int i = 0; i < s->rows; i++)
        if (!isfinite(s->r[i])) return false;
    mark_rows(s);
    // a velocity behind its gain of 1 per entry
    for (int i = 0; i < s->n; i++)
        s->delta[i] = s->unit[i] > 0 ? s->unit[i] / m->gain[m->v_of[i]] : 0;
    int name[SN_MAX_LEVELS], count = sn_problem_levels(p, name);
    s->nlevel = 0;
    int first = SN_SERVO_GUARDS;
    for (int k = 0; k < count; k++) {
        sn_servo_level *level = &s->at[s->nlevel++];
        *level = (sn_servo_level){.name = name[k], .first = first, .share = 1};
        double bent = 0;
        for (int i = 0; i < s->rows; i++)
            if (s->row_level[i] == name[k]) add_row(s, level, i, &bent);
        find_damping(s, bent, level);
        first += level->m;
    }
    const double margin = margin_of(s);
    s->nguard = sn_guards_near(s->ws, margin, SN_SERVO_GUARDS, s->guard, s->guard_c, s->guard_row);
    for (int k = 0; k < s->nguard; k++) {
        s->guard_on[k] = false;
        for (int i = 0; i < s->n; i++) s->guard_row[s->n * k + i] *= s->delta[i];
    }
    return true;
}
