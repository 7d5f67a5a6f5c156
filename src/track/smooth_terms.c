// SPDX-License-Identifier: MIT
// The penalty on acceleration, E = 1/2 sum_k sum_i w_i a_{k,i}^2 with a_k = d_k - d_{k-1} for the
// inner frames k = 1 ... N-2, d_k = q_{k+1} (-) q_k and w_i = D_i (tau rate)^4.
//
// With y_k = dE/d(d_k) = w (a_k - a_{k+1}), a being 0 where there is none, frame k gets
//
//   dE/dq_k = (dd_{k-1}/dq_k)^T y_{k-1} + (dd_k/dq_k)^T y_k
//
// Coordinates that are added: y_{k-1} - y_k. A quaternion with d = log(q_{k+1} q_k^-1), both moved
// by exp(u) from the left: dd = J_l^-1(d) u_{k+1} - J_r^-1(d) u_k, and J_l^-T = J_r^-1.
//
// The second derivatives T are Gauss-Newton's: for coordinates that are added w times the square of
// the second difference, five bands; for a quaternion the same with dd in the place of d. Leaving
// the Jacobians out there is not good enough: of a body that turns steadily by d a frame, a step
// growing with time would seem free and in truth costs w d^2, which a large tau makes more than the
// goals' share.
#include "math/rotation.h"
#include "model/joint_ball.h"
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

double sn_smooth_energy(const sn_smoother *s, smooth_worker *w, const double *q, int frame) {
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

// The rotation of a ball: g (file order, at its first rotational velocity) from d and y of both
// sides.
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

void sn_smooth_gradient_add(const sn_smoother *s, smooth_worker *w, const double *q, int frame,
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
void sn_smooth_bands(int k, int n, double band[3]) {
    bool before = k >= 2, at = k >= 1 && k + 1 < n, behind = k + 2 < n;
    band[0] = (before ? 1 : 0) + (at ? 4 : 0) + (behind ? 1 : 0);
    band[1] = (at ? -2 : 0) + (behind ? -2 : 0);
    band[2] = behind ? 1 : 0;
}

// dd_k of a quaternion for the step x, at k in the take; q0 and v0 are where it starts.
static sn_vec3 turn_change(const sn_smoother *s, const double *x, int k, int q0, int slot) {
    const double *q = smooth_pose(s, s->q, k) + q0, *u = x + smooth_at(s, k) + slot;
    const double *gain = s->gain + slot;
    double d[3], c, slope;
    sn_ball_difference(q, q + s->nq, d);
    sn_vec3 w = v3_from(d), u0 = {gain[0] * u[0], gain[1] * u[1], gain[2] * u[2]};
    u += s->nv;
    sn_vec3 u1 = {gain[0] * u[0], gain[1] * u[1], gain[2] * u[2]};
    sn_log_coefficients(v3_dot(w, w), &c, &slope);
    // J_l^-1(d) = J_r^-1(-d)
    return v3_sub(sn_log_jacobian_right(c, v3_scale(-1, w), u1), sn_log_jacobian_right(c, w, u0));
}

static void add_turn_coupling(const sn_smoother *s, const double *x, int frame, const sn_joint *j,
                              double *y) {
    int part = j->ops->quaternion, q0 = j->q0 + part, slot = j->slot + part;
    const double *weight = s->weight + j->v0 + part;
    double change[4][3] = {{0}}, d[2][3] = {{0}}, y0[3], y1[3], g[3];
    for (int n = 0; n < 4; n++) {
        int k = frame - 2 + n;
        if (k < 0 || k + 1 >= s->nframe) continue;
        sn_vec3 c = turn_change(s, x, k, q0, slot);
        change[n][0] = c.x;
        change[n][1] = c.y;
        change[n][2] = c.z;
        const double *q = smooth_pose(s, s->q, k) + q0;
        if (n == 1 || n == 2) sn_ball_difference(q, q + s->nq, d[n - 1]);
    }
    for (int i = 0; i < 3; i++) {
        double a0 = inner(s, frame - 1) ? change[1][i] - change[0][i] : 0;
        double a1 = inner(s, frame) ? change[2][i] - change[1][i] : 0;
        double a2 = inner(s, frame + 1) ? change[3][i] - change[2][i] : 0;
        y0[i] = weight[i] * (a0 - a1);
        y1[i] = weight[i] * (a1 - a2);
    }
    turn_gradient(d[0], d[1], y0, y1, g);
    for (int i = 0; i < 3; i++) y[slot + i] += s->gain[slot + i] * g[i];
}

// The acceleration of a quaternion at an inner frame.
static sn_vec3 turn_acceleration(const sn_smoother *s, const double *q, int frame, int q0) {
    const double *at = smooth_pose(s, q, frame) + q0;
    double d0[3], d1[3];
    sn_ball_difference(at - s->nq, at, d0);
    sn_ball_difference(at, at + s->nq, d1);
    return v3_sub(v3_from(d1), v3_from(d0));
}

double sn_smooth_turn_excess(const sn_smoother *s, int frame) {
    const sn_model *m = s->model;
    double sum = 0;
    for (int i = 0; i < m->nquaternion && inner(s, frame); i++) {
        const sn_joint *j = &m->joint[m->quaternion[i]];
        int part = j->ops->quaternion, q0 = j->q0 + part, slot = j->slot + part;
        const double *w = s->weight + j->v0 + part;
        sn_vec3 is = turn_acceleration(s, s->p, frame, q0);
        sn_vec3 change = v3_sub(turn_change(s, s->x, frame, q0, slot),
                                turn_change(s, s->x, frame - 1, q0, slot));
        sn_vec3 said = v3_add(turn_acceleration(s, s->q, frame, q0), v3_scale(s->t, change));
        sum += w[0] * (is.x * is.x - said.x * said.x) + w[1] * (is.y * is.y - said.y * said.y) +
               w[2] * (is.z * is.z - said.z * said.z);
    }
    return 0.5 * sum;
}

void sn_smooth_coupling_add(const sn_smoother *s, const double *x, int frame, double *y) {
    double own[3], one[3] = {0}, two[3] = {0};
    const sn_model *m = s->model;
    int n = s->nframe, nv = s->nv;
    sn_smooth_bands(frame, n, own);
    if (frame >= 1) sn_smooth_bands(frame - 1, n, one);
    if (frame >= 2) sn_smooth_bands(frame - 2, n, two);
    // a neighbour outside the take has weight 0: any place to read from will do
    const double *at = x + smooth_at(s, frame);
    const double *b2 = frame >= 2 ? at - 2 * nv : at, *b1 = frame >= 1 ? at - nv : at;
    const double *f1 = frame + 1 < n ? at + nv : at, *f2 = frame + 2 < n ? at + 2 * nv : at;
    for (int i = 0; i < nv; i++)
        y[i] += s->added[i] * (two[2] * b2[i] + one[1] * b1[i] + own[0] * at[i] + own[1] * f1[i] +
                               own[2] * f2[i]);
    for (int i = 0; i < m->nquaternion; i++)
        add_turn_coupling(s, x, frame, &m->joint[m->quaternion[i]], y);
}

double sn_smooth_stretch(const sn_smoother *s, const double *x, int frame) {
    if (!inner(s, frame)) return 0;
    const double *at = x + smooth_at(s, frame), *before = at - s->nv, *behind = at + s->nv;
    double sum = 0;
    for (int i = 0; i < s->nv; i++) {
        double a = before[i] - 2 * at[i] + behind[i];
        sum += s->stiff[i] * a * a;
    }
    return sum;
}
