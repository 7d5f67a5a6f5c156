// SPDX-License-Identifier: MIT
// One level at a pose. The loops are a level, too: f = 1/2 |c|^2, whose Hessian at a closed pose is A^T A.
//
// Vectors here are by entries: velocities behind the gains, divided by what an entry of 1 stands for, a
// radian or the figure's size, so that one number can measure a step and one a pivot.
#include <string.h>

#include "solvers/levels.h"

static double half_square(const double *x, int n) { return 0.5 * sn_solver_dot(x, x, n); }

bool sn_levels_look(sn_solver *s, int k, const double *q, bool exact, double *f, double *g,
                    double *W) {
    sn_levels *a = s->levels;
    const sn_model *m = s->model;
    const int rows = SN_TIE_ROWS * m->nloop;
    const bool loops = a->at[k].name < 0;
    sn_level_view_show(&a->view, s->problem, a->at[k].name);
    if (rows > 0) memset(s->ws->ties->mu, 0, (size_t)rows * sizeof(double));
    if (loops) {
        // the forces c make A^T c the gradient, and c'' c the curvature that A^T A has not
        if (sn_workspace_pose(s->ws, q) != SN_OK) return false;
        for (int i = 0; i < m->nloop; i++)
            (void)sn_loop_values(s->ws, i, s->ws->ties->mu + SN_TIE_ROWS * i);
    }
    unsigned what = W == NULL ? SN_EVAL_GRADIENT : exact ? SN_EVAL_HESSIAN : SN_EVAL_GAUSS_NEWTON;
    if (!sn_solver_eval(s, q, g == NULL && W == NULL ? 0 : what, f)) return false;
    if (loops) *f = half_square(s->ws->ties->mu, rows);
    for (int i = 0; i < s->n && g != NULL; i++) g[i] = a->unit[i] * s->ws->g[i];
    if (W == NULL) return true;
    sn_workspace_dense(s->ws, loops, W);
    for (int c = 0; c < s->n; c++, W += s->n)
        for (int i = 0; i < s->n; i++) W[i] *= a->unit[i] * a->unit[c];
    return true;
}

// out = q moved by the entries x times t, past limits too.
static void shift(sn_solver *s, const double *q, double t, const double *x, double *out) {
    const sn_model *m = s->model;
    for (int i = 0; i < s->n; i++) {
        int v = m->v_of[i];
        s->delta[v] = m->gain[v] * s->levels->unit[i] * (t * x[i]);
    }
    sn_model_integrate(m, q, s->delta, out);
}

void sn_levels_move(sn_solver *s, const double *q, double t, const double *x, double *out) {
    const sn_levels *a = s->levels;
    const sn_model *m = s->model;
    bool clamped = false;
    shift(s, q, t, x, out);
    for (int i = 0; i < m->nquaternion && m->ncone > 0; i++) {
        const sn_joint *j = &m->joint[m->quaternion[i]];
        if (j->cone) (void)sn_cone_put(j, 0, out + j->q0);
    }
    for (int i = 0; i < s->n; i++) {
        int at = s->q_of[i];
        if (at < 0 || m->gain[m->v_of[i]] == 0 || a->unit[i] == 0) continue;
        // what a step put at a limit is there but for rounding
        const double to = out[at];
        if (to < s->lower[i] + 1e-13) out[at] = s->lower[i];
        if (to > s->upper[i] - 1e-13) out[at] = s->upper[i];
        clamped = clamped || out[at] != to;
    }
    if (clamped && m->ncoupling > 0) sn_model_follow(m, out);
}

