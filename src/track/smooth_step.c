// SPDX-License-Identifier: MIT
// The Newton step of a whole take: (H + lambda D + T) x = -g on what is open, with H the blocks of
// the frames and T the coupling between them, by conjugate gradients without a matrix. A product
// places every frame anew: cheaper than reading back what it would take to store. All blocks are
// positive definite with their damping.
//
// The preconditioner has two parts that are added. The scalar one, here, leaves out what couples
// the degrees of freedom of a frame: for each alone the diagonal of H over the frames and the five
// bands of T, factored as L D L^T in time linear in the frames. A limb that is hidden for a while
// has a diagonal of 0 there, so this bridges the gap as the solution does. The other part is in
// smooth_slow.c.
#include <math.h>

#include "track/smooth.h"

enum {
    MOST_PRODUCTS = 300,  // in one solve
    MOST_ROUNDS = 4       // solves in one step, with ever more held at limits
};

// Factor, from the diagonal in z. With a, b, c the bands, L has 1 on its diagonal and l1, l2 below
// it:
//   d_k  = a_k - l1_{k-1}^2 d_{k-1} - l2_{k-2}^2 d_{k-2}
//   l1_k = (b_k - l2_{k-1} l1_{k-1} d_{k-1}) / d_k,   l2_k = c_k / d_k
// b and c are 0 where one of the two is not open. Single precision is enough for a preconditioner,
// as long as both sweeps of a solve use the same numbers.
static sn_status factor(sn_smoother *s, smooth_worker *w, int first, int end, double *sums) {
    (void)w, (void)sums;
    int n = s->nframe;
    size_t nv = (size_t)s->nv;
    for (int i = first; i < end; i++) {
        double d1 = 0, d2 = 0, l1 = 0, l2 = 0, l2_before = 0;
        double least = 1e-6 * s->seen[i] + 1e-12 * s->stiff[i];
        for (int k = 0; k < n; k++) {
            size_t at = smooth_at(s, k) + (size_t)i;
            bool one = k + 1 < n && s->open[at] && s->open[at + nv];
            bool two = k + 2 < n && s->open[at] && s->open[at + 2 * nv];
            double band[3];
            sn_smooth_bands(k, n, band);
            double a = fmax(s->z[at], 0) + s->lambda[k] * s->seen[i] + s->stiff[i] * band[0];
            double d = fmax(a - l1 * l1 * d1 - l2_before * l2_before * d2, least);
            double b = (one ? s->stiff[i] * band[1] : 0) - l2 * l1 * d1;
            s->pivot[at] = s->movable[i] ? (float)(1 / d) : 0;
            s->next[at] = one ? (float)(b * (double)s->pivot[at]) : 0;
            d2 = d1;
            l2_before = l2;
            d1 = d;
            l1 = (double)s->next[at];
            l2 = two ? s->stiff[i] * (double)s->pivot[at] : 0;
        }
    }
    return SN_OK;
}

