// SPDX-License-Identifier: MIT
// The step p of (H + lambda D^2) p = -g on the degrees of freedom that may move.
//
// D^2 says what the damping calls far. It is one number for all angles and one for all lengths, the
// largest Gauss-Newton diagonal among them, so that |Dp| is how far the joints turn and slide. With
// each degree of freedom's own diagonal |Dp| would be how far the markers move: then the damping
// holds hip and root, which carry many markers, and lets wrists and toes, which carry few, spin into
// another valley to pay for what the hip may not do (docs/solvers.md has the figures).
//
// A failed pivot d with its direction z says how much damping is missing: |d| / |Dz|^2. A step that
// turns a joint too far says it, too: |Dp| falls with lambda at the rate p'D^2 M^-1 D^2p / |Dp|, and a
// step of Newton on 1/|Dp|, nearly linear in lambda, leads to the length that is wanted.
#include "solvers/step.h"

#include <string.h>

#include "solvers/system.h"

sn_damped *sn_damped_of(const sn_solver *s) { return s->state; }

static void find_kinds(const sn_solver *s, sn_damped *m) {
    for (int k = 0; k < s->model->njoint; k++) {
        const sn_joint *j = &s->model->joint[k];
        for (int a = 0; a < j->nv; a++) {
            m->gain[j->slot + a] = s->model->inner[j->v0 + a];
            m->length[j->slot + a] = j->lengths >> a & 1;
        }
    }
}

void sn_damped_layout(sn_solver *s, sn_layout *layout) {
    size_t n = (size_t)s->n;
    sn_damped m = {0};
    m.metric = sn_layout_take(layout, n, sizeof *m.metric);
    m.gain = sn_layout_take(layout, n, sizeof *m.gain);
    m.length = sn_layout_take(layout, n, sizeof *m.length);
    m.diagonal = sn_layout_take(layout, n, sizeof *m.diagonal);
    m.direction = sn_layout_take(layout, n, sizeof *m.direction);
    m.plain = sn_layout_take(layout, n, sizeof *m.plain);
    m.open = sn_layout_take(layout, n, sizeof *m.open);
    s->state = sn_layout_keep(layout, &m, sizeof m);
}

void sn_damped_measure(sn_solver *s, bool fresh) {
    sn_damped *m = sn_damped_of(s);
    if (fresh) find_kinds(s, m);  // the problem may have other locks and strengths by now
    double before[2] = {m->most[0], m->most[1]};
    if (fresh) m->most[0] = m->most[1] = 0;
    // the pose moves by gain o u, so a diagonal of u has the gain's square in it
    for (int i = 0; i < s->n; i++) {
        double square = m->gain[i] * m->gain[i];
        if (square > 0) m->most[m->length[i]] = fmax(m->most[m->length[i]], s->seen[i] / square);
    }
    if (!fresh && m->most[0] == before[0] && m->most[1] == before[1]) return;
    // the scale is never 0, also where no task sees a length
    for (int i = 0; i < s->n; i++)
        m->metric[i] = fmax(m->gain[i] * m->gain[i] * m->most[m->length[i]], s->scale[i]);
}

static void find_diagonal(const sn_solver *s, double lambda) {
    const sn_damped *m = sn_damped_of(s);
    for (int i = 0; i < s->n; i++)
        m->diagonal[i] = lambda * m->metric[i] + SN_LEAST_DAMPING * s->scale[i];
}

// Factor with as much damping as it takes; false when even a lot is not enough.
static bool factor(sn_solver *s, sn_damped_step *to) {
    const sn_damped *m = sn_damped_of(s);
    double pivot = 0;
    for (int tries = 0; tries < 40; tries++) {
        find_diagonal(s, to->lambda);
        int k = sn_system_factor(s, m->diagonal, s->keep, &pivot);
        if (k < 0) return true;
        to->indefinite = true;
        double *z = m->direction, square = 0;
        sn_system_direction(s, k, z);
        for (int i = 0; i < s->n; i++) square += m->metric[i] * z[i] * z[i];
        double missing = square > 0 ? fmax(-pivot, 0) / square : 0;
        to->lambda = fmax(fmax(2 * to->lambda, to->least), to->lambda + 1.1 * missing);
    }
    return false;
}

// How far degree of freedom i can go along `step` (in u) inside its limits.
static double clamp_move(const sn_solver *s, int i, double step) {
    int at = s->q_of[i];
    if (at < 0) return step;
    double gain = sn_damped_of(s)->gain[i], x = s->q[at] + gain * step;
    if (x < s->lower[i]) return (s->lower[i] - s->q[at]) / gain;
    if (x > s->upper[i]) return (s->upper[i] - s->q[at]) / gain;
    return step;
}

// The decrease that the quadratic model promises for a motion u.
static double promised(sn_solver *s, const double *u) {
    double *Hu = sn_damped_of(s)->direction;
    sn_system_multiply(s, u, Hu);
    return -(sn_solver_dot(s->ws->g, u, s->n) + 0.5 * sn_solver_dot(u, Hu, s->n));
}

