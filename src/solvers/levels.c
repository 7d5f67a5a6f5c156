// SPDX-License-Identifier: MIT
// Tasks on several levels. A level is solved among the poses at which those above it are at their best, so
// that what it wants moves only what they leave free.
//
// The first level is solved as if it were alone, by the method itself, until Newton's steps converge by
// themselves. Then the next comes in: a step solves all levels so far at once (levels_step.c), and what it
// spoils of the levels above is put right at the trial, with the factorisation that is there. So f of the
// last level decides what is taken, and no weight between levels has to be chosen. When its steps are short
// the next level comes in; at the end all converge together.
//
// A level whose goals cannot be met leaves free what its Hessian at its own minimum does not see; a
// singular one, what its Jacobian does not see; pivots that are nearly 0 make long steps, which the reach
// of a step ends. Nothing switches back and forth: the solution that is found is stationary for every level
// on what is free for it, and the next solve that starts there stays there.
#include "solvers/levels.h"

#include <string.h>

#include "base/clock.h"

// How far a step may move: at first, at the most.
static const double first_reach = 0.4, most_reach = 0.8;

// The level above is off by more than this: it is solved again before the one below it goes on. And short
// enough steps for the next one to come in.
static const double too_far = 0.3, near_enough = 0.1;

// The Hessian of a level that misses its goals shows what it leaves free where its gradient is below this.
static const double not_at_rest = 1e-5;

// Rounding of f, and of what the levels above leave free, may leave a relative gradient of up to this: f is then 1e-15
// of itself above its least.
static const double end_of_digits = 4e-8;

// A level with more than this relative gradient left is not at rest, however short its step is.
static const double no_rest = 1e-6;

// A solver for figures up to this size has room for levels, whether there are any when it is made or not.
enum { ALWAYS_ROOM = 64 };

static bool second_order(const sn_solver *s) {
    const sn_method m = s->options.method;
    return m == SN_METHOD_HYBRID || m == SN_METHOD_NEWTON || m == SN_METHOD_LM;
}

void sn_solver_levels_layout(sn_solver *s, sn_layout *layout) {
    int level[SN_MAX_LEVELS];
    const size_t n = (size_t)s->n, nq = (size_t)s->model->nq, all = SN_LEVELS;
    sn_levels a = {.nested = {.n = s->n}};
    a.room = second_order(s) && s->problem->ntask > 1 &&
             (s->n <= ALWAYS_ROOM || sn_problem_levels(s->problem, level) > 1);
    if (a.room) {
        sn_level_view_layout(&a.view, s->problem, layout);
        a.unit = sn_layout_take(layout, n, sizeof *a.unit);
        a.g = sn_layout_take(layout, all * n, sizeof *a.g);
        a.W = sn_layout_take(layout, all * n * n, sizeof *a.W);
        a.H = sn_layout_take(layout, n * n, sizeof *a.H);
        a.turn = sn_layout_take(layout, n * n, sizeof *a.turn);
        a.mu = sn_layout_take(layout, all * all * n, sizeof *a.mu);
        a.pull = sn_layout_take(layout, all * n, sizeof *a.pull);
        a.factor = sn_layout_take(layout, n * n, sizeof *a.factor);
        a.p = sn_layout_take(layout, n, sizeof *a.p);
        a.b = sn_layout_take(layout, n, sizeof *a.b);
        a.y = sn_layout_take(layout, n, sizeof *a.y);
        a.fix = sn_layout_take(layout, n, sizeof *a.fix);
        a.pose = sn_layout_take(layout, nq, sizeof *a.pose);
        a.best = sn_layout_take(layout, nq, sizeof *a.best);
        a.way = sn_layout_take(layout, n, sizeof *a.way);
        a.met = sn_layout_take(layout, nq, sizeof *a.met);
        a.shifted = sn_layout_take(layout, nq, sizeof *a.shifted);
        a.beside = sn_layout_take(layout, n, sizeof *a.beside);
        a.slope = sn_layout_take(layout, n, sizeof *a.slope);
        a.free = sn_layout_take(layout, n, sizeof *a.free);
        a.open = sn_layout_take(layout, n, sizeof *a.open);
        a.held = sn_layout_take(layout, n, sizeof *a.held);
        a.put = sn_layout_take(layout, n, sizeof *a.put);
        a.nested.basis = sn_layout_take(layout, n * n, sizeof(double));
        a.nested.seen = sn_layout_take(layout, n * n, sizeof(double));
        a.nested.factor = sn_layout_take(layout, n * n, sizeof(double));
        a.nested.T = sn_layout_take(layout, n * n, sizeof(double));
        a.nested.R = sn_layout_take(layout, n * n, sizeof(double));
        a.nested.L = sn_layout_take(layout, n * n, sizeof(double));
        a.nested.d = sn_layout_take(layout, n, sizeof(double));
        a.nested.order = sn_layout_take(layout, n, sizeof(int));
        a.nested.place = sn_layout_take(layout, n, sizeof(int));
    }
    s->levels = sn_layout_keep(layout, &a, sizeof a);
}