// z = (L D L^T)^-1 r.
static sn_status solve_scalar(sn_smoother *s, smooth_worker *w, int first, int end, double *sums) {
    (void)w, (void)sums;
    int n = s->nframe, nv = s->nv;
    for (int k = 0; k < n; k++) {
        size_t at = smooth_at(s, k), b1 = at - (size_t)(k >= 1 ? nv : 0);
        size_t b2 = at - (size_t)(k >= 2 ? 2 * nv : 0);
        for (size_t i = (size_t)first; i < (size_t)end; i++) {
            double sum = s->r[at + i];
            if (k >= 1) sum -= (double)s->next[b1 + i] * s->z[b1 + i];
            bool two = k >= 2 && s->open[at + i] && s->open[b2 + i];
            if (two) sum -= s->stiff[i] * (double)s->pivot[b2 + i] * s->z[b2 + i];
            s->z[at + i] = sum;
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        size_t at = smooth_at(s, k), f1 = at + (size_t)(k + 1 < n ? nv : 0);
        size_t f2 = at + (size_t)(k + 2 < n ? 2 * nv : 0);
        for (size_t i = (size_t)first; i < (size_t)end; i++) {
            double pivot = (double)s->pivot[at + i], sum = s->z[at + i] * pivot;
            if (k + 1 < n) sum -= (double)s->next[at + i] * s->z[f1 + i];
            bool two = k + 2 < n && s->open[at + i] && s->open[f2 + i];
            if (two) sum -= s->stiff[i] * pivot * s->z[f2 + i];
            s->z[at + i] = s->open[at + i] ? sum : 0;
        }
    }
    return SN_OK;
}

// z = (H + lambda D + T) p, and p . z.
static sn_status multiply(sn_smoother *s, smooth_worker *w, int first, int end, double *sums) {
    for (int k = first; k < end; k++) {
        const double *p = s->p + smooth_at(s, k);
        const bool *open = s->open + smooth_at(s, k);
        double *z = s->z + smooth_at(s, k), f;
        if (s->stored) {
            sn_path_multiply(&s->model->path, smooth_rows(s, s->rows, k), p, z);
        } else {
            SN_TRY(sn_smooth_block(s, w, k, &f));
            sn_workspace_fields_multiply(w->ws, p, z);
        }
        sn_smooth_coupling_add(s, s->p, k, z);
        for (int i = 0; i < s->nv; i++) {
            z[i] = open[i] ? z[i] + s->lambda[k] * s->seen[i] * p[i] : 0;
            sums[0] += p[i] * z[i];
        }
    }
    return SN_OK;
}

// What is not open moves as x says; p is that move, and sums[0] is 0 when there is none.
static sn_status begin(sn_smoother *s, smooth_worker *w, int first, int end, double *sums) {
    (void)w;
    for (size_t i = smooth_at(s, first); i < smooth_at(s, end); i++) {
        if (s->open[i]) s->x[i] = 0;
        s->p[i] = s->x[i];
        s->z[i] = 0;
        sums[0] += fabs(s->x[i]);
    }
    return SN_OK;
}

static sn_status find_residual(sn_smoother *s, smooth_worker *w, int first, int end, double *sums) {
    (void)w, (void)sums;
    for (size_t i = smooth_at(s, first); i < smooth_at(s, end); i++) {
        s->r[i] = s->open[i] ? -s->g[i] - s->z[i] : 0;
        s->p[i] = 0;
    }
    return SN_OK;
}

static sn_status advance(sn_smoother *s, smooth_worker *w, int first, int end, double *sums) {
    (void)w, (void)sums;
    for (size_t i = smooth_at(s, first); i < smooth_at(s, end); i++) {
        s->x[i] += s->alpha * s->p[i];
        s->r[i] -= s->alpha * s->z[i];
    }
    return SN_OK;
}

static sn_status product_rz(sn_smoother *s, smooth_worker *w, int first, int end, double *sums) {
    (void)w;
    for (size_t i = smooth_at(s, first); i < smooth_at(s, end); i++) sums[0] += s->r[i] * s->z[i];
    return SN_OK;
}

static sn_status redirect(sn_smoother *s, smooth_worker *w, int first, int end, double *sums) {
    (void)w, (void)sums;
    for (size_t i = smooth_at(s, first); i < smooth_at(s, end); i++)
        s->p[i] = s->z[i] + s->beta * s->p[i];
    return SN_OK;
}

// z = M^-1 r, r . z, and the next direction; `last` is r . z of the direction before, 0 for none.
static sn_status next_direction(sn_smoother *s, double last, double *rz) {
    double sums[SMOOTH_SUMS];
    SN_TRY(sn_smooth_dofs(s, solve_scalar));
    SN_TRY(sn_smooth_slow_add(s));
    SN_TRY(sn_smooth_frames(s, product_rz, sums));
    *rz = sums[0];
    s->beta = last > 0 ? *rz / last : 0;
    return sn_smooth_frames(s, redirect, sums);
}

// The diagonal of the blocks once more: z has been used since.
static sn_status find_diagonal(sn_smoother *s, smooth_worker *w, int first, int end, double *sums) {
    (void)sums;
    for (int k = first; k < end; k++) {
        double f, *z = s->z + smooth_at(s, k);
        const sn_path *path = &s->model->path;
        for (int i = 0; s->stored && i < s->nv; i++)
            z[i] = smooth_rows(s, s->rows, k)[path->row[i] + (size_t)path->depth[i]];
        if (s->stored) continue;
        SN_TRY(sn_smooth_block(s, w, k, &f));
        sn_workspace_fields_diagonal(w->ws, z);
    }
    return SN_OK;
}

// The step on what is open, the others going where x says.
static sn_status solve_open(sn_smoother *s, double *promise) {
    double rz, sums[SMOOTH_SUMS];
    *promise = 0;
    SN_TRY(sn_smooth_dofs(s, factor));
    SN_TRY(sn_smooth_frames(s, begin, sums));
    if (sums[0] > 0) SN_TRY(sn_smooth_frames(s, multiply, sums));
    SN_TRY(sn_smooth_frames(s, find_residual, sums));
    SN_TRY(next_direction(s, 0, &rz));
    for (int n = 1; n <= MOST_PRODUCTS && rz > 0 && !smooth_cancelled(s); n++) {
        SN_TRY(sn_smooth_frames(s, multiply, sums));
        s->report.products++;
        if (s->options.progress != NULL)
            s->options.progress(s->options.progress_user, s->report.iterations, s->report.products,
                                s->report.objective);
        if (!(sums[0] > 0)) return SN_OK;  // nothing left but rounding
        s->alpha = rz / sums[0];
        double gain = 0.5 * s->alpha * rz;
        *promise += gain;
        SN_TRY(sn_smooth_frames(s, advance, sums));
        // Nash and Sofer's test: the quadratic hardly falls any more
        if (n * gain <= s->forcing * *promise) return SN_OK;
        SN_TRY(next_direction(s, rz, &rz));
    }
    return SN_OK;
}

sn_status sn_smooth_step(sn_smoother *s, double *promise) {
    double sums[SMOOTH_SUMS];
    SN_TRY(sn_smooth_slow_begin(s));
    SN_TRY(solve_open(s, promise));
    for (int round = 1; round < MOST_ROUNDS && !smooth_cancelled(s); round++) {
        SN_TRY(sn_smooth_frames(s, sn_smooth_hold, sums));
        if (sums[0] == 0) return SN_OK;
        double share;
        SN_TRY(sn_smooth_frames(s, find_diagonal, sums));
        SN_TRY(solve_open(s, &share));
        *promise = fmax(*promise, share);
    }
    return SN_OK;
}
