// SPDX-License-Identifier: MIT
// What follows is compiled for AVX2, whatever the library is compiled for, where the compiler can do that: HAVE_AVX2.
// Without its fused operations, whose bits differ. A file that includes it ends with avx2_end.h.
#if defined(__GNUC__) && defined(__x86_64__) && !defined(__clang__)
#pragma GCC target("avx2")
#define HAVE_AVX2
#elif defined(__clang__) && defined(__x86_64__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#define HAVE_AVX2
#endif
