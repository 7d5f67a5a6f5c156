// SPDX-License-Identifier: MIT
// Selectively damped least squares (Buss and Kim 2005; 001 (docs/bibliography.md) and 002 compare with it): the
// pseudo-inverse's step taken apart by singular vectors, each damped as much as it deserves.
//
//   J = sum sigma_i u_i v_i^T        e = -r, the errors of the end effectors l, three rows each
//   alpha_i  = u_i . e
//   N_i      = sum over l of |u_i's rows of l|                how far the effectors should go,
//   M_i      = sum over l, j of |v_ij| |J_lj| / sigma_i       and how far their joints take them
//   gamma_i  = min(1, N_i / M_i) gamma                        by turning as far as that
//   phi_i    = (alpha_i / sigma_i) v_i, shortened until no entry is above gamma_i
//   u        = sum of phi_i, shortened until no entry is above gamma
//
// With M_i large against N_i the joints work against each other: much turning for little motion, as
// near a singular pose. Such a direction is held back however small its sigma is, and the others
// are not. gamma is an eighth of a turn (metres for sliders).
//
// The errors are clamped first: a goal beyond reach of one step only says where to go. An effector
// may ask for what the single degree of freedom that moves it most can do in gamma, which is a
// length of the figure itself and needs no setting. But where goals contradict each other, clamped
// errors pull towards another pose than f's minimum: after every step that does not make f fall,
// twice as much is allowed. Errors and Jacobian carry the square roots of
// the weights; both ratios above are free of a common factor. A row of a rest or limit task counts
// as an effector of its own. The step is moved into the limits, in the walk that pinv describes.
#include "solvers/solver.h"

#ifdef SINEW_LAPACK
#include <lapacke.h>

#include "sweeps/residuals.h"

static const double gamma_max = 0.78539816339744831;

// Relative to the largest: below it a singular value is rounding.
static const double least_share = 1e-10;

typedef struct sizes {
    lapack_int m, n, k;  // rows, columns, singular values
    lapack_int work;
    int triples;
} sizes;

typedef struct progress {
    double f;      // at the last step
    double allow;  // times what an effector may ask for
} progress;

typedef struct state {
    sizes size;
    progress now;
    double *best;            // nq: of the walk
    double *J, *e;           // m x n, by columns; m
    double *sigma, *U, *Vt;  // k, m x k, k x n: J = U sigma Vt
    double *reach;           // n: how fast each degree of freedom moves the effectors
    double *work;            // LAPACK's
    lapack_int *iwork;       // likewise
} state;

static lapack_int at_least_one(lapack_int x) { return x > 1 ? x : 1; }

static sizes sizes_of(const sn_solver *s) {
    sizes z = {.m = sn_residual_count(s->problem), .n = s->n};
    z.k = z.m < z.n ? z.m : z.n;
    z.triples = sn_residual_triples(s->problem);
    double work = 0, none = 0;
    lapack_int integer = 0;
    (void)LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, 'S', z.m, z.n, &none, at_least_one(z.m), &none,
                              &none, at_least_one(z.m), &none, at_least_one(z.k), &work, -1,
                              &integer);
    z.work = (lapack_int)work;
    return z;
}

static void layout(sn_solver *s, sn_layout *layout_) {
    sizes z = sizes_of(s);
    size_t m = (size_t)z.m, n = (size_t)z.n, k = (size_t)z.k;
    state a = {.size = z};
    a.best = sn_layout_take(layout_, (size_t)s->model->nq, sizeof *a.best);
    a.J = sn_layout_take(layout_, m * n, sizeof *a.J);
    a.e = sn_layout_take(layout_, m, sizeof *a.e);
    a.sigma = sn_layout_take(layout_, k, sizeof *a.sigma);
    a.U = sn_layout_take(layout_, m * k, sizeof *a.U);
    a.Vt = sn_layout_take(layout_, k * n, sizeof *a.Vt);
    a.reach = sn_layout_take(layout_, n, sizeof *a.reach);
    a.work = sn_layout_take(layout_, (size_t)z.work, sizeof *a.work);
    a.iwork = sn_layout_take(layout_, 8 * k, sizeof *a.iwork);
    s->state = sn_layout_keep(layout_, &a, sizeof a);
}

static state *state_of(const sn_solver *s) { return s->state; }

// Rows of the effector that starts at `row`.
static int effector_rows(const sizes *z, int row) { return row < z->triples ? 3 : 1; }

static double length(const double *x, int n) { return sqrt(sn_solver_dot(x, x, n)); }

// r becomes e: turned round, and clamped effector by effector. Puts sum over l of |J_lj| into
// reach.
static void clamp_errors(const sizes *z, const double *J, double allow, double *r, double *reach) {
    for (int j = 0; j < z->n; j++) reach[j] = 0;
    for (int row = 0, count; row < z->m; row += count) {
        count = effector_rows(z, row);
        double most = 0;
        for (int j = 0; j < z->n; j++) {
            double speed = length(J + (size_t)z->m * (size_t)j + row, count);
            reach[j] += speed;
            most = fmax(most, speed);
        }
        double size = length(r + row, count), allowed = allow * gamma_max * most;
        for (int i = row; i < row + count; i++) r[i] *= size > allowed ? -allowed / size : -1;
    }
}

// x <- x scaled so that no entry is above `top`.
static void clamp_entries(double *x, int n, double top) {
    double most = 0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    for (int i = 0; i < n && most > top; i++) x[i] *= top / most;
}

static bool find_step(sn_solver *s) {
    state *a = state_of(s);
    const sizes *z = &a->size;
    double *J = a->J, *e = a->e, *sigma = a->sigma, *U = a->U, *Vt = a->Vt;
    double *reach = a->reach, *phi = s->delta;
    progress *now = &a->now;
    if (!(s->f < now->f)) now->allow *= 2;
    now->f = s->f;
    sn_residuals(s->ws, e, J);
    clamp_errors(z, J, now->allow, e, reach);
    s->report.factorizations++;
    if (LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, 'S', z->m, z->n, J, z->m, sigma, U, z->m, Vt, z->k,
                            a->work, z->work, a->iwork) != 0)
        return false;
    for (int j = 0; j < s->n; j++) s->step[j] = 0;
    for (int i = 0; i < z->k && sigma[i] > least_share * sigma[0]; i++) {
        const double *u = U + (size_t)z->m * (size_t)i, *v = Vt + i;  // v with stride k
        double alpha = sn_solver_dot(u, e, z->m), N = 0, M = 0;
        for (int row = 0; row < z->m; row += effector_rows(z, row))
            N += length(u + row, effector_rows(z, row));
        for (int j = 0; j < s->n; j++) {
            double vj = v[(size_t)z->k * (size_t)j];
            M += fabs(vj) * reach[j] / sigma[i];
            phi[j] = alpha / sigma[i] * vj;
        }
        clamp_entries(phi, s->n, fmin(1, N / M) * gamma_max);
        for (int j = 0; j < s->n; j++) s->step[j] += phi[j];
    }
    clamp_entries(s->step, s->n, gamma_max);
    return true;
}

static void run(sn_solver *s) {
    state_of(s)->now = (progress){.f = INFINITY, .allow = 1};
    sn_solver_walk(s, state_of(s)->best, find_step);
}

const sn_method_ops sn_method_sdls = {layout, false, run};
#endif
