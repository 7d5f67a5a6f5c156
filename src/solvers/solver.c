// SPDX-License-Identifier: MIT
#include "solvers/solver.h"

#include <string.h>

#include "base/clock.h"
#include "tasks/level.h"

enum { VERSION = 4 };

static const sn_method_ops *const methods[SN_METHOD_COUNT] = {
    [SN_METHOD_HYBRID] = &sn_method_hybrid,
    [SN_METHOD_NEWTON] = &sn_method_newton,
    [SN_METHOD_NEWTON_PCG] = &sn_method_newton_pcg,
    [SN_METHOD_LM] = &sn_method_lm,
#ifdef SINEW_LAPACK
    [SN_METHOD_PINV] = &sn_method_pinv,
    [SN_METHOD_QR] = &sn_method_qr,
    [SN_METHOD_SDLS] = &sn_method_sdls,
#endif
    [SN_METHOD_DLS] = &sn_method_dls,
    [SN_METHOD_GAUSS_NEWTON] = &sn_method_gauss_newton,
    [SN_METHOD_BFGS] = &sn_method_bfgs,
    [SN_METHOD_LBFGS] = &sn_method_lbfgs,
    [SN_METHOD_NCG] = &sn_method_ncg,
    [SN_METHOD_PROJECTED_GRADIENT] = &sn_method_projected_gradient,
    [SN_METHOD_JACOBIAN_TRANSPOSE] = &sn_method_jacobian_transpose,
    [SN_METHOD_CCD] = &sn_method_ccd,
};

static const char *const method_names[SN_METHOD_COUNT] = {"hybrid",
                                                          "newton",
                                                          "newton-pcg",
                                                          "lm",
                                                          "dls",
                                                          "gauss-newton",
                                                          "pinv",
                                                          "qr",
                                                          "bfgs",
                                                          "lbfgs",
                                                          "ncg",
                                                          "projected-gradient",
                                                          "jacobian-transpose",
                                                          "ccd",
                                                          "sdls"};

const char *sn_method_name(sn_method method) {
    return (unsigned)method < SN_METHOD_COUNT ? method_names[method] : "unknown";
}

sn_method sn_method_find(const char *name) {
    if (name == NULL) return SN_METHOD_COUNT;
    int i = 0;
    while (i < SN_METHOD_COUNT && strcmp(method_names[i], name) != 0) i++;
    return (sn_method)i;
}

bool sn_method_available(sn_method method) {
    return (unsigned)method < SN_METHOD_COUNT && methods[method] != NULL;
}

const char *sn_stop_text(sn_stop stop) {
    static const char *const texts[] = {
#define TEXT(code, text) text,
        SN_STOP_LIST(TEXT)
#undef TEXT
    };
    return (unsigned)stop < SN_STOP_COUNT ? texts[stop] : "unknown";
}

sn_solver_options sn_solver_options_default(void) {
    return (sn_solver_options){.version = VERSION,
                               .method = SN_METHOD_HYBRID,
                               .max_iterations = 200,
                               .goal = -1,
                               .gradient = 1e-9,
                               .lanes = true,
                               .damping = 0.1,
                               .step = 0.005,
                               .alpha = 1e-4,
                               .beta = 0.5,
                               .memory = 10,
                               .bandwidth = 5,
                               .pcg_tolerance = 0.1};
}

// NULL, or the option that is out of range.
static const char *bad_option(const sn_solver_options *o) {
    if (o->version != VERSION) return "version";
    if (!sn_method_available(o->method)) return "method (unknown, or not in this build)";
    if (o->max_iterations < 0) return "max_iterations";
    if (isnan(o->goal)) return "goal";
    if (!(o->gradient >= 0)) return "gradient";
    if (!(o->seconds >= 0)) return "seconds";
    if (!(o->damping >= 0)) return "damping";
    if (!(o->step >= 0)) return "step";
    if (!(o->alpha > 0 && o->alpha < 1)) return "alpha";
    if (!(o->beta > 0 && o->beta < 1)) return "beta";
    if (o->memory <= 0) return "memory";
    if (o->bandwidth < 0 || o->bandwidth > 24) return "bandwidth";
    if (!(o->pcg_tolerance > 0)) return "pcg_tolerance";
    if ((unsigned)o->turns > SN_TURNS_PRINCIPAL) return "turns";
    return NULL;
}

