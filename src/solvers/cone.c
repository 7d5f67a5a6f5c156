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
//   A limit of the whole turn has its axis u as direction and the bend cot(turn/2)/2 (1 - u u^T), which is
//   above 0 and serves both matrices.
//
//   A face of a reach cone is a cone of a right angle about its direction k: n = k x d, the same bend.
//   At a corner, or with the twist at its limit too, the directions lean against each other. Those that are
//   held are the ones whose pushes together balance the gradient, every push outwards, while what is left of
//   the gradient pushes against none of the others: of the few subsets the one for which this holds.
//
// This is the active set of the other limits with a direction in the place of a coordinate; the block is
// there anyway, so that factorisation and products need nothing new.
#include "math/sincos.h"
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

// A limit that the ball is at: n leads out of it, N = gain o n.
typedef struct limit {
    unsigned bit;
    sn_vec3 n, N;
    sn_vec3 axis;  // of the cone; of a twist 0
} limit;

enum { LIMITS = 5 };

static void add_limit(const double *gain, limit *all, int *n, unsigned bit, sn_vec3 out,
                      sn_vec3 axis) {
    sn_vec3 N = v3(gain[0] * out.x, gain[1] * out.y, gain[2] * out.z);
    if (*n < LIMITS && v3_dot(N, N) > 0) all[(*n)++] = (limit){bit, out, N, axis};
}

static int find_limits(const sn_joint *j, const sn_cone_at *at, const double *quat,
                       const double *gain, limit *all) {
    const sn_vec3 none = {0, 0, 0};
    int n = 0;
    if (j->turn != INFINITY) {
        sn_vec3 axis;
        if (sn_turn_measure(quat, &axis) >= j->turn - near_limit)
            add_limit(gain, all, &n, SN_CONE_TURN, axis, none);
        return n;
    }
    if (at->swing >= j->swing - near_limit) add_limit(gain, all, &n, SN_CONE_SWING, at->n, j->axis);
    for (int i = 0; i < j->nreach; i++) {
        sn_vec3 k = sn_reach_face(j, i);
        if (v3_dot(k, at->tilted) <= near_limit)
            add_limit(gain, all, &n, (unsigned)SN_CONE_FACE << i, v3_cross(k, at->tilted), k);
    }
    if (at->twist >= j->twist[1] - near_limit) add_limit(gain, all, &n, SN_CONE_UPPER, at->m, none);
    if (at->twist <= j->twist[0] + near_limit)
        add_limit(gain, all, &n, SN_CONE_LOWER, v3_neg(at->m), none);
    return n;
}

// The limits of a set as directions e at right angles, and the pushes with g = -sum push N + rest. False
// when the set is not independent, a push leads inwards or the rest leads out of another limit.
typedef struct holding {
    int n;
    sn_vec3 e[3];
    double push[LIMITS];
} holding;

static bool try_set(const limit *all, int n, unsigned set, sn_vec3 g, holding *out) {
    int member[3];
    double R[3][3] = {{0}};
    *out = (holding){0};
    for (int i = 0; i < n; i++) {
        if ((set >> i & 1) == 0) continue;
        if (out->n == 3) return false;
        int c = out->n;
        sn_vec3 e = all[i].N;
        for (int k = 0; k < c; k++) {
            R[k][c] = v3_dot(out->e[k], e);
            e = v3_sub(e, v3_scale(R[k][c], out->e[k]));
        }
        R[c][c] = v3_norm(e);
        if (!(R[c][c] > 1e-6 * v3_norm(all[i].N))) return false;
        out->e[c] = v3_scale(1 / R[c][c], e);
        member[out->n++] = i;
    }
    sn_vec3 rest = g;
    double y[3] = {0};
    for (int k = 0; k < out->n; k++) {
        y[k] = -v3_dot(out->e[k], g);
        rest = v3_sub(rest, v3_scale(v3_dot(out->e[k], rest), out->e[k]));
    }
    for (int k = out->n - 1; k >= 0; k--) {
        for (int c = k + 1; c < out->n; c++) y[k] -= R[k][c] * out->push[member[c]];
        out->push[member[k]] = y[k] / R[k][k];
        if (!(out->push[member[k]] > 0)) return false;
    }
    for (int i = 0; i < n; i++) {
        double size = v3_norm(g) * v3_norm(all[i].N);
        if ((set >> i & 1) == 0 && v3_dot(all[i].N, rest) < -1e-12 * size) return false;
    }
    return true;
}

