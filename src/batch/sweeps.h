// SPDX-License-Identifier: MIT
// The sweeps of core.h from the leaves to the root: gradient, articulated factor, solve, products.

// The gradient along the degrees of freedom of joint k from the sums of its subtree.
FN void gradient_of(ARGS, int k, const REAL *sum) {
    REAL phi[6];
    wrench_of(sum, phi);
    for (int i = T(slot)[k]; i < T(slot)[k] + T(jnv)[k]; i++)
        W(g)[i] = W(g)[i] - dot6(W(S) + 6 * i, phi);
}

// f of the tasks on bodies at the placed pose, sums over subtrees, the gradient.
PART REAL sum_sweep(PART_ARGS) {
    HERE;
    const int alone = N(nsum) == SN_SUM_MATRIX && N(npart) == 0;
    REAL twice = splat(0);
    if (SN_BATCH_OWN) {
        rest_terms(PASS_ON);
    } else {
        for (int i = 0; i < N(nv); i++) W(g)[i] = splat(0);
    }
    for (int k = N(nj) - 1; k >= 0; k--) {
        const int up = T(parent)[k], leaf = T(leaf)[k];
        const REAL *Rp = W(frame) + 12 * k;
        REAL *sum = W(sum) + N(nsum) * k, *to = W(sum) + N(nsum) * (up < 0 ? 0 : up);
        if (alone) {
            // points of scalar weight: their sums stay in registers
            REAL own[SN_SUM_MATRIX];
            UNROLL for (int i = 0; i < SN_SUM_MATRIX; i++) own[i] = pick(leaf, splat(0), sum[i]);
            twice = twice + add_points(PASS, 0, k, Rp, own);
            gradient_of(PASS, k, own);
            UNROLL for (int i = 0; i < SN_SUM_MATRIX; i++) sum[i] = own[i];
            if (up < 0) continue;
            if (T(last)[k]) {
                UNROLL for (int i = 0; i < SN_SUM_MATRIX; i++) to[i] = own[i];
            } else {
                UNROLL for (int i = 0; i < SN_SUM_MATRIX; i++) to[i] = to[i] + own[i];
            }
            continue;
        }
        if (leaf)
            for (int i = 0; i < N(nsum); i++) sum[i] = splat(0);
        twice = twice + add_tasks(PASS, k, Rp, sum);
        gradient_of(PASS, k, sum);
        for (int i = 0; i < N(nsum) && up >= 0; i++)
            to[i] = pick(T(last)[k], sum[i], to[i] + sum[i]);
    }
    return 0.5 * twice;
}

// The diagonal of the Gauss-Newton matrix into y, after sum_sweep(); most steps do not ask for it.
PART void seen_sweep(PART_ARGS) {
    HERE;
    for (int k = 0; k < N(nj); k++) {
        const REAL *sum = W(sum) + N(nsum) * k;
        for (int i = T(slot)[k]; i < T(slot)[k] + T(jnv)[k]; i++) {
            const REAL *S = W(S) + 6 * i;
            REAL seen = seen_from(sum, S), y[6];
            if (N(matrix)) {
                UNROLL for (int n = 0; n < 6; n++) y[n] = splat(0);
                add_symmetric(sum + SN_SUM_MATRIX, splat(1), S, y);
                seen = seen + dot6(S, y);
            }
            if (SN_BATCH_OWN) seen = seen + W(own)[i];
            W(y)[i] = seen;
        }
        if (!SN_BATCH_OWN || T(quat)[k] < 0) continue;
        const int i = T(slot)[k] + (T(type)[k] == SN_BATCH_FREE ? 3 : 0);
        UNROLL for (int a = 0; a < 3; a++) W(y)[i + a] =
            W(y)[i + a] + W(rest_h)[12 * T(quat)[k] + packed(a, a)];
    }
}

