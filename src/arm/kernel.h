// SPDX-License-Identifier: MIT
// One Newton step of an arm, in one lane or four: included by kernel1.c and by the two kernel4 files,
// each of which says what a lane is. All are the same sequence of operations on doubles, so the bits
// do not depend on which one runs.
//
// At q: axes a_i, places o_i, the end frame; e = (rotation still to make, way still to go), the
// rotation cut off at 1 rad and the way at a third of the arm. Then
//
//   (J J^T + lambda) w = e - J d,   q <- q + J^T w + d,   lambda = 0.01 f + 1e-9
//
// with f = |way|^2 + |rotation|^2 / 4 and d the way to the wanted posture (0 without one): the step
// that is nearest to d among those that reach. With fewer than six variables the same from
// (J^T J + lambda) x = J^T (e - J d). Columns of joints that stand at a limit and would go beyond
// are left out, and the step ends at the limits.
//
// The includer defines REAL (a double or a vector of them), BITS (the same of int64_t), LANES,
// KERNEL(name), PULL (whether a posture may be wanted) and a few inline functions: see kernel1.c. With
// KERNEL_ANY it gets the step for every chain, else those for the usual arms, whose loops are unrolled.
#include "arm/geometry.h"

// What follows by curves: its numbers behind those of q, and its slopes, lane by lane.
SN_INLINE void follow_curves(const sn_arm_chain *c, REAL *all, REAL slope[][SN_ARM_MAX]) {
    double in[SN_ARM_MAX][LANES], value[SN_ARM_CURVES][LANES];
    double by[SN_ARM_CURVES][SN_ARM_MAX][LANES];
    sn_arm_curves at;
    for (int j = 0; j < c->n; j++) store(in[j], all[j]);
    for (int l = 0; l < LANES; l++) {
        double q[SN_ARM_MAX];
        for (int j = 0; j < c->n; j++) q[j] = c->length_of[j] ? in[j][l] * c->unit : in[j][l];
        sn_arm_curves_at(c, q, &at, false);
        for (int k = 0; k < c->ncurve; k++) {
            value[k][l] = at.value[k];
            for (int j = 0; j < c->n; j++) by[k][j][l] = at.slope[k][j];
        }
    }
    for (int k = 0; k < c->ncurve; k++) {
        all[SN_ARM_MAX + k] = load(value[k]);
        for (int j = 0; j < c->n; j++) slope[k][j] = load(by[k][j]);
    }
}

// Rows of the rotation and of the place that count, where not all do: into the goal's axes, the
// free ones zero. Turns about a free axis are taken off the goal first.
SN_INLINE void spin_goal(const sn_arm_chain *c, const KERNEL(end) * f, const REAL *G, REAL *spun) {
    const double k[3] = {c->axis.x, c->axis.y, c->axis.z};
    REAL to[3], from[3], v[3], w = splat(1);
    for (int i = 0; i < 3; i++) {
        to[i] = k[0] * G[i] + k[1] * G[3 + i] + k[2] * G[6 + i];
        from[i] = k[0] * f->x[i] + k[1] * f->y[i] + k[2] * f->z[i];
        w = w + to[i] * from[i];
    }
    // the smallest rotation Q that takes `from` to `to`; the spun goal is Q times the end
    cross(from, to, v);
    const BITS opposite = LESS(w, splat(1e-6));
    const REAL k1 = 1.0 / choose(opposite, splat(1), w);
    const REAL *column[3] = {f->x, f->y, f->z};
    for (int col = 0; col < 3; col++) {
        REAL vx[3], vvx[3];
        cross(v, column[col], vx);
        cross(v, vx, vvx);
        for (int i = 0; i < 3; i++)
            spun[3 * col + i] =
                choose(opposite, G[3 * col + i], column[col][i] + vx[i] + k1 * vvx[i]);
    }
}

