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
