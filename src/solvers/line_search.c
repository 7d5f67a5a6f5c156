// SPDX-License-Identifier: MIT
// Searches along the projected path q(t) = P(q + t u), P moving every coordinate into its limits.
//
// Armijo (002 (docs/bibliography.md), equations 30 to 40): t = 1 first, then t <- beta t until
//
//   f(q(t)) < f(q) + alpha g . (q(t) - q)                                  (39)
//
// which for a path that meets no limit is the usual test (35).
//
// Wolfe: besides (39) with alpha = 1e-4 the slope |f'(t)| <= sigma |f'(0)|, so that y . s > 0 and a
// quasi-Newton matrix stays positive definite. The path has kinks where it meets limits; past one
// there need not be such a t, and (39) alone has to do. `left` always satisfies (39) and slopes
// down, `right` does not or slopes up, so what is sought lies between; it is guessed by the cubic
// through both values and slopes.
//
// Close to a minimum f changes by less than its last digits while the slope still has some. There
// (39) is replaced by what it means for a parabola, f'(t) <= (2 alpha - 1) f'(0) (Hager and Zhang's
// approximate condition).
//
// Free variables (Bertsekas' two-metric projection): a quasi-Newton direction may be projected when
// those at a limit that the gradient pushes against are left out: whatever else the projection
// holds back had g_i u_i >= 0 and its loss steepens the descent. Those about to get there take a
// diagonal step of their own, so that the others are not cut short by them.
#include "solvers/line_search.h"

#include <string.h>

static const double alpha_wolfe = 1e-4;

// Coordinates nearer than this (metres or radians) to a limit that the gradient pushes against, and
// that their own diagonal step would reach, are not free.
static const double nearby = 0.01;

bool sn_line_search_armijo(sn_solver *s, const double *u, double alpha, double beta,
                           sn_found *found) {
    const double *g = s->ws->g;
    double t = 1;
    while (t > 1e-20) {
        found->t = t;
        found->length = sn_solver_move(s, t, u);
        double fall = sn_solver_dot(g, s->moved, s->n);
        if (found->length == 0 || !(fall < 0)) return false;
        // evaluating f alone leaves the gradient of s->q in the workspace
        if (sn_solver_eval(s, s->trial, 0, &found->f) && found->f < s->f + alpha * fall)
            return true;
        if (-fall < 1e-17 * s->f) return false;
        t *= beta;
    }
    return false;
}

// A point of the path.
typedef struct probe {
    double t, f, slope, length;
    double fall;  // g . moved, what f would change by if it were linear
    bool cut;     // a limit was met on the way
    bool finite;
} probe;

static probe probe_at(sn_solver *s, const double *u, const double *g, double t) {
    probe p = {.t = t, .length = sn_solver_move(s, t, u)};
    p.finite = sn_solver_eval(s, s->trial, SN_EVAL_GRADIENT, &p.f);
    for (int i = 0; i < s->n; i++) {
        p.fall += g[i] * s->moved[i];
        if (!s->keep[i]) continue;
        if (s->moved[i] == t * u[i]) {
            p.slope += s->ws->g[i] * u[i];
        } else {
            p.cut = true;
        }
    }
    return p;
}

// Where a point lies on the path: LEFT of what is sought, RIGHT of it, or there.
typedef enum side { LEFT, RIGHT, THERE, HOPELESS } side;

// f there and at the start differ by no more than rounding.
static bool is_blind(const sn_solver *s, const probe *p) {
    return fabs(p->f - s->f) <= 1e-14 * s->f;
}

// `left` is the best known point of the left; its f is s->f at first.
static side side_of(const sn_solver *s, const probe *p, const probe *left, double slope,
                    double sigma, double most) {
    if (!p->finite || !(p->fall < 0)) return RIGHT;
    bool flat = p->cut || fabs(p->slope) <= -sigma * slope;
    if (is_blind(s, p)) {
        if (p->slope > (2 * alpha_wolfe - 1) * slope) return RIGHT;
        if (p->f > most) return HOPELESS;
        return flat ? THERE : p->slope < 0 ? LEFT : RIGHT;
    }
    if (!(p->f < s->f && p->f <= s->f + alpha_wolfe * p->fall) || p->f > left->f) return RIGHT;
    return flat ? THERE : p->slope < 0 ? LEFT : RIGHT;
}

// Where the cubic through both ends has its minimum, or the secant of the slopes its zero when the
// values have no digits left to tell; well inside them.
static double between(const probe *left, const probe *right) {
    double d = right->t - left->t, at = 0.5;
    if (right->finite) {
        double fall = right->f - left->f, e = left->slope + right->slope - 3 * fall / d;
        double square = e * e - left->slope * right->slope;
        double root = square > 0 ? sqrt(square) : 0;
        double guess = (root - left->slope + e) / (right->slope - left->slope + 2 * root);
        if (right->slope > 0 && fabs(fall) <= 1e-12 * left->f)
            guess = left->slope / (left->slope - right->slope);
        if (isfinite(guess)) at = fmin(fmax(guess, 0.05), 0.95);
    }
    return left->t + at * d;
}

// Beyond `p`, the first point so far: where the slopes' secant has its zero, within reason.
static double beyond(const probe *left, const probe *p) {
    double secant = p->t + (p->t - left->t) * p->slope / (left->slope - p->slope);
    return isfinite(secant) ? fmin(fmax(secant, 1.5 * p->t), 8 * p->t) : 8 * p->t;
}

