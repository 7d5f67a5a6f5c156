// SPDX-License-Identifier: MIT
// What is done at every frame of a take.
#include <math.h>
#include <string.h>

#include "sweeps/path_rows.h"
#include "track/smooth.h"

static const double nearby = 0.01;  // of a limit, radians or metres

// Which take part in the Newton step: what can move and whose own step would not meet a nearby
// limit that its gradient pushes against. The others go to that limit; x tells how far.
static void find_open(sn_smoother *s, int frame) {
    const double *q = smooth_pose(s, s->q, frame), *g = s->g + smooth_at(s, frame);
    bool *open = s->open + smooth_at(s, frame);
    double *x = s->x + smooth_at(s, frame);
    for (int i = 0; i < s->nv; i++) {
        open[i] = s->movable[i];
        x[i] = 0;
        if (!open[i] || s->q_of[i] < 0) continue;
        double way = (g[i] > 0 ? s->lower[i] : s->upper[i]) - q[s->q_of[i]];
        double scale = s->seen[i] + 6 * s->stiff[i];
        double reach = scale > 0 ? fmin(fabs(s->gain[i] * g[i]) / scale, nearby) : 0;
        open[i] = fabs(way) > reach;
        if (!open[i]) x[i] = way / s->gain[i];
    }
}

sn_status sn_smooth_hold(sn_smoother *s, smooth_worker *w, int first, int end, double *sums) {
    (void)w;
    for (int k = first; k < end; k++) {
        const double *q = smooth_pose(s, s->q, k);
        for (int i = 0; i < s->nv; i++) {
            size_t at = smooth_at(s, k) + (size_t)i;
            if (!s->open[at] || s->q_of[i] < 0) continue;
            double now = q[s->q_of[i]], then = now + s->gain[i] * s->x[at];
            if (then >= s->lower[i] && then <= s->upper[i]) continue;
            s->open[at] = false;
            s->x[at] = ((then < s->lower[i] ? s->lower[i] : s->upper[i]) - now) / s->gain[i];
            sums[0]++;
        }
    }
    return SN_OK;
}

sn_status sn_smooth_block(sn_smoother *s, smooth_worker *w, int frame, double *f) {
    SN_TRY(s->goals(s->user, frame, w->problem));
    return sn_workspace_eval(w->ws, smooth_pose(s, s->q, frame),
                             s->exact[frame] ? SN_EVAL_HESSIAN : SN_EVAL_GAUSS_NEWTON, f);
}

// The exact block where it is positive definite with its damping, else Gauss-Newton's.
static sn_status choose_block(sn_smoother *s, smooth_worker *w, int frame, double *f) {
    s->exact[frame] = s->weighed;
    SN_TRY(sn_smooth_block(s, w, frame, f));
    if (!s->exact[frame]) return SN_OK;
    double *damping = w->x;
    for (int i = 0; i < s->nv; i++) damping[i] = s->lambda[frame] * s->seen[i];
    if (sn_workspace_factor(w->ws, damping, s->movable, 0, NULL) < 0) return SN_OK;
    s->exact[frame] = false;
    return sn_smooth_block(s, w, frame, f);
}

sn_status sn_smooth_evaluate(sn_smoother *s, smooth_worker *w, int first, int end, double *sums) {
    (void)sums;
    for (int k = first; k < end; k++) {
        double f, *g = s->g + smooth_at(s, k);
        SN_TRY(choose_block(s, w, k, &f));
        memcpy(g, w->ws->g, (size_t)s->nv * sizeof *g);
        sn_workspace_fields_diagonal(w->ws, s->z + smooth_at(s, k));
        if (s->stored)
            memcpy(smooth_rows(s, s->rows, k), sn_workspace_rows(w->ws),
                   s->model->path.size * sizeof *s->rows);
        sn_smooth_gradient_add(s, w, s->q, k, g);
        find_open(s, k);
    }
    return SN_OK;
}

