// SPDX-License-Identifier: MIT
// Newton's method with the exact Hessian, damped and projected onto the limits.
//
//   (H + lambda D^2) step = -g      on the free degrees of freedom
//
// D^2 is the diagonal of |H|, so that radians and metres mix. A failed pivot d_k with its direction
// z says how much damping is missing: lambda + |d_k| / |Dz|^2. Lambda follows the ratio of actual to
// predicted decrease. A degree of freedom is held when it is at a limit and the gradient pushes
// outward. At a stationary pose that is no minimum the step is along z.
#include <math.h>
#include <string.h>

#include "linalg/path.h"
#include "sinew/solver.h"
#include "sweeps/workspace.h"

enum { VERSION = 1 };

struct sn_solver {
    sn_allocator allocator;
    void *owner;
    const sn_problem *problem;
    const sn_model *model;
    sn_solver_options options;
    sn_workspace *ws;
    double *factor;          ///< path-sparse rows
    double *step, *z;        ///< nv, sweep order
    double *scale;           ///< nv, sweep order: D^2
    double *delta;           ///< nv, file order
    double *trial, *best;    ///< nq
    double *lower, *upper;   ///< nv, sweep order: room below and above the present pose
    bool *keep;              ///< nv, sweep order
};

const char *sn_stop_text(sn_stop stop) {
    static const char *const texts[] = {
#define TEXT(code, text) text,
        SN_STOP_LIST(TEXT)
#undef TEXT
    };
    return (unsigned)stop < SN_STOP_COUNT ? texts[stop] : "unknown";
}

sn_solver_options sn_solver_options_default(void) {
    return (sn_solver_options){
        .version = VERSION, .max_iterations = 200, .goal = 1e-24, .gradient = 1e-9};
}

static void layout_solver(sn_solver *s, sn_layout *layout) {
    size_t nv = (size_t)s->model->nv, nq = (size_t)s->model->nq;
    s->factor = sn_layout_take(layout, s->model->path.size, sizeof *s->factor);
    s->step = sn_layout_take(layout, nv, sizeof *s->step);
    s->z = sn_layout_take(layout, nv, sizeof *s->z);
    s->scale = sn_layout_take(layout, nv, sizeof *s->scale);
    s->delta = sn_layout_take(layout, nv, sizeof *s->delta);
    s->lower = sn_layout_take(layout, nv, sizeof *s->lower);
    s->upper = sn_layout_take(layout, nv, sizeof *s->upper);
    s->trial = sn_layout_take(layout, nq, sizeof *s->trial);
    s->best = sn_layout_take(layout, nq, sizeof *s->best);
    s->keep = sn_layout_take(layout, nv, sizeof *s->keep);
}

sn_status sn_solver_create(const sn_problem *problem, const sn_solver_options *options,
                           const sn_allocator *allocator, sn_solver **out) {
    *out = NULL;
    sn_solver s = {.allocator = sn_allocator_of(allocator),
                   .problem = problem,
                   .model = problem->model,
                   .options = options != NULL ? *options : sn_solver_options_default()};
    if (s.options.version != VERSION) return SN_ERR_ARGUMENT;
    sn_layout layout = {0};
    sn_solver *solver = sn_layout_take(&layout, 1, sizeof *solver);
    layout_solver(&s, &layout);
    void *block = sn_layout_acquire(&layout, allocator, &s.owner);
    if (block == NULL) return SN_ERR_MEMORY;
    sn_status status = sn_workspace_create(problem, true, allocator, &s.ws);
    if (status != SN_OK) {
        sn_release(allocator, s.owner);
        return status;
    }
    layout = (sn_layout){.block = block};
    solver = sn_layout_take(&layout, 1, sizeof *solver);
    layout_solver(&s, &layout);
    *solver = s;
    *out = solver;
    return SN_OK;
}

void sn_solver_destroy(sn_solver *solver) {
    if (solver == NULL) return;
    sn_allocator allocator = solver->allocator;
    sn_workspace_destroy(solver->ws);
    sn_release(&allocator, solver->owner);
}

sn_workspace *sn_solver_workspace(sn_solver *solver) { return solver->ws; }