bool sn_line_search_wolfe(sn_solver *s, const double *u, const double *g, double sigma,
                          double first, double most, sn_found *found) {
    double slope = 0, t = first;
    for (int i = 0; i < s->n; i++)
        if (s->keep[i]) slope += g[i] * u[i];
    probe left = {.f = s->f, .slope = slope, .finite = true}, right = {0}, p = {0};
    bool bracketed = false;
    side at = RIGHT;
    for (int tries = 0; tries < 30; tries++) {
        p = probe_at(s, u, g, t);
        at = side_of(s, &p, &left, slope, sigma, most);
        if (at == THERE || at == HOPELESS || p.length == 0) break;
        if (at == LEFT) {
            t = beyond(&left, &p);
            left = p;
        } else {
            right = p;
            bracketed = true;
        }
        if (bracketed && right.t - left.t <= 1e-14 * right.t) break;
        if (bracketed) t = between(&left, &right);
    }
    // no such slope was found, but f fell on the left
    if (at != THERE && left.f < s->f) {
        p = probe_at(s, u, g, left.t);
        at = THERE;
    }
    *found = (sn_found){p.t, p.f, p.length};
    return at == THERE;
}

sn_descent_arrays sn_descent_layout(const sn_solver *s, sn_layout *layout) {
    size_t n = (size_t)s->n;
    sn_descent_arrays a;
    a.g = sn_layout_take(layout, n, sizeof *a.g);
    a.y = sn_layout_take(layout, n, sizeof *a.y);
    a.inverse = sn_layout_take(layout, n, sizeof *a.inverse);
    a.open = sn_layout_take(layout, n, sizeof *a.open);
    a.was_open = sn_layout_take(layout, n, sizeof *a.was_open);
    return a;
}

// D^-2. What the tasks hardly see at the start may be seen soon: it gets a share of the largest, or
// its first step would be immense.
static void find_inverse(const sn_solver *s, double *inverse) {
    double top = 0;
    for (int i = 0; i < s->n; i++) top = fmax(top, s->scale[i]);
    for (int i = 0; i < s->n; i++) inverse[i] = 1 / fmax(s->scale[i], 1e-2 * top);
}

// Which variables are free; true when others than before.
static bool find_open(sn_solver *s, const sn_descent_arrays *a) {
    const double *g = s->ws->g;
    bool changed = false;
    memcpy(a->was_open, a->open, (size_t)s->n * sizeof *a->open);
    for (int i = 0; i < s->n; i++) {
        bool open = s->keep[i];
        if (open && s->q_of[i] >= 0) {
            double gain = s->model->gain[s->model->v_of[i]], x = s->q[s->q_of[i]];
            double reach = fmin(fabs(gain * g[i]) * a->inverse[i], nearby);
            open = g[i] > 0 ? x - reach > s->lower[i] : x + reach < s->upper[i];
        }
        a->open[i] = open;
        changed = changed || open != a->was_open[i];
    }
    return changed;
}

// Let the method point, add the diagonal steps of those that are not free, and return the slope.
static double point(sn_solver *s, const sn_descent *method, const sn_descent_arrays *a,
                    bool changed) {
    const double *g = s->ws->g;
    double slope = 0;
    method->direct(s, changed);
    for (int i = 0; i < s->n; i++) {
        if (!a->open[i]) s->step[i] = s->keep[i] ? -a->inverse[i] * g[i] : 0;
        slope += g[i] * s->step[i];
    }
    return slope;
}

static void learn(sn_solver *s, const sn_descent *method, const sn_descent_arrays *a) {
    for (int i = 0; i < s->n; i++) {
        a->y[i] = a->open[i] ? s->ws->g[i] - a->g[i] : 0;
        if (!a->open[i]) s->moved[i] = 0;
    }
    method->learn(s);
}

void sn_descent_run(sn_solver *s, const sn_descent *method, const sn_descent_arrays *a) {
    double most = s->f, last = 0;  // last: t times the slope of the last step
    bool fresh = true, entry = true;
    find_inverse(s, a->inverse);
    memset(a->open, 0, (size_t)s->n * sizeof *a->open);
    method->reset(s);
    while (!sn_solver_finished(s)) {
        bool changed = find_open(s, a);
        double slope = point(s, method, a, changed), t = 1;
        if (!(slope < 0) && !fresh) {
            fresh = true;
            method->reset(s);
            slope = point(s, method, a, true);
        }
        if (entry) {
            // the workspace still holds the Gauss-Newton matrix of s->q
            sn_workspace_fields_multiply(s->ws, s->step, s->delta);
            double curvature = sn_solver_dot(s->step, s->delta, s->n);
            if (curvature > 0) t = -slope / curvature;
        } else if (!method->unit_step && last < 0) {
            t = last / slope;
        }
        memcpy(a->g, s->ws->g, (size_t)s->n * sizeof *a->g);
        sn_found found;
        sn_trace trace = {.ratio = NAN};
        trace.taken =
            slope < 0 && sn_line_search_wolfe(s, s->step, a->g, method->sigma, t, most, &found);
        if (trace.taken) {
            trace.step = found.length;
            trace.damping = found.t;
            sn_solver_take(s, found.f);
            learn(s, method, a);
            last = found.t * slope;
        }
        sn_solver_iterated(s, &trace);
        if (!trace.taken && fresh) {
            sn_solver_stalled(s);
            return;
        }
        if (!trace.taken) {
            memcpy(s->ws->g, a->g, (size_t)s->n * sizeof *a->g);
            method->reset(s);
            last = 0;
        }
        fresh = !trace.taken;
        entry = false;
    }
}
