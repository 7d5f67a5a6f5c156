// SPDX-License-Identifier: MIT
// Newton's method over all the poses of a take, inside their limits.
//
// A degree of freedom that its gradient pushes against a limit nearby goes to that limit and the
// others are solved with that known; so are those that the step then carries past a limit. F must
// fall by a share of what the slope promises (Armijo).
#include "track/smooth.h"
#include "base/threads.h"

#include <math.h>
#include <string.h>

enum { VERSION = 2, MOST_FAILURES = 8, WEIGHED = 128 };

static const double armijo = 1e-4;
static const double unseen = 1e-6;     // least D, as a share of the largest
static const double rounding = 1e-13;  // of F, what may be lost in adding it up

sn_smooth_options sn_smooth_options_default(void) {
    return (sn_smooth_options){
        .version = VERSION, .rate = 120, .max_iterations = 30, .tolerance = 3e-3, .threads = 1};
}

// NULL, or the option that is out of range.
static const char *bad_option(const sn_smooth_options *o) {
    if (o->version != VERSION) return "version";
    if (!(o->rate > 0)) return "rate";
    // beyond 100 frames the fourth power leaves the preconditioner no digits
    if (!(o->tau >= 0 && o->tau * o->rate <= 100)) return "tau";
    if (o->max_iterations < 0) return "max_iterations";
    if (!(o->tolerance >= 0)) return "tolerance";
    if (o->threads < 1 || o->threads > SN_MAX_THREADS) return "threads";
    return NULL;
}

static void layout_smoother(sn_smoother *s, sn_layout *layout) {
    size_t nv = (size_t)s->nv;
    s->workers = sn_layout_take(layout, (size_t)s->options.threads, sizeof *s->workers);
    s->q_of = sn_layout_take(layout, nv, sizeof *s->q_of);
    s->movable = sn_layout_take(layout, nv, sizeof *s->movable);
    double **each[] = {&s->lower, &s->upper, &s->gain, &s->seen, &s->stiff, &s->added, &s->weight};
    for (size_t i = 0; i < sizeof each / sizeof each[0]; i++)
        *each[i] = sn_layout_take(layout, nv, sizeof(double));
    for (int i = 0; i < s->options.threads; i++) {
        smooth_worker spare, *w = s->workers != NULL ? &s->workers[i] : &spare;
        for (int k = 0; k < 4; k++) w->delta[k] = sn_layout_take(layout, nv, sizeof(double));
        w->x = sn_layout_take(layout, nv, sizeof(double));
        w->y = sn_layout_take(layout, nv, sizeof(double));
    }
}

