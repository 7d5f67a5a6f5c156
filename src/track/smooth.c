// SPDX-License-Identifier: MIT
// Newton's method over all the poses of a take, inside their limits.
//
// A degree of freedom that lies near a limit which its gradient pushes against is not part of the Newton step
// but takes a diagonal one (Bertsekas 1982); then the step, cut at the limits, always lowers F if it is
// short enough. F must fall by a share of what the slope promises (Armijo).
#include "sinew/smooth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "track/smooth.h"

enum { VERSION = 1 };

static const double nearby = 0.01;       // of a limit, radians or metres
static const double armijo = 1e-4;
static const double unseen = 1e-6;       // least D, as a share of the largest
static const double rounding = 1e-15;    // of F, what adding it up may lose

sn_smooth_options sn_smooth_options_default(void) {
    return (sn_smooth_options){
        .version = VERSION, .rate = 120, .max_iterations = 30, .tolerance = 1e-7, .threads = 1};
}

static bool good_options(const sn_smooth_options *o) {
    double c = o->tau * o->rate;
    return o->version == VERSION && o->tau >= 0 && o->rate > 0 && c * c <= 1e24 &&
           o->max_iterations >= 0 && o->tolerance >= 0 && o->threads >= 1 &&
           o->threads <= SMOOTH_MAX_THREADS;
}

static void layout_smoother(sn_smoother *s, sn_layout *layout) {
    size_t nv = (size_t)s->nv;
    s->workers = sn_layout_take(layout, (size_t)s->options.threads, sizeof *s->workers);
    s->q_of = sn_layout_take(layout, nv, sizeof *s->q_of);
    s->movable = sn_layout_take(layout, nv, sizeof *s->movable);
    double **each[] = {&s->lower, &s->upper, &s->gain, &s->seen, &s->weight, &s->stiff};
    for (size_t i = 0; i < sizeof each / sizeof each[0]; i++)
        *each[i] = sn_layout_take(layout, nv, sizeof(double));
    for (int i = 0; i < s->options.threads; i++) {
        smooth_worker spare, *w = s->workers != NULL ? &s->workers[i] : &spare;
        for (int k = 0; k < 4; k++) w->delta[k] = sn_layout_take(layout, nv, sizeof(double));
        w->x = sn_layout_take(layout, nv, sizeof(double));
        w->y = sn_layout_take(layout, nv, sizeof(double));
    }
}

static void find_limits(sn_smoother *s) {
    const sn_model *m = s->model;
    for (int k = 0; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        for (int a = 0; a < j->nv; a++) {
            int i = j->slot + a;
            bool plain = j->ops->quaternion < 0 || a < j->ops->quaternion;
            s->q_of[i] = plain ? j->q0 + a : -1;
            s->lower[i] = m->lower[j->v0 + a];
            s->upper[i] = m->upper[j->v0 + a];
            s->gain[i] = m->gain[j->v0 + a];
        }
    }
}

sn_status sn_smoother_create(const sn_problem *problem, const sn_smooth_options *options,
                             const sn_allocator *allocator, sn_smoother **out) {
    *out = NULL;
    const sn_model *model = sn_problem_model(problem);
    sn_smoother s = {.allocator = sn_allocator_of(allocator),
                     .model = model,
                     .options = options != NULL ? *options : sn_smooth_options_default(),
                     .nv = model->nv,
                     .nq = model->nq};
    if (!good_options(&s.options)) return SN_ERR_ARGUMENT;
    sn_layout layout = {0};
    sn_smoother *smoother = sn_layout_take(&layout, 1, sizeof *smoother);
    layout_smoother(&s, &layout);
    void *block = sn_layout_acquire(&layout, allocator, &s.owner);
    if (block == NULL) return SN_ERR_MEMORY;
    layout = (sn_layout){.block = block};
    smoother = sn_layout_take(&layout, 1, sizeof *smoother);
    layout_smoother(&s, &layout);
    *smoother = s;
    find_limits(smoother);
    sn_status status = SN_OK;
    for (int i = 0; i < s.options.threads && status == SN_OK; i++) {
        smooth_worker *w = &s.workers[i];
        status = sn_problem_copy(problem, NULL, 0, allocator, &w->problem, NULL);
        if (status == SN_OK) status = sn_workspace_create(w->problem, false, allocator, &w->ws);
    }
    if (status != SN_OK) {
        sn_smoother_destroy(smoother);
        return status;
    }
    *out = smoother;
    return SN_OK;
}

void sn_smoother_destroy(sn_smoother *smoother) {
    if (smoother == NULL) return;
    for (int i = 0; i < smoother->options.threads; i++) {
        sn_workspace_destroy(smoother->workers[i].ws);
        sn_problem_destroy(smoother->workers[i].problem);
    }
    sn_allocator allocator = smoother->allocator;
    sn_release(&allocator, smoother->owner);
}

