// SPDX-License-Identifier: MIT
// Poses, four or eight at a time, down to where nothing gets nearer to a goal: projected Newton steps with the
// exact Hessian, as in nearest.c, for chains whose every number counts and has one move.
//
// A call looks at the poses that the last one proposed. Those that are nearer are taken. Where the reach ends valleys are
// long, narrow and bent: a step along one ends beside it, higher up. From there the next step leads down to the valley
// again, damped so that it goes across and not along, and mostly to a lower place. Where it does not the pose comes back
// to the nearest so far, with damping that shortens its step by nine. With i the outer of two moves the Hessian is, A_i and B_i made once a move,
//
//   H_ij = J_j . A_i + a_j . B_i,   A_i = J_i + r x a_i,   B_i = (C a_i - e x a_i / 2) / 4
//
// Pivots that are not positive are taken by their size: the step goes down there too. A pivot is how f bends along a
// way on which its own joint turns by a radian, so that pivots and what is left of the slope tell how much lower a pose
// would get: `promise`, as far as second order sees. What bends less than `flat` is freedom that the goal leaves.
#include "arm/falls.h"
#include "arm/geometry.h"

// C = cot + (1 - cot) n n^T: cot, and (1 - cot) / t^2, which goes with e e^T.
SN_INLINE void bending(REAL t2, REAL *cot, REAL *share) {
    const REAL t = root(t2 + 1e-30);
    REAL s, k;
    sine_cosine(0.5 * t, &s, &k);
    const BITS tiny = LESS(t2, splat(1e-4));
    *cot = choose(tiny, 1.0 - t2 / 12.0, 0.5 * t * k / choose(tiny, splat(1), s));
    *share = choose(tiny, splat(1.0 / 12), (1.0 - *cot) / choose(tiny, splat(1), t2));
}

