// SPDX-License-Identifier: MIT
// The end of what avx2.h began.
#if defined(HAVE_AVX2) && defined(__clang__)
#pragma clang attribute pop
#endif
