// SPDX-License-Identifier: MIT
// The energy of shape and poses, and its normal equations with the poses eliminated; see estimate.c. Steps are in
// estimate_steps.c.
//
// A marker's way with the shape: its own offset turns with its joint's frame. Of a body on its path the vector U
// from the body's joint to the next one (or to the marker without its offset) grows along the axes w_k, so a
// small change of the logarithm of factor k moves the marker by w_k (w_k . U).
#include <math.h>
#include <string.h>

#include "linalg/dense.h"
#include "math/log1p.h"
#include "math/vec3.h"
#include "take/estimate.h"
#include "take/stretch.h"

bool sn_estimate_goal(const sn_estimate *e, int k, int marker, double goal[3]) {
    const sn_fit_input *in = e->still[k] ? e->o.asked.still : e->o.take;
    return e->use[marker] > 0 && !sn_fit_dropped(in, marker, e->frame[k] - in->first) &&
           sn_fit_goal(in, marker, e->frame[k], goal);
}

double sn_estimate_weight(const sn_estimate *e, int k, int marker) {
    double w = sn_model_marker(e->model, marker)->weight;
    return e->share[k] * w * e->use[marker] *
           e->trust[(size_t)k * (size_t)e->nmarker + (size_t)marker] / (e->o.sigma * e->o.sigma);
}

static double posture_share(const sn_estimate *e, int k) { return e->still[k] ? 1 : e->posture; }

// How a joint's coordinate is held in a frame, and where: precision of a pull to `home`.
static double held(const sn_estimate *e, int k, size_t v) {
    double s = e->still[k] ? e->o.still_rest[v] : e->o.rest[v], share = posture_share(e, k);
    // a neck that is held less folds from a skeleton of half the size, and its lengths with it
    double lasts = e->o.lasts[v];
    if (!e->still[k] && lasts > 0 && !(lasts > 1 && e->o.asked.scale)) share *= e->lasting;
    return isfinite(s) && s > 0 ? share / (s * s) : 0;
}

// Precision of the end of a range.
static double wall_of(const sn_estimate *e, int k) {
    return posture_share(e, k) / (e->o.range * e->o.range);
}

// A posture is left for a moment, and then by far: beyond some degrees a pull to it hardly grows (a smooth Huber
// loss), so that it finds where the joint mostly is. Joints that are anywhere have no such posture. One that may be far from
// rest on purpose is let go there (a Cauchy loss).
static const double mostly = 0.1;

static bool is_plain(const sn_estimate *e, int k, size_t v) {
    return e->still[k] || e->o.rest[v] > 5;
}

static double pull_energy(const sn_estimate *e, int k, size_t v, double x) {
    const double far = e->o.far[v];
    if (is_plain(e, k, v)) return x * x;
    if (far > 0) return far * far * sn_log1p(x * x / (far * far));
    return 2 * mostly * mostly * (sqrt(1 + x * x / (mostly * mostly)) - 1);
}

static double pull_share(const sn_estimate *e, int k, size_t v, double x) {
    const double far = e->o.far[v];
    if (is_plain(e, k, v)) return 1;
    if (far > 0) return 1 / (1 + x * x / (far * far));
    return 1 / sqrt(1 + x * x / (mostly * mostly));
}

// Outside its range, by how much.
static double outside(const sn_estimate *e, const double *from_home, size_t v) {
    double x = e->o.home_v[v] + from_home[v];
    if (x < e->o.lower[v]) return x - e->o.lower[v];
    return x > e->o.upper[v] ? x - e->o.upper[v] : 0;
}

// A marker that is by far elsewhere was put elsewhere: labs have their own idea of where "T10" is (HDM05's is 11 cm above
// that). Up to some times its doubt hardly anything changes, beyond that its place is let go (a Cauchy loss); but not off
// the body, metres: what lies there fell off, and has no place.
static const double let_go = 6, off_body = 0.2;

// How far a marker is from where the figure has it, metres; squared.
static double moved(const double *x, int marker) {
    sn_vec3 d = v3_from(x + 3 * marker);
    return v3_dot(d, d);
}

// Twice the energy of its place.
static double place_energy(const sn_estimate *e, const double *x, int marker) {
    double precision = 1 / (e->doubt[marker] * e->doubt[marker]), away = moved(x, marker),
           most = fmin(away, off_body * off_body), wide = let_go * let_go;
    return wide * sn_log1p(most * precision / wide) + (away - most) * precision;
}

bool sn_estimate_is_elsewhere(const sn_estimate *e, int marker) {
    double most = let_go * e->doubt[marker];
    return moved(e->x, marker) > most * most;
}

