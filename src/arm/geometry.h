// SPDX-License-Identifier: MIT
// Where a chain's moves are, what rotation is left, and small symmetric systems, in one lane or more: what kernel.h
// and fall.h share. The includer defines REAL and its kin: see lanes1.h and lanes.h.
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "arm/curves.h"
#include "arm/kernels.h"

#if defined(KERNEL_ANY) || defined(SN_CHECKED)
#define UNROLL
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

// the first of the state's lanes that this is a step of
#ifndef FIRST
#define FIRST 0
#endif

SN_INLINE REAL smaller(REAL a, REAL b) { return choose(LESS(a, b), a, b); }
SN_INLINE REAL larger(REAL a, REAL b) { return choose(LESS(b, a), a, b); }

SN_INLINE void cross(const REAL *a, const REAL *b, REAL *out) {
    REAL x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
    out[0] = x;
    out[1] = y;
}

// The end frame's columns and place.
typedef struct KERNEL(end) {
    REAL x[3], y[3], z[3], p[3];
} KERNEL(end);

SN_INLINE void turn_about_z(KERNEL(end) * f, REAL s, REAL c) {
    UNROLL for (int i = 0; i < 3; i++) {
        REAL u = c * f->x[i] + s * f->y[i];
        f->y[i] = c * f->y[i] - s * f->x[i];
        f->x[i] = u;
    }
}

// A fixed frame on from this one.
SN_INLINE void past_fixed(const sn_frame *F, KERNEL(end) * f) {
    UNROLL for (int i = 0; i < 3; i++) {
        REAL x = f->x[i], y = f->y[i], z = f->z[i];
        f->p[i] = f->p[i] + (splat(F->p.x) * x + splat(F->p.y) * y + splat(F->p.z) * z);
        f->x[i] = splat(F->R.c[0].x) * x + splat(F->R.c[0].y) * y + splat(F->R.c[0].z) * z;
        f->y[i] = splat(F->R.c[1].x) * x + splat(F->R.c[1].y) * y + splat(F->R.c[1].z) * z;
        f->z[i] = splat(F->R.c[2].x) * x + splat(F->R.c[2].y) * y + splat(F->R.c[2].z) * z;
    }
}

// Any chain: the same for each move, and the tool's frame. Unless `masked` (the step for all chains)
// the chain is direct.
SN_INLINE void place_moves(const int m, const bool masked, const sn_arm_chain *c, const REAL *q,
                           REAL a[][3], REAL o[][3], KERNEL(end) * f) {
    const double *base[3] = {&c->base.R.c[0].x, &c->base.R.c[1].x, &c->base.R.c[2].x};
    for (int i = 0; i < 3; i++) {
        f->x[i] = splat(base[0][i]), f->y[i] = splat(base[1][i]), f->z[i] = splat(base[2][i]);
        f->p[i] = splat((&c->base.p.x)[i]);
    }
    UNROLL for (int j = 0; j < m; j++) {
        const sn_arm_move *v = &c->move[j];
        const REAL at = q[masked ? v->variable : j];
        UNROLL for (int i = 0; i < 3; i++) a[j][i] = f->z[i], o[j][i] = f->p[i];
        if (v->turn != 0) {
            REAL s, k;
            sine_cosine(splat(v->turn) * at + splat(v->offset), &s, &k);
            turn_about_z(f, s, k);
        }
        if (v->slide != 0)
            UNROLL for (int i = 0; i < 3; i++) f->p[i] = f->p[i] + splat(v->slide) * at * f->z[i];
        past_fixed(&c->fixed[j], f);
    }
}

// Along a link to the next joint. What is zero is left out, which changes no bit; an arm's links are the same in every
// step, so that the machine knows where these branches go.
SN_INLINE void along_link(const sn_arm_chain *c, int j, KERNEL(end) * f) {
    const int ways = c->ways[j];
    if (ways == 1) {
        UNROLL for (int i = 0; i < 3; i++) f->p[i] = f->p[i] + splat(c->t[j][0]) * f->x[i];
    } else if (ways == 2) {
        UNROLL for (int i = 0; i < 3; i++) f->p[i] = f->p[i] + splat(c->t[j][1]) * f->y[i];
    } else if (ways == 4) {
        UNROLL for (int i = 0; i < 3; i++) f->p[i] = f->p[i] + splat(c->t[j][2]) * f->z[i];
    } else if (ways != 0) {
        UNROLL for (int i = 0; i < 3; i++) f->p[i] =
            f->p[i] + (splat(c->t[j][0]) * f->x[i] + splat(c->t[j][1]) * f->y[i] +
                       splat(c->t[j][2]) * f->z[i]);
    }
    if (c->bends[j] == SN_ARM_PARALLEL) return;
    if (c->bends[j] == SN_ARM_QUARTER) {
        UNROLL for (int i = 0; i < 3; i++) {
            const REAL y = f->y[i];
            f->y[i] = f->z[i];
            f->z[i] = -y;
        }
        return;
    }
    UNROLL for (int i = 0; i < 3; i++) {
        const REAL y = splat(c->cosine[j]) * f->y[i] + splat(c->sine[j]) * f->z[i];
        f->z[i] = splat(c->cosine[j]) * f->z[i] - splat(c->sine[j]) * f->y[i];
        f->y[i] = y;
    }
}

