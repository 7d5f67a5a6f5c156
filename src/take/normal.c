// SPDX-License-Identifier: MIT
// The normal equations of the calibration, one frame after the other; see calibrate.c.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/dense.h"
#include "math/vec3.h"
#include "take/calibrate.h"

void sn_normal_begin(sn_calibration *c, const double *x) {
    size_t n = (size_t)c->shape.size;
    memset(c->S, 0, n * n * sizeof *c->S);
    for (size_t i = 0; i < n; i++) {
        c->S[i * n + i] = c->pull[i];
        c->g[i] = c->pull[i] * (x[i] - c->guess[i]);
    }
}

// How a function joint has slid where that follows angles, at factor 1: those slides are lengths, too.
static sn_vec3 slid(const sn_calibration *c, const sn_workspace *ws, const sn_model *model, int j) {
    const sn_joint_desc *d = sn_model_joint(model, j);
    const sn_joint_functions *now = d->functions;
    double factor = 0;
    for (int m = 0; now != NULL && m < now->nmove; m++) {
        if (now->move[m].turns) continue;
        if (!sn_shape_scales(now, m)) return v3(0, 0, 0);
        const double *first = sn_model_joint(c->shape.model, j)->functions->move[m].axis;
        factor = v3_norm(v3_from(now->move[m].axis)) / v3_norm(v3_from(first));
    }
    if (factor == 0) return v3(0, 0, 0);
    sn_vec3 start = sn_workspace_point(ws, d->parent, d->position);
    return v3_scale(1 / factor, v3_sub(sn_workspace_frame(ws, j).p, start));
}

// dp/dx of a marker, 3 x n row-major, and which columns are not zero: its own three, and its path's bones.
static int shape_columns(const sn_calibration *c, const sn_workspace *ws, const sn_model *model,
                         int i) {
    int *columns = c->columns;
    size_t n = (size_t)c->shape.size;
    int joint = sn_model_marker(model, i)->joint, count = 0;
    sn_mat3 R = sn_workspace_frame(ws, joint).R;
    for (int k = 0; k < 3; k++) {
        columns[count++] = 3 * i + k;
        for (int row = 0; row < 3; row++)
            c->Jx[(size_t)row * n + (size_t)(3 * i + k)] = v3_at(R.c[k], row);
    }
    for (int j = joint, parent = sn_model_parent(model, j); parent >= 0;
         j = parent, parent = sn_model_parent(model, j)) {
        if (c->shape.group[parent] < 0) continue;
        int column = 3 * c->shape.nmarker + c->shape.group[parent], seen = 3;
        while (seen < count && columns[seen] != column) seen++;
        // the vector at factor 1, turned as it is now
        sn_mat3 P = sn_workspace_frame(ws, parent).R;
        sn_vec3 d = m3_mul(&P, v3_from(sn_model_joint(c->shape.model, j)->position));
        d = v3_add(d, slid(c, ws, model, j));
        for (int row = 0; row < 3; row++) {
            double *at = &c->Jx[(size_t)row * n + (size_t)column];
            *at = v3_at(d, row) + (seen < count ? *at : 0);
        }
        if (seen == count) columns[count++] = column;
    }
    return count;
}

// Add a marker's part to A, B, S and g. The poses are the best for this shape, so J_q^T W r is zero and
// leaves nothing in g.
static void add_marker(sn_calibration *c, const sn_workspace *ws, const sn_model *model, int i,
                       double w, sn_vec3 r) {
    size_t n = (size_t)c->shape.size, nv = c->nv;
    const sn_marker_desc *m = sn_model_marker(model, i);
    sn_jacobian_simple(ws, m->joint, m->position, c->J);
    int count = shape_columns(c, ws, model, i);
    const int *columns = c->columns;
    for (size_t a = 0; a < nv; a++) {
        const double *Ja = c->J + 3 * a;
        if (Ja[0] == 0 && Ja[1] == 0 && Ja[2] == 0) continue;
        for (size_t b = 0; b <= a; b++) {
            const double *Jb = c->J + 3 * b;
            c->A[a * nv + b] += w * (Ja[0] * Jb[0] + Ja[1] * Jb[1] + Ja[2] * Jb[2]);
        }
        for (int k = 0; k < count; k++) {
            const double *X = c->Jx + columns[k];
            c->B[a * n + (size_t)columns[k]] +=
                w * (Ja[0] * X[0] + Ja[1] * X[n] + Ja[2] * X[2 * n]);
        }
    }
    for (int k = 0; k < count; k++) {
        size_t ck = (size_t)columns[k];
        const double *X = c->Jx + ck;
        c->g[ck] -= w * (X[0] * r.x + X[n] * r.y + X[2 * n] * r.z);
        for (int l = 0; l < count; l++) {
            size_t cl = (size_t)columns[l];
            if (cl > ck) continue;
            const double *Y = c->Jx + cl;
            c->S[ck * n + cl] += w * (X[0] * Y[0] + X[n] * Y[n] + X[2 * n] * Y[2 * n]);
        }
    }
}