static double place_precision(const sn_estimate *e, const double *x, int marker) {
    double precision = 1 / (e->doubt[marker] * e->doubt[marker]), away = moved(x, marker);
    if (away > off_body * off_body) return precision;
    return precision / (1 + away * precision / (let_go * let_go));
}

// Twice the energy of the shape's priors.
static double shape_energy(const sn_estimate *e, const double *x) {
    double sum = 0;
    size_t nb = 3 * (size_t)e->nbody;
    const double *l = x + 3 * (size_t)e->nmarker;
    for (int i = 0; i < e->nmarker; i++) sum += place_energy(e, x, i);
    for (size_t i = 0; i < nb; i++)
        for (size_t j = 0; j < nb; j++)
            sum += (l[i] - e->mean[i]) * e->P[i * nb + j] * (l[j] - e->mean[j]);
    for (int i = 0; i < e->nlength; i++) {
        double slope[3], off = sn_estimate_length_off(e, i, x, slope);
        sum += off * off;
    }
    return sum;
}

// Twice the energy of a pose of frame k.
static sn_status pose_energy(const sn_estimate *e, sn_estimate_worker *w, int k, const double *q,
                             double *out) {
    const sn_workspace *ws = w->at.workspace;
    double sum = 0, goal[3];
    SN_TRY(sn_workspace_pose(w->at.workspace, q));
    for (int i = 0; i < e->nmarker; i++) {
        if (!sn_estimate_goal(e, k, i, goal)) continue;
        const sn_marker_desc *m = sn_model_marker(e->built, i);
        sn_vec3 r = v3_sub(v3_from(goal), sn_workspace_point(ws, m->joint, m->position));
        sum += sn_estimate_weight(e, k, i) * v3_dot(r, r);
    }
    sn_model_difference(e->built, e->o.home, q, w->delta);
    for (size_t v = 0; v < e->nv; v++) {
        double beyond = outside(e, w->delta, v);
        sum += held(e, k, v) * pull_energy(e, k, v, w->delta[v]) + wall_of(e, k) * beyond * beyond;
    }
    *out = sum;
    return SN_OK;
}

static sn_status frame_energy(sn_estimate *e, sn_estimate_worker *w, int k) {
    return pose_energy(e, w, k, e->trial + (size_t)k * e->nq, &e->sum[k]);
}

sn_status sn_estimate_energy(sn_estimate *e, const double *x, const double *poses, double *out,
                             sn_error *error) {
    e->trial = poses;
    *out = INFINITY;
    sn_status status = sn_estimate_run(e, x, frame_energy, e->nframe, error);
    if (status == SN_ERR_MEMORY) return status;
    double sum = shape_energy(e, x);
    for (int k = 0; k < e->nframe; k++) sum += e->sum[k];
    if (status == SN_OK) *out = sum;
    return SN_OK;
}

// --- one frame -----------------------------------------------------------------------------------

