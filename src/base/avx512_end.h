// SPDX-License-Identifier: MIT
// The end of what avx512.h began.
#if defined(HAVE_AVX512) && defined(__clang__)
#pragma clang attribute pop
#endif
