// SPDX-License-Identifier: MIT
// The Newton step of a whole take: (H + lambda D + T) x = -g on the degrees of freedom that are open, with H
// the blocks of the frames and T the coupling between them, by conjugate gradients without a matrix. A
// product places every frame anew: cheaper than reading back what it would take to store.
//
// The preconditioner leaves out what couples the degrees of freedom of a frame: for each alone its
// Gauss-Newton diagonal over the frames and the five bands of T, factored as L D L^T in time linear in the
// frames. A limb that is hidden for a while has a diagonal of 0 there, so the preconditioner bridges the gap
// as the solution does.
#include <math.h>

#include "track/smooth.h"

enum { MOST_PRODUCTS = 300 };  // in one step

// Column k of the bands with what is not open cut out.
static double band_at(const sn_smoother *s, const double band[3], int frame, int ahead, int i) {
    if (frame + ahead >= s->nframe) return 0;
    size_t at = smooth_at(s, frame) + (size_t)i;
    bool both = s->open[at] && s->open[at + (size_t)ahead * (size_t)s->nv];
    return both ? s->stiff[i] * band[ahead] : 0;
}

// Factor, from the Gauss-Newton diagonal in s->z. For L with 1 on its diagonal and l1, l2 below it:
//   d_k  = a_k - l1_{k-1}^2 d_{k-1} - l2_{k-2}^2 d_{k-2}
//   l1_k = (b_k - l2_{k-1} l1_{k-1} d_{k-1}) / d_k,   l2_k = c_k / d_k
// Single precision is enough for a preconditioner, as long as both solves use the same numbers.
static sn_status factor(sn_smoother *s, smooth_worker *w, int first, int end, double *sums) {
    (void)w, (void)sums;
    for (int i = first; i < end; i++) {
        double d1 = 0, l1 = 0, l2 = 0;                 // of k-1
        double d2 = 0, l2_before = 0;                  // of k-2
        double least = 1e-6 * s->seen[i] + 1e-12 * s->stiff[i];
        for (int k = 0; k < s->nframe; k++) {
            size_t at = smooth_at(s, k) + (size_t)i;
            double band[3];
            smooth_bands(k, s->nframe, band);
            double a = s->z[at] + (s->lambda[k] + 1e-6) * s->seen[i] + s->stiff[i] * band[0];
            double d = fmax(a - l1 * l1 * d1 - l2_before * l2_before * d2, least);
            double b = band_at(s, band, k, 1, i) - l2 * l1 * d1;
            s->pivot[at] = d > 0 ? (float)(1 / d) : 0;
            s->next[at] = (float)(b * s->pivot[at]);
            d2 = d1;
            l2_before = l2;
            d1 = d;
            l1 = s->next[at];
            l2 = band_at(s, band, k, 2, i) * s->pivot[at];
        }
    }
    return SN_OK;
}

