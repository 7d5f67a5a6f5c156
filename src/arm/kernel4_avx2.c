// SPDX-License-Identifier: MIT
// The step of an arm in four lanes, with the registers of AVX2 (without its fused operations, whose
// bits differ): used where the machine has them, whatever the library was compiled for.
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
#define KERNEL_OTHER sn_arm4_any
typedef sn_arm_state4 sn_arm4_avx2_state;
#include "arm/kernel.h"

#ifdef __clang__
#pragma clang attribute pop
#endif
bool sn_arm_avx2(void) { return __builtin_cpu_supports("avx2"); }
#else
void sn_arm4_avx2_iterate(const sn_arm_chain *c, sn_arm_state4 *s, bool hold, bool pull) {
    sn_arm4_iterate(c, s, hold, pull);
}
bool sn_arm_avx2(void) { return false; }
#endif
