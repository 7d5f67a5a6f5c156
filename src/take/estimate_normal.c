// SPDX-License-Identifier: MIT
// The energy of shape and poses, and its normal equations with the poses eliminated; see estimate.c.
//
// A marker's way with the shape: its own offset turns with its joint's frame. Of a body on its path the vector U
// from the body's joint to the next one (or to the marker without its offset) grows along the axes w_k, so a
// small change of the logarithm of factor k moves the marker by w_k (w_k . U).
#include <math.h>
#include <string.h>

#include "linalg/dense.h"
#include "math/vec3.h"
#include "take/estimate.h"
#include "take/stretch.h"

bool sn_estimate_goal(const sn_estimate *e, int k, int marker, double goal[3]) {
    const sn_fit_input *in = e->still[k] ? e->o.still : e->o.take;
    return e->use[marker] > 0 && !sn_fit_dropped(in, marker, e->frame[k] - in->first) &&
           sn_fit_goal(in, marker, e->frame[k], goal);
}

double sn_estimate_weight(const sn_estimate *e, int k, int marker) {
    double w = sn_model_marker(e->model, marker)->weight;
    return e->share[k] * w * e->use[marker] *
           e->trust[(size_t)k * (size_t)e->nmarker + (size_t)marker] / (e->o.sigma * e->o.sigma);
}

// How a joint's coordinate is held in a frame, and where: precision of a pull to `home`.
static double held(const sn_estimate *e, int k, size_t v) {
    double s = e->still[k] ? e->o.still_rest[v] : e->o.rest[v];
    return isfinite(s) && s > 0 ? 1 / (s * s) : 0;
}

// A posture is left for a moment, and then by far: beyond some degrees a pull to it hardly grows (a smooth Huber
// loss), so that it finds where the joint mostly is. Joints that are anywhere have no such posture.
static const double mostly = 0.1;

static bool is_plain(const sn_estimate *e, int k, size_t v) {
    return e->still[k] || e->o.rest[v] > 5;
}

static double pull_energy(const sn_estimate *e, int k, size_t v, double x) {
    if (is_plain(e, k, v)) return x * x;
    return 2 * mostly * mostly * (sqrt(1 + x * x / (mostly * mostly)) - 1);
}

static double pull_share(const sn_estimate *e, int k, size_t v, double x) {
    return is_plain(e, k, v) ? 1 : 1 / sqrt(1 + x * x / (mostly * mostly));
}

// Outside its range, by how much.
static double outside(const sn_estimate *e, const sn_model *m, const double *from_home, size_t v) {
    (void)m;
    double x = e->o.home_v[v] + from_home[v];
    if (x < e->o.lower[v]) return x - e->o.lower[v];
    return x > e->o.upper[v] ? x - e->o.upper[v] : 0;
}

// Twice the energy of the shape's priors.
static double shape_energy(const sn_estimate *e, const double *x) {
    double sum = 0;
    size_t nb = 3 * (size_t)e->nbody;
    const double *l = x + 3 * (size_t)e->nmarker;
    for (int i = 0; i < e->nmarker; i++)
        for (int k = 0; k < 3; k++) {
            double d = x[3 * i + k] / e->doubt[i];
            sum += d * d;
        }
    for (size_t i = 0; i < nb; i++)
        for (size_t j = 0; j < nb; j++)
            sum += (l[i] - e->mean[i]) * e->P[i * nb + j] * (l[j] - e->mean[j]);
    for (int i = 0; i < e->nlength; i++) {
        double slope[3], off = sn_estimate_length_off(e, i, x, slope);
        sum += off * off;
    }
    return sum;
}

static double frame_energy(sn_estimate *e, const sn_workspace *ws, const sn_model *model, int k,
                           const double *q) {
    double sum = 0, goal[3];
    for (int i = 0; i < e->nmarker; i++) {
        if (!sn_estimate_goal(e, k, i, goal)) continue;
        const sn_marker_desc *m = sn_model_marker(model, i);
        sn_vec3 r = v3_sub(v3_from(goal), sn_workspace_point(ws, m->joint, m->position));
        sum += sn_estimate_weight(e, k, i) * v3_dot(r, r);
    }
    sn_model_difference(model, e->o.home, q, e->delta);
    for (size_t v = 0; v < e->nv; v++) {
        double out = outside(e, model, e->delta, v) / e->o.range;
        sum += held(e, k, v) * pull_energy(e, k, v, e->delta[v]) + out * out;
    }
    return sum;
}