static void layout_run(sn_smoother *s, sn_layout *layout) {
    size_t nframe = (size_t)s->nframe, n = nframe * (size_t)s->nv;
    s->g = sn_layout_take(layout, n, sizeof *s->g);
    s->x = sn_layout_take(layout, n, sizeof *s->x);
    s->r = sn_layout_take(layout, n, sizeof *s->r);
    s->z = sn_layout_take(layout, n, sizeof *s->z);
    s->p = sn_layout_take(layout, nframe * (size_t)s->nq, sizeof *s->p);
    s->lambda = sn_layout_take(layout, nframe, sizeof *s->lambda);
    s->lambda_next = sn_layout_take(layout, nframe, sizeof *s->lambda_next);
    s->exact = sn_layout_take(layout, nframe, sizeof *s->exact);
    s->pivot = sn_layout_take(layout, n, sizeof *s->pivot);
    s->next = sn_layout_take(layout, n, sizeof *s->next);
    s->open = sn_layout_take(layout, n, sizeof *s->open);
    s->sums = sn_layout_take(layout, SMOOTH_SUMS * smooth_most_chunks(s->nframe, s->nv),
                             sizeof *s->sums);
}

// Which take part in the Newton step: what can move and is not about to be pushed into a limit.
static void find_open(sn_smoother *s, int frame) {
    const double *q = smooth_pose(s, s->q, frame);
    const double *g = s->g + smooth_at(s, frame);
    unsigned char *open = s->open + smooth_at(s, frame);
    for (int i = 0; i < s->nv; i++) {
        open[i] = s->gain[i] != 0;
        if (!open[i] || s->q_of[i] < 0) continue;
        double x = q[s->q_of[i]], scale = s->seen[i] + 6 * s->stiff[i];
        double reach = fmin(scale > 0 ? fabs(s->gain[i] * g[i]) / scale : 0, nearby);
        open[i] = g[i] > 0 ? x - reach > s->lower[i] : x + reach < s->upper[i];
    }
}

// F and its gradient, into s->g; the diagonal of the block that the step will use, into s->z: the exact one
// where it is positive definite with its damping, else Gauss-Newton's.
static sn_status evaluate(sn_smoother *s, smooth_worker *w, int first, int end, double *sums) {
    for (int k = first; k < end; k++) {
        const double *q = smooth_pose(s, s->q, k);
        double f, *g = s->g + smooth_at(s, k), *damping = w->x;
        SN_TRY(s->goals(s->user, k, w->problem));
        SN_TRY(sn_workspace_eval(w->ws, q, SN_EVAL_HESSIAN, &f));
        memcpy(g, w->ws->g, (size_t)s->nv * sizeof *g);
        for (int i = 0; i < s->nv; i++) damping[i] = s->lambda[k] * s->seen[i];
        s->exact[k] = s->weighed && sn_workspace_factor(w->ws, damping, s->movable, 0, NULL) < 0;
        if (!s->exact[k]) SN_TRY(sn_workspace_eval(w->ws, q, SN_EVAL_GAUSS_NEWTON, &f));
        sn_workspace_fields_diagonal(w->ws, s->z + smooth_at(s, k));
        smooth_gradient_add(s, w, s->q, k, g);
        find_open(s, k);
        sums[0] += f;
        sums[1] += smooth_energy(s, w, s->q, k);
    }
    return SN_OK;
}

// How far a frame of the trial poses is from its pose, in the measure of steps; a limit may have cut it.
static void find_moved(const sn_smoother *s, int frame, double *moved) {
    const double *q = smooth_pose(s, s->q, frame), *trial = smooth_pose(s, s->p, frame);
    const double *x = s->x + smooth_at(s, frame);
    for (int i = 0; i < s->nv; i++) {
        int at = s->q_of[i];
        bool limited = at >= 0 && (s->lower[i] != -INFINITY || s->upper[i] != INFINITY);
        moved[i] = s->gain[i] == 0 ? 0 : limited ? (trial[at] - q[at]) / s->gain[i] : s->t * x[i];
    }
}

// The trial poses, s->t along the step and inside the limits; sums[0] is what F would change by if it were
// linear.
static sn_status move(sn_smoother *s, smooth_worker *w, int first, int end, double *sums) {
    const int *v_of = s->model->v_of;
    for (int k = first; k < end; k++) {
        const double *x = s->x + smooth_at(s, k), *g = s->g + smooth_at(s, k);
        double *trial = s->p + (size_t)k * (size_t)s->nq;
        for (int i = 0; i < s->nv; i++) w->delta[0][v_of[i]] = s->t * s->gain[i] * x[i];
        sn_model_integrate(s->model, smooth_pose(s, s->q, k), w->delta[0], trial);
        (void)sn_model_clamp(s->model, trial);
        find_moved(s, k, w->x);
        for (int i = 0; i < s->nv; i++) sums[0] += g[i] * w->x[i];
    }
    return SN_OK;
}

