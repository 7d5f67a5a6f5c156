// SPDX-License-Identifier: MIT
// The pseudo-inverse: what 002 (docs/bibliography.md) says of Blender's solver, and the row "SVD" of 003's table. The step
// is the shortest of those that solve J u = -r in the sense of least squares,
//
//   u = -J^+ r = -sum (u_i . r / sigma_i) v_i      over the singular values that count,
//
// taken whole and then moved into the limits. Singular values below `least_share` of the largest
// are cut: they belong to what no task sees, to locked degrees of freedom, and to directions lost
// in a singular pose, where 1/sigma would throw the figure across the room.
//
// Nothing makes f fall from step to step, so the method walks: it goes on from wherever the step
// led and remembers the best pose on the way. It gives up when the walk leads nowhere, or when
// `patience` steps in a row have brought nothing new. The walk is shared with qr and sdls.
#include "solvers/solver.h"

#ifdef SINEW_LAPACK
#include <lapacke.h>
#include <string.h>

#include "sweeps/residuals.h"

static const int patience = 50;

// Radians or metres: no degree of freedom goes further in one step. Beyond it the linear model says
// nothing; without the bound 32 instead of 36 of 40 humanoids 1 rad away arrive.
static const double longest = 1.0;

static void limit_step(sn_solver *s) {
    double top = 0;
    for (int i = 0; i < s->n; i++) top = fmax(top, fabs(s->step[i]));
    for (int i = 0; i < s->n && top > longest; i++) s->step[i] *= longest / top;
}

// While it walks, s->q and s->f are the walker's; the best pose is in `best`.
void sn_solver_walk(sn_solver *s, double *best, bool (*find_step)(sn_solver *s)) {
    double best_f = s->f;
    size_t bytes = (size_t)s->model->nq * sizeof *best;
    memcpy(best, s->q, bytes);
    for (int idle = 0; !sn_solver_finished(s);) {
        sn_trace trace = {.ratio = NAN};
        double f = NAN;
        bool found = find_step(s);
        if (found) {
            limit_step(s);
            trace.step = sn_solver_move_all(s, 1, s->step);
            found = trace.step > 0 && sn_solver_eval(s, s->trial, SN_EVAL_GAUSS_NEWTON, &f);
        }
        trace.taken = found && f < best_f;
        idle = trace.taken ? 0 : idle + 1;
        if (found) {
            sn_solver_take(s, f);
            sn_solver_find_scale(s, false);
        }
        if (trace.taken) {
            memcpy(best, s->q, bytes);
            best_f = f;
        }
        // those who watch see the best pose
        double walker_f = s->f;
        s->f = best_f;
        sn_solver_iterated(s, &trace);
        s->f = walker_f;
        if (!found || idle >= patience) {
            sn_solver_stalled(s);
            break;
        }
    }
    if (!(best_f < s->f)) return;
    // the reason to stop must be true of the pose that is returned
    memcpy(s->q, best, bytes);
    if (!sn_solver_eval(s, s->q, SN_EVAL_GAUSS_NEWTON, &s->f) || !sn_solver_finished(s))
        sn_solver_stalled(s);
}

// Of 40 humanoids 0.2 rad away from 41 noisy markers, a cut at 1e-2 brings all within the noise,
// one at 1e-3 30, at 1e-6 29. The price: a rest task 1e-4 as heavy as the others is not seen alone.
static const double least_share = 1e-2;

typedef struct sizes {
    lapack_int m, n, rows;  // of J, and of the right-hand side, which also receives the step
    lapack_int work, iwork;
} sizes;

typedef struct state {
    sizes size;
    double *best;       // nq: of the walk
    double *J, *b;      // m x n, by columns; rows
    double *sigma;      // n: singular values
    double *work;       // LAPACK's
    lapack_int *iwork;  // likewise
} state;

// What LAPACK wants for this problem.
static sizes sizes_of(const sn_solver *s) {
    sizes z = {.m = sn_residual_count(s->problem), .n = s->n};
    z.rows = z.m > z.n ? z.m : z.n;
    if (z.rows < 1) z.rows = 1;
    double work = 0, none = 0;
    lapack_int rank = 0;
    (void)LAPACKE_dgelsd_work(LAPACK_COL_MAJOR, z.m, z.n, 1, &none, z.m > 0 ? z.m : 1, &none,
                              z.rows, &none, least_share, &rank, &work, -1, &z.iwork);
    z.work = (lapack_int)work;
    return z;
}

static void layout(sn_solver *s, sn_layout *layout_) {
    sizes z = sizes_of(s);
    state a = {.size = z};
    a.best = sn_layout_take(layout_, (size_t)s->model->nq, sizeof *a.best);
    a.J = sn_layout_take(layout_, (size_t)z.m * (size_t)z.n, sizeof *a.J);
    a.b = sn_layout_take(layout_, (size_t)z.rows, sizeof *a.b);
    a.sigma = sn_layout_take(layout_, (size_t)z.n, sizeof *a.sigma);
    a.work = sn_layout_take(layout_, (size_t)z.work, sizeof *a.work);
    a.iwork = sn_layout_take(layout_, (size_t)z.iwork, sizeof *a.iwork);
    s->state = sn_layout_keep(layout_, &a, sizeof a);
}

static state *state_of(const sn_solver *s) { return s->state; }

static bool find_step(sn_solver *s) {
    const state *a = state_of(s);
    const sizes *z = &a->size;
    double *J = a->J, *b = a->b;
    lapack_int rank = 0;
    sn_residuals(s->ws, b, J);
    s->report.factorizations++;
    if (LAPACKE_dgelsd_work(LAPACK_COL_MAJOR, z->m, z->n, 1, J, z->m, b, z->rows, a->sigma,
                            least_share, &rank, a->work, z->work, a->iwork) != 0)
        return false;
    for (int i = 0; i < s->n; i++) s->step[i] = -b[i];
    return true;
}

static void run(sn_solver *s) { sn_solver_walk(s, state_of(s)->best, find_step); }

const sn_method_ops sn_method_pinv = {layout, false, run};
#endif
