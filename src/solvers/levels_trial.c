// SPDX-License-Identifier: MIT
// A step is tried. It follows the tangents of what the levels above leave free, and what it spoils of them is put right at
// the trial, with the factorisation that is there or, where that leads too slowly, with a new one. So f of the last level
// alone tells whether it helped; a step that did not is shortened, one that did is followed on along what is free.
#include <string.h>

#include "solvers/levels.h"

// A step back this short is as right as digits allow.
static const double wholly_right = 1e-13;

// Are the levels above no worse than they were, as far as putting right with `enough` can tell? Limits may keep one from it.
static bool are_kept(const sn_solver *s, int last, double enough) {
    // near a singular pose a step back may be short, and much of f left all the same
    const double left = fmin(1e-10, fmax(1e4 * enough * enough, 1e-20));
    for (int k = 0; k < last; k++) {
        const sn_level *at = &s->levels->at[k];
        const double whole = sn_levels_measure(at);
        double most = enough <= 1e-10 ? 0 : 1e-3 * at->floor, slack = left * whole;
        if (at->exact) {
            most = at->floor * (1 + 5e-10);
            slack = fmin(1e-12 * whole, 3e-10 * at->floor);
        }
        // ... or the pose have come to where it can no longer be met from
        if (at->thin) slack = 1e-22 * whole;
        if (at->trial > most + fmax(slack, 10 * at->goal)) return false;
    }
    return true;
}

// The levels above the last put right at a->pose; false: that does not lead back to them. With `old` the
// factorisation that is there is tried first. `way` led to the pose, and no step back is longer.
static bool put_right(sn_solver *s, int last, double enough, bool old, double way, double *added) {
    sn_levels *a = s->levels;
    double before = old ? way : 0;
    // since when what answers a level that is kept from its goals is another
    double moved = way;
    bool curved = false, first = true;
    for (int k = 0; k < last; k++) curved = curved || a->at[k].curved;
    for (int tries = 0;; tries++) {
        if (!sn_levels_correct(s, last, a->pose, a->fix, added)) return false;
        double size = sn_levels_largest(a->fix, s->n);
        const bool right = size <= (tries == 0 ? 1e-15 : enough) ||
                           (size <= 1e-10 && size > 0.1 * before);  // as near as rounding lets it
        const bool stale = curved && moved > 1e-5;
        if (right && !stale) break;
        if (tries == 10) return false;
        if (right || size > 0.1 * before) {
            // the old factorisation leads there too slowly, or not at all
            if (!sn_levels_refactor(s, last, a->pose, a->fix, first)) return false;
            first = false;
            if (!sn_levels_correct(s, last, a->pose, a->fix, added)) return false;
            size = sn_levels_largest(a->fix, s->n);
            moved = 0;
            if (tries > 4 && size > 0.5 * before && !right) return false;
        }
        before = size;
        if (!(size > 0)) continue;
        moved += size;
        sn_levels_move(s, a->pose, fmin(1, way / size), a->fix, s->trial);
        memcpy(a->pose, s->trial, (size_t)s->model->nq * sizeof *a->pose);
    }
    return are_kept(s, last, enough);
}

// The trial with the levels above put right as far as `enough` says, and f of the last one there, with sum mu . g.
static bool look_put_right(sn_solver *s, int last, double enough, bool old, double way,
                           double *value) {
    double added, f;
    if (!put_right(s, last, enough, old, way, &added)) return false;
    if (!sn_levels_look(s, last, s->levels->pose, false, &f, NULL, NULL)) return false;
    *value = f + added;
    return true;
}

static void judge(const sn_levels_step *step, sn_levels_trial *t) {
    const double noise = step->noise;
    t->promise = -t->share * (step->slope + 0.5 * t->share * step->bend);
    t->fall = step->value - t->value;
    // where f is at the end of its digits, or the levels above still have further to go than this one
    t->blind = (t->promise <= noise && fabs(t->fall) <= 10 * noise) || step->up >= 0.5 * step->size;
    t->good = t->share > 0 && (t->blind || t->fall > 0.1 * t->promise);
}

// Joints that the step was to put at their limits move freely again; false when there are none.
static bool let_go(sn_solver *s) {
    sn_levels *a = s->levels;
    bool any = false;
    for (int i = 0; i < s->n; i++) {
        if (!a->put[i]) continue;
        a->put[i] = false;
        a->free[i] = any = true;
    }
    return any;
}

// How short the step back to the levels above must be that may be left at the end of a way: short of the way, so that what
// is left is of a higher order, and no longer than it was before the step. An exact Hessian shows what it leaves free only
// where the gradient is gone, and near a singular pose a short step back does not say that little is left.
static double how_right(const sn_solver *s, int last, const sn_levels_step *step, double way) {
    bool exact = false;
    for (int k = 0; k < last; k++) {
        exact = exact || s->levels->at[k].exact;
        if (s->levels->at[k].thin) return wholly_right;
    }
    const double enough = fmin(fmin(1e-3 * way, fmax(step->up, 1e-5)), way * way * way * way);
    return fmax(fmin(enough, exact ? 1e-9 : 1), exact ? 1e-11 : wholly_right);
}

