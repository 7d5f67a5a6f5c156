// SPDX-License-Identifier: MIT
#include "example/curve.h"

double sn_step(double x) {
    if (!(x > 0)) return 0;
    if (x >= 1) return 1;
    return x * x * x * (10 - x * (15 - 6 * x));
}

double sn_bump(double x) {
    double y = x * (1 - x);
    return x > 0 && x < 1 ? 64 * y * y * y : 0;
}

// The integral of sn_step() from 0 on.
static double step_integral(double x) {
    if (!(x > 0)) return 0;
    if (x >= 1) return x - 0.5;
    return x * x * x * x * (2.5 - x * (3 - x));
}

double sn_ramp(double t, double start, double end, double shoulder) {
    double gathered = step_integral((t - start) / shoulder);
    double lost = step_integral((t - (end - shoulder)) / shoulder);
    return (gathered - lost) * shoulder / (end - start - shoulder);
}

// Second derivatives m: h0 m0 + 2 (h0 + h1) m1 + h1 m2 = 6 (slope1 - slope0) at every inner key,
// and 0 slope at both ends: tridiagonal, by elimination without pivots.
void sn_spline_through(sn_spline *s, const double *keys, int n, int row, int column) {
    double diagonal[SN_MAX_KEYS] = {1}, right[SN_MAX_KEYS] = {0};
    s->n = n;
    for (int i = 0; i < n; i++) {
        s->t[i] = keys[row * i];
        s->y[i] = keys[row * i + column];
    }
    for (int i = 0; i < n; i++) {
        double h0 = i > 0 ? s->t[i] - s->t[i - 1] : 0, h1 = i + 1 < n ? s->t[i + 1] - s->t[i] : 0;
        double before = i > 0 ? (s->y[i] - s->y[i - 1]) / h0 : 0;
        double after = i + 1 < n ? (s->y[i + 1] - s->y[i]) / h1 : 0;
        diagonal[i] = 2 * (h0 + h1);
        right[i] = 6 * (after - before);
        if (i == 0) continue;
        double factor = h0 / diagonal[i - 1];
        diagonal[i] -= factor * h0;
        right[i] -= factor * right[i - 1];
    }
    s->bend[n - 1] = right[n - 1] / diagonal[n - 1];
    for (int i = n - 2; i >= 0; i--)
        s->bend[i] = (right[i] - (s->t[i + 1] - s->t[i]) * s->bend[i + 1]) / diagonal[i];
}

double sn_spline_at(const sn_spline *s, double t) {
    int i = 0;
    if (!(t > s->t[0])) return s->y[0];
    if (t >= s->t[s->n - 1]) return s->y[s->n - 1];
    while (t >= s->t[i + 1]) i++;
    double h = s->t[i + 1] - s->t[i], a = (s->t[i + 1] - t) / h, b = 1 - a;
    return a * s->y[i] + b * s->y[i + 1] +
           ((a * a * a - a) * s->bend[i] + (b * b * b - b) * s->bend[i + 1]) * h * h / 6;
}