// What an entry stands for: a turn of one radian, or a way as long as the figure is large at its start.
static void find_units(sn_solver *s) {
    sn_levels *a = s->levels;
    const sn_model *m = s->model;
    double size = 0;
    (void)sn_workspace_pose(s->ws, s->q);
    for (int k = 0; k < m->njoint; k++) size = fmax(size, v3_norm(s->ws->frame[k].p));
    if (!(size > 0)) size = 1;
    for (int i = 0; i < s->n; i++) {
        const int v = m->v_of[i];
        const bool follows = m->ncoupling > 0 && m->follows[v];
        a->unit[i] = m->gain[v] == 0 || follows ? 0 : (s->turns[i] ? 1 : size) / m->gain[v];
    }
}

sn_status sn_solver_levels_begin(sn_solver *s) {
    sn_levels *a = s->levels;
    int level[SN_MAX_LEVELS], count = sn_problem_levels(s->problem, level);
    a->count = 0;
    s->ws->problem = s->problem;
    s->share = 1e-26;
    if (count < 2) return SN_OK;
    if (!a->room) return SN_ERR_UNSUPPORTED;
    a->first = s->model->nloop > 0;
    a->count = a->first + count;
    for (int k = 0; k < a->count; k++)
        a->at[k] = (sn_level){.name = k < a->first ? -1 : level[k - a->first]};
    find_units(s);
    sn_level_view_begin(&a->view, s->problem);
    sn_level_view_show(&a->view, s->problem, level[0]);
    s->ws->problem = &a->view.problem;
    // where its goals will be met, the first level need not be finished before the next comes in
    s->share = 1e-7;
    return SN_OK;
}

// What f would be with errors as large as the figure: the largest column of the Jacobian, squared.
static bool find_goals(sn_solver *s) {
    sn_levels *a = s->levels;
    for (int k = 0; k < a->count; k++) {
        sn_level *at = &a->at[k];
        if (!sn_levels_look(s, k, s->q, false, &at->f, NULL, a->H)) return false;
        // entries are differences of terms as large as these, or as f
        at->noise = 4e-15 * fmax(sn_solver_terms(s), at->f);
        for (int i = 0; i < s->n; i++) at->whole = fmax(at->whole, a->H[i + s->n * i]);
        at->usual = k == a->first ? s->usual : at->whole;
        at->floor = INFINITY;
        sn_levels_find_goal(s, k, at->whole);
    }
    return true;
}

static bool satisfied(const sn_solver *s, int k) {
    const sn_level *at = &s->levels->at[k];
    const double rest = at->exact ? SN_LEVELS_REST : 0;
    return at->f <= at->goal || at->gradient <= fmax(s->options.gradient, rest);
}

// Is every level above the last satisfied, or its f below this share of what errors as large as the figure would make
// it?
static bool all_met(const sn_solver *s, int last, double share) {
    for (int k = 0; k < last; k++)
        if (!satisfied(s, k) && !(s->levels->at[k].f <= share * s->levels->at[k].whole))
            return false;
    return true;
}

