// SPDX-License-Identifier: MIT
// Two doubles at a time: what every 64-bit machine and WebAssembly have a register for. Each lane
// is an ordinary double operation, so the bits do not depend on how it is compiled.
#pragma once

#include <string.h>

// For functions whose loops must unroll with constant arguments.
// With sanitizers everything that is inlined is checked once more at every place: minutes of compiling.
#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(undefined_behavior_sanitizer)
#define SN_CHECKED
#endif
#endif
#if defined(__GNUC__) && !defined(SN_CHECKED)
#define SN_INLINE static inline __attribute__((always_inline))
#else
#define SN_INLINE static inline
#endif

#if defined(__GNUC__)
typedef double sn_pair __attribute__((vector_size(16)));
static inline sn_pair pair_add(sn_pair a, sn_pair b) { return a + b; }
static inline sn_pair pair_sub(sn_pair a, sn_pair b) { return a - b; }
static inline sn_pair pair_mul(sn_pair a, sn_pair b) { return a * b; }
static inline sn_pair pair_of(double x) { return (sn_pair){x, x}; }
static inline double pair_first(sn_pair a) { return a[0]; }
static inline double pair_second(sn_pair a) { return a[1]; }
#else
typedef struct sn_pair {
    double x, y;
} sn_pair;
static inline sn_pair pair_add(sn_pair a, sn_pair b) { return (sn_pair){a.x + b.x, a.y + b.y}; }
static inline sn_pair pair_sub(sn_pair a, sn_pair b) { return (sn_pair){a.x - b.x, a.y - b.y}; }
static inline sn_pair pair_mul(sn_pair a, sn_pair b) { return (sn_pair){a.x * b.x, a.y * b.y}; }
static inline sn_pair pair_of(double x) { return (sn_pair){x, x}; }
static inline double pair_first(sn_pair a) { return a.x; }
static inline double pair_second(sn_pair a) { return a.y; }
#endif

static inline sn_pair pair_load(const double *from) {
    sn_pair a;
    memcpy(&a, from, sizeof a);
    return a;
}

static inline void pair_store(double *to, sn_pair a) { memcpy(to, &a, sizeof a); }

static inline double pair_sum(sn_pair a) { return pair_first(a) + pair_second(a); }