static void layout_solver(sn_solver *s, sn_layout *layout) {
    size_t n = (size_t)s->n, nq = (size_t)s->model->nq;
    s->q = sn_layout_take(layout, nq, sizeof *s->q);
    s->trial = sn_layout_take(layout, nq, sizeof *s->trial);
    s->step = sn_layout_take(layout, n, sizeof *s->step);
    s->moved = sn_layout_take(layout, n, sizeof *s->moved);
    s->scale = sn_layout_take(layout, n, sizeof *s->scale);
    s->delta = sn_layout_take(layout, n, sizeof *s->delta);
    s->seen = sn_layout_take(layout, n, sizeof *s->seen);
    s->keep = sn_layout_take(layout, n, sizeof *s->keep);
    s->turns = sn_layout_take(layout, n, sizeof *s->turns);
    s->q_of = sn_layout_take(layout, n, sizeof *s->q_of);
    s->lower = sn_layout_take(layout, n, sizeof *s->lower);
    s->upper = sn_layout_take(layout, n, sizeof *s->upper);
    s->round = sn_layout_take(layout, n, sizeof *s->round);
    s->held = sn_layout_take(layout, (size_t)s->model->njoint, sizeof *s->held);
    if (s->problem->guards != NULL) {
        size_t nguard = (size_t)s->problem->guards->nguard;
        s->guarded = sn_layout_take(layout, nq, sizeof *s->guarded);
        s->guard_best = sn_layout_take(layout, nq, sizeof *s->guard_best);
        s->guard_shift = sn_layout_take(layout, nguard, sizeof *s->guard_shift);
    }
    s->started_at = sn_layout_take(layout, nq, sizeof *s->started_at);
    sn_solver_cold_layout(s, layout);
    sn_solver_levels_layout(s, layout);
    if (s->model->nloop > 0) {
        sn_solver_loops_layout(s, layout);
    } else if (s->ops->layout != NULL) {
        s->ops->layout(s, layout);
    }
}

// Can the method solve problems whose branches are coupled as they are here?
static sn_status check_method(const sn_problem *problem, const sn_solver_options *o,
                              sn_error *error) {
    const char *name = sn_method_name(o->method);
    bool second_order =
        o->method == SN_METHOD_HYBRID || o->method == SN_METHOD_NEWTON || o->method == SN_METHOD_LM;
    if (problem->model->nloop > 0 && !second_order)
        return sn_fail(error, SN_ERR_UNSUPPORTED, 0,
                       "%s cannot keep the model's loops closed: use hybrid, newton or lm", name);
    bool equations = o->method == SN_METHOD_PINV || o->method == SN_METHOD_QR ||
                     o->method == SN_METHOD_SDLS || o->method == SN_METHOD_CCD;
    if (problem->guards != NULL && equations)
        return sn_fail(
            error, SN_ERR_UNSUPPORTED, 0,
            "%s solves equations, and here something must not happen (avoid, half-space, "
            "support): use hybrid",
            name);
    int level[SN_MAX_LEVELS];
    if (sn_problem_levels(problem, level) > 1 && !second_order)
        return sn_fail(error, SN_ERR_UNSUPPORTED, 0,
                       "%s knows no levels: use hybrid, newton or lm, or give all tasks one level",
                       name);
    if (!sn_ties_any(problem)) return SN_OK;
    if (o->method == SN_METHOD_CCD)
        return sn_fail(error, SN_ERR_UNSUPPORTED, 0,
                       "%s turns one joint at a time, and here coordinates follow others or a task "
                       "couples two branches: use hybrid",
                       name);
    if (o->method == SN_METHOD_NEWTON_PCG && o->nearest_psd)
        return sn_fail(
            error, SN_ERR_UNSUPPORTED, 0,
            "%s with the nearest positive semidefinite Hessian works on a tree, and here "
            "coordinates follow others or a task couples two branches: use hybrid",
            name);
    return SN_OK;
}

