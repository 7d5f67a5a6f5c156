// SPDX-License-Identifier: MIT
// The directions that a matrix sees come from Cholesky's method with the largest pivot first,
// Z^T W Z = L L^T with L of as many columns as the rank; Householder's reflections that make L upper
// triangular, L = Q [U; 0], turn Z at the same time. So nothing is ever inverted that is not regular, and no
// eigenvalues are needed.
#include "linalg/nested.h"

#include <math.h>
#include <string.h>

#include "base/pair.h"

void sn_nested_begin(sn_nested *a, const bool *free) {
    const size_t n = (size_t)a->n;
    a->all = a->count = 0;
    a->turned = false;
    a->first[0] = 0;
    memset(a->basis, 0, n * n * sizeof *a->basis);
    for (size_t i = 0; i < n; i++)
        if (free[i]) {
            a->place[a->all] = (int)i;
            a->basis[i + n * (size_t)a->all++] = 1;
        }
}

// Sums in four places at once: the compiler may not change their order by itself.
static double dot(const double *x, const double *y, size_t n) {
    sn_pair a = pair_of(0), b = a;
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        a = pair_add(a, pair_mul(pair_load(x + i), pair_load(y + i)));
        b = pair_add(b, pair_mul(pair_load(x + i + 2), pair_load(y + i + 2)));
    }
    a = pair_add(a, b);
    double sum = pair_first(a) + pair_second(a);
    for (; i < n; i++) sum += x[i] * y[i];
    return sum;
}

void sn_nested_reduce(sn_nested *a, const double *W) {
    const size_t n = (size_t)a->n, m = (size_t)sn_nested_left(a);
    const double *Z = sn_nested_rest(a);
    if (!a->turned) {
        // Z is still made of unit vectors
        for (size_t c = 0; c < m; c++)
            for (size_t r = 0; r < m; r++)
                a->R[r + m * c] = W[(size_t)a->place[r] + n * (size_t)a->place[c]];
        return;
    }
    for (size_t c = 0; c < m; c++) {
        double *to = a->T + n * c;
        for (size_t i = 0; i < n; i++) to[i] = 0;
        for (size_t k = 0; k < n; k++) {
            const double z = Z[k + n * c], *column = W + n * k;
            if (z == 0) continue;
            for (size_t i = 0; i < n; i++) to[i] += z * column[i];
        }
        for (size_t r = 0; r <= c; r++) a->R[r + m * c] = a->R[c + m * r] = dot(Z + n * r, to, n);
    }
}

// L, m x rank, with R = L L^T but for pivots up to `least`.
static size_t factor(sn_nested *a, size_t m, double least, size_t most_rank) {
    size_t rank = 0;
    for (size_t i = 0; i < m; i++) {
        a->d[i] = a->R[i + m * i];
        a->order[i] = 0;
    }
    while (rank < m && rank < most_rank) {
        size_t p = 0;
        double most = -1;
        for (size_t i = 0; i < m; i++)
            if (a->order[i] == 0 && a->d[i] > most) most = a->d[i], p = i;
        if (!(most > least)) break;
        const double root = sqrt(most);
        double *column = a->L + m * rank;
        for (size_t i = 0; i < m; i++) column[i] = a->R[i + m * p];
        for (size_t k = 0; k < rank; k++) {
            const double *other = a->L + m * k, at = other[p];
            for (size_t i = 0; i < m; i++) column[i] -= other[i] * at;
        }
        for (size_t i = 0; i < m; i++) {
            column[i] = i == p ? root : a->order[i] != 0 ? 0 : column[i] / root;
            a->d[i] -= column[i] * column[i];
        }
        a->order[p] = 1;
        rank++;
    }
    a->lowest = 0;
    for (size_t i = 0; i < m; i++)
        if (a->order[i] == 0) a->lowest = fmin(a->lowest, a->d[i]);
    return rank;
}

// Column c of L, from row c on, becomes a multiple of the first unit vector; the reflection is applied to
// the columns behind it and to Z.
static void reflect(sn_nested *a, size_t m, size_t rank, size_t c) {
    const size_t n = (size_t)a->n;
    double *v = a->L + m * c, *Z = sn_nested_rest(a), *w = a->T;
    double square = 0;
    for (size_t i = c; i < m; i++) square += v[i] * v[i];
    const double norm = sqrt(square), head = v[c], alpha = head > 0 ? -norm : norm;
    if (square - head * head <= 0) return;
    v[c] = head - alpha;
    const double beta = 1 / (norm * (norm + fabs(head)));  // 2 / v.v
    for (size_t k = c + 1; k < rank; k++) {
        double *x = a->L + m * k, sum = dot(v + c, x + c, m - c);
        for (size_t i = c; i < m; i++) x[i] -= beta * sum * v[i];
    }
    for (size_t r = 0; r < n; r++) w[r] = 0;
    for (size_t i = c; i < m; i++)
        for (size_t r = 0; r < n; r++) w[r] += v[i] * Z[r + n * i];
    for (size_t i = c; i < m; i++)
        for (size_t r = 0; r < n; r++) Z[r + n * i] -= beta * v[i] * w[r];
    v[c] = alpha;
}

