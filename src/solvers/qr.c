// SPDX-License-Identifier: MIT
// Least squares by orthogonal factorisation (003's (docs/bibliography.md) and 004's second way to solve J u = -r, cheaper
// than the singular values): J P = Q R with the largest remaining column first, R cut where its
// diagonal falls below `least_share` of the first entry, and the cut rows turned once more from the
// right, J P = Q [T 0; 0 0] Z, so that of all solutions the shortest comes out. The step is taken
// whole and then moved into the limits, in the walk that pinv describes.
#include "solvers/solver.h"

#ifdef SINEW_LAPACK
#include <lapacke.h>
#include <string.h>

#include "sweeps/residuals.h"

// R's diagonal tells less about the rank than singular values do, so it is cut where pinv cuts.
static const double least_share = 1e-2;

typedef struct sizes {
    lapack_int m, n, rows;  // of J, and of the right-hand side, which also receives the step
    lapack_int work;
} sizes;

typedef struct state {
    sizes size;
    double *best;       // nq: of the walk
    double *J, *b;      // m x n, by columns; rows
    lapack_int *pivot;  // n: which column went where
    double *work;       // LAPACK's
} state;

static sizes sizes_of(const sn_solver *s) {
    sizes z = {.m = sn_residual_count(s->problem), .n = s->n};
    z.rows = z.m > z.n ? z.m : z.n;
    if (z.rows < 1) z.rows = 1;
    double work = 0, none = 0;
    lapack_int rank = 0, pivot = 0;
    (void)LAPACKE_dgelsy_work(LAPACK_COL_MAJOR, z.m, z.n, 1, &none, z.m > 0 ? z.m : 1, &none,
                              z.rows, &pivot, least_share, &rank, &work, -1);
    z.work = (lapack_int)work;
    return z;
}

static void layout(sn_solver *s, sn_layout *layout_) {
    sizes z = sizes_of(s);
    state a = {.size = z};
    a.best = sn_layout_take(layout_, (size_t)s->model->nq, sizeof *a.best);
    a.J = sn_layout_take(layout_, (size_t)z.m * (size_t)z.n, sizeof *a.J);
    a.b = sn_layout_take(layout_, (size_t)z.rows, sizeof *a.b);
    a.pivot = sn_layout_take(layout_, (size_t)z.n, sizeof *a.pivot);
    a.work = sn_layout_take(layout_, (size_t)z.work, sizeof *a.work);
    s->state = sn_layout_keep(layout_, &a, sizeof a);
}

static state *state_of(const sn_solver *s) { return s->state; }

static bool find_step(sn_solver *s) {
    const state *a = state_of(s);
    const sizes *z = &a->size;
    double *J = a->J, *b = a->b;
    lapack_int *pivot = a->pivot, rank = 0;
    sn_residuals(s->ws, b, J);
    memset(pivot, 0, (size_t)z->n * sizeof *pivot);  // every column may be moved
    s->report.factorizations++;
    if (LAPACKE_dgelsy_work(LAPACK_COL_MAJOR, z->m, z->n, 1, J, z->m, b, z->rows, pivot,
                            least_share, &rank, a->work, z->work) != 0)
        return false;
    for (int i = 0; i < s->n; i++) s->step[i] = -b[i];
    return true;
}

static void run(sn_solver *s) { sn_solver_walk(s, state_of(s)->best, find_step); }

const sn_method_ops sn_method_qr = {layout, false, run};
#endif