double sn_calibration_weight(const sn_calibration *c, int k, int marker) {
    return c->weight[(size_t)k * (size_t)c->shape.nmarker + (size_t)marker] *
           sn_model_marker(c->shape.model, marker)->weight;
}

void sn_normal_add(sn_calibration *c, const sn_workspace *ws, const sn_model *model, int k) {
    size_t n = (size_t)c->shape.size, nv = c->nv;
    memset(c->A, 0, nv * nv * sizeof *c->A);
    memset(c->B, 0, n * nv * sizeof *c->B);
    for (int i = 0; i < c->shape.nmarker; i++) {
        double goal[3];
        if (!sn_fit_goal(c->input, i, c->frame[k], goal)) continue;
        const sn_marker_desc *m = sn_model_marker(model, i);
        sn_vec3 r = v3_sub(v3_from(goal), sn_workspace_point(ws, m->joint, m->position));
        add_marker(c, ws, model, i, sn_calibration_weight(c, k, i), r);
    }
    double largest = 0;
    for (size_t a = 0; a < nv; a++) largest = fmax(largest, c->A[a * nv + a]);
    for (size_t a = 0; a < nv; a++)
        c->A[a * nv + a] += c->neutral * c->neutral_of[a] + c->damping * (largest + 1e-12);
    if (!sn_cholesky(c->A, (int)nv)) return;  // no such frame
    // L^-1 B row by row, so that the long loops run over a row; then S - (L^-1 B)^T (L^-1 B)
    for (size_t a = 0; a < nv; a++) {
        double *Ba = c->B + a * n;
        for (size_t b = 0; b < a; b++) {
            const double *Bb = c->B + b * n, l = c->A[a * nv + b];
            if (l == 0) continue;
            for (size_t i = 0; i < n; i++) Ba[i] -= l * Bb[i];
        }
        for (size_t i = 0; i < n; i++) Ba[i] /= c->A[a * nv + a];
        for (size_t i = 0; i < n; i++) {
            const double x = Ba[i];
            if (x == 0) continue;
            double *Si = c->S + i * n;
            for (size_t j = 0; j <= i; j++) Si[j] -= x * Ba[j];
        }
    }
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// How far each sample is from its marker at the present shape and poses; -1 where it is missing.
static sn_status find_errors(sn_calibration *c, sn_error *error) {
    sn_model *model = NULL;
    sn_fit_place at = {0};
    SN_TRY(sn_shape_model(&c->shape, c->x, c->allocator, &model, error));
    sn_status status = sn_fit_place_open(&at, model, c->allocator);
    for (int k = 0; status == SN_OK && k < c->nframe; k++) {
        double *e = c->error + (size_t)k * (size_t)c->shape.nmarker, goal[3];
        status = sn_workspace_pose(at.workspace, c->poses + (size_t)k * c->nq);
        for (int i = 0; i < c->shape.nmarker; i++) {
            const sn_marker_desc *m = sn_model_marker(model, i);
            bool there = sn_fit_goal(c->input, i, c->frame[k], goal);
            sn_vec3 p = sn_workspace_point(at.workspace, m->joint, m->position);
            e[i] = there ? v3_norm(v3_sub(v3_from(goal), p)) : -1;
        }
    }
    sn_fit_place_close(&at, c->allocator);
    sn_model_destroy(model);
    return status;
}

// Further off is no skin that moves, metres: in the clips of HDM05 and CMU it moves by up to 8 cm.
static const double thrown_from = 0.15;

sn_status sn_calibration_weigh(sn_calibration *c, double *rms, int *outliers, sn_error *error) {
    SN_TRY(find_errors(c, error));
    size_t count = 0, total = (size_t)c->nframe * (size_t)c->shape.nmarker;
    double sum = 0, *sorted = sn_acquire(c->allocator, (total + 1) * sizeof *sorted);
    if (sorted == NULL) return sn_fail_memory(error);
    for (size_t i = 0; i < total; i++) {
        if (c->error[i] < 0) continue;
        sum += c->error[i] * c->error[i];
        sorted[count++] = c->error[i];
    }
    qsort(sorted, count, sizeof *sorted, by_size);
    // three times the usual error, but not so little that noise would be thrown out
    double scale = count > 0 ? fmax(3 * sorted[count / 2], 0.005) : 1;
    *rms = count > 0 ? sqrt(sum / (double)count) : 0;
    *outliers = c->thrown = 0;
    for (size_t i = 0; i < total; i++) {
        if (c->error[i] < 0) continue;
        double share = scale / c->error[i], w = share < 1 ? share * share : 1;
        c->weight[i] = w;
        *outliers += w < 0.5;
        int marker = (int)(i % (size_t)c->shape.nmarker);
        bool counts = sn_model_marker(c->shape.model, marker)->weight > 0;
        c->thrown += counts && c->error[i] > fmax(thrown_from, 5 * scale);
    }
    sn_release(c->allocator, sorted);
    return SN_OK;
}
