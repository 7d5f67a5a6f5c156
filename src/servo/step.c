// SPDX-License-Identifier: MIT
// One tick. Without tasks a body would go on as it moved: that is the point p to begin with, inside all limits.
// Level after level then changes what it sees of it and leaves the rest alone. With V what it sees,
//
//   w      what the level wants along V: -(A V)^+ (how its goals moved + share of what was left)
//   p <- p + sigma V (w - V^T p)
//
// sigma being the most that the limits of this tick allow. So each level gets what those before it have left of
// them, the last one brings to rest what nobody wants, and p never leaves them. What stops a level and stays (a limit on
// position or speed, something that must not happen), or was reached by a level before it, is taken out of what it
// may move, and the level is solved again for the rest of its way: others take over. Acceleration
// alone slows a level down as a whole, so that it stays on its way.
//
// The share: what was left is gone towards no faster than every joint can brake from before it is there.
// Near singular poses damping (rows.c) keeps w short.
#include <string.h>

#include "servo/servo.h"

enum { TRIES = 12, BEHIND = 5 };

// A level that gets less than this of its way goes on without what stops it.
static const double too_little = 0.1;

// What rounding may take of the limits on speed and acceleration.
static const double inside = 1 - 1e-9;

// The greatest speed from which a joint stops within d when this tick still moves with it:
// v t + v^2 / (2 a) = d.
static double braking(double d, double a, double t) {
    if (!(d > 0)) return 0;
    if (d == INFINITY) return INFINITY;
    // a (sqrt(t^2 + 2 d / a) - t), which would be 0 for the smallest d
    return a < INFINITY ? 2 * d / (sqrt(t * t + 2 * d / a) + t) : d / t;
}

