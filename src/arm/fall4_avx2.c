// SPDX-License-Identifier: MIT
// The steps of fall.h with the registers of AVX2, as kernel4_avx2.c.
#include "arm/fall4.h"

#include "arm/kernels.h"

#if defined(__GNUC__) && defined(__x86_64__) && !defined(__clang__)
#pragma GCC target("avx2")
#define HAVE_AVX2
#elif defined(__clang__) && defined(__x86_64__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#define HAVE_AVX2
#endif

#ifdef HAVE_AVX2
#include "arm/lanes4.h"

#define KERNEL(name) sn_arm4_avx2_##name
#define KERNEL_ANY
#include "arm/fall.h"

#ifdef __clang__
#pragma clang attribute pop
#endif
#else
void sn_arm4_avx2_fall(const sn_arm_chain *c, sn_arm_fall4 *s) { sn_arm4_fall(c, s); }
#endif
