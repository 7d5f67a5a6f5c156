// SPDX-License-Identifier: MIT
// The sweeps of core.h from the leaves to the root: gradient, articulated factor, solve, products.
//
// Joints are in the order of a walk through the tree, so that most follow their parents: what goes from one to the next
// stays where it is (`carried`), and only at a fork the other chains leave theirs in a list and start with nothing.

#define HAS_TASKS(k)                                                                               \
    (T(point_first)[(k) + 1] > T(point_first)[k] ||                                                \
     (N(npart) > 0 && T(part_first)[(k) + 1] > T(part_first)[k]))

// What was carried to joint k: with what hangs at it where it is a fork.
FN void gather(ARGS, int k, const int n, REAL *carried) {
    if (T(fork)[k] < 0) return;
    const REAL *hung = W(hung) + n * T(fork)[k];
    UNROLL for (int i = 0; i < n; i++) carried[i] = hung[i] + carried[i];
}

// On to its parent.
FN void pass_up(ARGS, int k, const int n, REAL *carried) {
    const int up = T(parent)[k];
    if (up == k - 1) return;
    if (up >= 0) {
        REAL *hung = W(hung) + n * T(fork)[up];
        if (T(last)[k]) {
            UNROLL for (int i = 0; i < n; i++) hung[i] = carried[i];
        } else {
            UNROLL for (int i = 0; i < n; i++) hung[i] = hung[i] + carried[i];
        }
    }
    UNROLL for (int i = 0; i < n; i++) carried[i] = splat(0);
}

// The wrench of a point at p with r to go.
FN void add_wrench(const REAL *p, const REAL *r, REAL w, REAL *phi) {
    REAL F[3], n[3];
    UNROLL for (int m = 0; m < 3; m++) F[m] = w * r[m];
    cross3(p, F, n);
    UNROLL for (int m = 0; m < 3; m++) phi[m] = phi[m] + n[m], phi[3 + m] = phi[3 + m] + F[m];
}

// The wrench of the tasks on joint k.
FN void own_wrench(ARGS, int k, REAL *phi) {
    UNROLL for (int n = 0; n < 6; n++) phi[n] = splat(0);
    if (N(npart) > 0 && T(part_first)[k + 1] > T(part_first)[k])
        wrench_of(W(sum) + N(nsum) * k, phi);
    for (int i = T(point_first)[k]; i < T(point_first)[k + 1]; i++) {
        const REAL *p = W(point) + 7 * i;
        add_wrench(p, p + 3, p[6], phi);
    }
}

