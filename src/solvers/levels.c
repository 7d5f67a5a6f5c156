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
#include "sweeps/residuals.h"

// How far a first step may move.
static const double first_reach = 0.4;

// Steps shorter than this lead nowhere.
static const double no_way = 1e-13;

// So often may levels be lost: against the edge of a guard that comes and goes one is lost again and again, and each time
// the last ends lower.
enum { MOST_RESTARTS = 8 };

// After so many steps in a row that promised less than the digits of f, and left the gradient as it was, f is at its least.
enum { ENOUGH_PATIENCE = 10 };

// The level above is off by more than this: it is solved again before the one below it goes on. And short
// enough steps for the next one to come in.
static const double too_far = 0.3, near_enough = 0.1;

// The Hessian of a level that misses its goals shows what it leaves free where its gradient is below this.
static const double not_at_rest = 1e-5;

// Rounding of f, and of what the levels above leave free, may leave a relative gradient of up to this: f is then 1e-15
// of itself above its least.
static const double end_of_digits = 3e-8;

// ... and next to a singular pose of up to this, where f has no more digits than that.
static const double no_digits = 1e-5;

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
        a.lag = sn_layout_take(layout, all * n, sizeof *a.lag);
        a.pull = sn_layout_take(layout, all * n, sizeof *a.pull);
        a.factor = sn_layout_take(layout, n * n, sizeof *a.factor);
        a.rows = sn_residual_count(s->problem);
        a.J = sn_layout_take(layout, (size_t)a.rows * n, sizeof *a.J);
        a.r = sn_layout_take(layout, (size_t)a.rows, sizeof *a.r);
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

// The first level below the first that misses its goals and has a way left along which f hardly bends, or bends down; -1 for
// none. The one below it would take that way as its own.
static int find_unfinished(const sn_solver *s, int last) {
    const sn_levels *a = s->levels;
    for (int k = a->first + 1; k < last; k++)
        if (a->at[k].bends_down || (a->at[k].exact && a->at[k].vague && !satisfied(s, k))) return k;
    return -1;
}

// What rounding leaves of the last level's relative gradient. The levels above are met as far as their digits go; near a singular
// pose that leaves the pose open by their rounding over a small pivot's root, and what is free there turns by as much over that
// root again, which the multipliers tell.
static double rounding(const sn_solver *s, int last) {
    const sn_levels *a = s->levels;
    const double size = sqrt(2 * a->at[last].f * a->at[last].whole);
    double sum = 0;
    for (int j = 0; j < last; j++)
        sum += 1e-15 * a->at[j].whole * sn_levels_largest(sn_levels_mu(a, last, j), s->n);
    return fmin(fmax(end_of_digits, size > 0 ? sum / size : 0), no_digits);
}

// Where the loop stands.
typedef struct course {
    int last;       // the level whose f decides
    int finish;     // a level that was lost and is finished before the next comes in; -1: none
    int restarts;   // how often one was lost
    int backs;      // how often an unfinished one was gone back to
    int more;       // how often the first was brought nearer to its goals
    bool fresh;     // the pose is another one than that of the derivatives
    bool astray;    // no step could be put right: what is off is solved again
    bool polished;  // the levels above were put right at this pose
    bool met;       // a->met holds a pose at which they lacked nothing
    double growth;  // of the reach
    sn_levels_step step;
    // of the last level since it came in
    bool quiet;      // its last step was to change f by less than its digits, or did
    double calmest;  // its least gradient
    int patience;    // how many quiet steps in a row did not lessen it
} course;

typedef enum verdict { GO_ON, AGAIN, END, STALLED } verdict;

static void let_in(course *c, int last) {
    c->last = last;
    c->step = (sn_levels_step){.reach = first_reach};
    c->quiet = false;
    c->calmest = INFINITY;
    c->patience = 0;
    c->fresh = true;
}

// Levels above the last that must be solved again before it goes on.
static verdict look_back(sn_solver *s, course *c) {
    const sn_levels *a = s->levels;
    const sn_level *first = &a->at[a->first];
    // goals that were nearly met turn out to be out of reach
    if (c->restarts == 0 && first->exact && first->gradient > not_at_rest) c->astray = true;
    // near a singular pose what the first leaves free shows when it is nearly met
    if (first->vague && !first->exact && first->f > first->goal && c->more++ < 4) {
        c->fresh = true;
        return finish_first(s) ? AGAIN : END;
    }
    // off by far, or not to be put right from here: near a singular pose it takes the method itself
    const int lost = find_lost(s, c->last, c->astray ? 0 : too_far);
    c->astray = false;
    if (lost >= 0) {
        if (c->restarts++ == MOST_RESTARTS) return STALLED;
        if (lost == a->first && !solve_first(s, SN_LEVELS_WHOLLY)) return END;
        let_in(c, lost > a->first ? lost : a->first + 1);
        c->finish = lost;
        return AGAIN;
    }
    const int unfinished = find_unfinished(s, c->last);
    if (unfinished < 0 || unfinished == c->finish || c->backs++ >= 8) return GO_ON;
    let_in(c, unfinished);
    c->finish = unfinished;
    return AGAIN;
}