// How far the trial pose of a frame is from its pose; a limit may have cut the way.
static void find_moved(const sn_smoother *s, int frame, double *moved) {
    const double *q = smooth_pose(s, s->q, frame), *trial = smooth_pose(s, s->p, frame);
    const double *x = s->x + smooth_at(s, frame);
    for (int i = 0; i < s->nv; i++) {
        int at = s->q_of[i];
        bool limited = at >= 0 && (s->lower[i] != -INFINITY || s->upper[i] != INFINITY);
        moved[i] = !s->movable[i] ? 0 : limited ? (trial[at] - q[at]) / s->gain[i] : s->t * x[i];
    }
}

// Into the limits, and onto one that only rounding keeps it from.
static void put_inside(const sn_smoother *s, double *q) {
    for (int i = 0; i < s->nv; i++) {
        if (s->q_of[i] < 0 || !s->movable[i]) continue;
        double *x = &q[s->q_of[i]], touch = 1e-15 * (1 + fabs(*x));
        if (*x < s->lower[i] + touch) *x = s->lower[i];
        if (*x > s->upper[i] - touch) *x = s->upper[i];
    }
}

sn_status sn_smooth_move(sn_smoother *s, smooth_worker *w, int first, int end, double *sums) {
    const int *v_of = s->model->v_of;
    for (int k = first; k < end; k++) {
        const double *x = s->x + smooth_at(s, k), *g = s->g + smooth_at(s, k);
        double *trial = s->p + (size_t)k * (size_t)s->nq;
        for (int i = 0; i < s->nv; i++) w->delta[0][v_of[i]] = s->t * s->gain[i] * x[i];
        sn_model_integrate(s->model, smooth_pose(s, s->q, k), w->delta[0], trial);
        put_inside(s, trial);
        find_moved(s, k, w->x);
        for (int i = 0; i < s->nv; i++) sums[0] += g[i] * w->x[i];
    }
    return SN_OK;
}

// More damping where a frame's quadratic was too hopeful by much of itself or turned a joint far,
// less where it was not. A step of a take is only as long as its worst frame allows, hence a
// damping for each.
static double next_damping(double lambda, double wrong, double quadratic, double largest) {
    if (wrong > 0.5 * quadratic || largest > 0.7) return fmin(fmax(10 * lambda, 1e-3), 1e6);
    return wrong > 0.1 * quadratic ? lambda : fmax(0.1 * lambda, 1e-4);
}

// F at a frame of the trial poses, into sums; the goals are set.
static double add_value(sn_smoother *s, smooth_worker *w, int frame, double *sums) {
    double f;
    if (sn_workspace_eval(w->ws, smooth_pose(s, s->p, frame), 0, &f) != SN_OK) f = INFINITY;
    sums[0] += f;
    sums[1] += sn_smooth_energy(s, w, s->p, frame);
    return f;
}

sn_status sn_smooth_value(sn_smoother *s, smooth_worker *w, int first, int end, double *sums) {
    for (int k = first; k < end; k++) {
        SN_TRY(s->goals(s->user, k, w->problem));
        (void)add_value(s, w, k, sums);
    }
    return SN_OK;
}

sn_status sn_smooth_try(sn_smoother *s, smooth_worker *w, int first, int end, double *sums) {
    double *x = w->x, *Hx = w->y;
    for (int k = first; k < end; k++) {
        double before, linear = 0, curvature = 0, damping = 0, largest = 0;
        SN_TRY(sn_smooth_block(s, w, k, &before));
        find_moved(s, k, x);
        sn_workspace_fields_multiply(w->ws, x, Hx);
        for (int i = 0; i < s->nv; i++) {
            linear += w->ws->g[i] * x[i];
            curvature += Hx[i] * x[i];
            damping += s->lambda[k] * s->seen[i] * x[i] * x[i];
            largest = fmax(largest, fabs(s->gain[i] * x[i]));
        }
        double wrong =
            add_value(s, w, k, sums) - before - linear - 0.5 * curvature - 1e-12 * before;
        wrong += sn_smooth_turn_excess(s, k);
        double stretch = s->t * s->t * sn_smooth_stretch(s, s->x, k);
        if (s->t == 1)
            s->lambda_next[k] =
                next_damping(s->lambda[k], wrong, 0.5 * (curvature + damping + stretch), largest);
    }
    return SN_OK;
}
