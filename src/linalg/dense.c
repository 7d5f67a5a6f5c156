// SPDX-License-Identifier: MIT
#include "linalg/dense.h"

#include <math.h>
#include <stddef.h>

bool sn_cholesky(double *A, int n) {
    size_t N = (size_t)n;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = A[i * N + j];
            for (size_t k = 0; k < j; k++) sum -= A[i * N + k] * A[j * N + k];
            if (i > j) {
                A[i * N + j] = sum / A[j * N + j];
            } else {
                if (!(sum > 0)) return false;
                A[i * N + i] = sqrt(sum);
            }
        }
    return true;
}

void sn_cholesky_forward(const double *L, int n, double *x) {
    size_t N = (size_t)n;
    for (size_t i = 0; i < N; i++) {
        double sum = x[i];
        for (size_t k = 0; k < i; k++) sum -= L[i * N + k] * x[k];
        x[i] = sum / L[i * N + i];
    }
}

void sn_cholesky_backward(const double *L, int n, double *x) {
    size_t N = (size_t)n;
    for (size_t i = N; i-- > 0;) {
        double xi = x[i] / L[i * N + i];
        x[i] = xi;
        for (size_t k = 0; k < i; k++) x[k] -= L[i * N + k] * xi;
    }
}

bool sn_cholesky_upper(double *A, int n) {
    size_t N = (size_t)n;
    for (size_t k = 0; k < N; k++) {
        double *row = A + k * N;
        if (!(row[k] > 0)) return false;
        row[k] = sqrt(row[k]);
        double pivot = 1 / row[k];
        for (size_t j = k + 1; j < N; j++) row[j] *= pivot;
        for (size_t i = k + 1; i < N; i++) {
            double x = row[i], *to = A + i * N;
            if (x == 0) continue;
            for (size_t j = i; j < N; j++) to[j] -= x * row[j];
        }
    }
    return true;
}

void sn_cholesky_upper_forward(const double *U, int n, double *x) {
    size_t N = (size_t)n;
    for (size_t k = 0; k < N; k++) {
        const double *row = U + k * N;
        if (x[k] == 0) continue;
        x[k] /= row[k];
        for (size_t j = k + 1; j < N; j++) x[j] -= x[k] * row[j];
    }
}

void sn_cholesky_upper_backward(const double *U, int n, double *x) {
    size_t N = (size_t)n;
    for (size_t k = N; k-- > 0;) {
        const double *row = U + k * N;
        double sum = x[k];
        for (size_t j = k + 1; j < N; j++) sum -= row[j] * x[j];
        x[k] = sum / row[k];
    }
}

// Gram and Schmidt, the longest column first. One that is rounding beside the longest is none.
double sn_seen_square(const double W[9], const double r[3]) {
    double column[3][3], sum = 0, longest = 0, most = 0;
    // weights may be of any size, and their squares not
    for (int i = 0; i < 9; i++) most = fmax(most, fabs(W[i]));
    for (int i = 0; i < 9; i++) column[i % 3][i / 3] = most > 0 ? W[i] / most : 0;
    for (int k = 0; k < 3; k++) {
        int best = k;
        double length[3] = {0}, along = 0;
        for (int i = k; i < 3; i++) {
            for (int x = 0; x < 3; x++) length[i] += column[i][x] * column[i][x];
            if (length[i] > length[best]) best = i;
        }
        if (k == 0) longest = length[best];
        if (!(length[best] > 1e-24 * longest)) break;
        for (int x = 0; x < 3; x++) {
            const double swap = column[k][x];
            column[k][x] = column[best][x] / sqrt(length[best]);
            if (best != k) column[best][x] = swap;
            along += column[k][x] * r[x];
        }
        sum += along * along;
        for (int i = k + 1; i < 3; i++) {
            double shared = 0;
            for (int x = 0; x < 3; x++) shared += column[i][x] * column[k][x];
            for (int x = 0; x < 3; x++) column[i][x] -= shared * column[k][x];
        }
    }
    return sum;
}
