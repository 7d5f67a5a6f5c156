// SPDX-License-Identifier: MIT
// The natural spline of degree five: parabolas come back; through any points it has four continuous derivatives, and
// the third and fourth are 0 at its ends.
#include "math/quintic.h"

#include <math.h>

#include "support.h"

enum { MOST = 40 };

// Derivatives 0 to 5 at a share of the piece after knot i, of the polynomial through six of its values.
static void derivatives(int n, const sn_quintic_knot *k, int i, double at, long double *out) {
    long double h = (long double)k[i + 1].t - k[i].t, c[6], x[6];
    // Newton's form at six places inside, then its coefficients
    for (int j = 0; j < 6; j++) {
        x[j] = (j + 0.5L) / 6;
        c[j] = sn_quintic_at(n, k, (double)(k[i].t + x[j] * h));
    }
    for (int j = 1; j < 6; j++)
        for (int m = 5; m >= j; m--) c[m] = (c[m] - c[m - 1]) / (x[m] - x[m - j]);
    long double p[6] = {0};
    for (int j = 5; j >= 0; j--) {
        for (int m = 5; m > 0; m--) p[m] = p[m - 1] - x[j] * p[m];
        p[0] = c[j] - x[j] * p[0];
    }
    for (int d = 0; d < 6; d++) {
        out[d] = 0;
        for (int m = 5; m >= d; m--) {
            long double factor = 1;
            for (int f = 0; f < d; f++) factor *= m - f;
            out[d] = out[d] * at + factor * p[m];
        }
        for (int f = 0; f < d; f++) out[d] /= h;
    }
}

static void parabolas_come_back(void **unused) {
    (void)unused;
    for (int n = 1; n <= MOST; n++) {
        sn_quintic_knot k[MOST];
        double work[6 * MOST], t = -1;
        double bend = n > 2 ? 0.7 : 0;
        for (int i = 0; i < n; i++, t += 0.01 * (1 + i % 3))
            k[i] = (sn_quintic_knot){.t = t, .f = 2 + (n > 1 ? 3 : 0) * t + bend * t * t};
        sn_quintic_fit(n, k, work);
        for (double x = -1.05; x < t + 0.05; x += 0.004)
            assert_near(sn_quintic_at(n, k, x), 2 + (n > 1 ? 3 : 0) * x + bend * x * x, 1e-10);
    }
}

static void four_derivatives_agree(void **unused) {
    (void)unused;
    uint64_t state = 5;
    for (int trial = 0; trial < 50; trial++) {
        int n = 3 + below(&state, MOST - 2);
        sn_quintic_knot k[MOST];
        double work[6 * MOST], t = 0;
        for (int i = 0; i < n; i++) {
            k[i] = (sn_quintic_knot){.t = t, .f = uniform(&state, -1, 1)};
            t += uniform(&state, 0.5, 1.5);
        }
        sn_quintic_fit(n, k, work);
        long double left[6], right[6];
        for (int i = 0; i < n; i++) {
            assert_near(sn_quintic_at(n, k, k[i].t), k[i].f, 1e-12);
            for (int d = 0; d < 6; d++) left[d] = right[d] = 0;
            if (i > 0) derivatives(n, k, i - 1, 1, left);
            if (i + 1 < n) derivatives(n, k, i, 0, right);
            // at the ends there is nothing beyond: zeros
            for (int d = i > 0 && i + 1 < n ? 1 : 3; d < 5; d++)
                assert_near((double)left[d], (double)right[d], 1e-8);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(parabolas_come_back),
                                       cmocka_unit_test(four_derivatives_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