sn_status sn_solver_create_plain(const sn_problem *problem, const sn_solver_options *options,
                                 const sn_allocator *allocator, sn_solver **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    SN_NEED(problem, error);
    SN_NEED(out, error);
    sn_solver s = {.allocator = sn_allocator_of(allocator),
                   .problem = problem,
                   .model = problem->model,
                   .n = problem->model->nv,
                   .options = options != NULL ? *options : sn_solver_options_default()};
    SN_TRY(sn_fail_option(error, bad_option(&s.options)));
    s.ops = methods[s.options.method];
    SN_TRY(check_method(problem, &s.options, error));
    sn_layout layout = {0};
    sn_solver *solver = sn_layout_take(&layout, 1, sizeof *solver);
    layout_solver(&s, &layout);
    void *block = sn_layout_acquire(&layout, allocator, &s.owner);
    if (block == NULL) return sn_fail_memory(error);
    sn_status status = sn_workspace_create(problem, false, allocator, &s.ws, error);
    if (status != SN_OK) {
        sn_release(allocator, s.owner);
        return status;
    }
    layout = (sn_layout){.block = block};
    solver = sn_layout_take(&layout, 1, sizeof *solver);
    layout_solver(&s, &layout);
    *solver = s;
    sn_model_sweep_limits(solver->model, solver->q_of, solver->lower, solver->upper);
    for (int k = 0; k < solver->model->njoint; k++) {
        const sn_joint *j = &solver->model->joint[k];
        for (int a = 0; a < j->nv; a++) solver->turns[j->slot + a] = !j->ops->lengths[a];
    }
    solver->goal = solver->options.goal;
    *out = solver;
    return SN_OK;
}

void sn_solver_destroy(sn_solver *solver) {
    if (solver == NULL) return;
    sn_allocator allocator = solver->allocator;
    if (solver->cold.own != NULL) solver->cold.own->destroy(solver->cold.own);
    sn_workspace_destroy(solver->ws);
    sn_release(&allocator, solver->owner);
}

sn_workspace *sn_solver_workspace(sn_solver *solver) { return solver != NULL ? solver->ws : NULL; }

