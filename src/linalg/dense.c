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
