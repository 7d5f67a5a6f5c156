// SPDX-License-Identifier: MIT
// The matrix K of tasks (core.h): a symmetric part A and a wrench's.
//
// K S = A S + skew_times(e/2 phi, S). What follows adds A of tasks to one that is carried along a chain.

// Of a point p of weight w with r to go: K = w ((tr M I - M^T) a + G x b ; a x p + b), M = (p + e r) p^T, G = p + e r.
FN void add_point_field(ARGS, int i, REAL e, REAL *A) {
    const REAL *p = W(point) + 7 * i, *r = p + 3;
    const REAL w = p[6], hw = 0.5 * w, hwe = hw * e;
    REAL b[3], g[3], m[3];
    UNROLL for (int n = 0; n < 3; n++) {
        const REAL wp = hw * p[n];
        b[n] = wp + hwe * r[n];  // w G / 2
        g[n] = wp + b[n];
        m[n] = (b[n] + b[n]) * p[n];
    }
    A[packed(0, 0)] = A[packed(0, 0)] + (m[1] + m[2]);
    A[packed(1, 1)] = A[packed(1, 1)] + (m[2] + m[0]);
    A[packed(2, 2)] = A[packed(2, 2)] + (m[0] + m[1]);
    A[packed(1, 0)] = A[packed(1, 0)] - (b[0] * p[1] + b[1] * p[0]);
    A[packed(2, 0)] = A[packed(2, 0)] - (b[0] * p[2] + b[2] * p[0]);
    A[packed(2, 1)] = A[packed(2, 1)] - (b[1] * p[2] + b[2] * p[1]);
    A[packed(3, 1)] = A[packed(3, 1)] + g[2], A[packed(4, 0)] = A[packed(4, 0)] - g[2];
    A[packed(5, 0)] = A[packed(5, 0)] + g[1], A[packed(3, 2)] = A[packed(3, 2)] - g[1];
    A[packed(4, 2)] = A[packed(4, 2)] + g[0], A[packed(5, 1)] = A[packed(5, 1)] - g[0];
    UNROLL for (int n = 3; n < 6; n++) A[packed(n, n)] = A[packed(n, n)] + w;
    if (N(loss)) {
        REAL u[6];
        cross3(p, r, u);
        UNROLL for (int n = 0; n < 3; n++) u[3 + n] = r[n];
        add_square(A, u, e * W(bent)[i]);
    }
}

// Of the sums of all other tasks on joint k.
FN void add_part_field(ARGS, int k, REAL e, REAL *A) {
    const REAL *sum = W(sum) + N(nsum) * k, half_e = 0.5 * e;
    REAL M[3];
    UNROLL for (int i = 0; i < 3; i++) M[i] = sum[12 + i] + e * sum[4 * i];
    A[packed(0, 0)] = A[packed(0, 0)] + (M[1] + M[2]);
    A[packed(1, 1)] = A[packed(1, 1)] + (M[2] + M[0]);
    A[packed(2, 2)] = A[packed(2, 2)] + (M[0] + M[1]);
    A[packed(1, 0)] = A[packed(1, 0)] - (sum[15] + half_e * (sum[1] + sum[3]));
    A[packed(2, 0)] = A[packed(2, 0)] - (sum[16] + half_e * (sum[2] + sum[6]));
    A[packed(2, 1)] = A[packed(2, 1)] - (sum[17] + half_e * (sum[5] + sum[7]));
    UNROLL for (int i = 0; i < 3; i++) {
        const REAL g = half_e * sum[9 + i];
        const int j = (i + 1) % 3, k3 = 3 + (i + 2) % 3;
        A[packed(k3, j)] = A[packed(k3, j)] - g;
        A[packed(3 + j, (i + 2) % 3)] = A[packed(3 + j, (i + 2) % 3)] + g;
    }
    if (N(matrix)) UNROLL for (int i = 0; i < 21; i++) A[i] = A[i] + sum[SN_SUM_MATRIX + i];
}

// Of all tasks on joint k.
FN void add_field(ARGS, int k, REAL e, REAL *A) {
    for (int i = T(point_first)[k]; i < T(point_first)[k + 1]; i++) add_point_field(PASS, i, e, A);
    if (N(npart) > 0 && T(part_first)[k + 1] > T(part_first)[k]) add_part_field(PASS, k, e, A);
}

// (n x a + F x b ; F x a) of a wrench (n, F) along S = (a, b).
FN void skew_times(const REAL *phi, const REAL *S, REAL *out) {
    REAL na[3], Fb[3];
    cross3(phi, S, na);
    cross3(phi + 3, S + 3, Fb);
    cross3(phi + 3, S, out + 3);
    UNROLL for (int i = 0; i < 3; i++) out[i] = na[i] + Fb[i];
}
