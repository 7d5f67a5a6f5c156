// SPDX-License-Identifier: MIT
// The functions that drive joints.
//
// The spline is that of Forsythe, Malcolm and Moler, "Computer Methods for Mathematical Computations"
// (1977), ch. 4: its third derivatives at the ends are those of the cubics through the first and last
// four points. With sigma a sixth of the second derivative at the knots and h_k the k-th interval,
//
//   h_(k-1) sigma_(k-1) + 2 (h_(k-1) + h_k) sigma_k + h_k sigma_(k+1) = slope_k - slope_(k-1)
//   y = y_k + s (slope_k - h (sigma_(k+1) + 2 sigma_k) + s (3 sigma_k + s (sigma_(k+1) - sigma_k)/h))
#include "model/function.h"

#include <math.h>
#include <string.h>

#include "math/sincos.h"

static const char *const names[SN_FUNCTION_TYPE_COUNT] = {"constant", "linear",   "polynomial",
                                                          "spline",   "polyline", "sine"};

const char *sn_function_type_name(sn_function_type type) {
    return (unsigned)type < SN_FUNCTION_TYPE_COUNT ? names[type] : "unknown";
}

sn_function_type sn_function_type_find(const char *name) {
    int i = 0;
    if (name == NULL) return SN_FUNCTION_TYPE_COUNT;
    while (i < SN_FUNCTION_TYPE_COUNT && strcmp(names[i], name) != 0) i++;
    return (sn_function_type)i;
}

// How many products of powers of n arguments there are up to a degree: (degree + n over n).
static long monomials(int n, int degree) {
    long count = 1;
    for (int i = 1; i <= n; i++) count = count * (degree + i) / i;
    return count;
}

// The degree of a polynomial with that many coefficients; -1: there is none.
static int polynomial_degree(int n, int ncoefficient) {
    if (n == 1) return ncoefficient - 1;
    int degree = 0;
    while (monomials(n, degree) < ncoefficient) degree++;
    return monomials(n, degree) == ncoefficient ? degree : -1;
}

