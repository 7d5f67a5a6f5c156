// SPDX-License-Identifier: MIT
#include "dense.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The rotation (c, s) that makes the off-diagonal of [a b; b d] vanish.
static void rotation(double a, double b, double d, double *c, double *s) {
    double theta = (d - a) / (2 * b);
    double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
    *c = 1 / sqrt(t * t + 1);
    *s = t * *c;
}

void dense_eigenvalues(int n, double *A, double *values) {
    for (int sweep = 0; sweep < 30; sweep++) {
        double off = 0, scale = 0;
        for (int j = 0; j < n; j++) {
            scale += A[j + n * j] * A[j + n * j];
            for (int i = 0; i < j; i++) off += A[i + n * j] * A[i + n * j];
        }
        if (off <= 1e-26 * scale) break;
        for (int q = 1; q < n; q++)
            for (int p = 0; p < q; p++) {
                double c, s, b = A[p + n * q];
                if (b * b < 1e-34 * scale) continue;
                rotation(A[p + n * p], b, A[q + n * q], &c, &s);
                for (int k = 0; k < n; k++) {
                    double x = A[k + n * p], y = A[k + n * q];
                    A[k + n * p] = c * x - s * y;
                    A[k + n * q] = s * x + c * y;
                }
                for (int k = 0; k < n; k++) {
                    double x = A[p + n * k], y = A[q + n * k];
                    A[p + n * k] = c * x - s * y;
                    A[q + n * k] = s * x + c * y;
                }
            }
    }
    for (int i = 0; i < n; i++) values[i] = A[i + n * i];
    qsort(values, (size_t)n, sizeof *values, ascending);
}

static double dot(int n, const double *x, const double *y) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

static void turn(int n, double *x, double *y, double c, double s) {
    for (int i = 0; i < n; i++) {
        double a = x[i], b = y[i];
        x[i] = c * a - s * b;
        y[i] = s * a + c * b;
    }
}

void dense_svd(int m, int n, double *A, double *s, double *V) {
    for (int i = 0; i < n * n; i++) V[i] = i % (n + 1) == 0;
    bool done = false;
    for (int sweep = 0; sweep < 30 && !done; sweep++) {
        done = true;
        for (int q = 1; q < n; q++)
            for (int p = 0; p < q; p++) {
                double a = dot(m, A + m * p, A + m * p), d = dot(m, A + m * q, A + m * q);
                double b = dot(m, A + m * p, A + m * q), c, t;
                if (fabs(b) <= 1e-15 * sqrt(a * d) || b == 0) continue;
                done = false;
                rotation(a, b, d, &c, &t);
                turn(m, A + m * p, A + m * q, c, t);
                turn(n, V + n * p, V + n * q, c, t);
            }
    }
    for (int i = 0; i < n; i++) s[i] = sqrt(dot(m, A + m * i, A + m * i));
}

bool dense_cholesky_solve(int n, double *A, double *b) {
    for (int j = 0; j < n; j++) {
        double d = A[j + n * j];
        for (int k = 0; k < j; k++) d -= A[j + n * k] * A[j + n * k];
        if (!(d > 0)) return false;
        A[j + n * j] = d = sqrt(d);
        for (int i = j + 1; i < n; i++) {
            double x = A[i + n * j];
            for (int k = 0; k < j; k++) x -= A[i + n * k] * A[j + n * k];
            A[i + n * j] = x / d;
        }
    }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) b[i] -= A[i + n * k] * b[k];
        b[i] /= A[i + n * i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) b[i] -= A[k + n * i] * b[k];
        b[i] /= A[i + n * i];
    }
    return true;
}

void dense_qr_solve(int m, int n, double *A, double *b, double *x) {
    for (int j = 0; j < m; j++) {
        double *v = A + m * j + j, length = sqrt(dot(m - j, v, v));
        if (length == 0) continue;
        double head = v[0], alpha = head > 0 ? -length : length;
        v[0] = head - alpha;
        double vv = dot(m - j, v, v);
        for (int k = j + 1; k < n; k++) {
            double *column = A + m * k + j, t = 2 * dot(m - j, v, column) / vv;
            for (int i = 0; i < m - j; i++) column[i] -= t * v[i];
        }
        double t = 2 * dot(m - j, v, b + j) / vv;
        for (int i = 0; i < m - j; i++) b[j + i] -= t * v[i];
        v[0] = alpha;
    }
    for (int i = 0; i < n; i++) x[i] = 0;
    for (int i = m - 1; i >= 0; i--) {
        double sum = b[i];
        for (int k = i + 1; k < m; k++) sum -= A[i + m * k] * x[k];
        x[i] = sum / A[i + m * i];
    }
}