// H and g are those of a pose that x led to, H becomes that of f as a function of x. Turns of a ball do not add up: where x has
// led to, another dx turns by J dx + 1/12 dx x (x x dx), J = 1 + 1/2 [x] + 1/6 [x]^2, as far as short turns need it.
static void as_from_before(const sn_solver *s, const double *x, const double *g, double *H) {
    const sn_model *m = s->model;
    const int n = s->n;
    for (int i = 0; i < m->nquaternion; i++) {
        const sn_joint *joint = &m->joint[m->quaternion[i]];
        const int at = joint->slot + joint->ops->quaternion;
        const sn_vec3 w = {x[at], x[at + 1], x[at + 2]};
        const double gw = g[at] * w.x + g[at + 1] * w.y + g[at + 2] * w.z;
        const double turn[3][3] = {{0, -w.z, w.y}, {w.z, 0, -w.x}, {-w.y, w.x, 0}};
        double J[3][3];
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) {
                J[r][c] = (r == c) + 0.5 * turn[r][c];
                for (int k = 0; k < 3; k++) J[r][c] += turn[r][k] * turn[k][c] / 6;
            }
        for (int r = 0; r < n; r++) {
            double *to = H + r + n * at, old[3] = {to[0], to[n], to[2 * n]};
            for (int c = 0; c < 3; c++)
                to[n * c] = old[0] * J[0][c] + old[1] * J[1][c] + old[2] * J[2][c];
        }
        for (int c = 0; c < n; c++) {
            double *to = H + at + n * c, old[3] = {to[0], to[1], to[2]};
            for (int r = 0; r < 3; r++)
                to[r] = old[0] * J[0][r] + old[1] * J[1][r] + old[2] * J[2][r];
        }
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++)
                H[at + r + n * (at + c)] +=
                    ((r == c) * gw - 0.5 * (x[at + r] * g[at + c] + g[at + r] * x[at + c])) / 6;
    }
}

// W += share times the exact Hessian of level j at q moved by t mu + u nu.
static bool add_hessian(sn_solver *s, int j, const double *q, double t, const double *mu, double u,
                        const double *nu, double share, double *W) {
    sn_levels *a = s->levels;
    double f;
    for (int i = 0; i < s->n; i++) a->beside[i] = t * mu[i] + (nu != NULL ? u * nu[i] : 0);
    // a limit near by has no part in how f bends
    shift(s, q, 1, a->beside, a->shifted);
    if (!sn_levels_look(s, j, a->shifted, true, &f, a->slope, a->factor)) return false;
    as_from_before(s, a->beside, a->slope, a->factor);
    for (int i = 0; i < s->n * s->n; i++) W[i] += share * a->factor[i];
    return true;
}

static const double large_multipliers = 300;

// nu, by which level i answers level j, is another one at every pose: where level j moves by z, it becomes
// nu - V D^-1 V^T W_j z with what level i sees. Along mu this turns what level j asks of its pose by B = d W_i / d q [mu].
static bool add_turn(sn_solver *s, int j, int i, const double *q, const double *mu, double *W) {
    sn_levels *a = s->levels;
    const int n = s->n;
    const double h = 1e-3 / sn_levels_largest(mu, n);
    for (int c = 0; c < n * n; c++) a->turn[c] = 0;
    for (int far = 1; far <= 2; far++) {
        const double share = (far == 1 ? 4.0 / 3 : -1.0 / 6) / (2 * h);
        if (!add_hessian(s, i, q, far * h, mu, 0, NULL, share, a->turn)) return false;
        if (!add_hessian(s, i, q, -far * h, mu, 0, NULL, -share, a->turn)) return false;
    }
    for (int c = 0; c < n; c++) {
        double *x = a->beside, *Bx = a->factor, *y = a->slope;
        for (int r = 0; r < n; r++) x[r] = 0;
        sn_nested_solve(&a->nested, i, sn_levels_W(a, j) + n * c, y);
        sn_nested_spread(&a->nested, i, -1, y, x);
        for (int r = 0; r < n; r++) Bx[r] = sn_solver_dot(a->turn + n * r, x, n);
        for (int r = 0; r < n; r++) {
            W[r + n * c] += Bx[r];
            W[c + n * r] += Bx[r];
        }
    }
    return true;
}