static bool finite_numbers(const double *x, int n) {
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

static const char *check_arguments(const sn_function *f, int ncoordinate) {
    bool one = f->type == SN_FUNCTION_SPLINE || f->type == SN_FUNCTION_POLYLINE;
    if (f->nargument < 0 || f->nargument > SN_MAX_ARGUMENTS) return "too many coordinates";
    if (f->type == SN_FUNCTION_CONSTANT)
        return f->nargument == 0 ? NULL : "a constant follows no coordinate";
    if (f->nargument == 0) return "it follows no coordinate";
    if (one && f->nargument != 1) return "a spline or polyline follows one coordinate";
    for (int i = 0; i < f->nargument; i++) {
        if (f->argument[i] < 0 || f->argument[i] >= ncoordinate) return "no such coordinate";
        for (int j = 0; j < i; j++)
            if (f->argument[i] == f->argument[j]) return "it names a coordinate twice";
    }
    return NULL;
}

const char *sn_function_check(const sn_function *f, int ncoordinate) {
    if (f == NULL) return "it is missing";
    if ((unsigned)f->type >= SN_FUNCTION_TYPE_COUNT) return "unknown type";
    const char *wrong = check_arguments(f, ncoordinate);
    if (wrong != NULL) return wrong;
    if (!isfinite(f->scale)) return "its scale is not finite";
    if (f->nx < 0 || f->ny < 0 || f->nx > SN_MAX_FUNCTION_NUMBERS ||
        f->ny > SN_MAX_FUNCTION_NUMBERS)
        return "too many numbers";
    bool knots = f->type == SN_FUNCTION_SPLINE || f->type == SN_FUNCTION_POLYLINE, right = false;
    switch (f->type) {
    case SN_FUNCTION_CONSTANT:
        right = f->ny == 1;
        break;
    case SN_FUNCTION_LINEAR:
        right = f->ny == f->nargument + 1;
        break;
    case SN_FUNCTION_POLYNOMIAL:
        right = f->ny > 0 && polynomial_degree(f->nargument, f->ny) >= 0;
        break;
    case SN_FUNCTION_SINE:
        right = f->ny == f->nargument + 3;
        break;
    default:
        right = f->ny >= 2 && f->nx == f->ny;
        break;
    }
    if (!right || (!knots && f->nx != 0)) return "too few or too many numbers";
    if (!finite_numbers(f->x, f->nx) || !finite_numbers(f->y, f->ny))
        return "a number is not finite";
    for (int i = 1; i < f->nx; i++)
        if (!(f->x[i] > f->x[i - 1])) return "its x do not rise";
    return NULL;
}

size_t sn_driver_numbers(const sn_function *f) {
    size_t spline = f->type == SN_FUNCTION_SPLINE ? 3 * (size_t)f->nx : 0;
    return (size_t)f->nx + (size_t)f->ny + spline;
}

// b and d are work.
static void solve_spline(const double *x, const double *y, int n, double *sigma, double *b,
                         double *d) {
    for (int i = 0; i + 1 < n; i++) {
        d[i] = x[i + 1] - x[i];
        sigma[i + 1] = (y[i + 1] - y[i]) / d[i];
    }
    for (int i = 1; i + 1 < n; i++) {
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
    for (int i = 1; i < n; i++) {
        double t = d[i - 1] / b[i - 1];
        b[i] -= t * d[i - 1];
        sigma[i] -= t * sigma[i - 1];
    }
    sigma[n - 1] /= b[n - 1];
    for (int i = n - 2; i >= 0; i--) sigma[i] = (sigma[i] - d[i] * sigma[i + 1]) / b[i];
}

sn_driver sn_driver_make(const sn_function *f, double *room) {
    sn_driver driver = {.f = *f};
    size_t nx = (size_t)f->nx, ny = (size_t)f->ny;
    double *x = room, *y = room + nx, *sigma = y + ny;
    if (nx > 0) memcpy(x, f->x, nx * sizeof *x);
    memcpy(y, f->y, ny * sizeof *y);
    driver.f.x = x;
    driver.f.y = y;
    if (f->type == SN_FUNCTION_POLYNOMIAL) driver.degree = polynomial_degree(f->nargument, f->ny);
    if (f->type == SN_FUNCTION_SPLINE) {
        sigma[0] = sigma[1] = 0;
        if (f->nx > 2) solve_spline(x, y, f->nx, sigma, sigma + nx, sigma + 2 * nx);
        driver.sigma = sigma;
    }
    return driver;
}

// The interval that holds `at`, or the first or last one.
static int interval(const double *x, int n, double at) {
    int low = 0, high = n - 2;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (at < x[middle])
            high = middle - 1;
        else
            low = middle;
    }
    return low;
}

static void spline_at(const sn_driver *driver, double at, sn_jet *out) {
    const double *x = driver->f.x, *y = driver->f.y, *sigma = driver->sigma;
    int n = driver->f.nx, k = interval(x, n, at);
    double h = x[k + 1] - x[k], slope = (y[k + 1] - y[k]) / h;
    double left = slope - h * (sigma[k + 1] + 2 * sigma[k]);
    double right = slope + h * (sigma[k] + 2 * sigma[k + 1]);
    double cubic = (sigma[k + 1] - sigma[k]) / h, s = at - x[k];
    if (at < x[0] || at > x[n - 1]) {
        bool below = at < x[0];
        out->d[0] = below ? left : right;
        out->f = below ? y[0] + s * left : y[n - 1] + (at - x[n - 1]) * right;
        return;
    }
    out->f = y[k] + s * (left + s * (3 * sigma[k] + s * cubic));
    out->d[0] = left + s * (6 * sigma[k] + 3 * s * cubic);
    out->dd[0][0] = 6 * (sigma[k] + s * cubic);
}

static void polyline_at(const sn_driver *driver, double at, sn_jet *out) {
    const double *x = driver->f.x, *y = driver->f.y;
    int k = interval(x, driver->f.nx, at);
    out->d[0] = (y[k + 1] - y[k]) / (x[k + 1] - x[k]);
    out->f = y[k] + (at - x[k]) * out->d[0];
}

static void sine_at(const sn_driver *driver, const double *a, int n, sn_jet *out) {
    const double *c = driver->f.y;
    double angle = 0, sine, cosine;
    for (int i = 0; i < n; i++) angle += c[1 + i] * a[i];
    sn_sincos_inline(angle + c[n + 1], &sine, &cosine);
    out->f = c[0] * sine + c[n + 2];
    for (int i = 0; i < n; i++) {
        out->d[i] = c[0] * cosine * c[1 + i];
        for (int j = 0; j <= i; j++) out->dd[i][j] = -c[0] * sine * c[1 + i] * c[1 + j];
    }
}

static void power_at(const sn_driver *driver, double at, sn_jet *out) {
    for (int i = driver->f.ny - 1; i >= 0; i--) {
        out->dd[0][0] = out->dd[0][0] * at + 2 * out->d[0];
        out->d[0] = out->d[0] * at + out->f;
        out->f = out->f * at + driver->f.y[i];
    }
}

// a^k and its derivatives.
static void power(double a, int k, double p[3]) {
    p[0] = 1;
    p[1] = p[2] = 0;
    for (int i = 0; i < k; i++) {
        p[2] = p[2] * a + 2 * p[1];
        p[1] = p[1] * a + p[0];
        p[0] *= a;
    }
}

void sn_next_product(const sn_driver *driver, int *exponent) {
    int sum = 0;
    for (int i = 0; i < driver->f.nargument; i++) sum += exponent[i];
    for (int i = driver->f.nargument - 1; i >= 0; i--) {
        if (sum < driver->degree) {
            exponent[i]++;
            return;
        }
        sum -= exponent[i];
        exponent[i] = 0;
    }
}

static void products_at(const sn_driver *driver, const double *a, int n, sn_jet *out) {
    int exponent[SN_MAX_ARGUMENTS] = {0};
    double p[SN_MAX_ARGUMENTS][3];
    for (int m = 0; m < driver->f.ny; m++) {
        double c = driver->f.y[m], whole = c;
        for (int i = 0; i < n; i++) {
            power(a[i], exponent[i], p[i]);
            whole *= p[i][0];
        }
        out->f += whole;
        for (int i = 0; i < n; i++) {
            for (int j = 0; j <= i; j++) {
                double once = c, twice = c;
                for (int l = 0; l < n; l++) {
                    once *= p[l][l == i];
                    twice *= p[l][(l == i) + (l == j)];
                }
                if (j == i) out->d[i] += once;
                out->dd[i][j] += twice;
            }
        }
        sn_next_product(driver, exponent);
    }
}

void sn_driver_at(const sn_driver *driver, const double *q, sn_jet *out) {
    const sn_function *f = &driver->f;
    int n = f->nargument;
    double a[SN_MAX_ARGUMENTS];
    out->f = 0;
    for (int i = 0; i < n; i++) {
        a[i] = q[f->argument[i]];
        out->d[i] = 0;
        for (int j = 0; j <= i; j++) out->dd[i][j] = 0;
    }
    switch (f->type) {
    case SN_FUNCTION_CONSTANT:
        out->f = f->y[0];
        break;
    case SN_FUNCTION_LINEAR:
        out->f = f->y[n];
        for (int i = 0; i < n; i++) {
            out->f += f->y[i] * a[i];
            out->d[i] = f->y[i];
        }
        break;
    case SN_FUNCTION_POLYNOMIAL:
        if (n == 1) {
            power_at(driver, a[0], out);
        } else {
            products_at(driver, a, n, out);
        }
        break;
    case SN_FUNCTION_SPLINE:
        spline_at(driver, a[0], out);
        break;
    case SN_FUNCTION_POLYLINE:
        polyline_at(driver, a[0], out);
        break;
    default:
        sine_at(driver, a, n, out);
        break;
    }
    if (f->scale == 1) return;
    out->f *= f->scale;
    for (int i = 0; i < n; i++) {
        out->d[i] *= f->scale;
        for (int j = 0; j <= i; j++) out->dd[i][j] *= f->scale;
    }
}
