// SPDX-License-Identifier: MIT
// Numbers in order, for qsort().
#pragma once

static inline int sn_by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline int sn_by_value_float(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}
