// SPDX-License-Identifier: MIT
// What the sums of a subtree's tasks (core.h) say: its wrench, its matrix K along a twist.

// The matrix K of a subtree, as far as it is shared by the degrees of freedom of a joint.
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

// y = K S
FN void field_times(ARGS, int k, const FIELD *f, const REAL *S, REAL *y) {
    const REAL *M = f->M, *G = f->G, *P = f->P, *a = S, *b = S + 3;
    y[0] = f->rest[0] * a[0] - M[1] * a[1] - M[2] * a[2] + (G[1] * b[2] - G[2] * b[1]);
    y[1] = f->rest[1] * a[1] - M[3] * a[0] - M[5] * a[2] + (G[2] * b[0] - G[0] * b[2]);
    y[2] = f->rest[2] * a[2] - M[6] * a[0] - M[7] * a[1] + (G[0] * b[1] - G[1] * b[0]);
    y[3] = a[1] * P[2] - a[2] * P[1] + f->W * b[0];
    y[4] = a[2] * P[0] - a[0] * P[2] + f->W * b[1];
    y[5] = a[0] * P[1] - a[1] * P[0] + f->W * b[2];
    if (N(matrix)) add_symmetric(W(sum) + N(nsum) * k + SN_SUM_MATRIX, splat(1), S, y);
    if (N(loss)) add_symmetric(W(sum) + N(nsum) * k + SN_SUM_MATRIX + 21 * N(matrix), f->e, S, y);
}

// The wrench of a subtree.
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