double sn_solver_dot(const double *x, const double *y, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

bool sn_solver_eval(sn_solver *s, const double *q, unsigned what, double *f) {
    if (what != 0) s->held_known = false;
    // s->q was a trial or the start, and is counted already
    s->report.poses += q == s->trial;
    if (what & (SN_EVAL_HESSIAN | SN_EVAL_GAUSS_NEWTON)) {
        s->exact_here = (what & SN_EVAL_HESSIAN) != 0 && q == s->q;
        s->report.hessians++;
    } else if (what & SN_EVAL_GRADIENT) {
        s->report.gradients++;
    } else {
        s->report.functions++;
    }
    if (s->inside && s->model->tied_limits && !sn_model_followers_inside(s->model, q)) return false;
    return sn_workspace_eval(s->ws, q, what, f) == SN_OK;
}

static double move(sn_solver *s, double t, const double *u, bool all) {
    const sn_model *m = s->model;
    const double *gain = m->gain;
    for (int i = 0; i < s->n; i++) {
        int v = m->v_of[i];
        s->moved[i] = all || s->keep[i] ? t * u[i] : 0;
        s->delta[v] = gain[v] * s->moved[i];
    }
    sn_model_integrate(m, s->q, s->delta, s->trial);
    if (m->ncone > 0) sn_solver_cone_move(s);
    double square = 0;
    bool clamped = false;
    for (int i = 0; i < s->n; i++) {
        int at = s->q_of[i];
        double g = gain[m->v_of[i]];
        if (g == 0) s->moved[i] = 0;
        if (at >= 0) {
            double x = s->trial[at];
            if (x < s->lower[i] || x > s->upper[i]) {
                s->trial[at] = x < s->lower[i] ? s->lower[i] : s->upper[i];
                clamped = true;
                if (g != 0) s->moved[i] = (s->trial[at] - s->q[at]) / g;
            }
        }
        square += s->moved[i] * s->moved[i];
    }
    if (clamped && m->ncoupling > 0) sn_model_follow(m, s->trial);
    if (!m->tied_limits || !s->inside || sn_model_lead_back(m, s->trial) == 0) return sqrt(square);
    // leaders were moved on
    square = 0;
    for (int i = 0; i < s->n; i++) {
        int at = s->q_of[i];
        double g = gain[m->v_of[i]];
        if (at >= 0 && g != 0) s->moved[i] = (s->trial[at] - s->q[at]) / g;
        square += s->moved[i] * s->moved[i];
    }
    return sqrt(square);
}

double sn_solver_move(sn_solver *s, double t, const double *u) { return move(s, t, u, false); }
double sn_solver_move_all(sn_solver *s, double t, const double *u) { return move(s, t, u, true); }

void sn_solver_take(sn_solver *s, double f) {
    s->exact_here = false;
    memcpy(s->q, s->trial, (size_t)s->model->nq * sizeof *s->q);
    s->f = f;
}

// Is degree of freedom i at a limit that the gradient pushes against?
static bool is_held(const sn_solver *s, int i) {
    int at = s->q_of[i];
    double g = s->ws->g[i];
    return at >= 0 && ((s->q[at] <= s->lower[i] && g > 0) || (s->q[at] >= s->upper[i] && g < 0));
}

// Which degrees of freedom may move, and the relative projected gradient: the largest cosine
// between the residual and a column of the Jacobian, |g_i| / (|J_i| |r|).
static double project_gradient(sn_solver *s) {
    const double *g = s->ws->g;
    double worst = 0;
    s->report.active = s->model->ncone > 0 ? sn_solver_cone_hold(s) : 0;
    if (s->model->tied_limits) {
        for (int i = 0; i < s->n; i++)
            s->keep[i] = !is_held(s, i) && s->model->gain[s->model->v_of[i]] != 0;
        int held = sn_solver_tied_hold(s, s->keep);
        if (held > 0) sn_ties_balance(s->ws, s->scale, s->keep);
        s->report.active += held;
    }
    for (int i = 0; i < s->n; i++) {
        bool held = is_held(s, i);
        // where no task sees it, it stays where it is: then its gradient is rounding as well, some
        // 1e-14 |J| |r|
        bool blind = s->seen[i] <= s->noise && g[i] * g[i] <= 1e-13 * s->noise * s->f;
        s->report.active += held;
        s->keep[i] = !held && !blind && s->model->gain[s->model->v_of[i]] != 0;
        double share = g[i] * g[i] / s->scale[i];
        if (s->keep[i] && share > worst) worst = share;
    }
    return s->f > 0 ? sqrt(worst / (2 * s->f)) : 0;
}

// While looking at another valley: is this one no better, or hardly going to be? A run that would
// need more than twenty steps like each of its last four to get below the best known f is given up.
static bool is_hopeless(sn_solver *s) {
    double gap = s->f - s->rival, fall = s->watched - s->f;
    s->watched = s->f;
    if (gap < 0) return false;
    if (gap <= 1e-7 * s->rival) return true;  // the same valley, or one as deep
    bool slow = s->report.iterations - s->run_first > 3 && 20 * fall < gap;
    s->slow = slow ? s->slow + 1 : 0;
    return s->slow > 3;
}

bool sn_solver_finished(sn_solver *s) {
    const sn_solver_options *o = &s->options;
    s->report.gradient = project_gradient(s);
    if (s->f <= s->goal) {
        s->report.stop = SN_STOP_GOAL;
    } else if (s->report.gradient <= o->gradient) {
        s->report.stop = SN_STOP_MINIMUM;  // or a saddle: looked at when all is done
    } else if (sn_cancelled(o->cancel)) {
        s->report.stop = SN_STOP_CANCELLED;
    } else if (s->report.iterations - s->run_first >= o->max_iterations) {
        s->report.stop = SN_STOP_ITERATIONS;
    } else if (o->seconds > 0 && sn_seconds() - s->started >= o->seconds) {
        s->report.stop = SN_STOP_TIME;
    } else if (is_hopeless(s)) {
        s->report.stop = SN_STOP_STALLED;
    } else {
        return false;
    }
    return true;
}

void sn_solver_stalled(sn_solver *s) { s->report.stop = SN_STOP_STALLED; }

void sn_solver_iterated(sn_solver *s, sn_trace *trace) {
    s->report.iterations++;
    if (s->options.trace == NULL) return;
    trace->iteration = s->report.iterations;
    trace->f = s->f;
    trace->gradient = s->report.gradient;
    trace->active = s->report.active;
    s->options.trace(s->options.trace_user, trace);
}

// What rounding leaves of a column that should be 0: its square is a difference of terms as large as weight times
// lever^2, the sum of which this is. A joint that carries no task is no lever, wherever a function has put it; rows between
// bodies may be about any joint.
double sn_solver_terms(const sn_solver *s) {
    double reach = 0;
    const double *K = s->ws->field[0].K;
    bool any = s->problem->ntied > 0 || s->model->nloop > 0 || s->problem->guards != NULL;
    for (int k = 0; k < s->model->njoint; k++) {
        const double *own = s->ws->field[k].K;
        sn_vec3 p = s->ws->frame[k].p;
        if (any || own[21] + own[28] + own[35] > 0) reach = fmax(reach, v3_dot(p, p));
    }
    return (K[0] + K[7] + K[14]) + (K[21] + K[28] + K[35]) * reach;
}

// D^2 from the Gauss-Newton matrix that the workspace holds, the largest seen in this solve. What
// no task sees gets a small share of the largest, so that it is damped and stays put.
void sn_solver_find_scale(sn_solver *s, bool fresh) {
    double top = 0, whole = sn_solver_terms(s);
    sn_workspace_fields_diagonal(s->ws, s->seen);
    s->noise = 4e-15 * whole;
    for (int i = 0; i < s->n; i++) {
        if (fresh || s->seen[i] > s->scale[i]) s->scale[i] = s->seen[i];
        if (s->scale[i] > top) top = s->scale[i];
    }
    // what f would be with errors as large as the figure, and radians where joints have goals
    for (int i = 0; i < s->n; i++)
        if (s->turns[i]) whole = fmax(whole, s->seen[i]);
    s->whole = fmax(fresh ? 0 : s->whole, whole);
    if (s->options.goal < 0) s->goal = s->share * s->whole;
    double least = 1e-6 * top + s->noise + 1e-200;
    for (int i = 0; i < s->n; i++)
        if (s->scale[i] < least) s->scale[i] = least;
}

static void final_errors(sn_solver *s) {
    int count = 0;
    double sum = 0;
    for (int i = 0; i < s->problem->ntask; i++) {
        if (!sn_problem_task_active(s->problem, i)) continue;
        double error = sn_workspace_task_error(s->ws, i);
        s->report.worst_error = fmax(s->report.worst_error, error);
        sum += error;
        count++;
    }
    if (count > 0) s->report.mean_error = sum / count;
}

// At a stationary pose: has the exact Hessian of the free degrees of freedom a negative pivot? Then
// the direction is in s->step.
static bool at_saddle(sn_solver *s) {
    double f;
    if (!s->exact_here && !sn_solver_eval(s, s->q, SN_EVAL_HESSIAN, &f)) return false;
    (void)project_gradient(s);
    // A column of the Jacobian may vanish and f bend all the same: that is seen, too.
    double *bend = s->moved;
    sn_workspace_fields_diagonal(s->ws, bend);
    for (int i = 0; i < s->n; i++) {
        bool blind = s->seen[i] <= s->noise && s->model->gain[s->model->v_of[i]] != 0;
        if (blind && fabs(bend[i]) > 100 * s->noise && !is_held(s, i)) s->keep[i] = true;
    }
    // Within rounding of 0 a pivot belongs to a flat direction, not to a saddle. So it does within
    // what is left of the gradient: along a curve of equal poses H has the curve's bend times g.
    double flat = 100 * s->noise;
    for (int i = 0; i < s->n; i++)
        if (s->keep[i]) flat = fmax(flat, 4 * fabs(s->ws->g[i]));
    for (int i = 0; i < s->n; i++) s->delta[i] = 1e-8 * s->scale[i] + flat;
    s->report.factorizations++;
    int k = sn_workspace_factor(s->ws, s->delta, s->keep, 0, NULL);
    if (k < 0) return false;
    sn_workspace_curvature(s->ws, k, s->step);
    return sn_solver_dot(s->step, s->step, s->n) > 0;  // with ties none may be found
}

// Both ways along s->step, long steps first; true when f fell and the pose was taken.
static bool leave_saddle(sn_solver *s) {
    double size = 0;
    for (int i = 0; i < s->n; i++) size = fmax(size, fabs(s->step[i]));
    double reach = 0.5;
    for (int k = 0; k < 10; k++, reach *= 0.25) {  // down to 2e-6
        for (int sign = 1; sign >= -1; sign -= 2) {
            double f;
            (void)sn_solver_move(s, sign * reach / size, s->step);
            if (sn_solver_eval(s, s->trial, 0, &f) && f < s->f) {
                sn_solver_take(s, f);
                return true;
            }
        }
    }
    return false;
}

sn_status sn_solver_begin(sn_solver *s, const double *q, sn_report *report) {
    const sn_model *m = s->model;
    s->report = (sn_report){.stop = SN_STOP_BAD_START};
    *report = s->report;
    SN_TRY(sn_model_check_pose(m, q, NULL));
    report->stop = s->report.stop = SN_STOP_BAD_GOALS;
    if (s->options.seconds > 0) s->started = sn_seconds();
    memcpy(s->q, q, (size_t)m->nq * sizeof *q);
    sn_model_normalize_quaternions(m, s->q);
    (void)sn_model_clamp(m, s->q);
    s->inside = sn_model_followers_inside(m, s->q);
    for (int i = 0; i < m->ncoupling && m->tied_limits; i++) {
        s->ws->ties->stuck[i] = false;
        s->ws->ties->taken[i] = 0;
    }
    memcpy(s->started_at, s->q, (size_t)m->nq * sizeof *q);
    sn_solver_round_begin(s);
    SN_TRY(sn_solver_levels_begin(s));
    s->run_first = 0;
    s->rival = INFINITY;
    s->report.poses = 1;
    if (!sn_solver_eval(s, s->q, SN_EVAL_GAUSS_NEWTON, &s->f)) return SN_ERR_VALUE;
    if (sn_has_guards(s->ws) && !sn_solver_guards_begin(s)) return SN_ERR_VALUE;
    sn_solver_find_scale(s, true);
    s->usual = s->whole;
    if (m->nloop > 0 && !sn_solver_loops_begin(s)) return SN_ERR_VALUE;
    return SN_OK;
}

void sn_solver_run(sn_solver *s) {
    if (sn_has_guards(s->ws)) {
        sn_solver_guards_run(s);
    } else {
        sn_solver_run_once(s);
    }
}

void sn_solver_run_once(sn_solver *s) {
    s->watched = INFINITY;
    s->slow = 0;
    if (s->model->nloop > 0) {
        sn_solver_loops_run(s);
        return;
    }
    for (;;) {
        s->ops->run(s);
        if (s->report.stop != SN_STOP_MINIMUM || s->f >= s->rival || !at_saddle(s)) return;
        s->report.stop = SN_STOP_SADDLE;
        if (!s->ops->leaves_saddles || !leave_saddle(s)) return;
        s->report.iterations++;
        if (!sn_solver_eval(s, s->q, SN_EVAL_GAUSS_NEWTON, &s->f)) return;
    }
}

sn_status sn_solver_end(sn_solver *s, double *q, sn_report *report) {
    sn_solver_round_end(s);
    size_t bytes = (size_t)s->model->nq * sizeof *q;
    memcpy(q, s->q, bytes);
    if (sn_has_guards(s->ws)) sn_solver_guards_end(s);
    sn_solver_levels_end(s);
    // the last pose that was placed is often the best one
    if (memcmp(s->ws->q, q, bytes) != 0) SN_TRY(sn_workspace_pose(s->ws, q));
    final_errors(s);
    s->report.violation = sn_model_followers_outside(s->model, q);
    for (int i = 0; i < s->model->nloop; i++)
        s->report.violation = fmax(s->report.violation, sn_workspace_loop_error(s->ws, i));
    if (sn_has_guards(s->ws)) {
        sn_guards_place(s->ws);
        for (int i = 0; i < s->problem->guards->nguard; i++)
            s->report.violation = fmax(s->report.violation, sn_guard_violation(s->ws, i));
    }
    *report = s->report;
    return SN_OK;
}

sn_status sn_solver_solve(sn_solver *s, double *q, sn_report *report) {
    if (s == NULL || q == NULL || report == NULL) return SN_ERR_ARGUMENT;
    SN_TRY(sn_solver_begin(s, q, report));
    sn_solver_run(s);
    if (sn_has_guards(s->ws)) sn_solver_guards_retry(s, false);
    sn_solver_lower(s, true);
    return sn_solver_end(s, q, report);
}
