// SPDX-License-Identifier: MIT
// Vectors of six numbers, twists above all, as three pairs.
#pragma once

#include "base/pair.h"
#include "sinew/math.h"

// A 6-vector in three registers.
typedef struct six {
    sn_pair p[3];
} six;

static inline six six_zero(void) { return (six){{pair_of(0), pair_of(0), pair_of(0)}}; }

// A twist as its six numbers.
static inline const double *twist_numbers(const sn_twist *t) {
    return (const double *)(const void *)t;
}

static inline six six_load(const double *x) {
    return (six){{pair_load(x), pair_load(x + 2), pair_load(x + 4)}};
}

static inline void six_store(double *x, six v) {
    pair_store(x, v.p[0]);
    pair_store(x + 2, v.p[1]);
    pair_store(x + 4, v.p[2]);
}

static inline six twist_load(const sn_twist *t) { return six_load(twist_numbers(t)); }
static inline void twist_store(sn_twist *t, six v) { six_store((double *)(void *)t, v); }

static inline double six_dot(six a, six b) {
    return pair_sum(pair_add(pair_add(pair_mul(a.p[0], b.p[0]), pair_mul(a.p[1], b.p[1])),
                             pair_mul(a.p[2], b.p[2])));
}

// a + x b
static inline six six_add(six a, double x, six b) {
    sn_pair xx = pair_of(x);
    return (six){{pair_add(a.p[0], pair_mul(xx, b.p[0])), pair_add(a.p[1], pair_mul(xx, b.p[1])),
                  pair_add(a.p[2], pair_mul(xx, b.p[2]))}};
}

static inline six six_plus(six a, six b) {
    return (six){{pair_add(a.p[0], b.p[0]), pair_add(a.p[1], b.p[1]), pair_add(a.p[2], b.p[2])}};
}

static inline six six_minus(six a, six b) {
    return (six){{pair_sub(a.p[0], b.p[0]), pair_sub(a.p[1], b.p[1]), pair_sub(a.p[2], b.p[2])}};
}
