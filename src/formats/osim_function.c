// SPDX-License-Identifier: MIT
// The functions of OpenSim files.
//
// OpenSim's SimmSpline is the cubic spline of Forsythe, Malcolm and Moler, "Computer Methods for
// Mathematical Computations" (1977), ch. 4: its third derivatives at the ends are those of the cubics
// through the first and last four points. It is taken for the other splines too; with the same points
// they differ by little.
#include <string.h>

#include "formats/osim.h"

// sigma at the points: a sixth of the second derivative. b and c are work.
static void solve_spline(const double *x, const double *y, size_t n, double *sigma, double *b,
                         double *d) {
    for (size_t i = 0; i + 1 < n; i++) {
        d[i] = x[i + 1] - x[i];
        sigma[i + 1] = (y[i + 1] - y[i]) / d[i];
    }
    for (size_t i = 1; i + 1 < n; i++) {
        b[i] = 2 * (d[i - 1] + d[i]);
        sigma[i] = sigma[i + 1] - sigma[i];
    }
    double first = 0, last = 0;
    if (n > 3) {
        first = sigma[2] / (x[3] - x[1]) - sigma[1] / (x[2] - x[0]);
        last = sigma[n - 2] / (x[n - 1] - x[n - 3]) - sigma[n - 3] / (x[n - 2] - x[n - 4]);
        first *= d[0] * d[0] / (x[3] - x[0]);
        last *= -d[n - 2] * d[n - 2] / (x[n - 1] - x[n - 4]);
    }
    b[0] = -d[0];
    b[n - 1] = -d[n - 2];
    sigma[0] = first;
    sigma[n - 1] = last;
    for (size_t i = 1; i < n; i++) {
        double t = d[i - 1] / b[i - 1];
        b[i] -= t * d[i - 1];
        sigma[i] -= t * sigma[i - 1];
    }
    sigma[n - 1] /= b[n - 1];
    for (size_t i = n - 1; i-- > 0;) sigma[i] = (sigma[i] - d[i] * sigma[i + 1]) / b[i];
}

static double spline(const double *x, const double *y, size_t n, double at, double *work) {
    double *sigma = work;
    if (n > 2) {
        solve_spline(x, y, n, sigma, work + n, work + 2 * n);
    } else {
        sigma[0] = sigma[1] = 0;
    }
    size_t k = 0;
    while (k + 2 < n && at > x[k + 1]) k++;
    double h = x[k + 1] - x[k], slope = (y[k + 1] - y[k]) / h;
    double left = slope - h * (sigma[k + 1] + 2 * sigma[k]);
    if (at <= x[0]) return y[0] + (at - x[0]) * left;
    if (at >= x[n - 1])
        return y[n - 1] + (at - x[n - 1]) * (slope + h * (sigma[k] + 2 * sigma[k + 1]));
    double s = at - x[k];
    return y[k] + s * (left + s * (3 * sigma[k] + s * (sigma[k + 1] - sigma[k]) / h));
}

static double polyline(const double *x, const double *y, size_t n, double at) {
    if (at <= x[0]) return y[0];
    if (at >= x[n - 1]) return y[n - 1];
    size_t k = 0;
    while (k + 2 < n && at > x[k + 1]) k++;
    return y[k] + (at - x[k]) * (y[k + 1] - y[k]) / (x[k + 1] - x[k]);
}

double sn_osim_value(const sn_osim *u, const sn_osim_function *f, double at, double *work) {
    if (f->kind == SN_OSIM_NONE) return 0;
    const double *x = u->numbers + f->x, *y = u->numbers + f->y;
    double value = 0;
    switch (f->kind) {
    case SN_OSIM_NONE:
        break;
    case SN_OSIM_CONSTANT:
        value = y[0];
        break;
    case SN_OSIM_LINEAR:
    case SN_OSIM_POLYNOMIAL:
        for (size_t i = 0; i < f->ny; i++) value = value * at + y[i];
        break;
    case SN_OSIM_SPLINE:
        value = spline(x, y, f->nx, at, work);
        break;
    case SN_OSIM_POLYLINE:
        value = polyline(x, y, f->nx, at);
        break;
    }
    return f->scale * value;
}
