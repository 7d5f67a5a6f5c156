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

// limits of a variable: the chain's, but each lane's own where the includer says so
#ifndef LOWER
#define LOWER(j) splat(c->lower[j])
#define UPPER(j) splat(c->upper[j])
#endif

// What is zero in the columns of hinges: the first turns about the z of its own frame, and the end's place is on the last
// axis. These terms are left out of sums, which changes no bit.
SN_INLINE bool is_zero(const int n, const bool lead, const int j, const int i) {
#ifdef KERNEL_ANY
    (void)n, (void)lead, (void)j, (void)i;
    return false;
#else
    return (j == 0 && (lead ? i != 5 : i == 0 || i == 1 || i == 5)) || (j == n - 1 && i >= 3);
#endif
}

#ifdef KERNEL_ANY
#include "arm/kernel_any.h"
#else
// f between which a step is bent, and how long the second part may be, squared, of the first
static const double bend_least = SN_ARM_PLAIN_F, bend_most_f = SN_ARM_LAST_F, bend_most = 0.25;

SN_INLINE void columns_hinges(const int n, const bool lead, const KERNEL(end) * f, REAL a[][3],
                              REAL o[][3], REAL J[][6]) {
    UNROLL for (int j = 0; j < n; j++) {
        for (int i = 0; i < 3; i++) J[j][i] = a[j][i], J[j][3 + i] = splat(0);
        if (lead && j == 0) {
            for (int i = 0; i < 3; i++) J[j][3 + i] = a[j][i], J[j][i] = splat(0);
        } else if (j == 0) {
            J[j][3] = -f->p[1], J[j][4] = f->p[0];
        } else if (j + 1 < n) {
            REAL arm[3] = {f->p[0] - o[j][0], f->p[1] - o[j][1], f->p[2] - o[j][2]};
            cross(a[j], arm, J[j] + 3);
        }
    }
}

// How a step x bends away from where its slope leads, to second order: with turns t_j = a_j x_j, ways v_j = J_j x_j
// and T_j the sum of the turns before,
//
//   turn:  1/2 sum T_j x t_j         place:  sum (T_j + t_j / 2) x v_j
//
// (turning a joint carries everything behind it; products of small turns by Baker, Campbell and Hausdorff).
SN_INLINE void bend_of(const int n, const bool lead, REAL J[][6], const REAL *x, REAL *c) {
    REAL T[3] = {splat(0), splat(0), splat(0)};
    for (int i = 0; i < 6; i++) c[i] = splat(0);
    UNROLL for (int j = lead ? 1 : 0; j < n; j++) {
        REAL t[3], v[3], half[3], out[3];
        for (int i = 0; i < 3; i++) {
            t[i] = J[j][i] * x[j], v[i] = J[j][3 + i] * x[j];
            half[i] = T[i] + splat(0.5) * t[i];
        }
        if (j + 1 < n) {
            cross(half, v, out);
            for (int i = 0; i < 3; i++) c[3 + i] = c[3 + i] + out[i];
        }
        if (j > (lead ? 1 : 0)) {
            cross(T, t, out);
            for (int i = 0; i < 3; i++) c[i] = c[i] + splat(0.5) * out[i];
        }
        for (int i = 0; i < 3; i++) T[i] = T[i] + t[i];
    }
}
#endif

#define AT(r, c) A[(r) * ((r) + 1) / 2 + (c)]
// (J J^T + lambda), or with fewer than six variables (J^T J + lambda), factored. A first slide moves along z: its
// column is (0, 0, 0, 0, 0, 1).
SN_INLINE void factor_step(const int n, const bool lead, REAL J[][6], REAL lambda, REAL *A) {
    const int rows = n >= 6 ? 6 : n, first = lead ? 1 : 0;
    UNROLL for (int r = 0; r < rows; r++) UNROLL for (int k = 0; k <= r; k++) {
        REAL sum = r == k ? lambda : splat(0);
        if (n >= 6) {
            UNROLL for (int j = first; j < n; j++) {
                if (is_zero(n, lead, j, r) || is_zero(n, lead, j, k)) continue;
                sum = sum + J[j][r] * J[j][k];
            }
            if (lead && r == 5 && k == 5) sum = sum + J[0][5];
        } else {
            UNROLL for (int i = 0; i < 6; i++) sum = sum + J[r][i] * J[k][i];
        }
        AT(r, k) = sum;
    }
    factor_small(rows, A);
}

