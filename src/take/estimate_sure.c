// SPDX-License-Identifier: MIT
// How sure an estimate is of what it found.
//
// At the least energy its Hessian (of a place that was let go: the weight of the last step) is the inverse of a
// covariance: S, with the poses eliminated, for offsets and factors. Where a joint's zero lies follows the shape: a shape
// that is off by dx turns the poses by
// dq = -A^-1 B dx in a frame, and the mean of that over the frames is a constant error of the joint,
//
//   cov(zero) = M S^-1 M^T,   M = mean A^-1 B.
#include <math.h>
#include <string.h>

#include "linalg/dense.h"
#include "math/exp.h"
#include "math/vec3.h"
#include "model/joint.h"
#include "take/body.h"
#include "take/estimate.h"

// What is hardly better known than before was not shown by the take; a zero that is known worse than this neither.
static const double hardly_better = 0.8, zero_unknown = 0.17;
// Of an angle that may be anything: a turn evenly spread, radians.
static const double any_angle = 1.8;

// The covariance in place of S, both triangles.
static bool invert(sn_estimate *e) {
    size_t n = e->n;
    memcpy(e->factored, e->S, n * n * sizeof *e->S);
    if (!sn_cholesky_upper(e->factored, (int)n)) return false;
    memset(e->S, 0, n * n * sizeof *e->S);
    for (size_t i = 0; i < n; i++) {
        double *row = e->S + i * n;
        row[i] = 1;
        sn_cholesky_upper_forward(e->factored, (int)n, row);
        sn_cholesky_upper_backward(e->factored, (int)n, row);
    }
    return true;
}

// The sum of A^-1 B over the frames of a part, one row per velocity.
static sn_status sum_slopes(sn_estimate *e, sn_estimate_worker *w, int part) {
    size_t n = e->n, nv = e->nv;
    int first, end;
    double *M = e->part[part];
    sn_estimate_part(e, part, &first, &end);
    memset(M, 0, nv * n * sizeof *M);
    for (int k = first; k < end; k++) {
        SN_TRY(sn_estimate_frame(e, w, k, NULL, NULL));
        // U^-1 row by row from the end
        for (size_t a = nv; a-- > 0;) {
            double *restrict Ba = w->B + a * n, pivot = 1 / w->A[a * nv + a];
            for (size_t b = a + 1; b < nv; b++) {
                double u = w->A[a * nv + b];
                const double *Bb = w->B + b * n;
                if (u == 0) continue;
                for (size_t i = 0; i < n; i++) Ba[i] -= u * Bb[i];
            }
            for (size_t i = 0; i < n; i++) Ba[i] *= pivot;
        }
        for (size_t i = 0; i < nv * n; i++) M[i] += w->B[i];
    }
    return SN_OK;
}

// M: the mean over the frames, in the place of the first part's sum.
static sn_status mean_slopes(sn_estimate *e, sn_error *error) {
    size_t size = e->nv * e->n;
    double *M = e->part[0];
    SN_TRY(sn_estimate_run(e, e->x, sum_slopes, SN_ESTIMATE_PARTS, error));
    for (int p = 1; p < SN_ESTIMATE_PARTS; p++)
        for (size_t i = 0; i < size; i++) M[i] += e->part[p][i];
    for (size_t i = 0; i < size; i++) M[i] /= e->nframe;
    return SN_OK;
}

static double zero_sigma(const sn_estimate *e, size_t v) {
    size_t n = e->n;
    const double *row = e->part[0] + (e->nv - 1 - v) * n;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double part = 0;
        if (row[i] == 0) continue;
        const double *C = e->S + i * n;
        for (size_t j = 0; j < n; j++) part += C[j] * row[j];
        sum += row[i] * part;
    }
    return sqrt(fmax(sum, 0));
}

static bool is_labelled(const sn_estimate *e, int marker) {
    return e->o.take->column[marker] >= 0 ||
           (e->o.asked.still != NULL && e->o.asked.still->column[marker] >= 0);
}

