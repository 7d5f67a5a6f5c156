// SPDX-License-Identifier: MIT
// The penalty on acceleration, E = 1/2 sum_k sum_i w_i a_{k,i}^2 with a_k = d_k - d_{k-1} for the inner
// frames k = 1 ... N-2, d_k = q_{k+1} (-) q_k and w_i = D_i (tau rate)^4.
//
// With y_k = dE/d(d_k) = w (a_k - a_{k+1}), a being 0 where there is none, frame k gets
//
//   dE/dq_k = (dd_{k-1}/dq_k)^T y_{k-1} + (dd_k/dq_k)^T y_k
//
// Coordinates that are added: y_{k-1} - y_k. A quaternion with d = log(q_{k+1} q_k^-1), both moved by
// exp(u) from the left: dd = J_l^-1(d) u_{k+1} - J_r^-1(d) u_k, and J_l^-T = J_r^-1.
//
// For the second derivatives d is taken as linear, which it is but for quaternions: w times the square of
// the second difference, the same five bands for every degree of freedom.
#include "math/rotation.h"
#include "track/smooth.h"

// d of frame k, zero outside the take.
static void find_difference(const sn_smoother *s, const double *q, int k, double *d) {
    if (k < 0 || k + 1 >= s->nframe) {
        for (int i = 0; i < s->nv; i++) d[i] = 0;
        return;
    }
    sn_model_difference(s->model, smooth_pose(s, q, k), smooth_pose(s, q, k + 1), d);
}

static bool inner(const sn_smoother *s, int k) { return k >= 1 && k + 1 < s->nframe; }

double smooth_energy(const sn_smoother *s, smooth_worker *w, const double *q, int frame) {
    if (!inner(s, frame)) return 0;
    find_difference(s, q, frame - 1, w->delta[0]);
    find_difference(s, q, frame, w->delta[1]);
    double sum = 0;
    for (int i = 0; i < s->nv; i++) {
        double a = w->delta[1][i] - w->delta[0][i];
        sum += s->weight[i] * a * a;
    }
    return 0.5 * sum;
}

// The rotation of a ball: g (file order, at its first rotational velocity) from d and y of both sides.
static void turn_gradient(const double *before, const double *behind, const double *y0,
                          const double *y1, double *g) {
    sn_vec3 w0 = v3_from(before), w1 = v3_from(behind);
    double c0, c1, slope;
    sn_log_coefficients(v3_dot(w0, w0), &c0, &slope);
    sn_log_coefficients(v3_dot(w1, w1), &c1, &slope);
    sn_vec3 to = sn_log_jacobian_right(c0, w0, v3_from(y0));
    sn_vec3 from = sn_log_jacobian_right(c1, v3_scale(-1, w1), v3_from(y1));
    sn_vec3 sum = v3_sub(to, from);
    g[0] = sum.x;
    g[1] = sum.y;
    g[2] = sum.z;
}

void smooth_gradient_add(const sn_smoother *s, smooth_worker *w, const double *q, int frame,
                         double *g) {
    const sn_model *m = s->model;
    double *const *d = w->delta, *y0 = w->x, *y1 = w->y, *sum = w->delta[0];
    for (int i = 0; i < 4; i++) find_difference(s, q, frame - 2 + i, d[i]);
    for (int i = 0; i < s->nv; i++) {
        double a0 = inner(s, frame - 1) ? d[1][i] - d[0][i] : 0;
        double a1 = inner(s, frame) ? d[2][i] - d[1][i] : 0;
        double a2 = inner(s, frame + 1) ? d[3][i] - d[2][i] : 0;
        y0[i] = s->weight[i] * (a0 - a1);
        y1[i] = s->weight[i] * (a1 - a2);
        sum[i] = y0[i] - y1[i];
    }
    for (int i = 0; i < m->nquaternion; i++) {
        const sn_joint *j = &m->joint[m->quaternion[i]];
        int v = j->v0 + j->ops->quaternion;
        turn_gradient(d[1] + v, d[2] + v, y0 + v, y1 + v, sum + v);
    }
    for (int i = 0; i < s->nv; i++) g[i] += s->gain[i] * sum[m->v_of[i]];
}

// Frame k takes part in the accelerations of frames k-1 (with 1), k (-2) and k+1 (1).
void smooth_bands(int k, int n, double band[3]) {
    bool before = k >= 2, at = k >= 1 && k + 1 < n, behind = k + 2 < n;
    band[0] = (before ? 1 : 0) + (at ? 4 : 0) + (behind ? 1 : 0);
    band[1] = (at ? -2 : 0) + (behind ? -2 : 0);
    band[2] = behind ? 1 : 0;
}

void smooth_coupling_add(const sn_smoother *s, const double *x, int frame, double *y) {
    double own[3], one[3] = {0}, two[3] = {0};
    int n = s->nframe, nv = s->nv;
    smooth_bands(frame, n, own);
    if (frame >= 1) smooth_bands(frame - 1, n, one);
    if (frame >= 2) smooth_bands(frame - 2, n, two);
    // a neighbour outside the take has weight 0: any place to read from will do
    const double *at = x + smooth_at(s, frame);
    const double *b2 = frame >= 2 ? at - 2 * nv : at, *b1 = frame >= 1 ? at - nv : at;
    const double *f1 = frame + 1 < n ? at + nv : at, *f2 = frame + 2 < n ? at + 2 * nv : at;
    for (int i = 0; i < nv; i++)
        y[i] += s->stiff[i] * (two[2] * b2[i] + one[1] * b1[i] + own[0] * at[i] + own[1] * f1[i] +
                               own[2] * f2[i]);
}

double smooth_stretch(const sn_smoother *s, const double *x, int frame) {
    if (!inner(s, frame)) return 0;
    const double *at = x + smooth_at(s, frame), *before = at - s->nv, *behind = at + s->nv;
    double sum = 0;
    for (int i = 0; i < s->nv; i++) {
        double a = before[i] - 2 * at[i] + behind[i];
        sum += s->stiff[i] * a * a;
    }
    return sum;
}