// The first level again, as if alone, until f is this share of what it would be with errors as large as the figure. Where
// the pose is still the one that it came to, it goes on as if nothing had been between.
static bool solve_first(sn_solver *s, double share) {
    sn_levels *a = s->levels;
    const sn_stop stop = s->report.stop;
    sn_level_view_show(&a->view, s->problem, a->at[a->first].name);
    s->share = share;
    s->goes_on = a->came_near && s->model->nloop == 0 && !sn_has_guards(s->ws);
    if (!s->goes_on) {
        if (!sn_solver_eval(s, s->q, SN_EVAL_GAUSS_NEWTON, &s->f)) return false;
        sn_solver_find_scale(s, true);
    }
    if (s->options.goal < 0) s->goal = share * fmin(s->whole, 10 * s->usual);
    sn_solver_run(s);
    a->came_near = s->report.stop == SN_STOP_GOAL;
    const bool ended = s->report.stop == SN_STOP_ITERATIONS || s->report.stop == SN_STOP_TIME ||
                       s->report.stop == SN_STOP_CANCELLED;
    if (!ended) s->report.stop = stop;
    return !ended;
}

// ... until f is a ten-thousandth of what it is.
static bool finish_first(sn_solver *s) {
    const sn_level *first = &s->levels->at[s->levels->first];
    return solve_first(s, fmax(1e-4 * first->f / first->whole, SN_LEVELS_WHOLLY));
}

// The levels above the last put right at a->pose; false: that does not lead back to them. With `old` the
// factorisation that is there is tried first. `way` led to the pose, and no step back is longer.
static bool put_right(sn_solver *s, int last, double enough, bool old, double way, double *added) {
    sn_levels *a = s->levels;
    double before = old ? 10 * 0.1 * way : 0;
    // since when what answers a level that is kept from its goals is another
    double moved = way;
    bool curved = false, first = true;
    for (int k = 0; k < last; k++) curved = curved || a->at[k].curved;
    for (int tries = 0;; tries++) {
        double size = 0;
        if (!sn_levels_correct(s, last, a->pose, a->fix, added)) return false;
        for (int i = 0; i < s->n; i++) size = fmax(size, fabs(a->fix[i]));
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
            size = moved = 0;
            for (int i = 0; i < s->n; i++) size = fmax(size, fabs(a->fix[i]));
            if (tries > 4 && size > 0.5 * before && !right) return false;
        }
        before = size;
        if (!(size > 0)) continue;
        moved += size;
        sn_levels_move(s, a->pose, fmin(1, way / size), a->fix, s->trial);
        memcpy(a->pose, s->trial, (size_t)s->model->nq * sizeof *a->pose);
    }
    // limits may keep a level from where it was
    for (int k = 0; k < last; k++) {
        const sn_level *at = &a->at[k];
        const double whole = sn_levels_measure(at);
        // near a singular pose a step back may be short, and much of f left all the same
        const double left = fmin(1e-10, fmax(1e4 * enough * enough, 1e-20));
        const double slack = at->exact ? fmin(1e-12 * whole, 3e-10 * at->floor) : left * whole;
        const double most = at->exact         ? at->floor * (1 + 5e-10)
                            : enough <= 1e-10 ? 0
                                              : 1e-3 * at->floor;
        if (at->trial > most + fmax(slack, 10 * at->goal)) return false;
    }
    return true;
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

// What became of a step.
typedef struct trial {
    double share;    // of the step, 0: none could be put right
    double value;    // f of the last level, and sum mu . g
    double promise;  // by how much they were to fall, and did
    double fall;
    double on;   // how much further than the step it went
    bool blind;  // f cannot tell: the levels above being met is what counts
    bool good;
} trial;

