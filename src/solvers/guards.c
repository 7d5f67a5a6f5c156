// SPDX-License-Identifier: MIT
// Problems with things that must not happen: c_i(q) >= 0 beside the least of f. The method of multipliers
// (Hestenes, Powell, Rockafellar): rounds of the method itself on
//
//   f + sum k/2 max(0, shift_i - c_i)^2,    then  shift_i <- max(0, shift_i - c_i)
//
// where k shift_i is the estimate of the multiplier. So a one-sided term with exact second derivatives does
// all the work inside a round, in any method that asks for f and its derivatives; the shift removes what a penalty alone
// would leave of the violation, and k need not go to infinity. It grows only where a round has not brought
// the violation down by a factor of four. A start may be anywhere, deep inside another body too.
//
// Every c is asked to be `slack` above 0, which is also how well the rounds end, so that what comes out
// violates nothing at all where a pose without violation was found.
#include <string.h>

#include "base/clock.h"
#include "solvers/solver.h"

static const double slack = 1e-6;                       // metres
static const double loose_gradient = 1e-4;              // relative, of all rounds but the last
static const double first_stiffness = 10, merit = 1e4;  // of the pull of the tasks
static const double met = 1e-16;  // of what f would be with errors as large as the figure
enum { MOST_ROUNDS = 30 };

// The weight of all that pulls: what the first stiffness is measured by.
static double pull_of(const sn_solver *s) {
    double sum = 0;
    for (int i = 0; i < s->problem->ntask; i++) {
        const sn_task *t = &s->problem->task[i];
        if (!sn_task_is_guard(t) && sn_problem_task_active(s->problem, i)) sum += t->weight;
    }
    return sum > 0 ? sum : 1;
}

// What the last round has left: the largest violation, and how far c and shift are from one of them being
// 0. The workspace is placed at s->q.
static double look(sn_solver *s, double *off) {
    const sn_guards *g = s->problem->guards;
    const sn_guards_at *at = s->ws->guards;
    double most = 0;
    *off = 0;
    if (sn_workspace_pose(s->ws, s->q) != SN_OK) return INFINITY;
    sn_guards_place(s->ws);
    for (int i = 0; i < g->nguard; i++) {
        if (!(g->guard[i].weight > 0)) continue;
        double c = sn_guard_value(s->ws, i);
        most = fmax(most, -c);
        *off = fmax(*off, fabs(fmin(c, at->shift[i])));
    }
    return most;
}

// By the exact distances.
static double violation_of(sn_solver *s) {
    double most = 0;
    if (sn_workspace_pose(s->ws, s->q) != SN_OK) return INFINITY;
    sn_guards_place(s->ws);
    for (int i = 0; i < s->problem->guards->nguard; i++)
        most = fmax(most, sn_guard_violation(s->ws, i));
    return most;
}

static void shift(sn_solver *s, double growth) {
    const sn_guards *g = s->problem->guards;
    sn_guards_at *at = s->ws->guards;
    for (int i = 0; i < g->nguard; i++) {
        double c = g->guard[i].weight > 0 ? sn_guard_value(s->ws, i) : INFINITY;
        at->shift[i] = fmax(0, at->shift[i] - c) / growth;
    }
    at->stiff *= growth;
}

// As others see it: no shifts, and a stiffness with which f tells poses apart that violate something, or 1.
static void rest(sn_solver *s, double stiff) {
    sn_guards_at *at = s->ws->guards;
    memset(at->shift, 0, (size_t)s->problem->guards->nguard * sizeof *at->shift);
    at->stiff = stiff;
    at->slack = 0;
}

// What the rounds ended with, for the levels below the first: shifts hold what it pulls against.
static void keep_shifts(sn_solver *s) {
    const sn_guards_at *at = s->ws->guards;
    memcpy(s->guard_shift, at->shift, (size_t)s->problem->guards->nguard * sizeof *at->shift);
    s->guard_stiff = at->stiff;
}

double sn_solver_guards_resume(sn_solver *s) {
    sn_guards_at *at = s->ws->guards;
    memcpy(at->shift, s->guard_shift, (size_t)s->problem->guards->nguard * sizeof *at->shift);
    at->stiff = s->guard_stiff;
    at->slack = slack;
    memcpy(s->guarded, s->q, (size_t)s->model->nq * sizeof *s->q);
    return violation_of(s);
}

void sn_solver_guards_settle(sn_solver *s, double before) {
    rest(s, merit * pull_of(s));
    // what the lower levels want is not worth a violation
    if (violation_of(s) > before) memcpy(s->q, s->guarded, (size_t)s->model->nq * sizeof *s->q);
}

bool sn_solver_guards_begin(sn_solver *s) {
    rest(s, merit * pull_of(s));
    return sn_solver_eval(s, s->q, SN_EVAL_GAUSS_NEWTON, &s->f);
}

void sn_solver_guards_end(sn_solver *s) {
    rest(s, 1);
    (void)sn_solver_eval(s, s->q, 0, &s->f);
}

static bool went_on(const sn_solver *s) {
    sn_stop stop = s->report.stop;
    return stop != SN_STOP_ITERATIONS && stop != SN_STOP_TIME && stop != SN_STOP_CANCELLED;
}

void sn_solver_guards_run(sn_solver *s) {
    const double gradient = s->options.gradient, rival = s->rival;
    sn_guards_at *at = s->ws->guards;
    double before = INFINITY, off;
    const size_t bytes = (size_t)s->model->nq * sizeof *s->q;
    rest(s, merit * pull_of(s));
    memcpy(s->guarded, s->q, bytes);
    const double first = violation_of(s), first_f = s->f;
    bool last = false;
    rest(s, first_stiffness * pull_of(s));
    at->slack = slack;
    s->rival = INFINITY;  // f of a round is no one's rival
    for (int round = 0; round < MOST_ROUNDS; round++) {
        s->options.gradient = last ? gradient : fmax(gradient, loose_gradient);
        if (!sn_solver_eval(s, s->q, SN_EVAL_GAUSS_NEWTON, &s->f)) break;
        sn_solver_find_scale(s, round == 0);
        sn_solver_run_once(s);
        double most = look(s, &off);
        if (!went_on(s) || (last && off <= slack)) break;
        last = off <= slack || (last && most <= slack);
        if (most > slack && round > 6 && most > 0.9 * before && at->stiff > 1e6 * pull_of(s)) break;
        shift(s, most > slack && most > 0.25 * before ? 10 : 1);
        before = most;
    }
    s->options.gradient = gradient;
    s->rival = rival;
    keep_shifts(s);
    rest(s, merit * pull_of(s));
    // no worse than the start: less violation first, then less f
    bool good = sn_solver_eval(s, s->q, 0, &s->f);
    double left = good ? violation_of(s) : INFINITY;
    if (!good || left > first || (left == first && s->f > first_f)) {
        memcpy(s->q, s->guarded, bytes);
        (void)sn_solver_eval(s, s->q, 0, &s->f);
    }
    if (s->f <= met * s->whole && went_on(s)) s->report.stop = SN_STOP_GOAL;
}
