// SPDX-License-Identifier: MIT
// What the sums of tasks (core.h) say: their wrench, their matrix K along a twist, K as a symmetric matrix and a rest.

// The matrix K of sums.
typedef struct FIELD {
    REAL M[9], G[3], P[3], W, e;
    REAL rest[3];  // trace M - M_ii
} FIELD;

FN void load_field(const REAL *sum, REAL e, FIELD *f) {
    f->e = e;
    f->W = sum[12];
    UNROLL for (int i = 0; i < 3; i++) {
        f->P[i] = sum[13 + i];
        f->G[i] = sum[13 + i] + e * sum[9 + i];
    }
    f->M[0] = sum[16] + e * sum[0], f->M[4] = sum[17] + e * sum[4], f->M[8] = sum[18] + e * sum[8];
    f->M[1] = sum[19] + e * sum[1], f->M[3] = sum[19] + e * sum[3];
    f->M[2] = sum[20] + e * sum[2], f->M[6] = sum[20] + e * sum[6];
    f->M[5] = sum[21] + e * sum[5], f->M[7] = sum[21] + e * sum[7];
    const REAL trace = f->M[0] + f->M[4] + f->M[8];
    UNROLL for (int i = 0; i < 3; i++) f->rest[i] = trace - f->M[4 * i];
}

// y = K S, without what 3 x 3 weights and losses add
FN void field_times(const FIELD *f, const REAL *S, REAL *y) {
    const REAL *M = f->M, *G = f->G, *P = f->P, *a = S, *b = S + 3;
    y[0] = f->rest[0] * a[0] - M[1] * a[1] - M[2] * a[2] + (G[1] * b[2] - G[2] * b[1]);
    y[1] = f->rest[1] * a[1] - M[3] * a[0] - M[5] * a[2] + (G[2] * b[0] - G[0] * b[2]);
    y[2] = f->rest[2] * a[2] - M[6] * a[0] - M[7] * a[1] + (G[0] * b[1] - G[1] * b[0]);
    y[3] = a[1] * P[2] - a[2] * P[1] + f->W * b[0];
    y[4] = a[2] * P[0] - a[0] * P[2] + f->W * b[1];
    y[5] = a[0] * P[1] - a[1] * P[0] + f->W * b[2];
}

// The wrench.
FN void wrench_of(const REAL *sum, REAL *phi) {
    phi[0] = sum[5] - sum[7], phi[1] = sum[6] - sum[2], phi[2] = sum[1] - sum[3];
    UNROLL for (int i = 0; i < 3; i++) phi[3 + i] = sum[9 + i];
}

// The diagonal of the Gauss-Newton matrix along S = (a, b): a . (tr M - M) a + 2 a . (P x b) + W b . b
FN REAL seen_from(const REAL *sum, const REAL *S) {
    const REAL *a = S, *b = S + 3;
    REAL Ma[3], pb[3];
    Ma[0] = sum[16] * a[0] + sum[19] * a[1] + sum[20] * a[2];
    Ma[1] = sum[19] * a[0] + sum[17] * a[1] + sum[21] * a[2];
    Ma[2] = sum[20] * a[0] + sum[21] * a[1] + sum[18] * a[2];
    cross3(sum + 13, b, pb);
    const REAL trace = sum[16] + sum[17] + sum[18];
    return (trace * dot3(a, a) - dot3(a, Ma)) + 2.0 * dot3(a, pb) + sum[12] * dot3(b, b);
}

#ifndef SN_QUICK
// K is symmetric but for the wrench's part: K S = A S + skew_times(e / 2 phi, S). A += that of the sums of joint k.
FN void add_field(ARGS, int k, REAL e, REAL *A) {
    const REAL *sum = W(sum) + N(nsum) * k, half_e = 0.5 * e;
    REAL M[3], g[3];
    UNROLL for (int i = 0; i < 3; i++) {
        M[i] = sum[16 + i] + e * sum[4 * i];
        g[i] = sum[13 + i] + half_e * sum[9 + i];
    }
    A[packed(0, 0)] = A[packed(0, 0)] + (M[1] + M[2]);
    A[packed(1, 1)] = A[packed(1, 1)] + (M[2] + M[0]);
    A[packed(2, 2)] = A[packed(2, 2)] + (M[0] + M[1]);
    A[packed(1, 0)] = A[packed(1, 0)] - (sum[19] + half_e * (sum[1] + sum[3]));
    A[packed(2, 0)] = A[packed(2, 0)] - (sum[20] + half_e * (sum[2] + sum[6]));
    A[packed(2, 1)] = A[packed(2, 1)] - (sum[21] + half_e * (sum[5] + sum[7]));
    A[packed(3, 1)] = A[packed(3, 1)] + g[2], A[packed(4, 0)] = A[packed(4, 0)] - g[2];
    A[packed(5, 0)] = A[packed(5, 0)] + g[1], A[packed(3, 2)] = A[packed(3, 2)] - g[1];
    A[packed(4, 2)] = A[packed(4, 2)] + g[0], A[packed(5, 1)] = A[packed(5, 1)] - g[0];
    UNROLL for (int i = 3; i < 6; i++) A[packed(i, i)] = A[packed(i, i)] + sum[12];
    if (N(matrix)) UNROLL for (int i = 0; i < 21; i++) A[i] = A[i] + sum[SN_SUM_MATRIX + i];
    if (N(loss))
        UNROLL for (int i = 0; i < 21; i++) A[i] =
            A[i] + e * sum[SN_SUM_MATRIX + 21 * N(matrix) + i];
}

// (n x a + F x b ; F x a) of a wrench (n, F) along S = (a, b).
FN void skew_times(const REAL *phi, const REAL *S, REAL *out) {
    REAL na[3], Fb[3];
    cross3(phi, S, na);
    cross3(phi + 3, S + 3, Fb);
    cross3(phi + 3, S, out + 3);
    UNROLL for (int i = 0; i < 3; i++) out[i] = na[i] + Fb[i];
}
#endif
