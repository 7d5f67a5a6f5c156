// SPDX-License-Identifier: MIT
// Null spaces inside null spaces from the rows of Jacobians. With Z what the levels before have left and
// B = A Z the rows of a level in it, reflections from the right make B lower triangular, the row with the largest
// rest first:
//
//   B H_0 H_1 ... = [L | 0],    Z H_0 H_1 ... = [V | Z']
//
// V is what the level sees, Z' what it leaves. L^T L + damping is then as small as the level's rank. Rows are
// contiguous, so all of it is sums and multiples of rows; zeros of A, the tree's sparsity, are passed over.
#include <math.h>
#include <string.h>

#include "base/pair.h"
#include "servo/servo.h"

static double dot(const double *x, const double *y, int n) {
    sn_pair a = pair_of(0), b = a;
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        a = pair_add(a, pair_mul(pair_load(x + i), pair_load(y + i)));
        b = pair_add(b, pair_mul(pair_load(x + i + 2), pair_load(y + i + 2)));
    }
    double sum = pair_sum(pair_add(a, b));
    for (; i < n; i++) sum += x[i] * y[i];
    return sum;
}

static void add(double *to, double s, const double *x, int n) {
    const sn_pair ss = pair_of(s);
    int i = 0;
    for (; i + 2 <= n; i += 2)
        pair_store(to + i, pair_add(pair_load(to + i), pair_mul(ss, pair_load(x + i))));
    for (; i < n; i++) to[i] += s * x[i];
}

void sn_ladder_begin(sn_ladder *a, const double *unit) {
    const size_t n = (size_t)a->n;
    memset(a->Z, 0, n * n * sizeof *a->Z);
    a->nz = 0;
    for (size_t i = 0; i < n; i++)
        if (unit[i] > 0) a->Z[n * i + (size_t)a->nz++] = 1;
}

void sn_ladder_see(sn_ladder *a, const double *A, int m) {
    const int n = a->n, nz = a->nz;
    for (int i = 0; i < m; i++) {
        double *to = a->B + (size_t)n * (size_t)i;
        const double *row = A + (size_t)n * (size_t)i;
        for (int c = 0; c < nz; c++) to[c] = 0;
        for (int k = 0; k < n; k++)
            if (row[k] != 0) add(to, row[k], a->Z + n * k, nz);
    }
    a->turns = 0;
}

int sn_ladder_split(sn_ladder *a, int m) {
    const int n = a->n, nz = a->nz;
    double most = 0;
    for (int i = 0; i < m; i++) {
        const double *row = a->B + (size_t)n * (size_t)i;
        a->norm[i] = dot(row, row, nz);
        a->order[i] = i;
        most = fmax(most, a->norm[i]);
    }
    int rank = 0;
    for (; rank < nz && rank < m; rank++) {
        int top = rank;
        for (int i = rank + 1; i < m; i++)
            if (a->norm[a->order[i]] > a->norm[a->order[top]]) top = i;
        const int pick = a->order[top];
        a->order[top] = a->order[rank];
        a->order[rank] = pick;
        double *row = a->B + (size_t)n * (size_t)pick, *v = a->v + n * rank;
        const int len = nz - rank;
        const double square = dot(row + rank, row + rank, len);
        if (!(square > 1e-14 * most)) break;
        const double norm = sqrt(square), head = row[rank], alpha = head > 0 ? -norm : norm;
        memcpy(v + rank, row + rank, (size_t)len * sizeof *v);
        v[rank] = head - alpha;
        const double beta = a->beta[rank] = 1 / (norm * (norm + fabs(head)));
        row[rank] = alpha;
        for (int c = rank + 1; c < nz; c++) row[c] = 0;
        for (int i = rank + 1; i < m; i++) {
            double *other = a->B + (size_t)n * (size_t)a->order[i];
            add(other + rank, -beta * dot(other + rank, v + rank, len), v + rank, len);
            const double x = other[rank];
            a->norm[a->order[i]] = fmax(a->norm[a->order[i]] - x * x, 0);
        }
    }
    a->turns = rank;
    return rank;
}