bool sn_levels_add_bend(sn_solver *s, int k, const double *q, double *W) {
    sn_levels *a = s->levels;
    for (int j = 0; j < k; j++) {
        const double *mu = sn_levels_mu(a, k, j);
        const double size = sn_levels_largest(mu, s->n);
        if (!(size > 1e-12)) continue;
        // near a singular pose the multipliers are large, and so is what two poses would leave of the fifth derivative
        // ... and a level that others lie below must know what it sees from what it does not
        const bool far = size > large_multipliers || a->at[k].exact;
        const double h = (far ? 1e-3 : 3e-4) / size, share = (far ? 4.0 / 3 : 1) / (2 * h);
        if (!add_hessian(s, j, q, h, mu, 0, NULL, share, W)) return false;
        if (!add_hessian(s, j, q, -h, mu, 0, NULL, -share, W)) return false;
        if (far && !add_hessian(s, j, q, 2 * h, mu, 0, NULL, -share / 8, W)) return false;
        if (far && !add_hessian(s, j, q, -2 * h, mu, 0, NULL, share / 8, W)) return false;
        // a level above that is itself answered by others: how their bend changes along mu
        for (int i = 0; i < j && a->at[j].exact; i++) {
            const double *nu = sn_levels_mu(a, j, i);
            const double other = sn_levels_largest(nu, s->n), t = 2e-3 / size, u = 2e-3 / other;
            if (!(other > 1e-12)) continue;
            // the same twice as far away takes the next derivative out
            for (int c = 0; c < 8; c++) {
                const double x = c & 1 ? 1 : -1, y = c & 2 ? 1 : -1, far_off = c & 4 ? 2 : 1;
                const double part = c & 4 ? -1.0 / 12 : 4.0 / 3;
                if (!add_hessian(s, i, q, far_off * x * t, mu, far_off * y * u, nu,
                                 part * x * y / (4 * t * u), W))
                    return false;
            }
            if (!add_turn(s, j, i, q, mu, W)) return false;
        }
    }
    return true;
}

// What rounding may leave of f where a coupled task's matrix sees nothing of errors that are there: f is a difference of
// terms of this size.
static double coupled_digits(const sn_solver *s, int level) {
    const sn_problem *p = s->problem;
    double sum = 0;
    for (int i = 0; i < p->ntask; i++) {
        const sn_task *t = &p->task[i];
        if (t->type != SN_TASK_COUPLED || t->level != level) continue;
        double most = 0, trace = 0;
        int rows = 0;
        for (int k = 0; k < t->ntask; k++) {
            most = fmax(most, sn_task_length(s->ws, t->tasks[k]));
            rows += sn_task_residuals(&p->task[t->tasks[k]]);
        }
        for (int k = 0; k < rows; k++) trace += t->coupling[k * (rows + 1)];
        sum += 0.5 * t->weight * trace * most * most;
    }
    return 4e-16 * sum;
}

void sn_levels_find_goal(sn_solver *s, int k, double most) {
    sn_level *at = &s->levels->at[k];
    at->goal = s->options.goal;
    if (at->goal >= 0) return;
    const double whole = k == s->levels->first ? fmax(at->whole, s->whole) : at->whole;
    // residuals have the digits of the figure's size, divided by how near a gaze is to its goal: but there f is good for
    // errors of 1e-11 at least
    const double digits = fmax(fmin(1e-30 * most, 1e-22 * at->usual), coupled_digits(s, at->name));
    at->goal = fmax(SN_LEVELS_WHOLLY * fmin(whole, 10 * at->usual), digits);
}

// What a residual that is not yet 0 bends may look like a column of its own size.
static double least_pivot(const sn_level *at, double f) {
    return fmax(sn_levels_nothing * at->whole + 20 * f, at->noise);
}

double sn_levels_singular(const sn_solver *s, int k, const double *g) {
    const sn_levels *a = s->levels;
    const double whole = sn_levels_measure(&a->at[k]);
    double most = 0;
    if (!a->at[k].exact) return least_pivot(&a->at[k], a->at[k].f);
    for (int i = 0; i < s->n; i++)
        if (a->free[i]) most = fmax(most, fabs(g[i]));
    // the bend of the levels above has fewer digits
    const double least = a->at[k].curved ? 1e-10 : 1e-12;
    return fmax(fmin(least * whole + 100 * most, 1e-3 * whole), a->at[k].noise);
}