// Is the last level at its best? `calm`: its gradient is what rounding may leave.
static bool is_done(sn_solver *s, course *c, bool above, bool calm) {
    const sn_level *at = &s->levels->at[c->last];
    const sn_levels_step *step = &c->step;
    // f has no digits left to tell steps apart by, and the gradient falls no further
    const bool idle = c->quiet && at->gradient > 0.5 * c->calmest;
    c->calmest = fmin(c->calmest, at->gradient);
    c->patience = idle ? c->patience + 1 : 0;
    if (at->f <= at->goal || at->gradient <= s->options.gradient) return true;
    // a gradient that is large, and as large as rounding may leave it, is looked at twice
    const bool settled = idle && (at->gradient <= SN_LEVELS_REST || c->patience >= 2);
    if (calm && (settled || step->reach < no_way)) return true;
    if (above && c->patience >= ENOUGH_PATIENCE && at->gradient <= SN_LEVELS_REST) return true;
    return at->gradient <= no_rest && fmax(step->size, step->up) <= no_way &&
           step->reach > 10 * no_way;
}

// A level that was lost once is finished before the next comes in again, and a step that is short because longer ones
// failed is not near its end.
static bool is_nearly_done(const sn_solver *s, const course *c) {
    const sn_level *at = &s->levels->at[c->last];
    return c->last != c->finish && c->step.size <= fmin(near_enough, 0.5 * c->step.reach) &&
           at->f <= 1e-4 * at->whole;
}

static void say_done(sn_solver *s, int last) {
    const sn_levels *a = s->levels;
    bool all = true;
    for (int k = 0; k <= last; k++) all = all && a->at[k].f <= a->at[k].goal;
    s->report.stop = all ? SN_STOP_GOAL : SN_STOP_MINIMUM;
    if (a->at[last].f <= a->at[last].goal) s->report.gradient = NAN;
}

// Stopped between two steps: what the levels above lack is put right all the same, or they are left where they lacked
// nothing.
static void leave(sn_solver *s, course *c, bool above) {
    const sn_levels *a = s->levels;
    bool good = above;
    for (int i = 0; i < 4 && !good && sn_levels_polish(s, c->last); i++) {
        if (!sn_levels_derive(s, c->last) || !sn_levels_find(s, c->last, &c->step)) break;
        good = all_met(s, c->last, 1e-18);
    }
    if (!good && c->met) memcpy(s->q, a->met, (size_t)s->model->nq * sizeof *s->q);
}

// After a step that was not taken; `calm` as above.
static verdict after_rejected(sn_solver *s, course *c, const sn_levels_trial *t, bool above,
                              bool calm) {
    // the first level as it came here, not yet met, is met first: that costs what it would alone
    c->astray = !above && (t->share == 0 || s->levels->came_near);
    if (c->astray && s->levels->came_near) return AGAIN;
    // mu . g says only to first order what putting right will cost: it is done, and the step judged again
    if (t->share > 0 && !above && !c->polished && sn_levels_polish(s, c->last)) {
        c->polished = c->fresh = true;
        return AGAIN;
    }
    c->step.reach = (t->share > 0 ? 0.4 * t->share : 0.05) * fmin(c->step.reach, c->step.size);
    c->growth = 1.5;
    return c->step.reach < no_way && !calm ? STALLED : AGAIN;
}

static void after_taken(sn_solver *s, course *c, const sn_levels_trial *t) {
    sn_level *at = &s->levels->at[c->last];
    sn_levels_step *step = &c->step;
    const double ratio = t->promise > 0 ? t->fall / t->promise : NAN;
    c->fresh = true;
    c->polished = false;
    at->fast = t->value < 0.5 * at->f;
    if (t->share < 1) {
        step->reach = 3.5 * t->share * step->size;
    } else if (t->blind || ratio > 0.75) {
        step->reach = fmin(c->growth * step->reach, sn_levels_most_reach);
    } else if (ratio < 0.25) {
        step->reach = fmax(0.5 * step->size, 1e-6);
    }
    c->growth = 4;
}

