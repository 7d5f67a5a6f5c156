// SPDX-License-Identifier: MIT
// What follows is compiled for AVX-512, as avx2.h: HAVE_AVX512. A file that includes it ends with avx512_end.h.
#if defined(__GNUC__) && defined(__x86_64__)
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512vl,avx512bw"))),        \
                             apply_to = function)
#else
#pragma GCC target("avx512f,avx512dq,avx512vl,avx512bw")
#endif
#define HAVE_AVX512
#endif
