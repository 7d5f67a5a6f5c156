// SPDX-License-Identifier: MIT
// Closing loops: the nearest zero of c(q) inside the limits, by Levenberg and Marquardt's steps,
//
//   x = -D^-2 A^T (A D^-2 A^T + soft E)^-1 c,
//
// each the shortest in the measure D^2 as long as `soft` is next to nothing, which it is unless
// the misfit, half the sum of what is open squared, fails to fall. Dependent rows, as of planar linkages, are no trouble: the
// factorisation has pivots, and what they cannot meet is shared out.
//
// Where loops nearly lose a direction, the poses that are least open lie along a narrow, bent valley: a straight step
// along it ends on its slope. A step that fails is tried once more with half the bend of c along it answered,
//
//   x + y,   y = -D^-2 A^T (A D^-2 A^T + soft E)^-1 (c(q + x) - c - A x)
//
// which follows the valley. There c may vanish as slowly as the cube of the way, and steps still end it.
//
// Limits: a coordinate at its limit that the slope of the sum pushes out stays there; one that only
// the step would carry out is left out of the step. So what ends open is a least place of the sum
// inside the limits, not a corner that steps do not get round.
//
// A ball or a free joint with exactly one locked turn can make that turn all the same, by turning about the
// other two and back in a circle. Where a loop needs it, closing goes there directly (`roll`).
//
// A sum of squares has valleys that end open although the loops can be closed: the elbow folded the
// wrong way. A start that ends in one is tried again from poses about it, further and further away;
// always the same ones, so that the same start gives the same pose.
#include <string.h>

#include "base/random.h"
#include "solvers/loops.h"

static const double first_soft = 1e-9, least_soft = 1e-14, most_soft = 1e6;
static const double met = 1e-14;     // nothing is gained below
static const double nearly = 1e-10;  // of the misfit
static const double most_turn =
    4;  // radians or metres of a step that is shortened, but not softened

static double gain_of(const sn_solver *s, int i) {
    return sn_loops_of(s)->roll[i] ? 1 : s->model->gain[s->model->v_of[i]];
}

// The pose q moved by t gain o x, into the limits. Angles that go round have none on the way.
static void move_pose(sn_solver *s, const double *q, double t, const double *x, double *to) {
    const sn_model *m = s->model;
    for (int i = 0; i < s->n; i++) {
        s->delta[m->v_of[i]] = gain_of(s, i) * t * x[i];
    }
    sn_model_integrate(m, q, s->delta, to);
    for (int i = 0; i < s->n; i++) {
        int at = s->q_of[i];
        if (at < 0 || (m->ncoupling > 0 && m->follows[m->v_of[i]])) continue;
        to[at] = fmin(fmax(to[at], s->lower[i]), s->upper[i]);
    }
    for (int i = 0; i < m->nquaternion; i++) {
        const sn_joint *j = &m->joint[m->quaternion[i]];
        if (j->cone) (void)sn_cone_clamp(j, to + j->q0);
    }
    sn_model_follow(m, to);
    if (m->tied_limits) (void)sn_model_lead_back(m, to);
}

// What must fall, at the placed pose.
static double misfit(const sn_solver *s) {
    double sum = 0;
    for (int i = 0; i < s->model->nloop; i++) sum += sn_loop_misfit(s->ws, i);
    return sum;
}

static bool leads_out(const sn_solver *s, const double *q, int i, double way) {
    int at = s->q_of[i];
    return at >= 0 && ((q[at] <= s->lower[i] && way < 0) || (q[at] >= s->upper[i] && way > 0));
}

// The step from q with what may move in it. False when nothing can.
static bool find_step(sn_solver *s, const double *q, const bool *held, double soft) {
    sn_loops *l = sn_loops_of(s);
    int count = 0;
    for (int i = 0; i < s->n; i++) {
        double gain = gain_of(s, i);
        l->keep[i] =
            (held == NULL || !held[i]) && gain != 0 && !leads_out(s, q, i, -gain * l->pull[i]);
        count += l->keep[i];
    }
    for (bool out = true; out && count > 0;) {
        out = false;
        sn_ties_restore(s->ws, l->metric, l->keep, soft, l->c, l->x);
        for (int i = 0; i < s->n; i++) {
            if (!l->keep[i] || !leads_out(s, q, i, gain_of(s, i) * l->x[i])) continue;
            l->keep[i] = false;
            out = true;
            count--;
        }
    }
    return count > 0;
}

// How open the pose is that a step leads to, in l->next.
static double misfit_after(sn_solver *s, const double *q, double t, const double *x) {
    move_pose(s, q, t, x, sn_loops_of(s)->next);
    return sn_workspace_pose(s->ws, sn_loops_of(s)->next) == SN_OK ? misfit(s) : INFINITY;
}