static bool is_seen(const sn_estimate *e, int marker) {
    double goal[3];
    for (int k = 0; k < e->nframe; k++)
        if (sn_estimate_goal(e, k, marker, goal)) return true;
    return false;
}

// Does a marker sit on what a joint moves?
static bool is_marked(const sn_estimate *e, int joint) {
    for (int i = 0; i < e->nmarker; i++)
        if (is_seen(e, i) && sn_body_is_above(e->model, joint, sn_model_marker(e->model, i)->joint))
            return true;
    return false;
}

static void add_markers(const sn_estimate *e, sn_take_sure *out, int *count) {
    for (int i = 0; i < e->nmarker; i++) {
        if (!is_labelled(e, i)) continue;
        sn_take_sure s = {.kind = SN_SURE_PLACE,
                          .name = sn_model_marker(e->model, i)->name,
                          .index = i,
                          .before = e->doubt[i]};
        for (size_t k = 0; k < 3; k++) {
            size_t at = 3 * (size_t)i + k;
            s.value[k] = e->x[at];
            s.sigma += e->S[at * e->n + at] / 3;
        }
        s.sigma = sqrt(s.sigma);
        s.shown = s.sigma < hardly_better * s.before || sn_estimate_is_elsewhere(e, i);
        out[(*count)++] = s;
    }
}

// What is known of a factor before anything is said of the person: the prior's own variance, all its parts. A
// height that was given makes sizes surer, and so nothing less shown.
static double factor_before(void) {
    return sqrt(SN_ESTIMATE_ANY_SIZE * SN_ESTIMATE_ANY_SIZE + SN_ESTIMATE_OWN_VARIANCE);
}

static void add_bodies(const sn_estimate *e, sn_take_sure *out, int *count) {
    for (int b = 0; b < e->nbody; b++) {
        int joint = -1;
        for (int j = 0; j < e->njoint && joint < 0; j++)
            if (e->body[j] == b) joint = j;
        sn_take_sure s = {
            .kind = SN_SURE_SIZE, .name = e->name[b], .index = joint, .before = factor_before()};
        for (size_t k = 0; k < 3; k++) {
            size_t at = 3 * (size_t)e->nmarker + 3 * (size_t)b + k;
            s.value[k] = sn_exp(e->x[at]);
            s.sigma = fmax(s.sigma, sqrt(e->S[at * e->n + at]));
        }
        s.shown = s.sigma < hardly_better * s.before;
        out[(*count)++] = s;
    }
}

static void add_joints(const sn_estimate *e, sn_take_sure *out, int *count) {
    const double *gain = sn_model_gain(e->model);
    for (int j = 0; j < e->njoint; j++) {
        sn_take_sure s = {.kind = SN_SURE_ZERO,
                          .name = sn_model_joint(e->model, j)->name,
                          .index = j,
                          .before = INFINITY};
        int first = sn_model_v_index(e->model, j), n = sn_model_joint_nv(e->model, j), angles = 0;
        if (sn_body_is_above(e->model, j, sn_fit_floater(e->model))) continue;
        for (int i = 0; i < n; i++) {
            if (gain[first + i] == 0 || sn_model_is_length(e->model, j, i)) continue;
            s.sigma = fmax(s.sigma, zero_sigma(e, (size_t)first + (size_t)i));
            angles++;
        }
        // what no marker follows is not known at all
        if (!is_marked(e, j)) s.sigma = any_angle;
        s.shown = s.sigma < zero_unknown;
        if (angles > 0) out[(*count)++] = s;
    }
}

sn_status sn_estimate_sure(sn_estimate *e, sn_take_sure *out, int *count, sn_error *error) {
    *count = 0;
    SN_TRY(sn_estimate_normal(e, 0, error));
    if (!invert(e)) return SN_OK;  // nothing can be said
    SN_TRY(mean_slopes(e, error));
    add_markers(e, out, count);
    add_bodies(e, out, count);
    add_joints(e, out, count);
    return SN_OK;
}