void sn_ladder_factor(sn_ladder *a, int m, int rank, double damping) {
    const int n = a->n;
    double top = 0;
    for (int c = 0; c < rank; c++)
        for (int k = 0; k <= c; k++) a->M[n * c + k] = 0;
    for (int i = 0; i < m; i++) {
        const double *row = a->B + (size_t)n * (size_t)i;
        for (int c = 0; c < rank; c++)
            if (row[c] != 0) add(a->M + n * c, row[c], row, c + 1);
    }
    for (int c = 0; c < rank; c++) top = fmax(top, a->M[n * c + c]);
    // M = C C^T, row by row; the diagonal holds 1 / C_cc
    for (int c = 0; c < rank; c++) {
        double *row = a->M + n * c;
        row[c] += damping;
        for (int k = 0; k < c; k++) {
            const double *other = a->M + n * k;
            row[k] = (row[k] - dot(row, other, k)) * other[k];
        }
        row[c] = 1 / sqrt(fmax(row[c] - dot(row, row, c), 1e-15 * top + 1e-300));
    }
}

void sn_ladder_solve(const sn_ladder *a, int m, int rank, const double *b, double *w) {
    const int n = a->n;
    for (int c = 0; c < rank; c++) w[c] = 0;
    for (int i = 0; i < m; i++) add(w, -b[i], a->B + (size_t)n * (size_t)i, rank);
    for (int c = 0; c < rank; c++) w[c] = (w[c] - dot(w, a->M + n * c, c)) * a->M[n * c + c];
    for (int c = rank - 1; c >= 0; c--) {
        w[c] *= a->M[n * c + c];
        add(w, -w[c], a->M + n * c, c);
    }
}

void sn_ladder_spread(sn_ladder *a, int rank, const double *w, double *out) {
    const int n = a->n, nz = a->nz;
    double *y = a->y;
    for (int c = 0; c < nz; c++) y[c] = c < rank ? w[c] : 0;
    for (int c = a->turns - 1; c >= 0; c--)
        add(y + c, -a->beta[c] * dot(y + c, a->v + n * c + c, nz - c), a->v + n * c + c, nz - c);
    for (int i = 0; i < n; i++) out[i] = dot(a->Z + n * i, y, nz);
}

void sn_ladder_gather(sn_ladder *a, int rank, const double *x, double *w) {
    const int n = a->n, nz = a->nz;
    double *y = a->y;
    for (int c = 0; c < nz; c++) y[c] = 0;
    for (int i = 0; i < n; i++)
        if (x[i] != 0) add(y, x[i], a->Z + n * i, nz);
    for (int c = 0; c < a->turns; c++)
        add(y + c, -a->beta[c] * dot(y + c, a->v + n * c + c, nz - c), a->v + n * c + c, nz - c);
    memcpy(w, y, (size_t)rank * sizeof *w);
}

void sn_ladder_next(sn_ladder *a, int rank) {
    const int n = a->n, nz = a->nz, rest = nz - rank;
    if (rank == 0) return;
    // E = H_0 H_1 ... on the last unit vectors, from the last reflection back
    for (int i = 0; i < nz; i++)
        for (int c = 0; c < rest; c++) a->E[n * i + c] = i == rank + c;
    for (int c = rank - 1; c >= 0; c--) {
        const double *v = a->v + n * c;
        double *sum = a->y;
        for (int k = 0; k < rest; k++) sum[k] = 0;
        for (int i = c; i < nz; i++) add(sum, v[i], a->E + n * i, rest);
        for (int i = c; i < nz; i++) add(a->E + n * i, -a->beta[c] * v[i], sum, rest);
    }
    for (int i = 0; i < n; i++) {
        double *row = a->Z + n * i, *sum = a->x;
        for (int c = 0; c < rest; c++) sum[c] = 0;
        for (int k = 0; k < nz; k++)
            if (row[k] != 0) add(sum, row[k], a->E + n * k, rest);
        memcpy(row, sum, (size_t)rest * sizeof *row);
    }
    a->nz = rest;
}

bool sn_ladder_drop(sn_ladder *a, const double *g) {
    const int n = a->n, nz = a->nz;
    double *z = a->y;
    for (int c = 0; c < nz; c++) z[c] = 0;
    for (int i = 0; i < n; i++)
        if (g[i] != 0) add(z, g[i], a->Z + n * i, nz);
    const double square = dot(z, z, nz), head = z[0], norm = sqrt(square);
    if (!(square > 1e-20 * dot(g, g, n))) return false;
    z[0] = head > 0 ? head + norm : head - norm;
    const double beta = 1 / (norm * (norm + fabs(head)));
    for (int i = 0; i < n; i++) {
        double *row = a->Z + n * i;
        add(row, -beta * dot(row, z, nz), z, nz);
        memmove(row, row + 1, (size_t)(nz - 1) * sizeof *row);
    }
    a->nz = nz - 1;
    return true;
}