// The step t x that was tried, and is placed, with the bend along it answered; false when that is longer than the step.
static bool bend_step(sn_solver *s, double soft, double t) {
    sn_loops *l = sn_loops_of(s);
    double size[2] = {0, 0};
    sn_ties_values(s->ws, l->bend);
    sn_ties_moved(s->ws, l->x, l->along);
    for (int i = 0; i < SN_TIE_ROWS * s->model->nloop; i++) l->bend[i] -= l->c[i] + t * l->along[i];
    sn_ties_restore(s->ws, l->metric, l->keep, soft, l->bend, l->y);
    for (int i = 0; i < s->n; i++) {
        size[0] = fmax(size[0], fabs(t * l->x[i]));
        size[1] = fmax(size[1], fabs(l->y[i]));
        l->y[i] += t * l->x[i];
    }
    return size[1] < 0.75 * size[0];
}

// The rows of the loops with the columns of those turns, which the lock had taken out.
static void free_rolls(sn_solver *s) {
    for (int i = 0; i < s->n; i++)
        if (sn_loops_of(s)->roll[i]) s->ws->T[i] = s->ws->S[i];
    sn_ties_refill_loops(s->ws);
}

void sn_closing_find_rolls(sn_solver *s) {
    sn_loops *l = sn_loops_of(s);
    l->rolls = false;
    for (int i = 0; i < s->n; i++) l->roll[i] = false;
    for (int i = 0; i < s->model->nquaternion; i++) {
        const sn_joint *j = &s->model->joint[s->model->quaternion[i]];
        int first = j->ops->quaternion, locked = 0, at = 0;
        for (int a = first; a < j->nv; a++)
            if (s->model->gain[j->v0 + a] == 0) locked++, at = a;
        if (locked != 1) continue;
        l->rolls = l->roll[j->slot + at] = true;
    }
}

double sn_closing_run(sn_solver *s, double *q, const bool *held, int most) {
    sn_loops *l = sn_loops_of(s);
    const sn_model *m = s->model;
    const int usual = most > 50 ? most - 1 : -1;
    double soft = first_soft, f;
    for (int round = 0; round < most; round++) {
        if (!sn_solver_eval(s, q, SN_EVAL_GAUSS_NEWTON, &f)) return INFINITY;
        double before = misfit(s);
        // along a bent valley the last of it goes by halves
        if (round == usual && before < nearly) most *= 3;
        if (l->rolls) free_rolls(s);
        if (sn_ties_open(s->ws) <= met) break;
        sn_ties_values(s->ws, l->c);
        sn_ties_pull(s->ws, l->c, l->pull);
        bool better = false;
        while (!better && soft <= most_soft && find_step(s, q, held, soft)) {
            double size = 0;
            for (int i = 0; i < s->n; i++) size = fmax(size, fabs(gain_of(s, i) * l->x[i]));
            if (!(size > 0)) break;
            if (size > most_turn && soft < 1) {
                // nearly nothing holds it there: what is soft goes less far, and the rest on
                soft *= 50;
                continue;
            }
            const double t = size > 1 ? 1 / size : 1;
            double after = misfit_after(s, q, t, l->x);
            better = after < (1 - 1e-4) * before;
            if (!better && before >= 1e-22 && after < INFINITY && bend_step(s, soft, t)) {
                after = misfit_after(s, q, 1, l->y);
                better = after < (1 - 1e-4) * before;
            }
            if (better) {
                soft = fmax(soft * (after < 0.25 * before ? 0.01 : 0.5), least_soft);
            } else if (before < 1e-22) {
                break;  // rounding
            } else {
                soft *= 50;
            }
        }
        if (!better) break;
        memcpy(q, l->next, (size_t)m->nq * sizeof *q);
    }
    if (sn_workspace_pose(s->ws, q) != SN_OK) return INFINITY;
    return sn_ties_open(s->ws);
}

double sn_closing_start(sn_solver *s) {
    sn_loops *l = sn_loops_of(s);
    const size_t bytes = (size_t)s->model->nq * sizeof *s->q;
    double open = sn_closing_run(s, s->q, l->rolls ? l->roll : NULL, 100);
    if (l->rolls && open > SN_CLOSED) {
        memcpy(s->q, s->started_at, bytes);
        open = sn_closing_run(s, s->q, NULL, 100);
    }
    uint64_t state = 1;
    double size = 0.05;
    memcpy(l->least, s->q, bytes);
    // first in great strides; steep couplings have narrow basins, which take more
    for (int tries = 0; tries < 160 && open > SN_CLOSED; tries++) {
        if (tries == 40) size = 0.05;
        for (int i = 0; i < s->n; i++) l->x[i] = size * (2 * sn_random(&state) - 1);
        move_pose(s, s->started_at, 1, l->x, s->q);
        double now = sn_closing_run(s, s->q, NULL, 60);
        if (now < open) {
            open = now;
            memcpy(l->least, s->q, bytes);
        }
        size = fmin((tries < 40 ? 1.12 : 1.035) * size, 3);
    }
    memcpy(s->q, l->least, bytes);
    return open;
}