sn_status sn_estimate_energy(sn_estimate *e, const double *x, const double *poses, double *out,
                             sn_error *error) {
    sn_model *model = NULL;
    sn_fit_place at = {0};
    double sum = shape_energy(e, x);
    SN_TRY(sn_estimate_model(e, x, false, &model, error));
    sn_status status = sn_fit_place_open(&at, model, e->allocator);
    for (int k = 0; status == SN_OK && k < e->nframe; k++) {
        const double *q = poses + (size_t)k * e->nq;
        status = sn_workspace_pose(at.workspace, q);
        sum += frame_energy(e, at.workspace, model, k, q);
    }
    sn_fit_place_close(&at, e->allocator);
    sn_model_destroy(model);
    *out = status == SN_OK ? sum : INFINITY;
    return status == SN_ERR_MEMORY ? sn_fail_memory(error) : SN_OK;
}

// --- one frame -----------------------------------------------------------------------------------

// dp/dx of a marker, 3 x n row-major; its columns are listed.
static int shape_columns(sn_estimate *e, const sn_workspace *ws, const sn_model *model, int i) {
    size_t n = e->n;
    const sn_marker_desc *m = sn_model_marker(model, i);
    int count = 0, *columns = e->columns;
    sn_frame f = sn_workspace_frame(ws, m->joint);
    for (int k = 0; k < 3; k++) {
        columns[count++] = 3 * i + k;
        for (int row = 0; row < 3; row++)
            e->Jx[(size_t)row * n + (size_t)(3 * i + k)] = v3_at(f.R.c[k], row);
    }
    sn_vec3 U = v3_sub(sn_workspace_point(ws, m->joint, m->position), f.p);
    sn_vec3 own = m3_mul(&f.R, v3_from(e->x + 3 * i));
    U = v3_sub(U, own);
    for (int j = m->joint; j >= 0;) {
        int body = e->body[j];
        sn_mat3 R = sn_workspace_frame(ws, j).R;
        for (int k = 0; body >= 0 && k < 3; k++) {
            int column = 3 * e->nmarker + 3 * body + k, seen = 3;
            while (seen < count && columns[seen] != column) seen++;
            sn_vec3 w = m3_mul(&R, e->axes[j].c[k]);
            sn_vec3 d = v3_scale(v3_dot(w, U), w);
            for (int row = 0; row < 3; row++) {
                double *at = &e->Jx[(size_t)row * n + (size_t)column];
                *at = v3_at(d, row) + (seen < count ? *at : 0);
            }
            if (seen == count) columns[count++] = column;
        }
        int parent = sn_model_parent(model, j);
        if (parent < 0) break;
        const sn_joint_desc *d = sn_model_joint(model, j);
        sn_vec3 from = sn_workspace_frame(ws, parent).p;
        sn_vec3 to = sn_workspace_point(ws, parent, d->position);
        // a slide that follows angles is a length of the body
        bool slides = d->functions != NULL;
        for (int k = 0; d->functions != NULL && k < d->functions->nmove; k++)
            slides = slides && (d->functions->move[k].turns || sn_stretch_scales(d->functions, k));
        if (slides) to = sn_workspace_frame(ws, j).p;
        U = v3_sub(to, from);
        j = parent;
    }
    return count;
}

// Degrees of freedom backwards, leaves before the root: then L^-1 B has few entries.
static void add_marker(sn_estimate *e, const sn_workspace *ws, const sn_model *model, int i,
                       double w, sn_vec3 r, double *A, double *B, double *gq) {
    size_t n = e->n, nv = e->nv;
    const sn_marker_desc *m = sn_model_marker(model, i);
    sn_jacobian_simple(ws, m->joint, m->position, e->J);
    int count = shape_columns(e, ws, model, i);
    const int *columns = e->columns;
    for (size_t a = 0; a < nv; a++) {
        const double *Ja = e->J + 3 * (nv - 1 - a);
        if (Ja[0] == 0 && Ja[1] == 0 && Ja[2] == 0) continue;
        gq[a] -= w * (Ja[0] * r.x + Ja[1] * r.y + Ja[2] * r.z);
        for (size_t b = 0; b <= a; b++) {
            const double *Jb = e->J + 3 * (nv - 1 - b);
            A[a * nv + b] += w * (Ja[0] * Jb[0] + Ja[1] * Jb[1] + Ja[2] * Jb[2]);
        }
        for (int k = 0; k < count; k++) {
            const double *X = e->Jx + columns[k];
            B[a * n + (size_t)columns[k]] += w * (Ja[0] * X[0] + Ja[1] * X[n] + Ja[2] * X[2 * n]);
        }
    }
    for (int k = 0; k < count; k++) {
        size_t ck = (size_t)columns[k];
        const double *X = e->Jx + ck;
        e->g[ck] -= w * (X[0] * r.x + X[n] * r.y + X[2 * n] * r.z);
        for (int l = 0; l < count; l++) {
            size_t cl = (size_t)columns[l];
            if (cl > ck) continue;
            const double *Y = e->Jx + cl;
            e->S[ck * n + cl] += w * (X[0] * Y[0] + X[n] * Y[n] + X[2 * n] * Y[2 * n]);
        }
    }
}