// The step x = J^T (J J^T + lambda)^-1 e, or what it is with fewer than six variables.
SN_INLINE void solve_step(const int n, const bool lead, REAL J[][6], const REAL *A, const REAL *e,
                          REAL *x) {
    REAL w[6];
    if (n >= 6) {
        solve_small(6, A, e, w);
        UNROLL for (int j = 0; j < n; j++) {
            REAL sum = splat(0);
            UNROLL for (int i = 0; i < 6; i++) if (!is_zero(n, lead, j, i)) sum =
                sum + J[j][i] * w[i];
            x[j] = lead && j == 0 ? J[0][5] * w[5] : sum;
        }
    } else {
        REAL g[6] = {splat(0), splat(0), splat(0), splat(0), splat(0), splat(0)};
        UNROLL for (int r = 0; r < n; r++) UNROLL for (int i = 0; i < 6; i++) g[r] =
            g[r] + J[r][i] * e[i];
        solve_small(n, A, g, x);
    }
}
#undef AT

SN_INLINE void KERNEL(step)(const int n, const bool lead, const sn_arm_chain *c, KERNEL(state) * s,
                            const bool hold, const bool pull) {
    REAL q[SN_ARM_ALL], G[12], a[SN_ARM_MOVES][3], o[SN_ARM_MOVES][3], J[SN_ARM_ALL][6], e[6];
    REAL d[SN_ARM_MAX];
    KERNEL(end) f;
    UNROLL for (int j = 0; j < n; j++) q[j] = load(s->q[j] + FIRST);
    for (int i = 0; i < 12; i++) G[i] = load(s->goal[i] + FIRST);
#ifdef KERNEL_ANY
    REAL slope[SN_ARM_CURVES][SN_ARM_MAX], spun[9];
    if (c->ncurve > 0) follow_curves(c, q, slope);
    place_moves(c->m, true, c, q, a, o, &f);
    if (c->rotation == SN_ARM_ROTATION_AXIS) spin_goal(c, &f, G, spun);
    rotation_left(&f, c->rotation == SN_ARM_ROTATION_AXIS ? spun : G, e);
#else
    place_hinges(n, lead, c, q, a, o, &f);
    rotation_left(&f, G, e);
#endif
    for (int i = 0; i < 3; i++) e[3 + i] = G[9 + i] - f.p[i];
#ifdef KERNEL_ANY
    mask_rows(c, G, e, true), mask_rows(c, G, e + 3, false);
#endif
    const REAL turn2 = e[0] * e[0] + e[1] * e[1] + e[2] * e[2];
    const REAL place2 = e[3] * e[3] + e[4] * e[4] + e[5] * e[5];
    const REAL f2 = place2 + splat(0.25) * turn2;
    store(s->turn + FIRST, turn2);
    store(s->place + FIRST, place2);
    // one lane alone ends here when it has arrived
    if (LANES == 1 && !pull &&
        !ANY(LESS(splat(s->turn_tol), turn2) | LESS(splat(s->place_tol), place2)))
        return;
    if (LANES == 1 && pull && ANY(LESS(splat(s->give_up), f2))) return;

    const REAL tiny = splat(1e-30), cut_turn = smaller(splat(1), splat(1) / root(turn2 + tiny));
    const REAL cut_place = smaller(splat(1), splat(c->length * 0.33) / root(place2 + tiny));
    for (int i = 0; i < 3; i++) e[i] = e[i] * cut_turn, e[3 + i] = e[3 + i] * cut_place;

#ifdef KERNEL_ANY
    columns_any(c, G, &f, a, o, slope, J);
#else
    columns_hinges(n, lead, &f, a, o, J);
#endif
    if (pull) UNROLL for (int j = 0; j < n; j++) {
            d[j] = load(s->want[j] + FIRST) - q[j];
            d[j] = smaller(larger(d[j], splat(-1.0)), splat(1.0)) * load(s->pull + FIRST);
            UNROLL for (int i = 0; i < 6; i++) if (!is_zero(n, lead, j, i)) e[i] =
                e[i] - J[j][i] * d[j];
        }
    if (hold) UNROLL for (int j = 0; j < n; j++) {
            if (c->round[j]) continue;
            const REAL low = LOWER(j), high = UPPER(j), zero = splat(0);
            const BITS at_low = ~LESS(low, q[j]), at_high = ~LESS(q[j], high);
            if (!ANY(at_low | at_high)) continue;
            REAL g = zero;
            UNROLL for (int i = 0; i < 6; i++) if (!is_zero(n, lead, j, i)) g = g + J[j][i] * e[i];
            if (pull) g = g + d[j];
            const BITS held = (at_low & LESS(g, zero)) | (at_high & LESS(zero, g));
            UNROLL for (int i = 0; i < 6; i++) {
                if (is_zero(n, lead, j, i)) continue;
                // what the posture wanted of it comes back
                if (pull) e[i] = choose(held, e[i] + J[j][i] * d[j], e[i]);
                J[j][i] = choose(held, zero, J[j][i]);
            }
            if (pull) d[j] = choose(held, zero, d[j]);
        }

    const REAL lambda = splat(0.01) * f2 + splat(1e-9);
    REAL x[SN_ARM_MAX], A[SN_ARM_MAX * (SN_ARM_MAX + 1) / 2];
    factor_step(n, lead, J, lambda, A);
    solve_step(n, lead, J, A, e, x);
    if (pull) UNROLL for (int j = 0; j < n; j++) x[j] = x[j] + d[j];
#ifndef KERNEL_ANY
    // near the goal what the step bends away is made good by a second one, the error falls with its third power, and
    // nearer still that is not needed: this step is the last, most often
    const BITS straight = LESS(f2, splat(bend_most_f)) & LESS(splat(bend_least), f2);
    if (!hold && ANY(straight)) {
        REAL more[SN_ARM_MAX], c2[6], size = splat(0), extra = splat(0);
        bend_of(n, lead, J, x, c2);
        for (int i = 0; i < 6; i++) c2[i] = -c2[i];
        solve_step(n, lead, J, A, c2, more);
        UNROLL for (int j = 0; j < n; j++) size = size + x[j] * x[j],
                                           extra = extra + more[j] * more[j];
        const BITS use = straight & LESS(extra, splat(bend_most) * size);
        UNROLL for (int j = 0; j < n; j++) x[j] = x[j] + choose(use, more[j], splat(0));
    }
#endif
    UNROLL for (int j = 0; j < n; j++) {
        REAL next = q[j] + x[j];
        if (hold && !c->round[j]) next = smaller(larger(next, LOWER(j)), UPPER(j));
        store(s->next[j] + FIRST, next);
    }
}