static void judge(const sn_levels_step *step, trial *t) {
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

// The trial of a step in a->pose. Shorter where the levels above cannot be put right, and where f of the last one does
// not fall: what they leave free may be sharply bent, and the parabola through both ends says where it is lowest.
static trial try_step(sn_solver *s, int last, const sn_levels_step *step) {
    sn_levels *a = s->levels;
    trial t = {.share = 0};
    bool exact = false;
    for (int k = 0; k < last; k++) exact = exact || a->at[k].exact;
    double share = 1;
    for (int tries = 0; tries < 5; tries++) {
        // an exact Hessian shows what it leaves free only where the gradient is gone
        const double way = share * step->size,
                     enough = fmax(fmin(fmin(fmin(1e-3 * way, fmax(step->up, 1e-5)), way * way * way * way), exact ? 1e-9 : 1),
                                   exact ? 1e-11 : 1e-13);
        double shorter = 0.4 * share;
        if (share < 1 && step->size < 1e-3) break;
        s->report.poses++;
        sn_levels_move(s, s->q, share, a->p, a->pose);
        if (look_put_right(s, last, enough, share == 1, way, &t.value)) {
            t.share = share;
            judge(step, &t);
            // a limit in the way may take all of it back while the levels above are put right: not before they are
            if (t.fall < 0.25 * t.promise) {
                if (!look_put_right(s, last, 1e-13, false, way, &t.value)) t.value = INFINITY;
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
static void go_on(sn_solver *s, int last, const sn_levels_step *step, trial *t) {
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
        next = fmax(fmin(next, fmin(4 * fabs(way), most_reach)), -0.8 * fabs(way));
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
static bool goes_on(const sn_levels_step *step, const trial *t) {
    const double way = t->share * step->size;
    const bool short_of =
        t->fall > 1.5 * t->promise || step->slope + t->share * step->bend < 0.5 * step->slope;
    const bool off = fabs(t->fall - t->promise) > 0.05 * t->promise;
    return t->good && !t->blind && step->slope < 0 && way > (short_of ? 1e-9 : off ? 1e-4 : 1e-2);
}

static void take(sn_solver *s) {
    memcpy(s->q, s->levels->pose, (size_t)s->model->nq * sizeof *s->q);
    s->exact_here = false;
    s->levels->came_near = false;
}

// Reasons to stop that have nothing to do with the pose.
static bool is_over(sn_solver *s) {
    const sn_solver_options *o = &s->options;
    if (sn_cancelled(o->cancel)) {
        s->report.stop = SN_STOP_CANCELLED;
    } else if (s->report.iterations - s->run_first >= o->max_iterations) {
        s->report.stop = SN_STOP_ITERATIONS;
    } else if (o->seconds > 0 && sn_seconds() - s->started >= o->seconds) {
        s->report.stop = SN_STOP_TIME;
    } else {
        return false;
    }
    return true;
}

// The first level that is off by more than `far`, of those above the last; -1 for none.
static int find_lost(const sn_solver *s, int last, double far) {
    const sn_levels *a = s->levels;
    for (int k = a->first; k < last; k++)
        if (a->at[k].own > far && !satisfied(s, k)) return k;
    return -1;
}

// The first level below the first that misses its goals and has a way left along which f hardly bends; -1 for none. The one
// below it would take that way as its own.
static int find_unfinished(const sn_solver *s, int last) {
    const sn_levels *a = s->levels;
    for (int k = a->first + 1; k < last; k++)
        if (a->at[k].exact && a->at[k].vague && !satisfied(s, k)) return k;
    return -1;
}

// What the levels above the last lack at the pose is put right there.
static bool polish(sn_solver *s, int last) {
    sn_levels *a = s->levels;
    double added;
    memcpy(a->pose, s->q, (size_t)s->model->nq * sizeof *a->pose);
    if (!put_right(s, last, 1e-13, true, most_reach, &added)) return false;
    take(s);
    return true;
}

// What rounding leaves of the last level's relative gradient: matrices of the levels above have the digits of their largest
// entries, and near a singular pose large multipliers bring the last of them into the pull.
static double rounding(const sn_solver *s, int last) {
    const sn_levels *a = s->levels;
    const double size = sqrt(2 * a->at[last].f * a->at[last].whole);
    double sum = 0;
    for (int j = 0; j < last; j++) {
        double most = 0;
        for (int i = 0; i < s->n; i++) most = fmax(most, fabs(sn_levels_mu(a, last, j)[i]));
        sum += 1e-15 * a->at[j].whole * most;
    }
    return fmin(fmax(end_of_digits, size > 0 ? sum / size : 0), 1e-5);
}

static void run_lower(sn_solver *s) {
    sn_levels *a = s->levels;
    int last = a->first + 1, restarts = 0, finish = -1, more = 0, backs = 0;
    bool fresh = true, astray = false, polished = false, met = false;
    double growth = 4, calmest = INFINITY;
    bool quiet = false;
    int patience = 0;
    sn_levels_step step = {.reach = first_reach};
    for (bool known = find_goals(s); known;) {
        if (fresh && !sn_levels_derive(s, last)) break;
        fresh = false;
        step.indefinite = false;
        if (!sn_levels_find(s, last, &step)) break;
        // what is below the first may have to rise again while those above it are put right
        for (int k = 0; k < last; k++)
            a->at[k].floor = k <= a->first ? fmin(a->at[k].floor, a->at[k].f) : a->at[k].f;
        // off by far, or not to be put right from here: near a singular pose it takes the method itself
        // ... and so it does where the goals that were nearly met turn out to be out of reach
        const sn_level *first = &a->at[a->first];
        if (restarts == 0 && first->exact && first->gradient > not_at_rest) astray = true;
        // near a singular pose what it leaves free shows when it is nearly met
        if (first->vague && !first->exact && first->f > first->goal && more++ < 4) {
            if (!finish_first(s)) return;
            fresh = true;
            continue;
        }
        const int lost = find_lost(s, last, astray ? 0 : too_far);
        astray = false;
        if (lost >= 0) {
            if (restarts++ == 3) break;
            if (lost == a->first && !solve_first(s, SN_LEVELS_WHOLLY)) return;
            last = lost > a->first ? lost : a->first + 1;
            finish = lost;
            step = (sn_levels_step){.reach = first_reach};
            fresh = true;
            continue;
        }
        const int unfinished = find_unfinished(s, last);
        if (unfinished >= 0 && unfinished != finish && backs++ < 8) {
            last = finish = unfinished;
            step = (sn_levels_step){.reach = first_reach};
            fresh = true;
            continue;
        }
        const bool above = all_met(s, last, 0);
        bool done = a->at[last].f <= a->at[last].goal ||
                    a->at[last].gradient <= s->options.gradient ||
                    (fmax(step.size, step.up) <= 1e-13 && step.reach > 1e-12 &&
                     a->at[last].gradient <= no_rest);
        if (above) memcpy(a->met, s->q, (size_t)s->model->nq * sizeof *s->q);
        met = met || above;
        // a level that was lost once is finished before the next comes in again, and a step that is short because
        // longer ones failed is not near its end
        const bool nearly = last != finish && step.size <= fmin(near_enough, 0.5 * step.reach) &&
                            a->at[last].f <= 1e-4 * a->at[last].whole;
        // f has no digits left to tell steps apart by, and the gradient falls no further
        const bool calm = above && a->at[last].gradient <= rounding(s, last);
        const bool idle = quiet && a->at[last].gradient > 0.5 * calmest;
        calmest = fmin(calmest, a->at[last].gradient);
        patience = idle ? patience + 1 : 0;
        if (calm && (idle || step.reach < 1e-13)) done = true;
        if (above && patience >= 10 && a->at[last].gradient <= no_rest) done = true;
        if (last < a->count - 1 && (done || nearly)) {
            last++;
            step = (sn_levels_step){.reach = first_reach};
            quiet = false;
            calmest = INFINITY;
            fresh = true;
            continue;
        }
        s->report.gradient = a->at[last].gradient;
        if (done && above) {
            bool all = true;
            for (int k = 0; k <= last; k++) all = all && a->at[k].f <= a->at[k].goal;
            s->report.stop = all ? SN_STOP_GOAL : SN_STOP_MINIMUM;
            if (a->at[last].f <= a->at[last].goal) s->report.gradient = NAN;
            return;
        }
        if (is_over(s)) {
            // what the levels above lack is put right all the same, or they are left where they lacked nothing
            bool good = above;
            for (int i = 0; i < 4 && !good && polish(s, last); i++) {
                if (!sn_levels_derive(s, last) || !sn_levels_find(s, last, &step)) break;
                good = all_met(s, last, 1e-18);
            }
            if (!good && met) memcpy(s->q, a->met, (size_t)s->model->nq * sizeof *s->q);
            return;
        }
        // where what the levels above lack turns the step round, it is put right first
        if (!above && !polished && !(step.slope < 0) && step.up < 0.5 * step.size) {
            polished = polish(s, last);
            if (!polished && more++ < 4) {
                if (!finish_first(s)) return;
                fresh = true;
            }
            fresh = fresh || polished;
            if (fresh) continue;
        }
        bool limits = false;
        for (int i = 0; i < s->n; i++) limits = limits || a->put[i];
        trial t = try_step(s, last, &step);
        if (t.share == 0 && limits) {
            // with joints put at their limits the levels above cannot be kept: as far as the first of these limits
            step.cut = true;
            step.indefinite = false;
            const bool found = sn_levels_find(s, last, &step);
            step.cut = false;
            if (!found) break;
            t = try_step(s, last, &step);
        }
        if (goes_on(&step, &t)) go_on(s, last, &step, &t);
        sn_trace trace = {.exact = s->options.method != SN_METHOD_LM,
                          .indefinite = step.indefinite,
                          .damping = step.lambda,
                          .step = t.share * step.size + t.on,
                          .level = a->at[last].name,
                          .taken = t.good,
                          .ratio = t.promise > 0 ? t.fall / t.promise : NAN};
        quiet = t.promise <= step.noise || (t.good && fabs(t.fall) <= 10 * step.noise);
        if (t.good) take(s);
        s->f = t.good ? fmax(t.value, 0) : a->at[last].f;
        sn_solver_iterated(s, &trace);
        if (!t.good) {
            // the first level as it came here, not yet met, is met first: that costs what it would alone
            astray = !above && (t.share == 0 || a->came_near);
            if (astray && a->came_near) continue;
            // mu . g says only to first order what putting right will cost: it is done, and the step judged again
            if (t.share > 0 && !above && !polished && polish(s, last)) {
                polished = fresh = true;
                continue;
            }
            step.reach = (t.share > 0 ? 0.4 * t.share : 0.05) * fmin(step.reach, step.size);
            growth = 1.5;
            if (step.reach < 1e-13 && !calm) break;
            continue;
        }
        fresh = true;
        polished = false;
        a->at[last].fast = t.value < 0.5 * a->at[last].f;
        if (t.share < 1) {
            step.reach = 3.5 * t.share * step.size;
        } else if (t.blind || trace.ratio > 0.75) {
            step.reach = fmin(growth * step.reach, most_reach);
        } else if (trace.ratio < 0.25) {
            step.reach = fmax(0.5 * step.size, 1e-6);
        }
        growth = 4;
    }
    sn_solver_stalled(s);
}

void sn_solver_lower(sn_solver *s, bool after_run) {
    sn_levels *a = s->levels;
    const sn_stop stop = s->report.stop;
    if (a->count < 2) return;
    a->came_near = after_run && stop == SN_STOP_GOAL;
    if (stop == SN_STOP_ITERATIONS || stop == SN_STOP_TIME || stop == SN_STOP_CANCELLED) return;
    const bool guarded = sn_has_guards(s->ws);
    const double violated = guarded ? sn_solver_guards_resume(s) : 0;
    run_lower(s);
    // where the levels below came to nothing, the first is still finished
    if (!satisfied(s, a->first) && s->report.stop == SN_STOP_STALLED) (void)solve_first(s, SN_LEVELS_WHOLLY);
    sn_level_view_show(&a->view, s->problem, a->at[a->first].name);
    if (guarded) sn_solver_guards_settle(s, violated);
    (void)sn_solver_eval(s, s->q, 0, &s->f);
}

void sn_solver_levels_end(sn_solver *s) {
    sn_levels *a = s->levels;
    sn_report *r = &s->report;
    int level[SN_MAX_LEVELS];
    r->nlevel = sn_problem_levels(s->problem, level);
    for (int i = 0; i < r->nlevel; i++) r->level[i] = (sn_level_report){.level = level[i]};
    r->f = r->nlevel < 2 ? s->f : 0;
    for (int i = 0; i < r->nlevel; i++) {
        sn_level_report *to = &r->level[i];
        to->f = s->f;
        if (a->count > 1) {
            sn_level_view_show(&a->view, s->problem, to->level);
            if (!sn_solver_eval(s, s->q, 0, &to->f)) to->f = NAN;
            r->f += to->f;
            const sn_level *at = &a->at[a->first + i];
            to->gradient = at->f <= at->goal ? NAN : at->gradient;
            // stopped before the levels came to be solved together
            if (at->whole == 0) to->gradient = i == 0 ? r->gradient : NAN;
        } else {
            to->gradient = r->gradient;
        }
        for (int t = 0; t < s->problem->ntask; t++)
            if (s->problem->task[t].level == to->level && sn_problem_task_active(s->problem, t))
                to->worst_error = fmax(to->worst_error, sn_workspace_task_error(s->ws, t));
    }
    s->ws->problem = s->problem;
}