// Room to the limits in each degree of freedom, behind its gain: |u| times gain is the motion.
static void find_room(sn_solver *s, const double *q) {
    const sn_model *m = s->model;
    for (int k = 0; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        int quaternion = j->ops->quaternion;
        for (int i = 0; i < j->nv; i++) {
            int slot = j->slot + i, v = j->v0 + i;
            bool number = quaternion < 0 || i < quaternion;
            s->lower[slot] = number ? m->lower[v] - q[j->q0 + i] : -INFINITY;
            s->upper[slot] = number ? m->upper[v] - q[j->q0 + i] : INFINITY;
        }
    }
}

// Which degrees of freedom may move, the scale D^2, and the relative projected gradient.
static double prepare(sn_solver *s, double f, int *active) {
    const sn_model *m = s->model;
    const double *g = s->ws->g, *rows = sn_workspace_rows(s->ws);
    double top = 0, worst = 0;
    *active = 0;
    for (int i = 0; i < m->nv; i++) {
        double diagonal = fabs(rows[m->path.row[i] + (size_t)m->path.depth[i]]);
        s->scale[i] = diagonal;
        if (diagonal > top) top = diagonal;
    }
    for (int i = 0; i < m->nv; i++) {
        bool held = (s->lower[i] >= 0 && g[i] > 0) || (s->upper[i] <= 0 && g[i] < 0);
        s->keep[i] = m->gain[m->v_of[i]] > 0 && !held;
        *active += held;
        // what the tasks do not see at all still needs a little damping to stay put
        s->scale[i] = fmax(s->scale[i], 1e-8 * top + 1e-300);
        if (s->keep[i]) worst = fmax(worst, fabs(g[i]) / sqrt(s->scale[i]));
    }
    return f > 0 ? worst / sqrt(2 * f) : 0;
}

// Factor H + lambda D^2 of the free degrees of freedom; -1 or the row that failed.
static int factor(sn_solver *s, double lambda) {
    const sn_path *path = &s->model->path;
    memcpy(s->factor, sn_workspace_rows(s->ws), path->size * sizeof *s->factor);
    for (int i = 0; i < path->n; i++)
        s->factor[path->row[i] + (size_t)path->depth[i]] += lambda * s->scale[i];
    sn_path_drop(path, s->keep, s->factor);
    return sn_path_factor_ldl(path, 0, s->factor);
}

// Damping that the failed pivot asks for, at least.
static double missing_damping(sn_solver *s, int k) {
    const sn_path *path = &s->model->path;
    double pivot = s->factor[path->row[k] + (size_t)path->depth[k]], square = 0;
    sn_path_curvature(path, s->factor, k, s->z);
    for (int i = 0; i < path->n; i++) square += s->scale[i] * s->z[i] * s->z[i];
    return fmax(-pivot, 0) / square;
}

// q (+) t step, into the limits; the motion that this really is comes back in s->step.
static void try_step(sn_solver *s, const double *q, double t) {
    const sn_model *m = s->model;
    for (int i = 0; i < m->nv; i++) {
        double gain = m->gain[m->v_of[i]], move = s->keep[i] ? t * s->step[i] * gain : 0;
        move = fmin(fmax(move, s->lower[i]), s->upper[i]);
        if (gain == 0) move = 0;
        s->delta[m->v_of[i]] = move;
        s->step[i] = gain > 0 ? move / gain : 0;
    }
    sn_model_integrate(m, q, s->delta, s->trial);
    sn_model_clamp(m, s->trial);
    // a locked coordinate keeps its very bits, whatever clamping would say
    for (int k = 0; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        int quaternion = j->ops->quaternion;
        for (int i = 0; i < j->nv; i++) {
            if (m->gain[j->v0 + i] != 0) continue;
            if (quaternion < 0 || i < quaternion) s->trial[j->q0 + i] = q[j->q0 + i];
        }
    }
}

// Decrease that the quadratic model promises for s->step.
static double predicted(sn_solver *s) {
    double linear = 0, square = 0;
    sn_path_multiply(&s->model->path, sn_workspace_rows(s->ws), s->step, s->z);
    for (int i = 0; i < s->model->nv; i++) {
        linear += s->ws->g[i] * s->step[i];
        square += s->step[i] * s->z[i];
    }
    return -(linear + 0.5 * square);
}