// z = M^-1 r, and r . z.
static sn_status precondition(sn_smoother *s, smooth_worker *w, int first, int end, double *sums) {
    (void)w;
    int n = s->nframe, nv = s->nv;
    for (int k = 0; k < n; k++) {
        double band[3];
        smooth_bands(k - 2, n, band);
        for (int i = first; i < end; i++) {
            size_t at = smooth_at(s, k) + (size_t)i;
            double sum = s->r[at];
            if (k >= 1) sum -= (double)s->next[at - (size_t)nv] * s->z[at - (size_t)nv];
            if (k >= 2) {
                size_t before = at - 2 * (size_t)nv;
                sum -= band_at(s, band, k - 2, 2, i) * (double)s->pivot[before] * s->z[before];
            }
            s->z[at] = sum;
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        double band[3];
        smooth_bands(k, n, band);
        for (int i = first; i < end; i++) {
            size_t at = smooth_at(s, k) + (size_t)i;
            double pivot = (double)s->pivot[at], sum = s->z[at] * pivot;
            if (k + 1 < n) sum -= (double)s->next[at] * s->z[at + (size_t)nv];
            if (k + 2 < n) sum -= band_at(s, band, k, 2, i) * pivot * s->z[at + 2 * (size_t)nv];
            s->z[at] = s->open[at] ? sum : 0;
            sums[0] += s->r[at] * s->z[at];
        }
    }
    return SN_OK;
}

// z = (H + lambda D + T) p, and p . z.
static sn_status multiply(sn_smoother *s, smooth_worker *w, int first, int end, double *sums) {
    for (int k = first; k < end; k++) {
        const double *p = s->p + smooth_at(s, k);
        double *z = s->z + smooth_at(s, k), f;
        const unsigned char *open = s->open + smooth_at(s, k);
        SN_TRY(s->goals(s->user, k, w->problem));
        SN_TRY(sn_workspace_eval(w->ws, smooth_pose(s, s->q, k),
                                 s->exact[k] ? SN_EVAL_HESSIAN : SN_EVAL_GAUSS_NEWTON, &f));
        sn_workspace_fields_multiply(w->ws, p, z);
        smooth_coupling_add(s, s->p, k, z);
        for (int i = 0; i < s->nv; i++) {
            z[i] = open[i] ? z[i] + s->lambda[k] * s->seen[i] * p[i] : 0;
            sums[0] += p[i] * z[i];
        }
    }
    return SN_OK;
}

// x = 0 and r = -g on what is open.
static sn_status begin(sn_smoother *s, smooth_worker *w, int first, int end, double *sums) {
    (void)w, (void)sums;
    for (size_t i = smooth_at(s, first); i < smooth_at(s, end); i++) {
        s->x[i] = 0;
        s->r[i] = s->open[i] ? -s->g[i] : 0;
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

static sn_status redirect(sn_smoother *s, smooth_worker *w, int first, int end, double *sums) {
    (void)w, (void)sums;
    for (size_t i = smooth_at(s, first); i < smooth_at(s, end); i++)
        s->p[i] = s->z[i] + s->beta * s->p[i];
    return SN_OK;
}

static sn_status frames(sn_smoother *s, smooth_pass pass, double *sums) {
    return smooth_for_all(s, pass, s->nframe, SMOOTH_FRAMES, sums);
}

static sn_status dofs(sn_smoother *s, smooth_pass pass, double *sums) {
    return smooth_for_all(s, pass, s->nv, SMOOTH_DOFS, sums);
}

static bool cancelled(const sn_smoother *s) {
    return s->options.cancel != NULL && *s->options.cancel;
}

sn_status smooth_step(sn_smoother *s, double *promise) {
    double sums[SMOOTH_SUMS];
    *promise = 0;
    SN_TRY(dofs(s, factor, sums));
    SN_TRY(frames(s, begin, sums));
    SN_TRY(dofs(s, precondition, sums));
    double rz = sums[0];
    s->beta = 0;
    // p may hold anything: 0 times it must be 0
    for (size_t i = 0; i < smooth_at(s, s->nframe); i++) s->p[i] = 0;
    SN_TRY(frames(s, redirect, sums));
    for (int n = 1; n <= MOST_PRODUCTS && rz > 0 && !cancelled(s); n++) {
        SN_TRY(frames(s, multiply, sums));
        s->report.products++;
        double curvature = sums[0];
        if (!(curvature > 0)) return SN_OK;  // only rounding can do this: all blocks are definite
        s->alpha = rz / curvature;
        double gain = 0.5 * s->alpha * rz;
        *promise += gain;
        SN_TRY(frames(s, advance, sums));
        // Nash and Sofer's test: the quadratic hardly falls any more
        if (n * gain <= s->forcing * *promise) return SN_OK;
        SN_TRY(dofs(s, precondition, sums));
        s->beta = sums[0] / rz;
        rz = sums[0];
        SN_TRY(frames(s, redirect, sums));
        if (s->options.progress != NULL)
            s->options.progress(s->options.progress_user, s->report.iterations, s->report.products,
                                s->report.objective);
    }
    return SN_OK;
}