// What H has among the degrees of freedom of joint k beyond S_b . K S_a: h[packed(a, b)].
FN void own_terms(ARGS, int k, REAL e, REAL *h) {
    const int m = T(jnv)[k], first = T(slot)[k], type = T(type)[k];
    for (int i = 0; i < m * (m + 1) / 2; i++) h[i] = splat(0);
    if (SN_BATCH_OWN) {
        for (int a = 0; a < m; a++) h[packed(a, a)] = W(own)[first + a];
        if (T(quat)[k] >= 0) {
            const REAL *more = W(rest_h) + 12 * T(quat)[k];
            const int from = type == SN_BATCH_FREE ? 3 : 0;
            UNROLL for (int a = 0; a < 3; a++) for (int b = 0; b <= a; b++)
                h[packed(from + a, from + b)] = h[packed(from + a, from + b)] +
                                                (more[packed(a, b)] + e * more[6 + packed(a, b)]);
        }
    }
    REAL phi[6], torque[3], lever[3];
    wrench_of(W(sum) + N(nsum) * k, phi);
    cross3(W(frame) + 12 * k + 9, phi + 3, lever);
    UNROLL for (int i = 0; i < 3; i++) torque[i] = e * (phi[i] - lever[i]);
    if (type == SN_BATCH_BALL || type == SN_BATCH_FREE) {
        const int from = type == SN_BATCH_FREE ? 3 : 0;
        for (int a = 1; a < 3; a++)
            for (int b = 0; b < a; b++) {
                REAL c[3];
                cross3(W(S) + 6 * (first + from + b), W(S) + 6 * (first + from + a), c);
                h[packed(from + a, from + b)] =
                    h[packed(from + a, from + b)] + 0.5 * dot3(c, torque);
            }
    }
    if (N(nmove) > 0 && type == SN_BATCH_DRIVEN)
        for (int a = 0; a < m; a++)
            for (int b = 0; b <= a; b++) {
                const REAL *E = W(bend) + 6 * (T(bend0)[k] + packed(a, b));
                h[packed(a, b)] =
                    h[packed(a, b)] - T(gain)[first + a] * T(gain)[first + b] * (e * dot6(E, phi));
            }
    if (type == SN_BATCH_EXPMAP || type == SN_BATCH_SWING_TWIST) {
        const int swing = type == SN_BATCH_SWING_TWIST, n = swing ? 2 : 3, up = T(parent)[k];
        const REAL *q = W(x) + T(q0)[k];
        REAL base[9], w[3], c[5], axis[9], J[9], inside[3];
        UNROLL for (int i = 0; i < 9; i++) base[i] = splat(T(offset)[12 * k + i]);
        // the torque in the parent-side frame
        UNROLL for (int i = 0; i < 3; i++) inside[i] = torque[i];
        if (up >= 0) {
            const REAL *F = W(frame) + 12 * up;
            UNROLL for (int i = 0; i < 3; i++) inside[i] = dot3(F + 3 * i, torque);
        }
        UNROLL for (int i = 0; i < 3; i++) lever[i] = dot3(base + 3 * i, inside);
        UNROLL for (int i = 0; i < 3; i++) w[i] =
            pick(swing, q[0] * T(axis)[12 * k + 6 + i] + q[1] * T(axis)[12 * k + 9 + i], q[i]);
        expmap_at(dot3(w, w), c);
        for (int a = 0; a < n; a++) {
            UNROLL for (int i = 0; i < 3; i++) axis[3 * a + i] =
                splat(swing    ? T(axis)[12 * k + 6 + 3 * a + i]
                      : i == a ? 1.0
                               : 0.0);
            expmap_jacobian(c, w, axis + 3 * a, J + 3 * a);
        }
        for (int a = 0; a < n; a++)
            for (int b = 0; b <= a; b++) {
                REAL change[3], cross[3];
                expmap_change(c, w, axis + 3 * a, axis + 3 * b, change);
                cross3(J + 3 * b, J + 3 * a, cross);
                UNROLL for (int i = 0; i < 3; i++) change[i] = change[i] - cross[i];
                h[packed(a, b)] =
                    h[packed(a, b)] - T(gain)[first + a] * T(gain)[first + b] * dot3(change, lever);
            }
    }
}

// How a factorisation went, lane by lane.
typedef struct FACTOR {
    BITS failed;
    REAL pivot, at;           // the first pivot that failed, and which
    REAL metric, scale, add;  // the diagonal: metric D^2 + scale times the scale + add
    REAL most, most2;
    BITS check;   // also what no task sees counts where f bends
    int looking;  // some do
    REAL noise;
} FACTOR;

FN REAL metric_of(ARGS, int i, REAL most, REAL most2) {
    return largest(T(gain)[i] * T(gain)[i] * (pick(T(length)[i], most2, most)), W(scale)[i]);
}

FN REAL diagonal_of(ARGS, int i, const FACTOR *f) {
    return f->metric * metric_of(PASS, i, f->most, f->most2) + (f->scale * W(scale)[i] + f->add);
}

// 1 over a pivot, 0 where it is left out or failed; h: the diagonal before anything was eliminated.
FN REAL take_pivot(int i, REAL kept, REAL d, REAL h, FACTOR *f) {
    BITS keep = LESS(splat(0.5), kept);
    if (f->looking) {
        // blind ones are marked so
        const BITS bends = LESS(100.0 * f->noise, size_of(h)) & LESS(kept, splat(-0.5));
        keep = keep | (f->check & bends);
    }
    const BITS bad = keep & ~LESS(splat(0), d) & ~f->failed;
    f->pivot = choose(bad, d, f->pivot);
    f->at = choose(bad, splat(i), f->at);
    f->failed = f->failed | bad;
    // the division does not wait for the mask; where d is 0 nobody looks at it
    return choose(keep & ~f->failed, 1.0 / d, splat(0));
}

