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

SN_INLINE void sine_cosine(REAL angle, REAL *sine, REAL *cosine) {
    SN_ARM_SINE_COSINE(REAL, BITS, as_bits, as_real, angle, *sine, *cosine)
}

#define CHAIN const sn_arm_chain *
#include "arm/newton.h"

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