// Hinges, or (lead) a slide and hinges, in the chain's shorter form: axes, places and the frame behind
// the last turn.
SN_INLINE void place_hinges(const int n, const bool lead, const sn_arm_chain *c, const REAL *q,
                            REAL a[][3], REAL o[][3], KERNEL(end) * f) {
    REAL s[SN_ARM_MAX], k[SN_ARM_MAX];
    SINES(n, q, s, k);
    for (int i = 0; i < 3; i++) {
        f->x[i] = splat(i == 0), f->y[i] = splat(i == 1);
        f->z[i] = splat(i == 2), f->p[i] = splat(0);
    }
    UNROLL for (int j = 0; j < n; j++) {
        UNROLL for (int i = 0; i < 3; i++) a[j][i] = f->z[i], o[j][i] = f->p[i];
        if (lead && j == 0)
            f->p[2] = q[0];
        else
            turn_about_z(f, s[j], k[j]);
        if (j + 1 < n) along_link(c, j, f);
    }
}

// The rotation vector that leads from the end's columns to the goal's. With t its length and h =
// cos(t/2), the sum v of the columns' cross products is sin t times its axis, and t / sin t = P(h)/h
// to 1e-5, exact at t = 0. Near t = pi, where v vanishes, the axis is taken from the diagonal.
SN_INLINE void rotation_left(const KERNEL(end) * f, const REAL *G, REAL *e) {
    REAL t[3], d[3], c = splat(0);
    cross(f->x, G, e);
    cross(f->y, G + 3, t);
    for (int i = 0; i < 3; i++) e[i] = e[i] + t[i];
    cross(f->z, G + 6, t);
    for (int i = 0; i < 3; i++) {
        e[i] = splat(0.5) * (e[i] + t[i]);
        d[i] = f->x[i] * G[i] + f->y[i] * G[3 + i] + f->z[i] * G[6 + i];
        c = c + d[i];
    }
    const REAL one = splat(1), h2 = larger(splat(0.25) * (one + c), splat(1e-4)), h = root(h2);
    const REAL u = one - h;
    REAL k = splat(-.0290525) + u * splat(.0317874);
    k = splat(.0507743) + u * (splat(.0500331) + u * k);
    k = (one + u * (splat(.3333248) + u * (splat(.1339174) + u * k))) / h;
    for (int i = 0; i < 3; i++) e[i] = k * e[i];
    const BITS near_pi = LESS(c, splat(-0.999));
    if (ANY(near_pi)) {
        const REAL cosine = splat(0.5) * (c - one);
        for (int i = 0; i < 3; i++) {
            REAL part = splat(3.1) * root(larger(splat(0.5) * (d[i] - cosine), splat(0)));
            e[i] = choose(near_pi, choose(LESS(e[i], splat(0)), -part, part), e[i]);
        }
    }
}

// A symmetric A of `size` rows in its lower triangle as L D L^T: L below the diagonal, 1 / D on it.
#define AT(r, c) A[(r) * ((r) + 1) / 2 + (c)]
SN_INLINE void factor_small(const int size, REAL *A) {
    REAL u[SN_ARM_MAX];
    UNROLL for (int r = 0; r < size; r++) {
        REAL d = AT(r, r);
        UNROLL for (int c = 0; c < r; c++) {
            REAL s = AT(r, c);
            UNROLL for (int k = 0; k < c; k++) s = s - u[k] * AT(c, k);
            u[c] = s;
            AT(r, c) = s * AT(c, c);
            d = d - s * AT(r, c);
        }
        AT(r, r) = splat(1) / larger(d, splat(1e-10));
    }
}

SN_INLINE void solve_small(const int size, const REAL *A, const REAL *b, REAL *x) {
    UNROLL for (int r = 0; r < size; r++) {
        REAL s = b[r];
        UNROLL for (int k = 0; k < r; k++) s = s - AT(r, k) * x[k];
        x[r] = s;
    }
    UNROLL for (int r = size - 1; r >= 0; r--) {
        REAL s = x[r] * AT(r, r);
        UNROLL for (int k = r + 1; k < size; k++) s = s - AT(k, r) * x[k];
        x[r] = s;
    }
}
#undef AT