// Joints whose degrees of freedom have terms of their own: a small dense elimination.
FN void factor_block(ARGS, int k, const FIELD *field, REAL *Q, FACTOR *f) {
    const int m = T(jnv)[k], first = T(slot)[k];
    REAL h[21], y[36], diagonal[6];
    own_terms(PASS, k, field->e, h);
    for (int a = 0; a < m; a++) {
        const REAL *S = W(S) + 6 * (first + a);
        field_times(PASS, k, field, S, y + 6 * a);
        diagonal[a] = dot6(S, y + 6 * a) + h[packed(a, a)];
        take_symmetric(Q, S, y + 6 * a);
        for (int b = 0; b <= a; b++)
            h[packed(a, b)] = h[packed(a, b)] + dot6(W(S) + 6 * (first + b), y + 6 * a);
        h[packed(a, a)] = h[packed(a, a)] + diagonal_of(PASS, first + a, f);
    }
    for (int a = m - 1; a >= 0; a--) {
        const REAL inverse =
            take_pivot(first + a, W(keep)[first + a], h[packed(a, a)], diagonal[a], f);
        REAL *lower = W(lower) + T(lower0)[k] + a * (a - 1) / 2;
        W(inverse)[first + a] = inverse;
        for (int b = 0; b < a; b++) {
            const REAL l = h[packed(a, b)] * inverse;
            lower[b] = l;
            UNROLL for (int n = 0; n < 6; n++) y[6 * b + n] = y[6 * b + n] - l * y[6 * a + n];
            for (int c = 0; c <= b; c++) h[packed(b, c)] = h[packed(b, c)] - l * h[packed(a, c)];
        }
        UNROLL for (int n = 0; n < 6; n++) W(Y)[6 * (first + a) + n] = y[6 * a + n];
    }
    for (int a = 0; a < m; a++) add_square(Q, y + 6 * a, W(inverse)[first + a]);
}

// H + diagonal = L^T D L, joint by joint (articulated.c of sweeps/); degrees of freedom without terms of
// their own one by one, as if each were a joint.
PART void factor_sweep(PART_ARGS, REAL e, FACTOR *out) {
    HERE;
    FACTOR here = *out, *const f = &here;
    const int own = SN_BATCH_OWN;
    for (int k = N(nj) - 1; k >= 0; k--) {
        const int first = T(slot)[k], m = T(jnv)[k], up = T(parent)[k];
        REAL Q[21];
        FIELD field;
        if (T(leaf)[k]) {
            UNROLL for (int i = 0; i < 21; i++) Q[i] = splat(0);
        } else {
            UNROLL for (int i = 0; i < 21; i++) Q[i] = W(Q)[21 * k + i];
        }
        load_field(W(sum) + N(nsum) * k, e, &field);
        if (T(block)[k]) {
            factor_block(PASS, k, &field, Q, f);
        } else {
            for (int i = first + m - 1; i >= first; i--) {
                const REAL *S = W(S) + 6 * i;
                REAL y[6], h = own ? W(own)[i] : splat(0);
                field_times(PASS, k, &field, S, y);
                REAL plain = splat(0);
                if (f->looking) plain = h + dot6(S, y);
                take_symmetric(Q, S, y);
                const REAL d = (h + dot6(S, y)) + diagonal_of(PASS, i, f);
                const REAL inverse = take_pivot(i, W(keep)[i], d, plain, f);
                W(inverse)[i] = inverse;
                UNROLL for (int n = 0; n < 6; n++) W(Y)[6 * i + n] = y[n];
                add_square(Q, y, inverse);
            }
        }
        if (up < 0) continue;
        if (T(last)[k]) {
            UNROLL for (int i = 0; i < 21; i++) W(Q)[21 * up + i] = Q[i];
        } else {
            UNROLL for (int i = 0; i < 21; i++) W(Q)[21 * up + i] = W(Q)[21 * up + i] + Q[i];
        }
    }
    *out = here;
}

