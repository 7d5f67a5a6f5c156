// SPDX-License-Identifier: MIT
// The slow part of the preconditioner, z += F B^-1 F r: what the scalar part (smooth_step.c) cannot
// see, the directions in which the joints of a frame move without the goals noticing much.
//
//   F = (1 + T / mu D)^-1         a low pass in time, the same for every degree of freedom
//   B = H + (lambda + mu) D       the frames' own blocks, factored in the sweeps
//
// Where a direction costs s D in its frame and t D by its frequency, the whole matrix has (s + t)
// D, the scalar part answers 1 / (1 + t) and this one 1 / ((1 + t/mu)^2 (s + mu)): small s and t,
// for which the first is far too timid, are met by the second, and high frequencies are left to the
// first.
#include <math.h>
#include <string.h>

#include "track/smooth.h"

static const double mu = 0.01;  // on a real clip 0.1 took twice the products, 0.001 a third more

// B of stored blocks, factored; a row of zeros where rounding does not let it be.
static sn_status factor(sn_smoother *s, smooth_worker *w, int first, int end, double *sums) {
    const sn_path *path = &s->model->path;
    (void)w, (void)sums;
    for (int k = first; k < end; k++) {
        double *rows = smooth_rows(s, s->factored, k);
        memcpy(rows, smooth_rows(s, s->rows, k), path->size * sizeof *rows);
        for (int i = 0; i < s->nv; i++)
            rows[path->row[i] + (size_t)path->depth[i]] += (s->lambda[k] + mu) * s->seen[i];
        sn_path_drop(path, s->movable, rows);
        if (sn_path_factor_ldl(path, 0, rows) >= 0) rows[0] = -1;
    }
    return SN_OK;
}

// L D L^T of 1 + T / mu D, as in smooth_step.c.
sn_status sn_smooth_slow_begin(sn_smoother *s) {
    double c = s->fourth / mu, d1 = 0, d2 = 0, l1 = 0, l2 = 0, l2_before = 0;
    for (int k = 0; k < s->nframe; k++) {
        double band[3];
        sn_smooth_bands(k, s->nframe, band);
        // at least 1, but for rounding
        double d = fmax(1 + c * band[0] - l1 * l1 * d1 - l2_before * l2_before * d2, 1);
        double b = c * band[1] - l2 * l1 * d1;
        d2 = d1;
        l2_before = l2;
        d1 = d;
        l1 = b / d;
        l2 = c * band[2] / d;
        s->low[0][k] = 1 / d;
        s->low[1][k] = l1;
    }
    double sums[SMOOTH_SUMS];
    return s->stored ? sn_smooth_frames(s, factor, sums) : SN_OK;
}

// y = F in, for some degrees of freedom; in may be y.
static void low_pass(sn_smoother *s, const double *in, int first, int end) {
    int n = s->nframe;
    size_t nv = (size_t)s->nv;
    double *y = s->y, c = s->fourth / mu;
    for (int k = 0; k < n; k++) {
        size_t at = smooth_at(s, k), one = k >= 1 ? nv : 0, two = k >= 2 ? 2 * nv : 0;
        double l1 = k >= 1 ? s->low[1][k - 1] : 0, l2 = k >= 2 ? c * s->low[0][k - 2] : 0;
        for (size_t i = at + (size_t)first; i < at + (size_t)end; i++) {
            y[i] = in[i];
            y[i] -= l1 * y[i - one] + l2 * y[i - two];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        size_t at = smooth_at(s, k), one = k + 1 < n ? nv : 0, two = k + 2 < n ? 2 * nv : 0;
        double d = s->low[0][k], l1 = k + 1 < n ? s->low[1][k] : 0, l2 = k + 2 < n ? c * d : 0;
        for (size_t i = at + (size_t)first; i < at + (size_t)end; i++)
            y[i] = d * y[i] - (l1 * y[i + one] + l2 * y[i + two]);
    }
}

static sn_status into(sn_smoother *s, smooth_worker *w, int first, int end, double *sums) {
    (void)w, (void)sums;
    low_pass(s, s->r, first, end);
    return SN_OK;
}

static sn_status solve(sn_smoother *s, smooth_worker *w, int first, int end, double *sums) {
    (void)sums;
    for (int k = first; k < end; k++) {
        double f, *y = s->y + smooth_at(s, k);
        if (s->stored) {
            const double *rows = smooth_rows(s, s->factored, k);
            // not factored: less precise, never wrong
            for (int i = 0; i < s->nv; i++) y[i] = s->movable[i] && rows[0] > 0 ? y[i] : 0;
            if (rows[0] > 0) sn_path_solve_ldl(&s->model->path, rows, y);
            continue;
        }
        SN_TRY(sn_smooth_block(s, w, k, &f));
        for (int i = 0; i < s->nv; i++) w->x[i] = (s->lambda[k] + mu) * s->seen[i];
        if (sn_workspace_factor(w->ws, w->x, s->movable, 0, NULL) < 0) {
            sn_workspace_solve(w->ws, y);
        } else {
            for (int i = 0; i < s->nv; i++) y[i] = 0;  // rounding; less precise, never wrong
        }
    }
    return SN_OK;
}

static sn_status out_of(sn_smoother *s, smooth_worker *w, int first, int end, double *sums) {
    (void)w, (void)sums;
    low_pass(s, s->y, first, end);
    for (int k = 0; k < s->nframe; k++) {
        size_t at = smooth_at(s, k);
        for (size_t i = at + (size_t)first; i < at + (size_t)end; i++)
            s->z[i] += s->open[i] ? s->y[i] : 0;
    }
    return SN_OK;
}

sn_status sn_smooth_slow_add(sn_smoother *s) {
    double sums[SMOOTH_SUMS];
    SN_TRY(sn_smooth_dofs(s, into));
    SN_TRY(sn_smooth_frames(s, solve, sums));
    return sn_smooth_dofs(s, out_of);
}