static double length(const double *x, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

static sn_status evaluate(sn_solver *s, const double *q, double *f, sn_report *report) {
    report->hessians++;
    SN_TRY(sn_workspace_eval(s->ws, q, SN_EVAL_HESSIAN, f));
    find_room(s, q);
    return SN_OK;
}

// Try both ways along the direction of negative curvature in s->z; true when f fell.
static bool leave_saddle(sn_solver *s, const double *q, double f, sn_report *report) {
    const sn_model *m = s->model;
    double size = 0;
    for (int i = 0; i < m->nv; i++) size = fmax(size, fabs(s->z[i]));
    for (double reach = 0.5; reach > 1e-7; reach *= 0.25) {
        for (int sign = -1; sign <= 1; sign += 2) {
            double value;
            for (int i = 0; i < m->nv; i++) s->step[i] = sign * reach / size * s->z[i];
            try_step(s, q, 1);
            report->evaluations++;
            if (sn_workspace_eval(s->ws, s->trial, 0, &value) == SN_OK && value < f) return true;
        }
    }
    return false;
}

sn_status sn_solver_solve(sn_solver *s, double *q, sn_report *report) {
    const sn_model *m = s->model;
    const sn_solver_options *o = &s->options;
    *report = (sn_report){.stop = SN_STOP_ITERATIONS};
    SN_TRY(sn_model_check_pose(m, q, NULL));
    memcpy(s->best, q, (size_t)m->nq * sizeof *q);
    sn_model_normalize(m, s->best);
    sn_model_clamp(m, s->best);
    double f, lambda = 1e-3;
    SN_TRY(evaluate(s, s->best, &f, report));
    for (;;) {
        sn_trace trace = {.iteration = report->iterations + 1};
        int active;
        report->gradient = prepare(s, f, &active);
        report->f = f;
        if (f <= o->goal) {
            report->stop = SN_STOP_GOAL;
            break;
        }
        if (report->gradient <= o->gradient) {
            // a minimum? then H has no negative pivot worth the name
            int k = factor(s, 1e-10);
            report->factorizations++;
            report->stop = SN_STOP_MINIMUM;
            if (k < 0 || report->iterations >= o->max_iterations) break;
            (void)missing_damping(s, k);
            report->stop = SN_STOP_SADDLE;
            if (!leave_saddle(s, s->best, f, report)) break;
            memcpy(s->best, s->trial, (size_t)m->nq * sizeof *q);
            SN_TRY(evaluate(s, s->best, &f, report));
            report->iterations++;
            report->stop = SN_STOP_ITERATIONS;
            continue;
        }
        if (report->iterations >= o->max_iterations) break;

        // as much damping as a factorisation needs
        for (int tries = 0; tries < 60; tries++) {
            int k = factor(s, lambda);
            report->factorizations++;
            if (k < 0) break;
            trace.indefinite = true;
            lambda = fmax(2 * lambda, lambda + 1.1 * missing_damping(s, k));
        }
        for (int i = 0; i < m->nv; i++) s->step[i] = s->keep[i] ? -s->ws->g[i] : 0;
        sn_path_solve_ldl(&m->path, s->factor, s->step);
        try_step(s, s->best, 1);
        double promise = predicted(s), value = INFINITY;
        report->evaluations++;
        bool finite = sn_workspace_eval(s->ws, s->trial, 0, &value) == SN_OK;
        double ratio = finite && promise > 0 ? (f - value) / promise : -1;
        report->iterations++;
        trace.step = length(s->step, m->nv);
        trace.damping = lambda;
        trace.ratio = ratio;
        bool taken = ratio > 1e-4 && value <= f;
        if (taken) {
            double fall = 2 * ratio - 1;
            lambda *= fmax(1.0 / 10, 1 - fall * fall * fall);
            if (lambda < 1e-14) lambda = 1e-14;
            memcpy(s->best, s->trial, (size_t)m->nq * sizeof *q);
            sn_model_normalize(m, s->best);
        } else {
            lambda = fmax(lambda * 4, 1e-8);
        }
        // after a step that is not taken, gradient and rows are still those of the best pose
        if (taken) SN_TRY(evaluate(s, s->best, &f, report));
        if (o->trace != NULL) {
            trace.f = f;
            trace.gradient = prepare(s, f, &trace.active);
            o->trace(o->trace_user, &trace);
        }
        // nothing left to gain that f could show, or no step short enough
        if (!taken && (lambda > 1e12 || (promise > 0 && promise < 1e-16 * f))) {
            report->f = f;
            report->stop = SN_STOP_STALLED;
            break;
        }
    }
    memcpy(q, s->best, (size_t)m->nq * sizeof *q);
    return sn_workspace_pose(s->ws, q);
}