// Put those that `step` carries past their limits there, and solve for the others again; a few
// times at the most. The result is in `step`; false when nothing crossed a limit or a pivot failed.
static bool refine_step(sn_solver *s, double *step, double lambda) {
    const sn_damped *m = sn_damped_of(s);
    bool *open = m->open, crossed = false;
    double *Hu = m->direction, *fixed = s->moved;
    memcpy(open, s->keep, (size_t)s->n * sizeof *open);
    for (int round = 0; round < 4; round++) {
        bool closed = false;
        for (int i = 0; i < s->n; i++) {
            double at = open[i] ? clamp_move(s, i, step[i]) : step[i];
            if (open[i] && at != step[i]) {
                open[i] = false;
                closed = true;
            }
            fixed[i] = open[i] ? 0 : at;
        }
        if (!closed) return crossed;
        crossed = true;
        find_diagonal(s, lambda);
        if (sn_system_factor(s, m->diagonal, open, NULL) >= 0) return false;
        sn_system_multiply(s, fixed, Hu);
        for (int i = 0; i < s->n; i++) step[i] = open[i] ? -(s->ws->g[i] + Hu[i]) : 0;
        sn_system_solve(s, step);
        for (int i = 0; i < s->n; i++)
            if (!open[i]) step[i] = fixed[i];
    }
    for (int i = 0; i < s->n; i++) step[i] = clamp_move(s, i, step[i]);
    return crossed;
}

// The largest rotation of a degree of freedom that a step makes.
static double largest_turn(const sn_solver *s, const double *step) {
    const sn_damped *m = sn_damped_of(s);
    double most = 0;
    for (int i = 0; i < s->n; i++) {
        double turn = m->length[i] ? 0 : fabs(m->gain[i] * step[i]);
        if (turn > most) most = turn;
    }
    return most;
}

// The damping with which a step of this one's direction would be `ratio` times shorter.
static double more_damping(sn_solver *s, double lambda, double ratio) {
    const sn_damped *m = sn_damped_of(s);
    double *y = m->direction, square = 0, slope = 0;
    for (int i = 0; i < s->n; i++) {
        y[i] = s->keep[i] ? m->metric[i] * s->step[i] : 0;
        square += y[i] * s->step[i];
    }
    memcpy(m->plain, y, (size_t)s->n * sizeof *y);
    sn_system_solve(s, y);
    slope = sn_solver_dot(m->plain, y, s->n);
    double more = slope > 0 ? (ratio - 1) * square / slope : 0;
    return lambda + fmax(more, 1e-3 * lambda + 1e-12);
}

// The step of the model in s->step, damped until it turns no joint further than the reach; how much
// it was shortened in the end.
static double damped_step(sn_solver *s, sn_damped_step *to) {
    double size = 0;
    for (int tries = 0; tries < 8; tries++) {
        if (!factor(s, to)) return 0;
        for (int i = 0; i < s->n; i++) s->step[i] = s->keep[i] ? -s->ws->g[i] : 0;
        sn_system_solve(s, s->step);
        size = largest_turn(s, s->step);
        if (size <= 1.2 * to->reach) return 1;
        to->lambda = more_damping(s, to->lambda, size / to->reach);
    }
    // where no damping is enough, as with a D^2 that was found where nothing moves: shorter
    for (int i = 0; i < s->n; i++) s->step[i] *= to->reach / size;
    return to->reach / size;
}

void sn_damped_find(sn_solver *s, sn_damped_step *to) {
    const sn_damped *m = sn_damped_of(s);
    double *step = s->step, t = damped_step(s, to);
    to->promise = 0;
    if (t == 0) return;
    // the plain projection first; a step that stays inside needs no product with H, since
    // (H + lambda D^2) u = -t g gives u.Hu
    bool inside = true;
    double slope = 0, damped = 0;
    for (int i = 0; i < s->n; i++) {
        m->plain[i] = clamp_move(s, i, step[i]);
        inside = inside && m->plain[i] == step[i];
        slope += s->ws->g[i] * step[i];
        damped += m->diagonal[i] * step[i] * step[i];
    }
    to->promise = 0.5 * damped - (1 - 0.5 * t) * slope;
    to->crossed = !inside;
    if (inside) return;
    double plain = promised(s, m->plain);
    if (refine_step(s, step, to->lambda)) {
        to->promise = promised(s, step);
        if (to->promise > plain) return;
    }
    // shorter, while the projection spoils the model; a short enough one does not
    memcpy(step, m->plain, (size_t)s->n * sizeof *step);
    to->promise = plain;
    for (int tries = 0; tries < 12 && !(to->promise > 0); tries++) {
        for (int i = 0; i < s->n; i++) step[i] *= 0.5;
        to->promise = promised(s, step);
    }
}