// f of the tasks on bodies at the placed pose, what they pull at, the wrenches of subtrees and the gradient.
PART REAL sum_sweep(PART_ARGS) {
    HERE;
    REAL twice = splat(0), carried[6], phi[6];
    UNROLL for (int i = 0; i < 6; i++) carried[i] = splat(0);
    if (SN_BATCH_OWN) rest_terms(PASS_ON);
    for (int k = N(nj) - 1; k >= 0; k--) {
        const REAL *Rp = W(frame) + 12 * k;
        gather(PASS, k, 6, carried);
        UNROLL for (int n = 0; n < 6; n++) phi[n] = splat(0);
        const int parts = N(npart) > 0 && T(part_first)[k + 1] > T(part_first)[k];
        REAL others = splat(0);
        if (parts) {
            others = sum_parts(PASS, k, Rp, W(sum) + N(nsum) * k);
            wrench_of(W(sum) + N(nsum) * k, phi);
        }
        for (int i = T(point_first)[k]; i < T(point_first)[k + 1]; i++) {
            REAL p[3], r[3], w, bent;
            place_point(PASS, i, Rp, p);
            twice = twice + pull_point(PASS, N(loss), i, p, r, &w, &bent);
            add_wrench(p, r, w, phi);
            REAL *to = W(point) + 7 * i;
            UNROLL for (int n = 0; n < 3; n++) to[n] = p[n], to[3 + n] = r[n];
            to[6] = w;
            if (N(loss)) W(bent)[i] = bent;
        }
        if (parts) twice = twice + others;
        UNROLL for (int i = 0; i < 6; i++) {
            carried[i] = carried[i] + phi[i];
            W(wrench)[6 * k + i] = carried[i];
        }
        for (int i = T(slot)[k]; i < T(slot)[k] + T(jnv)[k]; i++) {
            REAL g = -dot6(W(S) + 6 * i, carried);
            if (SN_BATCH_OWN) g = W(g)[i] + g;
            W(g)[i] = g;
        }
        pass_up(PASS, k, 6, carried);
    }
    return 0.5 * twice;
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
    const REAL *phi = W(wrench) + 6 * k;
    REAL torque[3], lever[3];
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

// The diagonal of H (e = 1) or of the Gauss-Newton matrix (e = 0) into y, after sum_sweep(); most steps do not ask for
// it. Returned: what f would be with errors as large as the figure, as far as the tasks' sums tell.
PART REAL diagonal_sweep(PART_ARGS, REAL e) {
    HERE;
    REAL A[21], h[21], reach = splat(0), turns = splat(0), slides = splat(0);
    UNROLL for (int i = 0; i < 21; i++) A[i] = splat(0);
    for (int k = N(nj) - 1; k >= 0; k--) {
        const int first = T(slot)[k], m = T(jnv)[k];
        gather(PASS, k, 21, A);
        add_field(PASS, k, e, A);
        if (T(block)[k]) own_terms(PASS, k, e, h);
        for (int a = 0; a < m; a++) {
            const REAL *S = W(S) + 6 * (first + a);
            REAL y[6];
            UNROLL for (int i = 0; i < 6; i++) y[i] = symmetric_row(A, i, S);
            REAL d = dot6(S, y);
            if (T(block)[k])
                d = d + h[packed(a, a)];
            else if (SN_BATCH_OWN)
                d = d + W(own)[first + a];
            W(y)[first + a] = d;
        }
        turns = A[packed(0, 0)] + A[packed(1, 1)] + A[packed(2, 2)];
        slides = A[packed(3, 3)] + A[packed(4, 4)] + A[packed(5, 5)];
        // a joint that carries no task is no lever
        const REAL far = dot3(W(frame) + 12 * k + 9, W(frame) + 12 * k + 9);
        reach = choose(LESS(splat(0), slides), largest(reach, far), reach);
        pass_up(PASS, k, 21, A);
    }
    return turns + slides * reach;
}

// The same of the Gauss-Newton matrix where no point has a 3 x 3 weight: of a subtree's tasks W, P and M are enough
// (core.h), ten numbers. Nearly every trip asks for it, as some lane begins a row.
PART REAL weight_sweep(PART_ARGS) {
    HERE;
    REAL A[10], h[21], reach = splat(0), trace = splat(0), weight = splat(0);
    UNROLL for (int i = 0; i < 10; i++) A[i] = splat(0);
    for (int k = N(nj) - 1; k >= 0; k--) {
        const int first = T(slot)[k], m = T(jnv)[k];
        REAL *P = A + 1, *M = A + 4;
        gather(PASS, k, 10, A);
        for (int i = T(point_first)[k]; i < T(point_first)[k + 1]; i++) {
            const REAL *p = W(point) + 7 * i, w = p[6];
            const REAL x = w * p[0], y = w * p[1], z = w * p[2];
            A[0] = A[0] + w;
            P[0] = P[0] + x, P[1] = P[1] + y, P[2] = P[2] + z;
            M[0] = M[0] + x * p[0], M[1] = M[1] + y * p[1], M[2] = M[2] + z * p[2];
            M[3] = M[3] + x * p[1], M[4] = M[4] + x * p[2], M[5] = M[5] + y * p[2];
        }
        if (N(npart) > 0 && T(part_first)[k + 1] > T(part_first)[k]) {
            const REAL *sum = W(sum) + N(nsum) * k;
            UNROLL for (int i = 0; i < 6; i++) M[i] = M[i] + sum[12 + i];
        }
        trace = M[0] + (M[1] + M[2]);
        weight = A[0];
        if (T(block)[k]) own_terms(PASS, k, splat(0), h);
        for (int a = 0; a < m; a++) {
            // S . K S = a . (tr M I - M) a + b . (W b + 2 a x P)
            const REAL *S = W(S) + 6 * (first + a);
            REAL y[6];
            cross3(S, P, y + 3);
            UNROLL for (int i = 0; i < 3; i++) y[3 + i] = weight * S[3 + i] + (y[3 + i] + y[3 + i]);
            y[0] = (M[1] + M[2]) * S[0] - (M[3] * S[1] + M[4] * S[2]);
            y[1] = (M[2] + M[0]) * S[1] - (M[3] * S[0] + M[5] * S[2]);
            y[2] = (M[0] + M[1]) * S[2] - (M[4] * S[0] + M[5] * S[1]);
            REAL d = dot6(S, y);
            if (T(block)[k])
                d = d + h[packed(a, a)];
            else if (SN_BATCH_OWN)
                d = d + W(own)[first + a];
            W(y)[first + a] = d;
        }
        // a joint that carries no task is no lever
        const REAL far = dot3(W(frame) + 12 * k + 9, W(frame) + 12 * k + 9);
        reach = choose(LESS(splat(0), weight), largest(reach, far), reach);
        pass_up(PASS, k, 10, A);
    }
    return 2.0 * trace + 3.0 * weight * reach;
}

// How a factorisation went, lane by lane.
typedef struct FACTOR {
    BITS failed;
    REAL pivot, at;           // the first pivot that failed, and which
    REAL metric, scale, add;  // the diagonal: metric D^2 + scale times the scale + add
    REAL most, most2;
} FACTOR;

FN REAL metric_of(ARGS, int i, REAL most, REAL most2) {
    return largest(T(gain)[i] * T(gain)[i] * (pick(T(length)[i], most2, most)), W(scale)[i]);
}

// 1 over a pivot, 0 where it is left out or failed.
FN REAL take_pivot(int i, REAL kept, REAL d, FACTOR *f) {
    const BITS keep = LESS(splat(0.5), kept);
    const BITS bad = keep & ~LESS(splat(0), d) & ~f->failed;
    if (ANY(bad)) {
        f->pivot = choose(bad, d, f->pivot);
        f->at = choose(bad, splat(i), f->at);
        f->failed = f->failed | bad;
    }
    // the division does not wait for the mask; where d is 0 nobody looks at it
    return choose(keep & ~f->failed, 1.0 / d, splat(0));
}

// y = (K - Q) S, Q what was eliminated behind: A is its symmetric part, skew the wrench's share of the rest.
FN void articulated_times(const REAL *A, const REAL *skew, const REAL *S, REAL *y) {
    skew_times(skew, S, y);
    add_symmetric(A, S, y);
}

// A degree of freedom's part of x <- D^-1 L^-T x; push: what those behind it pull with. Returned: its share of
// x (H + diagonal)^-1 x.
FN REAL reduce_one(REAL *x, REAL inverse, const REAL *S, const REAL *Y, REAL *push) {
    const REAL left = *x - dot6(S, push), own = inverse * left;
    UNROLL for (int n = 0; n < 6; n++) push[n] = push[n] + own * Y[n];
    *x = own;
    return own * left;
}

// The same of a joint whose degrees of freedom are eliminated together.
FN REAL reduce_block(ARGS, int k, REAL *x, REAL *push) {
    const int first = T(slot)[k], m = T(jnv)[k];
    REAL share = splat(0);
    for (int i = first; i < first + m; i++) x[i] = x[i] - dot6(W(S) + 6 * i, push);
    for (int a = m - 1; a >= 0; a--) {
        const REAL *lower = W(lower) + T(lower0)[k] + a * (a - 1) / 2;
        const REAL left = x[first + a], own = W(inverse)[first + a] * left;
        for (int b = 0; b < a; b++) x[first + b] = x[first + b] - lower[b] * left;
        x[first + a] = own;
        share = share + own * left;
    }
    for (int i = first; i < first + m; i++)
        UNROLL for (int n = 0; n < 6; n++) push[n] = push[n] + x[i] * W(Y)[6 * i + n];
    return share;
}

// Joints whose degrees of freedom have terms of their own: a small dense elimination.
FN void factor_block(ARGS, int k, REAL e, const REAL *skew, REAL *A, FACTOR *f) {
    const int m = T(jnv)[k], first = T(slot)[k];
    REAL h[21], y[36];
    own_terms(PASS, k, e, h);
    for (int a = 0; a < m; a++) {
        articulated_times(A, skew, W(S) + 6 * (first + a), y + 6 * a);
        for (int b = 0; b <= a; b++)
            h[packed(a, b)] = h[packed(a, b)] + dot6(W(S) + 6 * (first + b), y + 6 * a);
        h[packed(a, a)] = h[packed(a, a)] + W(diagonal)[first + a];
    }
    for (int a = m - 1; a >= 0; a--) {
        const REAL inverse = take_pivot(first + a, W(keep)[first + a], h[packed(a, a)], f);
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
    // nobody asks for what is left behind a root
    for (int a = 0; a < m && T(parent)[k] >= 0; a++)
        add_square(A, y + 6 * a, -W(inverse)[first + a]);
}

// H + diagonal = L^T D L, joint by joint (articulated.c of sweeps/); degrees of freedom without terms of
// their own one by one, as if each were a joint. On the way x <- D^-1 L^-T x, while S and Y are at hand.
PART void factor_sweep(PART_ARGS, REAL e, FACTOR *out, REAL *x) {
    HERE;
    FACTOR here = *out, *const f = &here;
    REAL A[27], *const push = A + 21;
    UNROLL for (int i = 0; i < 27; i++) A[i] = splat(0);
    for (int i = 0; i < N(nv); i++) W(diagonal)
    [i] = f->metric * metric_of(PASS, i, f->most, f->most2) + (f->scale * W(scale)[i] + f->add);
    for (int k = N(nj) - 1; k >= 0; k--) {
        const int first = T(slot)[k], m = T(jnv)[k];
        REAL skew[6];
        UNROLL for (int i = 0; i < 6; i++) skew[i] = 0.5 * e * W(wrench)[6 * k + i];
        gather(PASS, k, 27, A);
        add_field(PASS, k, e, A);
        if (T(block)[k]) {
            factor_block(PASS, k, e, skew, A, f);
            (void)reduce_block(PASS, k, x, push);
        } else {
            for (int i = first + m - 1; i >= first; i--) {
                const REAL *S = W(S) + 6 * i;
                REAL y[6];
                UNROLL for (int n = 0; n < 6; n++) y[n] = symmetric_row(A, n, S);
                REAL d = dot6(S, y), turn[6];
                skew_times(skew, S, turn);
                UNROLL for (int n = 0; n < 6; n++) y[n] = y[n] + turn[n];
                if (SN_BATCH_OWN) d = W(own)[i] + d;
                const REAL inverse = take_pivot(i, W(keep)[i], d + W(diagonal)[i], f);
                W(inverse)[i] = inverse;
                UNROLL for (int n = 0; n < 6; n++) W(Y)[6 * i + n] = y[n];
                (void)reduce_one(&x[i], inverse, S, y, push);
                add_square(A, y, -inverse);
            }
        }
        pass_up(PASS, k, 27, A);
    }
    *out = here;
}

// x (H + diagonal)^-1 x of another x, which is overwritten.
PART REAL reduce(PART_ARGS, REAL *x) {
    HERE;
    REAL push[6], sum = splat(0);
    UNROLL for (int i = 0; i < 6; i++) push[i] = splat(0);
    for (int k = N(nj) - 1; k >= 0; k--) {
        gather(PASS, k, 6, push);
        if (T(block)[k]) {
            sum = sum + reduce_block(PASS, k, x, push);
        } else {
            for (int i = T(slot)[k] + T(jnv)[k] - 1; i >= T(slot)[k]; i--)
                sum = sum + reduce_one(&x[i], W(inverse)[i], W(S) + 6 * i, W(Y) + 6 * i, push);
        }
        pass_up(PASS, k, 6, push);
    }
    return sum;
}

// The twist of what joint k hangs at; V: that of the joint before it.
FN void twist_above(ARGS, int k, REAL *V) {
    const int up = T(parent)[k];
    if (up >= 0 && up != k - 1) UNROLL for (int i = 0; i < 6; i++) V[i] = W(twist)[6 * up + i];
    if (up < 0) UNROLL for (int i = 0; i < 6; i++) V[i] = splat(0);
}

// x <- L^-1 x
PART void substitute(PART_ARGS, REAL *x) {
    HERE;
    REAL V[6];
    UNROLL for (int i = 0; i < 6; i++) V[i] = splat(0);
    for (int k = 0; k < N(nj); k++) {
        const int first = T(slot)[k], m = T(jnv)[k];
        twist_above(PASS, k, V);
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
        if (T(fork)[k] >= 0) UNROLL for (int i = 0; i < 6; i++) W(twist)[6 * k + i] = V[i];
    }
}

// out = H x, without the diagonal that a factorisation adds. With V the twist of a body and V' that of what moves before
// degree of freedom i, (H x)_i = S_i . (sum K V - 2 (K - K^T)/2 V') over the tasks behind it.
PART void multiply(PART_ARGS, REAL e, const REAL *x, REAL *out) {
    HERE;
    REAL V[6], phi[6];
    UNROLL for (int n = 0; n < 6; n++) V[n] = phi[n] = splat(0);
    for (int k = 0; k < N(nj); k++) {
        twist_above(PASS, k, V);
        for (int i = T(slot)[k]; i < T(slot)[k] + T(jnv)[k]; i++)
            UNROLL for (int n = 0; n < 6; n++) V[n] = V[n] + x[i] * W(S)[6 * i + n];
        UNROLL for (int n = 0; n < 6; n++) W(twist)[6 * k + n] = V[n];
    }
    for (int k = N(nj) - 1; k >= 0; k--) {
        const int first = T(slot)[k], m = T(jnv)[k], up = T(parent)[k];
        REAL turn[6], h[21], y[6], own[21], mine[6];
        gather(PASS, k, 6, phi);
        if (HAS_TASKS(k)) {
            UNROLL for (int n = 0; n < 21; n++) own[n] = splat(0);
            add_field(PASS, k, e, own);
            own_wrench(PASS, k, mine);
            UNROLL for (int n = 0; n < 6; n++) mine[n] = 0.5 * e * mine[n];
            articulated_times(own, mine, W(twist) + 6 * k, y);
            UNROLL for (int n = 0; n < 6; n++) phi[n] = phi[n] + y[n];
        }
        UNROLL for (int n = 0; n < 6; n++) {
            turn[n] = e * W(wrench)[6 * k + n];
            V[n] = pick(up < 0, splat(0), W(twist)[6 * (up < 0 ? 0 : up) + n]);
        }
        if (T(block)[k]) own_terms(PASS, k, e, h);
        for (int a = 0; a < m; a++) {
            const REAL *S = W(S) + 6 * (first + a);
            skew_times(turn, V, y);
            REAL sum = dot6(S, phi) - dot6(S, y);
            if (T(block)[k]) {
                for (int b = 0; b < m; b++) sum = sum + h[packed(a, b)] * x[first + b];
            } else if (SN_BATCH_OWN) {
                sum = sum + W(own)[first + a] * x[first + a];
            }
            out[first + a] = sum;
            UNROLL for (int n = 0; n < 6; n++) V[n] = V[n] + x[first + a] * S[n];
        }
        pass_up(PASS, k, 6, phi);
    }
}
