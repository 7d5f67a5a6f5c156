// SPDX-License-Identifier: MIT
// Where a chain's moves are and what rotation is left, in one lane or four: what kernel.h and fall.h
// share. The includer defines REAL and its kin: see lanes1.h and lanes4.h.
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

SN_INLINE REAL smaller(REAL a, REAL b) { return choose(LESS(a, b), a, b); }
SN_INLINE REAL larger(REAL a, REAL b) { return choose(LESS(b, a), a, b); }

SN_INLINE void cross(const REAL *a, const REAL *b, REAL *out) {
    REAL x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
    out[0] = x;
    out[1] = y;
}

SN_INLINE void sine_cosine(REAL angle, REAL *sine, REAL *cosine) {
    SN_ARM_SINE_COSINE(REAL, BITS, as_bits, as_real, angle, *sine, *cosine)
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
        const sn_frame *F = &c->fixed[j];
        const REAL at = q[masked ? v->variable : j];
        UNROLL for (int i = 0; i < 3; i++) a[j][i] = f->z[i], o[j][i] = f->p[i];
        if (v->turn != 0) {
            REAL s, k;
            sine_cosine(v->turn * at + v->offset, &s, &k);
            turn_about_z(f, s, k);
        }
        if (v->slide != 0)
            UNROLL for (int i = 0; i < 3; i++) f->p[i] = f->p[i] + v->slide * at * f->z[i];
        UNROLL for (int i = 0; i < 3; i++) {
            REAL x = f->x[i], y = f->y[i], z = f->z[i];
            f->p[i] = f->p[i] + (F->p.x * x + F->p.y * y + F->p.z * z);
            f->x[i] = F->R.c[0].x * x + F->R.c[0].y * y + F->R.c[0].z * z;
            f->y[i] = F->R.c[1].x * x + F->R.c[1].y * y + F->R.c[1].z * z;
            f->z[i] = F->R.c[2].x * x + F->R.c[2].y * y + F->R.c[2].z * z;
        }
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
        e[i] = 0.5 * (e[i] + t[i]);
        d[i] = f->x[i] * G[i] + f->y[i] * G[3 + i] + f->z[i] * G[6 + i];
        c = c + d[i];
    }
    const REAL h2 = larger(0.25 * (1.0 + c), splat(1e-4)), h = root(h2), u = 1.0 - h;
    const REAL k =
        (1.0 +
         u * (.3333248 +
              u * (.1339174 + u * (.0507743 + u * (.0500331 + u * (-.0290525 + u * .0317874)))))) /
        h;
    for (int i = 0; i < 3; i++) e[i] = k * e[i];
    const BITS near_pi = LESS(c, splat(-0.999));
    if (ANY(near_pi)) {
        const REAL cosine = 0.5 * (c - 1.0);
        for (int i = 0; i < 3; i++) {
            REAL part = 3.1 * root(larger(0.5 * (d[i] - cosine), splat(0)));
            e[i] = choose(near_pi, choose(LESS(e[i], splat(0)), -part, part), e[i]);
        }
    }
}