// x <- D^-1 L^-T x
PART void reduce(PART_ARGS, REAL *x) {
    HERE;
    for (int k = N(nj) - 1; k >= 0; k--) {
        const int first = T(slot)[k], m = T(jnv)[k], up = T(parent)[k];
        REAL push[6];
        UNROLL for (int i = 0; i < 6; i++) push[i] = pick(T(leaf)[k], splat(0), W(push)[6 * k + i]);
        if (T(block)[k]) {
            for (int i = first; i < first + m; i++) x[i] = x[i] - dot6(W(S) + 6 * i, push);
            for (int a = m - 1; a >= 0; a--) {
                const REAL *lower = W(lower) + T(lower0)[k] + a * (a - 1) / 2;
                for (int b = 0; b < a; b++) x[first + b] = x[first + b] - lower[b] * x[first + a];
                x[first + a] = W(inverse)[first + a] * x[first + a];
            }
            for (int i = first; i < first + m; i++)
                UNROLL for (int n = 0; n < 6; n++) push[n] = push[n] + x[i] * W(Y)[6 * i + n];
        } else {
            for (int i = first + m - 1; i >= first; i--) {
                const REAL own = W(inverse)[i] * (x[i] - dot6(W(S) + 6 * i, push));
                x[i] = own;
                UNROLL for (int n = 0; n < 6; n++) push[n] = push[n] + own * W(Y)[6 * i + n];
            }
        }
        if (up < 0) continue;
        UNROLL for (int i = 0; i < 6; i++) W(push)[6 * up + i] =
            pick(T(last)[k], push[i], W(push)[6 * up + i] + push[i]);
    }
}

// x <- L^-1 x
PART void substitute(PART_ARGS, REAL *x) {
    HERE;
    for (int k = 0; k < N(nj); k++) {
        const int first = T(slot)[k], m = T(jnv)[k], up = T(parent)[k];
        REAL V[6];
        UNROLL for (int i = 0; i < 6; i++) V[i] = up < 0 ? splat(0) : W(push)[6 * up + i];
        if (T(block)[k]) {
            for (int a = 0; a < m; a++) {
                const REAL *lower = W(lower) + T(lower0)[k] + a * (a - 1) / 2;
                REAL own = x[first + a] - W(inverse)[first + a] * dot6(W(Y) + 6 * (first + a), V);
                for (int b = 0; b < a; b++) own = own - lower[b] * x[first + b];
                x[first + a] = own;
            }
            for (int i = first; i < first + m; i++)
                UNROLL for (int n = 0; n < 6; n++) V[n] = V[n] + x[i] * W(S)[6 * i + n];
        } else {
            for (int i = first; i < first + m; i++) {
                const REAL own = x[i] - W(inverse)[i] * dot6(W(Y) + 6 * i, V);
                x[i] = own;
                UNROLL for (int n = 0; n < 6; n++) V[n] = V[n] + own * W(S)[6 * i + n];
            }
        }
        if (!T(leaf)[k]) UNROLL for (int i = 0; i < 6; i++) W(push)[6 * k + i] = V[i];
    }
}

// out = H x, without the diagonal that a factorisation adds.
PART void multiply(PART_ARGS, REAL e, const REAL *x, REAL *out) {
    HERE;
    const int own = SN_BATCH_OWN;
    // down: the twist of everything at and above a joint; kept where the field's Q was
    for (int k = 0; k < N(nj); k++) {
        const int up = T(parent)[k];
        UNROLL for (int n = 0; n < 6; n++) {
            REAL V = up < 0 ? splat(0) : W(Q)[21 * up + n];
            for (int i = T(slot)[k]; i < T(slot)[k] + T(jnv)[k]; i++)
                V = V + x[i] * W(S)[6 * i + n];
            W(Q)[21 * k + n] = V;
            W(push)[6 * k + n] = splat(0);
        }
    }
    for (int k = N(nj) - 1; k >= 0; k--) {
        const int first = T(slot)[k], m = T(jnv)[k], up = T(parent)[k];
        REAL push[6], V[6], y[36], h[21];
        FIELD field;
        UNROLL for (int n = 0; n < 6; n++) {
            push[n] = W(push)[6 * k + n];
            V[n] = up < 0 ? splat(0) : W(Q)[21 * up + n];
        }
        load_field(W(sum) + N(nsum) * k, e, &field);
        if (T(block)[k]) own_terms(PASS, k, e, h);
        for (int a = 0; a < m; a++) field_times(PASS, k, &field, W(S) + 6 * (first + a), y + 6 * a);
        for (int a = 0; a < m; a++) {
            REAL sum = dot6(W(S) + 6 * (first + a), push) + dot6(y + 6 * a, V);
            for (int b = 0; b < m; b++) {
                const int deep = a > b ? a : b, shallow = a > b ? b : a;
                REAL entry = dot6(W(S) + 6 * (first + shallow), y + 6 * deep);
                if (T(block)[k]) {
                    entry = entry + h[packed(deep, shallow)];
                } else if (own && a == b) {
                    entry = entry + W(own)[first + a];
                }
                sum = sum + entry * x[first + b];
            }
            out[first + a] = sum;
        }
        if (up < 0) continue;
        for (int a = 0; a < m; a++)
            UNROLL for (int n = 0; n < 6; n++) push[n] = push[n] + x[first + a] * y[6 * a + n];
        UNROLL for (int n = 0; n < 6; n++) W(push)[6 * up + n] = W(push)[6 * up + n] + push[n];
    }
}
