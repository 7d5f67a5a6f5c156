// SPDX-License-Identifier: MIT
// Limits of balls, kept inside the solver. A ball's three degrees of freedom are turns about the axes of the
// parent-side frame; its limits are a cone and a twist, whose directions n and m (joint_cone.c) change from
// pose to pose. So a limit is no coordinate that could be dropped, but a direction:
//
//   a step that leaves the limits is brought back onto them, the shortest way (a projection onto the
//   surface, right to second order), and one of a ball that is held at a limit stays on it;
//   where the ball is at a limit and the gradient pushes against it, N = gain o n is taken out of g, and H
//   gets mu N N^T in the joint's own block, mu far above all else: the step then keeps to the tangent.
//   The exact Hessian also has the surface's bend, lambda d2 swing, lambda = -g.N / N.N being the push:
//   d2 swing (u, u) = (cos (u^2 - (n.u)^2) - (a.u)(d.u)) / sin. The twist has none along its tangent.
//   Gauss-Newton gets the positive part, cot(swing/2)/2 along the rim.
//
// This is the active set of the other limits with a direction in the place of a coordinate; the block is
// there anyway, so that factorisation and products need nothing new.
#include "solvers/solver.h"

// How near to a limit counts as at it: a pose that was put there is within rounding.
static const double near_limit = 1e-10;

// Against the largest entry of the joint's own diagonal: the step leans off the tangent by 1e-6, which the
// projection takes back, and rounding of 1e-10 stays below what counts as a negative pivot (solver.c).
static const double stiffness = 1e6;

void sn_solver_cone_move(sn_solver *s) {
    const sn_model *m = s->model;
    for (int i = 0; i < m->nquaternion; i++) {
        const sn_joint *j = &m->joint[m->quaternion[i]];
        double delta[3];
        bool still =
            s->moved[j->slot] == 0 && s->moved[j->slot + 1] == 0 && s->moved[j->slot + 2] == 0;
        unsigned held = still ? 0 : s->held[m->quaternion[i]];
        if (!j->cone || !sn_cone_put(j, held, s->trial + j->q0)) continue;
        j->ops->difference(s->q + j->q0, s->trial + j->q0, delta);
        for (int a = 0; a < 3; a++) {
            double gain = m->gain[j->v0 + a];
            if (gain != 0) s->moved[j->slot + a] = delta[a] / gain;
        }
    }
}

// One limit: N is the direction in which f wants to leave it.
static void hold(sn_solver *s, const sn_joint *j, sn_vec3 N, double top) {
    double *g = s->ws->g + j->slot, *local = s->ws->local + SN_MAX_JOINT_DOFS * j->slot;
    const double n[3] = {N.x, N.y, N.z}, square = v3_dot(N, N);
    double push = (g[0] * n[0] + g[1] * n[1] + g[2] * n[2]) / square;
    for (int a = 0; a < 3; a++) {
        g[a] -= push * n[a];
        for (int b = 0; b <= a; b++)
            local[SN_MAX_JOINT_DOFS * a + b] += stiffness * top * n[a] * n[b] / square;
    }
}

// The cone's bend, times the push.
static void add_bend(sn_solver *s, const sn_joint *j, const sn_cone_at *at, double push) {
    double *local = s->ws->local + SN_MAX_JOINT_DOFS * j->slot;
    const double *gain = s->model->gain + j->v0;
    const sn_vec3 axis = j->axis, d = at->tilted, n = at->n;
    sn_vec3 round = v3_cross(n, v3_add(axis, d));  // along the cone's rim
    round = v3_scale(1 / v3_norm(round), round);
    double sine = v3_norm(v3_cross(axis, d)), cosine = v3_dot(axis, d);
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b <= a; b++) {
            double t = s->exact_here
                           ? cosine * ((a == b) - v3_at(n, a) * v3_at(n, b)) -
                                 0.5 * (v3_at(axis, a) * v3_at(d, b) + v3_at(d, a) * v3_at(axis, b))
                           : 0.5 * (1 + cosine) * v3_at(round, a) * v3_at(round, b);
            local[SN_MAX_JOINT_DOFS * a + b] += push * gain[a] * gain[b] * t / sine;
        }
    }
}

int sn_solver_cone_hold(sn_solver *s) {
    const sn_model *m = s->model;
    int count = 0;
    for (int i = 0; i < m->nquaternion; i++) {
        const sn_joint *j = &m->joint[m->quaternion[i]];
        unsigned char *held = &s->held[m->quaternion[i]];
        if (!j->cone) continue;
        if (s->held_known) {
            count += (*held & SN_CONE_SWING) != 0;
            count += (*held & (SN_CONE_LOWER | SN_CONE_UPPER)) != 0;
            continue;
        }
        *held = 0;
        const double *gain = m->gain + j->v0;
        double *g = s->ws->g + j->slot, top = 0;
        sn_cone_at at = sn_cone_measure(j, s->q + j->q0);
        for (int a = 0; a < 3; a++) top = fmax(top, s->scale[j->slot + a]);
        sn_vec3 N = v3(gain[0] * at.n.x, gain[1] * at.n.y, gain[2] * at.n.z);
        sn_vec3 M = v3(gain[0] * at.m.x, gain[1] * at.m.y, gain[2] * at.m.z);
        double out = g[0] * N.x + g[1] * N.y + g[2] * N.z;
        if (at.swing >= j->swing - near_limit && v3_dot(N, N) > 0 && out < 0) {
            add_bend(s, j, &at, -out / v3_dot(N, N));
            hold(s, j, N, top);
            *held |= SN_CONE_SWING;
            count++;
        }
        double turn = g[0] * M.x + g[1] * M.y + g[2] * M.z;
        bool upper = at.twist >= j->twist[1] - near_limit && turn < 0;
        bool lower = at.twist <= j->twist[0] + near_limit && turn > 0;
        if ((upper || lower) && v3_dot(M, M) > 0) {
            hold(s, j, M, top);
            *held |= upper ? SN_CONE_UPPER : SN_CONE_LOWER;
            count++;
        }
    }
    s->held_known = true;
    return count;
}