// One step of the last level, with those above.
static verdict advance(sn_solver *s, course *c, bool above, bool calm) {
    sn_levels *a = s->levels;
    sn_levels_step *step = &c->step;
    sn_levels_trial t;
    if (!sn_levels_try(s, c->last, step, &t)) return STALLED;
    sn_trace trace = {.exact = s->options.method != SN_METHOD_LM,
                      .indefinite = step->indefinite,
                      .damping = step->lambda,
                      .step = t.share * step->size + t.on,
                      .level = a->at[c->last].name,
                      .taken = t.good,
                      .ratio = t.promise > 0 ? t.fall / t.promise : NAN};
    const double promise = t.share > 0 ? t.promise : -(step->slope + 0.5 * step->bend);
    c->quiet = promise <= step->noise || (t.good && fabs(t.fall) <= 10 * step->noise);
    if (t.good) sn_levels_take(s);
    s->f = t.good ? fmax(t.value, 0) : a->at[c->last].f;
    sn_solver_iterated(s, &trace);
    if (!t.good) return after_rejected(s, c, &t, above, calm);
    after_taken(s, c, &t);
    return AGAIN;
}

// What is to be done at the pose, whose derivatives and step are there.
static verdict go_about(sn_solver *s, course *c) {
    sn_levels *a = s->levels;
    const verdict back = look_back(s, c);
    if (back != GO_ON) return back;
    const sn_level *at = &a->at[c->last];
    const bool above = all_met(s, c->last, 0);
    if (above) memcpy(a->met, s->q, (size_t)s->model->nq * sizeof *s->q);
    c->met = c->met || above;
    const bool calm = above && at->gradient <= rounding(s, c->last);
    const bool done = is_done(s, c, above, calm);
    if (c->last < a->count - 1 && (done || is_nearly_done(s, c))) {
        let_in(c, c->last + 1);
        return AGAIN;
    }
    s->report.gradient = at->gradient;
    if (done && above) {
        say_done(s, c->last);
        return END;
    }
    if (is_over(s)) {
        leave(s, c, above);
        return END;
    }
    // where what the levels above lack turns the step round, it is put right first
    if (!above && !c->polished && !(c->step.slope < 0) && c->step.up < 0.5 * c->step.size) {
        c->polished = c->fresh = sn_levels_polish(s, c->last);
        if (!c->polished && c->more++ < 4) {
            c->fresh = true;
            return finish_first(s) ? AGAIN : END;
        }
        if (c->fresh) return AGAIN;
    }
    return advance(s, c, above, calm);
}

static void run_lower(sn_solver *s) {
    sn_levels *a = s->levels;
    course c = {.finish = -1, .growth = 4};
    verdict next = find_goals(s) ? AGAIN : STALLED;
    let_in(&c, a->first + 1);
    while (next == AGAIN) {
        next = STALLED;
        if (c.fresh && !sn_levels_derive(s, c.last)) break;
        c.fresh = c.step.indefinite = false;
        if (!sn_levels_find(s, c.last, &c.step)) break;
        // what is below the first may have to rise again while those above it are put right
        for (int k = 0; k < c.last; k++)
            a->at[k].floor = k <= a->first ? fmin(a->at[k].floor, a->at[k].f) : a->at[k].f;
        next = go_about(s, &c);
    }
    if (next == STALLED) sn_solver_stalled(s);
}

// Where the levels below came to nothing, or were cut off, the first is not left worse than it was: it is finished from
// where they left it or, where that is worse, from the last pose at which it lacked nothing, or else the one it came with.
static void rescue_first(sn_solver *s) {
    sn_levels *a = s->levels;
    const bool stalled = s->report.stop == SN_STOP_STALLED;
    double f, before;
    if (satisfied(s, a->first)) return;
    if (stalled && !solve_first(s, SN_LEVELS_WHOLLY)) return;
    sn_level_view_show(&a->view, s->problem, a->at[a->first].name);
    if (!sn_solver_eval(s, a->met, 0, &before)) return;
    if (sn_solver_eval(s, s->q, 0, &f) && f <= before) return;
    memcpy(s->q, a->met, (size_t)s->model->nq * sizeof *s->q);
    a->came_near = false;
    if (stalled) (void)solve_first(s, SN_LEVELS_WHOLLY);
}

void sn_solver_lower(sn_solver *s, bool after_run) {
    sn_levels *a = s->levels;
    const sn_stop stop = s->report.stop;
    if (a->count < 2) return;
    a->came_near = after_run && stop == SN_STOP_GOAL;
    if (stop == SN_STOP_ITERATIONS || stop == SN_STOP_TIME || stop == SN_STOP_CANCELLED) return;
    const bool guarded = sn_has_guards(s->ws);
    const double violated = guarded ? sn_solver_guards_resume(s) : 0;
    memcpy(a->met, s->q, (size_t)s->model->nq * sizeof *s->q);
    run_lower(s);
    if (s->report.stop != SN_STOP_GOAL && s->report.stop != SN_STOP_MINIMUM) rescue_first(s);
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