int sn_nested_add(sn_nested *a, const double *W, double least, int most) {
    const size_t n = (size_t)a->n, m = (size_t)sn_nested_left(a);
    const size_t first = (size_t)a->first[a->count];
    sn_nested_reduce(a, W);
    const size_t rank = factor(a, m, least, (size_t)most);
    a->turned = a->turned || rank > 0;
    for (size_t c = 0; c < rank; c++) reflect(a, m, rank, c);
    for (size_t c = 0; c < rank; c++) {
        double *to = a->seen + n * (first + c), *U = a->factor + n * (first + c);
        const double *z = a->basis + n * (first + c);
        for (size_t i = 0; i <= c; i++) U[i] = a->L[i + m * c];
        for (size_t i = 0; i < n; i++) to[i] = 0;
        for (size_t k = 0; k < n; k++) {
            const double zk = z[k], *column = W + n * k;
            if (zk == 0) continue;
            for (size_t i = 0; i < n; i++) to[i] += zk * column[i];
        }
    }
    a->count++;
    a->first[a->count] = (int)(first + rank);
    return (int)rank;
}

void sn_nested_solve(const sn_nested *a, int k, const double *b, double *y) {
    const size_t n = (size_t)a->n, r = (size_t)sn_nested_rank(a, k);
    const double *V = a->basis + n * (size_t)a->first[k];
    const double *U = a->factor + n * (size_t)a->first[k];
    for (size_t c = 0; c < r; c++) {
        y[c] = dot(V + n * c, b, n);
    }
    for (size_t c = r; c-- > 0;) {
        y[c] /= U[c + n * c];
        for (size_t i = 0; i < c; i++) y[i] -= U[i + n * c] * y[c];
    }
    for (size_t c = 0; c < r; c++) {
        for (size_t i = 0; i < c; i++) y[c] -= U[i + n * c] * y[i];
        y[c] /= U[c + n * c];
    }
}

double sn_nested_thinnest(const sn_nested *a, int k) {
    const double *U = a->factor + (size_t)a->n * (size_t)a->first[k];
    double least = INFINITY;
    for (int c = 0; c < sn_nested_rank(a, k); c++, U += a->n) least = fmin(least, U[c] * U[c]);
    return least;
}

// y += J x, and y += J^T x.
static void multiply(const double *J, size_t rows, size_t n, const double *x, double *y) {
    for (size_t i = 0; i < n; i++)
        for (size_t r = 0; r < rows; r++) y[r] += x[i] * J[r + rows * i];
}
static void multiply_back(const double *J, size_t rows, size_t n, const double *x, double *y) {
    for (size_t i = 0; i < n; i++) y[i] += dot(J + rows * i, x, rows);
}

void sn_nested_sharpen(sn_nested *a, const double *J, int rows, double *w) {
    const size_t n = (size_t)a->n, m = (size_t)sn_nested_left(a), k = (size_t)a->count - 1;
    const size_t rank = (size_t)sn_nested_rank(a, (int)k);
    double *V = a->basis + n * (size_t)a->first[k], *Z = sn_nested_rest(a), *b = a->T, *y = a->d;
    for (size_t c = 0; c < m; c++, Z += n) {
        memset(w, 0, (size_t)rows * sizeof *w);
        memset(b, 0, n * sizeof *b);
        multiply(J, (size_t)rows, n, Z, w);
        multiply_back(J, (size_t)rows, n, w, b);
        sn_nested_solve(a, (int)k, b, y);
        sn_nested_spread(a, (int)k, -1, y, Z);
    }
    Z = sn_nested_rest(a);
    for (size_t c = 0; c < rank; c++, V += n)
        for (size_t i = 0; i < m; i++) {
            const double along = dot(Z + n * i, V, n);
            for (size_t r = 0; r < n; r++) V[r] -= along * Z[r + n * i];
        }
}

static void spread(const double *columns, size_t n, size_t r, double scale, const double *y,
                   double *x) {
    for (size_t c = 0; c < r; c++) {
        const double *column = columns + n * c, s = scale * y[c];
        for (size_t i = 0; i < n; i++) x[i] += s * column[i];
    }
}

void sn_nested_spread(const sn_nested *a, int k, double scale, const double *y, double *x) {
    spread(a->basis + (size_t)a->n * (size_t)a->first[k], (size_t)a->n,
           (size_t)sn_nested_rank(a, k), scale, y, x);
}

void sn_nested_spread_seen(const sn_nested *a, int k, double scale, const double *y, double *x) {
    spread(a->seen + (size_t)a->n * (size_t)a->first[k], (size_t)a->n, (size_t)sn_nested_rank(a, k),
           scale, y, x);
}