SN_INLINE REAL dot3(const REAL *a, const REAL *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// f up to which a step beside the valley is followed (and joints at limits are held for others' sake), and its damping, of
// the root of f
static const double out_f = 1e-2, out_damping = 0.5;

#define AT(r, c) ((r) * ((r) + 1) / 2 + (c))

// Which moves a chain has: any, or its shorter form, whose variables are the kernels' and whose goal is seen from the
// first turn.
typedef enum KERNEL(form) { MOVES, HINGES, LEAD } KERNEL(form);

// f, g and H at s->q.
SN_INLINE REAL look_at(const int n, const KERNEL(form) form, const sn_arm_chain *c,
                       const sn_arm_falls *s, REAL *g, REAL *H, REAL a[][3], REAL J[][3], REAL *u) {
    REAL q[SN_ARM_MAX], G[12], o[SN_ARM_MOVES][3];
    REAL A[SN_ARM_MAX][3], B[SN_ARM_MAX][3], r[3], e[3], cot, share;
    KERNEL(end) f;
    UNROLL for (int j = 0; j < n; j++) q[j] = load(s->q[j] + FIRST);
    for (int i = 0; i < 12; i++) G[i] = splat(s->goal[i]);
    if (form == MOVES) {
        place_moves(n, false, c, q, a, o, &f);
    } else {
        place_hinges(n, form == LEAD, c, q, a, o, &f);
        past_fixed(&c->fixed[n - 1], &f);
    }
    rotation_left(&f, G, e);
    for (int i = 0; i < 3; i++) r[i] = f.p[i] - G[9 + i];
    const REAL t2 = dot3(e, e);
    bending(t2, &cot, &share);
    UNROLL for (int j = 0; j < n; j++) {
        REAL arm[3] = {f.p[0] - o[j][0], f.p[1] - o[j][1], f.p[2] - o[j][2]}, ra[3], ea[3];
        cross(a[j], arm, J[j]);
        if (form == MOVES) {
            const sn_arm_move *v = &c->move[j];
            for (int i = 0; i < 3; i++) {
                J[j][i] = v->turn * J[j][i] + v->slide * a[j][i];
                a[j][i] = v->turn * a[j][i];
            }
        } else if (form == LEAD && j == 0) {
            for (int i = 0; i < 3; i++) J[j][i] = a[j][i], a[j][i] = splat(0);
        }
        cross(r, a[j], ra);
        cross(e, a[j], ea);
        const REAL along = share * dot3(e, a[j]);
        for (int i = 0; i < 3; i++) {
            A[j][i] = J[j][i] + ra[i];
            B[j][i] = 0.25 * (cot * a[j][i] + along * e[i] - 0.5 * ea[i]);
        }
        g[j] = dot3(r, J[j]) - 0.25 * dot3(e, a[j]);
        UNROLL for (int i = 0; i <= j; i++) H[AT(j, i)] = dot3(J[j], A[i]) + dot3(a[j], B[i]);
    }
    for (int i = 0; i < 3; i++) u[i] = -0.5 * e[i], u[3 + i] = r[i];
    return 0.5 * dot3(r, r) + 0.125 * t2;
}

// The step p of (H + mu) p = -g over the variables that are not held, no longer than half a radian, and its promise.
// `stiff`: how f bends along it, damping and shortening included; `hope`: what it is to win.
SN_INLINE REAL step_down(const int n, const REAL *g, const REAL *H, const BITS *held, REAL mu,
                         REAL f, REAL flat, REAL *L, REAL *inverse, REAL *p, REAL *stiff,
                         REAL *hope) {
    REAL u[SN_ARM_MAX];
    REAL most = splat(1e-30), promise = splat(0);
    const REAL least = 0.1 * f + 1e-14;
    UNROLL for (int i = 0; i < n; i++) {
        REAL s = choose(held[i], splat(0), -g[i]);
        REAL d = choose(held[i], splat(1), H[AT(i, i)] + mu);
        UNROLL for (int j = 0; j < i; j++) {
            REAL h = choose(held[i] | held[j], splat(0), H[AT(i, j)]);
            UNROLL for (int k = 0; k < j; k++) h = h - u[k] * L[AT(j, k)];
            u[j] = h;
            L[AT(i, j)] = h * inverse[j];
            d = d - h * L[AT(i, j)];
            s = s - L[AT(i, j)] * p[j];
        }
        promise = promise + 0.5 * s * s / larger(d, least) + choose(LESS(d, -least), -d, splat(0));
        d = choose(LESS(d, flat), larger(-d, 10.0 * flat), d);
        inverse[i] = 1.0 / d;
        p[i] = s;
    }
    UNROLL for (int i = n - 1; i >= 0; i--) {
        REAL s = p[i] * inverse[i];
        UNROLL for (int k = i + 1; k < n; k++) s = s - L[AT(k, i)] * p[k];
        p[i] = s;
        most = larger(most, larger(p[i], -p[i]));
    }
    const REAL cut = smaller(splat(1), 0.4 / most);
    REAL down = splat(0), size = splat(1e-30);
    UNROLL for (int i = 0; i < n; i++) {
        down = down - choose(held[i], splat(0), g[i]) * p[i], size = size + p[i] * p[i];
        p[i] = p[i] * cut;
    }
    *stiff = down / (size * cut);
    *hope = cut * (down - 0.5 * cut * (down - mu * size));
    return choose(LESS(0.1 * *stiff, mu), splat(1e30), promise);
}

// What a step p misses since it is straight, made good to second order but along what is left, u: where the reach ends
// valleys are narrow and bend. See bend_of() in kernel.h. The factors are those of the step.
SN_INLINE void bend_back(const int n, REAL a[][3], REAL J[][3], const REAL *u, REAL f,
                         const BITS *held, const REAL *L, const REAL *inverse, REAL *p) {
    REAL T[3] = {splat(0), splat(0), splat(0)}, miss[6], more[SN_ARM_MAX];
    REAL size = splat(0), extra = splat(0), along = splat(0);
    for (int i = 0; i < 6; i++) miss[i] = splat(0);
    UNROLL for (int j = 0; j < n; j++) {
        REAL t[3], v[3], half[3], out[3];
        for (int i = 0; i < 3; i++) {
            t[i] = a[j][i] * p[j], v[i] = J[j][i] * p[j];
            half[i] = T[i] + 0.5 * t[i];
        }
        cross(half, v, out);
        for (int i = 0; i < 3; i++) miss[3 + i] = miss[3 + i] + out[i];
        cross(T, t, out);
        for (int i = 0; i < 3; i++) miss[i] = miss[i] + 0.25 * out[i];
        for (int i = 0; i < 3; i++) T[i] = T[i] + t[i];
    }
    for (int i = 0; i < 6; i++) along = along + u[i] * miss[i];
    along = along / (2.0 * f + 1e-30);
    for (int i = 0; i < 6; i++) miss[i] = along * u[i] - miss[i];
    UNROLL for (int j = 0; j < n; j++) {
        REAL s = choose(held[j], splat(0), 0.5 * dot3(a[j], miss) + dot3(J[j], miss + 3));
        UNROLL for (int k = 0; k < j; k++) s = s - L[AT(j, k)] * more[k];
        more[j] = s;
    }
    UNROLL for (int i = n - 1; i >= 0; i--) {
        REAL s = more[i] * inverse[i];
        UNROLL for (int k = i + 1; k < n; k++) s = s - L[AT(k, i)] * more[k];
        more[i] = s;
        size = size + p[i] * p[i], extra = extra + more[i] * more[i];
    }
    const BITS use = LESS(extra, 0.25 * size);
    UNROLL for (int j = 0; j < n; j++) p[j] = p[j] + choose(use, more[j], splat(0));
}

// A number of the pose that the next step starts from: of this one where it is `here`, else of the nearest so far, which
// this one may be.
SN_INLINE REAL keep(double *best, BITS nearer, BITS here, REAL now) {
    const REAL was = load(best);
    store(best, choose(nearer, now, was));
    return choose(here, now, was);
}

SN_INLINE void fall_by(const int n, const KERNEL(form) form, const sn_arm_chain *c,
                       sn_arm_falls *s) {
    REAL g[SN_ARM_MAX], H[SN_ARM_MAX * (SN_ARM_MAX + 1) / 2], p[SN_ARM_MAX], from[SN_ARM_MAX];
    REAL a[SN_ARM_MOVES][3], J[SN_ARM_MAX][3], u[6], slope = splat(0), stiff, hope;
    REAL L[SN_ARM_MAX * (SN_ARM_MAX + 1) / 2], inverse[SN_ARM_MAX];
    BITS held[SN_ARM_MAX];
    const REAL f = look_at(n, form, c, s, g, H, a, J, u), was = load(s->f + FIRST),
               damped = load(s->mu + FIRST);
    const BITS nearer = LESS(f, was), followed = LESS(load(s->out + FIRST), splat(0.5));
    const BITS out = ~nearer & followed & LESS(f, splat(out_f)), here = nearer | out;
    UNROLL for (int i = 0; i < n; i++) {
        from[i] = keep(s->at[i] + FIRST, nearer, here, load(s->q[i] + FIRST));
        g[i] = keep(s->g[i] + FIRST, nearer, here, g[i]);
        UNROLL for (int k = 0; k < 3; k++) {
            a[i][k] = keep(s->a[i][k] + FIRST, nearer, here, a[i][k]);
            J[i][k] = keep(s->J[i][k] + FIRST, nearer, here, J[i][k]);
        }
        UNROLL for (int j = 0; j <= i; j++) H[AT(i, j)] =
            keep(s->H[AT(i, j)] + FIRST, nearer, here, H[AT(i, j)]);
    }
    for (int k = 0; k < 6; k++) u[k] = keep(s->u[k] + FIRST, nearer, here, u[k]);
    const REAL mine = choose(here, f, was);
    const REAL flat = 1e-5 * smaller(root(mine), splat(0.03)) + 1e-14;
    const REAL stiff_was = load(s->stiff + FIRST), hope_was = load(s->hope + FIRST),
               good = (was - f) / hope_was;
    REAL mu = choose(LESS(splat(0.75), good), 0.1 * damped,
                     choose(LESS(splat(0.25), good), 0.5 * damped, damped + stiff_was));
    mu = choose(nearer, mu, choose(out, damped, damped + 8.0 * stiff_was));
    mu = choose(LESS(mu, 0.1 * flat), splat(0), mu);
    store(s->f + FIRST, smaller(f, was));
    store(s->mu + FIRST, mu);
    store(s->out + FIRST, choose(out, splat(1), splat(0)));
    UNROLL for (int i = 0; i < n; i++) {
        const REAL low = load(s->low[i] + FIRST), high = load(s->high[i] + FIRST);
        held[i] = (~LESS(low, from[i]) & LESS(splat(0), g[i])) |
                  (~LESS(from[i], high) & LESS(g[i], splat(0)));
        slope = larger(slope, choose(held[i], splat(0), larger(g[i], -g[i])));
    }
    const REAL damping = choose(out, out_damping * root(mine), mu);
    REAL promise = step_down(n, g, H, held, damping, mine, flat, L, inverse, p, &stiff, &hope);
    // near the goal what would leave its limits, by way of others that go elsewhere, is held too: the step without it
    const BITS near = LESS(mine, splat(out_f));
    BITS more = near & ~near;
    UNROLL for (int i = 0; i < n; i++) {
        const REAL low = load(s->low[i] + FIRST), high = load(s->high[i] + FIRST);
        const BITS leaves = near & ((~LESS(low, from[i]) & LESS(p[i], splat(0))) |
                                    (~LESS(from[i], high) & LESS(splat(0), p[i])));
        held[i] = held[i] | leaves;
        more = more | leaves;
    }
    if (ANY(more))
        promise = step_down(n, g, H, held, damping, mine, flat, L, inverse, p, &stiff, &hope);
    store(s->slope + FIRST, choose(out, splat(1e30), slope));
    store(s->promise + FIRST, choose(out, splat(1e30), promise));
    store(s->stiff + FIRST, choose(out, stiff_was, stiff));
    store(s->hope + FIRST, choose(out, hope_was, hope));
    bend_back(n, a, J, u, mine, held, L, inverse, p);
    UNROLL for (int i = 0; i < n; i++)
        store(s->q[i] + FIRST,
              smaller(larger(from[i] + p[i], load(s->low[i] + FIRST)), load(s->high[i] + FIRST)));
}

#define VARIANT(name, n, form)                                                                     \
    static void KERNEL(name)(const sn_arm_chain *c, sn_arm_falls *s) { fall_by(n, form, c, s); }
VARIANT(fall6, 6, HINGES)
VARIANT(fall7, 7, HINGES)
VARIANT(fall_lead7, 7, LEAD)
VARIANT(fall_lead8, 8, LEAD)
VARIANT(fall_any, c->n, MOVES)
#undef VARIANT

void KERNEL(fall)(const sn_arm_chain *c, sn_arm_falls *s) {
    if (!c->hinges)
        KERNEL(fall_any)(c, s);
    else if (!c->lead && c->n == 7)
        KERNEL(fall7)(c, s);
    else if (!c->lead)
        KERNEL(fall6)(c, s);
    else if (c->n == 8)
        KERNEL(fall_lead8)(c, s);
    else
        KERNEL(fall_lead7)(c, s);
}
#undef AT