// A = L L^T, B <- L^-1 B, gq <- L^-1 gq; S -= B^T B, g -= B^T gq.
static bool eliminate(sn_estimate *e, double *A, double *B, double *gq) {
    size_t n = e->n, nv = e->nv;
    if (!sn_cholesky(A, (int)nv)) return false;
    for (size_t a = 0; a < nv; a++) {
        double *Ba = B + a * n;
        for (size_t b = 0; b < a; b++) {
            double l = A[a * nv + b];
            if (l == 0) continue;
            const double *Bb = B + b * n;
            for (size_t i = 0; i < n; i++) Ba[i] -= l * Bb[i];
            gq[a] -= l * gq[b];
        }
        double pivot = 1 / A[a * nv + a];
        int count = 0;
        for (size_t i = 0; i < n; i++) {
            Ba[i] *= pivot;
            if (Ba[i] != 0) e->nonzero[count++] = (int)i;
        }
        gq[a] *= pivot;
        for (int k = 0; k < count; k++) {
            size_t i = (size_t)e->nonzero[k];
            double x = Ba[i], *Si = e->S + i * n;
            e->g[i] -= x * gq[a];
            if (count == (int)n) {
                for (size_t j = 0; j <= i; j++) Si[j] -= x * Ba[j];
            } else {
                for (int l = 0; l <= k; l++) Si[e->nonzero[l]] -= x * Ba[e->nonzero[l]];
            }
        }
    }
    return true;
}

static void begin(sn_estimate *e) {
    size_t n = e->n, first = 3 * (size_t)e->nmarker, nb = 3 * (size_t)e->nbody;
    memset(e->S, 0, n * n * sizeof *e->S);
    memset(e->g, 0, n * sizeof *e->g);
    for (size_t i = 0; i < first; i++) {
        double p = 1 / (e->doubt[i / 3] * e->doubt[i / 3]);
        e->S[i * n + i] = p;
        e->g[i] = p * e->x[i];
    }
    for (size_t i = 0; i < nb; i++)
        for (size_t j = 0; j < nb; j++) {
            double p = e->P[i * nb + j];
            if (j <= i) e->S[(first + i) * n + first + j] = p;
            e->g[first + i] += p * (e->x[first + j] - e->mean[j]);
        }
    for (int i = 0; i < e->nlength; i++) {
        double slope[3], off = sn_estimate_length_off(e, i, e->x, slope);
        size_t at = first + 3 * (size_t)e->length[i].body;
        for (size_t a = 0; a < 3; a++) {
            e->g[at + a] += slope[a] * off;
            for (size_t b = 0; b <= a; b++) e->S[(at + a) * n + at + b] += slope[a] * slope[b];
        }
    }
}