bool sn_levels_refactor(sn_solver *s, int last, const double *q, const double *x, bool first) {
    sn_levels *a = s->levels;
    double f;
    if (first) memcpy(a->open, a->free, (size_t)s->n * sizeof *a->open);
    for (int i = 0; i < s->n; i++) {
        int at = s->q_of[i];
        if (!a->open[i] || at < 0) continue;
        const double way = s->model->gain[s->model->v_of[i]] * a->unit[i] * x[i];
        if ((q[at] <= s->lower[i] && way < 0) || (q[at] >= s->upper[i] && way > 0))
            a->open[i] = false;
    }
    sn_nested_begin(&a->nested, a->open);
    for (int k = 0; k < last; k++) {
        if (!sn_levels_look(s, k, q, a->at[k].exact, &f, a->b, a->H)) return false;
        if (a->at[k].curved) sn_levels_answer(s, k, a->b);
        if (a->at[k].curved && !sn_levels_add_bend(s, k, q, a->H)) return false;
        // what it sees at the pose it sees here, however large its gradient is off its valley; and more where it is better met
        const double least = a->at[k].exact ? INFINITY : least_pivot(&a->at[k], f);
        (void)sn_nested_add(&a->nested, a->H, fmin(a->at[k].least, least), a->at[k].rank);
    }
    return true;
}

// x += W_j mu, W_j as it is at the pose q.
static bool add_answer(sn_solver *s, int j, const double *q, const double *mu, double *x) {
    sn_levels *a = s->levels;
    double f;
    if (!(sn_levels_largest(mu, s->n) > 1e-12)) return true;
    if (!sn_levels_look(s, j, q, a->at[j].exact, &f, NULL, a->H)) return false;
    if (a->at[j].curved && !sn_levels_add_bend(s, j, q, a->H)) return false;
    for (int c = 0; c < s->n; c++)
        for (int i = 0; i < s->n; i++) x[i] += mu[c] * a->H[i + s->n * c];
    return true;
}

bool sn_levels_correct(sn_solver *s, int last, const double *q, double *x, double *added) {
    sn_levels *a = s->levels;
    for (int i = 0; i < s->n; i++) x[i] = 0;
    for (int k = 0; k < last; k++) {
        if (!sn_levels_look(s, k, q, false, &a->at[k].trial, a->b, NULL)) return false;
        if (sn_nested_rank(&a->nested, k) == 0) continue;
        // a level that the ones above keep from its goal is at rest where they answer it
        for (int j = 0; j < k; j++)
            if (a->at[k].exact && !add_answer(s, j, q, sn_levels_mu(a, k, j), a->b)) return false;
        const double *seen = a->nested.seen + (size_t)s->n * (size_t)a->nested.first[k];
        const double *V = a->nested.basis + (size_t)s->n * (size_t)a->nested.first[k];
        // b + W_k x, of which only the share along V_k counts: V_k^T W_k x = seen^T x
        for (int c = 0; c < sn_nested_rank(&a->nested, k); c++) {
            double sum = sn_solver_dot(seen + s->n * c, x, s->n);
            for (int i = 0; i < s->n; i++) a->b[i] += sum * V[s->n * c + i];
        }
        sn_nested_solve(&a->nested, k, a->b, a->y);
        sn_nested_spread(&a->nested, k, -1, a->y, x);
        for (int c = 0; c < sn_nested_rank(&a->nested, k); c++)
            a->at[k].trial -= 0.5 * a->y[c] * sn_solver_dot(V + s->n * c, a->b, s->n);
    }
    for (int i = 0; i < s->n; i++)
        if (!isfinite(x[i])) return false;
    // sum mu . g, were the directions that they see the same as at the pose: but here they may see others
    *added = sn_solver_dot(sn_levels_g(a, last), x, s->n);
    return true;
}
