// SPDX-License-Identifier: MIT
#include "solvers/system.h"

int sn_system_factor(sn_solver *s, const double *d, const bool *keep, double *pivot) {
    s->report.factorizations++;
    return sn_workspace_factor(s->ws, d, keep, 0, pivot);
}

void sn_system_direction(sn_solver *s, int k, double *z) { sn_workspace_curvature(s->ws, k, z); }

void sn_system_solve(sn_solver *s, double *x) { sn_workspace_solve(s->ws, x); }

void sn_system_multiply(sn_solver *s, const double *x, double *y) {
    sn_workspace_fields_multiply(s->ws, x, y);
}
