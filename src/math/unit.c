// SPDX-License-Identifier: MIT
#include "math/unit.h"

#include <math.h>

bool sn_unit(const double *x, int n, double *out) {
    double top = 0, sum = 0;
    for (int i = 0; i < n; i++) {
        if (!isfinite(x[i])) return false;
        top = fmax(top, fabs(x[i]));
    }
    if (!(top > 0)) return false;
    for (int i = 0; i < n; i++) {
        out[i] = x[i] / top;
        sum += out[i] * out[i];
    }
    for (int i = 0; i < n; i++) out[i] /= sqrt(sum);
    return true;
}
