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
static const double last_stiffness = 1e9;
enum { MOST_ROUNDS = 30, ROUND_ITERATIONS = 60, LAST_ITERATIONS = 10 };

// Where something is still violated: how often it is tried again from near by, and from anywhere; of how many poses
// each of those is the best.
enum { NEAR_RETRIES = 2, FAR_RETRIES = 8, SAMPLES = 100, ITERATIONS_EACH = 40 };

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

// Rounds from s->q, whose first has this stiffness.
static void run_rounds(sn_solver *s, double stiffness) {
    const double gradient = s->options.gradient, rival = s->rival;
    sn_guards_at *at = s->ws->guards;
    double before = INFINITY, off;
    const size_t bytes = (size_t)s->model->nq * sizeof *s->q;
    rest(s, merit * pull_of(s));
    memcpy(s->guarded, s->q, bytes);
    const double first = violation_of(s), first_f = s->f;
    bool last = false;
    rest(s, stiffness * pull_of(s));
    at->slack = slack;
    s->rival = INFINITY;  // f of a round is no one's rival
    const int all = s->options.max_iterations, run_first = s->run_first;
    const int most_of_all = all - (all >= 4 * LAST_ITERATIONS ? LAST_ITERATIONS : 0);
    bool over = false;
    for (int round = 0; round < MOST_ROUNDS; round++) {
        const int rest_of_all = most_of_all - (s->report.iterations - run_first);
        s->options.gradient = last ? gradient : fmax(gradient, loose_gradient);
        // a round that creeps is ended, so that there are some
        s->options.max_iterations =
            last || rest_of_all < ROUND_ITERATIONS ? rest_of_all : ROUND_ITERATIONS;
        s->run_first = s->report.iterations;
        if (!sn_solver_eval(s, s->q, SN_EVAL_GAUSS_NEWTON, &s->f)) break;
        sn_solver_find_scale(s, round == 0);
        sn_solver_run_once(s);
        double most = look(s, &off);
        over = s->report.iterations - run_first >= most_of_all;
        const bool cut = s->report.stop == SN_STOP_ITERATIONS;
        if ((!went_on(s) && !cut) || over || (last && off <= slack)) break;
        last = off <= slack || (last && most <= slack);
        if (most > slack && round > 6 && most > 0.9 * before && at->stiff > 1e6 * pull_of(s)) break;
        shift(s, most > slack && most > 0.25 * before ? 10 : 1);
        before = most;
    }
    keep_shifts(s);
    if (over && s->report.stop == SN_STOP_ITERATIONS && violation_of(s) > 0) {
        // the tasks will not be met any more: at least what must not happen does not
        rest(s, last_stiffness * pull_of(s));
        at->slack = slack;
        s->options.gradient = loose_gradient;
        s->options.max_iterations = all - (s->report.iterations - run_first);
        s->run_first = s->report.iterations;
        if (sn_solver_eval(s, s->q, SN_EVAL_GAUSS_NEWTON, &s->f)) {
            sn_solver_find_scale(s, true);
            sn_solver_run_once(s);
            if (went_on(s)) s->report.stop = SN_STOP_ITERATIONS;
        }
    }
    s->options.max_iterations = all;
    s->run_first = run_first;
    s->options.gradient = gradient;
    s->rival = rival;
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

void sn_solver_guards_run(sn_solver *s) { run_rounds(s, first_stiffness); }

// A pose with joints anywhere inside their limits, in s->trial: the least violated of some. What is locked stays
// as it is, and with `stand` where the figure stands.
static void sample(sn_solver *s, uint64_t *seed, bool stand) {
    const sn_model *m = s->model;
    double least = INFINITY;
    for (int i = 0; i < SAMPLES; i++) {
        sn_model_sample(m, seed, s->q);
        for (int k = 0; k < m->njoint; k++) {
            const sn_joint *j = &m->joint[k];
            bool stays = stand && (j->type == SN_JOINT_FREE || j->type == SN_JOINT_TRANSLATION);
            for (int v = 0; v < j->nv; v++) stays = stays || m->gain[j->v0 + v] == 0;
            if (stays) memcpy(s->q + j->q0, s->started_at + j->q0, (size_t)j->nq * sizeof *s->q);
        }
        if (m->ncoupling > 0) (void)sn_model_clamp(m, s->q);
        const double by = violation_of(s);
        if (!(by < least)) continue;
        least = by;
        memcpy(s->trial, s->q, (size_t)m->nq * sizeof *s->q);
        if (by == 0) return;
    }
}

// A start without violation is never left for a pose with one: so this is for starts that are violated, and a figure
// that moves from pose to pose does not jump.
void sn_solver_guards_retry(sn_solver *s, bool afresh) {
    const size_t bytes = (size_t)s->model->nq * sizeof *s->q;
    const sn_stop stop = s->report.stop;
    if (stop == SN_STOP_TIME || stop == SN_STOP_CANCELLED) return;
    if (stop == SN_STOP_ITERATIONS && !afresh) return;
    double left = violation_of(s), f = s->f;
    if (left == 0) return;
    sn_report best = s->report;
    uint64_t seed = 1;
    bool latest = true;
    // a link that is turned over would open its loop
    const int most = NEAR_RETRIES + (s->model->nloop == 0 ? FAR_RETRIES : 0);
    const int whole = s->options.max_iterations;
    if (!afresh && whole > ITERATIONS_EACH) s->options.max_iterations = ITERATIONS_EACH;
    memcpy(s->guard_best, s->q, bytes);
    for (int i = 0; i < most && left > 0; i++) {
        // what must not happen first: from the start, then from where it ended; then from anywhere
        if (i < NEAR_RETRIES) {
            memcpy(s->q, i == 0 ? s->started_at : s->guard_best, bytes);
        } else {
            sample(s, &seed, i % 2 == 0);
            memcpy(s->q, s->trial, bytes);
        }
        const int spent = s->report.iterations - s->run_first;
        if (!afresh && spent >= whole) break;
        s->run_first = s->report.iterations;
        if (!afresh && whole - spent < ITERATIONS_EACH) s->options.max_iterations = whole - spent;
        s->report.poses++;
        if (sn_solver_eval(s, s->q, SN_EVAL_GAUSS_NEWTON, &s->f)) sn_solver_find_scale(s, true);
        run_rounds(s, i < NEAR_RETRIES ? merit : first_stiffness);
        const double by = violation_of(s);
        latest = by < left || (by == left && s->f < f);
        if (latest) {
            left = by;
            f = s->f;
            best = s->report;
            memcpy(s->guard_best, s->q, bytes);
        }
        if (!afresh) s->run_first -= spent;
        if (!went_on(s) && s->report.stop != SN_STOP_ITERATIONS) break;
    }
    s->options.max_iterations = whole;
    s->report.stop = best.stop;
    s->report.gradient = best.gradient;
    s->report.active = best.active;
    memcpy(s->q, s->guard_best, bytes);
    if (!latest) {
        // its shifts are gone
        rest(s, merit * pull_of(s));
        keep_shifts(s);
    }
    rest(s, merit * pull_of(s));
    (void)sn_solver_eval(s, s->q, 0, &s->f);
}