// The trial of a step in a->pose. Shorter where the levels above cannot be put right, and where f of the last one does
// not fall: what they leave free may be sharply bent, and the parabola through both ends says where it is lowest.
static sn_levels_trial try_step(sn_solver *s, int last, const sn_levels_step *step) {
    sn_levels *a = s->levels;
    sn_levels_trial t = {.share = 0};
    double share = 1;
    for (int tries = 0; tries < 5; tries++) {
        const double way = share * step->size, enough = how_right(s, last, step, way);
        double shorter = 0.4 * share;
        if (share < 1 && step->size < 1e-3) break;
        s->report.poses++;
        sn_levels_move(s, s->q, share, a->p, a->pose);
        if (look_put_right(s, last, enough, share == 1, way, &t.value)) {
            t.share = share;
            judge(step, &t);
            // a limit in the way may take all of it back while the levels above are put right: not before they are
            if (t.fall < 0.25 * t.promise) {
                if (!look_put_right(s, last, wholly_right, false, way, &t.value))
                    t.value = INFINITY;
                judge(step, &t);
            }
            if (t.good || !(step->slope < 0)) break;
            const double above = t.value - step->value - share * step->slope;
            if (above < INFINITY) shorter = -0.5 * step->slope * share * share / above;
            shorter = fmin(fmax(shorter, 0.1 * share), 0.5 * share);
        } else if (share == 1 && let_go(s)) {
            // what they leave free bends away from a limit: nearly there
            shorter = 0.9;
        }
        share = shorter;
    }
    return t;
}

// The trial was good, and f of the last level still falls along what the levels above leave free there, or has begun to
// rise: on along it, as far as secants of its slope lead. A free direction may be bent by radians on its way, and only its
// tangent is needed for that, no second derivatives.
static void go_on(sn_solver *s, int last, const sn_levels_step *step, sn_levels_trial *t) {
    sn_levels *a = s->levels;
    const int n = s->n;
    const size_t bytes = (size_t)s->model->nq * sizeof *a->pose;
    double before = step->slope / step->size, way = t->share * step->size, f, added;
    const double first = before;
    for (int i = 0; i < n; i++) a->way[i] = a->p[i] / step->size;
    for (int tries = 0; tries < 8; tries++) {
        if (!sn_levels_refactor(s, last, a->pose, a->way, true)) return;
        if (!sn_levels_look(s, last, a->pose, false, &f, a->b, NULL)) return;
        // the way on, a unit vector of what is free
        const int m = sn_nested_left(&a->nested);
        const double *Z = sn_nested_rest(&a->nested);
        for (int c = 0; c < m; c++) a->y[c] = sn_solver_dot(Z + n * c, a->way, n);
        double size = 0;
        for (int i = 0; i < n; i++) {
            a->way[i] = 0;
            for (int c = 0; c < m; c++) a->way[i] += a->y[c] * Z[i + n * c];
            size = fmax(size, fabs(a->way[i]));
        }
        if (!(size > 0.1)) return;
        for (int i = 0; i < n; i++) a->way[i] /= size;
        const double slope = sn_solver_dot(a->b, a->way, n), bend = (slope - before) / way;
        if (fabs(slope) <= 0.001 * fabs(first)) return;
        double next = bend > 0 ? -slope / bend : slope < 0 ? INFINITY : -INFINITY;
        next = fmax(fmin(next, fmin(4 * fabs(way), sn_levels_most_reach)), -0.8 * fabs(way));
        memcpy(a->best, a->pose, bytes);
        bool lower = false;
        for (int shorter = 0; shorter < 3 && !lower; shorter++) {
            if (shorter > 0) next *= 0.3;
            sn_levels_move(s, a->best, next, a->way, a->pose);
            s->report.poses++;
            lower = put_right(s, last, 1e-10, shorter == 0, fabs(next), &added) &&
                    sn_levels_look(s, last, a->pose, false, &f, NULL, NULL) && f + added < t->value;
        }
        if (!lower) {
            memcpy(a->pose, a->best, bytes);
            return;
        }
        t->value = f + added;
        t->on += next;
        before = slope;
        way = next;
    }
}

// Short steps converge by themselves, but for those that a limit of the reach, a bend downwards or one that is not there, as
// that across a kink, made short.
static bool goes_on(const sn_levels_step *step, const sn_levels_trial *t) {
    const double way = t->share * step->size;
    const bool short_of =
        t->fall > 1.5 * t->promise || step->slope + t->share * step->bend < 0.5 * step->slope;
    const bool off = fabs(t->fall - t->promise) > 0.05 * t->promise;
    return t->good && !t->blind && step->slope < 0 && way > (short_of ? 1e-9 : off ? 1e-4 : 1e-2);
}

void sn_levels_take(sn_solver *s) {
    memcpy(s->q, s->levels->pose, (size_t)s->model->nq * sizeof *s->q);
    s->exact_here = false;
    s->levels->came_near = false;
}

bool sn_levels_polish(sn_solver *s, int last) {
    sn_levels *a = s->levels;
    double added;
    memcpy(a->pose, s->q, (size_t)s->model->nq * sizeof *a->pose);
    if (!put_right(s, last, wholly_right, true, sn_levels_most_reach, &added)) return false;
    sn_levels_take(s);
    return true;
}

bool sn_levels_try(sn_solver *s, int last, sn_levels_step *step, sn_levels_trial *t) {
    const sn_levels *a = s->levels;
    bool limits = false;
    for (int i = 0; i < s->n; i++) limits = limits || a->put[i];
    *t = try_step(s, last, step);
    if (t->share == 0 && limits) {
        // with joints put at their limits the levels above cannot be kept: as far as the first of these limits
        step->cut = true;
        step->indefinite = false;
        const bool found = sn_levels_find(s, last, step);
        step->cut = false;
        if (!found) return false;
        *t = try_step(s, last, step);
    }
    if (goes_on(step, t)) go_on(s, last, step, t);
    return true;
}