#ifdef KERNEL_ANY
void KERNEL(any)(const sn_arm_chain *c, KERNEL(state) * s, bool hold, bool pull) {
    if (PULL && pull)
        KERNEL(step)(c->n, false, c, s, true, true);
    else
        KERNEL(step)(c->n, false, c, s, hold, false);
}
#else
#ifdef KERNEL_END
// Where the end is at q, as the goal of a state has it.
#define VARIANT(name, n, lead)                                                                     \
    static void KERNEL(name)(const sn_arm_chain *c, const double *q, KERNEL(end) * f) {            \
        REAL a[SN_ARM_MAX][3], o[SN_ARM_MAX][3];                                                   \
        place_hinges(n, lead, c, q, a, o, f);                                                      \
    }
VARIANT(end6, 6, false)
VARIANT(end7, 7, false)
VARIANT(end_lead7, 7, true)
VARIANT(end_lead8, 8, true)
#undef VARIANT

void KERNEL(end_at)(const sn_arm_chain *c, const double *q, double out[12]) {
    KERNEL(end) f;
    if (c->lead && c->n == 8)
        KERNEL(end_lead8)(c, q, &f);
    else if (c->lead)
        KERNEL(end_lead7)(c, q, &f);
    else if (c->n == 7)
        KERNEL(end7)(c, q, &f);
    else
        KERNEL(end6)(c, q, &f);
    memcpy(out, &f, 12 * sizeof *out);
}
#endif

#define VARIANT(name, n, lead)                                                                     \
    static void KERNEL(name)(const sn_arm_chain *c, KERNEL(state) * s, bool hold, bool pull) {     \
        if (PULL && pull)                                                                          \
            KERNEL(step)(n, lead, c, s, true, true);                                               \
        else if (hold)                                                                             \
            KERNEL(step)(n, lead, c, s, true, false);                                              \
        else                                                                                       \
            KERNEL(step)(n, lead, c, s, false, false);                                             \
    }
VARIANT(step6, 6, false)
VARIANT(step7, 7, false)
VARIANT(lead7, 7, true)
VARIANT(lead8, 8, true)
#undef VARIANT

void KERNEL(iterate)(const sn_arm_chain *c, KERNEL(state) * s, bool hold, bool pull) {
    if (!c->hinges)
        KERNEL_OTHER(c, s, hold, pull);
    else if (!c->lead && c->n == 7)
        KERNEL(step7)(c, s, hold, pull);
    else if (!c->lead)
        KERNEL(step6)(c, s, hold, pull);
    else if (c->n == 8)
        KERNEL(lead8)(c, s, hold, pull);
    else
        KERNEL(lead7)(c, s, hold, pull);
}
#endif