static double dot(const double *x, const double *y, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

static sn_status check(const sn_servo *s, const sn_servo_tick *tick, const double *q) {
    if (!(tick->seconds > 0) || !isfinite(tick->seconds)) return SN_ERR_VALUE;
    SN_TRY(sn_model_check_pose(s->model, q, NULL));
    for (int i = 0; i < s->n; i++) {
        if (tick->velocity != NULL && !(tick->velocity[i] > 0)) return SN_ERR_VALUE;
        if (tick->acceleration != NULL && !(tick->acceleration[i] > 0)) return SN_ERR_VALUE;
        const int at = s->q_of[i];
        if (at >= 0 && !(q[at] >= s->lower[i] && q[at] <= s->upper[i])) return SN_ERR_VALUE;
    }
    return SN_OK;
}

// Speeds of followers are kept by those they follow.
static void lead_speeds(sn_servo *s, const double *q) {
    const sn_model *m = s->model;
    for (int i = m->ncoupling - 1; i >= 0; i--) {
        const sn_coupling_place *c = &m->coupled[i];
        sn_jet jet;
        sn_driver_at(&c->driver, q, &jet);
        for (int k = 0; k < c->nleader; k++) {
            const double slope = fabs(jet.d[k]) * c->nleader;
            if (!(slope > 0)) continue;
            s->top[c->slot[k]] = fmin(s->top[c->slot[k]], s->top[c->follower_slot] / slope);
            s->push[c->slot[k]] = fmin(s->push[c->slot[k]], s->push[c->follower_slot] / slope);
        }
    }
}

// What this tick may do.
static void find_limits(sn_servo *s, const sn_servo_tick *tick, const double *q) {
    const sn_model *m = s->model;
    const double t = tick->seconds;
    for (int i = 0; i < s->n; i++) {
        const int v = m->v_of[i];
        s->top[i] = s->speed[i];
        if (tick->velocity != NULL) s->top[i] = fmin(s->top[i], tick->velocity[v]);
        s->push[i] = tick->acceleration != NULL ? tick->acceleration[v] : INFINITY;
    }
    if (m->ncoupling > 0) lead_speeds(s, q);
    for (int i = 0; i < s->n; i++) {
        s->held[i] = false;
        s->rest[i] = 0;
        s->low[i] = s->high[i] = s->low_kept[i] = s->high_kept[i] = 0;
        if (s->unit[i] == 0) continue;
        const int at = s->q_of[i];
        const double entry = t / s->unit[i], was = s->velocity[i], a = s->push[i];
        double down = inside * s->top[i], up = down;
        if (at >= 0) {
            down = fmin(down, inside * braking(q[at] - s->lower[i], a, t));
            up = fmin(up, inside * braking(s->upper[i] - q[at], a, t));
        }
        s->low_kept[i] = -down * entry;
        s->high_kept[i] = up * entry;
        const double low = fmax(-down, was - inside * a * t), high = fmin(up, was + inside * a * t);
        const double rest = fmin(fmax(was, -down), up);
        s->low[i] = (low <= high ? low : rest) * entry;
        s->high[i] = (low <= high ? high : rest) * entry;
        s->rest[i] = fmin(fmax(was * entry, s->low[i]), s->high[i]);
    }
}

// How much of x, towards what is left of a level, every joint could still brake from.
static double find_share(const sn_servo *s, const double *x, double t) {
    double share = 1;
    for (int i = 0; i < s->n; i++) {
        const double d = fabs(x[i]) * s->unit[i];
        if (!(d > 0)) continue;
        const double most = fmin(s->top[i], braking(d, s->push[i], t)) * t;
        if (share * d > most) share = most / d;
    }
    return share;
}

// Have the goals of a level jumped, so that following them as if they moved makes no sense? x is how they
// moved the joints, to be compared with how they did in the tick before.
static bool have_jumped(sn_servo *s, int name, const double *x, double t) {
    double *before = s->before + s->n * name;
    bool jumped = false;
    for (int i = 0; i < s->n; i++) {
        const double change = fabs(x[i] - before[i]) * s->unit[i];
        if (change > 10 * s->push[i] * t * t) jumped = true;
        before[i] = x[i];
    }
    return jumped;
}

// How near the guards may come in this tick: row . p at least `guard_least`. In time to brake, by the shortest way
// that the joints' accelerations allow.
static void find_guards(sn_servo *s, double t) {
    for (int k = 0; k < s->nguard; k++) {
        const double *row = s->guard_row + s->n * k, c = s->guard_c[k];
        const double square = dot(row, row, s->n);
        double push = INFINITY, least = -fmin(t / s->options.guard_seconds, 1) * c;
        for (int i = 0; i < s->n; i++)
            if (row[i] != 0) push = fmin(push, s->push[i] / s->unit[i] * square / fabs(row[i]));
        s->guard_least[k] = fmax(least, -0.7 * t * braking(fmax(c, 0), push, t));
    }
}

// What ends a way.
typedef struct stop {
    double sigma;  // how much of it is gone
    int entry;     // the joint that ends it, -1 for none
    int guard;     // ... or the guard
    bool stays;    // not by acceleration
} stop;

// How far the way d leads from p.
static stop find_stop(const sn_servo *s, const double *d) {
    stop at = {1, -1, -1, false};
    for (int i = 0; i < s->n; i++) {
        if (s->unit[i] == 0 || d[i] == 0) continue;
        const double end = d[i] > 0 ? s->high[i] : s->low[i];
        if (d[i] > 0 ? s->p[i] + at.sigma * d[i] <= end : s->p[i] + at.sigma * d[i] >= end)
            continue;
        at.sigma = fmax((end - s->p[i]) / d[i], 0);
        at.entry = i;
        at.stays = end == (d[i] > 0 ? s->high_kept[i] : s->low_kept[i]);
    }
    for (int k = 0; k < s->nguard; k++) {
        const double *row = s->guard_row + s->n * k;
        const double change = dot(row, d, s->n), least = s->guard_least[k];
        if (!(change < 0)) continue;
        const double now = dot(row, s->p, s->n);
        if (now + at.sigma * change >= least) continue;
        at = (stop){fmax((least - now) / change, 0), -1, k, true};
    }
    return at;
}

// Guards that p would come too near are held off before all levels, by the shortest way.
static void hold_off(sn_servo *s) {
    sn_ladder *a = &s->ladder;
    int m = 0;
    for (int k = 0; k < s->nguard; k++) {
        const double *row = s->guard_row + s->n * k;
        const double over = dot(row, s->p, s->n) - s->guard_least[k];
        if (over >= 0) continue;
        memcpy(s->A + (size_t)s->n * (size_t)m, row, (size_t)s->n * sizeof *row);
        s->e[m++] = over;
        s->guard_on[k] = true;
    }
    if (m == 0) return;
    sn_ladder_see(a, s->A, m);
    const int rank = sn_ladder_split(a, m);
    sn_ladder_factor(a, m, rank, 1e-10);
    sn_ladder_solve(a, m, rank, s->e, a->w);
    sn_ladder_spread(a, rank, a->w, s->delta);
    double sigma = 1;
    for (int i = 0; i < s->n; i++) {
        const double d = s->delta[i];
        if (d > 0 && s->p[i] + sigma * d > s->high[i]) sigma = fmax(s->high[i] - s->p[i], 0) / d;
        if (d < 0 && s->p[i] + sigma * d < s->low[i]) sigma = fmax((s->low[i] - s->p[i]) / d, 0);
    }
    for (int i = 0; i < s->n; i++) s->p[i] += sigma * s->delta[i];
}

// How much of what is left of a level is asked for, by a factorisation of its rows; goals that have jumped
// count as left.
static double find_wish(sn_servo *s, const sn_servo_level *level, int rank, double t) {
    sn_ladder *a = &s->ladder;
    double *e = s->e + level->first, *moved = s->moved + level->first;
    if (s->moving) {
        sn_ladder_solve(a, level->m, rank, moved, a->w);
        sn_ladder_spread(a, rank, a->w, s->delta);
        const bool jumped = have_jumped(s, level->name, s->delta, t);
        for (int i = 0; i < level->m && jumped; i++) {
            e[i] += moved[i];
            moved[i] = 0;
        }
    }
    sn_ladder_solve(a, level->m, rank, e, a->w);
    sn_ladder_spread(a, rank, a->w, s->delta);
    return s->calm * fmin(find_share(s, s->delta, t), level->most);
}

// A limb stretched towards what it cannot reach sees another direction at every tick, and leaves others free: what
// is below goes slowly, by as much as the damping outweighs the weakest of them, squared.
static double find_calm(const sn_ladder *a, const sn_servo_level *level, int rank) {
    const double *row = a->B + (size_t)a->n * (size_t)a->order[rank - 1];
    const double weakest = row[rank - 1] * row[rank - 1];
    const double part = weakest / (weakest + level->damping);
    return part * part;
}

// One level changes p.
static void climb(sn_servo *s, int k, bool last, double t) {
    sn_ladder *a = &s->ladder;
    sn_servo_level *level = &s->at[k];
    const int m = level->m;
    const double *A = s->A + (size_t)s->n * (size_t)level->first;
    double *w = a->w, *b = a->norm, *had = a->T, *step = s->delta, share = 1, calm = 1;
    int rank = 0;
    for (int tries = 0; tries < TRIES && a->nz > 0; tries++) {
        sn_ladder_see(a, A, m);
        rank = last ? a->nz : sn_ladder_split(a, m);
        if (rank == 0) return;
        sn_ladder_factor(a, m, rank, level->damping);
        if (tries == 0 && m > 0) share = find_wish(s, level, rank, t);
        if (tries == 0 && !last) calm = find_calm(a, level, rank);
        // b = what is wanted, and what has been decided on gives of it: A (p - V V^T p)
        sn_ladder_gather(a, rank, s->p, had);
        for (int i = 0; i < m; i++)
            b[i] = share * s->e[level->first + i] + s->moved[level->first + i] +
                   dot(A + (size_t)s->n * (size_t)i, s->p, s->n) -
                   dot(a->B + (size_t)s->n * (size_t)i, had, rank);
        sn_ladder_solve(a, m, rank, b, w);
        for (int c = 0; c < rank; c++) w[c] -= had[c];
        sn_ladder_spread(a, rank, w, step);
        const stop at = find_stop(s, step);
        for (int i = 0; i < s->n; i++) s->p[i] += at.sigma * step[i];
        if (tries == 0) level->share = at.sigma;
        s->rounds++;
        if (at.sigma == 1 || (!at.stays && at.sigma >= too_little)) break;
        if (at.entry >= 0) s->held[at.entry] = true;
        if (at.guard >= 0) s->guard_on[at.guard] = true;
        if (at.entry >= 0) {
            for (int i = 0; i < s->n; i++) step[i] = i == at.entry;
        } else {
            memcpy(step, s->guard_row + s->n * at.guard, (size_t)s->n * sizeof *step);
        }
        if (!sn_ladder_drop(a, step)) break;
        rank = 0;
    }
    if (!last) sn_ladder_next(a, rank);
    s->calm *= calm;
}

// The step, in p.
static void find_step(sn_servo *s, double t) {
    static const sn_servo_level none = {.name = -1, .damping = 1};
    const int end = s->nlevel > 0 ? s->nlevel : 1;
    if (s->nlevel == 0) s->at[0] = none;  // nothing is wanted: come to rest
    s->rounds = 0;
    s->calm = 1;
    sn_ladder_begin(&s->ladder, s->unit);
    memcpy(s->p, s->rest, (size_t)s->n * sizeof *s->p);
    find_guards(s, t);
    hold_off(s);
    for (int k = 0; k < end && s->ladder.nz > 0; k++) climb(s, k, k == end - 1, t);
}

// The pose after the step, in s->pose, and the velocities.
static void move(sn_servo *s, const double *q, double t) {
    const sn_model *m = s->model;
    bool clamped = false;
    for (int i = 0; i < s->n; i++) {
        double v = s->p[i] * s->unit[i] / t;
        const double was = s->velocity[i], a = inside * s->push[i] * t, top = inside * s->top[i];
        v = fmin(fmax(v, was - a), was + a);
        v = fmin(fmax(v, -top), top);
        // denormal numbers are slow
        if (s->unit[i] == 0 || fabs(v) < 1e-100) v = 0;
        s->velocity[i] = v;
        s->file[m->v_of[i]] = v * t;
    }
    sn_model_integrate(m, q, s->file, s->pose);
    for (int i = 0; i < m->nquaternion && m->ncone > 0; i++) {
        const sn_joint *j = &m->joint[m->quaternion[i]];
        if (j->cone) (void)sn_cone_put(j, 0, s->pose + j->q0);
    }
    for (int i = 0; i < s->n; i++) {
        const int at = s->q_of[i];
        if (at < 0 || s->unit[i] == 0) continue;
        const double to = s->pose[at];
        s->pose[at] = fmin(fmax(to, s->lower[i]), s->upper[i]);
        clamped = clamped || s->pose[at] != to;
        s->velocity[i] = (s->pose[at] - q[at]) / t;
    }
    if (clamped && m->ncoupling > 0) sn_model_follow(m, s->pose);
    for (int i = 0; i < m->ncoupling; i++) {
        const sn_coupling_place *c = &m->coupled[i];
        s->velocity[c->follower_slot] = (s->pose[c->follower_q] - q[c->follower_q]) / t;
    }
}

// The largest error of each level at the placed pose.
static void look(sn_servo *s, sn_servo_report *r) {
    const sn_problem *p = s->problem;
    r->nlevel = s->nlevel;
    for (int k = 0; k < r->nlevel; k++) {
        r->level[k] = s->at[k].name;
        r->share[k] = s->at[k].share;
        r->error[k] = 0;
        for (int i = 0; i < p->ntask; i++)
            if (p->task[i].level == r->level[k] && sn_problem_task_active(p, i) &&
                !sn_task_is_guard(&p->task[i]))
                r->error[k] = fmax(r->error[k], sn_workspace_task_error(s->ws, i));
        if (k < r->nlevel - 1 || r->nlevel == 1) r->worst_error = fmax(r->worst_error, r->error[k]);
    }
    r->reached = r->worst_error <= s->options.position_tol;
    const int nguard = sn_has_guards(s->ws) ? p->guards->nguard : 0;
    if (nguard > 0) sn_guards_place(s->ws);
    for (int i = 0; i < nguard; i++)
        r->violation = fmax(r->violation, sn_guard_violation(s->ws, i));
    for (int i = 0; i < s->n; i++) r->limited += s->held[i];
    for (int k = 0; k < s->nguard; k++) r->guarded += s->guard_on[k];
    double first = 0;
    for (int k = 0; k < r->nlevel && first == 0; k++)
        if (r->error[k] > s->options.position_tol && (k < r->nlevel - 1 || k == 0))
            first = r->error[k];
    s->behind = first > 0 && first >= s->error ? s->behind + 1 : 0;
    s->error = first;
    r->runs_away = s->behind >= BEHIND;
}

sn_status sn_servo_step(sn_servo *s, const sn_servo_tick *tick, double *q,
                        sn_servo_report *report) {
    if (s == NULL || tick == NULL || q == NULL) return SN_ERR_ARGUMENT;
    const sn_model *m = s->model;
    const size_t bytes = (size_t)m->nq * sizeof *q;
    // limits, locks and strengths may have changed
    sn_model_sweep_limits(m, s->q_of, s->lower, s->upper);
    for (int i = 0; i < s->n; i++) {
        const int v = m->v_of[i];
        const bool follows = m->ncoupling > 0 && m->follows[v];
        s->unit[i] = m->gain[v] == 0 || follows ? 0 : s->length[i];
    }
    SN_TRY(check(s, tick, q));
    s->moving = s->moving && memcmp(s->last, q, bytes) == 0;
    find_limits(s, tick, q);
    if (!sn_servo_rows(s, q)) return SN_ERR_VALUE;
    find_step(s, tick->seconds);
    for (int i = 0; i < s->n; i++)
        if (!isfinite(s->p[i])) return SN_ERR_VALUE;
    move(s, q, tick->seconds);
    if (sn_workspace_pose(s->ws, s->pose) != SN_OK) return SN_ERR_VALUE;
    sn_residuals(s->ws, s->left, NULL);
    memcpy(q, s->pose, bytes);
    memcpy(s->last, q, bytes);
    s->moving = true;
    sn_servo_report r = {.rounds = s->rounds};
    look(s, &r);
    if (report != NULL) *report = r;
    return SN_OK;
}