// The damping that a frame asks for: more where its quadratic was wrong by much of itself, or turned a joint
// far; less where it was right.
static double next_damping(double lambda, double wrong, double quadratic, double largest) {
    if (wrong > 0.5 * quadratic || largest > 0.7) return fmin(fmax(10 * lambda, 1e-3), 1e6);
    const char *fl = getenv("LFLOOR"), *dn = getenv("LDOWN");
    return wrong > 0.1 * quadratic ? lambda : fmax((dn ? atof(dn) : 0.1) * lambda, fl ? atof(fl) : 1e-8);
}

// F at the trial poses, and how well the quadratic foretold the goals' part.
static sn_status value(sn_smoother *s, smooth_worker *w, int first, int end, double *sums) {
    double *x = w->x, *Hx = w->y;
    for (int k = first; k < end; k++) {
        double f, f0, slope = 0, curvature = 0, damping = 0, largest = 0;
        SN_TRY(s->goals(s->user, k, w->problem));
        SN_TRY(sn_workspace_eval(w->ws, smooth_pose(s, s->q, k),
                                 s->exact[k] ? SN_EVAL_HESSIAN : SN_EVAL_GAUSS_NEWTON, &f0));
        find_moved(s, k, x);
        sn_workspace_fields_multiply(w->ws, x, Hx);
        for (int i = 0; i < s->nv; i++) {
            slope += w->ws->g[i] * x[i];
            curvature += Hx[i] * x[i];
            damping += s->lambda[k] * s->seen[i] * x[i] * x[i];
            largest = fmax(largest, fabs(s->gain[i] * x[i]));
        }
        if (sn_workspace_eval(w->ws, smooth_pose(s, s->p, k), 0, &f) != SN_OK) f = INFINITY;
        double wrong = fabs(f - f0 - slope - 0.5 * curvature) - 1e-12 * f0;
        double quadratic = 0.5 * (curvature + damping + smooth_stretch(s, s->x, k));
        s->lambda_next[k] = next_damping(s->lambda[k], wrong, quadratic, largest);
        sums[0] += f;
        sums[1] += smooth_energy(s, w, s->p, k);
        sums[2] += s->lambda_next[k] > s->lambda[k];
    }
    return SN_OK;
}

// Diagonal steps for those at a limit.
static sn_status add_limited(sn_smoother *s, smooth_worker *w, int first, int end, double *sums) {
    (void)w, (void)sums;
    for (int k = first; k < end; k++) {
        for (int i = 0; i < s->nv; i++) {
            size_t at = smooth_at(s, k) + (size_t)i;
            if (s->open[at] || s->gain[i] == 0) continue;
            double scale = s->seen[i] + 6 * s->stiff[i];
            s->x[at] = scale > 0 ? -s->g[at] / scale : 0;
        }
    }
    return SN_OK;
}

// D and what follows from it, from the diagonals in s->z.
static void find_weights(sn_smoother *s) {
    double c = s->options.tau * s->options.rate, top = 0;
    double fourth = c * c * c * c;
    for (int i = 0; i < s->nv; i++) {
        double sum = 0;
        for (int k = 0; k < s->nframe; k++) sum += s->z[smooth_at(s, k) + (size_t)i];
        double square = s->gain[i] * s->gain[i];
        s->seen[i] = square > 0 ? sum / s->nframe / square : 0;
        top = fmax(top, s->seen[i]);
    }
    for (int i = 0; i < s->nv; i++) {
        double D = s->gain[i] != 0 ? fmax(s->seen[i], unseen * (top > 0 ? top : 1)) : 0;
        s->seen[i] = D * s->gain[i] * s->gain[i];
        s->weight[s->model->v_of[i]] = D * fourth;
        s->stiff[i] = s->seen[i] * fourth;
    }
}

static sn_status frames(sn_smoother *s, smooth_pass pass, double *sums) {
    return smooth_for_all(s, pass, s->nframe, SMOOTH_FRAMES, sums);
}

static sn_status evaluate_all(sn_smoother *s) {
    double sums[SMOOTH_SUMS];
    SN_TRY(frames(s, evaluate, sums));
    s->report.data = sums[0];
    s->report.smoothness = sums[1];
    s->report.objective = sums[0] + sums[1];
    return SN_OK;
}

