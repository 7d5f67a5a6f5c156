// SPDX-License-Identifier: MIT
// Bunch and Parlett's factorisation: at every step the largest entry left decides. Where it is
// (nearly) on the diagonal it is a pivot, else its 2 x 2 block is one, with one eigenvalue of either
// sign. The growth of entries is bounded, so that small matrices of any signs are safe, and what is
// left when nothing is left tells which rows depend on the others.
#include "linalg/symmetric.h"

#include <math.h>

// (1 + sqrt 17) / 8 bounds the growth of a 1 x 1 and of half a 2 x 2 step alike.
static const double threshold = 0.6403882032022076;

static void swap_rows(int n, double *S, int *order, int a, int b) {
    if (a == b) return;
    for (int i = 0; i < n; i++) {
        double x = S[a + n * i];
        S[a + n * i] = S[b + n * i];
        S[b + n * i] = x;
    }
    for (int i = 0; i < n; i++) {
        double x = S[i + n * a];
        S[i + n * a] = S[i + n * b];
        S[i + n * b] = x;
    }
    int other = order[a];
    order[a] = order[b];
    order[b] = other;
}

sn_inertia sn_symmetric_factor(int n, double *S, double tolerance, int *order, bool *pair) {
    sn_inertia count = {0, 0, 0};
    for (int i = 0; i < n; i++) {
        order[i] = i;
        pair[i] = false;
    }
    for (int k = 0; k < n;) {
        double on = -1, off = -1;
        int best = k, row = k, column = k;
        for (int j = k; j < n; j++) {
            double d = fabs(S[j + n * j]);
            if (d > on) on = d, best = j;
            for (int i = j + 1; i < n; i++) {
                double x = fabs(S[i + n * j]);
                if (x > off) off = x, row = i, column = j;
            }
        }
        if (!(fmax(on, off) > tolerance)) {
            count.dropped = n - k;
            break;
        }
        if (on >= threshold * off) {
            swap_rows(n, S, order, k, best);
            const double d = S[k + n * k];
            if (d > 0) {
                count.positive++;
            } else {
                count.negative++;
            }
            for (int j = k + 1; j < n; j++) {
                const double l = S[j + n * k] / d;
                for (int i = j; i < n; i++) S[i + n * j] -= S[i + n * k] * l;
                for (int i = j; i < n; i++) S[j + n * i] = S[i + n * j];
            }
            for (int i = k + 1; i < n; i++) S[i + n * k] /= d;
            k++;
            continue;
        }
        swap_rows(n, S, order, k, column);
        swap_rows(n, S, order, k + 1, row == k ? column : row);
        const double a = S[k + n * k], b = S[k + 1 + n * k], d = S[k + 1 + n * (k + 1)];
        const double det = a * d - b * b;
        pair[k] = true;
        count.positive++;
        count.negative++;
        for (int j = k + 2; j < n; j++) {
            const double x = S[j + n * k], y = S[j + n * (k + 1)];
            const double u = (d * x - b * y) / det, v = (a * y - b * x) / det;
            for (int i = j; i < n; i++) S[i + n * j] -= S[i + n * k] * u + S[i + n * (k + 1)] * v;
            for (int i = j; i < n; i++) S[j + n * i] = S[i + n * j];
        }
        for (int i = k + 2; i < n; i++) {
            const double x = S[i + n * k], y = S[i + n * (k + 1)];
            S[i + n * k] = (d * x - b * y) / det;
            S[i + n * (k + 1)] = (a * y - b * x) / det;
        }
        k += 2;
    }
    return count;
}

bool sn_symmetric_factor_definite(int n, double *S, double tolerance, int *order, bool *pair) {
    for (int k = 0; k < n; k++) {
        order[k] = k;
        pair[k] = false;
    }
    // column by column, each less what those before it take: what is on the diagonal is as it was until then
    for (int k = 0; k < n; k++) {
        double *column = S + n * k;
        const double whole = column[k];
        for (int j = 0; j < k; j++) {
            const double *before = S + n * j, l = before[k] * before[j];
            for (int i = k; i < n; i++) column[i] -= before[i] * l;
        }
        if (!(column[k] > tolerance * whole)) return false;
        const double inverse = 1 / column[k];
        for (int i = k + 1; i < n; i++) column[i] *= inverse;
    }
    return true;
}

void sn_symmetric_solve(int n, const double *S, sn_inertia inertia, const int *order,
                        const bool *pair, double *x, double *scratch) {
    const int rank = n - inertia.dropped;
    for (int i = 0; i < n; i++) scratch[i] = x[order[i]];
    for (int k = 0; k < rank; k++) {
        // a pair's two columns act together: its own second row is not below it
        int from = k + (pair[k] ? 2 : 1);
        for (int i = from; i < rank; i++) scratch[i] -= S[i + n * k] * scratch[k];
    }
    for (int k = 0; k < rank; k++) {
        if (!pair[k]) {
            scratch[k] /= S[k + n * k];
            continue;
        }
        const double a = S[k + n * k], b = S[k + 1 + n * k], d = S[k + 1 + n * (k + 1)];
        const double det = a * d - b * b, u = scratch[k], v = scratch[k + 1];
        scratch[k] = (d * u - b * v) / det;
        scratch[k + 1] = (a * v - b * u) / det;
        k++;
    }
    for (int k = rank - 1; k >= 0; k--) {
        int from = k + (pair[k] ? 2 : 1);
        for (int i = from; i < rank; i++) scratch[k] -= S[i + n * k] * scratch[i];
    }
    for (int i = 0; i < n; i++) x[order[i]] = i < rank ? scratch[i] : 0;
}