SN_INLINE void mask_rows(const sn_arm_chain *c, const REAL *G, REAL *row, bool turn) {
    if (turn && c->rotation == SN_ARM_ROTATION_NONE)
        for (int i = 0; i < 3; i++) row[i] = splat(0);
    if (turn && c->rotation == SN_ARM_ROTATION_AXIS) {
        REAL to[3], along = splat(0);
        for (int i = 0; i < 3; i++) {
            to[i] = c->axis.x * G[i] + c->axis.y * G[3 + i] + c->axis.z * G[6 + i];
            along = along + to[i] * row[i];
        }
        for (int i = 0; i < 3; i++) row[i] = row[i] - along * to[i];
    }
    if (turn) return;
    for (int k = 0; k < 3; k++) {
        if (!c->place_free[k]) continue;
        REAL along = splat(0);
        for (int i = 0; i < 3; i++) along = along + G[3 * k + i] * row[i];
        for (int i = 0; i < 3; i++) row[i] = row[i] - along * G[3 * k + i];
    }
}

SN_INLINE void KERNEL(step)(const int n, const int m, const bool hinges, const bool lead,
                            const bool masked, const sn_arm_chain *c, KERNEL(state) * s,
                            const bool hold, const bool pull) {
    REAL q[SN_ARM_ALL], G[12], a[SN_ARM_MOVES][3], o[SN_ARM_MOVES][3], J[SN_ARM_ALL][6], e[6];
    REAL d[SN_ARM_MAX], slope[SN_ARM_CURVES][SN_ARM_MAX];
    const int ncurve = masked ? c->ncurve : 0;
    KERNEL(end) f;
    UNROLL for (int j = 0; j < n; j++) q[j] = load(s->q[j]);
    for (int i = 0; i < 12; i++) G[i] = load(s->goal[i]);
    if (ncurve > 0) follow_curves(c, q, slope);
    if (hinges)
        place_hinges(n, lead, c, q, a, o, &f);
    else
        place_moves(m, masked, c, q, a, o, &f);
    if (masked && c->rotation == SN_ARM_ROTATION_AXIS) {
        REAL spun[9];
        spin_goal(c, &f, G, spun);
        rotation_left(&f, spun, e);
    } else {
        rotation_left(&f, G, e);
    }
    for (int i = 0; i < 3; i++) e[3 + i] = G[9 + i] - f.p[i];
    if (masked) mask_rows(c, G, e, true), mask_rows(c, G, e + 3, false);
    const REAL turn2 = e[0] * e[0] + e[1] * e[1] + e[2] * e[2];
    const REAL place2 = e[3] * e[3] + e[4] * e[4] + e[5] * e[5];
    store(s->turn, turn2);
    store(s->place, place2);
    // one lane alone ends here when it has arrived
    if (LANES == 1 && !pull &&
        !ANY(LESS(splat(s->turn_tol), turn2) | LESS(splat(s->place_tol), place2)))
        return;
    if (LANES == 1 && pull && ANY(LESS(splat(s->give_up), place2 + 0.25 * turn2))) return;

    const REAL cut_turn = smaller(splat(1), 1.0 / root(turn2 + 1e-30));
    const REAL cut_place = smaller(splat(1), (c->length * 0.33) / root(place2 + 1e-30));
    for (int i = 0; i < 3; i++) e[i] = e[i] * cut_turn, e[3 + i] = e[3 + i] * cut_place;

    if (hinges) {
        UNROLL for (int j = 0; j < n; j++) {
            REAL arm[3] = {f.p[0] - o[j][0], f.p[1] - o[j][1], f.p[2] - o[j][2]};
            cross(a[j], arm, J[j] + 3);
            for (int i = 0; i < 3; i++) J[j][i] = a[j][i];
            if (lead && j == 0)
                for (int i = 0; i < 3; i++) J[j][3 + i] = a[j][i], J[j][i] = splat(0);
        }
    } else {
        UNROLL for (int j = 0; j < n; j++) UNROLL for (int i = 0; i < 6; i++) J[j][i] = splat(0);
        for (int k = 0; k < ncurve; k++)
            for (int i = 0; i < 6; i++) J[SN_ARM_MAX + k][i] = splat(0);
        UNROLL for (int k = 0; k < m; k++) {
            const sn_arm_move *v = &c->move[k];
            REAL *column = J[masked ? v->variable : k];
            if (v->turn != 0) {
                REAL arm[3] = {f.p[0] - o[k][0], f.p[1] - o[k][1], f.p[2] - o[k][2]}, way[3];
                cross(a[k], arm, way);
                for (int i = 0; i < 3; i++) {
                    column[i] = column[i] + v->turn * a[k][i];
                    column[3 + i] = column[3 + i] + v->turn * way[i];
                }
            }
            if (v->slide != 0)
                for (int i = 0; i < 3; i++) column[3 + i] = column[3 + i] + v->slide * a[k][i];
        }
        for (int k = 0; k < ncurve; k++)
            for (int j = 0; j < n; j++)
                for (int i = 0; i < 6; i++) J[j][i] = J[j][i] + slope[k][j] * J[SN_ARM_MAX + k][i];
        if (masked)
            for (int j = 0; j < n; j++)
                mask_rows(c, G, J[j], true), mask_rows(c, G, J[j] + 3, false);
    }
    if (pull) UNROLL for (int j = 0; j < n; j++) {
            d[j] = load(s->want[j]) - q[j];
            d[j] = smaller(larger(d[j], splat(-0.5)), splat(0.5)) * load(s->pull);
            UNROLL for (int i = 0; i < 6; i++) e[i] = e[i] - J[j][i] * d[j];
        }
    if (hold) UNROLL for (int j = 0; j < n; j++) {
            if (c->round[j]) continue;
            REAL g = splat(0);
            UNROLL for (int i = 0; i < 6; i++) g = g + J[j][i] * e[i];
            if (pull) g = g + d[j];
            const REAL low = splat(c->lower[j]), high = splat(c->upper[j]), zero = splat(0);
            const BITS below = ~LESS(low, q[j]) & LESS(g, zero);
            const BITS above = ~LESS(q[j], high) & LESS(zero, g), held = below | above;
            UNROLL for (int i = 0; i < 6; i++) {
                // what the posture wanted of it comes back
                if (pull) e[i] = e[i] + choose(held, J[j][i] * d[j], zero);
                J[j][i] = choose(held, zero, J[j][i]);
            }
            if (pull) d[j] = choose(held, zero, d[j]);
        }

    const REAL lambda = 0.01 * (place2 + 0.25 * turn2) + 1e-9;
    REAL x[SN_ARM_MAX];
    solve_step(n, J, e, lambda, x);
    UNROLL for (int j = 0; j < n; j++) {
        REAL next = q[j] + (pull ? x[j] + d[j] : x[j]);
        if (hold && !c->round[j])
            next = smaller(larger(next, splat(c->lower[j])), splat(c->upper[j]));
        store(s->next[j], next);
    }
}