sn_status sn_smoother_create(const sn_problem *problem, const sn_smooth_options *options,
                             const sn_allocator *allocator, sn_smoother **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    SN_NEED(problem, error);
    SN_NEED(out, error);
    const sn_model *model = sn_problem_model(problem);
    sn_smoother s = {.allocator = sn_allocator_of(allocator),
                     .model = model,
                     .options = options != NULL ? *options : sn_smooth_options_default(),
                     .nv = model->nv,
                     .nq = model->nq};
    SN_TRY(sn_fail_option(error, bad_option(&s.options)));
    if (model->nloop > 0)
        return sn_fail(error, SN_ERR_UNSUPPORTED, 0,
                       "smoothing cannot keep the model's loops closed: fit without it");
    double frames = s.options.tau * s.options.rate;
    s.fourth = frames * frames * frames * frames;
    sn_layout layout = {0};
    sn_smoother *smoother = sn_layout_take(&layout, 1, sizeof *smoother);
    layout_smoother(&s, &layout);
    void *block = sn_layout_acquire(&layout, allocator, &s.owner);
    if (block == NULL) return sn_fail_memory(error);
    layout = (sn_layout){.block = block};
    smoother = sn_layout_take(&layout, 1, sizeof *smoother);
    layout_smoother(&s, &layout);
    *smoother = s;
    sn_model_sweep_limits(problem->model, smoother->q_of, smoother->lower, smoother->upper);
    for (int i = 0; i < model->nv; i++) {
        smoother->gain[i] = problem->model->gain[model->v_of[i]];
        smoother->movable[i] = smoother->gain[i] != 0;
    }
    sn_status status = SN_OK;
    for (int i = 0; i < s.options.threads && status == SN_OK; i++) {
        smooth_worker *w = &s.workers[i];
        status = sn_problem_copy(problem, NULL, 0, allocator, &w->problem, error);
        if (status == SN_OK)
            status = sn_workspace_create(w->problem, true, allocator, &w->ws, error);
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

// Blocks are kept while they fit into a processor's cache, more or less.
enum { MOST_STORED = 4096 };

static void layout_run(sn_smoother *s, sn_layout *layout) {
    size_t nframe = (size_t)s->nframe, nv = (size_t)s->nv;
    size_t kept = s->stored ? s->model->path.size * sizeof(double) : 0;
    s->rows = sn_layout_take(layout, nframe, kept);
    s->factored = sn_layout_take(layout, nframe, kept);
    // sizes in two factors, so that an overflow is seen
    double **each[] = {&s->g, &s->x, &s->r, &s->z, &s->y};
    for (size_t i = 0; i < sizeof each / sizeof each[0]; i++)
        *each[i] = sn_layout_take(layout, nframe, nv * sizeof(double));
    s->p = sn_layout_take(layout, nframe, (size_t)s->nq * sizeof(double));
    s->pivot = sn_layout_take(layout, nframe, nv * sizeof(float));
    s->next = sn_layout_take(layout, nframe, nv * sizeof(float));
    s->open = sn_layout_take(layout, nframe, nv * sizeof(bool));
    double **line[] = {&s->low[0], &s->low[1], &s->lambda, &s->lambda_next};
    for (size_t i = 0; i < sizeof line / sizeof line[0]; i++)
        *line[i] = sn_layout_take(layout, nframe, sizeof(double));
    s->exact = sn_layout_take(layout, nframe, sizeof *s->exact);
    s->sums = sn_layout_take(layout, sn_smooth_chunks(s, s->nframe), SMOOTH_SUMS * sizeof(double));
}

// One coordinate with whole turns taken out of its jumps, or (turns false) as it is: the sum of its
// squared second differences; `keep` stores what was taken.
static double unwrap(sn_smoother *s, int at, bool turns, bool keep) {
    const double turn = 2 * 0x1.921fb54442d18p+1;
    double sum = 0, shift = 0, last = s->q[at], before = NAN;
    for (int k = 1; k < s->nframe; k++) {
        double *x = &s->q[(size_t)k * (size_t)s->nq + (size_t)at];
        double step = *x - shift - last;
        if (turns) shift += turn * nearbyint(step / turn);
        double now = *x - shift, d = now - last;
        if (k > 1) sum += (d - before) * (d - before);
        if (keep) *x = now;
        before = d;
        last = now;
    }
    return sum;
}

// An angle without limits may jump by whole turns where the tracker began anew. It is the same
// pose, but not to the acceleration.
static void unwrap_all(sn_smoother *s) {
    const sn_model *m = s->model;
    if (s->workers[0].problem->nrest > 0) return;  // to a rest task it is not the same pose
    for (int k = 0; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        for (int a = 0; a < j->nv; a++) {
            int i = j->slot + a;
            bool free = (j->ops->angles >> a & 1) != 0 && j->type != SN_JOINT_SCREW &&
                        s->movable[i] && s->lower[i] == -INFINITY && s->upper[i] == INFINITY;
            if (free && unwrap(s, j->q0 + a, true, false) < unwrap(s, j->q0 + a, false, false))
                (void)unwrap(s, j->q0 + a, true, true);
        }
    }
}

// What follows from D, the mean diagonal in s->seen.
static void set_weights(sn_smoother *s) {
    double top = 0;
    for (int i = 0; i < s->nv; i++) {
        s->seen[i] = s->movable[i] ? s->seen[i] / (s->gain[i] * s->gain[i]) : 0;
        top = fmax(top, s->seen[i]);
    }
    for (int i = 0; i < s->nv; i++) {
        double D = s->movable[i] ? fmax(s->seen[i], unseen * (top > 0 ? top : 1)) : 0;
        s->seen[i] = D * s->gain[i] * s->gain[i];
        s->stiff[i] = s->seen[i] * s->fourth;
        s->added[i] = s->q_of[i] >= 0 ? s->stiff[i] : 0;
        s->weight[s->model->v_of[i]] = D * s->fourth;
    }
}

// From the diagonals in z.
static void find_weights(sn_smoother *s) {
    for (int i = 0; i < s->nv; i++) {
        double sum = 0;
        for (int k = 0; k < s->nframe; k++) sum += s->z[smooth_at(s, k) + (size_t)i];
        s->seen[i] = sum / s->nframe;
    }
    set_weights(s);
}

sn_status sn_smoother_hasten(sn_smoother *s, int nframe, sn_track_goals goals, void *user,
                             const double *q) {
    smooth_worker *w = &s->workers[0];
    int step = nframe / WEIGHED + 1, n = 0;
    for (int i = 0; i < s->nv; i++) s->seen[i] = 0;
    for (int k = 0; k < nframe; k += step, n++) {
        double f;
        SN_TRY(goals(user, k, w->problem));
        SN_TRY(sn_workspace_eval(w->ws, smooth_pose(s, q, k), SN_EVAL_GAUSS_NEWTON, &f));
        sn_workspace_fields_diagonal(w->ws, w->x);
        for (int i = 0; i < s->nv; i++) s->seen[i] += w->x[i];
    }
    for (int i = 0; i < s->nv; i++) s->seen[i] /= n > 0 ? n : 1;
    set_weights(s);
    s->hasty = true;
    return SN_OK;
}

static sn_status evaluate(sn_smoother *s) {
    double sums[SMOOTH_SUMS];
    return sn_smooth_frames(s, sn_smooth_evaluate, sums);
}

static void set_objective(sn_smoother *s, const double sums[SMOOTH_SUMS]) {
    s->report.data = sums[0];
    s->report.smoothness = sums[1];
    s->report.objective = sums[0] + sums[1];
}

// F at the poses given, measured just as it is at trials, so that the two can be compared to the
// last bit.
static sn_status measure_start(sn_smoother *s) {
    double sums[SMOOTH_SUMS];
    memcpy(s->p, s->q, (size_t)s->nframe * (size_t)s->nq * sizeof *s->q);
    SN_TRY(sn_smooth_frames(s, sn_smooth_value, sums));
    set_objective(s, sums);
    s->report.start = s->report.objective;
    s->report.start_data = s->report.data;
    return SN_OK;
}

// Along the step until F falls enough and the poses are taken; s->t is 0 when it never does. What
// the full step met decides the damping.
static sn_status search(sn_smoother *s) {
    double sums[SMOOTH_SUMS];
    for (s->t = 1; s->t > 1e-3; s->t *= 0.3) {
        SN_TRY(sn_smooth_frames(s, sn_smooth_move, sums));
        double fall = sums[0];
        SN_TRY(sn_smooth_frames(s, sn_smooth_try, sums));
        if (!(fall < 0) || !(sums[0] + sums[1] < s->report.objective + armijo * fall)) continue;
        memcpy(s->q, s->p, (size_t)s->nframe * (size_t)s->nq * sizeof *s->q);
        set_objective(s, sums);
        return SN_OK;
    }
    s->t = 0;
    return SN_OK;
}

// One Newton step. *idle counts those in a row that brought next to nothing, *failed those that
// failed.
static sn_status iterate(sn_smoother *s, int *idle, int *failed) {
    double promise, before = s->report.objective;
    SN_TRY(sn_smooth_step(s, &promise));
    if (smooth_cancelled(s)) return SN_OK;
    SN_TRY(search(s));
    s->report.iterations++;
    bool all = s->t == 0;
    *failed = all ? *failed + 1 : 0;
    for (int k = 0; k < s->nframe; k++)
        s->lambda[k] = all ? fmax(10 * s->lambda[k], s->lambda_next[k]) : s->lambda_next[k];
    // a quadratic that foretold F well deserves to be solved better, as far as the tolerance asks
    double fall = before - s->report.objective;
    bool foretold = s->t == 1 && fall > 0.5 * promise && fall < 2 * promise;
    double least = fmin(fmax(30 * s->options.tolerance, 0.01), 0.3);
    s->forcing = foretold ? fmax(0.5 * s->forcing, least) : fmin(2 * s->forcing, 0.3);
    double little = fmax(s->options.tolerance, rounding) * before;
    bool nothing = promise <= little && fall <= little;
    *idle = nothing ? *idle + 1 : 0;
    bool last = s->hasty && (*idle > 0 || s->report.iterations >= s->options.max_iterations);
    return last ? SN_OK : evaluate(s);
}

static sn_status run(sn_smoother *s) {
    for (int i = 0; i < s->nv && !s->hasty; i++)
        s->seen[i] = s->stiff[i] = s->added[i] = s->weight[i] = 0;
    // careful at first: where a limb was hidden, the poses given may be anywhere
    for (int k = 0; k < s->nframe; k++) s->lambda[k] = s->lambda_next[k] = s->hasty ? 1e-3 : 1;
    if (s->fourth > 0) unwrap_all(s);
    s->forcing = 0.3;
    s->weighed = false;
    if (!s->hasty) {
        SN_TRY(evaluate(s));
        find_weights(s);
    }
    s->weighed = true;
    SN_TRY(measure_start(s));
    SN_TRY(evaluate(s));
    // one idle step may only mean that the damping was high
    for (int idle = 0, failed = 0; idle < (s->hasty ? 1 : 2);) {
        s->report.stop = smooth_cancelled(s)      ? SN_STOP_CANCELLED
                         : failed > MOST_FAILURES ? SN_STOP_STALLED
                                                  : SN_STOP_ITERATIONS;
        if (s->report.stop != SN_STOP_ITERATIONS) return SN_OK;
        if (s->report.iterations >= s->options.max_iterations) return SN_OK;
        SN_TRY(iterate(s, &idle, &failed));
    }
    s->report.stop = SN_STOP_MINIMUM;
    return SN_OK;
}

sn_status sn_smoother_run(sn_smoother *s, int nframe, sn_track_goals goals, void *user, double *q,
                          sn_smooth_report *report) {
    if (s == NULL || q == NULL || report == NULL) return SN_ERR_ARGUMENT;
    *report = s->report = (sn_smooth_report){.stop = SN_STOP_BAD_GOALS};
    if (nframe < 0 || goals == NULL) return SN_ERR_ARGUMENT;
    for (int k = 0; k < nframe; k++)
        SN_TRY(sn_model_check_pose(s->model, smooth_pose(s, q, k), NULL));
    if (nframe == 0 || s->nv == 0) {
        report->stop = SN_STOP_MINIMUM;
        return SN_OK;
    }
    s->nframe = nframe;
    s->goals = goals;
    s->user = user;
    s->q = q;
    s->stored = s->hasty && nframe <= MOST_STORED && s->workers[0].ws->ties == NULL;
    sn_layout layout = {0};
    layout_run(s, &layout);
    void *owner, *block = sn_layout_acquire(&layout, &s->allocator, &owner);
    if (block == NULL) return SN_ERR_MEMORY;
    layout = (sn_layout){.block = block};
    layout_run(s, &layout);
    for (int k = 0; k < nframe; k++) {
        sn_model_normalize_quaternions(s->model, q + (size_t)k * (size_t)s->nq);
        (void)sn_model_clamp(s->workers[0].problem->model, q + (size_t)k * (size_t)s->nq);
    }
    sn_status status = run(s);
    sn_release(&s->allocator, owner);
    *report = s->report;
    if (status != SN_OK) report->stop = SN_STOP_BAD_GOALS;
    return status;
}
