// SPDX-License-Identifier: MIT
// Least squares by orthogonal factorisation (003's and 004's second way to solve J u = -r, cheaper
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
    sn_solver_walk_layout(s, layout_);
    s->own[1] = sn_layout_take(layout_, (size_t)z.m * (size_t)z.n, sizeof(double));
    s->own[2] = sn_layout_take(layout_, (size_t)z.rows, sizeof(double));
    s->own[3] = sn_layout_take(layout_, (size_t)z.n, sizeof(lapack_int));
    s->own[4] = sn_layout_take(layout_, (size_t)z.work, sizeof(double));
    s->own[5] = sn_layout_take(layout_, 1, sizeof z);
    if (s->own[5] != NULL) *(sizes *)s->own[5] = z;
}

static bool find_step(sn_solver *s) {
    const sizes *z = s->own[5];
    double *J = s->own[1], *b = s->own[2];
    lapack_int *pivot = s->own[3], rank = 0;
    sn_residuals(s->ws, b, J);
    memset(pivot, 0, (size_t)z->n * sizeof *pivot);  // every column may be moved
    s->report.factorizations++;
    if (LAPACKE_dgelsy_work(LAPACK_COL_MAJOR, z->m, z->n, 1, J, z->m, b, z->rows, pivot,
                            least_share, &rank, s->own[4], z->work) != 0)
        return false;
    for (int i = 0; i < s->n; i++) s->step[i] = -b[i];
    return true;
}

static void run(sn_solver *s) { sn_solver_walk(s, find_step); }

const sn_method_ops sn_method_qr = {layout, false, run};
#endif