#ifdef KERNEL_ANY
void KERNEL(any)(const sn_arm_chain *c, KERNEL(state) * s, bool hold, bool pull) {
    if (PULL && pull)
        KERNEL(step)(c->n, c->m, false, false, true, c, s, true, true);
    else
        KERNEL(step)(c->n, c->m, false, false, true, c, s, hold, false);
}
#else
#define VARIANT(name, n, lead)                                                                     \
    static void KERNEL(name)(const sn_arm_chain *c, KERNEL(state) * s, bool hold, bool pull) {     \
        if (PULL && pull)                                                                          \
            KERNEL(step)(n, n, true, lead, false, c, s, true, true);                               \
        else if (hold)                                                                             \
            KERNEL(step)(n, n, true, lead, false, c, s, true, false);                              \
        else                                                                                       \
            KERNEL(step)(n, n, true, lead, false, c, s, false, false);                             \
    }
VARIANT(step6, 6, false)
VARIANT(step7, 7, false)
VARIANT(lead7, 7, true)
VARIANT(lead8, 8, true)
#undef VARIANT

void KERNEL(iterate)(const sn_arm_chain *c, KERNEL(state) * s, bool hold, bool pull) {
    if (c->hinges && !c->lead && c->n == 7)
        KERNEL(step7)(c, s, hold, pull);
    else if (c->hinges && !c->lead && c->n == 6)
        KERNEL(step6)(c, s, hold, pull);
    else if (c->hinges && c->lead && c->n == 8)
        KERNEL(lead8)(c, s, hold, pull);
    else if (c->hinges && c->lead && c->n == 7)
        KERNEL(lead7)(c, s, hold, pull);
    else
        KERNEL_OTHER(c, s, hold, pull);
}
#endif