static void hold(sn_solver *s, const sn_joint *j, sn_vec3 e, double top) {
    double *g = s->ws->g + j->slot, *local = s->ws->local + SN_MAX_JOINT_DOFS * j->slot;
    double push = g[0] * e.x + g[1] * e.y + g[2] * e.z;
    for (int a = 0; a < 3; a++) {
        g[a] -= push * v3_at(e, a);
        for (int b = 0; b <= a; b++)
            local[SN_MAX_JOINT_DOFS * a + b] += stiffness * top * v3_at(e, a) * v3_at(e, b);
    }
}

// The cone's bend, times the push.
static void add_bend(sn_solver *s, const sn_joint *j, const limit *at, sn_vec3 d, double push) {
    double *local = s->ws->local + SN_MAX_JOINT_DOFS * j->slot;
    const double *gain = s->model->gain + j->v0;
    const sn_vec3 axis = at->axis, n = at->n;
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

// The bend of a limit of the whole turn, times the push.
static void add_turn_bend(sn_solver *s, const sn_joint *j, sn_vec3 axis, double push) {
    double *local = s->ws->local + SN_MAX_JOINT_DOFS * j->slot, sine, cosine;
    const double *gain = s->model->gain + j->v0;
    sn_sincos(0.5 * j->turn, &sine, &cosine);
    for (int a = 0; a < 3; a++)
        for (int b = 0; b <= a; b++)
            local[SN_MAX_JOINT_DOFS * a + b] += push * gain[a] * gain[b] * 0.5 * cosine / sine *
                                                ((a == b) - v3_at(axis, a) * v3_at(axis, b));
}

static int count_bits(uint32_t bits) {
    int n = 0;
    for (; bits != 0; bits &= bits - 1) n++;
    return n;
}

int sn_solver_cone_hold(sn_solver *s) {
    const sn_model *m = s->model;
    int count = 0;
    for (int i = 0; i < m->nquaternion; i++) {
        const sn_joint *j = &m->joint[m->quaternion[i]];
        uint32_t *held = &s->held[m->quaternion[i]];
        if (!j->cone) continue;
        if (s->held_known) {
            count += count_bits(*held);
            continue;
        }
        *held = 0;
        const double *g = s->ws->g + j->slot;
        double top = 0;
        limit all[LIMITS];
        holding found = {0};
        sn_cone_at at = sn_cone_measure(j, s->q + j->q0);
        for (int a = 0; a < 3; a++) top = fmax(top, s->scale[j->slot + a]);
        int n = find_limits(j, &at, s->q + j->q0, m->gain + j->v0, all);
        unsigned set = 0;
        while (set < 1u << n && !try_set(all, n, set, v3(g[0], g[1], g[2]), &found)) set++;
        if (set == 1u << n) continue;  // rounding: no set is right
        for (int k = 0; k < n; k++) {
            if ((set >> k & 1) == 0) continue;
            *held |= all[k].bit;
            count++;
            if (all[k].bit == SN_CONE_TURN) add_turn_bend(s, j, all[k].n, found.push[k]);
            if (v3_dot(all[k].axis, all[k].axis) > 0)
                add_bend(s, j, &all[k], at.tilted, found.push[k]);
        }
        for (int k = 0; k < found.n; k++) hold(s, j, found.e[k], top);
    }
    s->held_known = true;
    return count;
}