sn_status sn_estimate_normal(sn_estimate *e, double lambda, sn_error *error) {
    sn_model *model = NULL;
    sn_fit_place at = {0};
    size_t nv = e->nv, n = e->n;
    SN_TRY(sn_estimate_model(e, e->x, false, &model, error));
    sn_status status = sn_fit_place_open(&at, model, e->allocator);
    begin(e);
    for (int k = 0; status == SN_OK && k < e->nframe; k++) {
        const double *q = e->poses + (size_t)k * e->nq;
        double *A = e->A + (size_t)k * nv * nv, *B = e->B + (size_t)k * nv * n,
               *gq = e->gq + (size_t)k * nv, goal[3];
        memset(A, 0, nv * nv * sizeof *A);
        memset(B, 0, nv * n * sizeof *B);
        memset(gq, 0, nv * sizeof *gq);
        status = sn_workspace_pose(at.workspace, q);
        for (int i = 0; i < e->nmarker; i++) {
            if (!sn_estimate_goal(e, k, i, goal)) continue;
            const sn_marker_desc *m = sn_model_marker(model, i);
            sn_vec3 p = sn_workspace_point(at.workspace, m->joint, m->position);
            add_marker(e, at.workspace, model, i, sn_estimate_weight(e, k, i),
                       v3_sub(v3_from(goal), p), A, B, gq);
        }
        sn_model_difference(model, e->o.home, q, e->delta);
        for (size_t a = 0; a < nv; a++) {
            size_t v = nv - 1 - a;
            double p = held(e, k, v) * pull_share(e, k, v, e->delta[v]);
            double out = outside(e, model, e->delta, v);
            double wall = out != 0 ? 1 / (e->o.range * e->o.range) : 0;
            gq[a] += p * e->delta[v] + wall * out;
            A[a * nv + a] = (A[a * nv + a] + p + wall) * (1 + lambda) + 1e-9;
        }
        if (status == SN_OK && !eliminate(e, A, B, gq)) status = SN_ERR_VALUE;
    }
    sn_fit_place_close(&at, e->allocator);
    sn_model_destroy(model);
    if (status != SN_OK) return sn_fail(error, status, 0, "%s", sn_status_text(status));
    return SN_OK;
}

// --- steps ---------------------------------------------------------------------------------------

// The step of the shape, then of the poses. False when the system cannot be solved.
static bool take_step(sn_estimate *e, double lambda) {
    size_t n = e->n, nv = e->nv;
    memcpy(e->factored, e->S, n * n * sizeof *e->S);
    for (size_t i = 0; i < n; i++) {
        e->factored[i * n + i] += lambda * e->S[i * n + i];
        e->step[i] = -e->g[i];
    }
    if (!sn_cholesky(e->factored, (int)n)) return false;
    sn_cholesky_forward(e->factored, (int)n, e->step);
    sn_cholesky_backward(e->factored, (int)n, e->step);
    for (size_t i = 0; i < n; i++) {
        // a body neither vanishes nor becomes a giant in one step
        if (i >= 3 * (size_t)e->nmarker) e->step[i] = fmin(fmax(e->step[i], -0.3), 0.3);
        e->x_try[i] = e->x[i] + e->step[i];
    }
    for (int k = 0; k < e->nframe; k++) {
        const double *A = e->A + (size_t)k * nv * nv, *B = e->B + (size_t)k * nv * n,
                     *gq = e->gq + (size_t)k * nv;
        for (size_t a = 0; a < nv; a++) {
            double sum = gq[a];
            for (size_t i = 0; i < n; i++) sum += B[a * n + i] * e->step[i];
            e->dq[a] = -sum;
        }
        sn_cholesky_backward(A, (int)nv, e->dq);
        for (size_t a = 0; a < nv; a++) e->delta[nv - 1 - a] = fmin(fmax(e->dq[a], -0.7), 0.7);
        sn_model_integrate(e->model, e->poses + (size_t)k * e->nq, e->delta,
                           e->poses_try + (size_t)k * e->nq);
    }
    return true;
}

sn_status sn_estimate_improve(sn_estimate *e, int iterations, double tolerance, sn_error *error) {
    double energy, lambda = 1e-4;
    SN_TRY(sn_estimate_energy(e, e->x, e->poses, &energy, error));
    for (int i = 0, failed = 0; i < iterations && failed < 8; i++) {
        double next = INFINITY;
        if (sn_cancelled(e->o.cancel)) return SN_OK;
        SN_TRY(sn_estimate_normal(e, lambda, error));
        if (take_step(e, lambda))
            SN_TRY(sn_estimate_energy(e, e->x_try, e->poses_try, &next, error));
        e->iterations++;
        if (!(next < energy)) {
            lambda = fmax(10 * lambda, 1e-6);
            failed++;
            continue;
        }
        failed = 0;
        lambda = lambda > 1e-8 ? lambda / 10 : 0;
        double *t = e->x;
        e->x = e->x_try, e->x_try = t;
        t = e->poses, e->poses = e->poses_try, e->poses_try = t;
        bool done = energy - next < tolerance * energy;
        energy = next;
        if (done) break;
    }
    return SN_OK;
}