// dp/dx of a marker, 3 x n row-major; its columns are listed.
static int shape_columns(const sn_estimate *e, sn_estimate_worker *w, int i) {
    const sn_workspace *ws = w->at.workspace;
    const sn_model *model = e->built;
    size_t n = e->n;
    const sn_marker_desc *m = sn_model_marker(model, i);
    int count = 0, *columns = w->columns;
    sn_frame f = sn_workspace_frame(ws, m->joint);
    for (int k = 0; k < 3; k++) {
        columns[count++] = 3 * i + k;
        for (int row = 0; row < 3; row++)
            w->Jx[(size_t)row * n + (size_t)(3 * i + k)] = v3_at(f.R.c[k], row);
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
            sn_vec3 along = m3_mul(&R, e->axes[j].c[k]);
            sn_vec3 d = v3_scale(v3_dot(along, U), along);
            for (int row = 0; row < 3; row++) {
                double *at = &w->Jx[(size_t)row * n + (size_t)column];
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

sn_vec3 sn_estimate_shape_move(const sn_estimate *e, sn_estimate_worker *w, int marker,
                               const double *dx) {
    int count = shape_columns(e, w, marker);
    sn_vec3 sum = v3(0, 0, 0);
    for (int k = 0; k < count; k++) {
        const double *X = w->Jx + w->columns[k];
        sum = v3_add(sum, v3_scale(dx[w->columns[k]], v3(X[0], X[e->n], X[2 * e->n])));
    }
    return sum;
}

// The degrees of freedom that move a marker, backwards, and what it adds to the equations of the pose.
static int add_to_pose(const sn_estimate *e, sn_estimate_worker *w, int i, double weight, sn_vec3 r,
                       double *gq) {
    size_t nv = e->nv;
    const sn_marker_desc *m = sn_model_marker(e->built, i);
    int ndof = 0;
    sn_jacobian_simple(w->at.workspace, m->joint, m->position, w->J);
    for (size_t a = 0; a < nv; a++) {
        const double *J = w->J + 3 * (nv - 1 - a);
        if (J[0] != 0 || J[1] != 0 || J[2] != 0) w->dofs[ndof++] = (int)a;
    }
    for (int a = 0; a < ndof; a++) {
        size_t row = (size_t)w->dofs[a];
        const double *J = w->J + 3 * (nv - 1 - row);
        sn_vec3 F = v3(weight * J[0], weight * J[1], weight * J[2]);
        gq[row] -= v3_dot(F, r);
        for (int b = a; b < ndof; b++) {
            size_t column = (size_t)w->dofs[b];
            const double *K = w->J + 3 * (nv - 1 - column);
            w->A[row * nv + column] += F.x * K[0] + F.y * K[1] + F.z * K[2];
        }
    }
    return ndof;
}

static void add_marker(const sn_estimate *e, sn_estimate_worker *w, int i, double weight, sn_vec3 r,
                       double *gq, double *S, double *g) {
    size_t n = e->n, nv = e->nv;
    int ndof = add_to_pose(e, w, i, weight, r, gq), count = shape_columns(e, w, i);
    const int *columns = w->columns;
    for (int a = 0; a < ndof; a++) {
        size_t row = (size_t)w->dofs[a];
        const double *J = w->J + 3 * (nv - 1 - row);
        sn_vec3 F = v3(weight * J[0], weight * J[1], weight * J[2]);
        for (int k = 0; k < count; k++) {
            const double *X = w->Jx + columns[k];
            w->B[row * n + (size_t)columns[k]] += F.x * X[0] + F.y * X[n] + F.z * X[2 * n];
        }
    }
    for (int k = 0; g != NULL && k < count; k++) {
        size_t ck = (size_t)columns[k];
        const double *X = w->Jx + ck;
        sn_vec3 F = v3(weight * X[0], weight * X[n], weight * X[2 * n]);
        double *row = sn_estimate_row(S, n, ck);
        g[ck] -= v3_dot(F, r);
        for (int l = 0; l < count; l++) {
            size_t cl = (size_t)columns[l];
            const double *Y = w->Jx + cl;
            if (cl >= ck) row[cl] += F.x * Y[0] + F.y * Y[n] + F.z * Y[2 * n];
        }
    }
}

// Where some of the rows is not zero, as runs; gaps of a few columns belong to them. How many numbers.
static int find_runs(const double *const *row, int count, size_t n, int *runs) {
    enum { GAP = 6 };
    int out = 0;
    for (size_t i = 0; i < n; i++) {
        bool some = false;
        for (int k = 0; k < count; k++) some |= row[k][i] != 0;
        if (!some) continue;
        if (out > 0 && (int)i - runs[out - 1] <= GAP) {
            runs[out - 1] = (int)i + 1;
        } else {
            runs[out++] = (int)i;
            runs[out++] = (int)i + 1;
        }
    }
    return out;
}

enum { ROWS = 4 };

// S -= B^T B and g -= B^T y of some rows; fewer than ROWS have the last ones zero.
static void subtract_rows(const double *const *row, const double *y, size_t n, const int *runs,
                          int count, double *S, double *g) {
    const double *B0 = row[0], *B1 = row[1], *B2 = row[2], *B3 = row[3];
    for (int r = 0; r < count; r += 2)
        for (int i = runs[r]; i < runs[r + 1]; i++) {
            double x0 = B0[i], x1 = B1[i], x2 = B2[i], x3 = B3[i];
            double *restrict to = sn_estimate_row(S, n, (size_t)i);
            g[i] -= (x0 * y[0] + x1 * y[1]) + (x2 * y[2] + x3 * y[3]);
            for (int l = r; l < count; l += 2)
                for (int j = l == r ? i : runs[l]; j < runs[l + 1]; j++)
                    to[j] -= (x0 * B0[j] + x1 * B1[j]) + (x2 * B2[j] + x3 * B3[j]);
        }
}

// A = U^T U, B <- U^-T B, y <- U^-T y; then the shape's equations without the pose.
static bool eliminate(const sn_estimate *e, sn_estimate_worker *w, double *S, double *g) {
    size_t n = e->n, nv = e->nv;
    if (!sn_cholesky_upper(w->A, (int)nv)) return false;
    for (size_t k = 0; k < nv; k++) {
        const double *U = w->A + k * nv;
        double *Bk = w->B + k * n, pivot = 1 / U[k];
        const double *one = Bk;
        for (size_t i = 0; i < n; i++) Bk[i] *= pivot;
        w->y[k] *= pivot;
        int count = find_runs(&one, 1, n, w->runs);
        for (size_t a = k + 1; a < nv; a++) {
            double *restrict Ba = w->B + a * n, l = U[a];
            if (l == 0) continue;
            w->y[a] -= l * w->y[k];
            for (int r = 0; r < count; r += 2)
                for (int i = w->runs[r]; i < w->runs[r + 1]; i++) Ba[i] -= l * Bk[i];
        }
    }
    // the rows behind the last are zero
    for (size_t a = 0; g != NULL && a < nv; a += ROWS) {
        const double *row[ROWS];
        for (size_t k = 0; k < ROWS; k++) row[k] = w->B + (a + k) * n;
        int count = find_runs(row, ROWS, n, w->runs);
        subtract_rows(row, w->y + a, n, w->runs, count, S, g);
    }
    return true;
}

// What posture and ranges add to the equations of a pose, and what damps them.
static void add_posture(const sn_estimate *e, sn_estimate_worker *w, int k, const double *q,
                        double *gq) {
    size_t nv = e->nv;
    sn_model_difference(e->built, e->o.home, q, w->delta);
    for (size_t a = 0; a < nv; a++) {
        size_t v = nv - 1 - a;
        double p = held(e, k, v) * pull_share(e, k, v, w->delta[v]);
        double out = outside(e, w->delta, v);
        double wall = out != 0 ? wall_of(e, k) : 0;
        gq[a] += p * w->delta[v] + wall * out;
        w->A[a * nv + a] = (w->A[a * nv + a] + p + wall) * (1 + e->lambda) + 1e-9;
    }
}

sn_status sn_estimate_frame(sn_estimate *e, sn_estimate_worker *w, int k, double *S, double *g) {
    size_t nv = e->nv, n = e->n;
    const double *q = e->poses + (size_t)k * e->nq;
    double *gq = e->gq + (size_t)k * nv, goal[3];
    memset(w->A, 0, nv * nv * sizeof *w->A);
    memset(w->B, 0, (nv + ROWS - 1) * n * sizeof *w->B);
    memset(w->y, 0, (nv + ROWS - 1) * sizeof *w->y);
    memset(gq, 0, nv * sizeof *gq);
    SN_TRY(sn_workspace_pose(w->at.workspace, q));
    for (int i = 0; i < e->nmarker; i++) {
        if (!sn_estimate_goal(e, k, i, goal)) continue;
        const sn_marker_desc *m = sn_model_marker(e->built, i);
        sn_vec3 p = sn_workspace_point(w->at.workspace, m->joint, m->position);
        add_marker(e, w, i, sn_estimate_weight(e, k, i), v3_sub(v3_from(goal), p), gq, S, g);
    }
    add_posture(e, w, k, q, gq);
    memcpy(w->y, gq, nv * sizeof *gq);
    return eliminate(e, w, S, g) ? SN_OK : SN_ERR_VALUE;
}

// --- a pose by itself ------------------------------------------------------------------------------

// Steps of a pose, which has followed the shape along a straight line and bends there.
enum { SETTLING = 3 };

sn_status sn_estimate_settle_pose(const sn_estimate *e, sn_estimate_worker *w, int k, double *q,
                                  double *sum) {
    size_t nv = e->nv;
    double *y = w->y, goal[3];
    SN_TRY(pose_energy(e, w, k, q, sum));
    for (int n = 0; n < SETTLING; n++) {
        memset(w->A, 0, nv * nv * sizeof *w->A);
        memset(y, 0, nv * sizeof *y);
        for (int i = 0; i < e->nmarker; i++) {
            if (!sn_estimate_goal(e, k, i, goal)) continue;
            const sn_marker_desc *m = sn_model_marker(e->built, i);
            sn_vec3 p = sn_workspace_point(w->at.workspace, m->joint, m->position);
            (void)add_to_pose(e, w, i, sn_estimate_weight(e, k, i), v3_sub(v3_from(goal), p), y);
        }
        add_posture(e, w, k, q, y);
        if (!sn_cholesky_upper(w->A, (int)nv)) return SN_OK;
        sn_cholesky_upper_forward(w->A, (int)nv, y);
        sn_cholesky_upper_backward(w->A, (int)nv, y);
        for (size_t a = 0; a < nv; a++) w->delta[nv - 1 - a] = fmin(fmax(-y[a], -0.7), 0.7);
        double next;
        sn_model_integrate(e->built, q, w->delta, w->at.q);
        SN_TRY(pose_energy(e, w, k, w->at.q, &next));
        if (!(next < *sum)) return SN_OK;
        bool done = *sum - next < 1e-3 * *sum;
        memcpy(q, w->at.q, e->nq * sizeof *q);
        *sum = next;
        if (done) return SN_OK;
    }
    return SN_OK;
}

static sn_status settle_frame(sn_estimate *e, sn_estimate_worker *w, int k) {
    return sn_estimate_settle_pose(e, w, k, e->poses_try + (size_t)k * e->nq, &e->sum[k]);
}

sn_status sn_estimate_settle(sn_estimate *e, double *out, sn_error *error) {
    *out = INFINITY;
    sn_status status = sn_estimate_run(e, e->x_try, settle_frame, e->nframe, error);
    if (status == SN_ERR_MEMORY) return status;
    double sum = shape_energy(e, e->x_try);
    for (int k = 0; k < e->nframe; k++) sum += e->sum[k];
    if (status == SN_OK) *out = sum;
    return SN_OK;
}

// --- all frames ----------------------------------------------------------------------------------

// What is known of the shape beforehand.
static void begin(sn_estimate *e) {
    size_t n = e->n, first = 3 * (size_t)e->nmarker, nb = 3 * (size_t)e->nbody;
    memset(e->S, 0, n * n * sizeof *e->S);
    memset(e->g, 0, n * sizeof *e->g);
    for (size_t i = 0; i < first; i++) {
        double p = place_precision(e, e->x, (int)(i / 3));
        e->S[i * n + i] = p;
        e->g[i] = p * e->x[i];
    }
    for (size_t i = 0; i < nb; i++)
        for (size_t j = 0; j < nb; j++) {
            double p = e->P[i * nb + j];
            if (j >= i) e->S[(first + i) * n + first + j] = p;
            e->g[first + i] += p * (e->x[first + j] - e->mean[j]);
        }
    for (int i = 0; i < e->nlength; i++) {
        double slope[3], off = sn_estimate_length_off(e, i, e->x, slope);
        size_t at = first + 3 * (size_t)e->length[i].body;
        for (size_t a = 0; a < 3; a++) {
            e->g[at + a] += slope[a] * off;
            for (size_t b = a; b < 3; b++) e->S[(at + a) * n + at + b] += slope[a] * slope[b];
        }
    }
}

void sn_estimate_part(const sn_estimate *e, int part, int *first, int *end) {
    *first = e->nframe * part / SN_ESTIMATE_PARTS;
    *end = e->nframe * (part + 1) / SN_ESTIMATE_PARTS;
}

static sn_status sum_part(sn_estimate *e, sn_estimate_worker *w, int part) {
    size_t n = e->n, nv = e->nv, size = n * (n + 1) / 2;
    double *S = e->part[part], *g = S + size;
    int first, end;
    sn_estimate_part(e, part, &first, &end);
    memset(S, 0, (size + n) * sizeof *S);
    for (int k = first; k < end; k++) {
        double *U = e->U + (size_t)k * (nv * (nv + 1) / 2);
        if (sn_cancelled(e->o.asked.cancel)) return SN_ERR_CANCELLED;
        SN_TRY(sn_estimate_frame(e, w, k, S, g));
        for (size_t a = 0; a < nv; a++)
            memcpy(sn_estimate_row(U, nv, a) + a, w->A + a * nv + a, (nv - a) * sizeof *U);
    }
    return SN_OK;
}

sn_status sn_estimate_normal(sn_estimate *e, double lambda, sn_error *error) {
    size_t n = e->n;
    e->lambda = lambda;
    SN_TRY(sn_estimate_run(e, e->x, sum_part, SN_ESTIMATE_PARTS, error));
    begin(e);
    for (int p = 0; p < SN_ESTIMATE_PARTS; p++) {
        double *g = e->part[p] + n * (n + 1) / 2;
        for (size_t i = 0; i < n; i++) {
            const double *from = sn_estimate_row(e->part[p], n, i);
            double *to = e->S + i * n;
            for (size_t j = i; j < n; j++) to[j] += from[j];
            e->g[i] += g[i];
        }
    }
    return SN_OK;
}
