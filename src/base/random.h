// SPDX-License-Identifier: MIT
// Random numbers that are the same everywhere. The state may start at any value.
#pragma once

#include <stdint.h>

/// splitmix64: 64 random bits.
static inline uint64_t sn_random_bits(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/// Uniform in [0, 1).
static inline double sn_random(uint64_t *state) {
    return (double)(sn_random_bits(state) >> 11) * 0x1p-53;
}