// Along the step until F falls enough; *t is 0 when it never does.
static sn_status search(sn_smoother *s, double *t) {
    double sums[SMOOTH_SUMS];
    *t = 0;
    for (s->t = 1; s->t > 0.05; s->t *= 0.3) {
        SN_TRY(frames(s, move, sums));
        double fall = sums[0];
        if (!(fall < 0) || -fall < rounding * s->report.objective) continue;
        SN_TRY(frames(s, value, sums));
        if (sums[0] + sums[1] < s->report.objective + armijo * fall) {
            *t = s->t;
            memcpy(s->q, s->p, (size_t)s->nframe * (size_t)s->nq * sizeof *s->q);
            return SN_OK;
        }
    }
    return SN_OK;
}

static bool cancelled(const sn_smoother *s) {
    return s->options.cancel != NULL && *s->options.cancel;
}

#include <stdio.h>
#include <stdlib.h>
// One Newton step; true when it was the last.
static sn_status iterate(sn_smoother *s, bool *last) {
    double promise, t, sums[SMOOTH_SUMS], before = s->report.objective;
    int products = s->report.products;
    *last = true;
    SN_TRY(smooth_step(s, &promise));
    if (cancelled(s)) {
        s->report.stop = SN_STOP_CANCELLED;
        return SN_OK;
    }
    SN_TRY(frames(s, add_limited, sums));
    SN_TRY(search(s, &t));
    int nexact = 0, nbad = 0; double lmax = 0;
    for (int k = 0; k < s->nframe; k++) { nexact += s->exact[k]; nbad += s->lambda_next[k] > s->lambda[k]; lmax = fmax(lmax, s->lambda[k]); }
    memcpy(s->lambda, s->lambda_next, (size_t)s->nframe * sizeof *s->lambda);
    SN_TRY(evaluate_all(s));
    s->report.iterations++;
    double fall = before - s->report.objective;
    if (getenv("SMOOTH_TRACE"))
        fprintf(stderr, "%3d products %4d F %.12e data %.6e smooth %.6e fall %.3e promise %.3e t %g lmax %.1e exact %d bad %d\n",
                s->report.iterations, s->report.products - products, s->report.objective, s->report.data,
                s->report.smoothness, fall, promise, t, lmax, nexact, nbad);
    if (t == 0) {
        bool nothing = promise <= 1e-13 * before;
        s->report.stop = nothing ? SN_STOP_MINIMUM : SN_STOP_STALLED;
        *last = nothing || ++s->failures > 5;
    } else if (fall <= s->options.tolerance * before && t == 1 && promise <= 10 * s->options.tolerance * before) {
        s->report.stop = SN_STOP_MINIMUM;
    } else {
        s->failures = 0;
        *last = false;
    }
    return SN_OK;
}

static sn_status run(sn_smoother *s) {
    for (int i = 0; i < s->nv; i++) {
        s->seen[i] = s->stiff[i] = s->weight[i] = 0;
        s->movable[i] = s->gain[i] != 0;
    }
    for (int k = 0; k < s->nframe; k++) s->lambda[k] = 1e-4;
    s->weighed = false;
    s->failures = 0;
    SN_TRY(evaluate_all(s));
    find_weights(s);
    s->weighed = true;
    SN_TRY(evaluate_all(s));
    s->report.start = s->report.objective;
    s->report.start_data = s->report.data;
    s->forcing = getenv("SMOOTH_FORCING") ? atof(getenv("SMOOTH_FORCING")) : 0.3;
    for (bool last = false; !last;) {
        s->report.stop = cancelled(s) ? SN_STOP_CANCELLED : SN_STOP_ITERATIONS;
        if (cancelled(s) || s->report.iterations >= s->options.max_iterations) break;
        SN_TRY(iterate(s, &last));
    }
    return SN_OK;
}

sn_status sn_smoother_run(sn_smoother *s, int nframe, sn_track_goals goals, void *user, double *q,
                          sn_smooth_report *report) {
    *report = s->report = (sn_smooth_report){.stop = SN_STOP_MINIMUM};
    if (nframe < 0 || goals == NULL) return SN_ERR_ARGUMENT;
    for (int k = 0; k < nframe; k++)
        SN_TRY(sn_model_check_pose(s->model, smooth_pose(s, q, k), NULL));
    if (nframe == 0) return SN_OK;
    s->nframe = nframe;
    s->goals = goals;
    s->user = user;
    s->q = q;
    sn_layout layout = {0};
    layout_run(s, &layout);
    void *owner, *block = sn_layout_acquire(&layout, &s->allocator, &owner);
    if (block == NULL) return SN_ERR_MEMORY;
    layout = (sn_layout){.block = block};
    layout_run(s, &layout);
    for (int k = 0; k < nframe; k++) {
        sn_model_normalize_quaternions(s->model, q + (size_t)k * (size_t)s->nq);
        (void)sn_model_clamp(s->model, q + (size_t)k * (size_t)s->nq);
    }
    sn_status status = run(s);
    sn_release(&s->allocator, owner);
    *report = s->report;
    return status;
}
